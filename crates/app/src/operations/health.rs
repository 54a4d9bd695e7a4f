//! Readiness of the process.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use kopeck_adapter_store_diesel::{DiskSpace, OpenStore};
use kopeck_adapter_workers::LivenessRegistry;
use kopeck_port_bank::{BankGateway, Capabilities, Capability};
use kopeck_port_store::{Access, Store, StoreError, UnitOfWork, submit};
use serde_json::{Value, json};
use tokio::sync::oneshot;

/// The timeout of the database health check.
const HEALTH_CHECK_TIMEOUT: Duration = Duration::from_secs(1);

/// The parts of a process, set one after the other as it starts.
#[derive(Default)]
pub struct Health {
    store: OnceLock<Arc<dyn OpenStore>>,
    workers: OnceLock<Arc<LivenessRegistry>>,
    stopping: AtomicBool,
    sandbox: AtomicBool,
    bank: OnceLock<Arc<dyn BankGateway>>,
}

/// The state of each part; an unready one has a reason.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Readiness {
    process: Result<(), &'static str>,
    database: Result<(), &'static str>,
    migrations: Result<(), &'static str>,
    workers: Result<(), &'static str>,
    sandbox: bool,
    bank: Option<Capabilities>,
    /// The space of an embedded database, if it is low.
    low_space: Option<DiskSpace>,
}

impl Health {
    /// The store is open, so its migrations are applied.
    pub fn store_is_open(&self, store: &Arc<dyn OpenStore>) {
        // Set once, at the start.
        let _ = self.store.set(Arc::clone(store));
    }

    /// The workers have started. A process without workers passes an empty [`LivenessRegistry`].
    pub fn workers_are_started(&self, liveness: Arc<LivenessRegistry>) {
        let _ = self.workers.set(liveness);
    }

    /// The process has received a stop signal. It finishes its requests and accepts no more.
    pub fn is_stopping(&self) {
        self.stopping.store(true, Ordering::Release);
    }

    /// The sandbox is on in this process.
    pub fn sandbox_is_on(&self) {
        self.sandbox.store(true, Ordering::Release);
    }

    /// The way to the bank is set up, whether or not the bank responds.
    pub fn bank_is_set(&self, bank: &Arc<dyn BankGateway>) {
        // Set once, at the start.
        let _ = self.bank.set(Arc::clone(bank));
    }

    pub(super) fn is_sandbox(&self) -> bool {
        self.sandbox.load(Ordering::Acquire)
    }

    pub(super) fn store(&self) -> Option<&Arc<dyn OpenStore>> {
        self.store.get()
    }

    pub(super) fn workers(&self) -> Option<&Arc<LivenessRegistry>> {
        self.workers.get()
    }

    /// The present state.
    pub(super) async fn readiness(&self) -> Readiness {
        let stopping = self.stopping.load(Ordering::Acquire);
        let opened = self.store.get().ok_or("not open yet");
        let database = match opened.map(|store| (store, store.outage())) {
            Ok((_, Some(outage))) => Err(outage.reason()),
            Ok((store, None)) => {
                ask(&**store, |unit| unit.jobs().is_any_due()).await.map(drop).map_err(|_| "does not answer")
            }
            Err(reason) => Err(reason),
        };
        let workers = match self.workers.get().map(|liveness| liveness.report()) {
            None => Err("not started yet"),
            Some(report) if report.is_healthy() => Ok(()),
            Some(report) if report.ended > 0 => Err("a thread has ended"),
            Some(_) => Err("a thread gives no sign of life"),
        };
        Readiness {
            process: if stopping { Err("stopping") } else { Ok(()) },
            database,
            migrations: opened.map(drop).map_err(|_| "not applied yet"),
            workers,
            sandbox: self.is_sandbox(),
            bank: self.bank.get().map(|bank| bank.capabilities()),
            low_space: opened.ok().and_then(|store| store.disk_space()).filter(|space| space.is_low()),
        }
    }
}

