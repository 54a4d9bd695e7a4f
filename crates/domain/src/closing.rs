//! Closings: batches that close cards for good, and bring their money back.

use crate::card_batch::{BatchItem, BatchKind, BatchState, CardBatch};
use crate::event::{EventData, RequestStatus};
use crate::ids::ClosingId;
use crate::string_enum::serde_enum;

serde_enum! {
    /// Why a card is closed.
    ClosingReason {
        /// It is lost.
        Lost = "LOST",
        /// It was stolen.
        Stolen = "STOLEN",
        /// It does not work any more.
        Damaged = "DAMAGED",
        /// Its holder leaves the partner.
        Leaver = "LEAVER",
        /// Another reason.
        Other = "OTHER",
    }
}

impl ClosingReason {
    /// Whether another person may have the card, so that it is blocked at once.
    #[must_use]
    pub const fn is_urgent(self) -> bool {
        match self {
            Self::Lost | Self::Stolen => true,
            Self::Damaged | Self::Leaver | Self::Other => false,
        }
    }
}

serde_enum! {
    /// Why a card was not closed.
    ClosingRefusal {
        /// It is closed already.
        Closed = "CLOSED",
        /// The bank refused for another reason.
        RefusedByBank = "REFUSED_BY_BANK",
    }
}

impl ClosingRefusal {
    /// The refusal in words.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::Closed => "the card is closed already",
            Self::RefusedByBank => "refused by the bank",
        }
    }
}

/// What a closing says for all of its cards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ClosingTerms {
    /// Whether every reason [is urgent](ClosingReason::is_urgent). Such a closing may have cards that another request
    /// has, and is carried out after that. It cannot be cancelled.
    pub is_urgent: bool,
}

impl ClosingTerms {
    /// The terms of cards that are closed for these reasons.
    #[must_use]
    pub fn of(reasons: impl IntoIterator<Item = ClosingReason>) -> Self {
        Self { is_urgent: reasons.into_iter().all(ClosingReason::is_urgent) }
    }
}

/// The kind of batch that closes cards. What is on a card comes back with the verdict on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Closings;

impl BatchKind for Closings {
    type Id = ClosingId;
    type Terms = ClosingTerms;
    type ItemTerms = ClosingReason;
    type Refusal = ClosingRefusal;

    fn status_event(status: RequestStatus<ClosingId, BatchState>) -> EventData {
        EventData::ClosingStatus(status)
    }

    fn is_cancellable(terms: &ClosingTerms) -> bool {
        !terms.is_urgent
    }
}

/// A batch of closings.
pub type Closing = CardBatch<Closings>;
/// One closing.
pub type ClosingItem = BatchItem<Closings>;

#[cfg(test)]
mod tests {
    use super::*;
    use time::macros::datetime;
    use uuid::Uuid;

    #[test]
    fn a_closing_is_urgent_if_all_of_its_reasons_are() {
        use ClosingReason::{Damaged, Leaver, Lost, Other, Stolen};
        assert!(ClosingTerms::of([Lost, Stolen]).is_urgent);
        for other in [Damaged, Leaver, Other] {
            assert!(!ClosingTerms::of([Lost, other]).is_urgent, "{other}");
        }
    }

    #[test]
    fn an_urgent_closing_cannot_be_cancelled() {
        let now = datetime!(2026-03-16 12:00 UTC);
        for is_urgent in [true, false] {
            let closing = Closing::new(ClosingId::new(Uuid::nil()), 1, ClosingTerms { is_urgent }, now);
            assert_eq!(closing.cancel(now).is_err(), is_urgent);
        }
    }

    #[test]
    fn every_refusal_has_its_own_words() {
        let texts: std::collections::BTreeSet<&str> =
            ClosingRefusal::ALL.iter().map(|refusal| refusal.text()).collect();
        assert_eq!(texts.len(), ClosingRefusal::ALL.len());
    }
}
