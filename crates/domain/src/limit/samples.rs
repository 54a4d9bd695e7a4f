//! Values for the tests of limits.

use proptest::prelude::*;
use time::{OffsetDateTime, UtcOffset};

use super::{
    CategoryList, CategoryRange, Days, Limit, LimitBuilder, MerchantCategories, MerchantCategory, Period,
    TimeOfDay, Window,
};
use crate::Kopecks;
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
    text.parse().unwrap()
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

/// Any code or range of codes.
pub(crate) fn category_ranges() -> impl Strategy<Value = CategoryRange> {
    let code = |code: u16| MerchantCategory::parse(&format!("{code:04}")).unwrap();
    prop_oneof![
        (0_u16..10_000).prop_map(move |one| code(one).into()),
        (0_u16..10_000, 0_u16..10_000).prop_map(move |(one, other)| {
            CategoryRange::new(code(one.min(other)), code(one.max(other))).unwrap()
        }),
    ]
}

/// Any setting of merchant categories.
pub(crate) fn categories() -> impl Strategy<Value = MerchantCategories> {
    (any::<bool>(), prop::collection::vec(category_ranges(), 1..5)).prop_map(|(only, ranges)| {
        let list = CategoryList::try_from(ranges).unwrap();
        if only { MerchantCategories::Only(list) } else { MerchantCategories::Except(list) }
    })
}

/// The limit with these parts; a window is `HH:MM-HH:MM`.
pub(crate) fn limit(allowance: Option<(i64, &str)>, days: &[i64], windows: &[&str]) -> Limit {
    let builder = Limit::on(Days::parse(days).unwrap()).within(windows.iter().copied());
    let builder = match allowance {
        Some((amount, period)) => builder.per(period.parse().unwrap(), Kopecks::new(amount)),
        None => builder,
    };
    builder.build().unwrap()
}

/// Sound limits of every shape.
pub(crate) fn any_limits() -> impl Strategy<Value = Limit> {
    (limits(), prop::option::of(categories())).prop_map(|(limit, categories)| match categories {
        Some(categories) => LimitBuilder::from(&limit).at_merchants(categories).build().unwrap(),
        None => limit,
    })
}

/// Sound limits of every shape, at any merchant.
pub(crate) fn limits() -> impl Strategy<Value = Limit> {
    let allowance = prop::option::of((1_i64.., prop::sample::select(Period::ALL)));
    let days = prop::collection::btree_set(1_i64..=7, 0..=7);
    (allowance, days, prop::collection::vec(windows(), 0..6)).prop_map(|(allowance, days, windows)| {
        let mut apart: Vec<Window> = Vec::new();
        for window in windows {
            if apart.iter().all(|other| !other.overlaps(window)) {
                apart.push(window);
            }
        }
        let days: Vec<i64> = days.into_iter().collect();
        let builder = Limit::on(Days::parse(&days).unwrap()).within(apart);
        let builder = match allowance {
            Some((amount, period)) => builder.per(period, Kopecks::new(amount)),
            None => builder,
        };
        builder.build().unwrap_or_default()
    })
}
