//! Tokens: login, refresh, authentication.
//!
//! Three rules hold. A wrong API key, login and password are indistinguishable by response and by time. A refresh token is
//! single-use, with one exception for a lost response (`rotation`). Every revocation (a suspended
//! partner, a revoked session) is read from the store, so that it holds on every instance.

mod authenticate;
mod keys;
mod lifetimes;
mod login;
mod password_change;
mod refresh;
mod rotation;
#[cfg(test)]
mod testing;
pub mod throttle;

use std::sync::Arc;

use kopeck_domain::calendar::CLOCK_SKEW;
use kopeck_domain::credential::Credential;
use kopeck_domain::ids::{CredentialId, PartnerId, SessionId, TokenPairId};
use kopeck_domain::partner::SealingPolicy;
use kopeck_port_security::{
    PasswordHasher, SecretBox, SecurityError, TokenClaims, TokenCodec, TokenKind, Uptime,
};
use kopeck_port_store::session::{PairState, TokenPair};
use kopeck_port_store::{Credentials, StoreError, StoredPair};
use secrecy::{SecretSlice, SecretString};
use time::{Duration, OffsetDateTime};

use crate::Env;

pub use keys::api_key_hash;
pub(crate) use keys::{credential_key_place, sealing_key_place};
pub use lifetimes::Lifetimes;
pub use password_change::{CheckedChange, PasswordChange, PasswordChangeError};

/// How long the nonce of a token request stays spent.
pub(crate) const NONCE_LIFE: Duration = Duration::minutes(10);

/// Issues, refreshes and verifies tokens.
pub struct TokenService {
    env: Arc<Env>,
    passwords: Arc<dyn PasswordHasher>,
    tokens: Arc<dyn TokenCodec>,
    secrets: Arc<dyn SecretBox>,
}

/// An accepted sealing key.
#[derive(Debug, Clone)]
pub struct AcceptedKey {
    /// The key's id.
    pub id: [u8; 8],
    /// Its 32 secret bytes.
    pub secret: SecretSlice<u8>,
    /// Whether it seals what the service seals unasked: events, and responses to requests without a sealed value.
    pub is_default: bool,
    /// Whether the partner has ever sealed a request with it.
    pub is_used: bool,
}

/// A partner found by an API key: its own, or that of one of its scoped credentials.
#[derive(Debug, Clone)]
pub struct ApiKeyOwner {
    /// The partner and the hashes; of a scoped credential its login and hashes.
    pub credentials: Credentials,
    /// The sealing keys, of the scoped credential if it is one.
    pub keys: Vec<AcceptedKey>,
    /// The scoped credential; `None` for the technical login.
    pub credential: Option<Credential>,
}

impl ApiKeyOwner {
    /// The identifier of the scoped credential.
    fn credential_id(&self) -> Option<CredentialId> {
        self.credential.as_ref().map(|credential| credential.id)
    }
}

/// The body of a login.
#[derive(Debug)]
pub enum LoginBody {
    /// A login and a password.
    Credentials {
        /// The login.
        login: String,
        /// The password.
        password: SecretString,
    },
    /// A body that cannot be opened or read. It counts as a failure and takes as long as a wrong password, so that it
    /// is no free test of API keys.
    Unreadable,
    /// A readable body with faulty values. It takes as long, and is no failure.
    Faulty,
}

/// A login.
#[derive(Debug)]
pub struct LoginAttempt {
    /// The partner behind the API key, if any.
    pub owner: Option<ApiKeyOwner>,
    /// The API key of the request.
    pub api_key: SecretString,
    /// `x-nonce`.
    pub nonce: String,
    /// The network address for the throttle, if any.
    pub address: Option<String>,
    /// The client's whole address, for the list of sessions.
    pub client: Option<String>,
    /// The body.
    pub body: LoginBody,
}

/// A new pair of tokens.
#[derive(Clone)]
pub struct IssuedTokens {
    /// The identifier of the pair.
    pub pair: TokenPairId,
    /// The access token.
    pub access_token: String,
    /// Its end, Unix seconds.
    pub access_expires_at: i64,
    /// The refresh token.
    pub refresh_token: String,
    /// Its end, Unix seconds.
    pub refresh_expires_at: i64,
}

/// Tokens stay out of logs.
impl std::fmt::Debug for IssuedTokens {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("IssuedTokens")
            .field("access_expires_at", &self.access_expires_at)
            .finish_non_exhaustive()
    }
}

/// The outcome of a refresh. Commit it in every case: a refusal may have revoked a session.
#[derive(Debug, Clone)]
pub enum RefreshOutcome {
    /// A new pair.
    Issued(IssuedTokens),
    /// 401, and nothing changed.
    Refused,
    /// 401, and every token of the session is revoked: the refresh token had been spent before.
    Revoked(SessionId),
}

