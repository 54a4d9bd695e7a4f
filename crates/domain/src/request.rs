//! What orders and card batches share: the list of all states, the step from one state to the next, and the partner's own
//! reference.
//!
//! An order has an [`OrderState`](crate::order::OrderState) and a card batch a
//! [`BatchState`](crate::card_batch::BatchState); each has only the states that it can be in.

use time::OffsetDateTime;
use unicode_general_category::{GeneralCategory, get_general_category};

use crate::invalid::{Invalid, from_text};
use crate::string_enum::serde_enum;
use crate::text;

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

/// What the partner itself calls a request, such as the number of an order in its own books. Several requests may have the
/// same.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct RequestReference(String);

impl RequestReference {
    /// The most characters.
    pub const MAX_CHARS: usize = 64;
    /// What it may hold beside letters and digits; a blank neither first nor last.
    pub const SIGNS: &'static str = " -_./#";

    /// Reads a reference: letters and digits of any script and [`Self::SIGNS`], in NFC.
    ///
    /// # Errors
    /// [`Invalid`] with the rule that is broken.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let text = text::parse(text, Self::MAX_CHARS)?;
        if !text.chars().all(is_of_reference) {
            return Err(Invalid::new("must consist of letters, digits, blanks and - _ . / #"));
        }
        if text.starts_with(' ') || text.ends_with(' ') {
            return Err(Invalid::new("must not begin or end with a blank"));
        }
        Ok(Self(text))
    }

    /// A reference that was accepted once, even where [`Self::parse`] would refuse it today.
    #[cfg(any(test, feature = "stored"))]
    #[must_use]
    pub fn from_stored(text: String) -> Self {
        Self(text)
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

from_text!(as_str: RequestReference);

fn is_of_reference(character: char) -> bool {
    use GeneralCategory as Category;
    RequestReference::SIGNS.contains(character)
        || matches!(
            get_general_category(character),
            Category::UppercaseLetter
                | Category::LowercaseLetter
                | Category::TitlecaseLetter
                | Category::ModifierLetter
                | Category::OtherLetter
                | Category::DecimalNumber
        )
}

/// The states of one kind of request among all of them.
macro_rules! states_of {
    ($kind:ident: $($state:ident),*) => {
        impl From<$kind> for $crate::request::RequestState {
            fn from(state: $kind) -> Self {
                match state {
                    $($kind::$state => Self::$state,)*
                }
            }
        }

        impl $kind {
            /// The state as this kind of request has it; `None` if it cannot be in it.
            #[must_use]
            pub fn of(state: $crate::request::RequestState) -> Option<Self> {
                Self::ALL.iter().copied().find(|own| $crate::request::RequestState::from(*own) == state)
            }

            /// Whether the request still has work to be done or waited for.
            #[must_use]
            pub const fn is_open(self) -> bool {
                matches!(self, Self::New | Self::InProcess)
            }
        }
    };
}

pub(crate) use states_of;

/// Where a request stands now.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct RequestStatus<I, S> {
    /// The request.
    pub id: I,
    /// Its new state.
    pub state: S,
    /// What the partner calls the request.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub reference: Option<RequestReference>,
}

/// A step that the present state does not allow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a request in {from} cannot {step}")]
pub struct TransitionError<S> {
    /// The present state.
    pub from: S,
    /// What was attempted.
    pub step: &'static str,
}

/// A state with the timestamp since which it holds.
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
    use crate::card_batch::BatchState;
    use crate::order::OrderState;

    #[test]
    fn a_reference_has_letters_digits_and_a_few_signs() {
        let longest = "Ж".repeat(64);
        for text in ["7", "PO-2026/01 #4.5_b", "Счёт 12", "注文٣", &longest] {
            assert_eq!(RequestReference::parse(text).unwrap().as_str(), text);
        }
        assert_eq!(RequestReference::parse("Cafe\u{301}").unwrap().as_str(), "Café");
        for text in
            ["", " ", " a", "a ", "a\tb", "a,b", "a:b", "=a", "a+b", "№1", "a\u{a0}b", "½", &"Ж".repeat(65)]
        {
            assert!(RequestReference::parse(text).is_err(), "{text:?}");
        }
    }

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
