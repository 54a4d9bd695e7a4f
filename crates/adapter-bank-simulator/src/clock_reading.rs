//! Timestamps and dates in the database: Unix microseconds and Julian day numbers.

use kopeck_domain::calendar::Zone;
use time::{Date, Duration, OffsetDateTime};

use crate::activation_codes::CODE_DAYS;
use crate::error::SimulatorError;

const YEARS_VALID: i32 = 3;

/// One reading of the clock, so that a transaction has one time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ClockReading {
    pub(crate) now: OffsetDateTime,
    /// The date in the bank's zone.
    pub(crate) today: Date,
}

impl ClockReading {
    pub(crate) fn new(now: OffsetDateTime, zone: Zone) -> Self {
        Self { now, today: zone.day(now) }
    }

    /// The last day of a card issued today.
    pub(crate) fn card_valid_until(self) -> Date {
        let (year, month) = (self.today.year().saturating_add(YEARS_VALID), self.today.month());
        Date::from_calendar_date(year, month, month.length(year)).unwrap_or(Date::MAX)
    }

    /// The last day of an activation code issued today.
    pub(crate) fn code_valid_until(self) -> Date {
        self.today.saturating_add(Duration::days(CODE_DAYS))
    }

    pub(crate) fn yesterday(self) -> Date {
        self.today.saturating_sub(Duration::DAY)
    }
}

/// Truncated to microseconds.
pub(crate) fn to_micros(moment: OffsetDateTime) -> i64 {
    // The last year of `time` is 9999, some 2.5e17 microseconds from 1970.
    moment.unix_timestamp() * 1_000_000 + i64::from(moment.microsecond())
}

pub(crate) fn from_micros(micros: i64) -> Result<OffsetDateTime, SimulatorError> {
    OffsetDateTime::from_unix_timestamp_nanos(i128::from(micros) * 1_000)
        .map_err(|_| SimulatorError::Corrupt("a moment out of range"))
}

pub(crate) fn to_julian(day: Date) -> i32 {
    day.to_julian_day()
}

pub(crate) fn from_julian(day: i32) -> Result<Date, SimulatorError> {
    Date::from_julian_day(day).map_err(|_| SimulatorError::Corrupt("a day out of range"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(text: &str, unix: i64) -> ClockReading {
        ClockReading::new(OffsetDateTime::from_unix_timestamp(unix).unwrap(), Zone::parse(text).unwrap())
    }

    #[test]
    fn a_card_is_valid_for_three_years_to_the_end_of_the_month() {
        // 31.12.2024 22:00 UTC is the new year's night in +03:00, but not yet in UTC.
        let unix = 1_735_682_400;
        assert_eq!(at("+03:00", unix).card_valid_until().to_string(), "2028-01-31");
        assert_eq!(at("Z", unix).card_valid_until().to_string(), "2027-12-31");
    }

    #[test]
    fn the_end_of_february_knows_leap_years() {
        // 15.02.2025 and 15.02.2026.
        assert_eq!(at("Z", 1_739_577_600).card_valid_until().to_string(), "2028-02-29");
        assert_eq!(at("Z", 1_771_113_600).card_valid_until().to_string(), "2029-02-28");
    }

    #[test]
    fn days_around_today() {
        let moment = at("Z", 1_739_577_600);
        assert_eq!(moment.code_valid_until().to_string(), "2025-05-16");
        assert_eq!(moment.yesterday().to_string(), "2025-02-14");
    }

    proptest! {
        #[test]
        fn moments_survive_the_round_trip(micros in -60_000_000_000_000_000_i64..250_000_000_000_000_000) {
            prop_assert_eq!(to_micros(from_micros(micros).unwrap()), micros);
        }
    }
}
