//! One run of a unit of work.

use std::panic::{AssertUnwindSafe, catch_unwind};

use kopeck_port_store::{Disposition, StoreError};

use super::away;
use crate::error::{self, Trouble};
use crate::hand::Task;
use crate::transaction::DieselTransaction;

/// How the run of a unit of work within a transaction ended.
pub(super) enum Ran {
    /// It is done with, one way or the other.
    Ended(Result<Disposition, StoreError>),
    /// It lacks what can be fetched.
    Missed,
    /// It needs these locks, and one of them is not free.
    Needs(Vec<i64>),
    /// It met a failure that it may not meet again: what the database said.
    Again(String),
}

/// Runs a unit of work and finds out what became of it.
///
/// # Errors
/// If the connection is gone, or the transaction may be.
pub(super) fn run_to_its_end(unit: &mut DieselTransaction, task: &mut Task) -> Result<Ran, StoreError> {
    let ran = run(unit, task);
    let trouble = unit.take_trouble();
    if trouble == Some(Trouble::Lost) {
        error::note(trouble);
        unit.notice_loss();
        return Err(away());
    }
    if let Some(missing) = unit.locks.take_missing() {
        let mut needs = std::mem::take(&mut unit.run.uses);
        needs.push(missing);
        return Ok(Ran::Needs(needs));
    }
    Ok(match trouble {
        _ if unit.run.missed => Ran::Missed,
        Some(Trouble::Again(message)) if unit.may_pass() => Ran::Again(message),
        // Whatever the use case made of it: nobody should believe that it decided anything.
        Some(Trouble::Outage(outage)) => Ran::Ended(Err(StoreError::Unavailable(outage.reason().to_owned()))),
        _ => Ran::Ended(ran),
    })
}

/// Runs a task. A panic of a unit of work is the body's own failure and no reason to lose a thread that serves everyone; its message
/// may hold anything, so it is not logged here.
pub(super) fn run(unit: &mut DieselTransaction, task: &mut Task) -> Result<Disposition, StoreError> {
    let Task::Work(work) = task else { return unit.probe() };
    catch_unwind(AssertUnwindSafe(|| work(unit))).map_err(|_| {
        log::error!("a unit of work panicked and was rolled back");
        StoreError::Failed("panicked".to_owned())
    })
}
