//! Categories of employees.

use uuid::Uuid;

use crate::shape::body;

body! {
    /// A category.
    pub struct Category as "Category" {
        /// Its name as you spelt it.
        name_category: String,
        /// Our identifier.
        id_category: Uuid,
    }
}

body! {
    /// A category in a list.
    pub struct CategoryWithCount as "CategoryInList" {
        /// Our identifier.
        id_category: Uuid,
        /// Its name as you spelt it.
        name_category: String,
        /// How many employees have it.
        #[serde(default)]
        employees: u64,
    }
}
