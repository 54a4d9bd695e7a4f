//! Money, as people read and write it: roubles with both digits of kopecks. In JSON it is kopecks.

use std::fmt;
use std::str::FromStr;

/// Kopecks, typed and shown as roubles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Amount(pub(crate) i64);

impl FromStr for Amount {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        parse(text).map(Self)
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&shown(self.0))
    }
}

/// `123456` kopecks as `1 234.56`.
pub(crate) fn shown(kopecks: i64) -> String {
    let sign = if kopecks < 0 { "-" } else { "" };
    let (whole, rest) = (kopecks.unsigned_abs() / 100, kopecks.unsigned_abs() % 100);
    let digits = whole.to_string();
    let mut grouped = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            grouped.push(' ');
        }
        grouped.push(digit);
    }
    format!("{sign}{grouped}.{rest:02}")
}

/// Parses roubles with both digits of kopecks, so that `150000` cannot mean kopecks. It accepts thousands separators,
/// as they are printed, and a decimal comma.
///
/// # Errors
/// The accepted form, for people.
pub fn parse(text: &str) -> Result<i64, String> {
    let wrong = || format!("invalid amount {text:?}: use roubles with two decimals, e.g. 1500.00");
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let joined: String = text.trim().chars().filter(|c| !matches!(c, ' ' | '\u{a0}' | '\u{202f}')).collect();
    if digits(&joined) {
        // Too many digits to be kopecks of any partner.
        let in_kopecks = joined.parse().map(shown).map_err(|_| wrong())?;
        return Err(format!(
            "invalid amount {text:?}: it could be meant in kopecks; write {in_kopecks} or {joined}.00"
        ));
    }
    let (roubles, kopecks) = joined.split_once(['.', ',']).ok_or_else(wrong)?;
    if !digits(roubles) || !digits(kopecks) || kopecks.len() != 2 {
        return Err(wrong());
    }
    let too_large = || format!("{text:?} is too large an amount");
    let roubles: i64 = roubles.parse().map_err(|_| too_large())?;
    let kopecks: i64 = kopecks.parse().map_err(|_| wrong())?;
    roubles.checked_mul(100).and_then(|amount| amount.checked_add(kopecks)).ok_or_else(too_large)
}

/// The service's message about an amount in kopecks, in roubles, as they are typed here.
pub(crate) fn in_roubles(reason: &str) -> String {
    let is_unit = |word: &str| matches!(word, "kopeck" | "kopecks");
    if !reason.split(' ').any(is_unit) {
        return reason.to_owned();
    }
    let reason = reason.replace("an integer of ", "").replace("an integer ", "");
    let word = |word: &str| match word.parse() {
        Ok(kopecks) => shown(kopecks),
        Err(_) if is_unit(word) => "roubles".to_owned(),
        Err(_) => word.to_owned(),
    };
    reason.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_grouped_by_thousands() {
        for (kopecks, text) in [
            (0, "0.00"),
            (5, "0.05"),
            (99_999, "999.99"),
            (123_450, "1 234.50"),
            (123_456_789, "1 234 567.89"),
            (-150, "-1.50"),
            (i64::MIN, "-92 233 720 368 547 758.08"),
        ] {
            assert_eq!(shown(kopecks), text);
        }
    }

    #[test]
    fn a_shown_amount_can_be_typed() {
        for kopecks in [0, 5, 99_999, 123_450, 123_456_789, i64::MAX] {
            assert_eq!(parse(&shown(kopecks)), Ok(kopecks));
        }
        assert_eq!(parse("1500,00"), Ok(150_000));
        assert_eq!(parse("1\u{a0}500.00"), Ok(150_000));
    }

    #[test]
    fn a_reason_has_the_unit_that_was_typed() {
        for (reason, told) in [
            ("must be from 5000 to 1500000 kopecks", "must be from 50.00 to 15 000.00 roubles"),
            ("must be an integer from 1 to 99 kopecks", "must be from 0.01 to 0.99 roubles"),
            ("must be an integer of 1 kopeck or more", "must be 0.01 roubles or more"),
            ("must be an integer from 1 to 10000", "must be an integer from 1 to 10000"),
        ] {
            assert_eq!(in_roubles(reason), told);
        }
    }

    #[test]
    fn an_amount_that_could_be_kopecks_is_refused() {
        for bad in
            ["", "150000", "1500.", "1500.0", "1500.000", ".50", "-1.00", "+1.00", "1.5e2", "x", "1.000,00"]
        {
            assert!(parse(bad).is_err(), "{bad}");
        }
        assert!(parse("92233720368547758.08").is_err(), "more than fits");
        let said = parse("150000").unwrap_err();
        assert_eq!(
            said,
            "invalid amount \"150000\": it could be meant in kopecks; write 1 500.00 or 150000.00"
        );
    }
}
