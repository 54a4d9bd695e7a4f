//! Categories.

use std::collections::HashMap;

use diesel::dsl::count_star;
use diesel::prelude::*;
use kopeck_domain::category::{Category, CategoryName};
use kopeck_domain::ids::{CategoryId, PartnerId};
use kopeck_port_store::page::{Listed, Page};
use kopeck_port_store::{CategoryRepository, CategoryUse, StoreError};
use time::OffsetDateTime;

use super::window;
use crate::convert::{AsKey, natural};
use crate::counters::List;
use crate::error::Stored;
use crate::schema::{categories, employees};
use crate::sql_types::{Id, UtcTimestamp};
use crate::statements::{Bind, binds};
use crate::transaction::DieselTransaction;
use crate::transaction::loader::BatchLoad;

fn category(id: Id, name: &str) -> Category {
    Category { id: id.to(), name: CategoryName::from_stored(name.to_owned()) }
}

/// A category by its identifier.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct CategoryById(CategoryId);

#[derive(QueryableByName)]
#[diesel(table_name = categories)]
pub(crate) struct CategoryRow {
    id: Id,
    name: String,
}

impl BatchLoad for CategoryById {
    type Loaded = Option<Category>;
    type Row = CategoryRow;

    const SELECT: &'static str = "SELECT id, name FROM categories WHERE partner_id = ? AND id = ?";

    fn values(&self, partner: Id) -> Vec<Bind<'_>> {
        binds![partner, self.0.key()]
    }

    fn of_rows(rows: Vec<CategoryRow>) -> Result<Option<Category>, StoreError> {
        Ok(rows.first().map(|row| category(row.id, &row.name)))
    }
}

impl CategoryRepository for DieselTransaction {
    fn insert(
        &mut self,
        partner: PartnerId,
        category: &Category,
        at: OffsetDateTime,
    ) -> Result<(), StoreError> {
        let seq = self.next_number(partner, List::Categories)?;
        let text = "INSERT INTO categories (partner_id, id, seq, name, folded_name, created_at)
            VALUES (?, ?, ?, ?, ?, ?)";
        let (name, folded) = (category.name.as_str(), category.name.folded());
        let values = binds![partner.key(), category.id.key(), seq, name, &folded, UtcTimestamp::of(at)];
        self.try_change(partner, text, values)?;
        self.give_out(partner, List::Categories, seq)
    }

    fn rename(&mut self, partner: PartnerId, category: &Category) -> Result<(), StoreError> {
        let text = "UPDATE categories SET name = ?, folded_name = ? WHERE partner_id = ? AND id = ?";
        let (name, folded) = (category.name.as_str(), category.name.folded());
        self.try_change(partner, text, binds![name, &folded, partner.key(), category.id.key()])
    }

    fn delete(&mut self, partner: PartnerId, id: CategoryId) -> Result<(), StoreError> {
        let text = "DELETE FROM categories WHERE partner_id = ? AND id = ?";
        self.try_change(partner, text, binds![partner.key(), id.key()])
    }

    fn get(&mut self, partner: PartnerId, id: CategoryId) -> Result<Option<Category>, StoreError> {
        self.load(partner, CategoryById(id))
    }

    fn id_by_name(
        &mut self,
        partner: PartnerId,
        name: &CategoryName,
    ) -> Result<Option<CategoryId>, StoreError> {
        categories::table
            .filter(categories::partner_id.eq(partner.key()))
            .filter(categories::folded_name.eq(name.folded()))
            .select(categories::id)
            .get_result(self.of(partner)?)
            .found(|id: Id| Ok(id.to()))
    }

    fn employees_in(&mut self, partner: PartnerId, id: CategoryId) -> Result<u64, StoreError> {
        let count: i64 = employees::table
            .filter(employees::partner_id.eq(partner.key()))
            .filter(employees::category_id.eq(id.key()))
            .count()
            .get_result(self.of(partner)?)
            .stored()?;
        natural(count, "employees")
    }

    fn list(&mut self, partner: PartnerId, page: Page) -> Result<Listed<CategoryUse>, StoreError> {
        let own = categories::table.filter(categories::partner_id.eq(partner.key()));
        let total: i64 = own.count().get_result(self.of(partner)?).stored()?;
        let (limit, offset) = window(page);
        let rows: Vec<(Id, String)> = own
            .order(categories::seq)
            .limit(limit)
            .offset(offset)
            .select((categories::id, categories::name))
            .load(self.of(partner)?)
            .stored()?;
        let counts: Vec<(Option<Id>, i64)> = employees::table
            .filter(employees::partner_id.eq(partner.key()))
            .filter(employees::category_id.eq_any(rows.iter().map(|(id, _)| id)))
            .group_by(employees::category_id)
            .select((employees::category_id, count_star()))
            .load(self.of(partner)?)
            .stored()?;
        let counts: HashMap<Option<Id>, i64> = counts.into_iter().collect();
        let items = rows.into_iter().map(|(id, name)| {
            let category = category(id, &name);
            let employees = counts.get(&Some(id)).copied().unwrap_or(0);
            Ok(CategoryUse { category, employees: natural(employees, "employees")? })
        });
        Ok(Listed { items: items.collect::<Result<_, StoreError>>()?, total: natural(total, "categories")? })
    }
}
