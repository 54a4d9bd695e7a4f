//! The plain store: a pooled connection and a transaction for each unit of work.
//!
//! A unit of work of [`Store::run`] runs on the caller's thread. Those of [`Store::submit`] run on a thread for each
//! connection. A server that accepts connections and does not answer holds its threads; only the batched store detects it.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, SyncSender, TrySendError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use kopeck_port_store::{Access, Done, Store, StoreError, Work};

use crate::config::StoreConfig;
use crate::connection::PoolState;
use crate::database::Database;
use crate::error::OpenError;
use crate::files::DiskSpace;
use crate::observer::ThreadMetrics;
use crate::outage::Outage;
use crate::single::{self, Outcome, Task};
use crate::store::OpenStore;
use crate::transaction::DieselTransaction;

/// The unit of time of [`crate::condition`].
const TICK: Duration = Duration::from_millis(50);

/// A store without batches.
pub struct PooledStore {
    shared: Arc<Shared>,
    reads: Lane,
    writes: Lane,
}

struct Shared {
    database: Arc<Database>,
    opened: Instant,
}

/// Units of work of one access that wait for a thread.
struct Lane {
    sender: Mutex<Option<SyncSender<Submitted>>>,
    waiting: Arc<AtomicUsize>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

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
        let database = Database::open(&config, config.is_server())?;
        let shared = Arc::new(Shared { database, opened: Instant::now() });
        let lane = |access, threads| Lane::start(&shared, access, threads, config.queue);
        let reads = lane(Access::Read, config.readers())?;
        let writes = lane(Access::Write, config.writers())?;
        Ok(Self { shared, reads, writes })
    }

    fn lane(&self, access: Access) -> &Lane {
        match access {
            Access::Read => &self.reads,
            Access::Write => &self.writes,
        }
    }

    /// Probes the database if a write has failed and the last probe is some time ago.
    fn tend(&self) {
        if self.shared.begin_probe() {
            let shared = Arc::clone(&self.shared);
            let done = Box::new(move |ended| shared.database.condition.end_probe(&ended));
            self.writes.submit(Task::Probe, done);
        }
    }
}

impl Store for PooledStore {
    fn submit(&self, access: Access, work: Work, done: Done) {
        self.lane(access).submit(Task::Work(work), done);
    }

    fn run(&self, access: Access, work: Work) -> Outcome {
        if self.lane(access).is_closed() {
            return Err(closed());
        }
        self.shared.run(access, &mut Task::Work(work), Instant::now())
    }
}

impl OpenStore for PooledStore {
    fn waiting(&self, access: Access) -> usize {
        self.lane(access).waiting.load(Ordering::Relaxed)
    }

    fn connections(&self, access: Access) -> PoolState {
        self.shared.database.connections(access)
    }

    fn outage(&self) -> Option<Outage> {
        self.shared.look_after_files();
        self.tend();
        self.shared.database.condition.outage()
    }

    fn disk_space(&self) -> Option<DiskSpace> {
        self.shared.look_after_files();
        self.shared.database.condition.space()
    }

    fn close(&self) {
        for lane in [&self.reads, &self.writes] {
            lane.close();
        }
    }
}

impl Drop for PooledStore {
    fn drop(&mut self) {
        self.close();
    }
}

impl Shared {
    fn tick(&self) -> u64 {
        u64::try_from(self.opened.elapsed().as_millis() / TICK.as_millis()).unwrap_or(u64::MAX)
    }

    fn begin_probe(&self) -> bool {
        self.database.condition.begin_probe(self.tick())
    }

    fn look_after_files(&self) {
        self.database.condition.look_after_files(self.tick());
    }

    /// Runs a task that was submitted at `since`.
    fn run(&self, access: Access, task: &mut Task, since: Instant) -> Outcome {
        let metrics = ThreadMetrics::new(access, self.database.condition.observer());
        self.look_after_files();
        let mut transaction = DieselTransaction::new(&self.database, access)?;
        let began = Instant::now();
        metrics.began(began, [since].into_iter());
        let outcome = match access {
            Access::Read => single::read(&mut transaction, task),
            Access::Write => single::write(&mut transaction, task, || true),
        };
        if access == Access::Write {
            transaction.fit_log();
        }
        metrics.ended(began);
        outcome
    }
}

impl Lane {
    fn start(shared: &Arc<Shared>, access: Access, threads: usize, queue: usize) -> Result<Self, OpenError> {
        let (sender, receiver) = mpsc::sync_channel(queue);
        let receiver = Arc::new(Mutex::new(receiver));
        let lane =
            Self { sender: Mutex::new(Some(sender)), waiting: Arc::default(), threads: Mutex::default() };
        for _ in 0..threads {
            let (shared, receiver) = (Arc::clone(shared), Arc::clone(&receiver));
            let waiting = Arc::clone(&lane.waiting);
            let serve = move || serve(&shared, access, &receiver, &waiting);
            let thread = thread::Builder::new().name("store-plain".to_owned()).spawn(serve)?;
            lane.threads.lock().unwrap_or_else(PoisonError::into_inner).push(thread);
        }
        Ok(lane)
    }

    fn submit(&self, task: Task, done: Done) {
        let sender = self.sender.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let Some(sender) = sender else { return done(Err(closed())) };
        self.waiting.fetch_add(1, Ordering::Relaxed);
        let refused = match sender.try_send(Submitted { task, done, since: Instant::now() }) {
            Ok(()) => return,
            Err(TrySendError::Full(refused)) => (refused, StoreError::Busy),
            Err(TrySendError::Disconnected(refused)) => (refused, closed()),
        };
        self.waiting.fetch_sub(1, Ordering::Relaxed);
        (refused.0.done)(Err(refused.1));
    }

    fn is_closed(&self) -> bool {
        self.sender.lock().unwrap_or_else(PoisonError::into_inner).is_none()
    }

    /// Takes no more work, and ends the threads once they have done what waits.
    fn close(&self) {
        drop(self.sender.lock().unwrap_or_else(PoisonError::into_inner).take());
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

fn closed() -> StoreError {
    StoreError::Unavailable("the store is closed".to_owned())
}

/// A thread of a lane.
fn serve(shared: &Shared, access: Access, receiver: &Mutex<Receiver<Submitted>>, waiting: &AtomicUsize) {
    loop {
        let next = receiver.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(Submitted { mut task, done, since }) = next else { return };
        waiting.fetch_sub(1, Ordering::Relaxed);
        let outcome = shared.run(access, &mut task, since);
        // The task may own what its caller drops in `done`.
        drop(task);
        let answer = std::panic::AssertUnwindSafe(|| done(outcome));
        if std::panic::catch_unwind(answer).is_err() {
            log::error!("a receiver of a result panicked");
        }
    }
}
