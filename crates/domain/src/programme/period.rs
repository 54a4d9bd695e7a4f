//! Periods of the calendar: weeks, months, quarters, years.

use std::fmt;

use time::{Date, Duration, Month, Weekday};

use crate::calendar::{CalendarMonth, digits};
use crate::invalid::{Invalid, from_text};
use crate::string_enum::serde_enum;

serde_enum! {
    /// How often a programme pays.
    Every {
        /// Each week from Monday on.
        Week = "WEEK",
        /// Each month.
        Month = "MONTH",
        /// Each quarter of the year.
        Quarter = "QUARTER",
        /// Each year.
        Year = "YEAR",
    }
}

/// A period of the calendar. Shown as `2026-W49`, `2026-12`, `2026-Q4`, `2026`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Period {
    /// Its first day.
    first: Date,
    every: Every,
}

impl Period {
    /// The period with `day` in it.
    #[must_use]
    pub fn containing(every: Every, day: Date) -> Self {
        let first_of = |month: Month| day.replace_day(1).and_then(|first| first.replace_month(month));
        let first = match every {
            Every::Week => {
                day.saturating_sub(Duration::days(i64::from(day.weekday().number_days_from_monday())))
            }
            Every::Month => day.replace_day(1).unwrap_or(day),
            Every::Quarter => first_of(first_month_of_quarter(day.month())).unwrap_or(day),
            Every::Year => first_of(Month::January).unwrap_or(day),
        };
        Self { first, every }
    }

    /// How often such a period begins.
    #[must_use]
    pub const fn every(self) -> Every {
        self.every
    }

    /// Its first day.
    #[must_use]
    pub const fn first_day(self) -> Date {
        self.first
    }

    /// Its last day.
    #[must_use]
    pub fn last_day(self) -> Date {
        let first = self.first;
        match self.every {
            Every::Week => first.saturating_add(Duration::days(6)),
            Every::Month => end_of_month(first, first.month()),
            Every::Quarter => end_of_month(first, first.month().nth_next(2)),
            Every::Year => end_of_month(first, Month::December),
        }
    }

    /// How many days it has.
    #[must_use]
    pub fn days(self) -> i64 {
        (self.last_day() - self.first).whole_days() + 1
    }

    /// The period behind it.
    #[must_use]
    pub fn next(self) -> Self {
        Self::containing(self.every, self.last_day().saturating_add(Duration::DAY))
    }
}

/// The last day of `month` in the year of `day`.
pub(super) fn end_of_month(day: Date, month: Month) -> Date {
    let year = day.year();
    Date::from_calendar_date(year, month, month.length(year)).unwrap_or(day)
}

const fn first_month_of_quarter(month: Month) -> Month {
    match month {
        Month::January | Month::February | Month::March => Month::January,
        Month::April | Month::May | Month::June => Month::April,
        Month::July | Month::August | Month::September => Month::July,
        Month::October | Month::November | Month::December => Month::October,
    }
}

impl fmt::Display for Period {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month) = (self.first.year(), u8::from(self.first.month()));
        match self.every {
            Every::Week => {
                // The year of a week is that of its Thursday.
                let (year, week, _) = self.first.to_iso_week_date();
                write!(f, "{year:04}-W{week:02}")
            }
            Every::Month => write!(f, "{year:04}-{month:02}"),
            Every::Quarter => write!(f, "{year:04}-Q{}", month.div_ceil(3)),
            Every::Year => write!(f, "{year:04}"),
        }
    }
}

impl Period {
    /// Reads a period as it is shown.
    ///
    /// # Errors
    /// [`Invalid`] for anything else, and for years before 1970 or after 2999.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let invalid =
            || Invalid::new("must be a period such as 2026-W49, 2026-12, 2026-Q4 or 2026, 1970 to 2999");
        let year = |text: &str| digits(text, 4).filter(|year| (1970..=2999).contains(year));
        let year = |text: &str| year(text).and_then(|year| i32::try_from(year).ok()).ok_or_else(invalid);
        let Some((start, part)) = text.split_once('-') else {
            let day = Date::from_calendar_date(year(text)?, Month::January, 1).map_err(|_| invalid())?;
            return Ok(Self::containing(Every::Year, day));
        };
        let number = |text: &str, length| digits(text, length).and_then(|number| u8::try_from(number).ok());
        if let Some(week) = part.strip_prefix('W') {
            let week = number(week, 2).ok_or_else(invalid)?;
            let day = Date::from_iso_week_date(year(start)?, week, Weekday::Monday).map_err(|_| invalid())?;
            return Ok(Self::containing(Every::Week, day));
        }
        if let Some(quarter) = part.strip_prefix('Q') {
            let quarter =
                number(quarter, 1).filter(|quarter| (1..=4).contains(quarter)).ok_or_else(invalid)?;
            let month = Month::try_from(quarter * 3).map_err(|_| invalid())?;
            let day = Date::from_calendar_date(year(start)?, month, 1).map_err(|_| invalid())?;
            return Ok(Self::containing(Every::Quarter, day));
        }
        let month = CalendarMonth::parse(text).map_err(|_| invalid())?;
        Ok(Self::containing(Every::Month, month.first_day()))
    }
}

from_text!(to_string: Period);
