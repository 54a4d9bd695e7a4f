//! Deterministic stand-ins for tests and simulations.

use std::sync::Mutex;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use time::{Duration, OffsetDateTime};
use uuid::Uuid;

use crate::{Clock, Entropy, IdSource};

/// A clock that stands still until a test moves it.
#[derive(Debug)]
pub struct FakeClock {
    unix_micros: AtomicI64,
    steady_micros: AtomicI64,
    start_micros: i64,
}

impl FakeClock {
    /// A clock that shows `start`, cut to whole microseconds.
    #[must_use]
    pub fn starting_at(start: OffsetDateTime) -> Self {
        let micros = start.unix_timestamp_nanos() / 1_000;
        let start_micros = i64::try_from(micros).unwrap_or(0);
        Self { unix_micros: AtomicI64::new(start_micros), steady_micros: AtomicI64::new(0), start_micros }
    }

    /// Shows what it showed at first.
    pub fn restart(&self) {
        self.unix_micros.store(self.start_micros, Ordering::SeqCst);
        self.steady_micros.store(0, Ordering::SeqCst);
    }

    /// Advances the time. Negative durations change nothing.
    pub fn advance(&self, by: Duration) {
        let micros = i64::try_from(by.whole_microseconds().max(0)).unwrap_or(0);
        self.unix_micros.fetch_add(micros, Ordering::SeqCst);
        self.steady_micros.fetch_add(micros, Ordering::SeqCst);
    }

    /// Sets the time of day, as an administrator does: ahead, or back by a negative duration. No time passes. A database
    /// server that shares the machine follows, since [`Clock::ahead`] does.
    pub fn step(&self, by: Duration) {
        let micros = i64::try_from(by.whole_microseconds()).unwrap_or(0);
        self.unix_micros.fetch_add(micros, Ordering::SeqCst);
    }
}

impl Clock for FakeClock {
    fn now(&self) -> OffsetDateTime {
        let micros = self.unix_micros.load(Ordering::SeqCst);
        OffsetDateTime::UNIX_EPOCH + Duration::microseconds(micros)
    }

    fn steady(&self) -> Duration {
        Duration::microseconds(self.steady_micros.load(Ordering::SeqCst))
    }

    fn settled(&self) -> OffsetDateTime {
        let unset = OffsetDateTime::UNIX_EPOCH + Duration::microseconds(self.start_micros) + self.steady();
        unset.min(self.now())
    }

    fn ahead(&self) -> Duration {
        Duration::microseconds(self.unix_micros.load(Ordering::SeqCst) - self.start_micros)
    }
}

/// Ids counted up from a seed: the same seed gives the same ids in the same order.
#[derive(Debug)]
pub struct SeededIds {
    seed: u64,
    next: AtomicU64,
}

impl SeededIds {
    /// Ids of the sequence that `seed` names.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { seed, next: AtomicU64::new(1) }
    }
}

impl IdSource for SeededIds {
    fn next_id(&self) -> Uuid {
        Uuid::from_u64_pair(self.seed, self.next.fetch_add(1, Ordering::SeqCst))
    }
}

/// Bytes of a small generator (splitmix64) started from a seed. Predictable: for tests only.
#[derive(Debug)]
pub struct SeededEntropy {
    state: Mutex<u64>,
}

impl SeededEntropy {
    /// The sequence that `seed` names.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { state: Mutex::new(seed) }
    }
}

impl Entropy for SeededEntropy {
    fn fill(&self, bytes: &mut [u8]) {
        let mut state = self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        for chunk in bytes.chunks_mut(8) {
            *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut mixed = *state;
            mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            mixed ^= mixed >> 31;
            for (byte, fresh) in chunk.iter_mut().zip(mixed.to_le_bytes()) {
                *byte = fresh;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_only_goes_forward() {
        let clock = FakeClock::starting_at(OffsetDateTime::UNIX_EPOCH);
        clock.advance(Duration::seconds(5));
        clock.advance(Duration::seconds(-9));
        assert_eq!(clock.now().unix_timestamp(), 5);
        assert_eq!((clock.ahead(), clock.steady()), (Duration::seconds(5), Duration::seconds(5)));
    }

    #[test]
    fn a_step_sets_the_time_of_day_alone() {
        let clock = FakeClock::starting_at(OffsetDateTime::UNIX_EPOCH);
        clock.advance(Duration::seconds(5));
        clock.step(Duration::seconds(60));
        assert_eq!((clock.now().unix_timestamp(), clock.settled().unix_timestamp()), (65, 5));
        clock.step(Duration::seconds(-63));
        assert_eq!((clock.now().unix_timestamp(), clock.settled().unix_timestamp()), (2, 2));
        assert_eq!(clock.steady(), Duration::seconds(5));
    }

    #[test]
    fn one_seed_is_one_sequence() {
        let (a, b) = (SeededIds::new(7), SeededIds::new(7));
        assert_eq!(a.next_id(), b.next_id());
        assert_ne!(a.next_id(), a.next_id());
        let (mut x, mut y) = ([0_u8; 20], [0_u8; 20]);
        SeededEntropy::new(1).fill(&mut x);
        SeededEntropy::new(1).fill(&mut y);
        assert_eq!(x, y);
        assert_ne!(x, [0; 20]);
    }
}
