//! Entries that wait to be written.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use kopeck_domain::audit::{Actor, Entry};
use kopeck_port_store::{Access, Store, StoreError, UnitOfWork, submit};
use kopeck_port_system::Clock;
use time::OffsetDateTime;

use super::budgets::Budgets;

/// Entries that may wait. While the database is away for longer than that, more are only counted.
const CAPACITY: usize = 10_000;

/// Entries that one unit of work writes at most.
const BATCH: usize = 500;

/// How long the end of a process waits for a database that does not answer.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(3);

/// Counts what becomes of notes. It must not wait.
pub trait AuditQueueObserver: Send + Sync {
    /// So many were written.
    fn written(&self, entries: u64);

    /// So many are only counted, in a summarising entry: a client without authentication was over its budget.
    fn summarised(&self, entries: u64);

    /// So many are missing in the log: too many waited, and they are only counted in a summarising entry; or the process
    /// ended before they could be written.
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

/// Entries about what changed nothing, on their way into the log. One unit of work after the other takes what waits: there
/// is no timer, and while the database works on one the next gathers. An entry whose commit was lost is written again, so
/// it may stand in the log twice.
pub struct AuditQueue {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    observer: Arc<dyn AuditQueueObserver>,
    state: Mutex<State>,
    /// Told when nothing is being written any more.
    idle: Condvar,
}

/// What became of an entry.
enum Admission {
    Queued,
    Summarised,
    Dropped { is_first: bool },
}

struct State {
    waiting: VecDeque<Entry>,
    /// Whether a unit of work is on its way.
    is_writing: bool,
    /// Whether the latest one failed.
    is_failing: bool,
    /// Entries that found no room since there was room last.
    dropped: u64,
    budgets: Budgets,
}

impl State {
    fn has_room(&self) -> bool {
        self.waiting.len() < CAPACITY
    }

    /// Lets an entry wait, or counts it; answers which.
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

    /// Lets the summaries of a minute that is over wait. There are few of them, and while there is no room the minute
    /// goes on.
    fn roll(&mut self, now: OffsetDateTime) {
        if self.has_room() {
            // While one unit of work after the other fails there is room for moments only.
            if !self.is_failing {
                self.dropped = 0;
            }
            let summaries = self.budgets.roll(now);
            self.waiting.extend(summaries);
        }
    }

    /// What the next unit of work writes, if it is to begin now.
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
    /// Nothing waits yet; what does will be written to `store`. `clock`: the machine's own time.
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

    /// AuditQueue an entry and returns at once. One of a caller without authentication who is over its budget is only counted,
    /// and so is any while too many wait.
    pub fn push(self: &Arc<Self>, entry: Entry) {
        let mut state = self.lock();
        state.roll(self.clock.now());
        let admission = state.add(entry);
        // After a failure the next try is due to the clock, see `tick`.
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
                        "too many entries of the audit log wait for the database: more are only counted"
                    );
                }
            }
        }
        self.write(next);
    }

    /// Writes the summaries of a minute that is over, and what waits if the database failed before. To be called every
    /// second or so.
    pub fn tick(self: &Arc<Self>) {
        let mut state = self.lock();
        state.roll(self.clock.now());
        let next = state.next();
        drop(state);
        self.write(next);
    }

    /// Writes an entry by itself, and tells `done` when it is certain.
    pub fn write_one(&self, entry: Entry, done: impl FnOnce(Result<(), StoreError>) + Send + 'static) {
        let append = move |unit: &mut dyn UnitOfWork| unit.audit().append(&entry);
        submit(&*self.store, Access::Write, append, done);
    }

    /// Writes all that waits and the summaries of the present minute, and comes back when that is done. After a failure it
    /// tries once more; what cannot be written then is given up. For the end of a process, when nothing is noted any more.
    pub fn close(self: &Arc<Self>) {
        let mut state = self.lock();
        let summaries = state.budgets.close(self.clock.now());
        state.waiting.extend(summaries);
        drop(state);
        // The database may be back since the latest attempt, so one more is made.
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
                    log::error!(lost = lost; "entries of the audit log are lost: the database does not answer");
                    self.observer.dropped(lost);
                }
                return;
            }
            drop(state);
            self.write(next);
        }
    }

    /// Nothing that runs under the lock can panic half-way, so a poisoned one is as good as another.
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

    /// A unit of work has ended. After a failure its entries wait again, before all others.
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
