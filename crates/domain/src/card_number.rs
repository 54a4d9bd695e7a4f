//! Numbers the bank gives to cards: EAN-13 on plastic, ten digits for virtual cards.

use std::fmt;

use crate::invalid::{Invalid, from_text};

/// The bank-side number of a card. Never starts with 0, so that its spelling as an integer and as
/// a text agree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CardNumber(u64);

const EAN_FIRST: u64 = 1_000_000_000_000;
const EAN_LAST: u64 = 9_999_999_999_999;
const VIRTUAL_FIRST: u64 = 1_000_000_000;
const VIRTUAL_LAST: u64 = 9_999_999_999;

impl CardNumber {
    /// The plastic card number whose first twelve digits are `body`; the check digit is worked out.
    ///
    /// # Errors
    /// [`Invalid`] unless `body` has exactly twelve digits and does not start with 0.
    pub fn ean13(body: u64) -> Result<Self, Invalid> {
        if !(EAN_FIRST / 10..=EAN_LAST / 10).contains(&body) {
            return Err(Invalid::new(
                "an EAN-13 has twelve digits before the check digit and does not start with 0",
            ));
        }
        Ok(Self(body * 10 + ean_check_digit(body)))
    }

    /// Reads a number: ten digits, or thirteen with a right EAN-13 check digit.
    ///
    /// # Errors
    /// [`Invalid`] with what is wrong with it.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(Invalid::new("must consist of digits"));
        }
        let number: u64 = text.parse().map_err(|_| Invalid::new("must have 13 or 10 digits"))?;
        if text.len() != number_length(number) {
            return Err(Invalid::new("must not start with 0"));
        }
        Self::from_u64(number)
    }

    /// Reads a number given as an integer.
    ///
    /// # Errors
    /// [`Invalid`] with what is wrong with it.
    pub fn from_u64(number: u64) -> Result<Self, Invalid> {
        match number {
            EAN_FIRST..=EAN_LAST if ean_check_digit(number / 10) == number % 10 => Ok(Self(number)),
            EAN_FIRST..=EAN_LAST => Err(Invalid::new("the EAN-13 check digit is wrong")),
            VIRTUAL_FIRST..=VIRTUAL_LAST => Ok(Self(number)),
            0..VIRTUAL_FIRST | 10_000_000_000..EAN_FIRST | 10_000_000_000_000.. => {
                Err(Invalid::new("must have 13 or 10 digits"))
            }
        }
    }

    /// The number as an integer.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }

    /// Whether it is the EAN-13 of a plastic card.
    #[must_use]
    pub const fn is_plastic(self) -> bool {
        self.0 >= EAN_FIRST
    }
}

from_text!(to_string: CardNumber);

impl fmt::Display for CardNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// GS1: the digits before the check digit weigh 3, 1, 3, 1, ... from the right.
fn ean_check_digit(body: u64) -> u64 {
    let mut rest = body;
    let mut weight = 3;
    let mut sum = 0;
    while rest > 0 {
        sum += rest % 10 * weight;
        weight = 4 - weight;
        rest /= 10;
    }
    (10 - sum % 10) % 10
}

fn number_length(number: u64) -> usize {
    number.checked_ilog10().map_or(1, |digits| digits as usize + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn knows_published_check_digits() {
        for ean in ["4006381333931", "5901234123457", "9780201379624"] {
            assert_eq!(CardNumber::parse(ean).unwrap().to_string(), ean);
        }
    }

    #[test]
    fn refuses_what_is_no_number() {
        for text in [
            "",
            "abc",
            "4006381333932",
            "0123456789",
            "123456789",
            "12345678901",
            "+4006381333931",
            "４006381333931",
        ] {
            assert!(CardNumber::parse(text).is_err(), "{text}");
        }
        assert!(CardNumber::parse("99999999999999999999999").is_err());
        for text in ["", "abc", "+006381333931"] {
            assert_eq!(CardNumber::parse(text).unwrap_err().detail(), "must consist of digits", "{text}");
        }
    }

    #[test]
    fn a_body_has_twelve_digits() {
        for body in [100_000_000_000, 999_999_999_999] {
            assert!(CardNumber::ean13(body).is_ok(), "{body}");
        }
        for body in [0, 99_999_999_999, 1_000_000_000_000, EAN_LAST * 10, u64::MAX] {
            assert!(CardNumber::ean13(body).is_err(), "{body}");
        }
    }

    #[test]
    fn only_thirteen_digits_are_plastic() {
        assert!(CardNumber::from_u64(4_006_381_333_931).unwrap().is_plastic());
        assert!(!CardNumber::from_u64(VIRTUAL_LAST).unwrap().is_plastic());
    }

    proptest! {
        #[test]
        fn exactly_one_check_digit_fits(body in 100_000_000_000_u64..=999_999_999_999) {
            let fitting = (0..10).filter(|digit| CardNumber::from_u64(body * 10 + digit).is_ok()).count();
            prop_assert_eq!(fitting, 1);
            let number = CardNumber::ean13(body).unwrap();
            prop_assert!(number.is_plastic());
            prop_assert_eq!(CardNumber::parse(&number.to_string()).unwrap(), number);
        }

        #[test]
        fn one_wrong_digit_is_noticed(body in 100_000_000_000_u64..=999_999_999_999, place in 0_u32..12, change in 1_u64..10) {
            let number = CardNumber::ean13(body).unwrap().get();
            let unit = 10_u64.pow(place);
            let digit = number / unit % 10;
            let altered = number - digit * unit + (digit + change) % 10 * unit;
            prop_assert!(CardNumber::from_u64(altered).is_err() );
        }

        #[test]
        fn parsing_never_panics(text in ".*") {
            if let Ok(number) = CardNumber::parse(&text) {
                prop_assert_eq!(number.to_string(), text);
            }
        }
    }
}
