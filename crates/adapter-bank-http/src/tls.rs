//! TLS by rustls with ring: trusted authorities, pins, client certificate.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use secrecy::{ExposeSecret as _, SecretSlice};
use sha2::{Digest as _, Sha256};

use crate::address::ConfigError;

/// Trusted bank certificates, and the client certificate.
#[derive(Debug, Clone, Default)]
pub struct BankTls {
    /// PEM certificates of the authorities that may issue the bank's certificate. `None`: those that the system trusts.
    pub authorities: Option<Vec<u8>>,
    /// For mutual TLS.
    pub client: Option<ClientCertificate>,
    /// If there are any, the bank's certificate must have one of these public keys, and be issued by an authority too.
    pub pins: Vec<PublicKeyPin>,
}

/// A client certificate.
#[derive(Debug, Clone)]
pub struct ClientCertificate {
    /// PEM, the client's own certificate first.
    pub chain: Vec<u8>,
    /// Its private key, PEM.
    pub key: SecretSlice<u8>,
}

/// The SHA-256 digest of a certificate's public key (`SubjectPublicKeyInfo`, DER). As text: `sha256/` and base64, as in
/// RFC 7469 and `curl --pinnedpubkey`, but with one slash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PublicKeyPin([u8; 32]);

impl PublicKeyPin {
    /// The pin of a certificate.
    ///
    /// # Errors
    /// If it is not an X.509 certificate.
    pub fn of(certificate: &CertificateDer<'_>) -> Result<Self, rustls::Error> {
        let key = ParsedCertificate::try_from(certificate)?.subject_public_key_info();
        Ok(Self(Sha256::digest(&key).into()))
    }
}

impl fmt::Display for PublicKeyPin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sha256/{}", BASE64_STANDARD.encode(self.0))
    }
}

impl FromStr for PublicKeyPin {
    type Err = ConfigError;

    fn from_str(text: &str) -> Result<Self, ConfigError> {
        let digest = text.strip_prefix("sha256/").and_then(|text| BASE64_STANDARD.decode(text).ok());
        digest.and_then(|digest| digest.try_into().ok()).map(Self).ok_or(ConfigError::Pin)
    }
}

/// reqwest gets the configuration itself, so the process needs no default crypto provider. Without TLS no authorities
/// are loaded, so a machine without certificates works.
pub(crate) fn config(tls: &BankTls, uses_tls: bool) -> Result<ClientConfig, ConfigError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(failed)?;
    if !uses_tls {
        return Ok(builder.with_root_certificates(RootCertStore::empty()).with_no_client_auth());
    }
    let verifier = PinVerifier { inner: verifier(tls, &provider)?, pins: tls.pins.clone() };
    let builder = builder.dangerous().with_custom_certificate_verifier(Arc::new(verifier));
    let Some(client) = &tls.client else { return Ok(builder.with_no_client_auth()) };
    let chain = certificates(&client.chain, "the client certificate")?;
    // The reason is left out: it could quote the key.
    let key = PrivateKeyDer::from_pem_slice(client.key.expose_secret())
        .map_err(|_| ConfigError::Client("the client key holds no private key in PEM".to_owned()))?;
    builder.with_client_auth_cert(chain, key).map_err(failed)
}

/// Verifies that a trusted authority issued the certificate for the bank's host.
fn verifier(
    tls: &BankTls,
    provider: &Arc<CryptoProvider>,
) -> Result<Arc<dyn ServerCertVerifier>, ConfigError> {
    let provider = Arc::clone(provider);
    let Some(pem) = &tls.authorities else {
        return Ok(Arc::new(rustls_platform_verifier::Verifier::new(provider).map_err(failed)?));
    };
    let mut roots = RootCertStore::empty();
    for certificate in certificates(pem, "the bank's certificate authority")? {
        roots.add(certificate).map_err(failed)?;
    }
    let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider).build();
    Ok(verifier.map_err(|error| ConfigError::Client(format!("TLS: {error}")))?)
}

fn certificates(pem: &[u8], what: &str) -> Result<Vec<CertificateDer<'static>>, ConfigError> {
    let certificates: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    let certificates = certificates.unwrap_or_default();
    if certificates.is_empty() {
        return Err(ConfigError::Client(format!("{what} holds no certificate in PEM")));
    }
    Ok(certificates)
}

fn failed(error: rustls::Error) -> ConfigError {
    ConfigError::Client(format!("TLS: {error}"))
}

/// Accepts what `inner` accepts, if the public key is pinned or there are no pins.
#[derive(Debug)]
struct PinVerifier {
    inner: Arc<dyn ServerCertVerifier>,
    pins: Vec<PublicKeyPin>,
}

impl ServerCertVerifier for PinVerifier {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        host: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let verified = self.inner.verify_server_cert(certificate, intermediates, host, ocsp, now)?;
        if self.pins.is_empty() || self.pins.contains(&PublicKeyPin::of(certificate)?) {
            Ok(verified)
        } else {
            Err(rustls::Error::General("the bank's public key is not one that is pinned".to_owned()))
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.inner.verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.inner.verify_tls13_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.inner.supported_verify_schemes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pin_is_sha256_in_base64() {
        let good = format!("sha256/{}", BASE64_STANDARD.encode([7; 32]));
        assert_eq!(good.parse::<PublicKeyPin>().unwrap().to_string(), good);
        for bad in ["", "sha256/", "sha1/BwcHBw==", "sha256/BwcHBw==", &good[7..]] {
            assert!(bad.parse::<PublicKeyPin>().is_err(), "{bad:?}");
        }
    }

    #[test]
    fn files_without_what_belongs_in_them_are_refused_and_no_key_is_shown() {
        let broken = BankTls { authorities: Some(b"nothing".to_vec()), ..BankTls::default() };
        assert!(config(&broken, true).unwrap_err().to_string().contains("certificate authority"));
        assert!(config(&broken, false).is_ok(), "not read without TLS");
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let chain = made.cert.pem().into_bytes();
        let client = |key: &str| {
            let key = SecretSlice::from(key.as_bytes().to_vec());
            let client = Some(ClientCertificate { chain: chain.clone(), key });
            let tls = BankTls { authorities: Some(chain.clone()), client, pins: Vec::new() };
            assert!(!format!("{tls:?}").contains("PRIVATE"));
            config(&tls, true).map_err(|error| error.to_string())
        };
        assert!(client(&made.signing_key.serialize_pem()).is_ok());
        let refused =
            client("-----BEGIN PRIVATE KEY-----\nhunter2\n-----END PRIVATE KEY-----\n").unwrap_err();
        assert!(refused.contains("private key") && !refused.contains("hunter2"), "{refused}");
        let other = rcgen::KeyPair::generate().unwrap().serialize_pem();
        assert!(client(&other).is_err(), "the key of another certificate");
    }
}
