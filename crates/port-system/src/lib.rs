//! What the use cases ask of the machine they run on: the time, fresh identifiers, random bytes.
//!
//! Nothing else in Kopeck reads a clock or draws a random number; `clippy.toml` forbids the usual ways to.
//! Tests take those behind the feature `fake`: a clock that moves only when told to, and ids that a seed decides.

#[cfg(feature = "fake")]
pub mod fake;

use time::{Duration, OffsetDateTime};
use uuid::Uuid;

/// The service's one clock: tokens, cards, periods, leases and the daily refresh all read it.
pub trait Clock: Send + Sync {
    /// The present moment in UTC, cut to whole microseconds, because that is what PostgreSQL keeps.
    fn now(&self) -> OffsetDateTime;

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
