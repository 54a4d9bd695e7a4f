//! Windows between two times of the day.

use std::fmt;

use time::Weekday;

use crate::invalid::{Invalid, from_text};
use crate::time_of_day::TimeOfDay;

/// A part of the day, the same every day: `from` inclusive, `to` exclusive.
///
/// A window whose `from` is later than its `to` runs over midnight; it counts for the day on which it starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Window {
    from: TimeOfDay,
    to: TimeOfDay,
}

impl Window {
    /// The window between two times.
    ///
    /// # Errors
    /// [`Invalid`] if the times are the same or the window would start at 24:00.
    pub fn new(from: TimeOfDay, to: TimeOfDay) -> Result<Self, Invalid> {
        if from == to {
            return Err(Invalid::new("must differ from the start of the window"));
        }
        if from == TimeOfDay::END {
            return Err(Invalid::new("must belong to a window that starts before 24:00"));
        }
        Ok(Self { from, to })
    }

    /// Reads `HH:MM-HH:MM`.
    ///
    /// # Errors
    /// [`Invalid`] for anything else, and as [`Self::new`] has it.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let no_window = || Invalid::new("must be a window of the form HH:MM-HH:MM");
        let (from, to) = text.split_once('-').ok_or_else(no_window)?;
        Self::new(TimeOfDay::parse(from)?, TimeOfDay::parse_end(to)?)
    }

    /// The first minute of it.
    #[must_use]
    pub const fn from(self) -> TimeOfDay {
        self.from
    }

    /// The minute after its last.
    #[must_use]
    pub const fn to(self) -> TimeOfDay {
        self.to
    }

    /// Whether it runs over midnight.
    #[must_use]
    pub fn is_over_midnight(self) -> bool {
        self.from > self.to
    }

    /// Whether `time` lies in it, on whichever day it started.
    #[must_use]
    pub fn contains(self, time: TimeOfDay) -> bool {
        if self.is_over_midnight() {
            self.from <= time || time < self.to
        } else {
            self.from <= time && time < self.to
        }
    }

    /// Whether the two windows share a minute, the day being a circle: what a window over midnight covers of the
    /// next morning it covers of every morning, whatever the days on which it may be used.
    #[must_use]
    pub fn overlaps(self, other: Self) -> bool {
        // Of two arcs of a circle that meet, one holds the start of the other.
        self.contains(other.from) || other.contains(self.from)
    }

    /// The weekday that a payment at `time` on `today` counts for: the one on which the window started. `None` if
    /// the window is not open at that time.
    #[must_use]
    pub fn weekday_of(self, time: TimeOfDay, today: Weekday) -> Option<Weekday> {
        let started_yesterday = self.is_over_midnight() && time < self.to;
        let weekday = if started_yesterday { today.previous() } else { today };
        self.contains(time).then_some(weekday)
    }
}

from_text!(to_string: Window);

/// `HH:MM-HH:MM`.
impl fmt::Display for Window {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.from, self.to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limit::samples::{minute_table, window, windows};
    use proptest::prelude::*;

    fn time_at(minute: u16) -> TimeOfDay {
        TimeOfDay::parse_end(&format!("{:02}:{:02}", minute / 60, minute % 60)).unwrap()
    }

    #[test]
    fn a_window_needs_two_times_and_starts_within_the_day() {
        assert!(Window::new(time_at(600), time_at(600)).is_err());
        assert!(Window::new(time_at(0), time_at(0)).is_err());
        assert!(Window::new(TimeOfDay::END, time_at(600)).is_err());
        assert!(Window::new(time_at(0), TimeOfDay::END).is_ok());
        assert!(Window::new(time_at(1439), time_at(0)).is_ok());
    }

    #[test]
    fn windows_that_touch_do_not_overlap() {
        for (one, other, overlap) in [
            ("09:00-12:00", "12:00-18:00", false),
            ("09:00-12:01", "12:00-18:00", true),
            ("09:00-18:00", "10:00-11:00", true),
            ("22:00-06:00", "06:00-22:00", false),
            ("22:00-06:00", "05:59-06:30", true),
            ("22:00-06:00", "21:00-22:01", true),
            ("22:00-06:00", "23:00-01:00", true),
            ("22:00-24:00", "00:00-02:00", false),
            ("22:00-00:00", "00:00-02:00", false),
            ("22:00-00:01", "00:00-02:00", true),
            ("00:00-24:00", "23:59-00:00", true),
            ("20:00-02:00", "22:00-04:00", true),
        ] {
            assert_eq!(window(one).overlaps(window(other)), overlap, "{one} and {other}");
            assert_eq!(window(other).overlaps(window(one)), overlap, "{other} and {one}");
        }
    }

    #[test]
    fn a_window_over_midnight_counts_for_the_day_it_starts_on() {
        let night = window("22:00-06:00");
        let at = |text: &str| night.weekday_of(TimeOfDay::parse(text).unwrap(), Weekday::Tuesday);
        assert_eq!(at("00:00"), Some(Weekday::Monday));
        assert_eq!(at("05:59"), Some(Weekday::Monday));
        assert_eq!(at("06:00"), None);
        assert_eq!(at("21:59"), None);
        assert_eq!(at("22:00"), Some(Weekday::Tuesday));
        assert_eq!(at("23:59"), Some(Weekday::Tuesday));
        // One that ends at midnight has nothing of the next day.
        assert_eq!(window("22:00-00:00").weekday_of(time_at(0), Weekday::Tuesday), None);
        assert_eq!(window("22:00-24:00").weekday_of(time_at(0), Weekday::Tuesday), None);
    }

    proptest! {
        #[test]
        fn a_window_holds_what_the_minute_table_holds(window in windows()) {
            let table = minute_table(window);
            for (minute, covered) in (0..).zip(table) {
                prop_assert_eq!(window.contains(time_at(minute)), covered);
                let weekday = window.weekday_of(time_at(minute), Weekday::Monday);
                let expected = if minute < window.from().minutes() { Weekday::Sunday } else { Weekday::Monday };
                prop_assert_eq!(weekday, covered.then_some(expected));
            }
        }

        #[test]
        fn windows_overlap_where_the_minute_tables_do(one in windows(), other in windows()) {
            let shared = minute_table(one).iter().zip(minute_table(other)).any(|(a, b)| *a && b);
            prop_assert_eq!(one.overlaps(other), shared);
            prop_assert_eq!(other.overlaps(one), shared);
        }
    }
}
