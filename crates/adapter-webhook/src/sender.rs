//! Sends one delivery.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime};

use ipnet::IpNet;
use kopeck_port_webhook::{AddressRefused, Attempt, AttemptError, BoxFuture, WebhookRequest, WebhookSender};
use reqwest::Client;
use reqwest::header::{CONNECTION, CONTENT_TYPE, HeaderMap, RETRY_AFTER};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};
use tokio::sync::Semaphore;

use crate::networks::Networks;
use crate::target::{Resolver, Rules, Target, system_resolver};

/// The time limit of an attempt, the look-up of its name included.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Addresses that are checked at a time. A look-up holds a thread of the server until it ends, whatever the time limit.
const MOST_CHECKS: usize = 16;

/// How deliveries are sent.
#[derive(Debug, Clone, Default)]
pub struct WebhookSettings {
    /// Special networks that webhooks may lead into.
    pub allow: Vec<IpNet>,
    /// In the sandbox the machine itself may be a target, also without TLS.
    pub is_sandbox: bool,
    /// A file with certificates of authorities, PEM, which are trusted beside those that the system trusts.
    pub authorities: Option<PathBuf>,
}

/// Why deliveries cannot be sent at all.
#[derive(Debug, thiserror::Error)]
pub enum WebhookConfigError {
    /// The file of authorities cannot be read, or holds none.
    #[error("the certificate authorities of webhooks: {0}")]
    Authorities(String),
    /// TLS cannot be set up.
    #[error("TLS for webhooks: {0}")]
    Tls(#[from] rustls::Error),
}

/// Sends deliveries over the network.
pub struct HttpWebhooks {
    rules: Arc<Rules>,
    checks: Arc<Semaphore>,
    /// Trusted beside the system's: an endpoint may have a certificate of its company's own authority.
    authorities: Vec<CertificateDer<'static>>,
    /// From the first attempt on that needs it: a machine without authorities serves all the same, and no start waits for
    /// them to be read.
    tls: OnceLock<ClientConfig>,
    timeout: Duration,
}

impl HttpWebhooks {
    /// A sender by these settings.
    ///
    /// # Errors
    /// [`WebhookConfigError`].
    pub fn new(settings: WebhookSettings) -> Result<Self, WebhookConfigError> {
        Self::resolving(settings, system_resolver(), TIMEOUT)
    }

    pub(crate) fn resolving(
        settings: WebhookSettings,
        resolver: Resolver,
        timeout: Duration,
    ) -> Result<Self, WebhookConfigError> {
        let authorities = settings.authorities.as_deref().map(authorities).transpose()?.unwrap_or_default();
        let networks = Networks::new(settings.allow);
        let rules = Arc::new(Rules { networks, is_sandbox: settings.is_sandbox, resolver });
        let checks = Arc::new(Semaphore::new(MOST_CHECKS));
        Ok(Self { rules, checks, authorities, tls: OnceLock::new(), timeout })
    }

    async fn attempt(&self, request: WebhookRequest) -> Result<Attempt, AttemptError> {
        let target = self.rules.target(&request.url).await?;
        let client = self.client(&target)?;
        let sent_at = request.at.into();
        let response = client
            .post(target.url)
            .header(CONTENT_TYPE, "application/json")
            .header(CONNECTION, "close")
            .header("webhook-id", request.id)
            .header("webhook-timestamp", request.at.unix_timestamp())
            .header("webhook-signature", request.signature)
            .body(request.body)
            .send()
            .await
            .map_err(|error| failure(&error))?;
        // The body is left unread: it may be without end.
        let retry_after = retry_after(response.headers(), sent_at);
        Ok(Attempt::Answered { status: response.status().as_u16(), retry_after })
    }

    /// The configuration for a target. reqwest wants one without TLS too.
    fn tls_to(&self, target: &Target) -> Result<ClientConfig, AttemptError> {
        if target.url.scheme() == "http" {
            return without_tls().map_err(|_| AttemptError::Connection);
        }
        if let Some(config) = self.tls.get() {
            return Ok(config.clone());
        }
        let config = tls(self.authorities.clone()).map_err(|error| {
            log::warn!(error:% = error; "no event can be delivered by https: set KOPECK_WEBHOOK_CA");
            AttemptError::Connection
        })?;
        Ok(self.tls.get_or_init(|| config).clone())
    }

