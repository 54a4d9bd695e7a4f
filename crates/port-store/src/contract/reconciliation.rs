//! Sums over the whole ledger.

use kopeck_domain::Kopecks;
use kopeck_domain::card::CardStatus;
use kopeck_domain::ids::{CardId, PartnerId};
use kopeck_domain::ledger::{Balances, MovementKind, Reference, TransferReference};
use kopeck_domain::order::{Order, OrderFields, OrderState};
use kopeck_domain::transaction::{Transaction, TransactionType};
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
    insert_cards(store, partner, &[new_virtual_card(second.id(), 0), new_virtual_card(second.id(), 1)])
        .unwrap();
    let changed =
        Order::from_stored(OrderFields { state: OrderState::Success, ..second.clone().into_fields() });
    write(store, move |unit| unit.orders().set_state(partner, &changed)).unwrap();
    enqueue(store, partner, Subject::Order(first.id()));
    let expected = [
        OrderFacts {
            id: first.id(),
            state: OrderState::New,
            cost: Kopecks::new(15_000),
            cards: 3,
            stored_cards: 0,
            has_job: true,
        },
        OrderFacts {
            id: second.id(),
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
pub fn the_money_of_all_partners_is_added_up(store: &dyn Store) {
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
    assert_eq!(read(store, move |unit| unit.reconciliation().wrong_balances_after(partner)), [0; 0]);
    assert_eq!(read(store, move |unit| unit.reconciliation().employees_with_two_main_cards(partner)), []);
}

/// Of all partners together, in pieces that join without a gap.
pub fn cards_come_by_their_numbers(store: &dyn Store) {
    let cards = |after, limit| read(store, move |unit| unit.reconciliation().cards(after, limit));
    assert_eq!(cards(None, 10), []);
    let (first, second) = (partner(store), partner(store));
    let mut expected: Vec<_> = [(first, 2), (second, 1), (first, 1)]
        .into_iter()
        .flat_map(|(owner, count)| {
            some_cards(store, owner, count).into_iter().map(move |card| (card.number(), owner, card.id()))
        })
        .collect();
    expected.sort_unstable_by_key(|(number, ..)| *number);
    assert_eq!(cards(None, 10), expected);
    assert_eq!(cards(None, 3), expected[..3]);
    assert_eq!(cards(Some(expected[2].0), 3), expected[3..]);
}

/// From the beginning of the period until before its end, of the requested cards.
pub fn transactions_come_by_card_and_time(store: &dyn Store) {
    let (partner, other) = (partner(store), partner(store));
    let [one, two]: [_; 2] = some_cards(store, partner, 2).try_into().unwrap();
    let foreign = some_cards(store, other, 1).remove(0);
    let made = |id: i64, seconds: i64| Transaction {
        id,
        executed_at: at(seconds),
        kind: TransactionType::Payment,
        amount: Kopecks::new(id),
        place: Some("Bakery".to_owned()),
        mcc: None,
        merchant_id: None,
    };
    for (owner, card, ids) in
        [(partner, one.id(), &[1, 2, 3][..]), (partner, two.id(), &[2]), (other, foreign.id(), &[2])]
    {
        let transactions: Vec<_> = ids.iter().map(|id| made(*id, 10 * *id)).collect();
        write(store, move |unit| unit.transactions().append(owner, card, &transactions, at(50))).unwrap();
    }
    let within = |cards: &[CardId], from: i64, until: i64| {
        let cards = cards.to_vec();
        let period = at(from)..at(until);
        let mut found = read(store, move |unit| unit.reconciliation().transactions(partner, &cards, &period));
        found.sort_by_key(|(card, transaction)| (*card, transaction.id));
        found
    };
    let all = [one.id(), two.id(), foreign.id()];
    assert_eq!(within(&all, 20, 30), [(one.id(), made(2, 20)), (two.id(), made(2, 20))]);
    assert_eq!(within(&[one.id()], 0, 100).len(), 3);
    assert_eq!(within(&[], 0, 100), []);
    let found = |owner, card, id| read(store, move |unit| unit.reconciliation().transaction(owner, card, id));
    assert_eq!(found(partner, one.id(), 3), Some(made(3, 30)));
    assert_eq!(found(partner, two.id(), 3), None);
    assert_eq!(found(other, one.id(), 3), None);
}
