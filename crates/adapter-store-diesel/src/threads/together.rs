//! Writing units of work that share a transaction.

use kopeck_port_store::{Disposition, StoreError};

use super::alone::alone;
use super::ran::{Ran, run_to_its_end};
use super::{RUNS, away};
use crate::hand::{Job, Outcome};
use crate::transaction::DieselTransaction;
use crate::transaction::batch::{Mode, UnitState};

/// How often units of work are run at most in one transaction, once for each look-up that hangs on the one before. Who
/// takes longer is run alone.
const ROUNDS: usize = 12;

/// A unit of work among others.
#[derive(Default)]
struct Turn {
    /// How it ended within the open transaction; it holds once that is committed.
    ended: Option<Outcome>,
    outcome: Option<Outcome>,
    /// Locks that it is known to need.
    needs: Vec<i64>,
    runs: u32,
    /// Whether it has to wait for another transaction.
    later: bool,
    /// Whether it is to be run with nobody beside it.
    alone: bool,
}

impl Turn {
    fn is_open(&self) -> bool {
        self.outcome.is_none() && !self.alone
    }

    /// Whether it is to be run, or run again, in this transaction.
    fn is_next(&self) -> bool {
        self.is_open() && self.ended.is_none() && !self.later
    }
}

/// Runs every job in one transaction, where none harms another. Those that meet a lock that is not free do so again in
/// another transaction, whose first waits for it.
pub(super) fn together(unit: &mut DieselTransaction, jobs: &mut [Job], mode: Mode) -> Vec<Outcome> {
    let mut turns: Vec<Turn> = jobs.iter().map(|_| Turn::default()).collect();
    while turns.iter().any(Turn::is_open) {
        if let Err(error) = unit.begin(false) {
            // Nothing ran, and whatever kept this transaction from beginning would keep each of them, one wait after
            // the other.
            return turns.into_iter().map(|turn| turn.outcome.unwrap_or(Err(error.clone()))).collect();
        }
        let committed = in_one_transaction(unit, jobs, &mut turns, mode);
        for turn in &mut turns {
            let ended = turn.ended.take();
            turn.later = false;
            match &committed {
                Ok(()) => turn.outcome = turn.outcome.take().or(ended),
                // Nothing of it is in the database, and which of them broke the transaction is unknown.
                Err(_) => turn.alone |= turn.outcome.is_none(),
            }
        }
        if committed.is_err() {
            unit.roll_back();
        }
        if unit.is_lost() {
            // Of a commit whose answer was lost nobody knows, so nothing is run again.
            return turns.into_iter().map(|turn| turn.outcome.unwrap_or(Err(away()))).collect();
        }
    }
    let ended = turns.into_iter().zip(jobs);
    ended.map(|(turn, job)| turn.outcome.unwrap_or_else(|| alone(unit, job))).collect()
}

/// One transaction over the open turns. An error is one of the transaction, not of a job.
fn in_one_transaction(
    unit: &mut DieselTransaction,
    jobs: &mut [Job],
    turns: &mut [Turn],
    mode: Mode,
) -> Result<(), StoreError> {
    if let Some(first) = turns.iter_mut().find(|turn| turn.is_next() && !turn.needs.is_empty())
        && let Err(error) = unit.wait_for(&first.needs)
    {
        first.outcome = Some(Err(error.clone()));
        return Err(error);
    }
    for _ in 0..ROUNDS {
        for (turn, job) in turns.iter_mut().zip(&mut *jobs).filter(|(turn, _)| turn.is_next()) {
            if job.caller.is_waiting() {
                take_turn(unit, job, turn, mode)?;
            } else {
                turn.outcome = Some(Err(away()));
            }
        }
        if !unit.is_wanting() {
            break;
        }
        unit.fetch()?;
    }
    turns.iter_mut().filter(|turn| turn.is_next()).for_each(|turn| turn.alone = true);
    unit.write_kept()?;
    unit.commit()
}

/// Runs one unit of work among others, and undoes what it did unless it is to be kept.
fn take_turn(
    unit: &mut DieselTransaction,
    job: &mut Job,
    turn: &mut Turn,
    mode: Mode,
) -> Result<(), StoreError> {
    unit.run = UnitState::new(mode);
    let ran = run_to_its_end(unit, &mut job.task)?;
    if unit.run.broke {
        return Err(StoreError::Failed("rows of several units of work were refused".to_owned()));
    }
    let keep = matches!(ran, Ran::Ended(Ok(Disposition::Commit)));
    unit.end_run(keep)?;
    match ran {
        Ran::Missed => {}
        Ran::Ended(ran) => turn.ended = Some(ran.map(drop)),
        Ran::Again(_) => turn.alone = true,
        Ran::Needs(_) if turn.runs >= RUNS => turn.outcome = Some(Err(StoreError::Busy)),
        Ran::Needs(needs) => {
            turn.runs += 1;
            turn.needs.extend(needs);
            turn.later = true;
        }
    }
    Ok(())
}
