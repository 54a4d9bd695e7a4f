//! TLS by rustls with ring.

use std::sync::Arc;

use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::BuilderVerifierExt as _;

use crate::address::ConfigError;

/// Believes whom the operating system believes; nobody, where the bank is spoken to in clear, so that a machine without
/// any certificates will do. The configuration is given to reqwest as it is, so no crypto provider has to be installed
/// for the whole process.
pub(crate) fn config(in_clear: bool) -> Result<ClientConfig, ConfigError> {
    let failed = |error: rustls::Error| ConfigError::Client(format!("TLS: {error}"));
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(failed)?;
    let builder = if in_clear {
        builder.with_root_certificates(RootCertStore::empty())
    } else {
        builder.with_platform_verifier().map_err(failed)?
    };
    Ok(builder.with_no_client_auth())
}
