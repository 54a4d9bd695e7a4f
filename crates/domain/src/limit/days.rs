//! The weekdays on which a card may pay.

use time::Weekday;

use crate::invalid::Invalid;

/// The weekdays of a limit, 1 Monday to 7 Sunday. None at all means any day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Days(u8);

impl Days {
    /// Any day.
    pub const ANY: Self = Self(0);

    /// Reads the numbers of weekdays, in any order.
    ///
    /// # Errors
    /// [`Invalid`] for a number outside of 1..=7 or one that stands there twice.
    pub fn parse(numbers: &[i64]) -> Result<Self, Invalid> {
        numbers
            .iter()
            .try_fold(0_u8, |days, number| {
                let bit = bit(u8::try_from(*number).ok().filter(|number| (1..=7).contains(number))?);
                (days & bit == 0).then_some(days | bit)
            })
            .map(Self)
            .ok_or_else(|| Invalid::new("must be a list of weekdays from 1 to 7, each once at most"))
    }

    /// Whether the days leave every day open.
    #[must_use]
    pub const fn is_any(self) -> bool {
        self.0 == 0
    }

    /// Whether a payment may be made on `weekday`.
    #[must_use]
    pub const fn allow(self, weekday: Weekday) -> bool {
        self.is_any() || self.0 & bit(weekday.number_from_monday()) != 0
    }

    /// The weekdays from Monday on; none for any day.
    pub fn weekdays(self) -> impl Iterator<Item = Weekday> {
        self.numbers().map(|number| Weekday::Monday.nth_next(number - 1))
    }

    /// The numbers, ascending; none for any day.
    pub fn numbers(self) -> impl Iterator<Item = u8> {
        (1..=7).filter(move |number| self.0 & bit(*number) != 0)
    }
}

impl FromIterator<Weekday> for Days {
    fn from_iter<I: IntoIterator<Item = Weekday>>(weekdays: I) -> Self {
        Self(weekdays.into_iter().fold(0, |days, weekday| days | bit(weekday.number_from_monday())))
    }
}

impl<const N: usize> From<[Weekday; N]> for Days {
    fn from(weekdays: [Weekday; N]) -> Self {
        weekdays.into_iter().collect()
    }
}

/// The bit of a weekday, 1..=7.
const fn bit(number: u8) -> u8 {
    1 << (number - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn reads_distinct_weekdays() {
        let weekend = Days::parse(&[7, 6]).unwrap();
        assert_eq!(weekend.numbers().collect::<Vec<_>>(), [6, 7]);
        assert!(weekend.allow(Weekday::Saturday) && weekend.allow(Weekday::Sunday));
        assert!(!weekend.allow(Weekday::Monday) && !weekend.allow(Weekday::Friday));
        for faulty in [&[0][..], &[8], &[-1], &[1, 1], &[1, 2, 1], &[257], &[i64::MIN], &[i64::MAX]] {
            assert!(Days::parse(faulty).is_err(), "{faulty:?}");
        }
    }

    #[test]
    fn weekdays_are_their_numbers() {
        let days = Days::from([Weekday::Sunday, Weekday::Tuesday, Weekday::Sunday]);
        assert_eq!(Days::parse(&[2, 7]), Ok(days));
        assert_eq!(days.weekdays().collect::<Vec<_>>(), [Weekday::Tuesday, Weekday::Sunday]);
    }

    #[test]
    fn no_days_are_any_day() {
        assert_eq!(Days::parse(&[]), Ok(Days::ANY));
        let mut weekday = Weekday::Monday;
        for _ in 0..7 {
            assert!(Days::ANY.allow(weekday));
            weekday = weekday.next();
        }
        assert_eq!(Days::ANY.numbers().count(), 0);
        assert!(!Days::parse(&[1, 2, 3, 4, 5, 6, 7]).unwrap().is_any());
    }

    proptest! {
        #[test]
        fn a_list_is_read_if_it_is_distinct_and_in_range(numbers in prop::collection::vec(0_i64..9, 0..9)) {
            let mut sorted = numbers.clone();
            sorted.sort_unstable();
            sorted.dedup();
            let sound = sorted.len() == numbers.len() && numbers.iter().all(|number| (1..=7).contains(number));
            match Days::parse(&numbers) {
                Ok(days) => {
                    prop_assert!(sound);
                    prop_assert_eq!(days.numbers().map(i64::from).collect::<Vec<_>>(), sorted);
                }
                Err(_) => prop_assert!(!sound),
            }
        }
    }
}
