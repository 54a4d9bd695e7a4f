//! The queue of the request log.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use kopeck_domain::ids::PartnerId;
use kopeck_port_store::{Access, RequestRecord, Store, StoreError, UnitOfWork, submit};
use kopeck_port_system::Clock;

/// The most rows that wait. Further ones are dropped.
const CAPACITY: usize = 10_000;

/// The most rows of one partner that wait, so that one that sends too much takes no place from others.
const SHARE: usize = 4_000;

/// The most rows of one unit of work: it holds up others for some milliseconds.
const BATCH: usize = 250;

/// The most rows of a partner in one turn.
const TURN: usize = 50;

/// The most rows that are written from one [`RequestLogQueue::tick`] to the next: what the log may cost.
const ALLOWANCE: usize = 1_000;

/// How long a stop waits for an unavailable database.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(3);

/// Counts rows. It must not block.
pub trait RequestLogObserver: Send + Sync {
    /// Rows written.
    fn written(&self, rows: u64);

    /// Rows missing in the log: more requests than it can afford, or a database that does not take them.
    fn dropped(&self, rows: u64);
}

/// Counts nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoopRequestLogObserver;

impl RequestLogObserver for NoopRequestLogObserver {
    fn written(&self, _rows: u64) {}

    fn dropped(&self, _rows: u64) {}
}

/// Rows of a partner, in the order of their requests.
type Rows = Vec<(PartnerId, Vec<RequestRecord>)>;

/// The queue of the request log. A request only adds its row; [`Self::tick`] writes what waits, one unit of work after the
/// other and so many rows a second, in which partners take turns. A storm of requests is not worth its log: what exceeds the
/// queue is dropped and counted. Rows whose commit is uncertain are dropped too, so that none is there twice.
pub struct RequestLogQueue {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    observer: Arc<dyn RequestLogObserver>,
    state: Mutex<State>,
    /// Signals the end of a write.
    idle: Condvar,
}

#[derive(Default)]
struct State {
    waiting: HashMap<PartnerId, VecDeque<RequestRecord>>,
    /// The partners with rows that wait, the next one first.
    turns: VecDeque<PartnerId>,
    count: usize,
    /// How many rows may be written until the next tick.
    allowance: usize,
    is_writing: bool,
}

impl State {
    /// Adds a row, if there is room.
    fn add(&mut self, partner: PartnerId, record: RequestRecord) -> bool {
        if self.count >= CAPACITY {
            return false;
        }
        let rows = self.waiting.entry(partner).or_default();
        if rows.len() >= SHARE {
            return false;
        }
        if rows.is_empty() {
            self.turns.push_back(partner);
        }
        rows.push_back(record);
        self.count += 1;
        true
    }

    /// The rows of the next unit of work, if one may begin now.
    fn next(&mut self) -> Option<Rows> {
        if self.is_writing {
            return None;
        }
        let (mut batch, mut room) = (Rows::new(), BATCH.min(self.allowance));
        while room > 0
            && let Some(partner) = self.turns.pop_front()
        {
            let rows = self.waiting.entry(partner).or_default();
            let count = rows.len().min(TURN).min(room);
            let taken = rows.drain(..count);
            match batch.iter_mut().find(|(of, _)| *of == partner) {
                Some((_, rows)) => rows.extend(taken),
                None => batch.push((partner, taken.collect())),
            }
            if rows.is_empty() {
                self.waiting.remove(&partner);
            } else {
                self.turns.push_back(partner);
            }
            room -= count;
            self.count -= count;
            self.allowance -= count;
        }
        if batch.is_empty() {
            return None;
        }
        self.is_writing = true;
        Some(batch)
    }

    /// Puts rows that were not written before all others. There is room for them: they were counted when they were added,
    /// and [`CAPACITY`] is no promise.
    fn put_back(&mut self, batch: Rows) {
        for (partner, records) in batch.into_iter().rev() {
            let rows = self.waiting.entry(partner).or_default();
            if rows.is_empty() {
                self.turns.push_front(partner);
            }
            self.count += records.len();
            records.into_iter().rev().for_each(|record| rows.push_front(record));
        }
    }
}

