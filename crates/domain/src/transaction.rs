//! Transactions of a card, as the bank books them.

use time::OffsetDateTime;

use crate::Kopecks;
use crate::ids::{CardId, EmployeeId};
use crate::money::AmountOverflow;
use crate::string_enum::serde_enum;

serde_enum! {
    /// What kind of movement a transaction is. The type tells the direction: amounts are positive.
    TransactionType {
        /// Money arrived on the card.
        Replenishment = "REPLENISHMENT",
        /// A purchase at a merchant.
        Payment = "PAYMENT",
        /// A merchant gave money back.
        Refund = "REFUND",
        /// Money went back from the card to the partner.
        Reversal = "REVERSAL",
        /// The bank put a mistake right.
        Correction = "CORRECTION",
    }
}

impl TransactionType {
    /// What a transaction of this type and `amount` adds to what its card has spent, kopecks: a refund takes away from it, and
    /// top-ups, reversals and corrections are no spending.
    ///
    /// # Errors
    /// [`AmountOverflow`] if the amount has no opposite.
    pub fn spending(self, amount: Kopecks) -> Result<Kopecks, AmountOverflow> {
        match self {
            Self::Payment => Ok(amount),
            Self::Refund => amount.negated(),
            Self::Replenishment | Self::Reversal | Self::Correction => Ok(Kopecks::ZERO),
        }
    }
}

/// A transaction of a card: a plain record of what the bank says.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Transaction {
    /// The bank's number of it; later ones are greater.
    pub id: i64,
    /// When it happened.
    #[cfg_attr(feature = "serde", serde(with = "time::serde::rfc3339"))]
    pub executed_at: OffsetDateTime,
    /// What it was.
    pub kind: TransactionType,
    /// How much, above zero.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::money::read_positive"))]
    pub amount: Kopecks,
    /// Name of the merchant's outlet, for spending.
    pub place: Option<String>,
    /// Merchant category code, for spending.
    pub mcc: Option<String>,
    /// The merchant's identifier, for spending.
    pub merchant_id: Option<String>,
}

/// Money that moved on a card.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct CardTransaction {
    /// The card.
    pub card: CardId,
    /// Its holder, if any.
    pub employee: Option<EmployeeId>,
    /// What moved.
    pub transaction: Transaction,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn payments_less_refunds_are_spending() {
        let of = |kind: TransactionType| kind.spending(Kopecks::new(70)).map(Kopecks::get);
        let spending = TransactionType::ALL.iter().map(|kind| of(*kind));
        assert_eq!(spending.collect::<Vec<_>>(), [0, 70, -70, 0, 0].map(Ok));
        assert_eq!(TransactionType::Refund.spending(Kopecks::new(i64::MIN)), Err(AmountOverflow));
    }
}
