//! What comes next for a job, and when.

use kopeck_port_store::{Claim, Reschedule, StoreError, UnitOfWork};
use time::Duration;

/// The longest backoff after a try without a response from the bank.
pub(super) const LONGEST_PAUSE: Duration = Duration::seconds(10);

/// What comes next for a job whose claim is still current.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// The request is decided.
    Finished,
    /// There is more to do at once.
    GoOn,
    /// A verdict is missing; whether something may have been sent.
    Later { may_have_sent: bool },
    /// Something was sent once, must not be sent again, and the bank does not know it; or the bank's response cannot be
    /// booked: it issued other cards than were ordered, or gave back more money than was ever spent. The workers query
    /// on, since the bank's response may change; a person can settle the job.
    LeaveToPerson,
}

/// Ends the job, or schedules what comes next.
pub(super) fn conclude(unit: &mut dyn UnitOfWork, claim: &Claim, next: Next) -> Result<(), StoreError> {
    match next {
        Next::Finished => unit.jobs().complete(claim),
        Next::GoOn => {
            let terms = Reschedule { delay: Duration::ZERO, failures: 0, may_have_sent: false };
            unit.jobs().reschedule(claim, terms)
        }
        Next::Later { may_have_sent } => back_off(unit, claim, may_have_sent),
        Next::LeaveToPerson => {
            unit.jobs().mark_stuck(claim)?;
            back_off(unit, claim, true)
        }
    }
}

/// Schedules another try, later after each failure.
pub(super) fn back_off(
    unit: &mut dyn UnitOfWork,
    claim: &Claim,
    may_have_sent: bool,
) -> Result<(), StoreError> {
    let failures = claim.failures.saturating_add(1);
    unit.jobs().reschedule(claim, Reschedule { delay: pause_after(failures), failures, may_have_sent })
}

/// The backoff after so many tries in a row without a response from the bank: doubling from a quarter of a second to ten
/// seconds, so that nothing waits long once the bank is well.
fn pause_after(failures: u32) -> Duration {
    let doublings = failures.saturating_sub(1).min(6);
    Duration::milliseconds(250_i64 << doublings).min(LONGEST_PAUSE)
}
