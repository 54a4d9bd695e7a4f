//! Samples of each kind.

use kopeck_domain::Kopecks;
use kopeck_domain::limit::Limit;
use kopeck_domain::limit_change::{LimitChangeRefusal, LimitChanges};
use kopeck_domain::replenishment::{TopUpRefusal, TopUps};

use crate::StoredKind;
use crate::contract::support::sample_limits;

/// A kind of batch, and what the cases need to make one.
pub trait SampleKind: StoredKind {
    /// Every reason for which a card can be refused.
    fn refusals() -> Vec<Self::Refusal>;
    /// What a batch of so many cards says for all of them.
    fn terms(cards: u32) -> Self::Terms;
    /// What it says for the card with this ordinal.
    fn item_terms(ordinal: u32) -> Self::ItemTerms;
    /// The money that moves for the card with this ordinal.
    fn amount(ordinal: u32) -> Kopecks;
}

impl SampleKind for TopUps {
    fn refusals() -> Vec<TopUpRefusal> {
        TopUpRefusal::ALL.to_vec()
    }

    fn terms(cards: u32) -> Kopecks {
        Kopecks::sum((0..cards).map(Self::amount)).unwrap()
    }

    fn item_terms(ordinal: u32) -> Kopecks {
        Self::amount(ordinal)
    }

    fn amount(ordinal: u32) -> Kopecks {
        Kopecks::new(100 * i64::from(ordinal + 1))
    }
}

impl SampleKind for LimitChanges {
    fn refusals() -> Vec<LimitChangeRefusal> {
        LimitChangeRefusal::ALL.to_vec()
    }

    fn terms(_: u32) -> Limit {
        sample_limits().pop().unwrap()
    }

    fn item_terms(_: u32) {}

    fn amount(_: u32) -> Kopecks {
        Kopecks::ZERO
    }
}
