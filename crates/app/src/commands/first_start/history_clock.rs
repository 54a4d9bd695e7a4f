//! A clock that goes through the past of the demo partner, before the service begins.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use kopeck_port_system::Clock;
use time::{Duration, OffsetDateTime};

/// A clock that stands still until it is set ahead. It never passes the clock of the service.
pub(super) struct HistoryClock {
    present: Arc<dyn Clock>,
    unix_micros: AtomicI64,
}

impl HistoryClock {
    /// A clock that shows `start`, or the present if that is earlier.
    pub(super) fn new(present: Arc<dyn Clock>, start: OffsetDateTime) -> Self {
        let clock = Self { present, unix_micros: AtomicI64::new(0) };
        clock.advance_to(start);
        clock
    }

    /// Shows `moment`, unless it shows a later one already.
    pub(super) fn advance_to(&self, moment: OffsetDateTime) {
        let micros = |at: OffsetDateTime| i64::try_from(at.unix_timestamp_nanos() / 1_000).unwrap_or(0);
        let bound = micros(moment).min(micros(self.present.now()));
        self.unix_micros.fetch_max(bound, Ordering::SeqCst);
    }

    /// Shows the present.
    pub(super) fn advance_to_present(&self) {
        self.advance_to(self.present.now());
    }

    /// Lets time pass.
    pub(super) fn advance(&self, by: Duration) {
        self.advance_to(self.now() + by);
    }
}

impl Clock for HistoryClock {
    fn now(&self) -> OffsetDateTime {
        OffsetDateTime::UNIX_EPOCH + Duration::microseconds(self.unix_micros.load(Ordering::SeqCst))
    }

    fn steady(&self) -> Duration {
        self.now() - OffsetDateTime::UNIX_EPOCH
    }

    fn ahead(&self) -> Duration {
        self.now() - (self.present.now() - self.present.ahead())
    }
}

#[cfg(test)]
mod tests {
    use kopeck_port_system::fake::FakeClock;
    use time::macros::datetime;

    use super::*;

    #[test]
    fn it_goes_ahead_alone_and_never_past_the_present() {
        let present = datetime!(2026-11-27 09:00 UTC);
        let clock =
            HistoryClock::new(Arc::new(FakeClock::starting_at(present)), present - Duration::days(90));
        assert_eq!(clock.ahead(), Duration::days(-90));
        clock.advance(Duration::DAY);
        clock.advance_to(present - Duration::days(95));
        assert_eq!(clock.now(), present - Duration::days(89));
        clock.advance_to(present + Duration::DAY);
        assert_eq!((clock.now(), clock.ahead()), (present, Duration::ZERO));
    }
}
