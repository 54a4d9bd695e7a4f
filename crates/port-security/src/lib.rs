#![doc = include_str!("../README.md")]

use kopeck_domain::ids::{PartnerId, SessionId, TokenPairId};
use secrecy::{SecretSlice, SecretString};

/// Why a cryptographic port could not answer.
#[derive(Debug, thiserror::Error)]
pub enum SecurityError {
    /// The stored value or the token was not made under our keys, or was changed since.
    #[error("not authentic")]
    NotAuthentic,
    /// The machinery itself failed; `0` says where and holds no secret.
    #[error("cryptography failed: {0}")]
    Failed(String),
}

/// Hashes and checks passwords (argon2id).
#[cfg_attr(feature = "mock", mockall::automock)]
pub trait PasswordHasher: Send + Sync {
    /// The text to store for `password`, with its own salt and parameters.
    ///
    /// # Errors
    /// [`SecurityError::Failed`] when the machinery fails.
    fn hash(&self, password: &SecretString) -> Result<String, SecurityError>;

    /// Whether `password` is the one behind `stored`. Without a `stored` hash it does the same work against a
    /// dummy and answers `false`, so that an unknown login takes as long as a wrong password.
    #[allow(clippy::needless_lifetimes, reason = "mockall wants the lifetime inside an Option spelt out")]
    fn verify<'a>(&self, password: &SecretString, stored: Option<&'a str>) -> bool;
}

/// One-time codes of an authenticator app (TOTP, RFC 6238): six digits, a new one every 30 seconds.
#[cfg_attr(feature = "mock", mockall::automock)]
pub trait OneTimeCodes: Send + Sync {
    /// The step of 30 seconds whose code `code` is: that of `unix_seconds`, the one before or the one after; `None` if it is
    /// none of theirs.
    fn matching_step(&self, secret: &[u8; 20], code: &str, unix_seconds: u64) -> Option<u64>;

    /// What a person types into an app, and the `otpauth` URI that an app scans; both hold the secret.
    ///
    /// # Errors
    /// [`SecurityError::Failed`] when the machinery fails.
    fn setup(&self, secret: &[u8; 20], login: &str) -> Result<AppSetup, SecurityError>;
}

/// What an authenticator app is set up by.
#[derive(Debug, Clone)]
pub struct AppSetup {
    /// The secret in base32, to be typed.
    pub secret: SecretString,
    /// The `otpauth` URI, to be scanned as a QR code.
    pub uri: SecretString,
}

/// Which of the two tokens of a pair a text is. Neither is ever taken for the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TokenKind {
    /// `typ` `at+jwt`: carried by every call.
    Access,
    /// `typ` `rt+jwt`: exchanged for a new pair.
    Refresh,
}

/// The claims of a token of ours. Times are Unix seconds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenClaims {
    /// Access or refresh.
    pub kind: TokenKind,
    /// `sub`: whose token it is.
    pub partner: PartnerId,
    /// `sid`: the login that all tokens of a family grew from.
    pub session: SessionId,
    /// The pair the token was issued in; with the kind it makes up `jti`.
    pub pair: TokenPairId,
    /// `iat`.
    pub issued_at: i64,
    /// `nbf`.
    pub not_before: i64,
    /// `exp`.
    pub expires_at: i64,
    /// `up`: the monotonic time of issue, so that setting the clock back lets no token live longer. A token without it
    /// lives by `exp` alone.
    pub issued_up: Option<Uptime>,
}

/// A monotonic time of a machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Uptime {
    /// The origin of the seconds; those of another epoch do not compare.
    pub epoch: u64,
    /// Seconds.
    pub seconds: i64,
}

/// Signs and verifies tokens (JWT, HS256).
#[cfg_attr(feature = "mock", mockall::automock)]
pub trait TokenCodec: Send + Sync {
    /// The signed text of `claims`.
    ///
    /// # Errors
    /// [`SecurityError::Failed`] when the machinery fails.
    fn sign(&self, claims: &TokenClaims) -> Result<String, SecurityError>;

    /// The claims of a text that we signed for this use. The caller compares `nbf` and `exp` with its own clock:
    /// the service has only one.
    ///
    /// # Errors
    /// [`SecurityError::NotAuthentic`] for anything that is not a token of `kind` signed by us: form, algorithm,
    /// key, signature, issuer, audience, a missing claim.
    fn verify(&self, text: &str, kind: TokenKind) -> Result<TokenClaims, SecurityError>;
}

/// The row of a secret, bound to it as associated data, so that it cannot be moved elsewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretBinding {
    /// Table of the store.
    pub table: &'static str,
    /// Column of the table.
    pub column: &'static str,
    /// The partner it belongs to.
    pub partner: PartnerId,
    /// The rest of the row's primary key.
    pub row: Vec<u8>,
}

/// Encrypts secrets at rest under the master key (XChaCha20-Poly1305).
#[cfg_attr(feature = "mock", mockall::automock)]
pub trait SecretBox: Send + Sync {
    /// The bytes to store for `secret`.
    ///
    /// # Errors
    /// [`SecurityError::Failed`] when the machinery fails.
    fn encrypt(&self, place: &SecretBinding, secret: &SecretSlice<u8>) -> Result<Vec<u8>, SecurityError>;

    /// The secret behind `stored`.
    ///
    /// # Errors
    /// [`SecurityError::NotAuthentic`] if it was made under another key or for another place.
    fn decrypt(&self, place: &SecretBinding, stored: &[u8]) -> Result<SecretSlice<u8>, SecurityError>;

    /// Whether `stored` was encrypted under the current key, not one that is merely accepted.
    fn is_current(&self, stored: &[u8]) -> bool;

    /// The first bytes of everything that is made under the key that is used now, and of nothing else.
    fn current_prefix(&self) -> Vec<u8>;

    /// A keyed digest for look-ups of values that are not stored: logins and addresses of the throttle.
    fn fingerprint(&self, purpose: &'static str, value: &[u8]) -> [u8; 32];
}
