//! The address of a bank, and its credentials.

use std::net::SocketAddr;
use std::time::Duration;

use reqwest::Url;
use secrecy::SecretString;

use crate::tls::BankTls;

/// Address and credentials of a bank.
#[derive(Debug, Clone)]
pub struct BankAddress {
    pub(crate) url: Url,
    pub(crate) secret: SecretString,
    pub(crate) timeout: Duration,
    pub(crate) tls: BankTls,
    pub(crate) allow_http: bool,
    pub(crate) through: Option<SocketAddr>,
}

/// Invalid settings. The text shows no secret.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// No URL of a bank.
    #[error("the bank's URL {0}")]
    Url(String),
    /// A secret that no header can carry.
    #[error("the bank's secret must have 1 or more visible ASCII characters")]
    Secret,
    /// Plain HTTP to another machine.
    #[error(
        "the bank's URL must start with https://; KOPECK_BANK_ALLOW_HTTP=true permits plain HTTP to another machine"
    )]
    Plaintext,
    /// No pin of a public key.
    #[error("must be sha256/ and the base64 of 32 bytes")]
    Pin,
    /// No TLS, or no HTTP client.
    #[error("the HTTP client cannot be set up: {0}")]
    Client(String),
}

impl BankAddress {
    /// The bank at `url`, `http://…` or `https://…`, with an optional path before the paths of the protocol. Bank and
    /// service share `secret`. A request may take `timeout`, from connecting to the last byte of its response.
    ///
    /// # Errors
    /// [`ConfigError::Url`].
    pub fn new(url: &str, secret: SecretString, timeout: Duration) -> Result<Self, ConfigError> {
        let wrong = |why: &str| ConfigError::Url(why.to_owned());
        let url = Url::parse(url).map_err(|error| wrong(&format!("cannot be read: {error}")))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(wrong("must start with http:// or https://"));
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err(wrong("must have neither query nor fragment"));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(wrong("must name no user: the secret is a separate setting"));
        }
        Ok(Self { url, secret, timeout, tls: BankTls::default(), allow_http: false, through: None })
    }

    /// Replaces the TLS settings.
    #[must_use]
    pub fn with_tls(self, tls: BankTls) -> Self {
        Self { tls, ..self }
    }

    /// Permits plain HTTP to another machine.
    #[must_use]
    pub fn allow_http(self) -> Self {
        Self { allow_http: true, ..self }
    }

    /// Another secret.
    #[must_use]
    pub fn with_secret(self, secret: SecretString) -> Self {
        Self { secret, ..self }
    }

    /// Connects to `relay`, which passes bytes on to the bank, in place of the bank itself. The certificate stays the bank's.
    #[must_use]
    pub fn through(self, relay: SocketAddr) -> Self {
        Self { through: Some(relay), ..self }
    }

    /// Host and port that a connection goes to.
    #[must_use]
    pub fn host_and_port(&self) -> (String, u16) {
        let host = self.url.host_str().unwrap_or_default().trim_matches(['[', ']']).to_owned();
        (host, self.url.port_or_known_default().unwrap_or(443))
    }

    /// Whether requests are readable on their way to another machine.
    #[must_use]
    pub fn is_plaintext(&self) -> bool {
        let host = self.url.host_str().unwrap_or_default().trim_matches(['[', ']']);
        let is_this_machine = host == "localhost"
            || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback());
        self.url.scheme() == "http" && !is_this_machine
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(url: &str) -> Result<BankAddress, ConfigError> {
        BankAddress::new(url, SecretString::from("hunter2"), Duration::from_secs(1))
    }

    #[test]
    fn a_url_is_absolute_and_has_no_user() {
        for good in ["http://127.0.0.1:8090", "https://bank.example/front/", "http://[::1]:1"] {
            assert!(address(good).is_ok(), "{good}");
        }
        for bad in [
            "",
            "bank.example",
            "ftp://bank.example",
            "https://b.example/?x=1",
            "https://b.example/#x",
            "https://u:p@b.example",
        ] {
            let error = address(bad).unwrap_err().to_string();
            assert!(error.starts_with("the bank's URL ") && !error.contains("u:p"), "{bad}: {error}");
        }
    }

    #[test]
    fn only_loopback_may_use_plaintext_without_a_warning() {
        let in_clear = |url: &str| address(url).unwrap().is_plaintext();
        for fine in ["http://127.0.0.1:8090", "http://localhost", "http://[::1]", "https://bank.example"] {
            assert!(!in_clear(fine), "{fine}");
        }
        assert!(in_clear("http://bank.example") && in_clear("http://10.0.0.1"));
    }

    #[test]
    fn debug_shows_no_secret() {
        assert!(!format!("{:?}", address("https://bank.example").unwrap()).contains("hunter2"));
    }
}
