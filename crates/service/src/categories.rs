//! Categories: create, rename, delete, list.

use kopeck_domain::category::{Category, CategoryName};
use kopeck_domain::ids::{CategoryId, PartnerId};
use kopeck_domain::page::{Listed, Page};
use kopeck_port_store::{CategoryUse, Rule, StoreError, UnitOfWork};

use crate::Env;

/// Why a category was not created.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CreateCategoryError {
    /// Another category has the name.
    #[error("the name exists")]
    Exists,
    /// The store failed.
    #[error(transparent)]
    Store(StoreError),
}

/// Why a category was not renamed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RenameCategoryError {
    /// The partner has no such category.
    #[error("no such category")]
    NotFound,
    /// Another category has the name.
    #[error("the name exists")]
    Exists,
    /// The store failed.
    #[error(transparent)]
    Store(StoreError),
}

/// Why a category was not deleted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DeleteCategoryError {
    /// The partner has no such category.
    #[error("no such category")]
    NotFound,
    /// An employee has it.
    #[error("the category is in use")]
    InUse,
    /// The store failed.
    #[error(transparent)]
    Store(StoreError),
}

/// A constraint stands for the same refusal as the check before it.
impl From<StoreError> for CreateCategoryError {
    fn from(error: StoreError) -> Self {
        if error == StoreError::Conflict(Rule::CategoryName) { Self::Exists } else { Self::Store(error) }
    }
}

impl From<StoreError> for RenameCategoryError {
    fn from(error: StoreError) -> Self {
        if error == StoreError::Conflict(Rule::CategoryName) { Self::Exists } else { Self::Store(error) }
    }
}

impl From<StoreError> for DeleteCategoryError {
    fn from(error: StoreError) -> Self {
        if error == StoreError::Conflict(Rule::Reference) { Self::InUse } else { Self::Store(error) }
    }
}

/// Creates a category.
///
/// # Errors
/// [`CreateCategoryError`].
pub fn create(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    partner: PartnerId,
    name: CategoryName,
) -> Result<Category, CreateCategoryError> {
    if unit.categories().id_by_name(partner, &name)?.is_some() {
        return Err(CreateCategoryError::Exists);
    }
    let category = Category { id: CategoryId::new(env.ids.next_id()), name };
    unit.categories().insert(partner, &category, env.now())?;
    Ok(category)
}

/// Renames a category; its own name in another letter case is no conflict.
///
/// # Errors
/// [`RenameCategoryError`].
pub fn rename(
    unit: &mut dyn UnitOfWork,
    partner: PartnerId,
    id: CategoryId,
    name: CategoryName,
) -> Result<Category, RenameCategoryError> {
    unit.categories().get(partner, id)?.ok_or(RenameCategoryError::NotFound)?;
    if unit.categories().id_by_name(partner, &name)?.is_some_and(|holder| holder != id) {
        return Err(RenameCategoryError::Exists);
    }
    let category = Category { id, name };
    unit.categories().rename(partner, &category)?;
    Ok(category)
}

/// Deletes a category that no employee has.
///
/// # Errors
/// [`DeleteCategoryError`].
pub fn delete(
    unit: &mut dyn UnitOfWork,
    partner: PartnerId,
    id: CategoryId,
) -> Result<Category, DeleteCategoryError> {
    let category = unit.categories().get(partner, id)?.ok_or(DeleteCategoryError::NotFound)?;
    if unit.categories().employees_in(partner, id)? > 0 {
        return Err(DeleteCategoryError::InUse);
    }
    unit.categories().delete(partner, id)?;
    Ok(category)
}

/// A page of the partner's categories in order of creation, each with the number of its employees.
///
/// # Errors
/// [`StoreError`] if the store fails.
pub fn list(
    unit: &mut dyn UnitOfWork,
    partner: PartnerId,
    page: Page,
) -> Result<Listed<CategoryUse>, StoreError> {
    unit.categories().list(partner, page)
}
