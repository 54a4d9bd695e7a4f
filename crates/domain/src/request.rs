//! What orders and card batches share: the list of all states, and the step from one state to the next.
//!
//! An order has an [`OrderState`] and a card batch a [`BatchState`]; each has only the states that it can be in.

use time::OffsetDateTime;

use crate::card_batch::BatchState;
use crate::order::OrderState;
use crate::string_enum::serde_enum;

serde_enum! {
    /// The state of any request: an order or a card batch.
    RequestState {
        /// Accepted; can still be cancelled.
        New = "NEW",
        /// Handed to the bank.
        InProcess = "IN_PROCESS",
        /// Done; the result can be read.
        Success = "SUCCESS",
        /// Card batches only: some cards changed, some not.
        PartSuccess = "PART_SUCCESS",
        /// Refused by the bank; nothing changed, and held money is released.
        Decline = "DECLINE",
        /// Cancelled by the partner; held money is released.
        Rejected = "REJECTED",
        /// Orders only: the partner confirmed the receipt; closed.
        Confirmed = "CONFIRMED",
    }
}

/// The states of one kind of request among all of them.
macro_rules! states_of {
    ($kind:ident: $($state:ident),*) => {
        impl From<$kind> for RequestState {
            fn from(state: $kind) -> Self {
                match state {
                    $($kind::$state => Self::$state,)*
                }
            }
        }

        impl $kind {
            /// The state as this kind of request has it; `None` if it cannot be in it.
            #[must_use]
            pub fn of(state: RequestState) -> Option<Self> {
                Self::ALL.iter().copied().find(|own| RequestState::from(*own) == state)
            }

            /// Whether the request still has work to be done or waited for.
            #[must_use]
            pub const fn is_open(self) -> bool {
                matches!(self, Self::New | Self::InProcess)
            }
        }
    };
}

states_of!(OrderState: New, InProcess, Success, Decline, Rejected, Confirmed);
states_of!(BatchState: New, InProcess, Success, PartSuccess, Decline, Rejected);

/// A step that the present state does not allow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a request in {from} cannot {step}")]
pub struct TransitionError<S> {
    /// The present state.
    pub from: S,
    /// What was attempted.
    pub step: &'static str,
}

/// A state with the moment since which it holds.
pub(crate) type Since<S> = (S, OffsetDateTime);

/// Moves to `to` at `now` if the present state is one of `from`. A step that changes nothing keeps the date.
pub(crate) fn moved<S: Copy + PartialEq>(
    (state, since): Since<S>,
    step: &'static str,
    from: &[S],
    to: S,
    now: OffsetDateTime,
) -> Result<Since<S>, TransitionError<S>> {
    if from.contains(&state) {
        Ok((to, if to == state { since } else { now }))
    } else {
        Err(TransitionError { from: state, step })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_kinds_have_their_states_under_the_same_names() {
        for state in OrderState::ALL {
            assert_eq!(RequestState::from(*state).as_str(), state.as_str());
        }
        for state in BatchState::ALL {
            assert_eq!(RequestState::from(*state).as_str(), state.as_str());
        }
        for state in RequestState::ALL {
            assert_eq!(OrderState::of(*state).is_none(), *state == RequestState::PartSuccess);
            assert_eq!(BatchState::of(*state).is_none(), *state == RequestState::Confirmed);
        }
    }
}
