//! Logins and tokens.

use actix_web::http::StatusCode;
use kopeck_port_security::SecurityError;
use kopeck_service::tokens::TokenError;

use crate::code::Code;
use crate::error::ApiError;

impl From<TokenError> for ApiError {
    fn from(error: TokenError) -> Self {
        match error {
            TokenError::BadCredentials => {
                Self::new(StatusCode::BAD_REQUEST, Code::BadCredentials, "wrong api key, login or password")
            }
            TokenError::Unauthorized => Self::unauthorized(),
            TokenError::TooMany { retry_after } => {
                // Rounded up: a retry after that many seconds is admitted.
                let started = i64::from(retry_after.subsec_nanoseconds() > 0);
                let seconds = u64::try_from(retry_after.whole_seconds() + started).unwrap_or(0).max(1);
                let message = "too many failures, try again later";
                Self::new(StatusCode::TOO_MANY_REQUESTS, Code::TooManyRequests, message).retry_after(seconds)
            }
            TokenError::NonceSpent => Self::field("x-nonce", "was used for another call of a token"),
            TokenError::Store(error) => error.into(),
            TokenError::Security(error) => error.into(),
        }
    }
}

impl From<SecurityError> for ApiError {
    fn from(error: SecurityError) -> Self {
        Self::internal(error.to_string())
    }
}
