//! The queue of audit entries about refusals.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use kopeck_audit::{Actor, Entry};
use kopeck_port_store::{Access, Store, StoreError, UnitOfWork, submit};
use kopeck_port_system::Clock;
use time::OffsetDateTime;

use super::budgets::Budgets;

/// The capacity. During a long outage of the database, entries beyond it are only counted.
const CAPACITY: usize = 10_000;

/// The most entries of one unit of work.
const BATCH: usize = 500;

/// How long a stop waits for an unavailable database.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(3);

/// Counts the outcomes of entries. It must not block.
pub trait AuditQueueObserver: Send + Sync {
    /// Entries written.
    fn written(&self, entries: u64);

    /// Entries only counted in a summary, over the budget of unauthenticated requests.
    fn summarised(&self, entries: u64);

    /// Entries missing in the log: the queue was full, and a summary counts them; or the process ended before writing them.
    fn dropped(&self, entries: u64);
}

/// Counts nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoopAuditObserver;

impl AuditQueueObserver for NoopAuditObserver {
    fn written(&self, _entries: u64) {}

    fn summarised(&self, _entries: u64) {}

    fn dropped(&self, _entries: u64) {}
}

/// The queue of entries about requests that changed nothing. One unit of work after the other writes the queue: there is no
/// timer, and the next batch gathers during a write. An entry whose commit was lost is written again, so it may appear
/// twice.
pub struct AuditQueue {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    observer: Arc<dyn AuditQueueObserver>,
    state: Mutex<State>,
    /// Signals the end of a write.
    idle: Condvar,
}

/// The outcome of adding an entry.
enum Admission {
    Queued,
    Summarised,
    Dropped { is_first: bool },
}

struct State {
    waiting: VecDeque<Entry>,
    /// Whether a unit of work is running.
    is_writing: bool,
    /// Whether the latest one failed.
    is_failing: bool,
    /// Entries dropped since the queue last had room.
    dropped: u64,
    budgets: Budgets,
}

impl State {
    fn has_room(&self) -> bool {
        self.waiting.len() < CAPACITY
    }

    /// Queues an entry, or counts it.
    fn add(&mut self, entry: Entry) -> Admission {
        let has_room = self.has_room();
        if entry.actor == Actor::Unknown {
            if !self.budgets.admit(&entry, has_room) {
                return Admission::Summarised;
            }
        } else if !has_room {
            self.budgets.count(&entry);
            self.dropped += 1;
            return Admission::Dropped { is_first: self.dropped == 1 };
        }
        self.waiting.push_back(entry);
        Admission::Queued
    }

    /// Queues the summaries of a window that is over. There are few of them. Without room the window continues.
    fn roll(&mut self, now: OffsetDateTime) {
        if self.has_room() {
            // While writes fail, the queue has room for moments only.
            if !self.is_failing {
                self.dropped = 0;
            }
            let summaries = self.budgets.roll(now);
            self.waiting.extend(summaries);
        }
    }

    /// The next batch, if a write may begin now.
    fn next(&mut self) -> Option<Arc<[Entry]>> {
        if self.is_writing || self.waiting.is_empty() {
            return None;
        }
        self.is_writing = true;
        let count = self.waiting.len().min(BATCH);
        Some(self.waiting.drain(..count).collect())
    }
}

impl AuditQueue {
    /// An empty queue in front of `store`. `clock` is the machine's.
    #[must_use]
    pub fn new(
        store: Arc<dyn Store>,
        clock: Arc<dyn Clock>,
        observer: Arc<dyn AuditQueueObserver>,
    ) -> Arc<Self> {
        let state = State {
            waiting: VecDeque::new(),
            is_writing: false,
            is_failing: false,
            dropped: 0,
            budgets: Budgets::starting_at(clock.now()),
        };
        Arc::new(Self { store, clock, observer, state: Mutex::new(state), idle: Condvar::new() })
    }

