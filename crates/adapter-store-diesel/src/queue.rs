//! A bounded FIFO between callers and the threads that serve them.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use kopeck_port_store::StoreError;

/// First in, first out, for primary and overflow consumers. A primary consumer takes items at once, an overflow consumer
/// once the first has waited for its patience. A closed queue takes nothing in, and its items can still be taken.
pub(crate) struct Queue<T> {
    capacity: usize,
    state: Mutex<QueueState<T>>,
    primary: Condvar,
    overflow: Condvar,
}

struct QueueState<T> {
    waiting: VecDeque<(Instant, T)>,
    closed: bool,
    /// Primary consumers that wait for an item.
    idle: usize,
    /// Whether an overflow consumer waits for the first item to become old, or was woken to do so.
    is_watched: bool,
}

impl<T> Queue<T> {
    pub(crate) fn new(capacity: usize) -> Self {
        let state = QueueState { waiting: VecDeque::new(), closed: false, idle: 0, is_watched: false };
        Self { capacity, state: Mutex::new(state), primary: Condvar::new(), overflow: Condvar::new() }
    }

    /// Nothing panics under the lock, so a poisoned one is as good as another.
    fn lock(&self) -> MutexGuard<'_, QueueState<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds `item` without waiting.
    ///
    /// # Errors
    /// The item, with [`StoreError::Busy`] if the queue is full and [`StoreError::Unavailable`] if it is closed.
    pub(crate) fn push(&self, item: T) -> Result<(), (T, StoreError)> {
        let mut state = self.lock();
        if state.closed {
            return Err((item, closed()));
        }
        if state.waiting.len() >= self.capacity {
            return Err((item, StoreError::Busy));
        }
        state.waiting.push_back((Instant::now(), item));
        self.wake(state);
        Ok(())
    }

    /// Wakes a primary consumer, or else an overflow consumer, which watches how long the first item waits.
    fn wake(&self, mut state: MutexGuard<'_, QueueState<T>>) {
        if state.waiting.is_empty() {
            return;
        }
        if state.idle > 0 {
            drop(state);
            self.primary.notify_one();
        } else if !std::mem::replace(&mut state.is_watched, true) {
            drop(state);
            self.overflow.notify_one();
        }
    }

    /// Waits until the first item has waited for `patience` (a primary consumer has none), and takes up to `most`; nothing
    /// once the queue is closed and empty.
    pub(crate) fn take(&self, patience: Duration, most: usize) -> Vec<T> {
        let is_primary = patience.is_zero();
        let mut state = self.lock();
        while !state.closed {
            let wait = state.waiting.front().map(|(since, _)| patience.saturating_sub(since.elapsed()));
            state = match wait {
                Some(Duration::ZERO) => break,
                _ if is_primary => {
                    state.idle += 1;
                    let mut state = self.primary.wait(state).unwrap_or_else(PoisonError::into_inner);
                    state.idle -= 1;
                    state
                }
                None => {
                    state.is_watched = false;
                    self.overflow.wait(state).unwrap_or_else(PoisonError::into_inner)
                }
                Some(wait) => {
                    state.is_watched = true;
                    let waited = self.overflow.wait_timeout(state, wait);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
        let count = most.min(state.waiting.len());
        let taken = state.waiting.drain(..count).map(|(_, item)| item).collect();
        state.is_watched &= is_primary;
        self.wake(state);
        taken
    }

    /// Takes all items without waiting.
    pub(crate) fn take_waiting(&self) -> Vec<T> {
        self.take_first_while(|_| true)
    }

    /// Takes items from the front as long as they are `meant`, without waiting.
    pub(crate) fn take_first_while(&self, is_meant: impl Fn(&T) -> bool) -> Vec<T> {
        let mut state = self.lock();
        let count = state.waiting.iter().take_while(|(_, item)| is_meant(item)).count();
        state.waiting.drain(..count).map(|(_, item)| item).collect()
    }

    /// The number of items that wait.
    pub(crate) fn len(&self) -> usize {
        self.lock().waiting.len()
    }

    /// Whether it takes no more items in.
    pub(crate) fn is_closed(&self) -> bool {
        self.lock().closed
    }

    /// Takes no more items in.
    pub(crate) fn close(&self) {
        self.lock().closed = true;
        self.primary.notify_all();
        self.overflow.notify_all();
    }
}

/// The error of callers of a store that was closed.
pub(crate) fn closed() -> StoreError {
    StoreError::Unavailable("the store is closed".to_owned())
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    const PRIMARY: Duration = Duration::ZERO;
    const OVERFLOW: Duration = Duration::from_secs(600);

    #[test]
    fn items_are_taken_in_their_order() {
        let queue = Queue::new(3);
        for item in 1..=3 {
            assert_eq!(queue.push(item), Ok(()));
        }
        assert_eq!((queue.push(4), queue.len()), (Err((4, StoreError::Busy)), 3));
        assert_eq!(queue.take(PRIMARY, 2), [1, 2]);
        assert_eq!(queue.push(4), Ok(()));
        assert_eq!(queue.take_first_while(|item| *item < 4), [3]);
        assert_eq!(queue.take(PRIMARY, 9), [4]);
        assert!(queue.take_waiting().is_empty());
        assert_eq!(queue.push(5), Ok(()));
        assert_eq!(queue.take_waiting(), [5]);
    }

    #[test]
    fn a_closed_queue_is_emptied_and_then_ends() {
        let queue = Queue::new(3);
        for item in 0..3 {
            assert_eq!(queue.push(item), Ok(()));
        }
        assert_eq!(queue.take(PRIMARY, 1), [0]);
        queue.close();
        assert_eq!(queue.push(3), Err((3, closed())));
        assert_eq!(queue.take(OVERFLOW, 9), [1, 2]);
        assert!(queue.take(PRIMARY, 9).is_empty());
    }

    #[test]
    fn closing_wakes_all_consumers() {
        let queue = Queue::<u8>::new(1);
        // An overflow consumer resets this under the lock that it gives up by waiting.
        queue.lock().is_watched = true;
        thread::scope(|scope| {
            let waiting = [PRIMARY, OVERFLOW]
                .map(|patience| (patience, &queue))
                .map(|(patience, queue)| scope.spawn(move || queue.take(patience, 1)));
            let both_wait = || {
                let state = queue.lock();
                state.idle == 1 && !state.is_watched
            };
            while !both_wait() {
                thread::yield_now();
            }
            assert!(waiting.iter().all(|taken| !taken.is_finished()));
            queue.close();
            waiting.into_iter().for_each(|taken| assert!(taken.join().unwrap().is_empty()));
        });
    }

    /// The item may be there before the overflow consumer or come later; primary consumers take theirs all the same.
    #[test]
    fn an_overflow_consumer_takes_what_no_primary_takes() {
        let queue = Queue::new(3);
        let soon = Duration::from_millis(1);
        assert_eq!(queue.push(1), Ok(()));
        assert_eq!(queue.take(soon, 1), [1]);
        thread::scope(|scope| {
            let overflow = scope.spawn(|| queue.take(soon, 1));
            assert_eq!(queue.push(2), Ok(()));
            assert_eq!(overflow.join().unwrap(), [2]);
            let patient = scope.spawn(|| queue.take(OVERFLOW, 1));
            assert_eq!(queue.push(3), Ok(()));
            assert_eq!(queue.take(PRIMARY, 1), [3]);
            queue.close();
            assert!(patient.join().unwrap().is_empty());
        });
    }
}
