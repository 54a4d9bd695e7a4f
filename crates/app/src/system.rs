//! The machine behind the ports of time, identifiers and randomness.

use std::sync::atomic::{AtomicI64, Ordering};

use kopeck_port_system::{Clock, Entropy, IdSource};
use rand::TryRng;
use time::{Duration, OffsetDateTime};
use uuid::Uuid;

/// The machine's clock, kept from going back when the machine sets it back.
#[derive(Debug, Default)]
pub struct SystemClock {
    latest_micros: AtomicI64,
}

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the one clock that the rest of the service asks")]
    fn now(&self) -> OffsetDateTime {
        let micros =
            i64::try_from(OffsetDateTime::now_utc().unix_timestamp_nanos() / 1_000).unwrap_or(i64::MAX);
        let before = self.latest_micros.fetch_max(micros, Ordering::Relaxed);
        OffsetDateTime::UNIX_EPOCH + Duration::microseconds(micros.max(before))
    }
}

/// Version 7 uuids: they ascend with time, so that new rows stand side by side in every index.
#[derive(Debug, Default)]
pub struct TimeOrderedIds;

impl IdSource for TimeOrderedIds {
    #[expect(clippy::disallowed_methods, reason = "this is the one source of identifiers")]
    fn next_id(&self) -> Uuid {
        Uuid::now_v7()
    }
}

/// The operating system's random bytes.
#[derive(Debug, Default)]
pub struct OsEntropy;

impl Entropy for OsEntropy {
    #[expect(
        clippy::panic,
        reason = "without random bytes no key and no salt is safe: going on would be worse"
    )]
    fn fill(&self, bytes: &mut [u8]) {
        if let Err(error) = rand::rngs::SysRng.try_fill_bytes(bytes) {
            panic!("the operating system gives no random bytes: {error}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_gives_whole_microseconds_and_never_goes_back() {
        let clock = SystemClock::default();
        let first = clock.now();
        assert_eq!(first.nanosecond() % 1_000, 0);
        assert!(clock.now() >= first);
        let later = SystemClock { latest_micros: AtomicI64::new(4_102_444_800_000_000) };
        assert_eq!(later.now().unix_timestamp(), 4_102_444_800, "a machine set back does not set us back");
    }

    #[test]
    fn random_bytes_differ() {
        let (mut a, mut b) = ([0_u8; 32], [0_u8; 32]);
        OsEntropy.fill(&mut a);
        OsEntropy.fill(&mut b);
        assert_ne!(a, b);
    }
}
