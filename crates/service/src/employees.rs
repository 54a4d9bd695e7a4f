//! Employees: add, update, get, list, erase.

use kopeck_domain::card::CardStatus;
use kopeck_domain::employee::{Change, Employee, EmployeeUpdate, NewEmployee};
use kopeck_domain::event::{EmployeeChange, EmployeeErased, EventData};
use kopeck_domain::ids::{CardId, CategoryId, EmployeeId, PartnerId};
use kopeck_domain::person::CustomId;
use kopeck_port_store::page::{Listed, Page};
use kopeck_port_store::{EmployeeFilter, Rule, StoreError, UnitOfWork};

use crate::{Env, events, leavers};

/// A value of an employee that the partner's other data do not permit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EmployeeConflict {
    /// The custom identifier belongs to another employee.
    CustomIdTaken,
    /// The partner has no such category.
    UnknownCategory,
}

/// Why an employee was not added.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AddEmployeeError {
    /// Values are not permitted; all of them are named.
    #[error("values in conflict with other data")]
    Conflicts(Vec<EmployeeConflict>),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Why an employee was not updated.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UpdateEmployeeError {
    /// Values are not permitted; all of them are named.
    #[error("values in conflict with other data")]
    Conflicts(Vec<EmployeeConflict>),
    /// The partner has no such employee.
    #[error("no such employee")]
    NotFound,
    /// The present state is not the expected one.
    #[error("the employee has changed")]
    Changed,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Why an employee was not shown.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GetEmployeeError {
    /// The partner has no such employee.
    #[error("no such employee")]
    NotFound,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Why an employee was not erased.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EraseEmployeeError {
    /// The partner has no such employee.
    #[error("no such employee")]
    NotFound,
    /// A card of theirs is neither closed nor expired.
    #[error("the employee has a card that is neither closed nor expired: unlink or close it first")]
    HasCards,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Adds an employee.
///
/// # Errors
/// [`AddEmployeeError`].
pub fn add(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    partner: PartnerId,
    custom_id: &CustomId,
    fields: &NewEmployee,
) -> Result<Employee, AddEmployeeError> {
    let conflicts = conflicts_of_new(unit, partner, Some(custom_id), fields)?;
    if !conflicts.is_empty() {
        return Err(AddEmployeeError::Conflicts(conflicts));
    }
    let id = EmployeeId::new(env.ids.next_id());
    let employee = Employee::add(id, custom_id.clone(), fields.clone(), env.now());
    match unit.employees().insert(partner, &employee) {
        Ok(()) => {
            events::append(unit, env, partner, [EventData::EmployeeCreated(change_of(&employee))])?;
            Ok(employee)
        }
        Err(error) => Err(raced_conflict(&error)
            .map_or(AddEmployeeError::Store(error), |conflict| AddEmployeeError::Conflicts(vec![conflict]))),
    }
}

/// Updates an employee whose present state is the `expected` one. If the new status says that the employee has left, the cards follow
/// the partner's rules for [leavers].
///
/// # Errors
/// [`UpdateEmployeeError`]; conflicts come before an unknown employee, and both before an unexpected state.
pub fn update(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    partner: PartnerId,
    id: EmployeeId,
    update: &EmployeeUpdate,
    expected: impl Fn(&Employee) -> bool,
) -> Result<Employee, UpdateEmployeeError> {
    let conflicts = conflicts_of_update(unit, partner, id, update)?;
    if !conflicts.is_empty() {
        return Err(UpdateEmployeeError::Conflicts(conflicts));
    }
    let present = unit.employees().get(partner, id)?.ok_or(UpdateEmployeeError::NotFound)?;
    if !expected(&present) {
        return Err(UpdateEmployeeError::Changed);
    }
    let employee = present.clone().update(update.clone(), env.now());
    match unit.employees().update(partner, &employee) {
        Ok(()) => {
            let changed = (employee != present).then(|| EventData::EmployeeUpdated(change_of(&employee)));
            events::append(unit, env, partner, changed)?;
            leavers::follow(unit, env, partner, present.status(), &employee)?;
            Ok(employee)
        }
        Err(error) => Err(raced_conflict(&error).map_or(UpdateEmployeeError::Store(error), |conflict| {
            UpdateEmployeeError::Conflicts(vec![conflict])
        })),
    }
}

/// The conflicts of a new employee, for a caller that has found other faults and reports all of them at once. It may lack a
/// valid `custom_id`.
///
/// # Errors
/// [`StoreError`] if the store fails.
pub fn conflicts_of_new(
    unit: &mut dyn UnitOfWork,
    partner: PartnerId,
    custom_id: Option<&CustomId>,
    fields: &NewEmployee,
) -> Result<Vec<EmployeeConflict>, StoreError> {
    conflicts(unit, partner, None, custom_id, fields.category)
}

/// The conflicts of an update, as [`conflicts_of_new`].
///
/// # Errors
/// [`StoreError`] if the store fails.
pub fn conflicts_of_update(
    unit: &mut dyn UnitOfWork,
    partner: PartnerId,
    id: EmployeeId,
    update: &EmployeeUpdate,
) -> Result<Vec<EmployeeConflict>, StoreError> {
    let category = match update.category {
        Change::Set(category) => Some(category),
        Change::Keep | Change::Clear => None,
    };
    conflicts(unit, partner, Some(id), update.custom_id.as_ref(), category)
}

/// An employee with the cards linked to them, and their statuses.
///
/// # Errors
/// [`GetEmployeeError`].
pub fn get(
    unit: &mut dyn UnitOfWork,
    partner: PartnerId,
    id: EmployeeId,
) -> Result<(Employee, Vec<(CardId, CardStatus)>), GetEmployeeError> {
    unit.employees().with_cards(partner, id)?.ok_or(GetEmployeeError::NotFound)
}

/// Erases an employee's personal data for good. Money and requests stay under the identifier.
///
/// # Errors
/// [`EraseEmployeeError`].
pub fn erase(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    partner: PartnerId,
    id: EmployeeId,
) -> Result<EmployeeId, EraseEmployeeError> {
    let (_, cards) = unit.employees().with_cards(partner, id)?.ok_or(EraseEmployeeError::NotFound)?;
    for (card, _) in cards {
        let record = unit.cards().get(partner, card)?;
        if record.is_some_and(|record| !record.card.is_over(record.bank.standing, env.today())) {
            return Err(EraseEmployeeError::HasCards);
        }
    }
    unit.employees().erase(partner, id, env.now())?;
    events::append(unit, env, partner, [EventData::EmployeeErased(EmployeeErased { employee: id })])?;
    Ok(id)
}

/// A page of the partner's employees in order of creation.
///
/// # Errors
/// [`StoreError`] if the store fails.
pub fn list(
    unit: &mut dyn UnitOfWork,
    partner: PartnerId,
    filter: &EmployeeFilter,
    page: Page,
) -> Result<Listed<Employee>, StoreError> {
    unit.employees().list(partner, filter, page)
}

fn change_of(employee: &Employee) -> EmployeeChange {
    EmployeeChange { employee: employee.id(), custom_id: Some(employee.custom_id().clone()) }
}

/// The conflicts of these values. `own` is the employee that may keep its custom identifier.
fn conflicts(
    unit: &mut dyn UnitOfWork,
    partner: PartnerId,
    own: Option<EmployeeId>,
    custom_id: Option<&CustomId>,
    category: Option<CategoryId>,
) -> Result<Vec<EmployeeConflict>, StoreError> {
    let mut conflicts = Vec::new();
    if let Some(custom_id) = custom_id {
        let holder = unit.employees().id_by_custom_id(partner, custom_id)?;
        if holder.is_some() && holder != own {
            conflicts.push(EmployeeConflict::CustomIdTaken);
        }
    }
    if let Some(category) = category
        && unit.categories().get(partner, category)?.is_none()
    {
        conflicts.push(EmployeeConflict::UnknownCategory);
    }
    Ok(conflicts)
}

/// The conflict with a concurrent request, by the constraint that it made fail.
fn raced_conflict(error: &StoreError) -> Option<EmployeeConflict> {
    match error {
        StoreError::Conflict(Rule::EmployeeCustomId) => Some(EmployeeConflict::CustomIdTaken),
        StoreError::Conflict(Rule::Reference) => Some(EmployeeConflict::UnknownCategory),
        StoreError::Conflict(
            Rule::PartnerLogin
            | Rule::CategoryName
            | Rule::CardNumber
            | Rule::OneMainCard
            | Rule::CardInOneBatch
            | Rule::TransferReference
            | Rule::IdempotencyKey
            | Rule::SealedNonce
            | Rule::UserLogin
            | Rule::RunReference
            | Rule::ProgrammePeriod,
        )
        | StoreError::Busy
        | StoreError::Cancelled
        | StoreError::Rerun
        | StoreError::Unavailable(_)
        | StoreError::Corrupt(_)
        | StoreError::Failed(_) => None,
    }
}

#[cfg(test)]
mod tests;
