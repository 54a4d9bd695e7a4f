//! A period that comes due: what its partner is told, and when it is tried again.

use time::{Duration, OffsetDateTime};

use super::period::Period;
use crate::calendar::Zone;
use crate::ids::ProgrammeId;
use crate::money::Kopecks;

/// The hours of a day at which a run that the balance did not cover is tried again.
const TRIES: [i64; 2] = [12, 18];
/// On so many days, the first of them the one on which it was made.
const TRY_DAYS: i64 = 3;

/// When a run is tried again that was made at `made` and that the balance did not cover; `None` after the last try.
#[must_use]
pub fn next_try(made: OffsetDateTime, now: OffsetDateTime, zone: Zone) -> Option<OffsetDateTime> {
    let first = zone.start_of(zone.day(made));
    let tries = (0..TRY_DAYS).flat_map(|day| TRIES.map(|hour| first + Duration::hours(24 * day + hour)));
    tries.into_iter().find(|at| *at > now)
}

/// A period of a programme that will be paid, for its event.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ProgrammeDue {
    /// The programme.
    pub programme: ProgrammeId,
    /// The period.
    pub period: Period,
    /// When it is paid.
    #[cfg_attr(feature = "serde", serde(with = "time::serde::rfc3339"))]
    pub at: OffsetDateTime,
    /// What the cards are to get together.
    pub needed: Kopecks,
    /// What the partner can spend.
    pub available: Kopecks,
    /// What is missing; zero if nothing is.
    pub short: Kopecks,
}