impl RequestLogQueue {
    /// An empty queue in front of `store`. `clock` numbers the rows: housekeeping removes them by it.
    #[must_use]
    pub fn new(
        store: Arc<dyn Store>,
        clock: Arc<dyn Clock>,
        observer: Arc<dyn RequestLogObserver>,
    ) -> Arc<Self> {
        Arc::new(Self { store, clock, observer, state: Mutex::default(), idle: Condvar::new() })
    }

    /// Adds the row of a request of `partner`. It returns at once, and drops the row if too many wait.
    pub fn push(&self, partner: PartnerId, record: RequestRecord) {
        if !self.lock().add(partner, record) {
            self.observer.dropped(1);
        }
    }

    /// Begins to write what waits. Call it about every second.
    pub fn tick(self: &Arc<Self>) {
        let mut state = self.lock();
        state.allowance = ALLOWANCE;
        let next = state.next();
        drop(state);
        self.write(next);
    }

    /// Writes all that waits, and returns when that is done or the database does not take it. For the end of a process, after
    /// the last [`Self::push`].
    pub fn close(self: &Arc<Self>) {
        loop {
            let busy = |state: &mut State| state.is_writing;
            let waited = self.idle.wait_timeout_while(self.lock(), CLOSE_TIMEOUT, busy);
            let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
            let before = state.count;
            state.allowance = BATCH;
            let next = state.next();
            drop(state);
            let Some(batch) = next else { break };
            self.write(Some(batch));
            let waited = self.idle.wait_timeout_while(self.lock(), CLOSE_TIMEOUT, busy);
            let (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
            if state.count >= before {
                break;
            }
        }
        let lost = std::mem::take(&mut *self.lock()).count as u64;
        if lost > 0 {
            log::warn!(lost = lost; "rows of the request log are lost: the database does not respond");
            self.observer.dropped(lost);
        }
    }

    /// Nothing under the lock can panic half-way, so a poisoned lock is still consistent.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(self: &Arc<Self>, batch: Option<Rows>) {
        let Some(batch) = batch else { return };
        let (queue, now) = (Arc::clone(self), self.clock.settled());
        let batch = Arc::new(batch);
        let rows = Arc::clone(&batch);
        let append = move |unit: &mut dyn UnitOfWork| -> Result<(), StoreError> {
            rows.iter().try_for_each(|(partner, records)| unit.request_log().append(*partner, records, now))
        };
        submit(&*self.store, Access::Write, append, move |outcome| queue.ended(&batch, outcome));
    }

    /// Handles the end of a write.
    fn ended(self: &Arc<Self>, batch: &Rows, outcome: Result<(), StoreError>) {
        let rows = batch.iter().map(|(_, records)| records.len() as u64).sum();
        let mut state = self.lock();
        state.is_writing = false;
        let next = match &outcome {
            Ok(()) => state.next(),
            // Nothing was done: the rows wait for the next tick.
            Err(StoreError::Busy | StoreError::Cancelled | StoreError::Rerun) => {
                state.put_back(batch.clone());
                None
            }
            Err(
                StoreError::Unavailable(_)
                | StoreError::Conflict(_)
                | StoreError::Corrupt(_)
                | StoreError::Failed(_),
            ) => None,
        };
        drop(state);
        self.idle.notify_all();
        match outcome {
            Ok(()) => self.observer.written(rows),
            Err(StoreError::Busy | StoreError::Cancelled | StoreError::Rerun) => {}
            Err(error) => {
                log::warn!(error:% = error, rows = rows; "rows of the request log are lost");
                self.observer.dropped(rows);
            }
        }
        self.write(next);
    }
}

#[cfg(test)]
mod tests;
