//! Calls that may be repeated: one key, one effect, one answer.

use kopeck_domain::ids::PartnerId;
use kopeck_port_store::{RecordedAnswer, StoreError, UnitOfWork};

use crate::Env;

/// A call that may be repeated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// Whose call it is. Keys are the partner's own.
    pub partner: PartnerId,
    /// The caller's key.
    pub key: String,
    /// SHA-256 over method, path and body by value: the same call has the same one.
    pub fingerprint: [u8; 32],
}

/// An answer as it travels, before sealing.
#[derive(Clone, PartialEq, Eq)]
pub struct Answer {
    /// HTTP status, a 2xx.
    pub status: u16,
    /// The body, byte for byte.
    pub body: Vec<u8>,
}

/// Bodies hold personal data.
impl std::fmt::Debug for Answer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Answer").field("status", &self.status).finish_non_exhaustive()
    }
}

/// Whether an answer is the first to its key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Once {
    /// The call had its effect now.
    First(Answer),
    /// The call had its effect before; nothing changed.
    Replayed(Answer),
}

/// Why an earlier answer cannot be given.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReplayError {
    /// The key was used for another call.
    #[error("the key was used for another call")]
    KeyReused,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Why a call could not be carried out once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OnceError<E> {
    /// The key was used for another call.
    KeyReused,
    /// The store failed.
    Store(StoreError),
    /// The use case refused; nothing is recorded, so the same key may be tried again.
    UseCase(E),
}

impl<E> From<StoreError> for OnceError<E> {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

/// The answer that was given to this call before, if any.
///
/// # Errors
/// [`ReplayError::KeyReused`] if the key belongs to another call.
pub fn replay(unit: &mut dyn UnitOfWork, env: &Env, call: &Call) -> Result<Option<Answer>, ReplayError> {
    let stale_before = env.now() - env.settings.idempotency_retention;
    match unit.idempotency().find(call.partner, &call.key)? {
        Some(recorded) if recorded.recorded_at < stale_before => Ok(None),
        Some(recorded) if recorded.fingerprint == call.fingerprint => {
            Ok(Some(Answer { status: recorded.status, body: recorded.body }))
        }
        Some(_) => Err(ReplayError::KeyReused),
        None => Ok(None),
    }
}

/// Carries out `work` unless the call was answered before, and records its answer in the same unit of work.
///
/// # Errors
/// [`OnceError`]; in every case nothing is recorded.
pub fn once<E>(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    call: &Call,
    work: impl FnOnce(&mut dyn UnitOfWork) -> Result<Answer, E>,
) -> Result<Once, OnceError<E>> {
    match replay(unit, env, call) {
        Ok(Some(answer)) => return Ok(Once::Replayed(answer)),
        Ok(None) => {}
        Err(ReplayError::KeyReused) => return Err(OnceError::KeyReused),
        Err(ReplayError::Store(error)) => return Err(error.into()),
    }
    let answer = work(unit).map_err(OnceError::UseCase)?;
    let now = env.now();
    let recorded = RecordedAnswer {
        fingerprint: call.fingerprint,
        status: answer.status,
        body: answer.body.clone(),
        recorded_at: now,
    };
    let stale_before = now - env.settings.idempotency_retention;
    unit.idempotency().record(call.partner, &call.key, &recorded, stale_before)?;
    Ok(Once::First(answer))
}
