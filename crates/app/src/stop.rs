//! Tells threads that it is time to end.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

/// Tells all threads at once, and wakes those that wait.
#[derive(Default)]
pub(crate) struct Stop {
    stopping: Mutex<bool>,
    told: Condvar,
}

impl Stop {
    pub(crate) fn tell(&self) {
        *self.stopping.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.told.notify_all();
    }

    pub(crate) fn is_told(&self) -> bool {
        *self.stopping.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until told or until `at_most` is over; answers whether told.
    pub(crate) fn wait(&self, at_most: Duration) -> bool {
        let stopping = self.stopping.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.told.wait_timeout_while(stopping, at_most, |stopping| !*stopping);
        *waited.unwrap_or_else(PoisonError::into_inner).0
    }
}
