//! The plain store: a pooled connection and a transaction for each unit of work.
//!
//! A unit of work of [`Store::run`] runs on the caller's thread. Those of [`Store::submit`] run on a thread for each
//! connection. A server that accepts connections and does not answer holds its threads; only the batched store detects it.

use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use kopeck_port_store::{Access, Done, Store, Work};

use crate::config::StoreConfig;
use crate::connection::PoolState;
use crate::database::Database;
use crate::error::OpenError;
use crate::files::DiskSpace;
use crate::queue::{Queue, closed};
use crate::single::{self, Task, UnitOutcome};
use crate::store::OpenStore;
use crate::transaction::DieselTransaction;
use kopeck_port_store::Outage;

/// A store without batches.
pub struct PooledStore {
    pub(crate) database: Arc<Database>,
    reads: Arc<Queue<Submitted>>,
    writes: Arc<Queue<Submitted>>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

/// A job that waits for a thread.
struct Submitted {
    task: Task,
    done: Done,
    since: Instant,
}

impl PooledStore {
    /// Opens the database.
    ///
    /// # Errors
    /// [`OpenError`] if the database cannot be reached or lacks migrations; [`crate::migrate()`] applies them.
    pub fn open(config: StoreConfig) -> Result<Self, OpenError> {
        let store = Self::over(Database::open(&config, config.is_server())?, config.queue);
        store.start(Access::Read, config.readers())?;
        store.start(Access::Write, config.writers())?;
        Ok(store)
    }

    /// Without threads: it runs units of work, and none can be submitted.
    pub(crate) fn over(database: Arc<Database>, queue: usize) -> Self {
        let queue = || Arc::new(Queue::new(queue));
        Self { database, reads: queue(), writes: queue(), threads: Mutex::default() }
    }

    fn start(&self, access: Access, threads: usize) -> Result<(), OpenError> {
        for _ in 0..threads {
            let (database, queue) = (Arc::clone(&self.database), Arc::clone(self.queue(access)));
            let serve = move || serve(&database, access, &queue);
            let thread = thread::Builder::new().name("store-plain".to_owned()).spawn(serve)?;
            self.threads.lock().unwrap_or_else(PoisonError::into_inner).push(thread);
        }
        Ok(())
    }

    fn queue(&self, access: Access) -> &Arc<Queue<Submitted>> {
        match access {
            Access::Read => &self.reads,
            Access::Write => &self.writes,
        }
    }

    fn push(&self, access: Access, task: Task, done: Done) {
        let submitted = Submitted { task, done, since: Instant::now() };
        if let Err((refused, error)) = self.queue(access).push(submitted) {
            (refused.done)(Err(error));
        }
    }
}

impl Store for PooledStore {
    fn submit(&self, access: Access, work: Work, done: Done) {
        self.push(access, Task::Work(work), done);
    }

    fn run(&self, access: Access, work: Work) -> UnitOutcome {
        if self.queue(access).is_closed() {
            return Err(closed());
        }
        run(&self.database, access, &mut Task::Work(work), Instant::now())
    }
}

impl OpenStore for PooledStore {
    fn waiting(&self, access: Access) -> usize {
        self.queue(access).len()
    }

    fn connections(&self, access: Access) -> PoolState {
        self.database.connections(access)
    }

    /// Probes the database if a write has failed and the last probe is some time ago.
    fn outage(&self) -> Option<Outage> {
        let condition = &self.database.condition;
        condition.look_after_files();
        if condition.begin_probe() {
            let condition = Arc::clone(condition);
            self.push(Access::Write, Task::Probe, Box::new(move |ended| condition.end_probe(&ended)));
        }
        condition.outage()
    }

    fn disk_space(&self) -> Option<DiskSpace> {
        self.database.condition.look_after_files();
        self.database.condition.space()
    }

    /// Ends the threads once they have done what waits.
    fn close(&self) {
        self.reads.close();
        self.writes.close();
        let threads = std::mem::take(&mut *self.threads.lock().unwrap_or_else(PoisonError::into_inner));
        let here = thread::current().id();
        // The last owner of the store may be a `done` that runs on one of its threads.
        for thread in threads.into_iter().filter(|thread| thread.thread().id() != here) {
            if thread.join().is_err() {
                log::error!("a thread of the store panicked");
            }
        }
    }
}

impl Drop for PooledStore {
    fn drop(&mut self) {
        self.close();
    }
}

/// Runs a task that was submitted at `since`.
fn run(database: &Arc<Database>, access: Access, task: &mut Task, since: Instant) -> UnitOutcome {
    let condition = &database.condition;
    let observer = condition.observer();
    condition.look_after_files();
    // Changes are refused until it is settled, and nothing else may ask for a probe.
    if condition.is_in_doubt() && condition.begin_probe() {
        let probed = DieselTransaction::new(database, Access::Write)
            .and_then(|mut transaction| single::write(&mut transaction, &mut Task::Probe, || true));
        condition.end_probe(&probed);
    }
    let mut transaction = DieselTransaction::new(database, access)?;
    let began = Instant::now();
    observer.began(access, began.saturating_duration_since(since));
    let outcome = match access {
        Access::Read => single::read(&mut transaction, task),
        Access::Write => single::write(&mut transaction, task, || true),
    };
    if access == Access::Write {
        transaction.fit_log();
    }
    observer.ended(access, began.elapsed());
    outcome
}

/// A thread.
fn serve(database: &Arc<Database>, access: Access, queue: &Queue<Submitted>) {
    while let Some(Submitted { mut task, done, since }) = queue.take(Duration::ZERO, 1).pop() {
        let outcome = run(database, access, &mut task, since);
        // The task may own what its caller drops in `done`.
        drop(task);
        single::answer(done, outcome);
    }
}
