//! Withdrawals: batches that take money back from cards.

use crate::card_batch::{BatchItem, BatchKind, BatchState, CardBatch};
use crate::event::{EventData, RequestStatus};
use crate::ids::WithdrawalId;
use crate::money::{AmountOverflow, Kopecks};
use crate::string_enum::serde_enum;

serde_enum! {
    /// Why no money was taken from a card.
    WithdrawalRefusal {
        /// It holds less than requested, or nothing.
        NotEnoughOnCard = "NOT_ENOUGH_ON_CARD",
        /// It is closed.
        Closed = "CLOSED",
        /// The bank refused for another reason.
        RefusedByBank = "REFUSED_BY_BANK",
    }
}

impl WithdrawalRefusal {
    /// The refusal in words.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::NotEnoughOnCard => "not enough money on the card",
            Self::Closed => "the card is closed",
            Self::RefusedByBank => "refused by the bank",
        }
    }
}

/// The kind of batch that takes money back from cards: an amount from each, or all of it. The sum of the amounts is there if
/// each card has one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Withdrawals;

impl BatchKind for Withdrawals {
    type Id = WithdrawalId;
    type Terms = Option<Kopecks>;
    type ItemTerms = Option<Kopecks>;
    type Refusal = WithdrawalRefusal;

    fn status_event(status: RequestStatus<WithdrawalId, BatchState>) -> EventData {
        EventData::WithdrawalStatus(status)
    }
}

/// A batch of withdrawals.
pub type Withdrawal = CardBatch<Withdrawals>;
/// One withdrawal.
pub type WithdrawalItem = BatchItem<Withdrawals>;

/// The sum of `amounts`; `None` if one of them is all that is on its card.
///
/// # Errors
/// [`AmountOverflow`] if the sum does not fit.
pub fn asked(amounts: &[Option<Kopecks>]) -> Result<Option<Kopecks>, AmountOverflow> {
    let named: Option<Vec<Kopecks>> = amounts.iter().copied().collect();
    named.map(Kopecks::sum).transpose()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_needs_an_amount_of_every_card() {
        let amounts =
            |amounts: &[i64]| amounts.iter().copied().map(Kopecks::new).map(Some).collect::<Vec<_>>();
        assert_eq!(asked(&amounts(&[300, 200])), Ok(Some(Kopecks::new(500))));
        assert_eq!(asked(&[amounts(&[300]), vec![None]].concat()), Ok(None));
        assert_eq!(asked(&amounts(&[i64::MAX, 1])), Err(AmountOverflow));
    }

    #[test]
    fn every_refusal_has_its_own_words() {
        let texts: std::collections::BTreeSet<&str> =
            WithdrawalRefusal::ALL.iter().map(|refusal| refusal.text()).collect();
        assert_eq!(texts.len(), WithdrawalRefusal::ALL.len());
    }
}
