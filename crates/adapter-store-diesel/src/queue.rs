//! A bounded queue between those who submit work and the threads that do it.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Why a queue did not take something; it hands it back.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Refused<T> {
    /// It holds as much as it may.
    Full(T),
    /// It was closed.
    Closed(T),
}

/// First in, first out. Closing it lets what is in it still be taken.
pub(crate) struct Queue<T> {
    capacity: usize,
    state: Mutex<State<T>>,
    filled: Condvar,
}

struct State<T> {
    waiting: VecDeque<T>,
    closed: bool,
}

impl<T> Queue<T> {
    pub(crate) fn new(capacity: usize) -> Self {
        let state = State { waiting: VecDeque::new(), closed: false };
        Self { capacity, state: Mutex::new(state), filled: Condvar::new() }
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
        state.waiting.push_back(item);
        drop(state);
        self.filled.notify_one();
        Ok(())
    }

    /// Waits until there is something, and takes what is there, up to `most`; nothing once the queue is closed and
    /// empty.
    pub(crate) fn take(&self, most: usize) -> Vec<T> {
        let mut state = self.lock();
        while state.waiting.is_empty() && !state.closed {
            state = self.filled.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        let count = state.waiting.len().min(most);
        state.waiting.drain(..count).collect()
    }

    /// Takes all that is there, without waiting.
    pub(crate) fn take_waiting(&self) -> Vec<T> {
        self.lock().waiting.drain(..).collect()
    }

    /// Takes from the front what `is_meant`, without waiting.
    pub(crate) fn take_first_while(&self, is_meant: impl Fn(&T) -> bool) -> Vec<T> {
        let mut state = self.lock();
        let count = state.waiting.iter().take_while(|item| is_meant(item)).count();
        state.waiting.drain(..count).collect()
    }

    /// Takes nothing more in.
    pub(crate) fn close(&self) {
        self.lock().closed = true;
        self.filled.notify_all();
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
        assert_eq!(queue.push(4), Err(Refused::Full(4)));
        assert_eq!(queue.take(2), [1, 2]);
        assert_eq!(queue.push(4), Ok(()));
        assert_eq!(queue.take_first_while(|item| *item < 4), [3]);
        assert_eq!(queue.take(9), [4]);
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
        assert_eq!(queue.take(9), [1]);
        assert!(queue.take(9).is_empty());
    }

    #[test]
    fn closing_wakes_those_who_wait() {
        let queue = Queue::<u8>::new(1);
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| queue.take(1));
            queue.close();
            assert!(waiting.join().unwrap().is_empty());
        });
    }
}
