//! One try of a request: seal, send, open.

use std::borrow::Cow;
use std::time::Duration;

use reqwest::Url;
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderValue, IF_MATCH, InvalidHeaderValue};
use secrecy::{ExposeSecret as _, SecretString};
use zeroize::Zeroizing;

use crate::error::{BoxError, Error};
use crate::request::Request;
use crate::response::{ResponseBody, ResponseHead};
use crate::seal::{JSON, SEALED_JSON, Sealing};
use crate::system::{self, Clock};

/// The most bytes of a response; a sealed result of 100,000 cards stays well below it.
const MAX_ANSWER: usize = 64 << 20;

/// Sends requests, each with a new nonce.
pub(crate) struct Transport {
    pub(crate) http: reqwest::Client,
    pub(crate) base: Url,
    /// The target of connections, for people: the service, and the proxy if there is one.
    pub(crate) way: String,
    pub(crate) sealing: Option<Sealing>,
    pub(crate) clock: Clock,
    pub(crate) timeout: Duration,
}

/// The authentication of a request.
pub(crate) enum Auth<'a> {
    ApiKey(&'a SecretString),
    Token(&'a SecretString),
}

/// No connection came about.
#[derive(Debug, thiserror::Error)]
#[error("no connection to {way}")]
struct NoConnection {
    way: String,
    source: BoxError,
}

impl Transport {
    pub(crate) async fn send(&self, call: &Request, auth: Auth<'_>) -> Result<ResponseBody, Error> {
        let nonce = system::random_hex();
        let request = self.request(call, auth, &nonce)?;
        let response = self.execute(request).await?;
        self.read(call, &nonce, response).await
    }

    /// Asks for a file, whose chunks come as they are read. The service does not seal files.
    pub(crate) async fn download(&self, call: &Request, auth: Auth<'_>) -> Result<reqwest::Response, Error> {
        let nonce = system::random_hex();
        let request = self.request(call, auth, &nonce)?;
        let response = self.execute(request).await?;
        if response.status().is_success() {
            return Ok(response);
        }
        match self.read(call, &nonce, response).await {
            Err(error) => Err(error),
            Ok(_) => Err(Error::Decode("the answer is no file".into())),
        }
    }

    async fn execute(&self, request: reqwest::Request) -> Result<reqwest::Response, Error> {
        self.http.execute(request).await.map_err(|error| match Error::from(error) {
            Error::Transport { sent: false, source } => {
                let source = Box::new(NoConnection { way: self.way.clone(), source });
                Error::Transport { sent: false, source }
            }
            error => error,
        })
    }

    async fn read(
        &self,
        call: &Request,
        nonce: &str,
        mut response: reqwest::Response,
    ) -> Result<ResponseBody, Error> {
        let head = ResponseHead::new(response.status(), response.headers());
        let mut bytes = Zeroizing::new(Vec::new());
        while let Some(chunk) = response.chunk().await? {
            if bytes.len() + chunk.len() > MAX_ANSWER {
                return Err(Error::Decode(format!("the answer is larger than {MAX_ANSWER} bytes").into()));
            }
            bytes.extend_from_slice(&chunk);
        }
        let text = match std::str::from_utf8(&bytes) {
            Ok(text) => Cow::Borrowed(text),
            // The error page of a proxy may be in any encoding; its status still counts.
            Err(_) if !head.status.is_success() => String::from_utf8_lossy(&bytes),
            Err(error) => return Err(Error::Decode(Box::new(error))),
        };
        self.open(call, nonce, head, &text)
    }

    fn request(&self, call: &Request, auth: Auth<'_>, nonce: &str) -> Result<reqwest::Request, Error> {
        let rendered = match &self.sealing {
            Some(sealing) => call.render_sealed(sealing, nonce, (self.clock)()),
            None => call.render_clear(),
        };
        let mut url = self.base.clone();
        url.set_path(&format!("{}{}", self.base.path().trim_end_matches('/'), rendered.path));
        if !rendered.query.is_empty() {
            url.query_pairs_mut().extend_pairs(&rendered.query);
        }
        let accept = match call.file {
            Some(media_type) => media_type,
            None if self.seals_answers() => SEALED_JSON,
            None => JSON,
        };
        let (name, credential) = auth
            .header()
            .map_err(|_| Error::Config("the API key holds characters that no header can carry".to_owned()))?;
        let mut request = self
            .http
            .request(call.method.clone(), url)
            .timeout(self.timeout + call.wait)
            .header(ACCEPT, accept)
            .header(name, credential)
            .header("x-nonce", nonce);
        if let Some(key) = &call.key {
            request = request.header("idempotency-key", key.as_str());
        }
        if let Some(tag) = &call.if_match {
            let tag = HeaderValue::from_str(tag).map_err(|_| {
                Error::Config("an entity tag consists of visible ASCII characters".to_owned())
            })?;
            request = request.header(IF_MATCH, tag);
        }
        if let Some((content_type, body)) = rendered.body {
            request = request.header(CONTENT_TYPE, content_type).body(body.as_bytes().to_vec());
        }
        Ok(request.build()?)
    }

    fn open(
        &self,
        call: &Request,
        nonce: &str,
        head: ResponseHead,
        text: &str,
    ) -> Result<ResponseBody, Error> {
        let succeeded = head.status.is_success();
        // Only sealed values carry a time.
        let note = self.sealing.as_ref().and_then(|_| head.clock_note((self.clock)()));
        let body = match &self.sealing {
            Some(sealing) if head.sealed => {
                let opened = sealing.open(call, nonce, head.status.as_u16(), (self.clock)(), text);
                opened.map_err(|error| match (error, &note) {
                    (Error::Sealing(reason), Some(note)) => Error::Sealing(format!("{reason}; {note}")),
                    (error, _) => error,
                })?
            }
            // Errors before authentication are plaintext. A plaintext success comes from a party without the key.
            _ if succeeded && self.seals_answers() && !text.is_empty() => {
                return Err(Error::Sealing("it came in clear".to_owned()));
            }
            _ => Zeroizing::new(text.to_owned()),
        };
        if succeeded { Ok(ResponseBody::new(body, head)) } else { Err(head.error(&body, note)) }
    }

    fn seals_answers(&self) -> bool {
        self.sealing.as_ref().is_some_and(|sealing| sealing.answers)
    }
}

impl Auth<'_> {
    fn header(&self) -> Result<(&'static str, HeaderValue), InvalidHeaderValue> {
        let (name, value) = match self {
            Self::ApiKey(key) => ("x-api-key", HeaderValue::from_str(key.expose_secret())?),
            Self::Token(token) => {
                let bearer = Zeroizing::new(format!("Bearer {}", token.expose_secret()));
                (AUTHORIZATION.as_str(), HeaderValue::from_str(&bearer)?)
            }
        };
        let mut value = value;
        value.set_sensitive(true);
        Ok((name, value))
    }
}