/// The owner of an access token.
#[derive(Debug, Clone)]
pub struct Caller {
    /// The partner.
    pub partner: PartnerId,
    /// Whether it has to seal.
    pub sealing: SealingPolicy,
    /// Its sealing keys, or that of the scoped credential.
    pub keys: Vec<AcceptedKey>,
    /// The scoped credential that acts, if it is one.
    pub credential: Option<Credential>,
    /// Whether the pair is already marked as used.
    pub pair_used: bool,
    /// Whether the recorded use of the session is a minute old: [`TokenService::touch`] records this one.
    pub is_use_due: bool,
}

/// Why a token request or a token was refused.
#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    /// Wrong API key, login or password: 400.
    #[error("wrong credentials")]
    BadCredentials,
    /// The token is invalid: 401.
    #[error("the token is not accepted")]
    Unauthorized,
    /// Too many failures: 429.
    #[error("too many failed logins")]
    TooMany {
        /// When to try again.
        retry_after: Duration,
    },
    /// The nonce was used before: 422.
    #[error("the nonce is spent")]
    NonceSpent,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Cryptography failed.
    #[error(transparent)]
    Security(#[from] SecurityError),
}

impl TokenService {
    /// A service over these ports.
    #[must_use]
    pub fn new(
        env: Arc<Env>,
        passwords: Arc<dyn PasswordHasher>,
        tokens: Arc<dyn TokenCodec>,
        secrets: Arc<dyn SecretBox>,
    ) -> Self {
        Self { env, passwords, tokens, secrets }
    }

    /// A new pair and its tokens, which do not outlive the session that began at `started_at`. The caller stores the pair.
    fn issue(
        &self,
        partner: PartnerId,
        session: SessionId,
        started_at: OffsetDateTime,
        now: OffsetDateTime,
    ) -> Result<(TokenPair, IssuedTokens), SecurityError> {
        let lifetimes = self.env.settings.lifetimes;
        let end = |life: Duration| lifetimes.session_end(started_at).min(now + life);
        let pair = TokenPair {
            id: TokenPairId::new(self.env.ids.next_id()),
            state: PairState::Fresh,
            used: false,
            successor: None,
            reissued: false,
            refresh_expires_at: end(lifetimes.refresh),
        };
        let issued_up = Some(self.uptime());
        let claims = |kind, life: Duration| TokenClaims {
            kind,
            partner,
            session,
            pair: pair.id,
            issued_at: now.unix_timestamp(),
            not_before: now.unix_timestamp(),
            expires_at: end(life).unix_timestamp(),
            issued_up,
        };
        let (access, refresh) =
            (claims(TokenKind::Access, lifetimes.access), claims(TokenKind::Refresh, lifetimes.refresh));
        let issued = IssuedTokens {
            pair: pair.id,
            access_token: self.tokens.sign(&access)?,
            access_expires_at: access.expires_at,
            refresh_token: self.tokens.sign(&refresh)?,
            refresh_expires_at: refresh.expires_at,
        };
        Ok((pair, issued))
    }

    /// The digest to store in place of a digest over a secret: keyed, so that a copy of the database is of no use to guess
    /// the secret.
    #[must_use]
    pub fn keyed_digest(&self, digest: &[u8; 32]) -> [u8; 32] {
        self.secrets.fingerprint("request", digest)
    }

    /// Whether the pair's session was revoked or has reached its end.
    fn session_is_over(&self, stored: &StoredPair) -> bool {
        let end = self.env.settings.lifetimes.session_end(stored.session_started_at);
        stored.session_revoked || end <= self.env.now()
    }

    /// The claims of a valid token of `kind`.
    fn verify_kind(&self, text: &str, kind: TokenKind) -> Result<TokenClaims, TokenError> {
        let claims = self.tokens.verify(text, kind).map_err(|error| match error {
            SecurityError::NotAuthentic => TokenError::Unauthorized,
            SecurityError::Failed(_) => TokenError::Security(error),
        })?;
        let now = self.env.now().unix_timestamp();
        let life = claims.expires_at.saturating_sub(claims.issued_at);
        let is_good = match self.age(&claims) {
            Some(age) => age <= life,
            // Another server issued it, whose clock may be ahead.
            None => claims.not_before <= now.saturating_add(CLOCK_SKEW.whole_seconds()),
        };
        if is_good && now < claims.expires_at { Ok(claims) } else { Err(TokenError::Unauthorized) }
    }

    /// The age of a token in seconds by the monotonic time; `None` if another machine issued it, or this one before its
    /// boot.
    fn age(&self, claims: &TokenClaims) -> Option<i64> {
        let Uptime { epoch, seconds: now } = self.uptime();
        let issued = claims.issued_up.filter(|up| up.epoch == epoch)?;
        Some(now.saturating_sub(issued.seconds)).filter(|age| *age >= 0)
    }

    /// The machine's present monotonic time.
    fn uptime(&self) -> Uptime {
        let clock = &self.env.clock;
        Uptime { epoch: clock.epoch(), seconds: clock.steady().whole_seconds() }
    }
}
