//! A blocking semaphore that limits memory-hungry work.

use std::num::NonZeroUsize;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Admits a fixed number of threads at once.
#[derive(Debug)]
pub(crate) struct ConcurrencyLimit {
    free: Mutex<usize>,
    freed: Condvar,
}

impl ConcurrencyLimit {
    pub(crate) fn new(at_once: NonZeroUsize) -> Self {
        Self { free: Mutex::new(at_once.get()), freed: Condvar::new() }
    }

    /// Runs `work` with a permit. A panic releases it too.
    pub(crate) fn run<T>(&self, work: impl FnOnce() -> T) -> T {
        let mut free =
            self.freed.wait_while(self.lock(), |free| *free == 0).unwrap_or_else(PoisonError::into_inner);
        *free -= 1;
        drop(free);
        let _permit = Permit(self);
        work()
    }

    /// A poisoned lock is consistent: the count changes in single steps.
    fn lock(&self) -> MutexGuard<'_, usize> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Permit<'a>(&'a ConcurrencyLimit);

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        *self.0.lock() += 1;
        self.0.freed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread;

    use super::*;

    #[test]
    fn never_runs_more_than_the_bound() {
        let bounded = ConcurrencyLimit::new(NonZeroUsize::new(2).unwrap());
        let (inside, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        // Each waits inside for another one, so that there are always two: the bound is reached.
        let pair = Barrier::new(2);
        thread::scope(|scope| {
            for _ in 0..12 {
                scope.spawn(|| {
                    bounded.run(|| {
                        most.fetch_max(inside.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                        pair.wait();
                        inside.fetch_sub(1, Ordering::SeqCst);
                    });
                });
            }
        });
        assert_eq!(most.load(Ordering::SeqCst), 2);
    }

    #[test]
    fn a_panic_releases_its_permit() {
        let bounded = ConcurrencyLimit::new(NonZeroUsize::MIN);
        assert!(catch_unwind(AssertUnwindSafe(|| bounded.run(|| panic!("on purpose")))).is_err());
        assert_eq!(bounded.run(|| 7), 7);
    }
}
