//! Employees.

use kopeck_domain::employee::Employee;
use kopeck_domain::ids::{EmployeeId, PartnerId};
use kopeck_domain::person::CustomId;
use kopeck_port_store::page::{Listed, Page};
use kopeck_port_store::{
    CardRepository as _, EmployeeCards, EmployeeFilter, EmployeeRepository, Rule, StoreError,
};

use time::OffsetDateTime;

use super::{State, Unit, page_of};

#[derive(Clone)]
pub(super) struct EmployeeRow {
    pub(super) partner: PartnerId,
    pub(super) employee: Employee,
}

impl State {
    fn employee_named(&self, partner: PartnerId, custom_id: &CustomId) -> Option<EmployeeId> {
        let mut employees = self.employees.iter();
        let found = employees.find(|row| row.partner == partner && row.employee.custom_id() == custom_id);
        found.map(|row| row.employee.id())
    }

    /// The constraints on an employee as it is to be stored; `own` is who may have its custom identifier already.
    fn check_employee(
        &self,
        partner: PartnerId,
        employee: &Employee,
        own: Option<EmployeeId>,
    ) -> Result<(), StoreError> {
        let holder = self.employee_named(partner, employee.custom_id());
        if holder.is_some() && holder != own {
            return Err(StoreError::Conflict(Rule::EmployeeCustomId));
        }
        let of_partner = |id| {
            let mut categories = self.categories.iter();
            categories.any(|row| row.partner == partner && row.category.id == id)
        };
        if employee.category().is_some_and(|id| !of_partner(id)) {
            return Err(StoreError::Conflict(Rule::Reference));
        }
        Ok(())
    }
}

fn fits(employee: &Employee, filter: &EmployeeFilter) -> bool {
    let EmployeeFilter { status, category, custom_id, query } = filter;
    status.is_none_or(|status| employee.status() == status)
        && category.is_none_or(|category| employee.category() == Some(category))
        && custom_id.as_ref().is_none_or(|custom_id| employee.custom_id() == custom_id)
        && query.as_ref().is_none_or(|query| employee.search_text().contains(query))
}

impl EmployeeRepository for Unit {
    fn insert(&mut self, partner: PartnerId, employee: &Employee) -> Result<(), StoreError> {
        let state = self.writing()?;
        state.known_partner(partner)?;
        state.check_employee(partner, employee, None)?;
        state.employees.push(EmployeeRow { partner, employee: employee.clone() });
        Ok(())
    }

    fn update(&mut self, partner: PartnerId, employee: &Employee) -> Result<(), StoreError> {
        let state = self.writing()?;
        let mut rows = state.employees.iter();
        let Some(at) = rows.position(|row| row.partner == partner && row.employee.id() == employee.id())
        else {
            return Ok(());
        };
        state.check_employee(partner, employee, Some(employee.id()))?;
        if let Some(row) = state.employees.get_mut(at) {
            row.employee = employee.clone();
        }
        Ok(())
    }

    fn erase(&mut self, partner: PartnerId, id: EmployeeId, _: OffsetDateTime) -> Result<(), StoreError> {
        let state = self.writing()?;
        let mut rows = state.employees.iter();
        let Some(at) = rows.position(|row| row.partner == partner && row.employee.id() == id) else {
            return Ok(());
        };
        state.employees.remove(at);
        state.erased_employees.push((partner, id));
        state.erase_responses_about(partner, id);
        state.erase_name_in_events(partner, id);
        Ok(())
    }

    fn get(&mut self, partner: PartnerId, id: EmployeeId) -> Result<Option<Employee>, StoreError> {
        let found = self.state.employees.iter().find(|row| row.partner == partner && row.employee.id() == id);
        Ok(found.map(|row| row.employee.clone()))
    }

    fn with_cards(
        &mut self,
        partner: PartnerId,
        id: EmployeeId,
    ) -> Result<Option<(Employee, EmployeeCards)>, StoreError> {
        let employee = EmployeeRepository::get(self, partner, id)?;
        employee.map(|employee| Ok((employee, self.of_employee(partner, id)?))).transpose()
    }

    fn id_by_custom_id(
        &mut self,
        partner: PartnerId,
        custom_id: &CustomId,
    ) -> Result<Option<EmployeeId>, StoreError> {
        Ok(self.state.employee_named(partner, custom_id))
    }

    fn list(
        &mut self,
        partner: PartnerId,
        filter: &EmployeeFilter,
        page: Page,
    ) -> Result<Listed<Employee>, StoreError> {
        let own = self.state.employees.iter().filter(|row| row.partner == partner);
        let fitting = own.filter(|row| fits(&row.employee, filter)).map(|row| row.employee.clone());
        Ok(page_of(fitting.collect(), page))
    }
}
