//! Reading units of work that share statements and transactions.

use kopeck_port_store::StoreError;

use super::in_flight::QueuedTask;
use crate::error::lost;
use crate::single;
use crate::transaction::DieselTransaction;
use crate::transaction::batch::{Mode, UnitState};

/// The most runs of units of work in one transaction: one for each key that depends on the value of another.
const MAX_ROUNDS: usize = 8;

/// Serves `tasks`. Those of one transaction see one state of the data, and it is one of after they were submitted.
pub(super) fn read_batch(transaction: &mut DieselTransaction, tasks: Vec<QueuedTask>, mode: Mode) {
    if mode != Mode::Batched {
        return one_by_one(transaction, tasks);
    }
    let mut left = by_one_statement(transaction, tasks);
    if left.len() > 1 {
        left = in_one_transaction(transaction, left);
        if transaction.is_lost() {
            return left.into_iter().for_each(|task| task.caller.answer(Err(lost())));
        }
    }
    if !left.is_empty() {
        one_by_one(transaction, left);
    }
}

/// Completes units of work that need no more than one statement. It sees one state by itself, so a transaction around it
/// would be two round trips for nothing. The others run again from the start, in one.
fn by_one_statement(transaction: &mut DieselTransaction, mut open: Vec<QueuedTask>) -> Vec<QueuedTask> {
    transaction.stay_outside();
    run_all(transaction, &mut open);
    if transaction.is_wanting_one_kind() && !transaction.has_failed() {
        if transaction.fetch().is_ok() {
            run_all(transaction, &mut open);
        }
        transaction.take_failure();
    }
    open
}

/// Runs all units of work until the batch has loaded each key that they read. Returns those that failed or take too long,
/// to run by themselves.
fn in_one_transaction(transaction: &mut DieselTransaction, mut open: Vec<QueuedTask>) -> Vec<QueuedTask> {
    if transaction.begin(true).is_err() {
        return open;
    }
    for _ in 0..MAX_ROUNDS {
        run_all(transaction, &mut open);
        if open.is_empty() || transaction.has_failed() || transaction.fetch().is_err() {
            break;
        }
    }
    transaction.take_failure();
    transaction.roll_back();
    open
}

/// Runs every unit of work that still has a caller, and leaves those that lack a key.
fn run_all(transaction: &mut DieselTransaction, open: &mut Vec<QueuedTask>) {
    open.retain_mut(|task| {
        if !task.caller.is_waiting() {
            return false;
        }
        transaction.run = UnitState::new(Mode::Batched);
        let ended = single::run(transaction, &mut task.task);
        let left = transaction.has_failed() || transaction.run.missed;
        if !left {
            task.caller.answer(ended.map(drop));
        }
        left
    });
}

fn one_by_one(transaction: &mut DieselTransaction, tasks: Vec<QueuedTask>) {
    let mut begun = transaction.begin(true);
    for mut task in tasks.into_iter().filter(|task| task.caller.is_waiting()) {
        if begun.is_ok() && !transaction.is_open() {
            begun = if transaction.is_lost() { Err(lost()) } else { transaction.begin(true) };
        }
        let outcome: Result<(), StoreError> = match &begun {
            Ok(()) => single::read_within(transaction, &mut task.task),
            Err(error) => Err(error.clone()),
        };
        task.caller.answer(outcome);
    }
    if transaction.is_open() {
        transaction.roll_back();
    }
}
