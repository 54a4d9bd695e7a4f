//! Limit changes: batches that give cards one limit.

use crate::card_batch::{BatchItem, BatchKind, BatchState, CardBatch};
use crate::event::{EventData, RequestStatus};
use crate::ids::LimitChangeId;
use crate::limit::Limit;
use crate::string_enum::serde_enum;

serde_enum! {
    /// Why the limit of a card was not changed.
    LimitChangeRefusal {
        /// The bank blocks the card.
        Blocked = "BLOCKED",
        /// The card has expired.
        Expired = "EXPIRED",
        /// The card is not activated.
        NotActivated = "NOT_ACTIVATED",
        /// The bank refused for another reason.
        RefusedByBank = "REFUSED_BY_BANK",
    }
}

impl LimitChangeRefusal {
    /// The refusal in words.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::Blocked => "the card is blocked by the bank",
            Self::Expired => "the card has expired",
            Self::NotActivated => "the card is not activated",
            Self::RefusedByBank => "refused by the bank",
        }
    }
}

/// The kind of batch that gives all of its cards one limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LimitChanges;

impl BatchKind for LimitChanges {
    type Id = LimitChangeId;
    type Terms = Limit;
    type ItemTerms = ();
    type Refusal = LimitChangeRefusal;

    fn status_event(status: RequestStatus<LimitChangeId, BatchState>) -> EventData {
        EventData::LimitsStatus(status)
    }
}

/// A batch of limit changes.
pub type LimitChange = CardBatch<LimitChanges>;
/// One limit change.
pub type LimitChangeItem = BatchItem<LimitChanges>;

impl LimitChange {
    /// The limit that the cards shall have.
    #[must_use]
    pub fn limit(&self) -> &Limit {
        self.terms()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_refusal_has_its_own_words() {
        let texts: std::collections::BTreeSet<&str> =
            LimitChangeRefusal::ALL.iter().map(|refusal| refusal.text()).collect();
        assert_eq!(texts.len(), LimitChangeRefusal::ALL.len());
    }
}
