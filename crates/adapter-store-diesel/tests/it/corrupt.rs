//! Stored values that the domain does not allow are named by table and column, and never shown.

use kopeck_port_store::page::Page;
use kopeck_port_store::{AvailableFilter, EmployeeFilter, StoreError, UnitOfWork};

use crate::support::{
    Kind, NOW, PARTNER, TestStore, employee, insert_order, on_every_database, order_with_cards, read, tamper,
    write,
};

type Look = fn(&mut dyn UnitOfWork) -> Result<(), StoreError>;

fn look_at_employee(unit: &mut dyn UnitOfWork) -> Result<(), StoreError> {
    unit.employees().get(PARTNER, employee(1).id()).map(drop)
}

fn look_at_employees(unit: &mut dyn UnitOfWork) -> Result<(), StoreError> {
    let page = Page::new(1, 10).unwrap();
    unit.employees().list(PARTNER, &EmployeeFilter::default(), page).map(drop)
}

fn look_at_card(unit: &mut dyn UnitOfWork) -> Result<(), StoreError> {
    let (_, _, cards) = order_with_cards(7, 1);
    unit.cards().get(PARTNER, cards[0].record.card.id()).map(drop)
}

fn look_at_unassigned_cards(unit: &mut dyn UnitOfWork) -> Result<(), StoreError> {
    let filter = AvailableFilter { kind: None, today: NOW.date() };
    unit.cards().available(PARTNER, filter, Page::new(1, 10).unwrap()).map(drop)
}

fn look_at_lines(unit: &mut dyn UnitOfWork) -> Result<(), StoreError> {
    unit.orders().lines(PARTNER, order_with_cards(7, 1).0.id()).map(drop)
}

fn look_at_partner(unit: &mut dyn UnitOfWork) -> Result<(), StoreError> {
    unit.partners().get(PARTNER).map(drop)
}

fn look_at_balance(unit: &mut dyn UnitOfWork) -> Result<(), StoreError> {
    unit.ledger().sheet(PARTNER).map(drop)
}

fn filled_store(kind: Kind) -> TestStore {
    let store = kind.store_with_partner();
    write(&store, |unit| unit.employees().insert(PARTNER, &employee(1))).unwrap();
    insert_order(&store, order_with_cards(7, 1));
    store
}

on_every_database! { a_value_that_the_domain_refuses_is_named }

fn a_value_that_the_domain_refuses_is_named(kind: Kind) {
    let cases: &[(&str, &str, Look)] = &[
        ("employees.custom_id", "UPDATE employees SET custom_id = 'a secret'", look_at_employee),
        ("employees.email", "UPDATE employees SET email = substr(email, 2)", look_at_employee),
        ("employees.phone", "UPDATE employees SET phone = email", look_at_employees),
        ("employees.created_at", "UPDATE employees SET created_at = 9223372036854775807", look_at_employee),
        ("cards.number", "UPDATE cards SET number = 17", look_at_card),
        ("cards.valid_until", "UPDATE cards SET valid_until = 2147483647", look_at_unassigned_cards),
        ("cards.seen_at", "UPDATE cards SET seen_at = -9223372036854775808", look_at_card),
        ("cards.spending_limit", "UPDATE cards SET spending_limit = '0 CDAY'", look_at_card),
        (
            "order_lines.address",
            "UPDATE order_lines SET amount = NULL, address = (SELECT email FROM employees),
                recipient = (SELECT email FROM employees), phone = (SELECT email FROM employees)",
            look_at_lines,
        ),
        ("partners.created_at", "UPDATE partners SET created_at = 9223372036854775807", look_at_partner),
        ("balances.updated_at", "UPDATE balances SET updated_at = 9223372036854775807", look_at_balance),
    ];
    for (column, damage, look) in cases {
        let store = filled_store(kind);
        let look = *look;
        assert_eq!(read(&store, move |unit| look(unit)), Ok(()), "{column}");
        if kind.is_sqlite() {
            tamper(&store, damage);
        } else {
            let infinite = damage
                .replace("-9223372036854775808", "'-infinity'")
                .replace("9223372036854775807", "'infinity'");
            tamper(&store, &infinite.replace("2147483647", "'infinity'"));
        }
        let expected = Err(StoreError::Corrupt((*column).to_owned()));
        assert_eq!(read(&store, move |unit| look(unit)), expected, "{damage}");
    }
}
