//! A bounded queue between those who submit work and the threads that do it.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Why a queue did not take something; it hands it back.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Refused<T> {
    /// It holds as much as it may.
    Full(T),
    /// It was closed.
    Closed(T),
}

/// How soon one who takes does so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Taker {
    /// At once.
    First,
    /// When something has waited so long that those who come first must be held up.
    Spare(Duration),
}

/// First in, first out. Closing it lets what is in it still be taken.
pub(crate) struct Queue<T> {
    capacity: usize,
    state: Mutex<State<T>>,
    /// For those who take at once.
    filled: Condvar,
    /// For the others.
    overdue: Condvar,
}

struct State<T> {
    waiting: VecDeque<(Instant, T)>,
    closed: bool,
    /// How many wait who take at once.
    idle: usize,
    /// How many of the others look by themselves, in a moment, what is overdue.
    looking: usize,
}

impl<T> State<T> {
    /// How long one who takes has to wait, as things stand; nothing if that depends on what comes.
    fn wait_of(&self, taker: Taker) -> Option<Duration> {
        let (since, _) = self.waiting.front()?;
        match taker {
            Taker::First => Some(Duration::ZERO),
            Taker::Spare(patience) => Some(patience.saturating_sub(since.elapsed())),
        }
    }
}

impl<T> Queue<T> {
    pub(crate) fn new(capacity: usize) -> Self {
        let state = State { waiting: VecDeque::new(), closed: false, idle: 0, looking: 0 };
        Self { capacity, state: Mutex::new(state), filled: Condvar::new(), overdue: Condvar::new() }
    }

    /// Nothing that runs under the lock can panic half-way, so a poisoned one is as good as another.
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds `item` without waiting.
    pub(crate) fn push(&self, item: T) -> Result<(), Refused<T>> {
        let mut state = self.lock();
        if state.closed {
            return Err(Refused::Closed(item));
        }
        if state.waiting.len() >= self.capacity {
            return Err(Refused::Full(item));
        }
        state.waiting.push_back((Instant::now(), item));
        let idle = state.idle > 0;
        // If nobody takes it at once, one of the others looks how long that lasts.
        let is_unseen = state.waiting.len() == 1 && state.looking == 0;
        drop(state);
        if idle {
            self.filled.notify_one();
        } else if is_unseen {
            self.overdue.notify_one();
        }
        Ok(())
    }

    /// Waits until there is something for this taker, and takes what is there, up to `most`; nothing once the queue is
    /// closed and empty.
    pub(crate) fn take(&self, taker: Taker, most: usize) -> Vec<T> {
        let mut state = self.lock();
        while !state.closed {
            state = match (state.wait_of(taker), taker) {
                (Some(Duration::ZERO), _) => break,
                (_, Taker::First) => {
                    state.idle += 1;
                    let mut state = self.filled.wait(state).unwrap_or_else(PoisonError::into_inner);
                    state.idle -= 1;
                    state
                }
                (None, Taker::Spare(_)) => self.overdue.wait(state).unwrap_or_else(PoisonError::into_inner),
                (Some(wait), Taker::Spare(_)) => {
                    state.looking += 1;
                    let waited = self.overdue.wait_timeout(state, wait);
                    let mut state = waited.unwrap_or_else(PoisonError::into_inner).0;
                    state.looking -= 1;
                    state
                }
            };
        }
        let count = state.waiting.len().min(most);
        let taken = state.waiting.drain(..count).map(|(_, item)| item).collect();
        let is_left = !state.waiting.is_empty();
        drop(state);
        if is_left {
            // Its first is a new one, of which nobody has heard.
            self.overdue.notify_one();
        }
        taken
    }

    /// Takes all that is there, without waiting.
    pub(crate) fn take_waiting(&self) -> Vec<T> {
        self.lock().waiting.drain(..).map(|(_, item)| item).collect()
    }

    /// Takes from the front what `is_meant`, without waiting.
    pub(crate) fn take_first_while(&self, is_meant: impl Fn(&T) -> bool) -> Vec<T> {
        let mut state = self.lock();
        let count = state.waiting.iter().take_while(|(_, item)| is_meant(item)).count();
        state.waiting.drain(..count).map(|(_, item)| item).collect()
    }

    /// How many wait.
    pub(crate) fn len(&self) -> usize {
        self.lock().waiting.len()
    }

    /// Takes nothing more in.
    pub(crate) fn close(&self) {
        self.lock().closed = true;
        self.filled.notify_all();
        self.overdue.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_what_waits_in_its_order() {
        let queue = Queue::new(3);
        assert_eq!(queue.push(1), Ok(()));
        assert_eq!(queue.push(2), Ok(()));
        assert_eq!(queue.push(3), Ok(()));
        assert_eq!((queue.push(4), queue.len()), (Err(Refused::Full(4)), 3));
        assert_eq!(queue.take(Taker::First, 2), [1, 2]);
        assert_eq!(queue.push(4), Ok(()));
        assert_eq!(queue.take_first_while(|item| *item < 4), [3]);
        assert_eq!(queue.take(Taker::First, 9), [4]);
        assert!(queue.take_waiting().is_empty());
        assert_eq!(queue.push(5), Ok(()));
        assert_eq!(queue.take_waiting(), [5]);
    }

    #[test]
    fn a_closed_queue_is_emptied_and_then_ends() {
        let queue = Queue::new(3);
        assert_eq!(queue.push(1), Ok(()));
        queue.close();
        assert_eq!(queue.push(2), Err(Refused::Closed(2)));
        assert_eq!(queue.take(Taker::First, 9), [1]);
        assert!(queue.take(Taker::First, 9).is_empty());
    }

    #[test]
    fn closing_wakes_those_who_wait() {
        let queue = Queue::<u8>::new(1);
        std::thread::scope(|scope| {
            let takers = [Taker::First, Taker::Spare(Duration::from_secs(600))];
            let waiting = takers
                .map(|taker| (taker, &queue))
                .map(|(taker, queue)| scope.spawn(move || queue.take(taker, 1)));
            queue.close();
            waiting.into_iter().for_each(|taken| assert!(taken.join().unwrap().is_empty()));
        });
    }

    /// Whether it was there before or comes while they wait; and the first are not kept from anything.
    #[test]
    fn the_spare_take_what_nobody_takes() {
        let queue = Queue::new(3);
        assert_eq!(queue.push(1), Ok(()));
        assert_eq!(queue.take(Taker::Spare(Duration::from_millis(1)), 1), [1]);
        std::thread::scope(|scope| {
            let spare = scope.spawn(|| queue.take(Taker::Spare(Duration::from_millis(1)), 1));
            assert_eq!(queue.push(2), Ok(()));
            assert_eq!(spare.join().unwrap(), [2]);
            let spare = scope.spawn(|| queue.take(Taker::Spare(Duration::from_secs(600)), 1));
            assert_eq!(queue.push(3), Ok(()));
            assert_eq!(queue.take(Taker::First, 1), [3]);
            queue.close();
            assert!(spare.join().unwrap().is_empty());
        });
    }
}
