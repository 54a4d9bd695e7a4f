//! Metrics of a store: how long work waits for the database, and how long it uses it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use kopeck_port_store::Access;

use crate::outage::Outage;

/// Receives the metrics of the store's threads. It is called on them, so it must not wait.
pub trait StoreObserver: Send + Sync {
    /// A thread begins with a unit of work that was submitted so long ago.
    fn began(&self, access: Access, waited: Duration);

    /// A thread is done with all that it had taken together, after so long.
    fn ended(&self, access: Access, used: Duration);

    /// A unit of work met an outage of the database.
    fn failed(&self, access: Access, outage: Outage);
}

/// Receives metrics and drops them.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoopObserver;

impl StoreObserver for NoopObserver {
    fn began(&self, _access: Access, _waited: Duration) {}

    fn ended(&self, _access: Access, _used: Duration) {}

    fn failed(&self, _access: Access, _outage: Outage) {}
}

/// Reports the metrics of one thread.
pub(crate) struct ThreadMetrics {
    access: Access,
    observer: Arc<dyn StoreObserver>,
}

impl ThreadMetrics {
    pub(crate) fn new(access: Access, observer: Arc<dyn StoreObserver>) -> Self {
        Self { access, observer }
    }

    /// Reports nothing.
    #[cfg(test)]
    pub(crate) fn none() -> Self {
        Self::new(Access::Read, Arc::new(NoopObserver))
    }

    /// The thread begins at `now` with units of work that were submitted at these moments.
    pub(crate) fn began(&self, now: Instant, submitted: impl Iterator<Item = Instant>) {
        submitted.for_each(|at| self.observer.began(self.access, now.saturating_duration_since(at)));
    }

    /// The thread ends what it began at this moment.
    pub(crate) fn ended(&self, began: Instant) {
        self.observer.ended(self.access, began.elapsed());
    }
}
