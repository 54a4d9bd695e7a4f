//! The store: its settings, its life, its threads' queues.

use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use kopeck_port_store::{Access, Done, Store, StoreError, Work};
use kopeck_port_system::Clock;

use crate::dialect;
use crate::error::OpenError;
use crate::queue::{Queue, Refused};
use crate::threads::{self, Job};
use crate::unit::Unit;

/// How a store is to be opened.
#[derive(Clone)]
pub struct StoreConfig {
    /// The database: `sqlite://PATH`, or `postgres://…` as libpq reads it.
    pub url: String,
    /// By which work is due and leases end, where the database has no clock of its own. A database server's clock is
    /// taken to be ahead by as much as this one.
    pub clock: Arc<dyn Clock>,
    /// Threads that write, each with a connection of its own, where the database has several writers; at least one is
    /// started. Default 4. SQLite has one.
    pub writing_threads: usize,
    /// Threads that read, each with a connection of its own; at least one is started. Default 2.
    pub reading_threads: usize,
    /// Units of work that may wait, for the readers and for the writers each. Default 1024.
    pub queue: usize,
}

impl StoreConfig {
    /// The defaults for the database at `url`.
    #[must_use]
    pub fn new(url: impl Into<String>, clock: Arc<dyn Clock>) -> Self {
        Self { url: url.into(), clock, writing_threads: 4, reading_threads: 2, queue: 1024 }
    }
}

/// A database with its threads: some that write (one, on SQLite), some that read.
///
/// It is closed by [`close`](Self::close) or by dropping it.
pub struct DieselStore {
    reads: Arc<Queue<Job>>,
    writes: Arc<Queue<Job>>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

impl DieselStore {
    /// Opens the database and starts the threads.
    ///
    /// # Errors
    /// [`OpenError`] if the database cannot be reached or lacks migrations; [`crate::migrate`] applies them.
    pub fn open(config: StoreConfig) -> Result<Self, OpenError> {
        let connect = |access| Unit::connect(&config.url, access, &config.clock);
        let mut first = connect(Access::Write)?;
        let missing = dialect::missing_migrations(&mut first.connection)?;
        if !missing.is_empty() {
            return Err(OpenError::NotMigrated(missing));
        }
        let manners = dialect::manners(&config.url);
        let store = Self {
            reads: Arc::new(Queue::new(config.queue)),
            writes: Arc::new(Queue::new(config.queue)),
            threads: Mutex::new(Vec::new()),
        };
        let mut writers = vec![first];
        for _ in 1..manners.writers.unwrap_or(config.writing_threads) {
            writers.push(connect(Access::Write)?);
        }
        for writer in writers {
            let writes = Arc::clone(&store.writes);
            store.start("store-write", move || threads::write(writer, &writes, &manners))?;
        }
        for _ in 0..config.reading_threads.max(1) {
            let reader = connect(Access::Read)?;
            let reads = Arc::clone(&store.reads);
            store.start("store-read", move || threads::read(reader, &reads, &manners))?;
        }
        Ok(store)
    }

    fn start(&self, name: &str, body: impl FnOnce() + Send + 'static) -> Result<(), OpenError> {
        let handle = thread::Builder::new().name(name.to_owned()).spawn(body)?;
        self.threads.lock().unwrap_or_else(PoisonError::into_inner).push(handle);
        Ok(())
    }

    /// Takes no more work, finishes what is queued, and ends the threads. What is submitted later is answered by
    /// [`StoreError::Unavailable`].
    pub fn close(&self) {
        self.reads.close();
        self.writes.close();
        let threads = std::mem::take(&mut *self.threads.lock().unwrap_or_else(PoisonError::into_inner));
        for handle in threads {
            // The last owner may be a `done` that runs on one of these threads: it cannot wait for itself.
            if handle.thread().id() != thread::current().id() && handle.join().is_err() {
                log::error!("a thread of the store panicked");
            }
        }
    }
}

impl Store for DieselStore {
    fn submit(&self, access: Access, work: Work, done: Done) {
        let queue = match access {
            Access::Read => &self.reads,
            Access::Write => &self.writes,
        };
        match queue.push(Job { work, done }) {
            Ok(()) => {}
            Err(Refused::Full(job)) => (job.done)(Err(StoreError::Busy)),
            Err(Refused::Closed(job)) => {
                (job.done)(Err(StoreError::Unavailable("the store is closed".to_owned())));
            }
        }
    }
}

impl Drop for DieselStore {
    fn drop(&mut self) {
        self.close();
    }
}
