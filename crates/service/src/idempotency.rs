//! Idempotency: one key, one effect, one response. A sealed request spends its nonce with its response, so that a copy
//! of it under another key has no second effect.
//!
//! Retention uses [`Env::settled`]: a clock that is ahead by mistake must not expire records.

use kopeck_domain::ids::{EmployeeId, PartnerId};
use kopeck_port_store::{RecordedResponse, SpentNonce, StoreError, UnitOfWork};
use time::{Duration, OffsetDateTime};

use crate::Env;

/// How long a spent nonce is kept: twice as long as a sealed value is accepted (300 s before and after its time).
pub const SEALED_NONCE_LIFE: Duration = Duration::minutes(20);

/// An idempotent request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdempotentRequest {
    /// The partner, whose namespace the key is in.
    pub partner: PartnerId,
    /// The idempotency key.
    pub key: String,
    /// SHA-256 over method, path and body by value.
    pub fingerprint: [u8; 32],
    /// Its nonce, if it was sealed.
    pub sealed: Option<SealedNonce>,
}

/// The nonce of a sealed request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SealedNonce {
    /// The nonce.
    pub nonce: String,
    /// The `Idempotency-Key` beside it, if there was one.
    pub idempotency_key: Option<String>,
}

/// A response before sealing.
#[derive(Clone, PartialEq, Eq)]
pub struct PlaintextResponse {
    /// HTTP status, a 2xx.
    pub status: u16,
    /// The body, byte for byte.
    pub body: Vec<u8>,
    /// The employee whose personal data the body holds, if any.
    pub employee: Option<EmployeeId>,
}

/// Bodies hold personal data.
impl std::fmt::Debug for PlaintextResponse {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PlaintextResponse").field("status", &self.status).finish_non_exhaustive()
    }
}

/// The outcome of an idempotent request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Execution {
    /// The effect happened now.
    First(PlaintextResponse),
    /// The effect happened before; nothing changed.
    Replayed(PlaintextResponse),
}

/// A recorded response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredResponse {
    /// The response.
    pub response: PlaintextResponse,
    /// Whether the nonce of the request is spent with this key already. If not, [`replay`] spends it.
    pub is_nonce_spent: bool,
}

/// Why a recorded response cannot be replayed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReplayError {
    /// The key was used for another request.
    #[error("the key was used for another request")]
    KeyReused,
    /// The nonce of the sealed request was spent with another idempotency key, or with none where it has one.
    #[error("the nonce was spent with another key")]
    NonceSpent,
    /// The request had its effect; its response was erased with the employee whose personal data it held.
    #[error("the recorded response was erased")]
    Erased,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Why an idempotent request failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExecuteError<E> {
    /// The key was used for another request.
    KeyReused,
    /// The nonce of the sealed request was spent with another idempotency key, or with none where it has one.
    NonceSpent,
    /// The request had its effect; its response was erased with the employee whose personal data it held.
    Erased,
    /// The store failed.
    Store(StoreError),
    /// The use case refused. Nothing is recorded, so the key may be used again.
    UseCase(E),
}

