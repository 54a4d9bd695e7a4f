//! Replenishments: batches of top-ups.

use crate::card_batch::{BatchItem, BatchKind, BatchState, CardBatch};
use crate::event::{EventData, RequestStatus};
use crate::ids::ReplenishmentId;
use crate::invalid::Invalid;
use crate::money::{AmountOverflow, Kopecks};
use crate::string_enum::serde_enum;

/// The greatest top-up of one card, kopecks.
pub const MAX_AMOUNT: i64 = 100_000_000;

/// The amount of a top-up, 1..=100,000,000 kopecks.
///
/// # Errors
/// [`Invalid`] out of the range.
pub fn top_up_amount(kopecks: i64) -> Result<Kopecks, Invalid> {
    if (1..=MAX_AMOUNT).contains(&kopecks) {
        Ok(Kopecks::new(kopecks))
    } else {
        Err(Invalid::new(format!("must be an integer from 1 to {MAX_AMOUNT} kopecks")))
    }
}

serde_enum! {
    /// Why a card was not topped up.
    TopUpRefusal {
        /// The partner's balance did not cover it.
        NotEnoughBalance = "NOT_ENOUGH_BALANCE",
        /// Over the amount by which the card can be topped up.
        OverCardLimit = "OVER_CARD_LIMIT",
        /// The bank blocks the card.
        Blocked = "BLOCKED",
        /// The partner blocks the card.
        BlockedByPartner = "BLOCKED_BY_PARTNER",
        /// The card has expired.
        Expired = "EXPIRED",
        /// The card is not activated.
        NotActivated = "NOT_ACTIVATED",
        /// The bank refused for another reason.
        RefusedByBank = "REFUSED_BY_BANK",
    }
}

impl TopUpRefusal {
    /// The refusal in words.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::NotEnoughBalance => "not enough partner balance",
            Self::OverCardLimit => "over the amount by which the card can be topped up",
            Self::Blocked => "the card is blocked by the bank",
            Self::BlockedByPartner => "the card is blocked by the partner",
            Self::Expired => "the card has expired",
            Self::NotActivated => "the card is not activated",
            Self::RefusedByBank => "refused by the bank",
        }
    }
}

/// The kind of batch that tops cards up: a sum of money in all, an amount for each card.
///
/// While a batch is `IN_PROCESS` the amounts of its open cards are held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TopUps;

impl BatchKind for TopUps {
    type Id = ReplenishmentId;
    type Terms = Kopecks;
    type ItemTerms = Kopecks;
    type Refusal = TopUpRefusal;

    fn status_event(status: RequestStatus<ReplenishmentId, BatchState>) -> EventData {
        EventData::ReplenishmentStatus(status)
    }
}

/// A batch of top-ups.
pub type Replenishment = CardBatch<TopUps>;
/// One top-up.
pub type ReplenishmentItem = BatchItem<TopUps>;

impl Replenishment {
    /// The sum of all top-ups.
    #[must_use]
    pub fn amount(&self) -> Kopecks {
        *self.terms()
    }
}

impl ReplenishmentItem {
    /// The top-up of this card.
    #[must_use]
    pub const fn amount(&self) -> Kopecks {
        self.terms
    }
}

/// Which of `items` the partner's `available` money covers, taken card by card in their order; a card that is not
/// covered does not stand in the way of a smaller one behind it.
///
/// Returns the sum to hold and the ordinals that are not covered.
///
/// # Errors
/// [`AmountOverflow`] if a sum does not fit.
pub fn cover(items: &[ReplenishmentItem], available: Kopecks) -> Result<(Kopecks, Vec<u32>), AmountOverflow> {
    let mut held = Kopecks::ZERO;
    let mut uncovered = Vec::new();
    for item in items {
        let with_it = held.plus(item.amount())?;
        if with_it <= available {
            held = with_it;
        } else {
            uncovered.push(item.ordinal);
        }
    }
    Ok((held, uncovered))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::card_batch::ItemState;
    use crate::card_number::CardNumber;
    use crate::ids::CardId;
    use proptest::prelude::*;
    use uuid::Uuid;

    fn items(amounts: &[i64]) -> Vec<ReplenishmentItem> {
        let number = CardNumber::parse("4006381333931").unwrap();
        (0..)
            .zip(amounts)
            .map(|(ordinal, amount)| ReplenishmentItem {
                ordinal,
                card: CardId::new(Uuid::nil()),
                number,
                terms: Kopecks::new(*amount),
                state: ItemState::Open,
            })
            .collect()
    }

    #[test]
    fn top_ups_beyond_the_balance_are_refused_card_by_card() {
        let (held, uncovered) = cover(&items(&[60, 50, 40]), Kopecks::new(100)).unwrap();
        assert_eq!((held, uncovered), (Kopecks::new(100), vec![1]));
    }

    #[test]
    fn amounts_have_a_range() {
        assert!(top_up_amount(1).is_ok() && top_up_amount(100_000_000).is_ok());
        for out in [0, -1, 100_000_001, i64::MIN, i64::MAX] {
            assert!(top_up_amount(out).is_err());
        }
    }

    proptest! {
        #[test]
        fn never_holds_more_than_is_there(amounts in prop::collection::vec(1_i64..1_000_000, 0..100), available in 0_i64..50_000_000) {
            let items = items(&amounts);
            let (held, uncovered) = cover(&items, Kopecks::new(available)).unwrap();
            prop_assert!(held <= Kopecks::new(available));
            let covered = items.iter().filter(|item| !uncovered.contains(&item.ordinal));
            prop_assert_eq!(Kopecks::sum(covered.map(|item| item.amount())).unwrap(), held);
        }

        #[test]
        fn enough_money_covers_everything(amounts in prop::collection::vec(1_i64..1_000_000, 0..100)) {
            let (held, uncovered) = cover(&items(&amounts), Kopecks::new(amounts.iter().sum())).unwrap();
            prop_assert!(uncovered.is_empty());
            prop_assert_eq!(held.get(), amounts.iter().sum::<i64>());
        }
    }
}
