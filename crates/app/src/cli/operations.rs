//! Settings of the port for operators and of the front door's behaviour.

use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::path::PathBuf;

use clap::Args;
use ipnet::IpNet;
use kopeck_adapter_http::{ProxyHeader, RateLimit, TrustedProxies};
use kopeck_adapter_webhook::WebhookSettings;
use time::Duration;

use super::duration;

/// The port for operators.
#[derive(Debug, Clone, Args)]
pub struct OperationsArgs {
    /// Address and port of `/health/live`, `/health/ready` and `/metrics`; not served if absent.
    #[arg(long, env = "KOPECK_OPERATIONS_LISTEN")]
    pub operations_listen: Option<SocketAddr>,
    /// The certificate chain in PEM with which they are served by HTTPS. A changed file is reloaded within seconds.
    #[arg(
        long,
        env = "KOPECK_OPERATIONS_TLS_CERT",
        requires = "operations_tls_key",
        requires = "operations_listen"
    )]
    pub operations_tls_cert: Option<PathBuf>,
    /// The private key of that certificate in PEM.
    #[arg(long, env = "KOPECK_OPERATIONS_TLS_KEY", requires = "operations_tls_cert")]
    pub operations_tls_key: Option<PathBuf>,
}

/// Permitted targets of events, and their senders.
#[derive(Debug, Clone, Args)]
pub struct WebhookArgs {
    /// Special-purpose networks that webhooks may lead into, as address blocks separated by commas. All others, such as
    /// private ones, are refused.
    #[arg(long, env = "KOPECK_WEBHOOK_ALLOW", value_delimiter = ',', hide_default_value = true)]
    pub webhook_allow: Vec<IpNet>,
    /// The addresses from which webhooks come, as partners see them: blocks separated by commas. The service tells them at
    /// `/docs/webhook-senders.json`.
    #[arg(long, env = "KOPECK_WEBHOOK_SENDERS", value_delimiter = ',', hide_default_value = true)]
    pub webhook_senders: Vec<IpNet>,
    /// A file with the certificate authorities of webhook endpoints, PEM, trusted beside those that the system trusts.
    #[arg(long, env = "KOPECK_WEBHOOK_CA")]
    pub webhook_ca: Option<PathBuf>,
}

impl WebhookArgs {
    /// The settings of the sender.
    #[must_use]
    pub fn settings(&self, is_sandbox: bool) -> WebhookSettings {
        let (allow, authorities) = (self.webhook_allow.clone(), self.webhook_ca.clone());
        WebhookSettings { allow, is_sandbox, authorities }
    }
}

/// Connections, limits, proxies.
#[derive(Debug, Clone, Args)]
pub struct FrontArgs {
    /// The certificate chain in PEM: with it the API is served by HTTPS. A changed file is reloaded within seconds.
    #[arg(long, env = "KOPECK_TLS_CERT", requires = "tls_key")]
    pub tls_cert: Option<PathBuf>,
    /// The private key of the certificate in PEM.
    #[arg(long, env = "KOPECK_TLS_KEY", requires = "tls_cert")]
    pub tls_key: Option<PathBuf>,
    /// Maximum size of all request bodies in memory, in bytes, at least twice that of one body. Beyond it requests get
    /// 503. A quarter is for the token operations, the rest for requests with an access token.
    #[arg(long, env = "KOPECK_BODY_MEMORY", default_value_t = 64 * 1024 * 1024)]
    pub body_memory: usize,
    /// Maximum number of connections of this process; a further one waits until another is closed.
    #[arg(long, env = "KOPECK_MAX_CONNECTIONS", default_value_t = 4_096)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub max_connections: u32,
    /// Requests per second of a partner, with bursts of twice as many; 0 is no limit. Each process counts for
    /// itself.
    #[arg(long, env = "KOPECK_RATE_LIMIT", default_value_t = 1_000)]
    #[arg(value_parser = clap::value_parser!(u32).range(..=1_000_000))]
    pub rate_limit: u32,
    /// Address blocks of the proxies whose `Forwarded` or `X-Forwarded-For` is trusted, separated by commas.
    #[arg(long, env = "KOPECK_TRUSTED_PROXIES", default_value = "", hide_default_value = true)]
    pub trusted_proxies: TrustedProxies,
    /// The header that they set: `forwarded`, `x-forwarded-for`, or `any`: the first of the two that is present.
    #[arg(long, env = "KOPECK_PROXY_HEADER", default_value = "any")]
    pub proxy_header: ProxyHeader,
    /// How long requests are still accepted after SIGTERM, while `/health/ready` reports not ready.
    #[arg(long, env = "KOPECK_DRAIN_PAUSE", default_value = "0s", value_parser = duration)]
    pub drain_pause: Duration,
}

impl FrontArgs {
    /// The rate limit, if there is one.
    #[must_use]
    pub fn rate_limit(&self) -> Option<RateLimit> {
        let per_second = NonZeroU32::new(self.rate_limit)?;
        Some(RateLimit { per_second, burst: per_second.saturating_mul(NonZeroU32::MIN.saturating_add(1)) })
    }
}
