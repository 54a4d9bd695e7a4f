//! The tokens of the client: login at first use, renewal in time, one renewal for all waiting requests.

use std::fmt;
use std::sync::{Arc, PoisonError};

use kopeck_api::operations;
use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Deserializer, Serialize};
use tokio::sync::Mutex;

use crate::error::Error;
use crate::request::Request;
use crate::retry::{AttemptError, RetryPolicy};
use crate::transport::{Auth, Transport};

/// An access token is renewed this many seconds before it expires, but not before nine tenths of its life.
const RENEWAL_MARGIN: u64 = 30;

/// A pair of tokens.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TokenPair {
    /// The type of the access token: `bearer`.
    pub token_type: String,
    /// Authenticates requests.
    #[serde(deserialize_with = "secret")]
    pub access_token: SecretString,
    /// When the access token expires, in Unix seconds.
    pub access_expire_at: u64,
    /// Exchanged once for the next pair.
    #[serde(deserialize_with = "secret")]
    pub refresh_token: SecretString,
    /// When the refresh token expires, in Unix seconds.
    pub refresh_expire_at: u64,
}

/// An access token for another client of the same partner: a short-lived program need not log in at each start. It has
/// no refresh token, which is valid for one use in one place.
#[derive(Debug, Clone)]
pub struct AccessToken {
    /// Authenticates requests.
    pub token: SecretString,
    /// When it expires, in Unix seconds.
    pub expires_at: u64,
}

impl From<&TokenPair> for AccessToken {
    fn from(pair: &TokenPair) -> Self {
        Self { token: pair.access_token.clone(), expires_at: pair.access_expire_at }
    }
}

/// The partner's credentials.
pub(crate) struct Credentials {
    pub(crate) api_key: SecretString,
    pub(crate) login: String,
    pub(crate) password: SecretString,
}

/// The tokens in use.
pub(crate) struct Session {
    credentials: Credentials,
    /// The password after a change; `None` while it is that of the credentials.
    changed_password: std::sync::Mutex<Option<SecretString>>,
    /// Locked during a renewal, so that other requests wait for the same token.
    current: Mutex<Option<Arc<Tokens>>>,
}

/// An access token, its refresh token, and the time of renewal.
pub(crate) struct Tokens {
    access: AccessToken,
    /// Absent if the client was built with an access token: then a login renews it.
    refresh: Option<SecretString>,
    renew_at: u64,
}

impl Tokens {
    fn of_pair(pair: &TokenPair, now: u64) -> Self {
        Self::new(pair.into(), Some(pair.refresh_token.clone()), now)
    }

    fn new(access: AccessToken, refresh: Option<SecretString>, now: u64) -> Self {
        let life = access.expires_at.saturating_sub(now);
        // A token that seems to be expired when it comes tells of a clock that is wrong here. It serves until the
        // service refuses it, else every request would renew.
        let renew_at = if life == 0 { u64::MAX } else { now + life - RENEWAL_MARGIN.min(life.div_ceil(10)) };
        Self { access, refresh, renew_at }
    }

    pub(crate) fn access(&self) -> Auth<'_> {
        Auth::Token(&self.access.token)
    }
}

impl Session {
    /// Logs in with the first request, or starts with a given token.
    pub(crate) fn new(credentials: Credentials, issued_before: Option<AccessToken>, now: u64) -> Self {
        let current = issued_before.map(|access| Arc::new(Tokens::new(access, None, now)));
        Self { credentials, changed_password: std::sync::Mutex::default(), current: Mutex::new(current) }
    }

    /// Takes another password for further logins.
    pub(crate) fn password_is(&self, password: SecretString) {
        // Nothing can panic under the lock.
        *self.changed_password.lock().unwrap_or_else(PoisonError::into_inner) = Some(password);
    }

    /// The password to log in with.
    fn password(&self) -> SecretString {
        let changed = self.changed_password.lock().unwrap_or_else(PoisonError::into_inner);
        changed.as_ref().unwrap_or(&self.credentials.password).clone()
    }

    /// The access token in use.
    pub(crate) async fn access_token(&self) -> Option<AccessToken> {
        self.current.lock().await.as_ref().map(|tokens| tokens.access.clone())
    }

    /// Tokens that are valid as far as the client knows.
    pub(crate) async fn tokens(
        &self,
        transport: &Transport,
        retry: &RetryPolicy,
    ) -> Result<Arc<Tokens>, Error> {
        let mut current = self.current.lock().await;
        if let Some(tokens) = current.as_ref()
            && (transport.clock)() < tokens.renew_at
        {
            return Ok(Arc::clone(tokens));
        }
        self.renewed(&mut current, transport, retry).await
    }

    /// Replaces tokens that the service has refused.
    pub(crate) async fn tokens_after(
        &self,
        refused: &Arc<Tokens>,
        transport: &Transport,
        retry: &RetryPolicy,
    ) -> Result<Arc<Tokens>, Error> {
        let mut current = self.current.lock().await;
        match current.as_ref() {
            // Another request was refused too, and has renewed them while this one waited.
            Some(tokens) if !Arc::ptr_eq(tokens, refused) => Ok(Arc::clone(tokens)),
            _ => self.renewed(&mut current, transport, retry).await,
        }
    }

