//! Time zones with a fixed offset; dates and times as `DD.MM.YYYY` and `HH:MM`.

use time::{Date, Duration, Month, OffsetDateTime, UtcOffset};

use crate::invalid::Invalid;
use crate::time_of_day::TimeOfDay;

/// The tolerated difference of two servers' clocks, or a server's and a partner's. Timestamps further in the future
/// come from a clock that was set back since.
pub const CLOCK_SKEW: Duration = Duration::minutes(5);

/// The service's own time zone: a fixed offset from UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Zone(UtcOffset);

impl Zone {
    /// The zone at `offset`.
    #[must_use]
    pub const fn new(offset: UtcOffset) -> Self {
        Self(offset)
    }

    /// The offset from UTC.
    #[must_use]
    pub const fn offset(self) -> UtcOffset {
        self.0
    }

    /// Reads `+03:00`, `-05:30` or `Z`.
    ///
    /// # Errors
    /// [`Invalid`] for anything else.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let invalid = || Invalid::new("must be an offset such as +03:00");
        if text == "Z" {
            return Ok(Self(UtcOffset::UTC));
        }
        let (sign, rest) = match (text.strip_prefix('+'), text.strip_prefix('-')) {
            (Some(rest), _) => (1, rest),
            (_, Some(rest)) => (-1, rest),
            (None, None) => return Err(invalid()),
        };
        let (hours, minutes) = rest.split_once(':').ok_or_else(invalid)?;
        let hours = i8::try_from(digits(hours, 2).ok_or_else(invalid)?).map_err(|_| invalid())?;
        let minutes = i8::try_from(digits(minutes, 2).ok_or_else(invalid)?).map_err(|_| invalid())?;
        if hours > 14 || minutes > 59 {
            return Err(invalid());
        }
        UtcOffset::from_hms(sign * hours, sign * minutes, 0).map(Self).map_err(|_| invalid())
    }

    /// The calendar day of `moment` here.
    #[must_use]
    pub fn day(self, moment: OffsetDateTime) -> Date {
        moment.to_offset(self.0).date()
    }

    /// `DD.MM.YYYY` of `moment` here.
    #[must_use]
    pub fn date_text(self, moment: OffsetDateTime) -> String {
        date_text(self.day(moment))
    }

    /// `HH:MM` of `moment` here.
    #[must_use]
    pub fn time_text(self, moment: OffsetDateTime) -> String {
        let local = moment.to_offset(self.0);
        format!("{:02}:{:02}", local.hour(), local.minute())
    }

    /// `DD.MM.YYYY HH:MM` of `moment` here.
    #[must_use]
    pub fn moment_text(self, moment: OffsetDateTime) -> String {
        format!("{} {}", self.date_text(moment), self.time_text(moment))
    }

    /// Reads `DD.MM.YYYY HH:MM` of this zone, from 1970 to 2999.
    ///
    /// # Errors
    /// [`Invalid`] for another form, a timestamp that no calendar has, or one that no database here supports.
    pub fn parse_moment(self, text: &str) -> Result<OffsetDateTime, Invalid> {
        let invalid = || Invalid::new("must be a date and time of the form DD.MM.YYYY HH:MM, 1970 to 2999");
        let (day, time) = text.split_once(' ').ok_or_else(invalid)?;
        let day = parse_date(day).map_err(|_| invalid())?;
        let time = TimeOfDay::parse(time).map_err(|_| invalid())?;
        if !(1970..=2999).contains(&day.year()) {
            return Err(invalid());
        }
        Ok(self.start_of(day) + Duration::minutes(i64::from(time.minutes())))
    }

    /// The start of `day` here.
    #[must_use]
    pub fn start_of(self, day: Date) -> OffsetDateTime {
        day.midnight().assume_offset(self.0)
    }
}

/// A month of a year, 1970 to 2999.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct CalendarMonth {
    first: Date,
}

impl CalendarMonth {
    /// Reads `YYYY-MM`.
    ///
    /// # Errors
    /// [`Invalid`] for another form, or a year out of the range.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let invalid = || Invalid::new("must be a month of the form YYYY-MM, 1970 to 2999");
        let (year, month) = text.split_once('-').ok_or_else(invalid)?;
        let year = digits(year, 4).ok_or_else(invalid)?;
        let month = digits(month, 2).and_then(|month| u8::try_from(month).ok()).ok_or_else(invalid)?;
        if !(1970..=2999).contains(&year) {
            return Err(invalid());
        }
        let year = i32::try_from(year).map_err(|_| invalid())?;
        let month = Month::try_from(month).map_err(|_| invalid())?;
        Date::from_calendar_date(year, month, 1).map(|first| Self { first }).map_err(|_| invalid())
    }

    /// Its first day.
    #[must_use]
    pub const fn first_day(self) -> Date {
        self.first
    }

    /// The first day of the month after it.
    #[must_use]
    pub fn end(self) -> Date {
        self.first + Duration::days(i64::from(self.first.month().length(self.first.year())))
    }

    /// The month before it; `None` before January 1970.
    #[must_use]
    pub fn previous(self) -> Option<Self> {
        let last = self.first.previous_day().filter(|last| last.year() >= 1970)?;
        Some(Self { first: last.replace_day(1).ok()? })
    }

    /// `YYYY-MM`.
    #[must_use]
    pub fn text(self) -> String {
        format!("{:04}-{:02}", self.first.year(), u8::from(self.first.month()))
    }
}

