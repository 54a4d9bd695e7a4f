//! Applies the plan of an import, a few rows at a time.

use std::collections::HashSet;

use futures_util::{StreamExt as _, stream};
use kopeck_client::{Client, Employee, Error, Uuid};

use super::key_of;
use super::plan::{Action, Change, Plan};
use crate::csv_file::RowFault;
use crate::failure::Failure;
use crate::names::AT_ONCE;
use crate::progress::Progress;

/// The result of a row.
enum RowOutcome {
    Changed(Change),
    Faulty(Vec<RowFault>),
}

/// Applies the plan and returns what was done. A row that the service refuses is faulty and stops nothing; an
/// unreachable service ends the run.
pub(super) async fn apply(client: &Client, plan: Plan, staff: &[Employee]) -> Result<Plan, Failure> {
    let Plan { changes, unchanged, faults } = plan;
    let known: HashSet<Uuid> = staff.iter().map(|employee| employee.id_employee).collect();
    let progress = Progress::of("employees", changes.len());
    let mut done = Plan { changes: Vec::new(), unchanged, faults };
    let mut outcomes =
        stream::iter(changes).map(|change| one(client, change, &known)).buffer_unordered(AT_ONCE);
    while let Some(outcome) = outcomes.next().await {
        progress.step();
        match outcome? {
            RowOutcome::Changed(change) => done.changes.push(change),
            RowOutcome::Faulty(faults) => done.faults.extend(faults),
        }
    }
    done.changes.sort_by_key(|change| change.row.line);
    Ok(done)
}

async fn one(client: &Client, change: Change, known: &HashSet<Uuid>) -> Result<RowOutcome, Failure> {
    let employees = client.employees();
    let answered = match &change.action {
        Action::Add(employee) => {
            let added = employees.add(employee).idempotency_key(key_of(employee)?).await;
            match added {
                // A recorded response of last week: that employee has been renamed since, so this one is new.
                Ok(replayed) if known.contains(&replayed.id_employee) => employees.add(employee).await,
                added => added,
            }
        }
        // A new key each time: the same change may come twice within a week, with another one between.
        Action::Update { id, update, .. } => employees.update(*id, update).await,
    };
    match answered {
        Ok(_) => Ok(RowOutcome::Changed(change)),
        Err(error) => faults(&change, error).map(RowOutcome::Faulty),
    }
}

/// The faults of the row, or the error if it is not about the row.
fn faults(change: &Change, error: Error) -> Result<Vec<RowFault>, Failure> {
    let Change { row, custom_id, .. } = change;
    match error {
        Error::Invalid { faults, .. } => Ok(faults
            .into_iter()
            .map(|fault| {
                let column = if fault.field == "idCategory" { "category" } else { &fault.field };
                row.fault(custom_id, column, fault.detail.unwrap_or(fault.message))
            })
            .collect()),
        Error::Api { status: 404 | 409, message, .. } => Ok(vec![row.fault(custom_id, "row", message)]),
        error => Err(error.into()),
    }
}
