//! What the console shows operators of this process, with samples of the last hours.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use kopeck_adapter_console::{BankCallStatus, Local, ServiceStatus, StatusReport, StatusSample, WorkStatus};
use kopeck_port_store::{Access, StoreError, UnitOfWork, transact};
use kopeck_port_system::Clock;

use super::Operations;

/// The time between two samples.
const PAUSE: Duration = Duration::from_secs(60);
/// How many samples are kept: those of three hours.
const KEPT: usize = 180;

/// The state of this process, with samples.
pub struct ProcessStatus {
    operations: Operations,
    clock: Arc<dyn Clock>,
    samples: Mutex<Samples>,
}

/// The latest samples.
#[derive(Default)]
struct Samples {
    kept: VecDeque<StatusSample>,
    last: Option<Instant>,
    /// Requests to the bank at the last sample, and those of them without a response.
    calls: (u64, u64),
}

impl ProcessStatus {
    /// Without samples yet.
    #[must_use]
    pub fn new(operations: Operations, clock: Arc<dyn Clock>) -> Self {
        Self { operations, clock, samples: Mutex::default() }
    }

    /// Takes a sample if it is time for one.
    pub fn tick(&self) {
        let mut samples = self.samples.lock().unwrap_or_else(PoisonError::into_inner);
        if samples.last.is_some_and(|last| last.elapsed() < PAUSE) {
            return;
        }
        samples.last = Some(Instant::now());
        let Some(store) = self.operations.health.store() else { return };
        let read = |unit: &mut dyn UnitOfWork| -> Result<_, StoreError> { unit.jobs().backlog() };
        // A database that is away has no work to show.
        let Ok(backlog) = transact(&**store, Access::Read, read) else { return };
        let bank = self.bank();
        let lost = bank.iter().map(|call| call.unavailable + call.unknown).sum::<u64>();
        let calls = bank.iter().map(|call| call.done + call.declined).sum::<u64>() + lost;
        let before = std::mem::replace(&mut samples.calls, (calls, lost));
        if samples.kept.len() >= KEPT {
            samples.kept.pop_front();
        }
        samples.kept.push_back(StatusSample {
            at: self.clock.now(),
            due: backlog.due,
            failing: backlog.failing,
            calls: calls.saturating_sub(before.0),
            lost: lost.saturating_sub(before.1),
        });
    }

    fn bank(&self) -> Vec<BankCallStatus> {
        let calls = self.operations.metrics.bank().calls();
        let status = |(name, outcomes, mean_milliseconds): (&'static str, [u64; 4], u64)| {
            let [done, declined, unavailable, unknown] = outcomes;
            BankCallStatus { name, done, declined, unavailable, unknown, mean_milliseconds }
        };
        calls.into_iter().map(status).collect()
    }
}

impl ServiceStatus for ProcessStatus {
    fn report(&self) -> Local<'_, StatusReport> {
        Box::pin(async move {
            let Operations { metrics, health } = &self.operations;
            let readiness = health.readiness().await;
            let work = metrics.snapshot(health).await.map(|snapshot| WorkStatus {
                open: snapshot.backlog.all,
                due: snapshot.backlog.due,
                oldest_due_seconds: snapshot.backlog.oldest_due.whole_seconds().unsigned_abs(),
                failing: snapshot.backlog.failing,
                stuck: snapshot.backlog.stuck,
                held: snapshot.held.get(),
                pending_deliveries: snapshot.deliveries.pending,
                failing_webhooks: snapshot.deliveries.failing,
            });
            let liveness = health.workers().map(|workers| workers.report());
            let samples = self.samples.lock().unwrap_or_else(PoisonError::into_inner);
            StatusReport {
                parts: readiness.parts().map(|(name, state)| (name, state.err().map(str::to_owned))).to_vec(),
                warnings: readiness.warnings(),
                work,
                threads: liveness.map_or(0, |report| report.threads),
                silence_seconds: liveness.map_or(0, |report| report.longest_silence.as_secs()),
                bank: self.bank(),
                samples: samples.kept.iter().copied().collect(),
            }
        })
    }
}
