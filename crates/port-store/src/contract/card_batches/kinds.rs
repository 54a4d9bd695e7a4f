//! Samples of each kind.

use kopeck_domain::Kopecks;
use kopeck_domain::card_batch::ItemState;
use kopeck_domain::closing::{ClosingReason, ClosingRefusal, ClosingTerms, Closings};
use kopeck_domain::limit::Limit;
use kopeck_domain::limit_change::{LimitChangeRefusal, LimitChanges};
use kopeck_domain::replenishment::{TopUpRefusal, TopUps};
use kopeck_domain::withdrawal::{WithdrawalRefusal, Withdrawals};

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
    /// What the card with this ordinal moves, if the batch names it.
    fn amount(ordinal: u32) -> Kopecks;

    /// The sum that a batch of so many cards asks for, if it has one.
    fn asked(cards: u32) -> Option<Kopecks> {
        Some(Kopecks::sum((0..cards).map(Self::amount)).unwrap())
    }

    /// The card with this ordinal, carried out.
    #[must_use]
    fn done(_: u32) -> ItemState<Self::Refusal> {
        ItemState::Done
    }
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

    fn asked(_: u32) -> Option<Kopecks> {
        None
    }
}

/// Those that are not urgent.
impl SampleKind for Closings {
    fn refusals() -> Vec<ClosingRefusal> {
        ClosingRefusal::ALL.to_vec()
    }

    fn terms(_: u32) -> ClosingTerms {
        ClosingTerms { is_urgent: false }
    }

    fn item_terms(ordinal: u32) -> ClosingReason {
        let all = ClosingReason::ALL;
        all[ordinal as usize % all.len()]
    }

    fn amount(_: u32) -> Kopecks {
        Kopecks::ZERO
    }

    fn asked(_: u32) -> Option<Kopecks> {
        None
    }

    fn done(ordinal: u32) -> ItemState<ClosingRefusal> {
        ItemState::Returned(Kopecks::new(i64::from(ordinal)))
    }
}

impl SampleKind for Withdrawals {
    fn refusals() -> Vec<WithdrawalRefusal> {
        WithdrawalRefusal::ALL.to_vec()
    }

    fn terms(cards: u32) -> Option<Kopecks> {
        Self::asked(cards)
    }

    fn item_terms(ordinal: u32) -> Option<Kopecks> {
        Some(Self::amount(ordinal))
    }

    fn amount(ordinal: u32) -> Kopecks {
        Kopecks::new(100 * i64::from(ordinal + 1))
    }

    fn done(ordinal: u32) -> ItemState<WithdrawalRefusal> {
        ItemState::Returned(Self::amount(ordinal))
    }
}
