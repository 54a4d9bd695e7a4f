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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;
    use kopeck_port_store::Rule;
    use kopeck_port_store::mock::MockUnit;
    use time::{Duration, OffsetDateTime};

    const WEEK: Duration = Duration::days(7);

    fn call() -> Call {
        Call { partner: PARTNER, key: "k-1".to_owned(), fingerprint: [1; 32] }
    }

    fn answer() -> Answer {
        Answer { status: 202, body: b"{\"a\": 1}".to_vec() }
    }

    fn recorded(fingerprint: u8, recorded_at: OffsetDateTime) -> RecordedAnswer {
        let Answer { status, body } = answer();
        RecordedAnswer { fingerprint: [fingerprint; 32], status, body, recorded_at }
    }

    fn found(unit: &mut MockUnit, recorded: Option<RecordedAnswer>) {
        unit.idempotency
            .expect_find()
            .withf(|partner, key| *partner == PARTNER && key == "k-1")
            .times(1)
            .returning(move |_, _| Ok(recorded.clone()));
    }

    fn expect_record(unit: &mut MockUnit) {
        unit.idempotency
            .expect_record()
            .withf(|partner, key, answer, stale_before| {
                *partner == PARTNER
                    && key == "k-1"
                    && *answer == recorded(1, START)
                    && *stale_before == START - WEEK
            })
            .times(1)
            .returning(|_, _, _, _| Ok(()));
    }

    fn works(_: &mut dyn UnitOfWork) -> Result<Answer, &'static str> {
        Ok(answer())
    }

    fn must_not_work(_: &mut dyn UnitOfWork) -> Result<Answer, &'static str> {
        panic!("the call was carried out")
    }

    #[test]
    fn a_first_call_is_carried_out_and_recorded() {
        let (bench, mut unit) = (Bench::new(), MockUnit::default());
        found(&mut unit, None);
        expect_record(&mut unit);
        assert_eq!(once(&mut unit, &bench, &call(), works), Ok(Once::First(answer())));
    }

    #[test]
    fn a_repeated_call_gets_the_first_answer_and_has_no_effect() {
        let (bench, mut unit) = (Bench::new(), MockUnit::default());
        found(&mut unit, Some(recorded(1, START - WEEK)));
        assert_eq!(once(&mut unit, &bench, &call(), must_not_work), Ok(Once::Replayed(answer())));
    }

    #[test]
    fn a_key_that_another_call_used_is_refused() {
        let (bench, mut unit) = (Bench::new(), MockUnit::default());
        found(&mut unit, Some(recorded(2, START)));
        assert_eq!(once(&mut unit, &bench, &call(), must_not_work), Err(OnceError::KeyReused));
        found(&mut unit, Some(recorded(2, START)));
        assert_eq!(replay(&mut unit, &bench, &call()), Err(ReplayError::KeyReused));
    }

    /// A record past its retention is as if it were gone, whichever call it belongs to.
    #[test]
    fn a_stale_record_is_none() {
        for fingerprint in [1, 2] {
            let (bench, mut unit) = (Bench::new(), MockUnit::default());
            found(&mut unit, Some(recorded(fingerprint, START - WEEK - Duration::MICROSECOND)));
            expect_record(&mut unit);
            assert_eq!(once(&mut unit, &bench, &call(), works), Ok(Once::First(answer())));
        }
    }

    #[test]
    fn a_refusal_is_not_recorded() {
        let (bench, mut unit) = (Bench::new(), MockUnit::default());
        found(&mut unit, None);
        assert_eq!(once(&mut unit, &bench, &call(), |_| Err("409")), Err(OnceError::UseCase("409")));
    }

    #[test]
    fn who_records_second_learns_of_it() {
        let (bench, mut unit) = (Bench::new(), MockUnit::default());
        let raced = StoreError::Conflict(Rule::IdempotencyKey);
        let error = raced.clone();
        found(&mut unit, None);
        unit.idempotency.expect_record().returning(move |_, _, _, _| Err(error.clone()));
        assert_eq!(once(&mut unit, &bench, &call(), works), Err(OnceError::Store(raced)));
    }

    #[test]
    fn a_store_that_cannot_look_carries_nothing_out() {
        let (bench, mut unit) = (Bench::new(), MockUnit::default());
        unit.idempotency.expect_find().returning(|_, _| Err(broken()));
        assert_eq!(once(&mut unit, &bench, &call(), must_not_work), Err(OnceError::Store(broken())));
    }

    #[test]
    fn bodies_stay_out_of_logs() {
        assert_eq!(format!("{:?}", answer()), "Answer { status: 202, .. }");
    }
}
