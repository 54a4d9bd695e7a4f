//! Amounts and dates as people of the language write them.

use time::{Date, PrimitiveDateTime};

use crate::texts::Language;

const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// An amount of kopecks in roubles.
pub(crate) fn money(language: Language, kopecks: i64) -> String {
    let (blank, point) = match language {
        Language::English => (',', '.'),
        Language::Russian => ('\u{a0}', ','),
    };
    let sign = if kopecks < 0 { "−" } else { "" };
    let (roubles, rest) = ((kopecks.unsigned_abs() / 100).to_string(), kopecks.unsigned_abs() % 100);
    let mut grouped = String::new();
    for (at, digit) in roubles.chars().enumerate() {
        if at > 0 && (roubles.len() - at).is_multiple_of(3) {
            grouped.push(blank);
        }
        grouped.push(digit);
    }
    match language {
        Language::English => format!("{sign}₽{grouped}{point}{rest:02}"),
        Language::Russian => format!("{sign}{grouped}{point}{rest:02}\u{a0}₽"),
    }
}

/// An amount of kopecks in roubles, as a form takes it.
pub(crate) fn plain_roubles(kopecks: i64) -> String {
    format!("{}.{:02}", kopecks / 100, (kopecks % 100).abs())
}

/// A day.
pub(crate) fn date(language: Language, day: Date) -> String {
    let (year, month, number) = (day.year(), u8::from(day.month()), day.day());
    match language {
        Language::English => {
            let month = MONTHS.get(usize::from(month) - 1).copied().unwrap_or_default();
            format!("{number} {month} {year}")
        }
        Language::Russian => format!("{number:02}.{month:02}.{year}"),
    }
}

/// A day with the time, to the minute.
pub(crate) fn moment(language: Language, at: PrimitiveDateTime) -> String {
    format!("{}, {:02}:{:02}", date(language, at.date()), at.hour(), at.minute())
}

#[cfg(test)]
mod tests {
    use time::{Month, Time};

    use super::*;

    #[test]
    fn amounts_have_groups_of_three_and_two_decimals() {
        let both = |kopecks| [Language::English, Language::Russian].map(|of| money(of, kopecks));
        assert_eq!(both(0), ["₽0.00", "0,00\u{a0}₽"]);
        assert_eq!(both(99_999), ["₽999.99", "999,99\u{a0}₽"]);
        assert_eq!(both(-123_456_789), ["−₽1,234,567.89", "−1\u{a0}234\u{a0}567,89\u{a0}₽"]);
        assert_eq!(both(i64::MIN)[0], "−₽92,233,720,368,547,758.08");
    }

    #[test]
    fn dates_are_written_as_in_the_language() {
        let at = Date::from_calendar_date(2026, Month::March, 2).unwrap().with_time(Time::MIDNIGHT);
        assert_eq!(moment(Language::English, at), "2 Mar 2026, 00:00");
        assert_eq!(moment(Language::Russian, at), "02.03.2026, 00:00");
    }
}
