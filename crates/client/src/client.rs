//! The client, and the way of a request through it.

use std::fmt;
use std::sync::Arc;

use kopeck_api::{Balance, PasswordChanged, operations};
use secrecy::{ExposeSecret as _, SecretString};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::builder::ClientBuilder;
use crate::error::Error;
use crate::request::Request;
use crate::response::ResponseBody;
use crate::retry::{AttemptError, RetryPolicy};
use crate::session::{AccessToken, Session, TokenPair};
use crate::tagged::Tagged;
use crate::transport::Transport;
use crate::write::Write;

/// A client of the service, for one partner.
///
/// Cheap to clone; clones share connections and tokens. It logs in with the first request, and renews its tokens by
/// itself.
#[derive(Clone)]
pub struct Client {
    inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub(crate) transport: Transport,
    pub(crate) session: Session,
    pub(crate) retry: RetryPolicy,
}

impl Client {
    /// Builds a client of the service at `base_url`, such as `https://api.example.com`.
    pub fn builder(base_url: impl Into<String>) -> ClientBuilder {
        ClientBuilder::new(base_url.into())
    }

    /// Logs in now and returns the tokens. Requests log in automatically; this checks the credentials.
    ///
    /// # Errors
    ///
    /// [`Error::Api`] with status 400 if API key, login or password is wrong.
    pub async fn login(&self) -> Result<TokenPair, Error> {
        let Inner { transport, session, retry } = &*self.inner;
        session.login(transport, retry).await
    }

    /// Renews the tokens now and returns them, by login if there are none or they are refused.
    ///
    /// # Errors
    ///
    /// The errors of [`login`](Self::login).
    pub async fn refresh(&self) -> Result<TokenPair, Error> {
        let Inner { transport, session, retry } = &*self.inner;
        session.refresh(transport, retry).await
    }

    /// The access token in use, for another client ([`ClientBuilder::access_token`]); `None` before the first login.
    pub async fn access_token(&self) -> Option<AccessToken> {
        self.inner.session.access_token().await
    }

    /// Changes the password of the client's login, and ends all other sessions. The client goes on with its session, and logs
    /// in with the new password from then on; so do its clones.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] with the field `current` if that is not the present password, which counts as a failed login, and
    /// with `new` for one that is not accepted. After an error that [may have happened](Error::may_have_happened) either
    /// password may be the present one.
    pub async fn change_password(
        &self,
        current: &SecretString,
        new: &SecretString,
    ) -> Result<PasswordChanged, Error> {
        #[derive(Serialize)]
        struct Body<'a> {
            current: &'a str,
            new: &'a str,
        }
        let body = Body { current: current.expose_secret(), new: new.expose_secret() };
        let changed = self.call(&Request::of(&operations::PASSWORD_CHANGE).body(&body)).await?;
        self.inner.session.password_is(new.clone());
        Ok(changed)
    }

    /// The partner's own balance.
    ///
    /// # Errors
    ///
    /// See [`Error`].
    pub async fn balance(&self) -> Result<Balance, Error> {
        self.read(Request::of(&operations::BALANCE)).await
    }

    pub(crate) fn new(inner: Inner) -> Self {
        Self { inner: Arc::new(inner) }
    }

    pub(crate) async fn read<T: DeserializeOwned>(&self, call: Request) -> Result<T, Error> {
        self.call(&call).await
    }

    /// As [`Self::read`], with the entity tag of the response.
    pub(crate) async fn read_tagged<T: DeserializeOwned>(&self, call: Request) -> Result<Tagged<T>, Error> {
        let body = self.inner.retry.run(|| self.attempt(&call), Error::is_transient).await?;
        Ok(Tagged { value: body.decode()?, etag: body.tag })
    }

    pub(crate) fn write<T>(&self, call: Request) -> Write<T> {
        Write::new(self.clone(), call)
    }

    /// Sends one logical request: every attempt has the same idempotency key, and a new nonce.
    pub(crate) async fn call<T: DeserializeOwned>(&self, call: &Request) -> Result<T, Error> {
        self.inner.retry.run(|| self.attempt(call), Error::is_transient).await?.decode()
    }

    /// Asks for a file; what breaks off after its head is not tried again.
    pub(crate) async fn download(&self, call: &Request) -> Result<reqwest::Response, Error> {
        let Inner { transport, session, retry } = &*self.inner;
        let attempt = async || {
            let tokens = session.tokens(transport, retry).await.map_err(AttemptError::Final)?;
            match transport.download(call, tokens.access()).await {
                Err(error) if error.status() == Some(401) => {
                    let tokens =
                        session.tokens_after(&tokens, transport, retry).await.map_err(AttemptError::Final)?;
                    transport.download(call, tokens.access()).await
                }
                sent => sent,
            }
            .map_err(AttemptError::Open)
        };
        retry.run(attempt, Error::is_transient).await
    }

    async fn attempt(&self, call: &Request) -> Result<ResponseBody, AttemptError> {
        let Inner { transport, session, retry } = &*self.inner;
        // The session retries, so its failures are final here.
        let tokens = session.tokens(transport, retry).await.map_err(AttemptError::Final)?;
        match transport.send(call, tokens.access()).await {
            Err(error) if error.status() == Some(401) => {
                let tokens =
                    session.tokens_after(&tokens, transport, retry).await.map_err(AttemptError::Final)?;
                transport.send(call, tokens.access()).await
            }
            sent => sent,
        }
        .map_err(AttemptError::Open)
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("base_url", &self.inner.transport.base.as_str())
            .field("sealing", &self.inner.transport.sealing)
            .field("session", &self.inner.session)
            .field("retry", &self.inner.retry)
            .finish_non_exhaustive()
    }
}
