//! Reading units of work.

use super::away;
use super::ran::run;
use crate::error::{self, Trouble};
use crate::hand::Job;
use crate::memory::{Mode, Run};
use crate::unit::Unit;

/// How often those who look things up together are run at most, once for each look-up that hangs on the one before.
const ROUNDS: usize = 8;

/// Serves `jobs` in one transaction.
pub(super) fn look(unit: &mut Unit, jobs: Vec<Job>, mode: Mode) {
    if mode != Mode::Remembering || jobs.len() == 1 {
        return one_by_one(unit, jobs);
    }
    let left = together(unit, jobs);
    if unit.is_lost() {
        left.into_iter().for_each(|job| job.caller.answer(Err(away())));
    } else if !left.is_empty() {
        one_by_one(unit, left);
    }
}

/// Runs everyone until each has what it looks up, which is fetched for all at once. Answers those that met trouble or
/// take too long, to be run by themselves.
fn together(unit: &mut Unit, mut open: Vec<Job>) -> Vec<Job> {
    if unit.begin(true).is_err() {
        return open;
    }
    for _ in 0..ROUNDS {
        let mut left = Vec::new();
        for mut job in open {
            if !job.caller.is_waiting() {
                continue;
            }
            unit.run = Run::new(Mode::Remembering);
            let ran = run(unit, &mut job.work);
            if error::has_trouble() || unit.run.missed {
                left.push(job);
            } else {
                job.caller.answer(ran.map(drop));
            }
        }
        open = left;
        if open.is_empty() || error::has_trouble() || unit.fetch().is_err() {
            break;
        }
    }
    unit.notice_loss();
    unit.roll_back();
    open
}

fn one_by_one(unit: &mut Unit, jobs: Vec<Job>) {
    let mut begun = unit.begin(true);
    for mut job in jobs.into_iter().filter(|job| job.caller.is_waiting()) {
        if let Err(error) = &begun {
            job.caller.answer(Err(error.clone()));
            continue;
        }
        let ran = run(unit, &mut job.work);
        let outcome = match error::take_trouble() {
            None => ran.map(drop),
            Some(trouble) => {
                unit.roll_back();
                let lost = trouble == Trouble::Lost || unit.is_lost();
                // The transaction may be broken for those who come next.
                begun = if lost { Err(away()) } else { unit.begin(true) };
                if lost { Err(away()) } else { ran.map(drop) }
            }
        };
        job.caller.answer(outcome);
    }
    if begun.is_ok() {
        unit.roll_back();
    }
}
