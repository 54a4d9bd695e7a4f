//! The states of a card batch.

use time::OffsetDateTime;

use super::{BatchFields, BatchKind, CardBatch};
use crate::request::{TransitionError, moved, states_of};
use crate::string_enum::serde_enum;

serde_enum! {
    /// Where a card batch stands.
    BatchState {
        /// Accepted; can still be cancelled.
        New = "NEW",
        /// Handed to the bank.
        InProcess = "IN_PROCESS",
        /// Done for all cards.
        Success = "SUCCESS",
        /// Done for some cards.
        PartSuccess = "PART_SUCCESS",
        /// Refused for all cards.
        Decline = "DECLINE",
        /// Cancelled by the partner.
        Rejected = "REJECTED",
    }
}

states_of!(BatchState: New, InProcess, Success, PartSuccess, Decline, Rejected);

impl<K: BatchKind> CardBatch<K> {
    /// A worker takes the batch up.
    ///
    /// # Errors
    /// [`TransitionError`] unless it is new.
    pub fn start(self, now: OffsetDateTime) -> Result<Self, TransitionError<BatchState>> {
        self.moved("start", &[BatchState::New], BatchState::InProcess, now)
    }

    /// The batch ends: the bank carried out `done` of its cards, `refused` were not.
    ///
    /// # Errors
    /// [`TransitionError`] unless it is in process.
    pub fn conclude(
        self,
        done: u32,
        refused: u32,
        now: OffsetDateTime,
    ) -> Result<Self, TransitionError<BatchState>> {
        let (step, end) = match (done, refused) {
            (0, _) => ("decline", BatchState::Decline),
            (_, 0) => ("succeed", BatchState::Success),
            (_, _) => ("succeed in part", BatchState::PartSuccess),
        };
        self.moved(step, &[BatchState::InProcess], end, now)
    }

    /// The partner cancels it. Cancelling again changes nothing.
    ///
    /// # Errors
    /// [`TransitionError`] if a worker has taken it up, or if it [cannot be cancelled](BatchKind::is_cancellable) at all.
    pub fn cancel(self, now: OffsetDateTime) -> Result<Self, TransitionError<BatchState>> {
        if !K::is_cancellable(self.terms()) {
            return Err(TransitionError { from: self.state(), step: "cancel" });
        }
        self.moved("cancel", &[BatchState::New, BatchState::Rejected], BatchState::Rejected, now)
    }

    fn moved(
        self,
        step: &'static str,
        from: &[BatchState],
        to: BatchState,
        now: OffsetDateTime,
    ) -> Result<Self, TransitionError<BatchState>> {
        let (state, state_since) = moved((self.state(), self.state_since()), step, from, to, now)?;
        Ok(Self(BatchFields { state, state_since, ..self.0 }))
    }
}

#[cfg(test)]
mod tests {
    use time::macros::datetime;
    use uuid::Uuid;

    use super::BatchState as S;
    use super::*;
    use crate::ids::LimitChangeId;
    use crate::limit::Limit;
    use crate::limit_change::LimitChange;

    const CREATED: OffsetDateTime = datetime!(2026-03-16 12:00 UTC);
    const LATER: OffsetDateTime = datetime!(2026-03-16 12:01 UTC);

    fn in_state(state: S) -> LimitChange {
        let batch = CardBatch::new(LimitChangeId::new(Uuid::nil()), 4, Limit::default(), CREATED);
        CardBatch::from_stored(BatchFields { state, ..batch.into_fields() })
    }

    type Step = fn(LimitChange) -> Result<LimitChange, TransitionError<S>>;

    const STEPS: [(&str, Step); 5] = [
        ("start", |batch| batch.start(LATER)),
        ("succeed", |batch| batch.conclude(4, 0, LATER)),
        ("succeed in part", |batch| batch.conclude(1, 3, LATER)),
        ("decline", |batch| batch.conclude(0, 4, LATER)),
        ("cancel", |batch| batch.cancel(LATER)),
    ];

    /// The transitions that exist, written down once more by hand; every other pair must be refused.
    const TABLE: &[(S, &str, S)] = &[
        (S::New, "start", S::InProcess),
        (S::New, "cancel", S::Rejected),
        (S::Rejected, "cancel", S::Rejected),
        (S::InProcess, "succeed", S::Success),
        (S::InProcess, "succeed in part", S::PartSuccess),
        (S::InProcess, "decline", S::Decline),
    ];

    #[test]
    fn the_whole_table_of_states_and_steps() {
        for &state in S::ALL {
            for (name, step) in STEPS {
                let to =
                    TABLE.iter().find(|(from, on, _)| (*from, *on) == (state, name)).map(|(_, _, to)| *to);
                let expected = to.ok_or(TransitionError { from: state, step: name }).map(|to| {
                    let state_since = if to == state { CREATED } else { LATER };
                    CardBatch::from_stored(BatchFields { state_since, ..in_state(to).into_fields() })
                });
                assert_eq!(step(in_state(state)), expected, "{state} + {name}");
            }
        }
    }

    #[test]
    fn a_refused_step_names_state_and_step() {
        let error = in_state(S::InProcess).cancel(LATER).unwrap_err();
        assert_eq!(error.to_string(), "a request in IN_PROCESS cannot cancel");
    }
}
