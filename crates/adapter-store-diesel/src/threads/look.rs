//! Reading units of work.

use kopeck_port_store::StoreError;

use super::away;
use super::ran::run;
use crate::error::{self, Trouble};
use crate::hand::Job;
use crate::outage::Outage;
use crate::transaction::DieselTransaction;
use crate::transaction::batch::{Mode, UnitState};

/// How often those who look things up together are run at most, once for each look-up that hangs on the one before.
const ROUNDS: usize = 8;

/// Serves `jobs`. Those who are answered by one transaction see one state.
pub(super) fn look(unit: &mut DieselTransaction, jobs: Vec<Job>, mode: Mode) {
    if mode != Mode::Batched {
        return one_by_one(unit, jobs);
    }
    let mut left = by_one_statement(unit, jobs);
    if left.len() > 1 {
        left = together(unit, left);
        if unit.is_lost() {
            return left.into_iter().for_each(|job| job.caller.answer(Err(away())));
        }
    }
    if !left.is_empty() {
        one_by_one(unit, left);
    }
}

/// Answers those to whom one statement says all they want to know. It sees one state by itself, so a transaction around
/// it would be two round trips for nothing. Who wants more is run from the start again, in one.
fn by_one_statement(unit: &mut DieselTransaction, mut open: Vec<Job>) -> Vec<Job> {
    if unit.is_lost() {
        // The transaction that is begun for them connects anew.
        return open;
    }
    unit.stay_outside();
    run_all(unit, &mut open);
    if unit.is_wanting_one_kind() && !error::has_trouble() {
        if unit.fetch().is_ok() {
            run_all(unit, &mut open);
        }
        unit.notice_loss();
    }
    open
}

/// Runs everyone until each has what it looks up, which is fetched for all at once. Answers those that met trouble or
/// take too long, to be run by themselves.
fn together(unit: &mut DieselTransaction, mut open: Vec<Job>) -> Vec<Job> {
    if unit.begin(true).is_err() {
        return open;
    }
    for _ in 0..ROUNDS {
        run_all(unit, &mut open);
        if open.is_empty() || error::has_trouble() || unit.fetch().is_err() {
            break;
        }
    }
    unit.notice_loss();
    unit.roll_back();
    open
}

/// Runs everyone who still waits, and leaves those who lack something.
fn run_all(unit: &mut DieselTransaction, open: &mut Vec<Job>) {
    open.retain_mut(|job| {
        if !job.caller.is_waiting() {
            return false;
        }
        unit.run = UnitState::new(Mode::Batched);
        let ran = run(unit, &mut job.task);
        let left = error::has_trouble() || unit.run.missed;
        if !left {
            job.caller.answer(ran.map(drop));
        }
        left
    });
}

fn one_by_one(unit: &mut DieselTransaction, jobs: Vec<Job>) {
    let mut begun = unit.begin(true);
    for mut job in jobs.into_iter().filter(|job| job.caller.is_waiting()) {
        if let Err(error) = &begun {
            job.caller.answer(Err(error.clone()));
            continue;
        }
        let ran = run(unit, &mut job.task);
        let outcome = match unit.take_trouble() {
            None => ran.map(drop),
            Some(trouble) => {
                unit.roll_back();
                let lost = trouble == Trouble::Lost || unit.is_lost();
                // The transaction may be broken for those who come next.
                begun = if lost { Err(away()) } else { unit.begin(true) };
                match trouble {
                    _ if lost => Err(away()),
                    // The connection, not the database, is read-only.
                    Trouble::Outage(Outage::ReadOnly) => {
                        Err(StoreError::Failed("a reader tried to write".to_owned()))
                    }
                    Trouble::Again(message) if unit.may_pass() => Err(StoreError::Unavailable(message)),
                    _ => ran.map(drop),
                }
            }
        };
        job.caller.answer(outcome);
    }
    if begun.is_ok() {
        unit.roll_back();
    }
}
