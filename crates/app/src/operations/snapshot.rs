//! What stands in the database, counted for whoever asks for the figures, and no more often than every few seconds.

use std::time::{Duration, Instant};

use kopeck_domain::Kopecks;
use kopeck_port_store::{Backlog, Store};
use tokio::sync::Mutex;

use super::health::ask;

/// How long what was counted is good.
const TTL: Duration = Duration::from_secs(5);
/// How long the database is not asked again that did not say. Its return is to be seen soon.
const TTL_OF_FAILURE: Duration = Duration::from_millis(500);

/// What was counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoreSnapshot {
    /// What lies before the workers.
    pub backlog: Backlog,
    /// What all partners together have on hold.
    pub held: Kopecks,
}

/// The latest count.
#[derive(Default)]
pub(super) struct SnapshotCache(Mutex<Option<(Instant, Option<StoreSnapshot>)>>);

impl SnapshotCache {
    /// What there is in `store`, at present or a few seconds ago; `None` while the database does not say.
    pub(super) async fn get(&self, store: &dyn Store) -> Option<StoreSnapshot> {
        // Held while the store is asked: who asks at the same moment gets the same answer.
        let mut latest = self.0.lock().await;
        if let Some((at, snapshot)) = *latest
            && at.elapsed() < if snapshot.is_some() { TTL } else { TTL_OF_FAILURE }
        {
            return snapshot;
        }
        let question = |unit: &mut dyn kopeck_port_store::UnitOfWork| {
            Ok(StoreSnapshot { backlog: unit.jobs().backlog()?, held: unit.reconciliation().held_by_all()? })
        };
        let snapshot = ask(store, question).await.ok();
        *latest = Some((Instant::now(), snapshot));
        snapshot
    }
}