    /// A client for one request. It knows no other addresses than those that were checked.
    fn client(&self, target: &Target) -> Result<Client, AttemptError> {
        let mut builder = Client::builder()
            .tls_backend_preconfigured(self.tls_to(target)?)
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            .http1_only()
            .pool_max_idle_per_host(0)
            .user_agent(concat!("kopeck/", env!("CARGO_PKG_VERSION")));
        if let Some((host, addresses)) = &target.pinned {
            builder = builder.resolve_to_addrs(host, addresses);
        }
        builder.build().map_err(|_| AttemptError::Connection)
    }
}

impl WebhookSender for HttpWebhooks {
    fn check<'a>(&'a self, url: &'a str) -> BoxFuture<'a, Result<(), AddressRefused>> {
        Box::pin(async move {
            let check = async {
                let permit = Arc::clone(&self.checks).acquire_owned().await;
                let (rules, url) = (Arc::clone(&self.rules), url.to_owned());
                // A task of its own keeps the permit as long as the look-up takes.
                tokio::spawn(async move {
                    let _permit = permit;
                    rules.target(&url).await.map(drop)
                })
                .await
            };
            let checked = tokio::time::timeout(self.timeout, check).await;
            checked.ok().and_then(Result::ok).unwrap_or(Err(AddressRefused::UnknownHost))
        })
    }

    fn send(&self, request: WebhookRequest) -> BoxFuture<'_, Attempt> {
        Box::pin(async move {
            let made = tokio::time::timeout(self.timeout, self.attempt(request)).await;
            made.unwrap_or(Err(AttemptError::Timeout)).unwrap_or_else(Attempt::Failed)
        })
    }
}

fn failure(error: &reqwest::Error) -> AttemptError {
    if error.is_timeout() {
        AttemptError::Timeout
    } else if error.is_connect() {
        AttemptError::Connection
    } else {
        AttemptError::Broken
    }
}

/// Seconds, or the date until which to wait.
fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<time::Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    let wait = match text.parse() {
        Ok(seconds) => Duration::from_secs(seconds),
        Err(_) => httpdate::parse_http_date(text).ok()?.duration_since(now).ok()?,
    };
    time::Duration::try_from(wait).ok()
}

/// reqwest gets the configuration itself, so the process needs no default crypto provider.
fn provider() -> Arc<CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}

fn without_tls() -> Result<ClientConfig, rustls::Error> {
    let builder = ClientConfig::builder_with_provider(provider()).with_safe_default_protocol_versions()?;
    Ok(builder.with_root_certificates(RootCertStore::empty()).with_no_client_auth())
}

fn tls(authorities: Vec<CertificateDer<'static>>) -> Result<ClientConfig, rustls::Error> {
    let provider = provider();
    let verifier =
        rustls_platform_verifier::Verifier::new_with_extra_roots(authorities, Arc::clone(&provider))?;
    let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
    Ok(builder.dangerous().with_custom_certificate_verifier(Arc::new(verifier)).with_no_client_auth())
}

/// The certificates of a file, each one that can be trusted.
fn authorities(path: &Path) -> Result<Vec<CertificateDer<'static>>, WebhookConfigError> {
    let refused = |reason: String| WebhookConfigError::Authorities(reason);
    let pem = std::fs::read(path).map_err(|error| refused(error.to_string()))?;
    let mut authorities = Vec::new();
    for certificate in CertificateDer::pem_slice_iter(&pem) {
        let certificate = certificate.map_err(|error| refused(error.to_string()))?;
        RootCertStore::empty().add(certificate.clone())?;
        authorities.push(certificate);
    }
    if authorities.is_empty() {
        return Err(refused("the file holds no certificate in PEM".to_owned()));
    }
    Ok(authorities)
}

#[cfg(test)]
mod tests;
