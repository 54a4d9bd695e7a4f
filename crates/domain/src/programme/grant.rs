//! What a programme gives to one card, or takes from it.

use time::Date;

use super::period::Period;
use crate::money::{AmountOverflow, Kopecks};

/// What a programme does with each card. Amounts are above zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grant {
    /// Adds an amount, as far as the card's balance stays within `cap`.
    Fixed {
        /// The amount.
        amount: Kopecks,
        /// The most that the card may hold afterwards.
        cap: Option<Kopecks>,
    },
    /// Fills the card up to an amount.
    UpTo(Kopecks),
    /// Takes back all above an amount, which may be zero.
    DownTo(Kopecks),
}

/// What happens to a card.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GrantEffect {
    /// Nothing.
    None,
    /// It is topped up by an amount above zero.
    TopUp(Kopecks),
    /// An amount above zero is taken back.
    TakeBack(Kopecks),
}

/// The share of a period that a person gets: so many days of how many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share {
    days: i64,
    of: i64,
}

impl Share {
    /// The whole period.
    pub const WHOLE: Self = Self { days: 1, of: 1 };

    /// The calendar days of `period` from `since` on, the day on which the person was added.
    #[must_use]
    pub fn since(period: Period, since: Date) -> Self {
        let of = period.days();
        let passed = (since - period.first_day()).whole_days();
        Self { days: (of - passed).clamp(0, of), of }
    }

    /// The share of `amount`, rounded down to a kopeck.
    #[must_use]
    pub fn of(self, amount: Kopecks) -> Kopecks {
        let share = i128::from(amount.get()) * i128::from(self.days) / i128::from(self.of.max(1));
        // No share is larger than the whole.
        Kopecks::new(i64::try_from(share).unwrap_or_default())
    }
}

impl Grant {
    /// What happens to a card that holds `balance`. A share holds for what is given, never for what is taken back.
    ///
    /// # Errors
    /// [`AmountOverflow`] if a difference does not fit.
    pub fn effect(self, balance: Kopecks, share: Share) -> Result<GrantEffect, AmountOverflow> {
        let given = match self {
            Self::Fixed { amount, cap } => {
                let amount = share.of(amount);
                let room = cap.map(|cap| cap.minus(balance)).transpose()?;
                room.map_or(amount, |room| amount.min(room))
            }
            Self::UpTo(amount) => share.of(amount).minus(balance)?,
            Self::DownTo(amount) => {
                let above = balance.minus(amount)?;
                return Ok(if above.is_positive() {
                    GrantEffect::TakeBack(above)
                } else {
                    GrantEffect::None
                });
            }
        };
        Ok(if given.is_positive() { GrantEffect::TopUp(given) } else { GrantEffect::None })
    }
}
