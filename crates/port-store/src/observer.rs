//! Metrics of a store: how long work waits for the database, and how long it uses it.

use std::time::Duration;

use crate::outage::Outage;
use crate::store::Access;

/// Receives the metrics of the store's threads. It is called on them, so it must not wait.
pub trait StoreObserver: Send + Sync {
    /// A thread begins with a unit of work that was submitted so long ago.
    fn began(&self, _access: Access, _waited: Duration) {}

    /// A thread is done with all that it had taken together, after so long.
    fn ended(&self, _access: Access, _used: Duration) {}

    /// A unit of work met an outage of the database.
    fn failed(&self, _access: Access, _outage: Outage) {}
}

/// Receives metrics and drops them.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoopObserver;

impl StoreObserver for NoopObserver {}
