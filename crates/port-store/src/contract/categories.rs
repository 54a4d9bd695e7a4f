//! Categories.

use crate::page::{Listed, Page};
use kopeck_domain::category::{Category, CategoryName};
use kopeck_domain::employee::{Employee, EmployeeFields};
use kopeck_domain::ids::{CategoryId, PartnerId};

use super::support::{category, employee, id, insert_category, insert_employee, page, partner, read, write};
use crate::{CategoryUse, Rule, Store, StoreError};

fn get(store: &dyn Store, partner: PartnerId, id: CategoryId) -> Option<Category> {
    read(store, move |unit| unit.categories().get(partner, id))
}

fn by_name(store: &dyn Store, partner: PartnerId, name: &str) -> Option<CategoryId> {
    let name = CategoryName::parse(name).unwrap();
    read(store, move |unit| unit.categories().id_by_name(partner, &name))
}

fn rename(store: &dyn Store, partner: PartnerId, id: CategoryId, name: &str) -> Result<(), StoreError> {
    let category = Category { id, name: CategoryName::parse(name).unwrap() };
    write(store, move |unit| unit.categories().rename(partner, &category))
}

fn delete(store: &dyn Store, partner: PartnerId, id: CategoryId) -> Result<(), StoreError> {
    write(store, move |unit| unit.categories().delete(partner, id))
}

fn list(store: &dyn Store, partner: PartnerId, page: Page) -> Listed<CategoryUse> {
    read(store, move |unit| unit.categories().list(partner, page))
}

/// Its name keeps the letters it was given; finding it does not mind them.
pub fn a_category_is_found_by_id_and_by_name(store: &dyn Store) {
    let partner = partner(store);
    let cooks = category("Повара Ё");
    assert_eq!(get(store, partner, cooks.id), None);
    insert_category(store, partner, &cooks).unwrap();
    assert_eq!(get(store, partner, cooks.id), Some(cooks.clone()));
    assert_eq!(by_name(store, partner, "ПОВАРА ё"), Some(cooks.id));
    assert_eq!(by_name(store, partner, "Повара"), None);
}

/// Also one that the rules of today would refuse.
pub fn a_name_is_shown_as_it_is_stored(store: &dyn Store) {
    let partner = partner(store);
    let stored =
        Category { id: category("x").id, name: CategoryName::from_stored("Ки\u{200b}но".to_owned()) };
    assert!(CategoryName::parse(stored.name.as_str()).is_err());
    insert_category(store, partner, &stored).unwrap();
    assert_eq!(get(store, partner, stored.id), Some(stored));
}

/// Without regard to letter case and to how letters are composed; a category may take its own name in other letters.
pub fn a_name_belongs_to_one_category(store: &dyn Store) {
    let (first, second) = (partner(store), partner(store));
    let (cooks, drivers) = (category("Повара"), category("Водители"));
    insert_category(store, first, &cooks).unwrap();
    insert_category(store, first, &drivers).unwrap();
    let taken = Err(StoreError::Conflict(Rule::CategoryName));
    assert_eq!(insert_category(store, first, &category("ПОВАРА")), taken);
    assert_eq!(rename(store, first, drivers.id, "повара"), taken);
    insert_category(store, first, &category("Чай")).unwrap();
    assert_eq!(insert_category(store, first, &category("ЧАИ\u{306}")), taken);
    rename(store, first, cooks.id, "ПОВАРА").unwrap();
    assert_eq!(get(store, first, cooks.id).unwrap().name.as_str(), "ПОВАРА");
    insert_category(store, second, &category("Повара")).unwrap();
}

/// Once its last employee has left it can.
pub fn a_category_in_use_cannot_be_deleted(store: &dyn Store) {
    let partner = partner(store);
    let cooks = category("Повара");
    insert_category(store, partner, &cooks).unwrap();
    let cook =
        Employee::from_stored(EmployeeFields { category: Some(cooks.id), ..employee("E-1").into_fields() });
    insert_employee(store, partner, &cook).unwrap();
    assert_eq!(delete(store, partner, cooks.id), Err(StoreError::Conflict(Rule::Reference)));
    let left = Employee::from_stored(EmployeeFields { category: None, ..cook.into_fields() });
    write(store, move |unit| unit.employees().update(partner, &left)).unwrap();
    delete(store, partner, cooks.id).unwrap();
    assert_eq!(get(store, partner, cooks.id), None);
    insert_category(store, partner, &category("Повара")).unwrap();
}

/// Neither seen nor renamed nor deleted by another.
pub fn a_category_is_its_partners_own(store: &dyn Store) {
    let (first, second) = (partner(store), partner(store));
    let cooks = category("Повара");
    insert_category(store, first, &cooks).unwrap();
    assert_eq!(get(store, second, cooks.id), None);
    assert_eq!(by_name(store, second, "Повара"), None);
    assert_eq!(list(store, second, page(1, 10)), Listed { items: Vec::new(), total: 0 });
    rename(store, second, cooks.id, "Водители").unwrap();
    delete(store, second, cooks.id).unwrap();
    assert_eq!(get(store, first, cooks.id), Some(cooks));
    let stranger = insert_category(store, id(), &category("Повара"));
    assert_eq!(stranger, Err(StoreError::Conflict(Rule::Reference)));
}

/// Those of the partner, in each category by itself.
pub fn the_list_counts_employees(store: &dyn Store) {
    let (partner, other) = (partner(store), partner(store));
    let categories = [category("Я"), category("А"), category("Ж")];
    for category in &categories {
        insert_category(store, partner, category).unwrap();
    }
    let foreign = category("Я");
    insert_category(store, other, &foreign).unwrap();
    insert_employee(
        store,
        other,
        &Employee::from_stored(EmployeeFields {
            category: Some(foreign.id),
            ..employee("E-1").into_fields()
        }),
    )
    .unwrap();
    for (number, category) in [(1, Some(0)), (2, Some(2)), (3, Some(0)), (4, None)] {
        let category = category.map(|index: usize| categories[index].id);
        insert_employee(
            store,
            partner,
            &Employee::from_stored(EmployeeFields {
                category,
                ..employee(&format!("E-{number}")).into_fields()
            }),
        )
        .unwrap();
    }
    let counted: Vec<CategoryUse> = categories
        .iter()
        .cloned()
        .zip([2, 0, 1])
        .map(|(category, employees)| CategoryUse { category, employees })
        .collect();
    assert_eq!(list(store, partner, page(1, 10)), Listed { items: counted.clone(), total: 3 });
    assert_eq!(list(store, partner, page(2, 2)), Listed { items: counted[2..].to_vec(), total: 3 });
    for CategoryUse { category, employees } in counted {
        let id = category.id;
        assert_eq!(read(store, move |unit| unit.categories().employees_in(partner, id)), employees);
        assert_eq!(read(store, move |unit| unit.categories().employees_in(other, id)), 0);
    }
}

/// What was deleted takes no place.
pub fn pages_close_the_gaps_of_deleted_categories(store: &dyn Store) {
    let partner = partner(store);
    let categories: Vec<Category> = ["А", "Б", "В", "Г"].map(category).to_vec();
    for category in &categories {
        insert_category(store, partner, category).unwrap();
    }
    delete(store, partner, categories[1].id).unwrap();
    let names = |number| -> Vec<String> {
        let listed = list(store, partner, page(number, 2));
        assert_eq!(listed.total, 3);
        listed.items.iter().map(|one| one.category.name.to_string()).collect()
    };
    assert_eq!((names(1), names(2), names(3)), (vec!["А".into(), "В".into()], vec!["Г".into()], vec![]));
}
