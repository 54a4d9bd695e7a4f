//! A concurrency limit.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Bounds requests in flight; it refuses instead of waiting.
#[derive(Debug)]
pub(crate) struct ConcurrencyLimit {
    most: usize,
    within: AtomicUsize,
}

/// A permit for one request, until it is dropped.
#[derive(Debug)]
pub(crate) struct Permit<'a>(&'a ConcurrencyLimit);

impl ConcurrencyLimit {
    pub(crate) const fn new(most: usize) -> Self {
        Self { most, within: AtomicUsize::new(0) }
    }

    /// `None` if all permits are taken.
    pub(crate) fn try_acquire(&self) -> Option<Permit<'_>> {
        let more = |within| (within < self.most).then_some(within + 1);
        self.within.fetch_update(Ordering::SeqCst, Ordering::SeqCst, more).ok().map(|_| Permit(self))
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        self.0.within.fetch_sub(1, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dropped_permit_is_free_again() {
        let limit = ConcurrencyLimit::new(2);
        let (first, second) = (limit.try_acquire(), limit.try_acquire());
        assert!(first.is_some() && second.is_some());
        assert!(limit.try_acquire().is_none());
        drop(first);
        assert!(limit.try_acquire().is_some());
    }
}
