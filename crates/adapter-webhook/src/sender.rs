//! Sends one delivery.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime};

use ipnet::IpNet;
use kopeck_port_webhook::{Attempt, AttemptError, BoxFuture, CheckError, WebhookRequest, WebhookSender};
use reqwest::header::{CONNECTION, CONTENT_TYPE, HeaderMap, RETRY_AFTER};
use reqwest::{Client, Response};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};
use uuid::Uuid;

use crate::lookups::{Beyond, Lookups, Resolver, system_resolver};
use crate::networks::Networks;
use crate::target::{Rules, Target};

/// The time limit of an attempt, the look-up of its name included.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The time limit of a look-up while a client waits for its response.
const CHECK_TIMEOUT: Duration = Duration::from_secs(4);

/// How much is read of the body of an answer other than 2xx, and for how long.
const BODY: usize = 4_096;
const BODY_TIMEOUT: Duration = Duration::from_secs(1);

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
    rules: Rules,
    /// Of addresses that partners set. Beside those of deliveries, so that a partner can always change an address.
    checks: Lookups,
    lookups: Lookups,
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
        Self::resolving(settings, &system_resolver(), CHECK_TIMEOUT, TIMEOUT)
    }

    pub(crate) fn resolving(
        settings: WebhookSettings,
        resolver: &Resolver,
        check_timeout: Duration,
        timeout: Duration,
    ) -> Result<Self, WebhookConfigError> {
        let authorities = settings.authorities.as_deref().map(authorities).transpose()?.unwrap_or_default();
        let rules = Rules { networks: Networks::new(settings.allow), is_sandbox: settings.is_sandbox };
        let checks = Lookups::new(Arc::clone(resolver), Beyond::Refused, check_timeout);
        let lookups = Lookups::new(Arc::clone(resolver), Beyond::Waits, timeout);
        Ok(Self { rules, checks, lookups, authorities, tls: OnceLock::new(), timeout })
    }

    async fn attempt(&self, request: WebhookRequest) -> Result<Attempt, AttemptError> {
        let target = self.rules.target(&request.url, request.partner, &self.lookups).await;
        let target = target.map_err(|error| match error {
            CheckError::Refused(refused) => AttemptError::Address(refused),
            CheckError::Busy => AttemptError::Timeout,
        })?;
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
        let retry_after = retry_after(response.headers(), sent_at);
        let status = response.status().as_u16();
        // That of a success says nothing that anybody needs.
        let body = if response.status().is_success() { Vec::new() } else { beginning(response).await };
        Ok(Attempt::Answered { status, retry_after, body })
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
    fn check<'a>(&'a self, partner: Uuid, url: &'a str) -> BoxFuture<'a, Result<String, CheckError>> {
        Box::pin(async move {
            let target = self.rules.target(url, partner, &self.checks).await?;
            Ok(target.url.into())
        })
    }

    fn send(&self, request: WebhookRequest) -> BoxFuture<'_, Attempt> {
        Box::pin(async move {
            let made = tokio::time::timeout(self.timeout, self.attempt(request)).await;
            made.unwrap_or(Err(AttemptError::Timeout)).unwrap_or_else(Attempt::Failed)
        })
    }
}

/// The beginning of a body, within the limits: it may be endless.
async fn beginning(mut response: Response) -> Vec<u8> {
    let mut body = Vec::new();
    let read = async {
        while body.len() < BODY
            && let Ok(Some(chunk)) = response.chunk().await
        {
            body.extend_from_slice(&chunk);
        }
    };
    // A part is as good as the whole.
    let _ = tokio::time::timeout(BODY_TIMEOUT, read).await;
    body.truncate(BODY);
    body
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
