//! Working days: Monday to Friday, but for what the operator's calendar says.

use std::collections::BTreeMap;

use time::{Date, Weekday};

use crate::string_enum::serde_enum;

serde_enum! {
    /// What a day is in the operator's calendar.
    DayKind {
        /// Nobody works, whatever the weekday.
        Holiday = "holiday",
        /// People work, whatever the weekday.
        Working = "working",
    }
}

/// The days on which people work.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Workdays(BTreeMap<Date, DayKind>);

impl Workdays {
    /// Whether people work on `day`.
    #[must_use]
    pub fn is_working(&self, day: Date) -> bool {
        match self.0.get(&day) {
            Some(DayKind::Holiday) => false,
            Some(DayKind::Working) => true,
            None => !matches!(day.weekday(), Weekday::Saturday | Weekday::Sunday),
        }
    }

    /// What the calendar says, in the order of the days.
    pub fn iter(&self) -> impl Iterator<Item = (Date, DayKind)> {
        self.0.iter().map(|(day, kind)| (*day, *kind))
    }
}

/// Of a day that stands twice, the last counts.
impl FromIterator<(Date, DayKind)> for Workdays {
    fn from_iter<I: IntoIterator<Item = (Date, DayKind)>>(days: I) -> Self {
        Self(days.into_iter().collect())
    }
}
