//! Sends one request over HTTP.

use std::io::Read as _;
use std::time::Duration;

use reqwest::blocking::{Client, Response};
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use reqwest::{Method, Url};
use secrecy::ExposeSecret as _;
use serde::Serialize;
use serde::de::DeserializeOwned;
use zeroize::Zeroizing;

use crate::address::{BankAddress, ConfigError};
use crate::tls;
use crate::transport_error::TransportError;

/// The most bytes of a response; a page of 1,000 cards stays well below it.
const MAX_ANSWER: u64 = 8 << 20;
/// The timeout of connecting, unless the whole request has less.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// The idle timeout of a connection: less than the server's, so that the server does not close a connection with a
/// request on its way.
const IDLE: Duration = Duration::from_secs(30);
const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// Sends requests to one bank.
pub(crate) struct Transport {
    http: Client,
    base: Url,
    bearer: HeaderValue,
    timeout: Duration,
}

/// A request to send.
pub(crate) struct BankRequest {
    method: Method,
    path: String,
    query: Vec<(&'static str, String)>,
    body: Option<Vec<u8>>,
}

impl BankRequest {
    pub(crate) fn get(path: impl Into<String>) -> Self {
        Self { method: Method::GET, path: path.into(), query: Vec::new(), body: None }
    }

    /// # Errors
    /// [`TransportError::NotSent`] if the body has no JSON.
    pub(crate) fn with_body(
        method: Method,
        path: impl Into<String>,
        body: &impl Serialize,
    ) -> Result<Self, TransportError> {
        let body = serde_json::to_vec(body)
            .map_err(|_| TransportError::NotSent("the call has no JSON".to_owned()))?;
        Ok(Self { method, path: path.into(), query: Vec::new(), body: Some(body) })
    }

    /// A request with any body, also one that the protocol does not have.
    pub(crate) fn raw(
        method: Method,
        path: &str,
        query: &[(&'static str, String)],
        body: Option<&str>,
    ) -> Self {
        let body = body.map(|body| body.as_bytes().to_vec());
        Self { method, path: path.to_owned(), query: query.to_vec(), body }
    }

    pub(crate) fn query(mut self, name: &'static str, value: impl ToString) -> Self {
        self.query.push((name, value.to_string()));
        self
    }
}

impl Transport {
    pub(crate) fn new(address: BankAddress) -> Result<Self, ConfigError> {
        if address.is_plaintext() {
            if !address.allow_http {
                return Err(ConfigError::Plaintext);
            }
            log::warn!("requests to the bank and its secret can be read on their way: use https");
        }
        let BankAddress { url: mut base, secret, timeout, tls, through, .. } = address;
        let secret = secret.expose_secret();
        if secret.is_empty() || !secret.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(ConfigError::Secret);
        }
        let bearer = Zeroizing::new(format!("Bearer {secret}"));
        let mut bearer = HeaderValue::from_str(&bearer).map_err(|_| ConfigError::Secret)?;
        bearer.set_sensitive(true);
        let mut http = Client::builder();
        if let Some(relay) = through {
            let host = base.host_str().unwrap_or_default().to_owned();
            // A port in the URL is the one that counts. An address needs no resolution, so the relay has to replace it.
            let replaced = base.set_port(Some(relay.port())).is_ok()
                && (base.domain().is_some() || base.set_ip_host(relay.ip()).is_ok());
            if !replaced {
                return Err(ConfigError::Url("cannot be reached through a relay".to_owned()));
            }
            http = http.resolve(&host, relay);
        }
        let http = http
            .tls_backend_preconfigured(tls::config(&tls, base.scheme() == "https")?)
            .connect_timeout(CONNECT_TIMEOUT.min(timeout))
            .pool_idle_timeout(IDLE)
            // The protocol has no redirects, and the secret must not follow one.
            .redirect(reqwest::redirect::Policy::none())
            // The network path to the bank is a setting of the service, and no affair of the environment.
            .no_proxy()
            .tcp_nodelay(true)
            .user_agent(concat!("kopeck/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(|error| ConfigError::Client(error.to_string()))?;
        Ok(Self { http, base, bearer, timeout })
    }

    /// Sends a request once and returns status code and body of its response.
    pub(crate) fn exchange(
        &self,
        request: &BankRequest,
    ) -> Result<(u16, Zeroizing<Vec<u8>>), TransportError> {
        let mut url = self.base.clone();
        url.set_path(&format!("{}{}", self.base.path().trim_end_matches('/'), request.path));
        if !request.query.is_empty() {
            url.query_pairs_mut().extend_pairs(&request.query);
        }
        let mut builder = self
            .http
            .request(request.method.clone(), url)
            .timeout(self.timeout)
            .header(ACCEPT, JSON)
            .header(AUTHORIZATION, self.bearer.clone());
        if let Some(body) = &request.body {
            builder = builder.header(CONTENT_TYPE, JSON).body(body.clone());
        }
        let response = builder.send().map_err(|error| TransportError::of(&error, self.timeout))?;
        let status = response.status().as_u16();
        Ok((status, self.body(response)?))
    }

    /// Sends a request once and reads its response.
    pub(crate) fn send<T: DeserializeOwned>(&self, request: &BankRequest) -> Result<T, TransportError> {
        let (status, body) = self.exchange(request)?;
        if status != 200 {
            return Err(TransportError::of_status(status, &body));
        }
        // A serde error may quote the response.
        serde_json::from_slice(&body).map_err(|error| {
            TransportError::ResponseLost(format!(
                "the answer cannot be read: line {}, column {}",
                error.line(),
                error.column()
            ))
        })
    }

    fn body(&self, response: Response) -> Result<Zeroizing<Vec<u8>>, TransportError> {
        let mut body = Zeroizing::new(Vec::new());
        let read = response.take(MAX_ANSWER + 1).read_to_end(&mut body);
        read.map_err(|error| {
            let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<reqwest::Error>());
            if inner.is_some_and(reqwest::Error::is_timeout) || error.kind() == std::io::ErrorKind::TimedOut {
                TransportError::Timeout(self.timeout)
            } else {
                TransportError::ResponseLost("the answer breaks off".to_owned())
            }
        })?;
        if body.len() as u64 > MAX_ANSWER {
            return Err(TransportError::ResponseLost("the answer is too large".to_owned()));
        }
        Ok(body)
    }
}