    /// Logs in, whatever tokens there are.
    pub(crate) async fn login(&self, transport: &Transport, retry: &RetryPolicy) -> Result<TokenPair, Error> {
        let mut current = self.current.lock().await;
        let pair = self.fetch_by_login(transport, retry).await?;
        *current = Some(Arc::new(Tokens::of_pair(&pair, (transport.clock)())));
        Ok(pair)
    }

    /// Renews the tokens, whether it is time or not.
    pub(crate) async fn refresh(
        &self,
        transport: &Transport,
        retry: &RetryPolicy,
    ) -> Result<TokenPair, Error> {
        let mut current = self.current.lock().await;
        let pair = self.renew(&mut current, transport, retry).await?;
        *current = Some(Arc::new(Tokens::of_pair(&pair, (transport.clock)())));
        Ok(pair)
    }

    async fn renewed(
        &self,
        current: &mut Option<Arc<Tokens>>,
        transport: &Transport,
        retry: &RetryPolicy,
    ) -> Result<Arc<Tokens>, Error> {
        let pair = self.renew(current, transport, retry).await?;
        let tokens = Arc::new(Tokens::of_pair(&pair, (transport.clock)()));
        *current = Some(Arc::clone(&tokens));
        Ok(tokens)
    }

    async fn renew(
        &self,
        current: &mut Option<Arc<Tokens>>,
        transport: &Transport,
        retry: &RetryPolicy,
    ) -> Result<TokenPair, Error> {
        // Taken out, so that a refresh token whose fate is unknown (the refresh failed, or this future was
        // dropped) is never shown again: the service takes that for theft.
        match current.take().as_deref() {
            Some(Tokens { refresh: Some(token), .. }) => self.fetch_by_refresh(token, transport, retry).await,
            _ => self.fetch_by_login(transport, retry).await,
        }
    }

    /// By refresh token, or by login if the service refuses it.
    async fn fetch_by_refresh(
        &self,
        token: &SecretString,
        transport: &Transport,
        retry: &RetryPolicy,
    ) -> Result<TokenPair, Error> {
        #[derive(Serialize)]
        struct Body<'a> {
            token: &'a str,
        }
        let call = Request::of(&operations::TOKEN_REFRESH).body(&Body { token: token.expose_secret() });
        let without_effect = |error: &Error| error.is_transient() && !error.may_have_happened();
        let mut fetched = self.fetch(&call, transport, retry, without_effect).await;
        // The token may be spent and the response lost. The service accepts such a token once more, and only once.
        if fetched.as_ref().is_err_and(Error::may_have_happened) {
            fetched = self.fetch(&call, transport, retry, without_effect).await;
        }
        match fetched {
            Err(Error::Transport { sent: false, .. } | Error::Tls { .. }) | Ok(_) => fetched,
            Err(_) => self.fetch_by_login(transport, retry).await,
        }
    }

    async fn fetch_by_login(&self, transport: &Transport, retry: &RetryPolicy) -> Result<TokenPair, Error> {
        #[derive(Serialize)]
        struct Body<'a> {
            login: &'a str,
            password: &'a str,
        }
        let (login, password) = (&self.credentials.login, self.password());
        let body = Body { login, password: password.expose_secret() };
        let call = Request::of(&operations::TOKEN_ACCESS).body(&body);
        self.fetch(&call, transport, retry, Error::is_transient).await
    }

    async fn fetch(
        &self,
        call: &Request,
        transport: &Transport,
        retry: &RetryPolicy,
        may_retry: fn(&Error) -> bool,
    ) -> Result<TokenPair, Error> {
        let send = || async {
            transport.send(call, Auth::ApiKey(&self.credentials.api_key)).await.map_err(AttemptError::Open)
        };
        retry.run(send, may_retry).await?.decode()
    }
}

/// Shows no secrets.
impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").finish_non_exhaustive()
    }
}

fn secret<'de, D: Deserializer<'de>>(deserializer: D) -> Result<SecretString, D::Error> {
    String::deserialize(deserializer).map(SecretString::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn renew_at(life: u64) -> u64 {
        let pair = TokenPair {
            token_type: "bearer".to_owned(),
            access_token: "a".into(),
            access_expire_at: 1_000 + life,
            refresh_token: "r".into(),
            refresh_expire_at: 9_999,
        };
        Tokens::of_pair(&pair, 1_000).renew_at
    }

    #[test]
    fn tokens_are_renewed_shortly_before_they_expire() {
        assert_eq!(renew_at(900), 1_870);
        assert_eq!(renew_at(50), 1_045);
        assert_eq!(renew_at(1), 1_000);
        assert_eq!(renew_at(0), u64::MAX, "a wrong clock must not renew at every call");
    }

    #[test]
    fn debug_shows_no_token() {
        let pair: TokenPair = serde_json::from_str(
            r#"{"tokenType":"bearer","accessToken":"aaa.bbb.ccc","accessExpireAt":1,
                "refreshToken":"ddd.eee.fff","refreshExpireAt":2}"#,
        )
        .unwrap();
        let debug = format!("{pair:?}");
        assert!(!debug.contains("bbb") && !debug.contains("eee"), "{debug}");
    }
}
