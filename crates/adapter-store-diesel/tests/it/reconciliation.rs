//! The check of the ledger finds what the constraints would have kept out.

use kopeck_domain::Kopecks;
use kopeck_domain::ledger::{Movement, MovementKind, Reference, TransferReference};
use kopeck_port_store::Store;

use crate::support::{
    Kind, NOW, PARTNER, employee, insert_order, on_every_database, order_with_cards, read, tamper, write,
};

fn deposit(store: &dyn Store, reference: &'static str) {
    write(store, move |unit| {
        let reference = Reference::Transfer(TransferReference::parse(reference).unwrap());
        let movement = Movement::new(MovementKind::Deposit, reference, Kopecks::new(100)).unwrap();
        let sheet = unit.ledger().sheet(PARTNER)?.unwrap();
        unit.ledger().book(PARTNER, &movement, sheet.balances.after(&movement).unwrap(), NOW)
    })
    .unwrap();
}

on_every_database! {
    movements_that_do_not_add_up_are_named
    wrong_balances_after_movements_are_named
    employees_with_two_main_cards_are_named
}

fn movements_that_do_not_add_up_are_named(kind: Kind) {
    let store = kind.store_with_partner();
    for reference in ["one", "two", "three", "four"] {
        deposit(&store, reference);
    }
    tamper(
        &store,
        "UPDATE entries SET amount = 99 WHERE movement = 2 AND account = 'AVAILABLE';
         DELETE FROM entries WHERE movement = 4",
    );
    assert_eq!(read(&store, |unit| unit.reconciliation().unbalanced_movements(PARTNER)), Ok(vec![2, 4]));
    let sums = read(&store, |unit| unit.reconciliation().entry_sums(PARTNER)).unwrap();
    let sheet = read(&store, |unit| unit.ledger().sheet(PARTNER)).unwrap().unwrap();
    assert_eq!((sums.deposited, sums.available), (Kopecks::new(-300), Kopecks::new(299)));
    assert_eq!(sheet.balances.available, Kopecks::new(400));
}

fn wrong_balances_after_movements_are_named(kind: Kind) {
    let store = kind.store_with_partner();
    for reference in ["one", "two", "three", "four"] {
        deposit(&store, reference);
    }
    tamper(
        &store,
        "UPDATE movements SET available_after = 201 WHERE number = 2;
         UPDATE movements SET held_after = 1 WHERE number = 4",
    );
    assert_eq!(read(&store, |unit| unit.reconciliation().wrong_balances_after(PARTNER)), Ok(vec![2, 4]));
}

fn employees_with_two_main_cards_are_named(kind: Kind) {
    let store = kind.store_with_partner();
    let employees = [employee(1), employee(2)];
    for employee in employees.clone() {
        write(&store, move |unit| unit.employees().insert(PARTNER, &employee)).unwrap();
    }
    insert_order(&store, order_with_cards(7, 3));
    tamper(
        &store,
        "DROP INDEX cards_one_main;
         UPDATE cards SET link_status = 'MAIN', employee_id =
             (SELECT id FROM employees WHERE seq = CASE cards.ordinal WHEN 0 THEN 1 ELSE 2 END)",
    );
    let found = read(&store, |unit| unit.reconciliation().employees_with_two_main_cards(PARTNER));
    assert_eq!(found, Ok(vec![employees[1].id()]));
}
