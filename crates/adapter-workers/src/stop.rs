//! The stop flag of threads.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

/// A stop flag that wakes waiting threads.
#[derive(Default)]
pub(crate) struct Stop {
    stopping: Mutex<bool>,
    changed: Condvar,
}

impl Stop {
    pub(crate) fn request(&self) {
        *self.stopping.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.changed.notify_all();
    }

    pub(crate) fn is_requested(&self) -> bool {
        *self.stopping.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a stop request, at most this long; returns whether there is one.
    pub(crate) fn wait(&self, at_most: Duration) -> bool {
        let stopping = self.stopping.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.changed.wait_timeout_while(stopping, at_most, |stopping| !*stopping);
        *waited.unwrap_or_else(PoisonError::into_inner).0
    }
}
