//! Values for the tests of limits.

use proptest::prelude::*;
use time::{OffsetDateTime, UtcOffset};

use super::{Limit, LimitDraft, TimeOfDay, Window, WindowDraft};
use crate::calendar::Zone;

/// Any zone that a setting can name.
pub(crate) fn zones() -> impl Strategy<Value = Zone> {
    (-14_i8..=14, 0_i8..60).prop_map(|(hours, minutes)| {
        let minutes = if hours < 0 { -minutes } else { minutes };
        Zone::new(UtcOffset::from_hms(hours, minutes, 0).unwrap())
    })
}

/// Moments of the years 1 to 9998, in any offset.
pub(crate) fn moments() -> impl Strategy<Value = OffsetDateTime> {
    (-62_135_000_000_i64..253_360_000_000, 0_i64..1_000_000_000, zones()).prop_map(|(second, nano, zone)| {
        let moment = OffsetDateTime::from_unix_timestamp(second).unwrap();
        (moment + time::Duration::nanoseconds(nano)).to_offset(zone.offset())
    })
}

/// Any window.
pub(crate) fn windows() -> impl Strategy<Value = Window> {
    (0_u16..1440, 0_u16..=1440).prop_filter_map("an empty window", |(from, to)| {
        let (from, to) = (TimeOfDay::parse(&time_text(from)), TimeOfDay::parse_end(&time_text(to)));
        Window::new(from.unwrap(), to.unwrap()).ok()
    })
}

/// `HH:MM` of a minute of the day.
pub(crate) fn time_text(minute: u16) -> String {
    format!("{:02}:{:02}", minute / 60, minute % 60)
}

/// The window `HH:MM-HH:MM`.
pub(crate) fn window(text: &str) -> Window {
    let (from, to) = text.split_once('-').unwrap();
    Window::new(TimeOfDay::parse(from).unwrap(), TimeOfDay::parse_end(to).unwrap()).unwrap()
}

/// Which minutes of the day a window covers, found by walking it.
pub(crate) fn minute_table(window: Window) -> Vec<bool> {
    let (from, to) = (usize::from(window.from().minutes()), usize::from(window.to().minutes()));
    let end = if to < from { to + 1440 } else { to };
    let mut table = vec![false; 1440];
    for minute in from..end {
        table[minute % 1440] = true;
    }
    table
}

/// The draft with these parts; empty lists are left out, and a window is `HH:MM-HH:MM`.
pub(crate) fn draft(allowance: Option<(i64, &str)>, days: &[i64], times: &[&str]) -> LimitDraft {
    let windows = times.iter().map(|text| Ok(window_draft(text))).collect::<Vec<_>>();
    LimitDraft {
        unlimited: None,
        amount: allowance.map(|(amount, _)| Ok(amount)),
        period: allowance.map(|(_, period)| Ok(period.to_owned())),
        days: (!days.is_empty()).then(|| Ok(days.to_vec())),
        times: (!windows.is_empty()).then_some(Ok(windows)),
    }
}

/// The limit of such a draft.
pub(crate) fn limit(allowance: Option<(i64, &str)>, days: &[i64], times: &[&str]) -> Limit {
    Limit::parse(&draft(allowance, days, times), "limit").unwrap()
}

/// The draft of the window `from-to`, whatever the two are.
pub(crate) fn window_draft(text: &str) -> WindowDraft {
    let (from, to) = text.split_once('-').unwrap();
    WindowDraft { from: Some(Ok(from.to_owned())), to: Some(Ok(to.to_owned())) }
}

/// Sound limits of every shape.
pub(crate) fn limits() -> impl Strategy<Value = Limit> {
    let allowance =
        prop::option::of((1_i64.., prop::sample::select(vec!["CDAY", "CWEEK", "CMONTH", "CQUARTET"])));
    let days = prop::collection::btree_set(1_i64..=7, 0..=7);
    (allowance, days, prop::collection::vec(windows(), 0..6)).prop_map(|(allowance, days, windows)| {
        let mut apart: Vec<Window> = Vec::new();
        for window in windows {
            if apart.iter().all(|other| !other.overlaps(window)) {
                apart.push(window);
            }
        }
        let times: Vec<String> = apart.iter().map(Window::to_string).collect();
        let times: Vec<&str> = times.iter().map(String::as_str).collect();
        let days: Vec<i64> = days.into_iter().collect();
        let draft = draft(allowance, &days, &times);
        Limit::parse(&draft, "limit").unwrap_or_default()
    })
}
