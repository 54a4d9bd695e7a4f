//! The machine that the measuring program runs on: its time, its random bytes.

use std::sync::{Arc, LazyLock};
use std::time::Instant;

use kopeck_port_system::{Clock, Entropy, IdSource};
use rand::TryRng as _;
use time::{Duration, OffsetDateTime};
use uuid::Uuid;

/// The machine's clock.
pub(crate) struct MachineClock;

impl Clock for MachineClock {
    #[expect(clippy::disallowed_methods, reason = "the one clock of the measuring program")]
    fn now(&self) -> OffsetDateTime {
        let now = OffsetDateTime::now_utc();
        now.replace_microsecond(now.microsecond()).unwrap_or(now)
    }

    fn steady(&self) -> Duration {
        static START: LazyLock<Instant> = LazyLock::new(Instant::now);
        START.elapsed().try_into().unwrap_or(Duration::MAX)
    }
}

/// Version 7 uuids, as in the service.
pub(crate) struct TimeOrderedIds;

impl IdSource for TimeOrderedIds {
    #[expect(clippy::disallowed_methods, reason = "the one source of identifiers of the measuring program")]
    fn next_id(&self) -> Uuid {
        Uuid::now_v7()
    }
}

/// The operating system's random bytes.
pub(crate) struct OsEntropy;

impl Entropy for OsEntropy {
    #[expect(clippy::panic, reason = "a measurement without random bytes cannot go on")]
    fn fill(&self, bytes: &mut [u8]) {
        if let Err(error) = rand::rngs::SysRng.try_fill_bytes(bytes) {
            panic!("the operating system gives no random bytes: {error}");
        }
    }
}

/// `N` random bytes.
pub(crate) fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    OsEntropy.fill(&mut bytes);
    bytes
}

/// Unix seconds, by the clock that sealed values are judged by.
pub(crate) fn unix_seconds() -> u64 {
    u64::try_from(MachineClock.now().unix_timestamp()).unwrap_or(0)
}

/// The sources of randomness as the ports want them.
pub(crate) fn entropy() -> Arc<dyn Entropy> {
    Arc::new(OsEntropy)
}
