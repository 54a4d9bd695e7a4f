//! Repeated calls.

use actix_web::http::StatusCode;
use kopeck_service::idempotency::{OnceError, ReplayError};

use crate::code::Code;
use crate::error::ApiError;
use crate::pipeline::head::RepeatKey;

/// 409 while the first call under the key is still being carried out.
pub(crate) fn in_progress() -> ApiError {
    let message = "the first call under this key is still being carried out";
    ApiError::new(StatusCode::CONFLICT, Code::RequestInProgress, message).retry_after(1)
}

/// 422, naming the header that the key came in.
fn key_reused(key: &RepeatKey) -> ApiError {
    ApiError::field(key.header, "was used for another call")
}

/// What the caller is told when its earlier answer cannot be looked up.
pub(crate) fn of_replay(error: ReplayError, key: &RepeatKey) -> ApiError {
    match error {
        ReplayError::KeyReused => key_reused(key),
        ReplayError::Store(error) => error.into(),
    }
}

/// What the caller is told when its call was not carried out.
pub(crate) fn of_once<E: Into<ApiError>>(error: OnceError<E>, key: &RepeatKey) -> ApiError {
    match error {
        OnceError::KeyReused => key_reused(key),
        OnceError::Store(error) => error.into(),
        OnceError::UseCase(error) => error.into(),
    }
}
