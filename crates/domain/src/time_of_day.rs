//! Times of the day.

use std::fmt;

use time::OffsetDateTime;

use crate::calendar::{Zone, digits};
use crate::invalid::Invalid;

/// Minutes of a day.
const DAY: u16 = 24 * 60;

/// A time of the day to the minute, from 00:00 to 24:00, the end of the day. Shown as `HH:MM`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TimeOfDay(u16);

impl TimeOfDay {
    /// The end of the day, 24:00. Only a window ends then; no timestamp has this time of day.
    pub const END: Self = Self(DAY);

    /// Reads `HH:MM`, 00:00 to 23:59.
    ///
    /// # Errors
    /// [`Invalid`] for anything else.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        minute_of_day(text).ok_or_else(|| Invalid::new("must be a time of the form HH:MM, 00:00 to 23:59"))
    }

    /// Reads `HH:MM`, 00:00 to 24:00.
    ///
    /// # Errors
    /// [`Invalid`] for anything else.
    pub fn parse_end(text: &str) -> Result<Self, Invalid> {
        if text == "24:00" {
            return Ok(Self::END);
        }
        minute_of_day(text).ok_or_else(|| Invalid::new("must be a time of the form HH:MM, 00:00 to 24:00"))
    }

    /// The time of `moment` in `zone`; seconds are cut off.
    #[must_use]
    pub fn of(zone: Zone, moment: OffsetDateTime) -> Self {
        let local = moment.to_offset(zone.offset());
        Self(u16::from(local.hour()) * 60 + u16::from(local.minute()))
    }

    /// Minutes since the start of the day, 0..=1440.
    #[must_use]
    pub const fn minutes(self) -> u16 {
        self.0
    }
}

impl fmt::Display for TimeOfDay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:02}:{:02}", self.0 / 60, self.0 % 60)
    }
}

fn minute_of_day(text: &str) -> Option<TimeOfDay> {
    let (hours, minutes) = text.split_once(':')?;
    let hours = u16::try_from(digits(hours, 2)?).ok().filter(|hours| *hours < 24)?;
    let minutes = u16::try_from(digits(minutes, 2)?).ok().filter(|minutes| *minutes < 60)?;
    Some(TimeOfDay(hours * 60 + minutes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use time::macros::datetime;

    fn time_at(minute: u16) -> TimeOfDay {
        TimeOfDay(minute)
    }

    #[test]
    fn times_are_hours_and_minutes() {
        for (text, minutes) in [("00:00", 0), ("00:01", 1), ("09:30", 570), ("23:59", 1439)] {
            assert_eq!(TimeOfDay::parse(text).unwrap().minutes(), minutes);
            assert_eq!(TimeOfDay::parse_end(text).unwrap().minutes(), minutes);
            assert_eq!(time_at(minutes).to_string(), text);
        }
        assert!(TimeOfDay::parse("24:00").is_err());
        assert_eq!(TimeOfDay::parse_end("24:00"), Ok(TimeOfDay::END));
        assert_eq!(TimeOfDay::END.to_string(), "24:00");
        for text in [
            "",
            ":",
            "9:00",
            "09:0",
            "09:60",
            "24:01",
            "25:00",
            "0900",
            "09:00:00",
            "-1:00",
            "+9:00",
            " 09:00",
            "09-00",
            "٠٩:٠٠",
            "０９:00",
            "09:00 ",
            "99:99",
            "aa:bb",
        ] {
            assert!(TimeOfDay::parse(text).is_err(), "{text:?}");
            assert!(TimeOfDay::parse_end(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn a_moment_has_its_time_in_the_zone() {
        let at = datetime!(2026-03-16 22:59:59.999 UTC);
        for (zone, text) in [("Z", "22:59"), ("+03:00", "01:59"), ("-05:30", "17:29")] {
            assert_eq!(TimeOfDay::of(Zone::parse(zone).unwrap(), at).to_string(), text);
        }
    }

    proptest! {
        #[test]
        fn parsing_never_panics(text in ".*") {
            for parsed in [TimeOfDay::parse(&text), TimeOfDay::parse_end(&text)].into_iter().flatten() {
                prop_assert_eq!(parsed.to_string(), text.as_str());
            }
        }

        #[test]
        fn times_survive_the_round_trip(minute in 0_u16..DAY) {
            prop_assert_eq!(TimeOfDay::parse(&time_at(minute).to_string()), Ok(time_at(minute)));
        }
    }
}
