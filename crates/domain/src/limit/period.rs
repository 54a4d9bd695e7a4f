//! The calendar periods over which spending is counted.

use std::ops::Range;

use time::{Date, Duration, Month, OffsetDateTime, PrimitiveDateTime};

use crate::calendar::Zone;
use crate::string_enum::serde_enum;

serde_enum! {
    /// How long the amount of a limit lasts: a period of the calendar of the service's zone.
    Period {
        /// A calendar day.
        Day = "CDAY",
        /// A week from Monday.
        Week = "CWEEK",
        /// A calendar month.
        Month = "CMONTH",
        /// A calendar quarter: it starts in January, April, July or October.
        Quarter = "CQUARTET",
    }
}

impl Period {
    /// The period that contains `at`: from its start, inclusive, to the start of the next period, exclusive.
    /// Periods leave no gap and do not overlap.
    ///
    /// The calendar ends with the year 9999: a period that would go on ends with the last timestamp of that year.
    #[must_use]
    pub fn bounds(self, zone: Zone, at: OffsetDateTime) -> Range<OffsetDateTime> {
        let first = self.first_day(zone.day(at));
        let end = self.next_first_day(first).map_or_else(
            || PrimitiveDateTime::MAX.assume_offset(zone.offset()),
            |next_first| zone.start_of(next_first),
        );
        zone.start_of(first)..end
    }

    /// The first day of the period that `day` is in.
    fn first_day(self, day: Date) -> Date {
        match self {
            Self::Day => day,
            Self::Week => {
                let gone = Duration::days(i64::from(day.weekday().number_days_from_monday()));
                day.checked_sub(gone).unwrap_or(Date::MIN)
            }
            Self::Month => first_of(day, day.month()),
            Self::Quarter => first_of(day, quarter_start(day.month())),
        }
    }

    /// The first day of the period after the one that starts on `first`, unless the calendar ends before.
    fn next_first_day(self, first: Date) -> Option<Date> {
        match self {
            Self::Day => first.next_day(),
            Self::Week => first.checked_add(Duration::WEEK),
            Self::Month => month_after(first),
            Self::Quarter => month_after(first).and_then(month_after).and_then(month_after),
        }
    }
}

/// The first of `month` in the year of `day`.
fn first_of(day: Date, month: Month) -> Date {
    // Every month has a first.
    Date::from_calendar_date(day.year(), month, 1).unwrap_or(day)
}

/// The first of the month after the one of `day`.
fn month_after(day: Date) -> Option<Date> {
    let month = day.month().next();
    let year = if month == Month::January { day.year() + 1 } else { day.year() };
    Date::from_calendar_date(year, month, 1).ok()
}

