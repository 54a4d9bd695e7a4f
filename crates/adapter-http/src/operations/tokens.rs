//! The two operations that issue tokens. The pipeline carries them out: they come before authentication.

pub(crate) mod access;
pub(crate) mod refresh;

use kopeck_service::tokens::{IssuedTokens, TokenError};

use crate::operations::prelude::*;

pub(super) static OPERATIONS: [&Operation; 2] = [&access::OPERATION, &refresh::OPERATION];

/// The body of a new pair.
pub(crate) fn pair(issued: &IssuedTokens) -> api::Tokens {
    api::Tokens {
        token_type: "bearer".to_owned(),
        refresh_token: api::SecretText(issued.refresh_token.clone()),
        refresh_expire_at: issued.refresh_expires_at,
        access_token: api::SecretText(issued.access_token.clone()),
        access_expire_at: issued.access_expires_at,
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
