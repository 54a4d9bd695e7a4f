//! The days of a list: `from` and `to`.

use kopeck_domain::calendar::{Zone, parse_date};
use time::{Date, OffsetDateTime};

use super::field_types::text;
use super::reader::Reader;

/// From the start of a day until before the end of a day; `None` for no bound.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Period {
    /// The start, inclusive.
    pub(crate) from: Option<OffsetDateTime>,
    /// Before this moment.
    pub(crate) before: Option<OffsetDateTime>,
}

/// The parameters `from` and `to`, days in `zone`. A `from` later than `to` is a fault of `to`.
pub(crate) fn read(r: &mut Reader<'_>, zone: Zone) -> Period {
    let from = r.param("from", text(parse_date).about("Only from this day on."));
    let to = r.param("to", text(parse_date).about("Only up to this day, which is included."));
    if let (Some(from), Some(to)) = (from, to)
        && from > to
    {
        r.fault("to", "must not be earlier than from");
    }
    Period {
        from: from.map(|day| zone.start_of(clamped(day))),
        before: to.map(|day| end_of(clamped(day), zone)),
    }
}

/// Clamps a day to the range of all databases; nothing that is listed lies outside of it.
fn clamped(day: Date) -> Date {
    let first = OffsetDateTime::UNIX_EPOCH.date();
    let last = first.replace_year(2999).unwrap_or(first);
    day.clamp(first, last)
}

/// The start of the day after `day`.
fn end_of(day: Date, zone: Zone) -> OffsetDateTime {
    zone.start_of(day.next_day().unwrap_or(day))
}
