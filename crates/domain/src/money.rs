//! Money: whole kopecks, checked arithmetic.

use std::fmt;

/// An amount in kopecks, 1/100 of the currency unit. May be negative: entries of the ledger have a sign.
///
/// There are no operators on purpose: every sum says what happens when it does not fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(transparent))]
pub struct Kopecks(i64);

/// Reads an amount above zero.
#[cfg(feature = "serde")]
pub(crate) fn read_positive<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Kopecks, D::Error> {
    let amount = <Kopecks as serde::Deserialize>::deserialize(deserializer)?;
    let invalid = || serde::de::Error::custom("an amount must be above zero");
    Some(amount).filter(|amount| amount.is_positive()).ok_or_else(invalid)
}

/// A sum or product that does not fit into 64 bits. An error, never a wrap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the amount does not fit into 64 bits")]
pub struct AmountOverflow;

impl Kopecks {
    /// No money.
    pub const ZERO: Self = Self(0);

    /// An amount of `kopecks`.
    #[must_use]
    pub const fn new(kopecks: i64) -> Self {
        Self(kopecks)
    }

    /// The number of kopecks.
    #[must_use]
    pub const fn get(self) -> i64 {
        self.0
    }

    /// Whether the amount is above zero.
    #[must_use]
    pub const fn is_positive(self) -> bool {
        self.0 > 0
    }

    /// Whether the amount is below zero.
    #[must_use]
    pub const fn is_negative(self) -> bool {
        self.0 < 0
    }

    /// `self + other`.
    ///
    /// # Errors
    /// [`AmountOverflow`] if the sum does not fit.
    pub fn plus(self, other: Self) -> Result<Self, AmountOverflow> {
        self.0.checked_add(other.0).map(Self).ok_or(AmountOverflow)
    }

    /// `self - other`.
    ///
    /// # Errors
    /// [`AmountOverflow`] if the difference does not fit.
    pub fn minus(self, other: Self) -> Result<Self, AmountOverflow> {
        self.0.checked_sub(other.0).map(Self).ok_or(AmountOverflow)
    }

    /// `self × count`.
    ///
    /// # Errors
    /// [`AmountOverflow`] if the product does not fit.
    pub fn times(self, count: u32) -> Result<Self, AmountOverflow> {
        self.0.checked_mul(i64::from(count)).map(Self).ok_or(AmountOverflow)
    }

    /// The amount with its sign turned.
    ///
    /// # Errors
    /// [`AmountOverflow`] for the one amount whose opposite does not fit, `i64::MIN`.
    pub fn negated(self) -> Result<Self, AmountOverflow> {
        self.0.checked_neg().map(Self).ok_or(AmountOverflow)
    }

    /// The sum of `amounts`.
    ///
    /// # Errors
    /// [`AmountOverflow`] if a partial sum does not fit.
    pub fn sum(amounts: impl IntoIterator<Item = Self>) -> Result<Self, AmountOverflow> {
        amounts.into_iter().try_fold(Self::ZERO, Self::plus)
    }
}

/// Roubles and kopecks for people: `-12.05`.
impl fmt::Display for Kopecks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        let magnitude = self.0.unsigned_abs();
        write!(f, "{sign}{}.{:02}", magnitude / 100, magnitude % 100)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn shows_roubles_and_kopecks() {
        for (kopecks, text) in
            [(0, "0.00"), (5, "0.05"), (-5, "-0.05"), (123_456, "1234.56"), (-1200, "-12.00")]
        {
            assert_eq!(Kopecks::new(kopecks).to_string(), text);
        }
        assert_eq!(Kopecks::new(i64::MIN).to_string(), "-92233720368547758.08");
    }

    #[test]
    fn overflow_is_an_error() {
        let most = Kopecks::new(i64::MAX);
        assert_eq!(most.plus(Kopecks::new(1)), Err(AmountOverflow));
        assert_eq!(most.times(2), Err(AmountOverflow));
        assert_eq!(Kopecks::new(i64::MIN).minus(Kopecks::new(1)), Err(AmountOverflow));
        assert_eq!(Kopecks::new(i64::MIN).negated(), Err(AmountOverflow));
    }

    proptest! {
        #[test]
        fn agrees_with_wide_arithmetic(a: i64, b: i64, n: u32) {
            let fits = |wide: i128| i64::try_from(wide).map(Kopecks::new).map_err(|_| AmountOverflow);
            let (x, y) = (Kopecks::new(a), Kopecks::new(b));
            prop_assert_eq!(x.plus(y), fits(i128::from(a) + i128::from(b)));
            prop_assert_eq!(x.minus(y), fits(i128::from(a) - i128::from(b)));
            prop_assert_eq!(x.times(n), fits(i128::from(a) * i128::from(n)));
        }

        #[test]
        fn a_sum_does_not_depend_on_the_order(mut amounts in prop::collection::vec(-1_000_000_000_i64..1_000_000_000, 0..50)) {
            let forth = Kopecks::sum(amounts.iter().copied().map(Kopecks::new));
            amounts.reverse();
            prop_assert_eq!(forth, Kopecks::sum(amounts.into_iter().map(Kopecks::new)));
        }
    }
}
