//! Sums over the whole books.

use kopeck_domain::Kopecks;
use kopeck_domain::card::CardStatus;
use kopeck_domain::ids::PartnerId;
use kopeck_domain::ledger::{Balances, MovementKind, Reference, TransferReference};
use kopeck_domain::order::{Order, OrderState, StoredOrder};
use time::Duration;

use super::card_batches::{some_replenishment, some_returns};
use super::support::{
    at, book, id, insert_cards, insert_order, link, new_virtual_card, partner, read, some_cards,
    some_employee, some_order, virtual_order, write,
};
use crate::{OrderFacts, ReferenceSums, Store, Subject};

fn booked(store: &dyn Store, partner: PartnerId, movements: &[(MovementKind, Reference, i64)]) {
    let movements = movements.to_vec();
    write(store, move |unit| {
        movements.iter().try_for_each(|movement| book(unit.ledger(), partner, movement.clone(), at(1)))
    })
    .unwrap();
}

fn deposit(text: &str) -> Reference {
    Reference::Transfer(TransferReference::parse(text).unwrap())
}

fn enqueue(store: &dyn Store, partner: PartnerId, subject: Subject) {
    write(store, move |unit| unit.jobs().enqueue(partner, subject, Duration::ZERO)).unwrap();
}

/// Of each partner by itself.
pub fn entries_add_up_to_the_balances(store: &dyn Store) {
    let (first, second) = (partner(store), partner(store));
    let sums = |partner| read(store, move |unit| unit.reconciliation().entry_sums(partner));
    assert_eq!(sums(first), Balances::default());
    let order = Reference::Order(some_order(store, first));
    booked(
        store,
        first,
        &[
            (MovementKind::Deposit, deposit("R-1"), 1_000),
            (MovementKind::Hold, order.clone(), 700),
            (MovementKind::Capture, order.clone(), 300),
            (MovementKind::Release, order, 100),
        ],
    );
    booked(store, second, &[(MovementKind::Deposit, deposit("R-1"), 5)]);
    for partner in [first, second] {
        let sheet = read(store, move |unit| unit.ledger().sheet(partner)).unwrap();
        assert_eq!(sums(partner), sheet.balances);
    }
    assert_eq!(sums(first).held, Kopecks::new(300));
}

/// What is zero on both accounts is left out.
pub fn references_show_what_they_hold_and_spent(store: &dyn Store) {
    let partner = partner(store);
    let [holding, spent, released] = [0; 3].map(|_| Reference::Order(some_order(store, partner)));
    let request = Reference::Replenishment(some_replenishment(store, partner));
    let (closing, withdrawal) = some_returns(store, partner);
    let (closing, withdrawal) = (Reference::Closing(closing), Reference::Withdrawal(withdrawal));
    booked(
        store,
        partner,
        &[
            (MovementKind::Deposit, deposit("R-1"), 1_000),
            (MovementKind::Hold, holding.clone(), 100),
            (MovementKind::Hold, spent.clone(), 200),
            (MovementKind::Capture, spent.clone(), 200),
            (MovementKind::Hold, released.clone(), 300),
            (MovementKind::Release, released, 300),
            (MovementKind::Hold, request.clone(), 50),
            (MovementKind::Capture, request.clone(), 20),
            (MovementKind::Return, closing.clone(), 60),
            (MovementKind::Return, withdrawal.clone(), 25),
            (MovementKind::Return, withdrawal.clone(), 25),
        ],
    );
    let mut sums = read(store, move |unit| unit.reconciliation().reference_sums(partner));
    sums.sort_by_key(|sums| (sums.held, sums.spent));
    let expected =
        [(closing, 0, -60), (withdrawal, 0, -50), (spent, 0, 200), (request, 30, 20), (holding, 100, 0)].map(
            |(reference, held, spent)| ReferenceSums {
                reference,
                held: Kopecks::new(held),
                spent: Kopecks::new(spent),
            },
        );
    assert_eq!(sums, expected);
    let stranger: PartnerId = id();
    assert_eq!(read(store, move |unit| unit.reconciliation().reference_sums(stranger)), []);
}

/// Every order of the partner, oldest first.
pub fn orders_show_their_cards_and_work(store: &dyn Store) {
    let (partner, other) = (partner(store), partner(store));
    some_order(store, other);
    let (first, first_lines) = virtual_order(3);
    let (second, second_lines) = virtual_order(2);
    insert_order(store, partner, &first, &first_lines).unwrap();
    insert_order(store, partner, &second, &second_lines).unwrap();
    insert_cards(store, partner, &[new_virtual_card(second.id, 0), new_virtual_card(second.id, 1)]).unwrap();
    let changed =
        Order::from_stored(StoredOrder { state: OrderState::Success, ..second.clone().into_stored() });
    write(store, move |unit| unit.orders().set_state(partner, &changed)).unwrap();
    enqueue(store, partner, Subject::Order(first.id));
    let expected = [
        OrderFacts {
            id: first.id,
            state: OrderState::New,
            cost: Kopecks::new(15_000),
            cards: 3,
            stored_cards: 0,
            has_job: true,
        },
        OrderFacts {
            id: second.id,
            state: OrderState::Success,
            cost: Kopecks::new(10_000),
            cards: 2,
            stored_cards: 2,
            has_job: false,
        },
    ];
    assert_eq!(read(store, move |unit| unit.reconciliation().orders(partner)), expected);
}

/// What is debited or free again is not held.
pub fn what_all_partners_hold_is_added_up(store: &dyn Store) {
    let held = || read(store, |unit| unit.reconciliation().held_by_all());
    assert_eq!(held(), Kopecks::ZERO);
    for (partner, amount) in [(partner(store), 700), (partner(store), 40)] {
        let order = Reference::Order(some_order(store, partner));
        let movements = [
            (MovementKind::Deposit, deposit("R-1"), 1_000),
            (MovementKind::Hold, order.clone(), amount),
            (MovementKind::Capture, order, 10),
        ];
        booked(store, partner, &movements);
    }
    assert_eq!(held(), Kopecks::new(720));
}

/// The constraints see to it.
pub fn sound_books_have_nothing_to_report(store: &dyn Store) {
    let partner = partner(store);
    booked(store, partner, &[(MovementKind::Deposit, deposit("R-1"), 1_000)]);
    for card in some_cards(store, partner, 2) {
        let employee = some_employee(store, partner);
        link(store, partner, &card, Some((employee, CardStatus::Main))).unwrap();
    }
    assert_eq!(read(store, move |unit| unit.reconciliation().unbalanced_movements(partner)), [0; 0]);
    assert_eq!(read(store, move |unit| unit.reconciliation().employees_with_two_main_cards(partner)), []);
}
