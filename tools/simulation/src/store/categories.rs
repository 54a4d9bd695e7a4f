//! Categories.

use kopeck_domain::category::{Category, CategoryName};
use kopeck_domain::ids::{CategoryId, PartnerId};
use kopeck_port_store::page::{Listed, Page};
use kopeck_port_store::{CategoryRepository, CategoryUse, Rule, StoreError};
use time::OffsetDateTime;

use super::{State, Unit, page_of};

#[derive(Clone)]
pub(super) struct CategoryRow {
    pub(super) partner: PartnerId,
    pub(super) category: Category,
}

impl State {
    /// Which category of the partner has this name, without regard to letter case.
    fn category_named(&self, partner: PartnerId, name: &CategoryName) -> Option<CategoryId> {
        let folded = name.folded();
        let own = self.categories.iter().filter(|row| row.partner == partner);
        own.map(|row| &row.category).find(|category| category.name.folded() == folded).map(|found| found.id)
    }

    fn employees_in(&self, partner: PartnerId, id: CategoryId) -> u64 {
        let employees = self.employees.iter();
        employees.filter(|row| row.partner == partner && row.employee.category() == Some(id)).count() as u64
    }
}

impl CategoryRepository for Unit {
    fn insert(
        &mut self,
        partner: PartnerId,
        category: &Category,
        _at: OffsetDateTime,
    ) -> Result<(), StoreError> {
        let state = self.writing()?;
        state.known_partner(partner)?;
        if state.category_named(partner, &category.name).is_some() {
            return Err(StoreError::Conflict(Rule::CategoryName));
        }
        state.categories.push(CategoryRow { partner, category: category.clone() });
        Ok(())
    }

    fn rename(&mut self, partner: PartnerId, category: &Category) -> Result<(), StoreError> {
        let state = self.writing()?;
        if state.category_named(partner, &category.name).is_some_and(|holder| holder != category.id) {
            return Err(StoreError::Conflict(Rule::CategoryName));
        }
        let rows = state.categories.iter_mut();
        for row in rows.filter(|row| row.partner == partner && row.category.id == category.id) {
            row.category = category.clone();
        }
        Ok(())
    }

    fn delete(&mut self, partner: PartnerId, id: CategoryId) -> Result<(), StoreError> {
        let state = self.writing()?;
        if state.employees_in(partner, id) > 0 {
            return Err(StoreError::Conflict(Rule::Reference));
        }
        state.categories.retain(|row| row.partner != partner || row.category.id != id);
        Ok(())
    }

    fn get(&mut self, partner: PartnerId, id: CategoryId) -> Result<Option<Category>, StoreError> {
        let found = self.state.categories.iter().find(|row| row.partner == partner && row.category.id == id);
        Ok(found.map(|row| row.category.clone()))
    }

    fn id_by_name(
        &mut self,
        partner: PartnerId,
        name: &CategoryName,
    ) -> Result<Option<CategoryId>, StoreError> {
        Ok(self.state.category_named(partner, name))
    }

    fn employees_in(&mut self, partner: PartnerId, id: CategoryId) -> Result<u64, StoreError> {
        Ok(self.state.employees_in(partner, id))
    }

    fn list(&mut self, partner: PartnerId, page: Page) -> Result<Listed<CategoryUse>, StoreError> {
        let own = self.state.categories.iter().filter(|row| row.partner == partner);
        let uses = own.map(|row| CategoryUse {
            category: row.category.clone(),
            employees: self.state.employees_in(partner, row.category.id),
        });
        Ok(page_of(uses.collect(), page))
    }
}
