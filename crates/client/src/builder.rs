//! The builder of a client.

use std::sync::Arc;
use std::time::Duration;

use hyper_util::client::proxy::matcher::Matcher;
use kopeck_sealing::SealingKey;
use reqwest::Url;
use secrecy::{ExposeSecret as _, SecretString};

use crate::client::{Client, Inner};
use crate::error::Error;
use crate::retry::RetryPolicy;
use crate::seal::Sealing;
use crate::session::{AccessToken, Credentials, Session};
use crate::system::{self, Clock};
use crate::tls::{self, Trust};
use crate::transport::Transport;

/// Builds a [`Client`]: API key, login and password are required, everything else has a default.
#[must_use = "a builder does nothing until `build` is called"]
pub struct ClientBuilder {
    base_url: String,
    api_key: Option<SecretString>,
    login: Option<String>,
    password: Option<SecretString>,
    sealing_key: Option<SealingKey>,
    other_sealing_keys: Vec<SealingKey>,
    seal_parameters: Option<bool>,
    seal_answers: Option<bool>,
    timeout: Duration,
    connect_timeout: Duration,
    retry: RetryPolicy,
    trust: Trust,
    clock: Clock,
    access_token: Option<AccessToken>,
}

impl ClientBuilder {
    pub(crate) fn new(base_url: String) -> Self {
        Self {
            base_url,
            api_key: None,
            login: None,
            password: None,
            sealing_key: None,
            other_sealing_keys: Vec::new(),
            seal_parameters: None,
            seal_answers: None,
            timeout: Duration::from_secs(30),
            connect_timeout: Duration::from_secs(5),
            retry: RetryPolicy::default(),
            trust: Trust::default(),
            clock: Arc::new(system::unix_now),
            access_token: None,
        }
    }

    /// The API key.
    pub fn api_key(mut self, api_key: impl Into<SecretString>) -> Self {
        self.api_key = Some(api_key.into());
        self
    }

    /// The login.
    pub fn login(mut self, login: impl Into<String>) -> Self {
        self.login = Some(login.into());
        self
    }

    /// The password.
    pub fn password(mut self, password: impl Into<SecretString>) -> Self {
        self.password = Some(password.into());
        self
    }

    /// The sealing key. With one, every body is sealed, and so is the path of a change without a body, and the client
    /// requests sealed responses. Without one everything is plaintext, which the service allows only to some partners.
    pub fn sealing_key(mut self, key: SealingKey) -> Self {
        self.sealing_key = Some(key);
        self
    }

    /// Another key for responses, while keys are rotated: first the new key, then the former one. Until one of your programs
    /// seals with the new key, the service seals responses under the former one.
    pub fn also_open_with(mut self, key: SealingKey) -> Self {
        self.other_sealing_keys.push(key);
        self
    }

    /// Whether to seal identifiers in paths and query parameters too. Default: yes with a sealing key, since a URL is written
    /// down by what it passes, and a search has names in it.
    pub const fn seal_parameters(mut self, seal: bool) -> Self {
        self.seal_parameters = Some(seal);
        self
    }

    /// Whether to request sealed responses, and to refuse a plaintext success. Default: yes with a sealing key.
    pub const fn seal_answers(mut self, seal: bool) -> Self {
        self.seal_answers = Some(seal);
        self
    }

    /// The timeout of one try, from connecting to the last byte of its response. Default 30 s.
    pub const fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// The timeout of connecting. Default 5 s.
    pub const fn connect_timeout(mut self, timeout: Duration) -> Self {
        self.connect_timeout = timeout;
        self
    }

    /// When to retry.
    pub const fn retry(mut self, policy: RetryPolicy) -> Self {
        self.retry = policy;
        self
    }

    /// The only trusted certificates, in PEM, instead of those of the operating system.
    pub fn certificate_authority(mut self, pem: impl Into<Vec<u8>>) -> Self {
        self.trust = Trust::Only(pem.into());
        self
    }