impl<E> From<StoreError> for ExecuteError<E> {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl<E> From<ReplayError> for ExecuteError<E> {
    fn from(error: ReplayError) -> Self {
        match error {
            ReplayError::KeyReused => Self::KeyReused,
            ReplayError::NonceSpent => Self::NonceSpent,
            ReplayError::Erased => Self::Erased,
            ReplayError::Store(error) => Self::Store(error),
        }
    }
}

/// The recorded state of a request.
struct History {
    /// Its response, if there is one.
    response: Option<PlaintextResponse>,
    /// Whether its nonce is spent, or it has none.
    is_nonce_spent: bool,
}

fn history(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    request: &IdempotentRequest,
) -> Result<History, ReplayError> {
    let now = env.settled();
    let recorded = unit.idempotency().find(request.partner, &request.key);
    let spent = match &request.sealed {
        Some(sealed) => unit.sealed_nonces().find(request.partner, &sealed.nonce),
        None => Ok(None),
    };
    // Both look-ups begin before either result is used: a store that batches look-ups sends them together.
    let (recorded, spent) = (recorded?, spent?);
    let spent = spent.filter(|spent| spent.spent_at >= now - SEALED_NONCE_LIFE);
    let key = request.sealed.as_ref().and_then(|sealed| sealed.idempotency_key.as_ref());
    if spent.as_ref().is_some_and(|spent| spent.idempotency_key.as_ref() != key) {
        return Err(ReplayError::NonceSpent);
    }
    // A response whose retention ended after the nonce was spent still counts: the request has had its effect.
    let as_of = spent.as_ref().map_or(now, |spent| spent.spent_at);
    let recorded = recorded.filter(|recorded| recorded.recorded_at >= stale_before(env, as_of));
    if recorded.as_ref().is_some_and(|recorded| recorded.fingerprint != request.fingerprint) {
        return Err(ReplayError::KeyReused);
    }
    let response = match recorded {
        Some(RecordedResponse { status, body: Some(body), employee, .. }) => {
            Some(PlaintextResponse { status, body, employee })
        }
        Some(RecordedResponse { body: None, .. }) => return Err(ReplayError::Erased),
        None => None,
    };
    Ok(History { response, is_nonce_spent: spent.is_some() || request.sealed.is_none() })
}

/// Responses recorded before this time do not count at `moment`.
fn stale_before(env: &Env, moment: OffsetDateTime) -> OffsetDateTime {
    moment - env.settings.idempotency_retention
}

/// Records the nonce of a sealed request as spent.
fn spend_nonce(unit: &mut dyn UnitOfWork, env: &Env, request: &IdempotentRequest) -> Result<(), StoreError> {
    let Some(SealedNonce { nonce, idempotency_key }) = &request.sealed else { return Ok(()) };
    let now = env.settled();
    let spent = SpentNonce { idempotency_key: idempotency_key.clone(), spent_at: now };
    unit.sealed_nonces().spend(request.partner, nonce, &spent, now - SEALED_NONCE_LIFE)
}

/// The recorded response, if any. Writes nothing.
///
/// # Errors
/// [`ReplayError::KeyReused`] if the key belongs to another request, [`ReplayError::NonceSpent`] if the nonce belongs to
/// another key, [`ReplayError::Erased`] if the response was erased.
pub fn find(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    request: &IdempotentRequest,
) -> Result<Option<StoredResponse>, ReplayError> {
    let History { response, is_nonce_spent } = history(unit, env, request)?;
    Ok(response.map(|response| StoredResponse { response, is_nonce_spent }))
}

/// The recorded response, if any. A sealed request spends its nonce with it.
///
/// # Errors
/// As for [`find`].
pub fn replay(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    request: &IdempotentRequest,
) -> Result<Option<PlaintextResponse>, ReplayError> {
    let History { response, is_nonce_spent } = history(unit, env, request)?;
    if response.is_some() && !is_nonce_spent {
        spend_nonce(unit, env, request)?;
    }
    Ok(response)
}

/// Spends the nonce of a sealed request before an effect outside of the unit of work that records the response.
/// Otherwise a copy under another key could have a second effect between effect and record.
///
/// # Errors
/// As for [`find`].
pub fn claim_nonce(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    request: &IdempotentRequest,
) -> Result<(), ReplayError> {
    if !history(unit, env, request)?.is_nonce_spent {
        spend_nonce(unit, env, request)?;
    }
    Ok(())
}

/// Runs `work` unless there is a recorded response, and records its response in the same unit of work. A sealed request
/// also spends its nonce there.
///
/// # Errors
/// [`ExecuteError`]; in every case nothing is recorded.
pub fn execute<E>(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    request: &IdempotentRequest,
    work: impl FnOnce(&mut dyn UnitOfWork) -> Result<PlaintextResponse, E>,
) -> Result<Execution, ExecuteError<E>> {
    let History { response: before, is_nonce_spent } = history(unit, env, request)?;
    let execution = match before {
        Some(response) => Execution::Replayed(response),
        None => {
            let response = work(unit).map_err(ExecuteError::UseCase)?;
            let now = env.settled();
            let recorded = RecordedResponse {
                fingerprint: request.fingerprint,
                status: response.status,
                body: Some(response.body.clone()),
                employee: response.employee,
                recorded_at: now,
            };
            unit.idempotency().record(request.partner, &request.key, &recorded, stale_before(env, now))?;
            Execution::First(response)
        }
    };
    if !is_nonce_spent {
        spend_nonce(unit, env, request)?;
    }
    Ok(execution)
}

#[cfg(test)]
mod tests;
