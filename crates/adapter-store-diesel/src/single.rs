//! A unit of work in a transaction of its own.

use std::panic::{AssertUnwindSafe, catch_unwind};

use kopeck_port_store::{Disposition, Done, StoreError, Work};

use crate::error::{StatementFailure, lost};
use crate::transaction::DieselTransaction;
use kopeck_port_store::Outage;

/// The most runs of a unit of work.
pub(crate) const MAX_RUNS: u32 = 12;

/// The most runs of a unit of work after failures of an unknown kind, such as a deadlock.
const MAX_FAILED_RUNS: u32 = 3;

/// How a unit of work ended, before its caller learns it.
pub(crate) type UnitOutcome = Result<(), StoreError>;

/// Tells a caller the outcome. A panic of its `done` costs no thread.
pub(crate) fn answer(done: Done, outcome: UnitOutcome) {
    if catch_unwind(AssertUnwindSafe(|| done(outcome))).is_err() {
        log::error!("a receiver of a result panicked");
    }
}

/// What runs in a transaction.
pub(crate) enum Task {
    /// A unit of work.
    Work(Work),
    /// A write that changes nothing, to find out whether the database accepts writes.
    Probe,
}

/// How one run of a unit of work within a transaction ended.
pub(crate) enum RunOutcome {
    /// It is over, one way or the other.
    Ended(Result<Disposition, StoreError>),
    /// It lacks keys that the batch can load.
    Missed,
    /// It needs these locks, and one of them is not free.
    Needs(Vec<i64>),
    /// It met a failure that may pass: the message of the database.
    Again(String),
}

/// Runs a task and finds out how it ended.
///
/// # Errors
/// If the connection is lost.
pub(crate) fn run_to_end(
    transaction: &mut DieselTransaction,
    task: &mut Task,
) -> Result<RunOutcome, StoreError> {
    let ended = run(transaction, task);
    let failure = transaction.take_failure();
    if transaction.is_lost() {
        return Err(lost());
    }
    if let Some(missing) = transaction.locks.take_missing() {
        let mut needs = std::mem::take(&mut transaction.run.uses);
        needs.push(missing);
        return Ok(RunOutcome::Needs(needs));
    }
    Ok(match failure {
        _ if transaction.run.missed => RunOutcome::Missed,
        Some(StatementFailure::Transient(message)) if transaction.may_pass() => RunOutcome::Again(message),
        // The use case may have made a decision of the failure, which it is not.
        Some(StatementFailure::Outage(outage)) => {
            RunOutcome::Ended(Err(StoreError::Unavailable(outage.reason().to_owned())))
        }
        _ => RunOutcome::Ended(ended),
    })
}

/// Runs a task. A panic is a failure of the unit of work, and no reason to lose a thread; its message may hold anything, so
/// it is not logged.
pub(crate) fn run(transaction: &mut DieselTransaction, task: &mut Task) -> Result<Disposition, StoreError> {
    let Task::Work(work) = task else { return transaction.probe() };
    transaction.may_run()?;
    catch_unwind(AssertUnwindSafe(|| work(transaction))).map_err(|_| {
        log::error!("a unit of work panicked and was rolled back");
        StoreError::Failed("panicked".to_owned())
    })
}

/// Runs one writing unit of work, again if it met a lock that was not free or a failure that may pass, as long as it
/// `is_wanted`.
pub(crate) fn write(
    transaction: &mut DieselTransaction,
    task: &mut Task,
    is_wanted: impl Fn() -> bool,
) -> UnitOutcome {
    let mut needs = Vec::new();
    let mut failed = 0;
    for _ in 0..MAX_RUNS {
        if !is_wanted() {
            return Err(lost());
        }
        transaction.begin(true)?;
        if let Err(error) = transaction.wait_for(&needs) {
            transaction.roll_back();
            return Err(error);
        }
        let ran = run_to_end(transaction, task);
        let ended = match ran {
            Ok(RunOutcome::Ended(Ok(Disposition::Commit))) => match transaction.commit() {
                Err(error) => Err(error),
                Ok(()) => return Ok(()),
            },
            Ok(RunOutcome::Ended(Ok(Disposition::RollBack))) => Ok(()),
            Ok(RunOutcome::Ended(Err(ref error))) | Err(ref error) => Err(error.clone()),
            // A failure that stays: another request would meet it too.
            Ok(RunOutcome::Again(ref message)) => Err(StoreError::Unavailable(message.clone())),
            // Without a batch nothing is loaded ahead, so nothing is missed.
            Ok(RunOutcome::Needs(_) | RunOutcome::Missed) => Err(StoreError::Busy),
        };
        transaction.roll_back();
        match ran {
            _ if transaction.is_lost() => return Err(lost()),
            Ok(RunOutcome::Needs(more)) => needs = more,
            Ok(RunOutcome::Again(_)) if failed + 1 < MAX_FAILED_RUNS => failed += 1,
            Ok(RunOutcome::Again(_)) => {
                transaction.note_outage(Outage::Other);
                return ended;
            }
            _ => return ended,
        }
    }
    Err(StoreError::Busy)
}

/// Runs one reading unit of work.
pub(crate) fn read(transaction: &mut DieselTransaction, task: &mut Task) -> UnitOutcome {
    transaction.begin(true)?;
    let outcome = read_within(transaction, task);
    if transaction.is_open() {
        transaction.roll_back();
    }
    outcome
}

/// Runs one reading unit of work within the open transaction, and rolls that back if a statement failed, since it may be
/// broken for others.
pub(crate) fn read_within(transaction: &mut DieselTransaction, task: &mut Task) -> UnitOutcome {
    let ended = run(transaction, task).map(drop);
    let Some(failure) = transaction.take_failure() else { return ended };
    transaction.roll_back();
    match failure {
        _ if transaction.is_lost() => Err(lost()),
        // The connection, not the database, is read-only.
        StatementFailure::Outage(Outage::ReadOnly) => {
            Err(StoreError::Failed("a reader tried to write".to_owned()))
        }
        StatementFailure::Transient(message) if transaction.may_pass() => {
            Err(StoreError::Unavailable(message))
        }
        _ => ended,
    }
}
