//! The environment of use cases.

use std::sync::Arc;

use crate::tokens::Lifetimes;
use kopeck_domain::calendar::{CLOCK_SKEW, Zone};
use kopeck_port_system::{Clock, Entropy, IdSource};
use time::{Date, Duration, OffsetDateTime, UtcOffset};

/// The tolerated difference of clocks. A copy further in the future comes from a clock that is ahead, or was set back since.
const SYNCHRONISED: Duration = Duration::seconds(5);

/// Clock, identifiers, randomness and settings.
#[derive(Clone)]
pub struct Env {
    /// The service's one clock.
    pub clock: Arc<dyn Clock>,
    /// Fresh identifiers.
    pub ids: Arc<dyn IdSource>,
    /// Fresh random bytes.
    pub entropy: Arc<dyn Entropy>,
    /// The settings.
    pub settings: Settings,
}

/// Settings of the rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// The time zone of days, periods and all dates in responses.
    pub zone: Zone,
    /// How long a request stays NEW, so that it can be cancelled.
    pub processing_delay: Duration,
    /// How long a copy of a card's bank data is fresh.
    pub card_cache: Duration,
    /// How long tokens live.
    pub lifetimes: Lifetimes,
    /// How long the response to an idempotency key is kept.
    pub idempotency_retention: Duration,
    /// How long events are kept.
    pub event_retention: Duration,
    /// How long the old sealing key is accepted beside the new one after a rotation.
    pub key_overlap: Duration,
}

impl Settings {
    /// The defaults.
    pub const DEFAULT: Self = Self {
        zone: Zone::new(match UtcOffset::from_hms(3, 0, 0) {
            Ok(offset) => offset,
            Err(_) => UtcOffset::UTC,
        }),
        processing_delay: Duration::seconds(3),
        card_cache: Duration::seconds(10),
        lifetimes: Lifetimes {
            access: Duration::minutes(15),
            refresh: Duration::days(30),
            session: Duration::days(90),
        },
        idempotency_retention: Duration::days(7),
        event_retention: Duration::days(30),
        key_overlap: Duration::days(14),
    };
}

impl Env {
    /// The present moment.
    #[must_use]
    pub fn now(&self) -> OffsetDateTime {
        self.clock.now()
    }

    /// The present time without recent steps ahead; see [`Clock::settled`]. For retention that safety depends on.
    #[must_use]
    pub fn settled(&self) -> OffsetDateTime {
        self.clock.settled()
    }

    /// The present day in the service's zone.
    #[must_use]
    pub fn today(&self) -> Date {
        self.settings.zone.day(self.now())
    }

    /// Whether a copy made at `moment` is stale.
    #[must_use]
    pub fn is_stale(&self, moment: OffsetDateTime) -> bool {
        !(-SYNCHRONISED..self.settings.card_cache).contains(&(self.now() - moment))
    }

    /// The time up to which copies are stale on every machine of the service.
    pub(crate) fn too_old_at(&self) -> OffsetDateTime {
        self.now() - self.settings.card_cache - CLOCK_SKEW
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    /// A copy from the future does not count: the clock that made it was set back since, or is ahead.
    #[test]
    fn a_copy_is_answered_from_as_long_as_it_is_young() {
        let bench = Bench::new();
        let seconds = Duration::seconds;
        for (age, is_stale) in
            [(0, false), (9, false), (10, true), (-5, false), (-6, true), (-99_999_999, true)]
        {
            assert_eq!(bench.is_stale(START - seconds(age)), is_stale, "{age}");
        }
        assert_eq!(bench.too_old_at(), START - seconds(310));
    }
}
