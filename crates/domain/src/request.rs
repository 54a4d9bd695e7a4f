//! The life of an asynchronous request: one vocabulary and one table for orders, replenishments
//! and limit changes.

use crate::string_enum::string_enum;

string_enum! {
    /// Where a request stands.
    RequestState {
        /// Accepted; can still be cancelled.
        New = "NEW",
        /// Handed to the bank.
        InProcess = "IN_PROCESS",
        /// Done; the result can be read.
        Success = "SUCCESS",
        /// Some cards changed, some not.
        PartSuccess = "PART_SUCCESS",
        /// Refused by the bank; nothing changed, and money held is free again.
        Decline = "DECLINE",
        /// Cancelled by the partner; money held is free again.
        Rejected = "REJECTED",
        /// Orders only: the partner confirmed the receipt; closed.
        Confirmed = "CONFIRMED",
    }
}

string_enum! {
    /// What happens to a request.
    RequestEvent {
        /// A worker takes it up.
        Start = "start",
        /// All of it was carried out.
        Succeed = "succeed",
        /// Part of it was carried out.
        SucceedInPart = "succeed in part",
        /// None of it was carried out.
        Decline = "decline",
        /// The partner cancels it.
        Cancel = "cancel",
        /// The partner confirms the receipt.
        Confirm = "confirm",
    }
}

string_enum! {
    /// What is asked for; decides which states exist.
    RequestKind {
        /// An order of cards: all or nothing, and confirmed in the end.
        Order = "ORDER",
        /// A top-up of cards, each for itself.
        Replenishment = "REPLENISHMENT",
        /// A change of the limits of cards, each for itself.
        LimitChange = "LIMIT_CHANGE",
    }
}

/// An event that the present state does not allow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a request in {from} cannot {event}")]
pub struct TransitionError {
    /// The present state.
    pub from: RequestState,
    /// What was attempted.
    pub event: RequestEvent,
}

impl RequestState {
    /// The state after `event`. Cancelling what is cancelled and confirming what is confirmed change nothing, so
    /// that both can be repeated.
    ///
    /// # Errors
    /// [`TransitionError`] if the state does not allow the event; the request stays as it is.
    pub fn after(self, event: RequestEvent, kind: RequestKind) -> Result<Self, TransitionError> {
        use RequestEvent as E;
        use RequestKind as K;
        let next = match (self, event) {
            (Self::New, E::Start) => Some(Self::InProcess),
            (Self::New | Self::Rejected, E::Cancel) => Some(Self::Rejected),
            (Self::InProcess, E::Succeed) => Some(Self::Success),
            (Self::InProcess, E::SucceedInPart) => match kind {
                K::Order => None,
                K::Replenishment | K::LimitChange => Some(Self::PartSuccess),
            },
            (Self::InProcess, E::Decline) => Some(Self::Decline),
            (Self::Success | Self::Confirmed, E::Confirm) => match kind {
                K::Order => Some(Self::Confirmed),
                K::Replenishment | K::LimitChange => None,
            },
            (Self::New, E::Succeed | E::SucceedInPart | E::Decline | E::Confirm)
            | (Self::InProcess, E::Start | E::Cancel | E::Confirm)
            | (Self::Rejected, E::Start | E::Succeed | E::SucceedInPart | E::Decline | E::Confirm)
            | (
                Self::Success | Self::Confirmed,
                E::Start | E::Succeed | E::SucceedInPart | E::Decline | E::Cancel,
            )
            | (
                Self::PartSuccess | Self::Decline,
                E::Start | E::Succeed | E::SucceedInPart | E::Decline | E::Cancel | E::Confirm,
            ) => None,
        };
        next.ok_or(TransitionError { from: self, event })
    }

    /// Whether the request still has work to be done or waited for.
    #[must_use]
    pub const fn is_open(self) -> bool {
        match self {
            Self::New | Self::InProcess => true,
            Self::Success | Self::PartSuccess | Self::Decline | Self::Rejected | Self::Confirmed => false,
        }
    }
}

/// How a request ends that deals with each card for itself: `done` of its cards were carried out, `refused` were not.
#[must_use]
pub const fn conclusion(done: u32, refused: u32) -> RequestEvent {
    match (done, refused) {
        (0, _) => RequestEvent::Decline,
        (_, 0) => RequestEvent::Succeed,
        (_, _) => RequestEvent::SucceedInPart,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use RequestEvent as E;
    use RequestState as S;

    /// The transitions that exist, written down once more by hand; every other pair must be refused.
    const SHARED: &[(S, E, S)] = &[
        (S::New, E::Start, S::InProcess),
        (S::New, E::Cancel, S::Rejected),
        (S::Rejected, E::Cancel, S::Rejected),
        (S::InProcess, E::Succeed, S::Success),
        (S::InProcess, E::Decline, S::Decline),
    ];
    const ORDER: &[(S, E, S)] =
        &[(S::Success, E::Confirm, S::Confirmed), (S::Confirmed, E::Confirm, S::Confirmed)];
    const CARD_BY_CARD: &[(S, E, S)] = &[(S::InProcess, E::SucceedInPart, S::PartSuccess)];

    #[test]
    fn the_whole_table_of_states_and_events() {
        for &kind in RequestKind::ALL {
            let own = match kind {
                RequestKind::Order => ORDER,
                RequestKind::Replenishment | RequestKind::LimitChange => CARD_BY_CARD,
            };
            for &state in S::ALL {
                for &event in E::ALL {
                    let known = SHARED.iter().chain(own).find(|(from, on, _)| (*from, *on) == (state, event));
                    let expected = known.map(|(_, _, to)| *to).ok_or(TransitionError { from: state, event });
                    assert_eq!(state.after(event, kind), expected, "{kind}: {state} + {event}");
                }
            }
        }
    }

    #[test]
    fn states_only_move_forward() {
        let rank = |state: S| match state {
            S::New => 0,
            S::InProcess => 1,
            S::Success | S::PartSuccess | S::Decline | S::Rejected => 2,
            S::Confirmed => 3,
        };
        for &kind in RequestKind::ALL {
            for &state in S::ALL {
                for &event in E::ALL {
                    if let Ok(next) = state.after(event, kind) {
                        assert!(rank(next) > rank(state) || next == state, "{kind}: {state} + {event}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_request_ends_as_its_cards_did() {
        for (done, refused, end) in
            [(3, 0, E::Succeed), (3, 1, E::SucceedInPart), (1, 3, E::SucceedInPart), (0, 4, E::Decline)]
        {
            assert_eq!(conclusion(done, refused), end);
            // Whatever the end, a request in the hands of the bank can take it.
            assert!(S::InProcess.after(end, RequestKind::Replenishment).is_ok());
            assert!(S::InProcess.after(end, RequestKind::LimitChange).is_ok());
        }
    }
}
