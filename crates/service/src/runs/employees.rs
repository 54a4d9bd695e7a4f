//! Carries out a run of employees, some items at a time: each is added or updated by the use cases of employees.

use std::collections::HashMap;

use kopeck_domain::employee::{Change, EmployeeUpdate, NewEmployee};
use kopeck_domain::ids::{CategoryId, EmployeeId, PartnerId};
use kopeck_domain::person::CustomId;
use kopeck_domain::run::row::{CategoryRef, Cells, EmployeeRow, Meaning};
use kopeck_domain::run::{Outcome, Run, RunItem, RunKind};
use kopeck_port_store::{RunDecision, StoreError, UnitOfWork};

use super::execution::{decision, skip_faulty};
use super::preview;
use crate::Env;
use crate::categories::{self, CreateCategoryError};
use crate::employees::{self, AddEmployeeError, UpdateEmployeeError};

/// Items of a unit of work.
const CHUNK: u32 = 100;

/// Carries out the next items. Whether there may be more.
pub(super) fn advance(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    partner: PartnerId,
    run: &Run,
) -> Result<bool, StoreError> {
    let items = unit.runs().open_items(partner, run.id(), CHUNK)?;
    if items.is_empty() {
        return Ok(false);
    }
    let (sound, mut decisions) = skip_faulty(items);
    let mut known = HashMap::new();
    for item in &sound {
        decisions.push(carry_out(unit, env, partner, run, item, &mut known)?);
    }
    unit.runs().decide(partner, run.id(), &decisions)?;
    Ok(true)
}

type KnownCategories = HashMap<String, Option<CategoryId>>;

fn carry_out(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    partner: PartnerId,
    run: &Run,
    item: &RunItem,
    known: &mut KnownCategories,
) -> Result<RunDecision, StoreError> {
    let Ok(Meaning::Employee(custom_id, row)) = Cells::new(&item.cells).meaning(RunKind::Employees) else {
        return Ok(decision(item, Outcome::Refused, "there is no such employee"));
    };
    let category = match &row.category {
        Change::Keep => Change::Keep,
        Change::Clear => Change::Clear,
        Change::Set(category) => match category_of(unit, env, partner, run, category, known)? {
            Some(category) => Change::Set(category),
            None => return Ok(decision(item, Outcome::Refused, "there is no such category")),
        },
    };
    let present = unit.employees().id_by_custom_id(partner, &custom_id)?;
    match (item.employee, present) {
        // Nothing is ever added: whoever was to be updated is somebody else now, or gone.
        (Some(shown), present) if present != Some(shown) => {
            Ok(decision(item, Outcome::Refused, "there is no such employee"))
        }
        (_, Some(id)) => update(unit, env, partner, item, id, *row, category),
        (_, None) => add(unit, env, partner, item, &custom_id, *row, category),
    }
}

fn add(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    partner: PartnerId,
    item: &RunItem,
    custom_id: &CustomId,
    row: EmployeeRow,
    category: Change<CategoryId>,
) -> Result<RunDecision, StoreError> {
    let fields = NewEmployee {
        surname: set(row.surname),
        name: set(row.name),
        patronymic: set(row.patronymic),
        phone: set(row.phone),
        email: set(row.email),
        category: set(category),
        status: row.status,
    };
    match employees::add(unit, env, partner, custom_id, &fields) {
        Ok(employee) => Ok(done(item, employee.id())),
        Err(AddEmployeeError::Store(error)) => Err(error),
        Err(AddEmployeeError::Conflicts(_)) => Ok(decision(item, Outcome::Refused, CONFLICT)),
    }
}

fn update(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    partner: PartnerId,
    item: &RunItem,
    id: EmployeeId,
    row: EmployeeRow,
    category: Change<CategoryId>,
) -> Result<RunDecision, StoreError> {
    let EmployeeRow { surname, name, patronymic, phone, email, status, category: _ } = row;
    let update =
        EmployeeUpdate { custom_id: None, surname, name, patronymic, phone, email, category, status };
    match employees::update(unit, env, partner, id, &update, |_| true) {
        Ok(employee) => Ok(done(item, employee.id())),
        Err(UpdateEmployeeError::Store(error)) => Err(error),
        Err(
            UpdateEmployeeError::Conflicts(_) | UpdateEmployeeError::NotFound | UpdateEmployeeError::Changed,
        ) => Ok(decision(item, Outcome::Refused, CONFLICT)),
    }
}

const CONFLICT: &str = "values in conflict with other data";

fn done(item: &RunItem, employee: EmployeeId) -> RunDecision {
    let employee = Some(employee);
    RunDecision { ordinal: item.ordinal, outcome: Outcome::Done, reason: None, employee }
}

fn set<T>(change: Change<T>) -> Option<T> {
    match change {
        Change::Set(value) => Some(value),
        Change::Keep | Change::Clear => None,
    }
}

/// The category that an item names; created if the run creates those that are missing.
fn category_of(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    partner: PartnerId,
    run: &Run,
    category: &CategoryRef,
    known: &mut KnownCategories,
) -> Result<Option<CategoryId>, StoreError> {
    let found = preview::category_id(unit, partner, category, known)?;
    match (found, category) {
        (None, CategoryRef::Name(name)) if run.creates_categories() => {
            let created = match categories::create(unit, env, partner, name.clone()) {
                Ok(created) => created.id,
                Err(CreateCategoryError::Exists) => return Err(StoreError::Busy),
                Err(CreateCategoryError::Store(error)) => return Err(error),
            };
            // The names are compared without letter case, which the keys are not.
            known.clear();
            Ok(Some(created))
        }
        (found, _) => Ok(found),
    }
}
