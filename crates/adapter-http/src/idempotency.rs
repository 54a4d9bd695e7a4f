//! The idempotency key of a request, and the errors of keys and nonces.

use kopeck_api::Code;
use kopeck_domain::ids::EmployeeId;
use kopeck_port_store::{Rule, StoreError};
use kopeck_service::idempotency::{ExecuteError, ReplayError};
use serde::Deserialize;
use uuid::Uuid;

use crate::error::ApiError;

/// The header of the key.
pub(crate) const HEADER: &str = "idempotency-key";

/// The idempotency key of a mutation, or the nonce in its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RequestKey {
    pub(crate) key: String,
    /// The header that held it.
    pub(crate) header: &'static str,
}

impl RequestKey {
    /// The value of `Idempotency-Key`; `None` if the nonce stands in.
    pub(crate) fn idempotency_key(&self) -> Option<&str> {
        (self.header == HEADER).then_some(self.key.as_str())
    }
}

/// 409 while the first request under the key is in flight.
pub(crate) fn in_progress() -> ApiError {
    ApiError::from(Code::RequestInProgress).retry_after(1)
}

/// 422 for the header of the key.
fn key_reused(key: &RequestKey) -> ApiError {
    ApiError::field(key.header, "was used for another request")
}

/// 422 for a sealed request whose nonce was spent with another key: it may be a copy.
fn nonce_spent() -> ApiError {
    ApiError::field("x-nonce", "was spent by a sealed request with another idempotency-key, or without one")
}

/// 404 for a request whose response was erased with the employee.
fn erased() -> ApiError {
    Code::EmployeeNotFound.into()
}

/// The employee whom a response names.
pub(crate) fn employee_in(body: &[u8]) -> Option<EmployeeId> {
    #[derive(Deserialize)]
    struct Named {
        #[serde(rename = "idEmployee")]
        id: Uuid,
    }
    serde_json::from_slice::<Named>(body).ok().map(|named| EmployeeId::new(named.id))
}

/// The response if the lookup of a recorded response fails.
pub(crate) fn of_replay(error: ReplayError, key: &RequestKey) -> ApiError {
    match error {
        ReplayError::KeyReused => key_reused(key),
        ReplayError::NonceSpent => nonce_spent(),
        ReplayError::Erased => erased(),
        // Another instance spends the nonce at this moment.
        ReplayError::Store(StoreError::Conflict(Rule::SealedNonce)) => in_progress(),
        ReplayError::Store(error) => error.into(),
    }
}

/// The response if a mutation fails.
pub(crate) fn of_once<E: Into<ApiError>>(error: ExecuteError<E>, key: &RequestKey) -> ApiError {
    match error {
        ExecuteError::KeyReused => key_reused(key),
        ExecuteError::NonceSpent => nonce_spent(),
        ExecuteError::Erased => erased(),
        ExecuteError::Store(error) => error.into(),
        ExecuteError::UseCase(error) => error.into(),
    }
}
