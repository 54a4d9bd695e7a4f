//! The machine's clock, and its steps.
//!
//! The machine has two clocks: the time of day, which an administrator, NTP or a host may set, and a monotonic one. The
//! difference between the two changes only with a step. See ADR 35.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{LazyLock, Mutex, PoisonError};

use kopeck_port_system::{Clock, Entropy as _};
use rustix::time::{ClockId, clock_gettime};
use time::{Duration, OffsetDateTime};
use uuid::Uuid;

use crate::random::OsEntropy;

/// The least change that counts as a step. NTP slews smaller ones.
const LEAST_STEP_MICROS: i64 = 3_000_000;

/// The settled time follows a step ahead after this long.
const BELIEVED_AFTER_MICROS: i64 = 24 * 3_600 * 1_000_000;

/// If reading both clocks takes longer, the process was stopped in between, and the readings do not compare.
const LONGEST_READING_MICROS: i64 = 1_000_000;

/// The clocks of a machine, in microseconds.
trait ClockSource: Send + Sync {
    /// The time of day, since 1970.
    fn wall(&self) -> i64;

    /// The monotonic time.
    fn steady(&self) -> i64;
}

/// This machine's.
struct OsClocks;

impl ClockSource for OsClocks {
    #[expect(clippy::disallowed_methods, reason = "the rest of the service reads this clock")]
    fn wall(&self) -> i64 {
        i64::try_from(OffsetDateTime::now_utc().unix_timestamp_nanos() / 1_000).unwrap_or(i64::MAX)
    }

    fn steady(&self) -> i64 {
        let time = clock_gettime(ClockId::Monotonic);
        time.tv_sec.saturating_mul(1_000_000).saturating_add(time.tv_nsec / 1_000)
    }
}

/// The machine's clock.
pub struct SystemClock {
    source: Box<dyn ClockSource>,
    /// The difference between time of day and monotonic time, without recent steps ahead.
    settled: AtomicI64,
    last: Mutex<LastReading>,
}

/// The last reading, in microseconds.
struct LastReading {
    /// The difference between time of day and monotonic time at the start.
    start: i64,
    /// The present difference.
    latest: i64,
    /// The monotonic time since which it has been ahead of the settled difference.
    ahead_since: Option<i64>,
}

/// A reading of the machine's clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClockReading {
    /// The step since the last reading; negative if back.
    pub step: Option<Duration>,
    /// The sum of all steps since the start of the process.
    pub offset: Duration,
}

impl Default for SystemClock {
    fn default() -> Self {
        Self::over(Box::new(OsClocks))
    }
}

impl SystemClock {
    fn over(source: Box<dyn ClockSource>) -> Self {
        let start = source.wall().saturating_sub(source.steady());
        let last = LastReading { start, latest: start, ahead_since: None };
        Self { source, settled: AtomicI64::new(start), last: Mutex::new(last) }
    }

    /// Reads the clock and detects steps. Call it every second.
    pub fn read(&self) -> ClockReading {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let before = self.source.steady();
        let wall = self.source.wall();
        let steady = self.source.steady();
        let mut step = None;
        if steady - before <= LONGEST_READING_MICROS {
            let latest = wall.saturating_sub(steady);
            let change = latest.saturating_sub(last.latest);
            step = (change.saturating_abs() > LEAST_STEP_MICROS).then(|| Duration::microseconds(change));
            last.latest = latest;
            self.settle(&mut last, steady);
        }
        ClockReading { step, offset: Duration::microseconds(last.latest.saturating_sub(last.start)) }
    }

    /// The settled time follows a step back at once, a step ahead after a day.
    fn settle(&self, last: &mut LastReading, steady: i64) {
        let ahead = last.latest.saturating_sub(self.settled.load(Ordering::Relaxed));
        if ahead > LEAST_STEP_MICROS {
            let since = *last.ahead_since.get_or_insert(steady);
            if steady.saturating_sub(since) < BELIEVED_AFTER_MICROS {
                return;
            }
        }
        last.ahead_since = None;
        self.settled.store(last.latest, Ordering::Relaxed);
    }
}

impl Clock for SystemClock {
    fn now(&self) -> OffsetDateTime {
        moment(self.source.wall())
    }

    fn steady(&self) -> Duration {
        Duration::microseconds(self.source.steady())
    }

    fn epoch(&self) -> u64 {
        *EPOCH
    }

    fn settled(&self) -> OffsetDateTime {
        let settled = self.source.steady().saturating_add(self.settled.load(Ordering::Relaxed));
        moment(self.source.wall().min(settled))
    }
}

/// Saturates: the time of day may be nonsense, but not a year that a database cannot store.
fn moment(micros: i64) -> OffsetDateTime {
    OffsetDateTime::UNIX_EPOCH.saturating_add(Duration::microseconds(micros))
}

