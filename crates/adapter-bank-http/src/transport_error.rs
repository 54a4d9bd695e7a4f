//! Failed requests, and the certainty of their effect.

use std::time::Duration;

use kopeck_bank_protocol::ErrorBody;
use kopeck_port_bank::BankError;

/// Status codes that certainly mean no effect.
const NO_EFFECT: [u16; 16] = [400, 401, 403, 404, 405, 406, 407, 410, 411, 413, 414, 415, 421, 422, 429, 431];

/// Why a request has no usable response. Its texts contain nothing of the request or a response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TransportError {
    /// Refused by concurrency limit or circuit breaker.
    NotAttempted(&'static str),
    /// No connection.
    NotSent(String),
    /// The bank refused the whole request.
    Rejected { status: u16, body: Option<ErrorBody> },
    /// It may have been sent, and timed out.
    Timeout(Duration),
    /// It may have been sent, and the response is missing or unreadable.
    ResponseLost(String),
}

impl TransportError {
    /// An error before the head of a response.
    pub(crate) fn of(error: &reqwest::Error, timeout: Duration) -> Self {
        // Connecting precedes the first byte of a request.
        if error.is_connect() || error.is_builder() {
            Self::NotSent(format!("no connection: {}", root_cause(error)))
        } else if error.is_timeout() {
            Self::Timeout(timeout)
        } else {
            Self::ResponseLost(format!("the connection broke: {}", root_cause(error)))
        }
    }

    /// A response with a status code other than 200.
    ///
    /// A status code of [`NO_EFFECT`] comes from the bank's connector or a proxy. A 408, a 409, a redirect or a 5xx
    /// may come after the effect.
    pub(crate) fn of_status(status: u16, body: &[u8]) -> Self {
        if NO_EFFECT.contains(&status) {
            Self::Rejected { status, body: serde_json::from_slice(body).ok() }
        } else {
            Self::ResponseLost(format!("status {status}"))
        }
    }

    /// Whether it counts for the circuit breaker.
    pub(crate) const fn counts_as_failure(&self) -> bool {
        match self {
            Self::NotSent(_) | Self::Timeout(_) | Self::ResponseLost(_) => true,
            Self::NotAttempted(_) | Self::Rejected { .. } => false,
        }
    }

    /// Whether a read may be retried at once. A timeout has used all the time of the read.
    pub(crate) const fn is_retryable(&self) -> bool {
        match self {
            Self::NotSent(_) | Self::ResponseLost(_) => true,
            Self::NotAttempted(_) | Self::Rejected { .. } | Self::Timeout(_) => false,
        }
    }
}

impl From<TransportError> for BankError {
    fn from(failure: TransportError) -> Self {
        match failure {
            TransportError::NotAttempted(why) => Self::Unavailable(why.to_owned()),
            TransportError::NotSent(why) => Self::Unavailable(why),
            TransportError::Rejected { status, body } => Self::Unavailable(match body {
                Some(body) => format!("the bank refused the call: {status} {:?}", body.code),
                None => format!("the bank refused the call: {status}"),
            }),
            TransportError::Timeout(timeout) => Self::Unknown(format!("no answer within {timeout:?}")),
            TransportError::ResponseLost(why) => Self::Unknown(why),
        }
    }
}

/// The innermost error, which has the useful text: `Connection refused (os error 111)`.
fn root_cause(error: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    match cause.downcast_ref::<reqwest::Error>() {
        // Its text would contain the URL, which may contain a card number.
        Some(_) => "the request failed".to_owned(),
        None => cause.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kopeck_bank_protocol::ErrorCode;

    #[test]
    fn only_some_status_codes_mean_no_effect() {
        let is_certain = |status| {
            matches!(BankError::from(TransportError::of_status(status, b"")), BankError::Unavailable(_))
        };
        assert!([400, 401, 404, 413, 422, 429].into_iter().all(is_certain));
        assert!(![201, 204, 301, 307, 408, 409, 425, 499, 500, 502, 503, 504].into_iter().any(is_certain));
    }

    #[test]
    fn an_error_shows_the_code_and_never_the_text() {
        let body = br#"{"code":"unauthorized","message":"Anna Petrova"}"#;
        let refused = TransportError::of_status(401, body);
        let code = match &refused {
            TransportError::Rejected { body: Some(body), .. } => body.code,
            other => panic!("{other:?}"),
        };
        assert_eq!(code, ErrorCode::Unauthorized);
        assert_eq!(
            BankError::from(refused),
            BankError::Unavailable("the bank refused the call: 401 Unauthorized".to_owned())
        );
    }
}
