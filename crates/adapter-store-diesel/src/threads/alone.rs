//! A writing unit of work with a transaction of its own.

use kopeck_port_store::{Disposition, StoreError};

use super::ran::{Ran, run_to_its_end};
use super::{RUNS, away};
use crate::hand::{Job, Outcome};
use crate::outage::Outage;
use crate::transaction::DieselTransaction;

/// How often a unit of work is run at most if it fails by itself. A constraint is no such failure.
const FAILED_RUNS: u32 = 3;

/// Runs one writing unit of work in a transaction of its own. It is not begun for a caller that was told that the
/// database is away.
pub(super) fn alone(unit: &mut DieselTransaction, job: &mut Job) -> Outcome {
    let mut needs = Vec::new();
    let mut failed = 0;
    for _ in 0..RUNS {
        if !job.caller.is_waiting() {
            return Err(away());
        }
        unit.begin(true)?;
        if let Err(error) = unit.wait_for(&needs) {
            unit.roll_back();
            return Err(error);
        }
        let ran = run_to_its_end(unit, &mut job.task);
        let ended = match ran {
            Ok(Ran::Ended(Ok(Disposition::Commit))) => match unit.commit() {
                Err(error) => Err(error),
                Ok(()) => return Ok(()),
            },
            Ok(Ran::Ended(Ok(Disposition::RollBack))) => Ok(()),
            Ok(Ran::Ended(Err(ref error))) => Err(error.clone()),
            // A failure of an unknown kind that stays: another request would meet it too.
            Ok(Ran::Again(ref message)) => Err(StoreError::Unavailable(message.clone())),
            // Alone nothing goes through the memory, so nothing is missed.
            Ok(Ran::Needs(_) | Ran::Missed) => Err(StoreError::Busy),
            Err(ref error) => Err(error.clone()),
        };
        unit.roll_back();
        match ran {
            _ if unit.is_lost() => return Err(away()),
            Ok(Ran::Needs(more)) => needs = more,
            Ok(Ran::Again(_)) if failed + 1 < FAILED_RUNS => failed += 1,
            Ok(Ran::Again(_)) => {
                unit.meets(Outage::Other);
                return ended;
            }
            _ => return ended,
        }
    }
    Err(StoreError::Busy)
}
