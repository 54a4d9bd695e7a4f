//! The two operations that issue tokens. The pipeline carries them out: they come before authentication.

pub(crate) mod access;
pub(crate) mod refresh;

use kopeck_service::tokens::{IssuedTokens, TokenError};

use crate::operations::prelude::*;

pub(super) static OPERATIONS: [&Operation; 2] = [&access::OPERATION, &refresh::OPERATION];

api_type! {
    /// A pair of tokens.
    pub(crate) struct TokensDto<'a> as "Tokens" {
        /// `bearer`.
        token_type: &'static str,
        /// Good for one new pair.
        refresh_token: &'a str,
        /// Its end, Unix seconds.
        refresh_expire_at: i64,
        /// For all other requests.
        access_token: &'a str,
        /// Its end, Unix seconds.
        access_expire_at: i64,
    }
}

impl<'a> From<&'a IssuedTokens> for TokensDto<'a> {
    fn from(issued: &'a IssuedTokens) -> Self {
        Self {
            token_type: "bearer",
            refresh_token: &issued.refresh_token,
            refresh_expire_at: issued.refresh_expires_at,
            access_token: &issued.access_token,
            access_expire_at: issued.access_expires_at,
        }
    }
}

impl From<TokenError> for ApiError {
    fn from(error: TokenError) -> Self {
        match error {
            TokenError::BadCredentials => Code::BadCredentials.into(),
            TokenError::Unauthorized => Code::Unauthorized.into(),
            TokenError::TooMany { retry_after } => {
                // Rounded up: a retry after that many seconds is admitted.
                let started = i64::from(retry_after.subsec_nanoseconds() > 0);
                let seconds = u64::try_from(retry_after.whole_seconds() + started).unwrap_or(0).max(1);
                let message = "too many failures, try again later";
                Self::new(Code::TooManyRequests, message).retry_after(seconds)
            }
            TokenError::NonceSpent => Self::field("x-nonce", "was used for another token request"),
            TokenError::Store(error) => error.into(),
            TokenError::Security(error) => error.into(),
        }
    }
}
