//! The threads of the batched store: each takes a batch from a queue and a connection from the pool.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use kopeck_port_store::{Access, StoreError};

use super::BatchSettings;
use super::group_commit::group_commit;
use super::in_flight::{BatchInFlight, Caller, ExitGuard, QueuedTask, Ticks};
use super::read_batch::read_batch;
use crate::availability::Availability;
use crate::database::Database;
use crate::error::{OpenError, lost};
use crate::queue::Queue;
use crate::single::{self, Task};
use crate::transaction::DieselTransaction;

/// Replaced threads that may hang at the same time, for each thread of the store.
const MAX_HANGING: usize = 4;

/// How long writes wait for the first writing thread before another takes them. Units of work that share a commit cost far
/// less than as many commits; sooner, mass work would take all processors of a small machine, and reads would wait.
const WRITES_WAIT: Duration = Duration::from_millis(40);

/// Threads with their queues.
pub(super) struct Executor {
    database: Arc<Database>,
    settings: BatchSettings,
    ticks: Ticks,
    reads: Arc<Queue<QueuedTask>>,
    writes: Arc<Queue<QueuedTask>>,
    workers: Mutex<Workers>,
}

#[derive(Default)]
struct Workers {
    active: Vec<Worker>,
    /// Threads that were replaced and have not ended.
    hanging: Vec<Arc<BatchInFlight>>,
}

struct Worker {
    access: Access,
    patience: Duration,
    in_flight: Arc<BatchInFlight>,
    thread: JoinHandle<()>,
}

impl Executor {
    /// No thread yet. `queue`: how many units of work may wait, for readers and for writers each.
    pub(super) fn new(database: Arc<Database>, settings: BatchSettings, ticks: Ticks, queue: usize) -> Self {
        let queue = || Arc::new(Queue::new(queue));
        Self { database, settings, ticks, reads: queue(), writes: queue(), workers: Mutex::default() }
    }

    /// Adds a thread. The first of its access takes work at once, the others once it has waited; all threads that read an
    /// embedded database take it at once.
    pub(super) fn add(&self, access: Access) -> Result<(), OpenError> {
        let is_first = !self.workers().active.iter().any(|worker| worker.access == access);
        let patience = match access {
            _ if is_first => Duration::ZERO,
            Access::Read => self.settings.reads_wait,
            Access::Write => WRITES_WAIT,
        };
        let worker = self.start(access, patience)?;
        self.workers().active.push(worker);
        Ok(())
    }

    pub(super) fn queue(&self, access: Access) -> &Arc<Queue<QueuedTask>> {
        match access {
            Access::Read => &self.reads,
            Access::Write => &self.writes,
        }
    }

    fn workers(&self) -> MutexGuard<'_, Workers> {
        self.workers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn start(&self, access: Access, patience: Duration) -> Result<Worker, OpenError> {
        let name = match access {
            Access::Read => "store-read",
            Access::Write => "store-write",
        };
        let observer = self.database.condition.observer();
        let in_flight = Arc::new(BatchInFlight::new(self.ticks.clone(), access, observer));
        let (database, queue) = (Arc::clone(&self.database), Arc::clone(self.queue(access)));
        let (guard, settings) = (ExitGuard(Arc::clone(&in_flight)), self.settings);
        let thread = thread::Builder::new()
            .name(name.to_owned())
            .spawn(move || serve(&database, access, &queue, patience, settings, &guard.0))?;
        Ok(Worker { access, patience, in_flight, thread })
    }

    /// Looks after the files, and after an outage probes whether the database accepts writes. `is_away`: it is silent.
    pub(super) fn look_after_database(&self, tick: u64, is_away: bool) {
        let condition = &self.database.condition;
        condition.look_after_files();
        if is_away || !condition.begin_probe() {
            return;
        }
        let database = Arc::clone(&self.database);
        let caller = Caller::new(Box::new(move |outcome| database.condition.end_probe(&outcome)));
        let task = QueuedTask { task: Task::Probe, caller, since: tick };
        if let Err((task, error)) = self.writes.push(task) {
            task.caller.answer(Err(error));
        }
    }

    /// Refuses what was submitted at this tick or before and still waits.
    pub(super) fn refuse_overdue(&self, tick: u64) {
        for queue in [&self.reads, &self.writes] {
            for task in queue.take_first_while(|task| task.since <= tick && tick > 0) {
                task.caller.answer(Err(StoreError::Busy));
            }
        }
    }

    /// Refuses what waits, and answers for every thread that has a batch.
    pub(super) fn refuse_all(&self, error: &StoreError) {
        let waiting = [&self.reads, &self.writes].into_iter().flat_map(|queue| queue.take_waiting());
        let mut callers: Vec<_> = waiting.map(|task| task.caller).collect();
        // Answered without the lock: an answer may run anything.
        callers.extend(self.workers().active.iter().flat_map(|worker| worker.in_flight.give_up()));
        for caller in callers {
            caller.answer(Err(error.clone()));
        }
    }

