#![doc = include_str!("../README.md")]

#[cfg(feature = "fake")]
pub mod fake;

use time::{Duration, OffsetDateTime};
use uuid::Uuid;

/// The service's one clock, for tokens, cards, periods and the daily refresh.
///
/// [`Self::now`] is the time of day, which an administrator may set in either direction. Timers within a process use
/// [`Self::steady`], the monotonic time.
pub trait Clock: Send + Sync {
    /// The present time in UTC, truncated to microseconds, which is PostgreSQL's precision.
    fn now(&self) -> OffsetDateTime;

    /// The monotonic time since some point in the past. Setting the clock does not change it.
    fn steady(&self) -> Duration;

    /// The origin of [`Self::steady`]. Values of two clocks compare only if their epochs are equal.
    fn epoch(&self) -> u64 {
        0
    }

    /// [`Self::now`] without recent steps ahead; never later than `now`. For retention, such as that of responses to
    /// idempotency keys.
    fn settled(&self) -> OffsetDateTime {
        self.now()
    }

    /// The sandbox's offset from the real time, for comparisons with another machine's clock, such as a database server's.
    fn ahead(&self) -> Duration {
        Duration::ZERO
    }
}

/// Fresh identifiers for new employees, cards, orders and the like.
pub trait IdSource: Send + Sync {
    /// A unique identifier. Identifiers ascend roughly with time, which keeps indexes compact.
    fn next_id(&self) -> Uuid;
}

/// Random bytes fit for keys, salts and passwords.
pub trait Entropy: Send + Sync {
    /// Fills `bytes` with unpredictable ones.
    fn fill(&self, bytes: &mut [u8]);
}