/// The id of this boot, so that successive processes can compare monotonic times; without one, a random id of this process.
static EPOCH: LazyLock<u64> = LazyLock::new(|| {
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok();
    if let Some(boot) = boot.and_then(|text| Uuid::parse_str(text.trim()).ok()) {
        return boot.as_u64_pair().1;
    }
    let mut bytes = [0; 8];
    OsEntropy.fill(&mut bytes);
    u64::from_le_bytes(bytes)
});

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    const SECOND: i64 = 1_000_000;
    const YEARS: Duration = Duration::days(1_100);

    /// Clocks that a test sets.
    #[derive(Default)]
    struct Clocks {
        wall: AtomicI64,
        steady: AtomicI64,
        /// How much passes with each reading of the monotonic time.
        reading: AtomicI64,
    }

    impl Clocks {
        fn pass(&self, time: Duration) {
            let micros = i64::try_from(time.whole_microseconds()).unwrap();
            self.steady.fetch_add(micros, Ordering::Relaxed);
            self.wall.fetch_add(micros, Ordering::Relaxed);
        }

        fn set(&self, by: Duration) {
            self.wall.fetch_add(i64::try_from(by.whole_microseconds()).unwrap(), Ordering::Relaxed);
        }
    }

    impl ClockSource for Arc<Clocks> {
        fn wall(&self) -> i64 {
            self.wall.load(Ordering::Relaxed)
        }

        fn steady(&self) -> i64 {
            self.steady.fetch_add(self.reading.load(Ordering::Relaxed), Ordering::Relaxed)
        }
    }

    fn clock() -> (SystemClock, Arc<Clocks>) {
        let clocks = Arc::new(Clocks::default());
        clocks.wall.store(1_800_000_000 * SECOND, Ordering::Relaxed);
        clocks.steady.store(77 * SECOND, Ordering::Relaxed);
        (SystemClock::over(Box::new(Arc::clone(&clocks))), clocks)
    }

    #[test]
    fn the_machine_gives_whole_microseconds() {
        let clock = SystemClock::default();
        assert_eq!(clock.now().nanosecond() % 1_000, 0);
        let first = clock.steady();
        assert!(clock.steady() >= first);
        assert_eq!(clock.epoch(), SystemClock::default().epoch());
    }

    #[test]
    fn the_time_of_day_follows_the_machine_back() {
        let (clock, clocks) = clock();
        let start = clock.now();
        clocks.pass(Duration::MINUTE);
        clocks.set(-Duration::HOUR);
        assert_eq!(clock.now() - start, Duration::MINUTE - Duration::HOUR);
        assert_eq!(clock.settled(), clock.now());
        assert_eq!(clock.steady(), Duration::seconds(137));
    }

    #[test]
    fn a_step_in_either_direction_is_noticed_once() {
        let (clock, clocks) = clock();
        let look = |step, offset| assert_eq!(clock.read(), ClockReading { step, offset });
        look(None, Duration::ZERO);
        clocks.pass(Duration::DAY);
        look(None, Duration::ZERO);
        clocks.set(YEARS);
        look(Some(YEARS), YEARS);
        clocks.pass(Duration::MINUTE);
        look(None, YEARS);
        clocks.set(-YEARS);
        look(Some(-YEARS), Duration::ZERO);
        clocks.set(-Duration::hours(5));
        look(Some(-Duration::hours(5)), -Duration::hours(5));
        look(None, -Duration::hours(5));
    }

    /// NTP slews a clock slowly.
    #[test]
    fn small_changes_are_no_step_and_are_followed() {
        let (clock, clocks) = clock();
        for _ in 0..100 {
            clocks.set(Duration::seconds(3));
            assert_eq!(clock.read().step, None);
        }
        assert_eq!(clock.read().offset, Duration::seconds(300));
        assert_eq!(clock.settled(), clock.now());
    }

    #[test]
    fn a_clock_that_was_set_ahead_is_believed_after_a_day() {
        let (clock, clocks) = clock();
        let start = clock.now();
        clocks.set(YEARS);
        assert_eq!(clock.settled(), start, "also before anybody looks");
        clock.read();
        clocks.pass(Duration::DAY - Duration::SECOND);
        clock.read();
        assert_eq!(clock.settled(), start + Duration::DAY - Duration::SECOND);
        clocks.pass(Duration::SECOND);
        clock.read();
        assert_eq!(clock.settled(), start + Duration::DAY + YEARS);
    }

    #[test]
    fn a_clock_that_was_set_back_is_believed_at_once() {
        let (clock, clocks) = clock();
        let start = clock.now();
        clocks.set(YEARS);
        clock.read();
        clocks.set(-YEARS);
        clock.read();
        clocks.pass(Duration::hours(23));
        clocks.set(YEARS);
        clock.read();
        clocks.pass(Duration::hours(23));
        clock.read();
        assert_eq!(clock.settled(), start + Duration::hours(46), "each glitch counts for itself");
    }

    #[test]
    fn a_process_that_was_stopped_while_it_looked_notices_nothing() {
        let (clock, clocks) = clock();
        clocks.reading.store(10 * SECOND, Ordering::Relaxed);
        assert_eq!(clock.read(), ClockReading { step: None, offset: Duration::ZERO });
    }
}
