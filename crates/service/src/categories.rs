//! Categories: create, rename, delete, list.

use kopeck_domain::category::{Category, CategoryName};
use kopeck_domain::ids::{CategoryId, PartnerId};
use kopeck_port_store::page::{Listed, Page};
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;
    use kopeck_port_store::mock::MockUnit;

    fn name(text: &str) -> CategoryName {
        CategoryName::parse(text).unwrap()
    }

    fn office() -> Category {
        Category { id: category_id(1), name: name("Office") }
    }

    fn holder_of_name(unit: &mut MockUnit, text: &'static str, holder: Option<CategoryId>) {
        unit.categories
            .expect_id_by_name()
            .withf(move |partner, asked| *partner == PARTNER && asked.as_str() == text)
            .times(1)
            .returning(move |_, _| Ok(holder));
    }

    fn known(unit: &mut MockUnit, category: Option<Category>) {
        unit.categories
            .expect_get()
            .withf(|partner, id| *partner == PARTNER && *id == category_id(1))
            .times(1)
            .returning(move |_, _| Ok(category.clone()));
    }

    #[test]
    fn a_new_category_is_stored_as_answered() {
        let (bench, mut unit) = (Bench::new(), MockUnit::default());
        let expected = Category { id: CategoryId::new(fresh_id(1)), name: name("Office") };
        let stored = expected.clone();
        holder_of_name(&mut unit, "Office", None);
        unit.categories
            .expect_insert()
            .withf(move |partner, category, at| *partner == PARTNER && *category == stored && *at == START)
            .times(1)
            .returning(|_, _, _| Ok(()));
        assert_eq!(create(&mut unit, &bench, PARTNER, name("Office")), Ok(expected));
    }

    #[test]
    fn a_name_is_created_once() {
        let (bench, mut unit) = (Bench::new(), MockUnit::default());
        holder_of_name(&mut unit, "OFFICE", Some(category_id(1)));
        assert_eq!(create(&mut unit, &bench, PARTNER, name("OFFICE")), Err(CreateCategoryError::Exists));
    }

    #[test]
    fn its_own_name_in_other_letters_is_no_conflict() {
        let mut unit = MockUnit::default();
        let renamed = Category { id: category_id(1), name: name("OFFICE") };
        let stored = renamed.clone();
        known(&mut unit, Some(office()));
        holder_of_name(&mut unit, "OFFICE", Some(category_id(1)));
        unit.categories
            .expect_rename()
            .withf(move |partner, category| *partner == PARTNER && *category == stored)
            .times(1)
            .returning(|_, _| Ok(()));
        assert_eq!(rename(&mut unit, PARTNER, category_id(1), name("OFFICE")), Ok(renamed));
    }

    #[test]
    fn the_name_of_another_is_a_conflict() {
        let mut unit = MockUnit::default();
        known(&mut unit, Some(office()));
        holder_of_name(&mut unit, "Plant", Some(category_id(2)));
        assert_eq!(
            rename(&mut unit, PARTNER, category_id(1), name("Plant")),
            Err(RenameCategoryError::Exists)
        );
    }

    /// An unknown category comes before a name that is taken: the name is not even looked for.
    #[test]
    fn an_unknown_category_is_neither_renamed_nor_deleted() {
        let mut unit = MockUnit::default();
        unit.categories.expect_get().times(2).returning(|_, _| Ok(None));
        assert_eq!(
            rename(&mut unit, PARTNER, category_id(1), name("Plant")),
            Err(RenameCategoryError::NotFound)
        );
        assert_eq!(delete(&mut unit, PARTNER, category_id(1)), Err(DeleteCategoryError::NotFound));
    }

    #[test]
    fn a_category_that_an_employee_has_stays() {
        let mut unit = MockUnit::default();
        known(&mut unit, Some(office()));
        unit.categories.expect_employees_in().times(1).returning(|_, _| Ok(1));
        assert_eq!(delete(&mut unit, PARTNER, category_id(1)), Err(DeleteCategoryError::InUse));
    }

    #[test]
    fn an_empty_category_goes_and_is_shown_once_more() {
        let mut unit = MockUnit::default();
        known(&mut unit, Some(office()));
        unit.categories.expect_employees_in().returning(|_, _| Ok(0));
        unit.categories
            .expect_delete()
            .withf(|partner, id| *partner == PARTNER && *id == category_id(1))
            .times(1)
            .returning(|_, _| Ok(()));
        assert_eq!(delete(&mut unit, PARTNER, category_id(1)), Ok(office()));
    }

    #[test]
    fn a_raced_constraint_is_the_same_refusal() {
        for rule in RULES {
            let (bench, mut unit) = (Bench::new(), MockUnit::default());
            unit.categories.expect_get().returning(|_, _| Ok(Some(office())));
            unit.categories.expect_id_by_name().returning(|_, _| Ok(None));
            unit.categories.expect_employees_in().returning(|_, _| Ok(0));
            unit.categories.expect_insert().returning(move |_, _, _| Err(StoreError::Conflict(rule)));
            unit.categories.expect_rename().returning(move |_, _| Err(StoreError::Conflict(rule)));
            unit.categories.expect_delete().returning(move |_, _| Err(StoreError::Conflict(rule)));
            let (is_name, is_use) = (rule == Rule::CategoryName, rule == Rule::Reference);

            let created = create(&mut unit, &bench, PARTNER, name("Office"));
            let other = CreateCategoryError::Store(StoreError::Conflict(rule));
            assert_eq!(created, Err(if is_name { CreateCategoryError::Exists } else { other }));

            let renamed = rename(&mut unit, PARTNER, category_id(1), name("Plant"));
            let other = RenameCategoryError::Store(StoreError::Conflict(rule));
            assert_eq!(renamed, Err(if is_name { RenameCategoryError::Exists } else { other }));

            let deleted = delete(&mut unit, PARTNER, category_id(1));
            let other = DeleteCategoryError::Store(StoreError::Conflict(rule));
            assert_eq!(deleted, Err(if is_use { DeleteCategoryError::InUse } else { other }));
        }
    }
}
