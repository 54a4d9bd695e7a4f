//! What stands in the database, counted for whoever asks for the figures, and no more often than every few seconds.

use std::time::{Duration, Instant};

use kopeck_domain::Kopecks;
use kopeck_port_store::{Backlog, Store};
use tokio::sync::Mutex;

use super::health::ask;

/// How long what was counted is good.
const FRESH: Duration = Duration::from_secs(5);
/// How long the database is not asked again that did not say. Its return is to be seen soon.
const SILENT: Duration = Duration::from_millis(500);

/// What was counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Glance {
    /// What lies before the workers.
    pub backlog: Backlog,
    /// What all partners together have on hold.
    pub held: Kopecks,
}

/// The latest count.
#[derive(Default)]
pub(super) struct Memory(Mutex<Option<(Instant, Option<Glance>)>>);

impl Memory {
    /// What there is in `store`, at present or a few seconds ago; `None` while the database does not say.
    pub(super) async fn glance(&self, store: &dyn Store) -> Option<Glance> {
        // Held while the store is asked: who asks at the same moment gets the same answer.
        let mut latest = self.0.lock().await;
        if let Some((at, glance)) = *latest
            && at.elapsed() < if glance.is_some() { FRESH } else { SILENT }
        {
            return glance;
        }
        let question = |unit: &mut dyn kopeck_port_store::UnitOfWork| {
            Ok(Glance { backlog: unit.jobs().backlog()?, held: unit.reconciliation().held_by_all()? })
        };
        let glance = ask(store, question).await.ok();
        *latest = Some((Instant::now(), glance));
        glance
    }
}
