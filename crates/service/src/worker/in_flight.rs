//! The jobs that this process has in flight, so that no two of its workers submit the same thing at the same time.
//!
//! A lease keeps processes apart, and it ends by the clock. A clock that jumps, or a bank that takes longer than a
//! lease lasts, ends the lease of a request that is still in flight. Within one process more is known than that: a job
//! that is claimed again while another worker has it is not done twice, but its new lease is handed to that worker. A
//! worker that panics releases its jobs like any other.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use kopeck_port_store::{Claim, Subject};
use time::Duration;

/// A claim with the end of its lease by the steady time, as this process sees it: a little before the store does, since
/// the time was read before the job was claimed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Lease {
    pub(super) claim: Claim,
    pub(super) ends_at: Duration,
}

/// The jobs in flight, each with its latest lease.
#[derive(Debug, Default)]
pub(super) struct JobsInFlight {
    claiming: Mutex<()>,
    latest: Mutex<HashMap<Subject, Lease>>,
}

/// A job in flight until this is dropped.
#[derive(Debug)]
pub(super) struct JobGuard {
    in_flight: Arc<JobsInFlight>,
    subject: Subject,
}

impl JobsInFlight {
    /// Keeps other workers of this process from claiming jobs, so that jobs in flight only get fewer meanwhile.
    pub(super) fn claiming(&self) -> MutexGuard<'_, ()> {
        self.claiming.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The jobs in flight at this moment.
    pub(super) fn subjects(&self) -> HashSet<Subject> {
        self.latest().keys().copied().collect()
    }

    /// Puts the job of a lease in flight.
    pub(super) fn guard(self: &Arc<Self>, lease: &Lease) -> Arc<JobGuard> {
        let subject = lease.claim.subject;
        self.latest().insert(subject, lease.clone());
        Arc::new(JobGuard { in_flight: Arc::clone(self), subject })
    }

    /// Hands a newer lease to the worker that has the job in flight, if it follows its own. If another process had the
    /// job in between, what this worker does is out of date and must not count.
    ///
    /// # Errors
    /// The lease, if no worker can go on under it.
    pub(super) fn renew(&self, lease: Lease) -> Result<(), Lease> {
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

impl JobGuard {
    /// The lease that counts: `own`, under which the job was taken, or a newer one.
    pub(super) fn latest(&self, own: &Lease) -> Lease {
        self.in_flight.latest().get(&self.subject).unwrap_or(own).clone()
    }
}

impl Drop for JobGuard {
    fn drop(&mut self) {
        self.in_flight.latest().remove(&self.subject);
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
    fn a_newer_lease_goes_to_the_worker_that_has_the_job() {
        let in_flight = Arc::new(JobsInFlight::default());
        let guard = in_flight.guard(&lease_of(1));
        assert_eq!(guard.latest(&lease_of(1)), lease_of(1));
        assert_eq!(in_flight.renew(lease_of(2)), Ok(()));
        assert_eq!(guard.latest(&lease_of(1)), lease_of(2));
    }

    /// The worker with the second attempt may have settled some of what the first one was to do.
    #[test]
    fn a_lease_after_one_of_another_process_is_not_handed_on() {
        let in_flight = Arc::new(JobsInFlight::default());
        let guard = in_flight.guard(&lease_of(1));
        assert_eq!(in_flight.renew(lease_of(3)), Err(lease_of(3)));
        assert_eq!(guard.latest(&lease_of(1)), lease_of(1));
    }

    #[test]
    fn a_job_leaves_the_flight_with_its_last_guard() {
        let in_flight = Arc::new(JobsInFlight::default());
        let guard = in_flight.guard(&lease_of(1));
        let copy = Arc::clone(&guard);
        drop(guard);
        assert_eq!(in_flight.subjects(), HashSet::from([Subject::Order(order_id(1))]));
        drop(copy);
        assert!(in_flight.subjects().is_empty());
        assert_eq!(in_flight.renew(lease_of(2)), Err(lease_of(2)));
    }
}
