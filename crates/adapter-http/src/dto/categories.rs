//! Categories.

use kopeck_domain::category::Category;
use kopeck_domain::ids::CategoryId;
use kopeck_port_store::CategoryUse;
use serde::Serialize;

/// A category.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CategoryDto {
    name_category: String,
    id_category: CategoryId,
}

impl From<Category> for CategoryDto {
    fn from(category: Category) -> Self {
        Self { name_category: category.name.to_string(), id_category: category.id }
    }
}

/// A category in a list.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CategoryUseDto<'a> {
    id_category: CategoryId,
    name_category: &'a str,
    employees: u64,
}

impl<'a> From<&'a CategoryUse> for CategoryUseDto<'a> {
    fn from(used: &'a CategoryUse) -> Self {
        Self {
            id_category: used.category.id,
            name_category: used.category.name.as_str(),
            employees: used.employees,
        }
    }
}
