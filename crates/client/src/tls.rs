//! TLS of the client, by rustls with ring.

use std::sync::Arc;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::BuilderVerifierExt as _;

use crate::error::Error;

/// The trusted certificates.
#[derive(Debug, Clone, Default)]
pub(crate) enum Trust {
    /// The authorities of the operating system.
    #[default]
    System,
    /// These certificates alone, in PEM.
    Only(Vec<u8>),
    /// None: the client speaks plain HTTP, so a machine without certificates works.
    Nothing,
}

/// reqwest takes the finished configuration, so no crypto provider has to be installed for the whole process.
pub(crate) fn config(trust: &Trust) -> Result<ClientConfig, Error> {
    let failed = |error: rustls::Error| Error::Config(format!("TLS: {error}"));
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(failed)?;
    let builder = match trust {
        Trust::System => builder.with_platform_verifier().map_err(failed)?,
        Trust::Only(pem) => builder.with_root_certificates(roots(pem)?),
        Trust::Nothing => builder.with_root_certificates(RootCertStore::empty()),
    };
    Ok(builder.with_no_client_auth())
}

fn roots(pem: &[u8]) -> Result<RootCertStore, Error> {
    let failed = |why: &dyn std::fmt::Display| Error::Config(format!("certificate authority: {why}"));
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(pem) {
        let certificate = certificate.map_err(|error| failed(&error))?;
        roots.add(certificate).map_err(|error| failed(&error))?;
    }
    if roots.is_empty() {
        return Err(failed(&"the text holds no certificate"));
    }
    Ok(roots)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_without_certificates_is_refused() {
        assert!(config(&Trust::Only(b"nothing".to_vec())).is_err());
        assert!(config(&Trust::Nothing).is_ok());
    }
}
