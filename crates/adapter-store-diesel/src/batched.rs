//! The batched store: units of work of many callers share transactions, on threads of the store.
//!
//! A writing thread takes the units of work that wait, runs them in one transaction, each in a savepoint where it needs one,
//! and commits once, so that one `fsync` answers for all (`group_commit`). A reading thread answers several with one
//! statement on PostgreSQL (`read_batch`). Queues are bounded (`queue`), and a supervisor answers for threads whose server
//! is silent (`supervisor`). Everything below is the plain store's: connections, transactions, repositories.

mod executor;
mod group_commit;
mod health_check;
mod in_flight;
mod read_batch;
mod supervisor;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use kopeck_port_store::{Access, Done, Store, Work};

use crate::config::StoreConfig;
use crate::connection::PoolState;
use crate::database::Database;
use crate::error::OpenError;
use crate::files::DiskSpace;
use crate::single::Task;
use crate::store::OpenStore;
use crate::transaction::batch::Mode;
use executor::Executor;
use in_flight::{Caller, QueuedTask, Ticks};
use kopeck_port_store::Outage;
use supervisor::Supervisor;

/// How a kind of database is served.
#[derive(Debug, Clone, Copy)]
struct BatchSettings {
    /// The most units of work of one commit. More would make the first of them wait for the last.
    writes: usize,
    /// The most units of work of one reading transaction.
    reads: usize,
    /// How long reads wait for the first reading thread before another takes them.
    reads_wait: Duration,
    /// How units of work run that share a transaction.
    mode: Mode,
}

/// A statement of SQLite costs no round trip, so nothing is loaded ahead.
const SQLITE: BatchSettings =
    BatchSettings { writes: 64, reads: 8, reads_wait: Duration::ZERO, mode: Mode::Savepoint };

/// Twice as many keys in one statement cost far less than two statements, so one thread reads as long as it is fast enough.
/// PostgreSQL keeps 64 savepoints of a transaction in shared memory, and is slow beyond.
const POSTGRES: BatchSettings =
    BatchSettings { writes: 64, reads: 64, reads_wait: Duration::from_millis(2), mode: Mode::Batched };

/// A store whose threads run batches: some write (one, on SQLite), some read.
///
/// It is closed by [`close`](OpenStore::close) or by dropping it.
pub struct BatchedStore {
    executor: Arc<Executor>,
    database: Arc<Database>,
    ticks: Ticks,
    supervisor: Supervisor,
}

impl BatchedStore {
    /// Opens the database and starts the threads.
    ///
    /// # Errors
    /// [`OpenError`] if the database cannot be reached or lacks migrations; [`crate::migrate()`] applies them.
    pub fn open(config: StoreConfig) -> Result<Self, OpenError> {
        let database = Database::open(&config, false)?;
        let (settings, server) =
            if config.is_server() { (POSTGRES, Some(config.url.as_str())) } else { (SQLITE, None) };
        let ticks = Ticks::default();
        let executor = Arc::new(Executor::new(Arc::clone(&database), settings, ticks.clone(), config.queue));
        let supervisor = Supervisor::start(Arc::clone(&executor), ticks.clone(), server)?;
        // From here on it is closed if something fails.
        let store = Self { executor, database, ticks, supervisor };
        for _ in 0..config.writers() {
            store.executor.add(Access::Write)?;
        }
        for _ in 0..config.readers() {
            store.executor.add(Access::Read)?;
        }
        Ok(store)
    }

    /// The number of the supervisor's ticks, by which it measures for how long the database is silent.
    #[cfg(feature = "testing")]
    pub fn ticks(&self) -> impl Fn() -> u64 + Send + Sync + 'static {
        let ticks = self.ticks.clone();
        move || ticks.now()
    }
}

impl Store for BatchedStore {
    fn submit(&self, access: Access, work: Work, done: Done) {
        if self.supervisor.is_away() {
            done(Err(supervisor::silent()));
            return;
        }
        let task = QueuedTask { task: Task::Work(work), caller: Caller::new(done), since: self.ticks.now() };
        if let Err((task, error)) = self.executor.queue(access).push(task) {
            task.caller.answer(Err(error));
        }
    }
}

impl OpenStore for BatchedStore {
    fn waiting(&self, access: Access) -> usize {
        self.executor.queue(access).len()
    }

    fn connections(&self, access: Access) -> PoolState {
        self.database.connections(access)
    }

    fn outage(&self) -> Option<Outage> {
        self.database.condition.outage()
    }

    fn disk_space(&self) -> Option<DiskSpace> {
        self.database.condition.space()
    }

    /// A thread whose server is silent is not waited for.
    fn close(&self) {
        self.executor.close();
        // The last owner may be a `done` that the supervisor calls; without it no thread that hangs is given up.
        if !self.supervisor.is_this_thread() {
            self.executor.join();
        }
        self.supervisor.stop();
    }
}

impl Drop for BatchedStore {
    fn drop(&mut self) {
        self.close();
    }
}
