//! Categories.

use kopeck_domain::category::Category;
use kopeck_domain::ids::CategoryId;
use kopeck_port_store::CategoryUse;

use crate::openapi::schema::api_type;

api_type! {
    /// A category.
    pub(crate) struct CategoryDto as "Category" {
        /// Its name as you spelt it.
        name_category: String,
        /// Our identifier.
        id_category: CategoryId,
    }
}

impl From<Category> for CategoryDto {
    fn from(category: Category) -> Self {
        Self { name_category: category.name.to_string(), id_category: category.id }
    }
}

api_type! {
    /// A category in a list.
    pub(crate) struct CategoryUseDto<'a> as "CategoryInList" {
        /// Our identifier.
        id_category: CategoryId,
        /// Its name as you spelt it.
        name_category: &'a str,
        /// How many employees have it.
        employees: u64,
    }
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
