//! Employees: add, update, get, list, erase.

use kopeck_domain::Faults;
use kopeck_domain::card::CardStatus;
use kopeck_domain::employee::{Change, Employee, EmployeeUpdate, NewEmployee};
use kopeck_domain::event::{EmployeeChange, EmployeeErased, EventData};
use kopeck_domain::ids::{CardId, CategoryId, EmployeeId, PartnerId};
use kopeck_domain::person::CustomId;
use kopeck_port_store::page::{Listed, Page};
use kopeck_port_store::{EmployeeFilter, Rule, StoreError, UnitOfWork};

use crate::{Env, events};

/// An employee with the cards linked to them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EmployeeWithCards {
    /// The employee.
    pub employee: Employee,
    /// Their cards with their statuses.
    pub cards: Vec<(CardId, CardStatus)>,
}

/// Why an employee was not added.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AddEmployeeError {
    /// Fields are faulty; all of them are named.
    #[error("faulty fields")]
    Invalid(Faults),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Why an employee was not updated.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UpdateEmployeeError {
    /// Fields are faulty; all of them are named.
    #[error("faulty fields")]
    Invalid(Faults),
    /// The partner has no such employee.
    #[error("no such employee")]
    NotFound,
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

/// Adds an employee. To `faults`, those of the body, it adds those that need the store: a taken `customId`, an unknown
/// category. A missing or faulty field is `None`, with its fault among them.
///
/// # Errors
/// [`AddEmployeeError`].
pub fn add(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    partner: PartnerId,
    custom_id: Option<CustomId>,
    fields: NewEmployee,
    faults: Faults,
) -> Result<Employee, AddEmployeeError> {
    let faults = stored_faults(unit, partner, None, custom_id.as_ref(), fields.category, faults)?;
    let Some(custom_id) = custom_id.filter(|_| faults.is_empty()) else {
        return Err(AddEmployeeError::Invalid(faults));
    };
    let employee = Employee::add(EmployeeId::new(env.ids.next_id()), custom_id, fields, env.now());
    match unit.employees().insert(partner, &employee) {
        Ok(()) => {
            events::append(unit, env, partner, [EventData::EmployeeCreated(change_of(&employee))])?;
            Ok(employee)
        }
        Err(error) => {
            Err(raced_fault(&error).map_or(AddEmployeeError::Store(error), AddEmployeeError::Invalid))
        }
    }
}

/// Updates an employee; `faults` as in [`add`].
///
/// # Errors
/// [`UpdateEmployeeError`].
pub fn update(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    partner: PartnerId,
    id: EmployeeId,
    update: EmployeeUpdate,
    faults: Faults,
) -> Result<Employee, UpdateEmployeeError> {
    let category = match update.category {
        Change::Set(category) => Some(category),
        Change::Keep | Change::Clear => None,
    };
    stored_faults(unit, partner, Some(id), update.custom_id.as_ref(), category, faults)?
        .check()
        .map_err(UpdateEmployeeError::Invalid)?;
    let present = unit.employees().get(partner, id)?.ok_or(UpdateEmployeeError::NotFound)?;
    let employee = present.clone().update(update, env.now());
    match unit.employees().update(partner, &employee) {
        Ok(()) => {
            let changed = (employee != present).then(|| EventData::EmployeeUpdated(change_of(&employee)));
            events::append(unit, env, partner, changed)?;
            Ok(employee)
        }
        Err(error) => {
            Err(raced_fault(&error).map_or(UpdateEmployeeError::Store(error), UpdateEmployeeError::Invalid))
        }
    }
}

/// An employee with their cards.
///
/// # Errors
/// [`GetEmployeeError`].
pub fn get(
    unit: &mut dyn UnitOfWork,
    partner: PartnerId,
    id: EmployeeId,
) -> Result<EmployeeWithCards, GetEmployeeError> {
    let (employee, cards) = unit.employees().with_cards(partner, id)?.ok_or(GetEmployeeError::NotFound)?;
    Ok(EmployeeWithCards { employee, cards })
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
    EmployeeChange { employee: employee.id, custom_id: Some(employee.custom_id.clone()) }
}

/// Adds the faults that need the store. `own` is the employee that may keep its custom identifier.
fn stored_faults(
    unit: &mut dyn UnitOfWork,
    partner: PartnerId,
    own: Option<EmployeeId>,
    custom_id: Option<&CustomId>,
    category: Option<CategoryId>,
    mut faults: Faults,
) -> Result<Faults, StoreError> {
    if let Some(custom_id) = custom_id {
        let holder = unit.employees().id_by_custom_id(partner, custom_id)?;
        if holder.is_some() && holder != own {
            faults.push("customId", CUSTOM_ID_TAKEN);
        }
    }
    if let Some(category) = category
        && unit.categories().get(partner, category)?.is_none()
    {
        faults.push("idCategory", NO_CATEGORY);
    }
    Ok(faults)
}

const CUSTOM_ID_TAKEN: &str = "belongs to another employee";
const NO_CATEGORY: &str = "there is no such category";

/// The fault of a constraint that a concurrent request made fail.
fn raced_fault(error: &StoreError) -> Option<Faults> {
    match error {
        StoreError::Conflict(Rule::EmployeeCustomId) => Some(Faults::of("customId", CUSTOM_ID_TAKEN)),
        StoreError::Conflict(Rule::Reference) => Some(Faults::of("idCategory", NO_CATEGORY)),
        StoreError::Conflict(
            Rule::PartnerLogin
            | Rule::CategoryName
            | Rule::CardNumber
            | Rule::OneMainCard
            | Rule::CardInOneBatch
            | Rule::TransferReference
            | Rule::IdempotencyKey
            | Rule::SealedNonce,
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