/// `DD.MM.YYYY` of a day.
#[must_use]
pub fn date_text(day: Date) -> String {
    format!("{:02}.{:02}.{:04}", day.day(), u8::from(day.month()), day.year())
}

/// Reads `DD.MM.YYYY`.
///
/// # Errors
/// [`Invalid`] for another form or a day that no calendar has.
pub fn parse_date(text: &str) -> Result<Date, Invalid> {
    let invalid = || Invalid::new("must be a date of the form DD.MM.YYYY");
    let mut parts = text.split('.');
    let (Some(day), Some(month), Some(year), None) = (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return Err(invalid());
    };
    let day = u8::try_from(digits(day, 2).ok_or_else(invalid)?).map_err(|_| invalid())?;
    let month = u8::try_from(digits(month, 2).ok_or_else(invalid)?).map_err(|_| invalid())?;
    let year = i32::try_from(digits(year, 4).ok_or_else(invalid)?).map_err(|_| invalid())?;
    let month = Month::try_from(month).map_err(|_| invalid())?;
    Date::from_calendar_date(year, month, day).map_err(|_| invalid())
}

/// The number that exactly `length` ASCII digits spell.
pub(crate) fn digits(text: &str, length: usize) -> Option<u32> {
    (text.len() == length && text.bytes().all(|byte| byte.is_ascii_digit()))
        .then(|| text.parse().ok())
        .flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_month_ends_where_the_next_begins() {
        for (text, end) in [("2026-01", "01.02.2026"), ("2024-02", "01.03.2024"), ("2999-12", "01.01.3000")] {
            let month = CalendarMonth::parse(text).unwrap();
            assert_eq!((month.text().as_str(), date_text(month.end()).as_str()), (text, end));
            assert_eq!(month.first_day().day(), 1);
            let next = CalendarMonth { first: month.end() };
            assert_eq!(next.previous(), Some(month));
        }
        assert_eq!(CalendarMonth::parse("1970-01").unwrap().previous(), None);
        for text in [
            "",
            "2026",
            "2026-1",
            "2026-13",
            "2026-00",
            "1969-12",
            "3000-01",
            "26-01",
            "2026-01-01",
            "+026-01",
        ] {
            assert!(CalendarMonth::parse(text).is_err(), "{text}");
        }
    }
    use proptest::prelude::*;

    #[test]
    fn reads_and_shows_zones() {
        assert_eq!(Zone::parse("+03:00").unwrap().offset(), UtcOffset::from_hms(3, 0, 0).unwrap());
        assert_eq!(Zone::parse("-05:30").unwrap().offset(), UtcOffset::from_hms(-5, -30, 0).unwrap());
        for text in ["", "3", "+3:00", "+15:00", "+03:60", "03:00", "+03:00:00", "+０3:00"] {
            assert!(Zone::parse(text).is_err(), "{text}");
        }
        for text in ["+14:00", "-14:59", "+03:59"] {
            assert!(Zone::parse(text).is_ok(), "{text}");
        }
    }

    #[test]
    fn shows_a_timestamp_in_the_zone() {
        let zone = Zone::parse("+03:00").unwrap();
        let moment = OffsetDateTime::from_unix_timestamp(1_767_225_599).unwrap(); // 31.12.2025 23:59:59 UTC
        assert_eq!(zone.moment_text(moment), "01.01.2026 02:59");
        assert_eq!(zone.start_of(zone.day(moment)).unix_timestamp(), 1_767_214_800);
    }

    #[test]
    fn parses_a_timestamp_of_the_zone() {
        let zone = Zone::parse("+03:00").unwrap();
        for text in ["01.01.2026 02:59", "29.02.2028 00:00", "01.01.1970 00:00", "31.12.2999 23:59"] {
            assert_eq!(zone.moment_text(zone.parse_moment(text).unwrap()), text);
        }
        assert_eq!(zone.parse_moment("01.01.2026 02:59").unwrap().unix_timestamp(), 1_767_225_540);
        for text in [
            "",
            "01.01.2026",
            "01.01.2026T02:59",
            "01.01.2026  02:59",
            "01.01.2026 24:00",
            "01.01.2026 2:59",
            "01.01.2026 02:59:00",
            "29.02.2026 00:00",
            "31.12.1969 23:59",
            "01.01.3000 00:00",
        ] {
            assert!(zone.parse_moment(text).is_err(), "{text}");
        }
    }

    #[test]
    fn refuses_days_that_do_not_exist() {
        for text in [
            "29.02.2025",
            "31.04.2026",
            "00.01.2026",
            "01.13.2026",
            "1.1.2026",
            "01.01.26",
            "01.01.2026.",
            "+1.01.2026",
        ] {
            assert!(parse_date(text).is_err(), "{text}");
        }
        assert!(parse_date("29.02.2028").is_ok());
    }

    proptest! {
        #[test]
        fn dates_survive_the_round_trip(julian in 1_721_426_i32..5_373_484) {
            let day = Date::from_julian_day(julian).unwrap();
            prop_assert_eq!(parse_date(&date_text(day)), Ok(day));
        }

        #[test]
        fn parsing_never_panics(text in ".*") {
            if let Ok(day) = parse_date(&text) {
                prop_assert_eq!(date_text(day), text.as_str());
            }
            let _ = Zone::parse(&text);
        }
    }
}