    /// A clock of Unix seconds, instead of the machine's. Sealed values carry their time, and the service refuses a
    /// difference of more than five minutes.
    pub fn clock(mut self, clock: impl Fn() -> u64 + Send + Sync + 'static) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    /// An access token that another client got ([`Client::access_token`]), to go on with until it expires or is
    /// refused. Then the client logs in.
    pub fn access_token(mut self, token: AccessToken) -> Self {
        self.access_token = Some(token);
        self
    }

    /// Builds the client. It sends nothing yet: it logs in with its first request.
    ///
    /// # Errors
    ///
    /// [`Error::Config`] if something is missing or malformed.
    pub fn build(self) -> Result<Client, Error> {
        let base = base_url(&self.base_url)?;
        let credentials = Credentials {
            api_key: self.api_key.ok_or_else(|| missing("API key"))?,
            login: self.login.ok_or_else(|| missing("login"))?,
            password: self.password.ok_or_else(|| missing("password"))?,
        };
        check_typed("login", &credentials.login)?;
        check_typed("password", credentials.password.expose_secret())?;
        let sealing = match self.sealing_key {
            Some(key) => Some(Sealing {
                key,
                other_keys: self.other_sealing_keys,
                parameters: self.seal_parameters.unwrap_or(true),
                answers: self.seal_answers.unwrap_or(true),
            }),
            None if self.seal_parameters == Some(true) || self.seal_answers == Some(true) => {
                return Err(missing("sealing key"));
            }
            None => None,
        };
        let trust = if base.scheme() == "http" { Trust::Nothing } else { self.trust };
        let http = reqwest::Client::builder()
            .tls_backend_preconfigured(tls::config(&trust)?)
            .connect_timeout(self.connect_timeout)
            // The service has no redirects, and credentials must not follow one.
            .redirect(reqwest::redirect::Policy::none())
            .user_agent(concat!("kopeck-client/", env!("CARGO_PKG_VERSION")))
            .build()?;
        let session = Session::new(credentials, self.access_token, (self.clock)());
        let way = way(&base);
        let transport = Transport { http, base, way, sealing, clock: self.clock, timeout: self.timeout };
        Ok(Client::new(Inner { transport, session, retry: self.retry }))
    }
}

/// Reads a base URL. Blanks and line ends around it are cut off, and so is the `/v1` with which every path begins.
fn base_url(text: &str) -> Result<Url, Error> {
    let malformed = |why: &dyn std::fmt::Display| Error::Config(format!("base URL: {why}"));
    let text = text.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
    if !["http://", "https://"].into_iter().any(|scheme| text.to_ascii_lowercase().starts_with(scheme)) {
        return Err(malformed(&"it has to start with http:// or https://"));
    }
    let mut url = Url::parse(text).map_err(|error| malformed(&error))?;
    if url.query().is_some() || url.fragment().is_some() {
        return Err(malformed(&"it must have neither query nor fragment"));
    }
    if let Some(prefix) = url.path().trim_end_matches('/').strip_suffix("/v1").map(str::to_owned) {
        url.set_path(&prefix);
    }
    Ok(url)
}

/// The target of connections, for people. reqwest decides about a proxy by the same environment.
fn way(base: &Url) -> String {
    let authority = |host: Option<&str>, port: Option<u16>| {
        let port = port.map(|port| format!(":{port}")).unwrap_or_default();
        format!("{}{port}", host.unwrap_or_default())
    };
    let service = authority(base.host_str(), base.port_or_known_default());
    let proxy = base.as_str().parse().ok().and_then(|uri| Matcher::from_system().intercept(&uri));
    match proxy {
        // Without its user and password.
        Some(proxy) => {
            let proxy = proxy.uri();
            format!("{service} by the proxy {}", authority(proxy.host(), proxy.port_u16()))
        }
        None => service,
    }
}

/// Refuses line ends of pasted credentials and of Windows files: they would count as failed logins.
fn check_typed(what: &str, text: &str) -> Result<(), Error> {
    if text.starts_with('\u{feff}') {
        return Err(Error::Config(format!("the {what} begins with a byte-order mark")));
    }
    if text.starts_with(char::is_control) || text.ends_with(char::is_control) {
        let reason = "begins or ends with a control character, such as the end of a line";
        return Err(Error::Config(format!("the {what} {reason}")));
    }
    Ok(())
}

fn missing(what: &str) -> Error {
    Error::Config(format!("the {what} is missing"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complete(base_url: &str) -> ClientBuilder {
        ClientBuilder::new(base_url.to_owned()).api_key("k").login("l").password("p")
    }

    fn config_error(builder: ClientBuilder) -> String {
        match builder.build() {
            Err(Error::Config(why)) => why,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_missing_setting_is_named() {
        let builder = || ClientBuilder::new("http://localhost".to_owned());
        assert_eq!(config_error(builder()), "the API key is missing");
        assert_eq!(config_error(builder().api_key("k")), "the login is missing");
        assert_eq!(config_error(builder().api_key("k").login("l")), "the password is missing");
        assert_eq!(
            config_error(complete("http://localhost").seal_answers(true)),
            "the sealing key is missing"
        );
        assert!(complete("http://localhost").build().is_ok());
    }

    #[test]
    fn a_base_url_is_absolute() {
        for bad in ["http://[", "https://localhost/?x=1", "https://localhost/#x"] {
            assert!(config_error(complete(bad)).starts_with("base URL: "), "{bad}");
        }
        for bad in
            ["", "localhost", "localhost:8080", "127.0.0.1:8080", "ftp://localhost", "api.example.com/v1"]
        {
            let expected = "base URL: it has to start with http:// or https://";
            assert_eq!(config_error(complete(bad)), expected, "{bad}");
        }
    }

    #[test]
    fn a_base_url_may_be_pasted_with_what_surrounds_it() {
        for (text, read) in [
            ("https://a.example", "https://a.example/"),
            ("https://a.example/v1", "https://a.example/"),
            ("https://a.example/v1/\r\n", "https://a.example/"),
            ("\u{feff} HTTPS://a.example/base/v1", "https://a.example/base"),
            ("https://a.example/v10", "https://a.example/v10"),
        ] {
            assert_eq!(base_url(text).unwrap().as_str(), read);
        }
    }

    #[test]
    fn credentials_that_were_pasted_with_more_are_refused() {
        for (text, what) in [
            ("hunter2\r", "control character"),
            ("hunter2\n", "control character"),
            ("\thunter2", "control character"),
            ("hunter2\u{7f}", "control character"),
            ("\u{feff}hunter2", "byte-order mark"),
        ] {
            let login = config_error(complete("http://localhost").login(text));
            let password = config_error(complete("http://localhost").password(text));
            for (name, said) in [("login", login), ("password", password)] {
                assert!(said.starts_with(&format!("the {name} begins")) && said.contains(what), "{said}");
                assert!(!said.contains("hunter2"), "{said}");
            }
        }
    }

    #[test]
    fn debug_of_a_client_shows_no_secret() {
        let client = complete("http://localhost").password("hunter2").api_key("ak_secret").build().unwrap();
        let debug = format!("{client:?}");
        assert!(!debug.contains("hunter2") && !debug.contains("ak_secret"), "{debug}");
    }
}