    /// Queues an entry and returns at once. Entries over the budget of unauthenticated requests, or beyond the
    /// capacity, are only counted.
    pub fn push(self: &Arc<Self>, entry: Entry) {
        let mut state = self.lock();
        state.roll(self.clock.now());
        let admission = state.add(entry);
        // After a failure `tick` makes the next attempt.
        let next = if state.is_failing { None } else { state.next() };
        drop(state);
        match admission {
            Admission::Queued => {}
            Admission::Summarised => self.observer.summarised(1),
            Admission::Dropped { is_first } => {
                self.observer.dropped(1);
                if is_first {
                    log::error!(
                        waiting = CAPACITY;
                        "the queue of audit entries is full: further entries are only counted"
                    );
                }
            }
        }
        self.write(next);
    }

    /// Writes the summaries of a window that is over, and retries after a failure. Call it about every second.
    pub fn tick(self: &Arc<Self>) {
        let mut state = self.lock();
        state.roll(self.clock.now());
        let next = state.next();
        drop(state);
        self.write(next);
    }

    /// Writes one entry in a separate unit of work, then calls `done`.
    pub fn write_one(&self, entry: Entry, done: impl FnOnce(Result<(), StoreError>) + Send + 'static) {
        let append = move |unit: &mut dyn UnitOfWork| unit.audit().append(&entry);
        submit(&*self.store, Access::Write, append, done);
    }

    /// Writes the queue and the summaries of the present window, and returns when that is done. It retries once;
    /// entries that still cannot be written are lost. For the end of a process, after the last [`Self::push`].
    pub fn close(self: &Arc<Self>) {
        let mut state = self.lock();
        let summaries = state.budgets.close(self.clock.now());
        state.waiting.extend(summaries);
        drop(state);
        // The database may be available again since the latest attempt, so there is one more.
        let mut is_retry = true;
        loop {
            let state = self.lock();
            let busy = |state: &mut State| state.is_writing;
            let waited = self.idle.wait_timeout_while(state, CLOSE_TIMEOUT, busy);
            let (mut state, waited) = waited.unwrap_or_else(PoisonError::into_inner);
            let may_write = !waited.timed_out() && (is_retry || !state.is_failing);
            is_retry = false;
            let next = if may_write { state.next() } else { None };
            if next.is_none() {
                let lost = std::mem::take(&mut state.waiting).len() as u64;
                drop(state);
                if lost > 0 {
                    log::error!(lost = lost; "audit entries are lost: the database does not respond");
                    self.observer.dropped(lost);
                }
                return;
            }
            drop(state);
            self.write(next);
        }
    }

    /// Nothing under the lock can panic half-way, so a poisoned lock is still consistent.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(self: &Arc<Self>, entries: Option<Arc<[Entry]>>) {
        let Some(entries) = entries else { return };
        let (notes, written) = (Arc::clone(self), Arc::clone(&entries));
        let append = move |unit: &mut dyn UnitOfWork| -> Result<(), StoreError> {
            entries.iter().try_for_each(|entry| unit.audit().append(entry))
        };
        submit(&*self.store, Access::Write, append, move |outcome| notes.ended(&written, outcome));
    }

    /// Handles the end of a write. After a failure its entries return to the head of the queue.
    fn ended(self: &Arc<Self>, entries: &[Entry], outcome: Result<(), StoreError>) {
        let mut state = self.lock();
        state.is_writing = false;
        let was_failing = std::mem::replace(&mut state.is_failing, outcome.is_err());
        let next = match &outcome {
            Ok(()) => state.next(),
            Err(_) => {
                entries.iter().rev().for_each(|entry| state.waiting.push_front(entry.clone()));
                None
            }
        };
        drop(state);
        self.idle.notify_all();
        match outcome {
            Ok(()) => self.observer.written(entries.len() as u64),
            Err(error) if !was_failing => {
                log::warn!(error:% = error; "the audit log cannot be written: entries wait");
            }
            Err(_) => {}
        }
        self.write(next);
    }
}

#[cfg(test)]
mod tests;
