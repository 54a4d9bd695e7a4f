//! A bound on the calls that are on their way.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Lets a bounded number of calls through at once; nobody waits.
#[derive(Debug)]
pub(crate) struct Gate {
    most: usize,
    within: AtomicUsize,
}

/// Room for one call, until it is dropped.
#[derive(Debug)]
pub(crate) struct Permit<'a>(&'a Gate);

impl Gate {
    pub(crate) const fn new(most: usize) -> Self {
        Self { most, within: AtomicUsize::new(0) }
    }

    /// `None` if as many calls as there may be are on their way.
    pub(crate) fn enter(&self) -> Option<Permit<'_>> {
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
    fn a_full_gate_opens_when_somebody_leaves() {
        let gate = Gate::new(2);
        let (first, second) = (gate.enter(), gate.enter());
        assert!(first.is_some() && second.is_some());
        assert!(gate.enter().is_none());
        drop(first);
        assert!(gate.enter().is_some());
    }
}