const fn quarter_start(month: Month) -> Month {
    match month {
        Month::January | Month::February | Month::March => Month::January,
        Month::April | Month::May | Month::June => Month::April,
        Month::July | Month::August | Month::September => Month::July,
        Month::October | Month::November | Month::December => Month::October,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limit::samples::{moments, zones};
    use proptest::prelude::*;
    use time::macros::datetime;

    /// A period, a timestamp, and the start and end of the period around it, all as `YYYY-MM-DD` of the zone.
    fn check(zone: Zone, period: Period, at: OffsetDateTime, start: &str, end: &str) {
        let bounds = period.bounds(zone, at);
        let text = |moment: OffsetDateTime| moment.to_offset(zone.offset()).to_string();
        let expected = |day: &str| {
            let midnight = crate::calendar::parse_date(day).unwrap();
            text(zone.start_of(midnight))
        };
        assert_eq!(text(bounds.start), expected(start), "{period} start at {at}");
        assert_eq!(text(bounds.end), expected(end), "{period} end at {at}");
    }

    #[test]
    fn periods_of_the_calendar() {
        use Period as P;

        let zone = Zone::parse("+03:00").unwrap();
        for (period, at, start, end) in [
            // An ordinary day and its last nanosecond.
            (P::Day, datetime!(2026-03-18 12:00 +3), "18.03.2026", "19.03.2026"),
            (P::Day, datetime!(2026-03-18 00:00 +3), "18.03.2026", "19.03.2026"),
            (P::Day, datetime!(2026-03-18 23:59:59.999_999_999 +3), "18.03.2026", "19.03.2026"),
            // Month ends.
            (P::Day, datetime!(2026-01-31 12:00 +3), "31.01.2026", "01.02.2026"),
            (P::Month, datetime!(2026-01-31 12:00 +3), "01.01.2026", "01.02.2026"),
            (P::Month, datetime!(2026-02-01 00:00 +3), "01.02.2026", "01.03.2026"),
            (P::Month, datetime!(2026-04-30 23:59 +3), "01.04.2026", "01.05.2026"),
            // 29 February: of a leap year, of a year that is none, of centuries that are and are not.
            (P::Day, datetime!(2028-02-28 12:00 +3), "28.02.2028", "29.02.2028"),
            (P::Day, datetime!(2028-02-29 12:00 +3), "29.02.2028", "01.03.2028"),
            (P::Day, datetime!(2026-02-28 12:00 +3), "28.02.2026", "01.03.2026"),
            (P::Month, datetime!(2028-02-29 12:00 +3), "01.02.2028", "01.03.2028"),
            (P::Day, datetime!(2100-02-28 12:00 +3), "28.02.2100", "01.03.2100"),
            (P::Day, datetime!(2000-02-28 12:00 +3), "28.02.2000", "29.02.2000"),
            (P::Week, datetime!(2028-02-29 12:00 +3), "28.02.2028", "06.03.2028"),
            // Weeks: Monday, Sunday, over the end of a month and of a year.
            (P::Week, datetime!(2026-03-16 00:00 +3), "16.03.2026", "23.03.2026"),
            (P::Week, datetime!(2026-03-22 23:59 +3), "16.03.2026", "23.03.2026"),
            (P::Week, datetime!(2026-07-01 12:00 +3), "29.06.2026", "06.07.2026"),
            (P::Week, datetime!(2026-01-01 00:00 +3), "29.12.2025", "05.01.2026"),
            // Quarters: first and last day of each.
            (P::Quarter, datetime!(2026-01-01 00:00 +3), "01.01.2026", "01.04.2026"),
            (P::Quarter, datetime!(2026-03-31 23:59 +3), "01.01.2026", "01.04.2026"),
            (P::Quarter, datetime!(2026-04-01 00:00 +3), "01.04.2026", "01.07.2026"),
            (P::Quarter, datetime!(2026-06-30 23:59 +3), "01.04.2026", "01.07.2026"),
            (P::Quarter, datetime!(2026-08-15 12:00 +3), "01.07.2026", "01.10.2026"),
            (P::Quarter, datetime!(2026-10-01 00:00 +3), "01.10.2026", "01.01.2027"),
            // The change of the year.
            (P::Day, datetime!(2025-12-31 23:59 +3), "31.12.2025", "01.01.2026"),
            (P::Month, datetime!(2025-12-31 23:59 +3), "01.12.2025", "01.01.2026"),
            (P::Quarter, datetime!(2025-12-31 23:59 +3), "01.10.2025", "01.01.2026"),
        ] {
            check(zone, period, at, start, end);
        }
    }

    #[test]
    fn the_zone_decides_which_day_it_is() {
        let (moscow, utc) = (Zone::parse("+03:00").unwrap(), Zone::parse("Z").unwrap());
        // 21:00 UTC is midnight in Moscow: the last day of the year there, the first here.
        let at = datetime!(2025-12-31 21:00 UTC);
        check(utc, Period::Day, at, "31.12.2025", "01.01.2026");
        check(moscow, Period::Day, at, "01.01.2026", "02.01.2026");
        check(utc, Period::Month, at, "01.12.2025", "01.01.2026");
        check(moscow, Period::Month, at, "01.01.2026", "01.02.2026");
        check(moscow, Period::Quarter, at, "01.01.2026", "01.04.2026");
        check(moscow, Period::Day, at - Duration::NANOSECOND, "31.12.2025", "01.01.2026");
        assert_eq!(Period::Day.bounds(moscow, at).start, at);
        // Sunday 22:00 UTC is Monday in Moscow: another week.
        let at = datetime!(2026-03-22 22:00 UTC);
        check(utc, Period::Week, at, "16.03.2026", "23.03.2026");
        check(moscow, Period::Week, at, "23.03.2026", "30.03.2026");
        // West of UTC it is still the day before.
        let west = Zone::parse("-05:30").unwrap();
        check(west, Period::Month, datetime!(2026-03-01 05:29 UTC), "01.02.2026", "01.03.2026");
        check(west, Period::Month, datetime!(2026-03-01 05:30 UTC), "01.03.2026", "01.04.2026");
    }

    #[test]
    fn the_calendar_ends_without_a_panic() {
        for &period in Period::ALL {
            for zone in ["Z", "+03:00", "-03:00"].map(|text| Zone::parse(text).unwrap()) {
                let at = datetime!(9999-12-31 12:00 UTC);
                assert!(period.bounds(zone, at).contains(&at), "{period}");
            }
        }
    }

    proptest! {
        #[test]
        fn every_moment_lies_in_exactly_one_period(zone in zones(), at in moments(), inside in 0.0_f64..1.0) {
            for &period in Period::ALL {
                let bounds = period.bounds(zone, at);
                prop_assert!(bounds.contains(&at));
                // Its neighbours begin and end where it ends and begins: no gap, no overlap.
                prop_assert_eq!(period.bounds(zone, bounds.end).start, bounds.end);
                prop_assert_eq!(period.bounds(zone, bounds.start - Duration::NANOSECOND).end, bounds.start);
                // Whatever else lies within belongs to the same one.
                prop_assert_eq!(&period.bounds(zone, bounds.start), &bounds);
                prop_assert_eq!(&period.bounds(zone, bounds.end - Duration::NANOSECOND), &bounds);
                let another = bounds.start + (bounds.end - bounds.start) * inside;
                prop_assert_eq!(&period.bounds(zone, another), &bounds);
            }
        }

        #[test]
        fn periods_have_their_length_and_start_at_midnight(zone in zones(), at in moments()) {
            for &period in Period::ALL {
                let Range { start, end } = period.bounds(zone, at);
                let days = (end - start).whole_days();
                prop_assert_eq!(end - start, Duration::days(days));
                let local = start.to_offset(zone.offset());
                prop_assert_eq!(local.time(), time::Time::MIDNIGHT);
                match period {
                    Period::Day => prop_assert_eq!(days, 1),
                    Period::Week => prop_assert_eq!((days, local.weekday()), (7, time::Weekday::Monday)),
                    Period::Month => prop_assert!((28..=31).contains(&days) && local.day() == 1),
                    Period::Quarter => {
                        prop_assert!((90..=92).contains(&days) && local.day() == 1);
                        prop_assert_eq!(u8::from(local.month()) % 3, 1);
                    }
                }
            }
        }
    }
}
