//! What the use cases ask of the machine they run on: the time, fresh identifiers, random bytes.
//!
//! Nothing else in Kopeck reads a clock or draws a random number; `clippy.toml` forbids the usual ways to.
//! Tests take those behind the feature `fake`: a clock that moves only when told to, and ids that a seed decides.

#[cfg(feature = "fake")]
pub mod fake;

use time::{Duration, OffsetDateTime};
use uuid::Uuid;

/// The service's one clock: tokens, cards, periods and the daily refresh all read it.
///
/// [`Self::now`] is the time of day. Whoever administers the machine may set it, in either direction. A timer that lives
/// within one process goes by [`Self::steady`], which nobody sets.
pub trait Clock: Send + Sync {
    /// The present moment in UTC, cut to whole microseconds, because that is what PostgreSQL keeps.
    fn now(&self) -> OffsetDateTime;

    /// The time since some moment in the past. It never goes back, and setting the clock does not change it.
    fn steady(&self) -> Duration;

    /// Names what [`Self::steady`] counts from. Values of two clocks compare only if their epochs are equal.
    fn epoch(&self) -> u64 {
        0
    }

    /// [`Self::now`], unless the clock was set ahead lately: then what it would show otherwise. Never later than `now`.
    /// Whatever must not be forgotten too early goes by it, such as the answers to idempotency keys.
    fn settled(&self) -> OffsetDateTime {
        self.now()
    }

    /// How far it was moved ahead of the real time, for what goes by another machine's clock: a database server knows
    /// nothing of a sandbox that moved ours.
    fn ahead(&self) -> Duration {
        Duration::ZERO
    }
}

/// Fresh identifiers for new employees, cards, orders and the like.
pub trait IdSource: Send + Sync {
    /// A new identifier that was never given out before. Ids ascend roughly with time, which keeps the
    /// indexes that start with them compact.
    fn next_id(&self) -> Uuid;
}

/// Random bytes fit for keys, salts and passwords.
pub trait Entropy: Send + Sync {
    /// Fills `bytes` with unpredictable ones.
    fn fill(&self, bytes: &mut [u8]);
}
