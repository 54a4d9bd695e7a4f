//! The batch that a thread of the store works on, and its callers.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use kopeck_port_store::{Access, Done};

use crate::single::{self, Task, UnitOutcome};
use kopeck_port_store::StoreObserver;

/// Counts the ticks of the supervisor, the store's measure of time. A process that was stopped and goes on does not take
/// its own pause for a silence of the database.
#[derive(Clone, Default)]
pub(crate) struct Ticks(Arc<AtomicU64>);

impl Ticks {
    pub(crate) fn now(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    /// Counts one, and returns how many there are.
    pub(crate) fn count(&self) -> u64 {
        self.0.fetch_add(1, Ordering::Relaxed) + 1
    }
}

/// The caller of a unit of work. It is answered once, by the thread that runs the work or by the supervisor, which gives up
/// threads that hang, whichever comes first.
#[derive(Clone)]
pub(crate) struct Caller {
    done: Arc<Mutex<Option<Done>>>,
    /// For the metrics.
    submitted: Instant,
}

impl Caller {
    pub(crate) fn new(done: Done) -> Self {
        Self { done: Arc::new(Mutex::new(Some(done))), submitted: Instant::now() }
    }

    fn done(&self) -> MutexGuard<'_, Option<Done>> {
        self.done.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether it has no answer yet.
    pub(crate) fn is_waiting(&self) -> bool {
        self.done().is_some()
    }

    pub(crate) fn answer(&self, outcome: UnitOutcome) {
        let done = self.done().take();
        if let Some(done) = done {
            single::answer(done, outcome);
        }
    }
}

/// A task in a queue.
pub(crate) struct QueuedTask {
    pub(crate) task: Task,
    pub(crate) caller: Caller,
    /// The tick at which it was submitted.
    pub(crate) since: u64,
}

/// The batch that one thread works on.
pub(crate) struct BatchInFlight {
    ticks: Ticks,
    access: Access,
    observer: Arc<dyn StoreObserver>,
    state: Mutex<ThreadState>,
    changed: Condvar,
}

#[derive(Default)]
struct ThreadState {
    batch: Option<Batch>,
    /// Another thread has replaced this one.
    replaced: bool,
    /// The thread has ended.
    ended: bool,
}

struct Batch {
    since: u64,
    began: Instant,
    callers: Vec<Caller>,
    given_up: bool,
}

impl BatchInFlight {
    /// Of a thread that has no batch yet.
    pub(crate) fn new(ticks: Ticks, access: Access, observer: Arc<dyn StoreObserver>) -> Self {
        Self { ticks, access, observer, state: Mutex::default(), changed: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, ThreadState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The present tick.
    pub(crate) fn tick(&self) -> u64 {
        self.ticks.now()
    }

    /// The thread begins a batch of these callers.
    pub(crate) fn begin(&self, callers: Vec<Caller>) {
        let began = Instant::now();
        for caller in &callers {
            self.observer.began(self.access, began.saturating_duration_since(caller.submitted));
        }
        self.lock().batch = Some(Batch { since: self.ticks.now(), began, callers, given_up: false });
    }

    /// The thread has ended its batch. Returns whether the thread is to go on.
    pub(crate) fn end(&self) -> bool {
        let mut state = self.lock();
        if let Some(batch) = state.batch.take() {
            self.observer.ended(self.access, batch.began.elapsed());
        }
        !state.replaced
    }

    /// The tick at which the thread began its batch.
    pub(crate) fn busy_since(&self) -> Option<u64> {
        self.lock().batch.as_ref().map(|batch| batch.since)
    }

    /// Gives the thread up, and takes the callers of its batch, which the supervisor answers.
    pub(crate) fn give_up(&self) -> Vec<Caller> {
        let callers = match &mut self.lock().batch {
            Some(batch) => {
                batch.given_up = true;
                std::mem::take(&mut batch.callers)
            }
            None => Vec::new(),
        };
        self.changed.notify_all();
        callers
    }

    /// Whether the thread was given up and has not ended its batch since.
    pub(crate) fn is_given_up(&self) -> bool {
        self.lock().batch.as_ref().is_some_and(|batch| batch.given_up)
    }

    /// Ends the thread after its batch.
    pub(crate) fn replace(&self) {
        self.lock().replaced = true;
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.lock().ended
    }

    /// Waits until the thread ends or is given up. Returns whether it has ended.
    pub(crate) fn wait_for_end(&self) -> bool {
        let goes_on =
            |state: &mut ThreadState| !state.ended && !state.batch.as_ref().is_some_and(|b| b.given_up);
        let state = self.changed.wait_while(self.lock(), goes_on);
        state.unwrap_or_else(PoisonError::into_inner).ended
    }
}

/// Drop guard that notes the end of a thread, also by a panic.
pub(crate) struct ExitGuard(pub(crate) Arc<BatchInFlight>);

impl Drop for ExitGuard {
    fn drop(&mut self) {
        self.0.lock().ended = true;
        self.0.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use kopeck_port_store::StoreError;

    use super::*;
    use kopeck_port_store::NoopObserver;

    #[test]
    fn a_caller_is_answered_once() {
        let (sender, receiver) = mpsc::channel();
        let caller = Caller::new(Box::new(move |outcome| sender.send(outcome).unwrap()));
        let other = caller.clone();
        assert!(caller.is_waiting());
        caller.answer(Err(StoreError::Busy));
        other.answer(Ok(()));
        assert!(!other.is_waiting());
        assert_eq!(receiver.iter().collect::<Vec<_>>(), [Err(StoreError::Busy)]);
    }

    #[test]
    fn a_thread_that_is_given_up_is_not_waited_for() {
        let ticks = Ticks::default();
        let in_flight = Arc::new(BatchInFlight::new(ticks.clone(), Access::Read, Arc::new(NoopObserver)));
        assert_eq!(in_flight.busy_since(), None);
        assert!(in_flight.give_up().is_empty() && !in_flight.is_given_up(), "it has no batch");
        ticks.count();
        in_flight.begin(vec![Caller::new(Box::new(|_| {}))]);
        assert_eq!((in_flight.busy_since(), in_flight.is_given_up()), (Some(1), false));
        assert_eq!(in_flight.give_up().len(), 1);
        assert!(in_flight.is_given_up() && !in_flight.wait_for_end());
        assert!(in_flight.end() && !in_flight.is_given_up());
        in_flight.replace();
        assert!(!in_flight.end());
        drop(ExitGuard(Arc::clone(&in_flight)));
        assert!(in_flight.wait_for_end());
    }
}
