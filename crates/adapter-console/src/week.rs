//! When a card pays, as a picture of a week: a row a day, from midnight to midnight. The minutes are those of the rules of
//! limits themselves.

use kopeck_api::CardLimit;
use kopeck_domain::Invalid;
use kopeck_domain::limit::{Days, TimeOfDay, Window};
use time::Weekday;

/// The minutes of a day.
const DAY: u16 = 24 * 60;

/// The parts of each day, from Monday, in minutes from midnight.
pub(crate) struct Week(pub(crate) [Vec<(u16, u16)>; 7]);

impl Week {
    /// The week of a limit.
    ///
    /// # Errors
    /// [`Invalid`] if it is none of the service's.
    pub(crate) fn of(limit: &CardLimit) -> Result<Self, Invalid> {
        let numbers: Vec<i64> = limit.days.iter().map(|day| i64::from(day.number_from_monday())).collect();
        let days = if numbers.is_empty() { Days::default() } else { Days::parse(&numbers)? };
        let window = |each: &kopeck_api::TimeWindow| Window::parse(&format!("{}-{}", each.from, each.to));
        let windows = limit.times.iter().map(window).collect::<Result<Vec<_>, _>>()?;
        let mut week: [Vec<(u16, u16)>; 7] = Default::default();
        for (at, parts) in (0_u8..).zip(&mut week) {
            let weekday = Weekday::Monday.nth_next(at);
            for minute in 0..DAY {
                if pays(days, &windows, weekday, minute)? {
                    match parts.last_mut().filter(|(_, end)| *end == minute) {
                        Some((_, end)) => *end = minute + 1,
                        None => parts.push((minute, minute + 1)),
                    }
                }
            }
        }
        Ok(Self(week))
    }

    /// The path of what is open, in minutes across and days down.
    pub(crate) fn path(&self) -> String {
        let row = |(day, parts): (usize, &Vec<(u16, u16)>)| {
            let part = |(from, to): &(u16, u16)| {
                let wide = to - from;
                format!("M{from} {}h{wide}v80h-{wide}z", day * 100 + 10)
            };
            parts.iter().map(part).collect::<String>()
        };
        self.0.iter().enumerate().map(row).collect()
    }

    /// The parts of each day as text; empty for a day on which it does not pay.
    pub(crate) fn texts(&self) -> [String; 7] {
        let time = |minute: u16| format!("{:02}:{:02}", minute / 60, minute % 60);
        let part = |(from, to): &(u16, u16)| format!("{}–{}", time(*from), time(*to));
        self.0.each_ref().map(|parts| parts.iter().map(part).collect::<Vec<_>>().join(", "))
    }
}

fn pays(days: Days, windows: &[Window], weekday: Weekday, minute: u16) -> Result<bool, Invalid> {
    let allows = |day: Weekday| days.is_any() || days.allow(day);
    if windows.is_empty() {
        return Ok(allows(weekday));
    }
    let time = TimeOfDay::parse(&format!("{:02}:{:02}", minute / 60, minute % 60))?;
    Ok(windows.iter().filter_map(|window| window.weekday_of(time, weekday)).any(allows))
}

#[cfg(test)]
mod tests {
    use kopeck_api::TimeWindow;

    use super::*;

    #[test]
    fn a_night_shift_ends_on_the_morning_after() {
        let limit =
            CardLimit::default().on_days([Weekday::Friday]).within([TimeWindow::new("22:00", "06:30")]);
        let week = Week::of(&limit).unwrap();
        let texts = week.texts();
        assert_eq!((&*texts[4], &*texts[5], &*texts[6]), ("22:00–24:00", "00:00–06:30", ""));
        assert_eq!(week.path(), "M1320 410h120v80h-120zM0 510h390v80h-390z");
        let any = Week::of(&CardLimit::unlimited()).unwrap();
        assert_eq!(any.texts(), ["00:00–24:00"; 7].map(String::from));
        let faulty = CardLimit::default().within([TimeWindow::new("25:00", "06:30")]);
        assert!(Week::of(&faulty).is_err());
    }
}
