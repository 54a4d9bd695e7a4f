//! What this process has in hand, so that no two of its workers tell the bank the same thing at the same time.
//!
//! A lease keeps processes apart, and it ends by the clock. A clock that jumps, or a bank that takes longer than a
//! lease lasts, ends the lease of a call that is still in flight. Within one process more is known than that: work
//! that is claimed again while somebody here has it is not done twice, but its new lease is passed on to whoever has
//! it. A worker that panics lets go like any other.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use kopeck_port_store::{Claim, Subject};
use time::Duration;

/// A claim with the end of its lease by the steady time, as this process sees it: a little before the store does, since
/// the time was read before the work was claimed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Lease {
    pub(super) claim: Claim,
    pub(super) ends_at: Duration,
}

/// The work that the workers of this process have in hand, each with the latest lease of it.
#[derive(Debug, Default)]
pub(super) struct InHand {
    taking: Mutex<()>,
    latest: Mutex<HashMap<Subject, Lease>>,
}

/// Work in hand; let go of when it is dropped.
#[derive(Debug)]
pub(super) struct Hold {
    in_hand: Arc<InHand>,
    subject: Subject,
}

impl InHand {
    /// Keeps others of this process from taking work, so that what is in hand only gets less meanwhile.
    pub(super) fn taking(&self) -> MutexGuard<'_, ()> {
        self.taking.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is in hand at this moment.
    pub(super) fn subjects(&self) -> HashSet<Subject> {
        self.latest().keys().copied().collect()
    }

    /// Takes the work of a lease in hand.
    pub(super) fn hold(self: &Arc<Self>, lease: &Lease) -> Arc<Hold> {
        let subject = lease.claim.subject;
        self.latest().insert(subject, lease.clone());
        Arc::new(Hold { in_hand: Arc::clone(self), subject })
    }

    /// Passes a newer lease on to whoever has its work in hand, if it is the next one after theirs. If another process
    /// had the work in between, what they have in hand is out of date: it must not count.
    ///
    /// # Errors
    /// The lease, if nobody can go on under it.
    pub(super) fn pass_on(&self, lease: Lease) -> Result<(), Lease> {
        match self.latest().get_mut(&lease.claim.subject) {
            Some(latest) if latest.claim.attempt.checked_add(1) == Some(lease.claim.attempt) => {
                *latest = lease;
                Ok(())
            }
            Some(_) | None => Err(lease),
        }
    }

    fn latest(&self) -> MutexGuard<'_, HashMap<Subject, Lease>> {
        self.latest.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Hold {
    /// The lease that counts: `own`, under which the work was taken, or a newer one that was passed on.
    pub(super) fn latest(&self, own: &Lease) -> Lease {
        self.in_hand.latest().get(&self.subject).unwrap_or(own).clone()
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        self.in_hand.latest().remove(&self.subject);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{claim, order_id};

    fn lease_of(attempt: u32) -> Lease {
        Lease { claim: Claim { attempt, ..claim(Subject::Order(order_id(1))) }, ends_at: Duration::ZERO }
    }

    #[test]
    fn a_newer_lease_goes_to_whoever_has_the_work() {
        let in_hand = Arc::new(InHand::default());
        let hold = in_hand.hold(&lease_of(1));
        assert_eq!(hold.latest(&lease_of(1)), lease_of(1));
        assert_eq!(in_hand.pass_on(lease_of(2)), Ok(()));
        assert_eq!(hold.latest(&lease_of(1)), lease_of(2));
    }

    /// Whoever had the second attempt may have settled some of what the first one was to do.
    #[test]
    fn a_lease_that_another_process_had_in_between_is_not_passed_on() {
        let in_hand = Arc::new(InHand::default());
        let hold = in_hand.hold(&lease_of(1));
        assert_eq!(in_hand.pass_on(lease_of(3)), Err(lease_of(3)));
        assert_eq!(hold.latest(&lease_of(1)), lease_of(1));
    }

    #[test]
    fn what_is_let_go_of_is_nobodys() {
        let in_hand = Arc::new(InHand::default());
        let hold = in_hand.hold(&lease_of(1));
        let copy = Arc::clone(&hold);
        drop(hold);
        assert_eq!(in_hand.subjects(), HashSet::from([Subject::Order(order_id(1))]));
        drop(copy);
        assert!(in_hand.subjects().is_empty());
        assert_eq!(in_hand.pass_on(lease_of(2)), Err(lease_of(2)));
    }
}
