//! Group commit: writing units of work that share a transaction.

use kopeck_port_store::{Disposition, StoreError};

use super::in_flight::QueuedTask;
use crate::error::lost;
use crate::single::{self, MAX_RUNS, RunOutcome, UnitOutcome, run_to_end};
use crate::transaction::DieselTransaction;
use crate::transaction::batch::{Mode, UnitState};

/// The most runs of units of work in one transaction: one for each key that depends on the value of another. One that takes
/// longer runs by itself.
const MAX_ROUNDS: usize = 12;

/// The state of one unit of work of the batch.
#[derive(Default)]
struct UnitProgress {
    /// How it ended within the open transaction; it holds once that is committed.
    ended: Option<UnitOutcome>,
    outcome: Option<UnitOutcome>,
    /// Locks that it needs.
    needs: Vec<i64>,
    runs: u32,
    /// Whether it waits for another transaction.
    later: bool,
    /// Whether it is to run in a transaction of its own.
    alone: bool,
}

impl UnitProgress {
    fn is_open(&self) -> bool {
        self.outcome.is_none() && !self.alone
    }

    /// Whether it is to be run, or run again, in this transaction.
    fn is_next(&self) -> bool {
        self.is_open() && self.ended.is_none() && !self.later
    }
}

/// Runs all `tasks` in one transaction, where none harms another. Those that meet a lock that is not free run again in
/// another transaction, whose first unit of work waits for it.
pub(super) fn group_commit(
    transaction: &mut DieselTransaction,
    tasks: &mut [QueuedTask],
    mode: Mode,
) -> Vec<UnitOutcome> {
    let mut batch: Vec<UnitProgress> = tasks.iter().map(|_| UnitProgress::default()).collect();
    while batch.iter().any(UnitProgress::is_open) {
        if let Err(error) = transaction.begin(false) {
            // Nothing ran, and whatever kept this transaction from beginning would keep each of them, one wait after
            // the other.
            return batch.into_iter().map(|unit| unit.outcome.unwrap_or(Err(error.clone()))).collect();
        }
        let committed = in_one_transaction(transaction, tasks, &mut batch, mode);
        for unit in &mut batch {
            let ended = unit.ended.take();
            unit.later = false;
            match &committed {
                Ok(()) => unit.outcome = unit.outcome.take().or(ended),
                // Nothing of it is in the database, and which of them broke the transaction is unknown.
                Err(_) => unit.alone |= unit.outcome.is_none(),
            }
        }
        if committed.is_err() {
            transaction.roll_back();
        }
        if transaction.is_lost() {
            // The outcome of the commit may be unknown, so nothing runs again.
            return batch.into_iter().map(|unit| unit.outcome.unwrap_or(Err(lost()))).collect();
        }
    }
    let ended = batch.into_iter().zip(tasks);
    ended
        .map(|(unit, task)| {
            unit.outcome
                .unwrap_or_else(|| single::write(transaction, &mut task.task, || task.caller.is_waiting()))
        })
        .collect()
}

/// One transaction over the open units of work. An error is one of the transaction, not of a unit of work.
fn in_one_transaction(
    transaction: &mut DieselTransaction,
    tasks: &mut [QueuedTask],
    batch: &mut [UnitProgress],
    mode: Mode,
) -> Result<(), StoreError> {
    if let Some(first) = batch.iter_mut().find(|unit| unit.is_next() && !unit.needs.is_empty())
        && let Err(error) = transaction.wait_for(&first.needs)
    {
        first.outcome = Some(Err(error.clone()));
        return Err(error);
    }
    for _ in 0..MAX_ROUNDS {
        for (unit, task) in batch.iter_mut().zip(&mut *tasks).filter(|(unit, _)| unit.is_next()) {
            if task.caller.is_waiting() {
                run_one(transaction, task, unit, mode)?;
            } else {
                unit.outcome = Some(Err(lost()));
            }
        }
        if !transaction.is_wanting() {
            break;
        }
        transaction.fetch()?;
    }
    batch.iter_mut().filter(|unit| unit.is_next()).for_each(|unit| unit.alone = true);
    transaction.write_kept()?;
    transaction.commit()
}

/// Runs one unit of work of the batch, and undoes its changes unless it commits.
fn run_one(
    transaction: &mut DieselTransaction,
    task: &mut QueuedTask,
    unit: &mut UnitProgress,
    mode: Mode,
) -> Result<(), StoreError> {
    transaction.run = UnitState::new(mode);
    let ran = run_to_end(transaction, &mut task.task)?;
    if transaction.run.broke {
        return Err(StoreError::Failed("rows of several units of work were refused".to_owned()));
    }
    let keep = matches!(ran, RunOutcome::Ended(Ok(Disposition::Commit)));
    transaction.end_run(keep)?;
    match ran {
        RunOutcome::Missed => {}
        RunOutcome::Ended(ran) => unit.ended = Some(ran.map(drop)),
        RunOutcome::Again(_) => unit.alone = true,
        RunOutcome::Needs(_) if unit.runs >= MAX_RUNS => unit.outcome = Some(Err(StoreError::Busy)),
        RunOutcome::Needs(needs) => {
            unit.runs += 1;
            unit.needs.extend(needs);
            unit.later = true;
        }
    }
    Ok(())
}
