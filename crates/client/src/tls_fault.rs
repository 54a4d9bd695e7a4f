//! Why no TLS connection can be made, in words.

use std::error::Error as StdError;

use rustls::{CertificateError, Error};

/// The message about a port that answers plain HTTP with something else.
pub(crate) const NOT_HTTP: &str =
    "this port does not answer in HTTP; if it speaks TLS, the base URL has to start with https://";

/// The reason, if TLS is why there is no connection.
pub(crate) fn of(error: &reqwest::Error) -> Option<String> {
    causes(error).find_map(|cause| cause.downcast_ref()).map(in_words)
}

/// Whether the response is not HTTP, as the alert of a port that speaks TLS.
pub(crate) fn is_not_http(error: &reqwest::Error) -> bool {
    // hyper has no other way to tell it.
    causes(error).any(|cause| cause.to_string() == "invalid HTTP version parsed")
}

fn causes(error: &reqwest::Error) -> impl Iterator<Item = &(dyn StdError + 'static)> {
    std::iter::successors(Some(error as &(dyn StdError + 'static)), |error| {
        let error: &(dyn StdError + 'static) = *error;
        // The source of an I/O error is that of the error within, which would pass over that one.
        match error.downcast_ref::<std::io::Error>() {
            Some(error) => error.get_ref().map(|within| within as &(dyn StdError + 'static)),
            None => error.source(),
        }
    })
}

fn in_words(fault: &Error) -> String {
    match fault {
        Error::InvalidCertificate(why) => {
            format!("the service's certificate is not accepted: {}", of_certificate(why))
        }
        Error::InvalidMessage(_) => {
            "the service does not speak TLS at this address; its URL may have to start with http://"
                .to_owned()
        }
        other => format!("no TLS connection to the service can be made: {other}"),
    }
}

/// The name of a variant, as rustls shows it.
fn of_certificate(why: &CertificateError) -> String {
    let words = match why {
        CertificateError::UnknownIssuer => {
            "no authority that this client trusts has signed it; a private one has to be named as certificate authority"
        }
        CertificateError::Expired => "it has expired",
        CertificateError::NotValidYet => "it is not valid yet",
        CertificateError::NotValidForName => "it is not for this host",
        CertificateError::Revoked => "it was revoked",
        CertificateError::BadEncoding => "it is malformed",
        CertificateError::BadSignature => "its signature is wrong",
        CertificateError::InvalidPurpose | CertificateError::InvalidPurposeContext { .. } => {
            "it is not that of a server"
        }
        // A certificate of plain `openssl req -x509`. rustls has no variant for it.
        CertificateError::Other(other) if format!("{other:?}").contains("CaUsedAsEndEntity") => {
            "it is that of an authority, not of a server: issue one with basicConstraints=CA:FALSE"
        }
        other => return other.to_string(),
    };
    words.to_owned()
}
