//! A cached snapshot of the database's counts, for the metrics.

use std::time::{Duration, Instant};

use kopeck_domain::Kopecks;
use kopeck_port_store::{Backlog, DeliveryBacklog, Store};
use tokio::sync::Mutex;

use super::health::ask;

/// How long a snapshot is fresh.
const TTL: Duration = Duration::from_secs(5);
/// How long a failure is cached, short so that a recovery shows soon.
const TTL_OF_FAILURE: Duration = Duration::from_millis(500);

/// Counts of the database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoreSnapshot {
    /// The workers' backlog.
    pub backlog: Backlog,
    /// How deliveries to webhooks stand.
    pub deliveries: DeliveryBacklog,
    /// The money on hold, of all partners.
    pub held: Kopecks,
}

/// The latest snapshot.
#[derive(Default)]
pub(super) struct SnapshotCache(Mutex<Option<(Instant, Option<StoreSnapshot>)>>);

impl SnapshotCache {
    /// A snapshot of `store`, at most [`TTL`] old; `None` while the database is unavailable.
    pub(super) async fn get(&self, store: &dyn Store) -> Option<StoreSnapshot> {
        // Held during the read, so that concurrent scrapes share it.
        let mut latest = self.0.lock().await;
        if let Some((at, snapshot)) = *latest
            && at.elapsed() < if snapshot.is_some() { TTL } else { TTL_OF_FAILURE }
        {
            return snapshot;
        }
        let read = |unit: &mut dyn kopeck_port_store::UnitOfWork| {
            Ok(StoreSnapshot {
                backlog: unit.jobs().backlog()?,
                deliveries: unit.webhooks().backlog()?,
                held: unit.reconciliation().held_by_all()?,
            })
        };
        let snapshot = ask(store, read).await.ok();
        *latest = Some((Instant::now(), snapshot));
        snapshot
    }
}