    /// Whether the database is available, as the log has it.
    pub(super) fn availability(&self) -> &Availability {
        &self.database.condition.availability
    }

    /// Lets every batch begin on a new connection.
    pub(super) fn renew_connections(&self) {
        self.database.renew_connections();
    }

    /// Whether a thread has had the same batch since this tick.
    pub(super) fn is_any_busy_since(&self, tick: u64) -> bool {
        let since = |worker: &Worker| worker.in_flight.busy_since();
        self.workers().active.iter().filter_map(since).any(|since| since <= tick)
    }

    /// Replaces threads that were given up and have not come back, as long as not too many hang.
    pub(super) fn replace_given_up(&self) {
        let mut workers = self.workers();
        let Workers { active, hanging } = &mut *workers;
        hanging.retain(|in_flight| !in_flight.has_ended());
        let most = MAX_HANGING * active.len();
        let is_gone = |in_flight: &BatchInFlight| in_flight.is_given_up() || in_flight.has_ended();
        for worker in active.iter_mut().filter(|worker| is_gone(&worker.in_flight)) {
            if hanging.len() >= most {
                return;
            }
            match self.start(worker.access, worker.patience) {
                Ok(replacement) => {
                    log::warn!("a thread of the store did not come back and is replaced");
                    let gone = std::mem::replace(worker, replacement);
                    gone.in_flight.replace();
                    hanging.push(gone.in_flight);
                }
                Err(error) => log::warn!("a thread of the store could not be replaced yet: {error}"),
            }
        }
    }

    /// Takes no more work.
    pub(super) fn close(&self) {
        self.reads.close();
        self.writes.close();
    }

    /// Waits until every thread has ended or was given up.
    pub(super) fn join(&self) {
        // They stay in the list meanwhile, where the supervisor finds them.
        let here = thread::current().id();
        // The last owner of the store may be a `done` that runs on one of its threads: it cannot wait for itself.
        let others = |worker: &&Worker| worker.thread.thread().id() != here;
        let threads: Vec<_> =
            self.workers().active.iter().filter(others).map(|worker| Arc::clone(&worker.in_flight)).collect();
        for in_flight in threads {
            in_flight.wait_for_end();
        }
    }
}

/// A thread: serves batches until the queue is closed or another thread has replaced it. There is no timer: one caller alone
/// is answered as fast as the disk allows, and while the disk works on one commit the next batch gathers.
pub(super) fn serve(
    database: &Arc<Database>,
    access: Access,
    queue: &Queue<QueuedTask>,
    patience: Duration,
    settings: BatchSettings,
    in_flight: &BatchInFlight,
) {
    let most = match access {
        Access::Read => settings.reads,
        Access::Write => settings.writes,
    };
    loop {
        let tasks = queue.take(patience, most);
        if tasks.is_empty() {
            return;
        }
        let begun = in_flight.tick();
        // The pool answers in time by itself, so a thread that waits for it is not yet busy for the supervisor.
        let mut transaction = match DieselTransaction::new(database, access) {
            Ok(transaction) => transaction,
            Err(error) => {
                tasks.into_iter().for_each(|task| task.caller.answer(Err(error.clone())));
                refuse_waiting(queue, begun);
                continue;
            }
        };
        in_flight.begin(tasks.iter().map(|task| task.caller.clone()).collect());
        match access {
            Access::Read => read_batch(&mut transaction, tasks, settings.mode),
            Access::Write => write_batch(&mut transaction, tasks, settings),
        }
        if transaction.is_lost() {
            refuse_waiting(queue, begun);
        }
        drop(transaction);
        if !in_flight.end() {
            return;
        }
    }
}

fn write_batch(transaction: &mut DieselTransaction, mut tasks: Vec<QueuedTask>, settings: BatchSettings) {
    let outcomes = match tasks.as_mut_slice() {
        [task] => vec![single::write(transaction, &mut task.task, || task.caller.is_waiting())],
        many => group_commit(transaction, many, settings.mode),
    };
    for (task, outcome) in tasks.into_iter().zip(outcomes) {
        task.caller.answer(outcome);
    }
    transaction.fit_log();
}

/// Tells callers who waited at the tick `begun`, when the batch of a lost connection began, at once, and not after another
/// wait each. Later ones meet a new connection.
fn refuse_waiting(queue: &Queue<QueuedTask>, begun: u64) {
    for task in queue.take_first_while(|task| task.since < begun) {
        task.caller.answer(Err(lost()));
    }
}
