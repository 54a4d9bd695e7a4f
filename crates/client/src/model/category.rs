//! Categories of employees.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// A category of employees.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Category {
    /// The identifier that the service gave it.
    pub id_category: Uuid,
    /// Its name, unique for the partner.
    pub name_category: String,
}

/// A category in the list of categories.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CategoryWithCount {
    /// The category.
    #[serde(flatten)]
    pub category: Category,
    /// How many employees are in it.
    #[serde(default)]
    pub employees: u64,
}
