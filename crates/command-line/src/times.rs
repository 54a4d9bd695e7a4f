//! Parses dates, timestamps and durations.

use std::time::Duration;

use kopeck_client::{Date, PrimitiveDateTime, Time};
use time::Month;

/// Reads `DD.MM.YYYY`, as the service has it, or `YYYY-MM-DD`.
pub(crate) fn date(text: &str) -> Result<Date, String> {
    let wrong = || format!("{text:?} is no date of the form DD.MM.YYYY");
    let parts: Vec<&str> =
        if text.contains('-') { text.rsplit('-').collect() } else { text.split('.').collect() };
    let [day, month, year] = parts.as_slice() else { return Err(wrong()) };
    if [(day, 2), (month, 2), (year, 4)].into_iter().any(|(part, digits)| !has_digits(part, digits)) {
        return Err(wrong());
    }
    let month = month.parse().ok().and_then(|month: u8| Month::try_from(month).ok()).ok_or_else(wrong)?;
    let (day, year) = (day.parse().map_err(|_| wrong())?, year.parse().map_err(|_| wrong())?);
    Date::from_calendar_date(year, month, day).map_err(|_| wrong())
}

fn has_digits(text: &str, digits: usize) -> bool {
    text.len() == digits && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Reads `DD.MM.YYYY HH:MM`.
pub(crate) fn moment(text: &str) -> Result<PrimitiveDateTime, String> {
    let wrong = || format!("{text:?} is no moment of the form DD.MM.YYYY HH:MM");
    let (day, time) = text.trim().split_once(' ').ok_or_else(wrong)?;
    let (hour, minute) = time.split_once(':').ok_or_else(wrong)?;
    let (hour, minute) = (hour.parse().map_err(|_| wrong())?, minute.parse().map_err(|_| wrong())?);
    Ok(PrimitiveDateTime::new(date(day)?, Time::from_hms(hour, minute, 0).map_err(|_| wrong())?))
}

/// Reads `90s`, `15m`, `24h`, as the settings of the service have it.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    seconds(text, A_YEAR).map(Duration::from_secs)
}

/// Reads `0s`, `90s`, `15m`, `24h`, `90d` as seconds, `most` at most.
///
/// # Errors
/// The accepted form, for people.
pub fn seconds(text: &str, most: u64) -> Result<u64, String> {
    let wrong = || "must be a whole number with s, m, h or d, such as 90s, 15m, 24h or 90d".to_owned();
    let (number, seconds_each) = [("s", 1), ("m", 60), ("h", 3_600), ("d", 86_400)]
        .into_iter()
        .find_map(|(unit, seconds)| text.strip_suffix(unit).map(|number| (number, seconds)))
        .ok_or_else(wrong)?;
    if number.is_empty() || !number.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(wrong());
    }
    let seconds: u64 = number.parse().map_err(|_| wrong())?;
    seconds.checked_mul(seconds_each).filter(|all| *all <= most).ok_or_else(wrong)
}

/// Longer than any sensible wait; keeps arithmetic with timestamps far from its bounds.
const A_YEAR: u64 = 366 * 24 * 3_600;

#[cfg(test)]
mod tests {
    use time::macros::datetime;

    use super::*;

    #[test]
    fn dates_are_read_in_two_forms() {
        assert_eq!(date("07.02.2026"), date("2026-02-07"));
        assert_eq!(moment("07.02.2026 09:05"), Ok(datetime!(2026-02-07 09:05)));
        for bad in ["", "7.2.2026", "30.02.2026", "2026-13-01", "07.02.26", "07.02.2026.1", "+7.02.2026"] {
            assert!(date(bad).is_err(), "{bad}");
        }
        for bad in ["07.02.2026", "07.02.2026 24:00", "07.02.2026 9"] {
            assert!(moment(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn durations_are_whole_seconds_minutes_hours_or_days() {
        for (text, seconds) in [("0s", 0), ("90s", 90), ("15m", 900), ("24h", 86_400), ("2d", 172_800)] {
            assert_eq!(duration(text), Ok(Duration::from_secs(seconds)), "{text}");
        }
        for bad in ["", "s", "5", "-1s", "1.5s", "1w", "99999999999999999999s", "9000h"] {
            assert!(duration(bad).is_err(), "{bad:?}");
        }
    }
}
