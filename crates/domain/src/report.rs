//! What moved on the cards of a person in a month.

use crate::Kopecks;
use crate::money::AmountOverflow;
use crate::transaction::TransactionType;

/// The part of a report that a transaction belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReportPart {
    /// It is in the report of an earlier month.
    Before,
    /// It was executed in the month.
    Within,
    /// It was executed earlier, in a month that was closed before the service learnt of it.
    Late,
}

/// The amounts of a row of a report, or of its total, in kopecks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ReportAmounts {
    /// What was on the cards at the beginning of the month.
    pub opening: Kopecks,
    /// What top-ups and orders brought.
    pub given: Kopecks,
    /// What they brought beside it, in a report that shows a part of it as given; else zero.
    pub given_otherwise: Kopecks,
    /// What payments took.
    pub spent: Kopecks,
    /// What merchants gave back.
    pub refunded: Kopecks,
    /// What went back to the partner.
    pub returned: Kopecks,
    /// What the bank put right.
    pub correction: Kopecks,
    /// By how much transactions of closed months change the cards, below zero if there is less.
    pub late: Kopecks,
    /// How many payments there were.
    pub payments: u64,
    /// How many transactions of the month there are, late ones too.
    pub transactions: u64,
}

impl ReportAmounts {
    /// Adds `number` transactions of one type that move `amount` together, above zero.
    ///
    /// # Errors
    /// [`AmountOverflow`] if a sum does not fit.
    pub fn add(
        &mut self,
        part: ReportPart,
        kind: TransactionType,
        amount: Kopecks,
        number: u64,
    ) -> Result<(), AmountOverflow> {
        let signed = match kind {
            TransactionType::Payment | TransactionType::Reversal => amount.negated()?,
            TransactionType::Replenishment | TransactionType::Refund | TransactionType::Correction => amount,
        };
        match (part, kind) {
            (ReportPart::Before, _) => {
                self.opening = self.opening.plus(signed)?;
                return Ok(());
            }
            (ReportPart::Late, _) => self.late = self.late.plus(signed)?,
            (_, TransactionType::Replenishment) => self.given = self.given.plus(amount)?,
            (_, TransactionType::Payment) => {
                self.spent = self.spent.plus(amount)?;
                self.payments = self.payments.saturating_add(number);
            }
            (_, TransactionType::Refund) => self.refunded = self.refunded.plus(amount)?,
            (_, TransactionType::Reversal) => self.returned = self.returned.plus(amount)?,
            (_, TransactionType::Correction) => self.correction = self.correction.plus(amount)?,
        }
        self.transactions = self.transactions.saturating_add(number);
        Ok(())
    }

    /// Shows `part` as given. The rest still counts for the closing.
    ///
    /// # Errors
    /// [`AmountOverflow`] if the rest does not fit.
    pub fn giving(self, part: Kopecks) -> Result<Self, AmountOverflow> {
        let all = self.given.plus(self.given_otherwise)?;
        Ok(Self { given: part, given_otherwise: all.minus(part)?, ..self })
    }

    /// The sums of both.
    ///
    /// # Errors
    /// [`AmountOverflow`] if a sum does not fit.
    pub fn plus(self, other: &Self) -> Result<Self, AmountOverflow> {
        Ok(Self {
            opening: self.opening.plus(other.opening)?,
            given: self.given.plus(other.given)?,
            given_otherwise: self.given_otherwise.plus(other.given_otherwise)?,
            spent: self.spent.plus(other.spent)?,
            refunded: self.refunded.plus(other.refunded)?,
            returned: self.returned.plus(other.returned)?,
            correction: self.correction.plus(other.correction)?,
            late: self.late.plus(other.late)?,
            payments: self.payments.saturating_add(other.payments),
            transactions: self.transactions.saturating_add(other.transactions),
        })
    }

    /// What was on the cards at the end of the month: `opening + given - spent + refunded - returned + correction + late`, with
    /// all that was given.
    ///
    /// # Errors
    /// [`AmountOverflow`] if the sum does not fit.
    pub fn closing(&self) -> Result<Kopecks, AmountOverflow> {
        let Self { opening, given, given_otherwise, spent, refunded, returned, correction, late, .. } = *self;
        let (spent, returned) = (spent.negated()?, returned.negated()?);
        Kopecks::sum([opening, given, given_otherwise, spent, refunded, returned, correction, late])
    }

    /// Whether the row has neither a balance nor a movement.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.opening == Kopecks::ZERO && self.transactions == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parts() -> impl Strategy<Value = ReportPart> {
        prop_oneof![Just(ReportPart::Before), Just(ReportPart::Within), Just(ReportPart::Late)]
    }

    proptest! {
        /// However transactions are spread over parts and rows, the closing is the sum of all of them with their signs.
        #[test]
        fn a_row_and_the_total_add_up(
            transactions in proptest::collection::vec(
                (0_usize..3, parts(), proptest::sample::select(TransactionType::ALL), 1_i64..1_000_000),
                0..60,
            ),
        ) {
            let mut rows = [ReportAmounts::default(); 3];
            let mut balance = 0;
            for (row, part, kind, amount) in &transactions {
                rows[*row].add(*part, *kind, Kopecks::new(*amount), 1).unwrap();
                let is_out = matches!(kind, TransactionType::Payment | TransactionType::Reversal);
                balance += if is_out { -amount } else { *amount };
            }
            let total = rows.iter().try_fold(ReportAmounts::default(), |sum, row| sum.plus(row)).unwrap();
            prop_assert_eq!(total.closing().unwrap(), Kopecks::new(balance));
            let closings = Kopecks::sum(rows.iter().map(|row| row.closing().unwrap())).unwrap();
            prop_assert_eq!(closings, Kopecks::new(balance));
            let moved = transactions.iter().filter(|(_, part, ..)| *part != ReportPart::Before).count() as u64;
            prop_assert_eq!(total.transactions, moved);
        }
    }

    #[test]
    fn a_part_of_what_is_given_leaves_the_closing() {
        let mut row = ReportAmounts::default();
        row.add(ReportPart::Within, TransactionType::Replenishment, Kopecks::new(70), 1).unwrap();
        let part = row.giving(Kopecks::new(50)).unwrap();
        assert_eq!((part.given, part.closing()), (Kopecks::new(50), Ok(Kopecks::new(70))));
        assert_eq!(part.plus(&part).unwrap().closing(), Ok(Kopecks::new(140)));
        assert_eq!(part.giving(Kopecks::new(70)), Ok(row));
    }

    #[test]
    fn a_row_without_balance_and_movement_is_empty() {
        let mut row = ReportAmounts::default();
        assert!(row.is_empty());
        let mut add = |part, kind| row.add(part, kind, Kopecks::new(5), 1).map(|()| row.is_empty()).unwrap();
        assert!(!add(ReportPart::Before, TransactionType::Replenishment));
        assert!(add(ReportPart::Before, TransactionType::Reversal));
        assert!(!add(ReportPart::Late, TransactionType::Payment));
        assert_eq!((row.late, row.payments), (Kopecks::new(-5), 0));
    }
}