impl Readiness {
    /// Whether all parts are ready.
    pub(super) fn is_ready(&self) -> bool {
        self.parts().iter().all(|(_, state)| state.is_ok())
    }

    pub(super) fn parts(&self) -> [(&'static str, Result<(), &'static str>); 4] {
        let Self { process, database, migrations, workers, sandbox: _, bank: _, low_space: _ } = *self;
        [("process", process), ("database", database), ("migrations", migrations), ("workers", workers)]
    }

    /// The response body.
    pub(super) fn to_json(&self) -> Value {
        let part = |(name, state): (&str, Result<(), &'static str>)| {
            (name.to_owned(), json!(state.err().unwrap_or("ready")))
        };
        let parts: serde_json::Map<_, _> = self.parts().map(part).into_iter().collect();
        let status = if self.is_ready() { "ready" } else { "not ready" };
        let bank = self.bank.map(|capabilities| {
            let missing: Vec<&str> = capabilities.missing().map(Capability::name).collect();
            json!({"without": missing, "largestBatch": capabilities.largest_batch()})
        });
        json!({
            "status": status,
            "sandbox": self.sandbox,
            "parts": parts,
            "bank": bank,
            "warnings": self.warnings(),
        })
    }

    /// Conditions that need attention before anything stops.
    pub(super) fn warnings(&self) -> Vec<String> {
        let low = |DiskSpace { free, needed }: DiskSpace| {
            format!("{} MiB are free for the database, {} MiB are needed", free >> 20, needed >> 20)
        };
        self.low_space.map(low).into_iter().collect()
    }
}

/// Runs a read with a short timeout.
pub(super) async fn ask<T: Send + 'static>(
    store: &dyn Store,
    question: impl FnMut(&mut dyn UnitOfWork) -> Result<T, StoreError> + Send + 'static,
) -> Result<T, StoreError> {
    let (sender, receiver) = oneshot::channel();
    submit(store, Access::Read, question, move |answer| {
        // The receiver is gone after the timeout.
        let _ = sender.send(answer);
    });
    match tokio::time::timeout(HEALTH_CHECK_TIMEOUT, receiver).await {
        Ok(Ok(answer)) => answer,
        Ok(Err(_)) => Err(StoreError::Failed("the store dropped the read".to_owned())),
        Err(_) => Err(StoreError::Unavailable("no answer in time".to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[actix_web::test]
    async fn a_process_that_starts_says_what_it_waits_for() {
        let readiness = Health::default().readiness().await;
        assert!(!readiness.is_ready());
        let expected = json!({
            "status": "not ready",
            "sandbox": false,
            "parts": {
                "process": "ready",
                "database": "not open yet",
                "migrations": "not applied yet",
                "workers": "not started yet",
            },
            "bank": null,
            "warnings": [],
        });
        assert_eq!(readiness.to_json(), expected);
    }

    #[actix_web::test]
    async fn low_space_is_a_warning() {
        let space = DiskSpace { free: 12 << 20, needed: 256 << 20 };
        let readiness = Readiness { low_space: Some(space), ..Health::default().readiness().await };
        let warning = "12 MiB are free for the database, 256 MiB are needed";
        assert_eq!(readiness.to_json()["warnings"], json!([warning]));
    }

    #[actix_web::test]
    async fn workers_that_end_and_a_process_that_stops_are_not_ready() {
        let (health, liveness) = (Health::default(), Arc::new(LivenessRegistry::default()));
        health.workers_are_started(Arc::clone(&liveness));
        let heartbeat = liveness.register();
        assert_eq!(health.readiness().await.workers, Ok(()));
        drop(heartbeat);
        assert_eq!(health.readiness().await.workers, Err("a thread has ended"));
        health.is_stopping();
        assert_eq!(health.readiness().await.process, Err("stopping"));
    }
}
