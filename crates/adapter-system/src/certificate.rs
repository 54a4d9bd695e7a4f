//! The server's certificate, reloaded when its files change.

use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use anyhow::{Context, ensure};
use rustls::ServerConfig;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use zeroize::Zeroizing;

/// The two files of a certificate, in PEM.
#[derive(Debug, Clone)]
pub struct CertificateFiles {
    /// The chain, the server's own certificate first.
    pub chain: PathBuf,
    /// Its private key.
    pub key: PathBuf,
}

/// The outcome of a reload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CertificateRefresh {
    /// The files are unchanged.
    Unchanged,
    /// The new certificate is in use.
    Replaced,
    /// The new certificate is invalid; the old one stays in use.
    Rejected,
}

/// The certificate of a running server.
pub struct Certificate {
    files: CertificateFiles,
    provider: Arc<CryptoProvider>,
    shown: RwLock<Arc<CertifiedKey>>,
    seen: Mutex<LastRead>,
}

/// The content at the last reload.
struct LastRead {
    content: Content,
    /// Whether it was replaced or rejected.
    is_settled: bool,
}

#[derive(Clone, PartialEq, Eq)]
struct Content {
    chain: Vec<u8>,
    key: Zeroizing<Vec<u8>>,
}

impl CertificateFiles {
    fn content(&self) -> anyhow::Result<Content> {
        let read =
            |path: &PathBuf| std::fs::read(path).with_context(|| format!("cannot read {}", path.display()));
        Ok(Content { chain: read(&self.chain)?, key: Zeroizing::new(read(&self.key)?) })
    }
}

impl Content {
    fn certified(&self, provider: &CryptoProvider) -> anyhow::Result<CertifiedKey> {
        let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&self.chain).collect();
        let chain = chain.context("the file of the TLS certificate is no certificate in PEM")?;
        ensure!(!chain.is_empty(), "the file of the TLS certificate holds no certificate");
        // The reason is left out: it could quote the key.
        let key = PrivateKeyDer::from_pem_slice(&self.key)
            .map_err(|_| anyhow::anyhow!("the file of the TLS key holds no private key in PEM"))?;
        CertifiedKey::from_der(chain, key, provider).context("the TLS certificate and its key do not fit")
    }
}

impl Certificate {
    /// Reads the certificate for the first time.
    ///
    /// # Errors
    /// If the files cannot be read, or hold no certificate with its key.
    pub fn open(files: CertificateFiles) -> anyhow::Result<Arc<Self>> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let content = files.content()?;
        let shown = RwLock::new(Arc::new(content.certified(&provider)?));
        let seen = Mutex::new(LastRead { content, is_settled: true });
        Ok(Arc::new(Self { files, provider, shown, seen }))
    }

    /// How a server shows it: TLS 1.2 and 1.3.
    ///
    /// # Errors
    /// Never, as long as ring speaks these versions.
    pub fn server_config(self: &Arc<Self>) -> anyhow::Result<ServerConfig> {
        let resolver = Arc::clone(self) as Arc<dyn ResolvesServerCert>;
        Ok(ServerConfig::builder_with_provider(Arc::clone(&self.provider))
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_cert_resolver(resolver))
    }

    /// Reloads the files if they changed. An invalid pair is checked once more before it is rejected, since only one of
    /// the two files may have been written yet.
    pub fn refresh(&self) -> CertificateRefresh {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let found =
            self.files.content().unwrap_or_else(|_| Content { chain: Vec::new(), key: Vec::new().into() });
        let is_new = found != seen.content;
        if seen.is_settled && !is_new {
            return CertificateRefresh::Unchanged;
        }
        let certified = found.certified(&self.provider);
        *seen = LastRead { content: found, is_settled: certified.is_ok() || !is_new };
        match certified {
            Ok(certified) => {
                *self.shown.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(certified);
                log::info!("the certificate has changed");
                CertificateRefresh::Replaced
            }
            Err(_) if is_new => CertificateRefresh::Unchanged,
            Err(error) => {
                log::error!(error:% = format!("{error:#}"); "the changed certificate was rejected: the old one stays in use");
                CertificateRefresh::Rejected
            }
        }
    }
}

impl ResolvesServerCert for Certificate {
    fn resolve(&self, _hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(Arc::clone(&self.shown.read().unwrap_or_else(PoisonError::into_inner)))
    }
}

impl fmt::Debug for Certificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Certificate").field("files", &self.files).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Certificate and key in PEM.
    fn pair() -> (String, String) {
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        (made.cert.pem(), made.signing_key.serialize_pem())
    }

    fn shown(certificate: &Certificate) -> Vec<u8> {
        certificate.shown.read().unwrap().cert[0].to_vec()
    }

    #[test]
    fn a_changed_pair_is_taken_over_and_a_broken_one_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let files = CertificateFiles { chain: folder.path().join("c.pem"), key: folder.path().join("k.pem") };
        let write = |chain: &str, key: &str| {
            std::fs::write(&files.chain, chain).unwrap();
            std::fs::write(&files.key, key).unwrap();
        };
        let [first, second] = [pair(), pair()];
        write(&first.0, &first.1);
        let certificate = Certificate::open(files.clone()).unwrap();
        let before = shown(&certificate);
        assert_eq!(certificate.refresh(), CertificateRefresh::Unchanged);

        write(&second.0, &first.1);
        let looks: Vec<_> = (0..3).map(|_| certificate.refresh()).collect();
        assert_eq!(
            looks,
            [CertificateRefresh::Unchanged, CertificateRefresh::Rejected, CertificateRefresh::Unchanged],
            "it is complained of once"
        );
        std::fs::remove_file(&files.key).unwrap();
        assert_eq!(
            [certificate.refresh(), certificate.refresh()],
            [CertificateRefresh::Unchanged, CertificateRefresh::Rejected]
        );
        assert_eq!(shown(&certificate), before);

        write(&second.0, &second.1);
        assert_eq!(
            [certificate.refresh(), certificate.refresh()],
            [CertificateRefresh::Replaced, CertificateRefresh::Unchanged]
        );
        assert_ne!(shown(&certificate), before);
    }

    #[test]
    fn a_server_does_not_start_with_a_pair_that_does_not_fit() {
        let folder = tempfile::tempdir().unwrap();
        let files = CertificateFiles { chain: folder.path().join("c.pem"), key: folder.path().join("k.pem") };
        let [first, second] = [pair(), pair()];
        let refused = |chain: &str, key: &str| {
            std::fs::write(&files.chain, chain).unwrap();
            std::fs::write(&files.key, key).unwrap();
            format!("{:#}", Certificate::open(files.clone()).unwrap_err())
        };
        assert!(refused(&first.0, &second.1).contains("do not fit"));
        assert!(refused("", &first.1).contains("holds no certificate"));
        let broken = "-----BEGIN PRIVATE KEY-----\nhunter2\n-----END PRIVATE KEY-----\n";
        let said = refused(&first.0, broken);
        assert!(said.contains("its key do not fit") && !said.contains("hunter2"), "{said}");
    }
}
