//! What the threads of the store have in hand, and who waits for it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use kopeck_port_store::{Done, StoreError, Work};

use crate::observer::Eye;

/// How a unit of work ended, before its owner learns it.
pub(crate) type Outcome = Result<(), StoreError>;

/// Counts the beats of the store's watch, by which it measures how long something takes. A process that stood still
/// does not take its own rest for a silence of the database.
#[derive(Clone, Default)]
pub(crate) struct Beats(Arc<AtomicU64>);

impl Beats {
    pub(crate) fn now(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    /// Counts one, and answers how many there are.
    pub(crate) fn count(&self) -> u64 {
        self.0.fetch_add(1, Ordering::Relaxed) + 1
    }
}

/// Whoever waits for a unit of work. It is answered once, by the thread that does the work or by the watch that gave
/// the thread up, whichever comes first.
#[derive(Clone)]
pub(crate) struct Caller {
    done: Arc<Mutex<Option<Done>>>,
    /// For the observer alone.
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

    pub(crate) fn answer(&self, outcome: Outcome) {
        let done = self.done().take();
        if let Some(done) = done
            && catch_unwind(AssertUnwindSafe(|| done(outcome))).is_err()
        {
            log::error!("a receiver of a result panicked");
        }
    }
}

/// What a thread is to run in a transaction.
pub(crate) enum Task {
    /// A unit of work.
    Work(Work),
    /// A write that changes nothing, to find out whether the database accepts any.
    Probe,
}

/// A task in a queue.
pub(crate) struct Job {
    pub(crate) task: Task,
    pub(crate) caller: Caller,
    /// The beat at which it was submitted.
    pub(crate) since: u64,
}

/// What one thread has in hand.
pub(crate) struct Hand {
    beats: Beats,
    eye: Eye,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    batch: Option<Batch>,
    /// Another thread has taken this one's place.
    replaced: bool,
    /// Its connection is from before the server was silent.
    suspect: bool,
    /// The thread has ended.
    ended: bool,
}

struct Batch {
    since: u64,
    began: Instant,
    callers: Vec<Caller>,
    given_up: bool,
}

impl Hand {
    /// Nothing, for a thread that nobody measures.
    #[cfg(test)]
    pub(crate) fn new(beats: Beats) -> Self {
        Self::watched(beats, Eye::closed())
    }

    /// Nothing yet.
    pub(crate) fn watched(beats: Beats, eye: Eye) -> Self {
        Self { beats, eye, state: Mutex::default(), changed: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The thread begins with something that needs the database, for these. Answers whether it has to connect anew.
    pub(crate) fn begin(&self, callers: Vec<Caller>) -> bool {
        let began = Instant::now();
        self.eye.began(began, callers.iter().map(|caller| caller.submitted));
        let mut state = self.lock();
        state.batch = Some(Batch { since: self.beats.now(), began, callers, given_up: false });
        std::mem::take(&mut state.suspect)
    }

    /// The server was silent: what the thread's connection leads to is not known.
    pub(crate) fn suspect(&self) {
        self.lock().suspect = true;
    }

    /// The thread is done with it. Answers whether it is still wanted.
    pub(crate) fn end(&self) -> bool {
        let mut state = self.lock();
        if let Some(batch) = state.batch.take() {
            self.eye.ended(batch.began);
        }
        !state.replaced
    }

    /// The beat at which the thread began with what it has not ended yet.
    pub(crate) fn busy_since(&self) -> Option<u64> {
        self.lock().batch.as_ref().map(|batch| batch.since)
    }

    /// Takes those who wait for the thread, to be answered by somebody else.
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

    /// Whether the thread still has in hand what it was given up for.
    pub(crate) fn is_given_up(&self) -> bool {
        self.lock().batch.as_ref().is_some_and(|batch| batch.given_up)
    }

    /// Tells the thread to end when it comes back.
    pub(crate) fn replace(&self) {
        self.lock().replaced = true;
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.lock().ended
    }

    /// Waits until the thread ends. Answers whether it did, or was given up.
    pub(crate) fn wait_for_end(&self) -> bool {
        let goes_on = |state: &mut State| !state.ended && !state.batch.as_ref().is_some_and(|b| b.given_up);
        let state = self.changed.wait_while(self.lock(), goes_on);
        state.unwrap_or_else(PoisonError::into_inner).ended
    }
}

/// Notes the end of a thread, also by a panic.
pub(crate) struct Ends(pub(crate) Arc<Hand>);

impl Drop for Ends {
    fn drop(&mut self) {
        self.0.lock().ended = true;
        self.0.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

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
        let beats = Beats::default();
        let hand = Arc::new(Hand::new(beats.clone()));
        assert_eq!(hand.busy_since(), None);
        assert!(hand.give_up().is_empty() && !hand.is_given_up(), "it has nothing in hand");
        beats.count();
        hand.suspect();
        assert!(hand.begin(Vec::new()), "it connects anew, once");
        assert!(!hand.begin(vec![Caller::new(Box::new(|_| {}))]));
        assert_eq!((hand.busy_since(), hand.is_given_up()), (Some(1), false));
        assert_eq!(hand.give_up().len(), 1);
        assert!(hand.is_given_up() && !hand.wait_for_end());
        assert!(hand.end() && !hand.is_given_up());
        hand.replace();
        assert!(!hand.end());
        drop(Ends(Arc::clone(&hand)));
        assert!(hand.wait_for_end());
    }
}
