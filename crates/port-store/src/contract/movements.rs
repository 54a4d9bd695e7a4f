//! The movements of the ledger.

use kopeck_domain::Kopecks;
use kopeck_domain::ids::PartnerId;
use kopeck_domain::ledger::{Movement, MovementKind, Reference, TransferReference};
use kopeck_domain::request::RequestReference;

use super::support::{at, book, insert_order, page, partner, read, virtual_order, write};
use crate::page::Listed;
use crate::{BookedMovement, KindTotal, Store};

fn transfer(text: &str) -> Reference {
    Reference::Transfer(TransferReference::parse(text).unwrap())
}

fn booked(store: &dyn Store, partner: PartnerId, movement: &(MovementKind, Reference, i64), seconds: i64) {
    let movement = movement.clone();
    write(store, move |unit| book(unit.ledger(), partner, movement.clone(), at(seconds))).unwrap();
}

fn range(store: &dyn Store, partner: PartnerId, first: i64, end: i64) -> Vec<BookedMovement> {
    read(store, move |unit| unit.movements().range(partner, first..end))
}

/// A deposit, a hold for an order with a reference and one without, and what became of them, ten seconds apart.
fn some_movements(store: &dyn Store, partner: PartnerId) -> Vec<BookedMovement> {
    let (named, lines) = virtual_order(1);
    let named = named.with_reference(Some(RequestReference::from_stored("PO-7".to_owned())));
    insert_order(store, partner, &named, &lines).unwrap();
    let (other, lines) = virtual_order(1);
    insert_order(store, partner, &other, &lines).unwrap();
    let (named, other) = (Reference::Order(named.id()), Reference::Order(other.id()));
    let steps = [
        (MovementKind::Deposit, transfer("R-1"), 1_000, (1_000, 0)),
        (MovementKind::Hold, named.clone(), 400, (600, 400)),
        (MovementKind::Hold, other.clone(), 100, (500, 500)),
        (MovementKind::Capture, named.clone(), 400, (500, 100)),
        (MovementKind::Release, other, 100, (600, 0)),
        (MovementKind::Withdrawal, transfer("R-1"), 50, (550, 0)),
    ];
    let mut movements = Vec::new();
    for ((kind, reference, amount, (available, held)), number) in steps.into_iter().zip(1..) {
        booked(store, partner, &(kind, reference.clone(), amount), 10 * number);
        let is_named = reference == named;
        movements.push(BookedMovement {
            number,
            movement: Movement::new(kind, reference, Kopecks::new(amount)).unwrap(),
            request_reference: is_named.then(|| RequestReference::from_stored("PO-7".to_owned())),
            booked_at: at(10 * number),
            available: Kopecks::new(available),
            held: Kopecks::new(held),
        });
    }
    movements
}

/// With the balances after each, and the reference of the request.
pub fn movements_are_read_as_they_were_booked(store: &dyn Store) {
    let partner = partner(store);
    assert_eq!(read(store, move |unit| unit.movements().last(partner)), 0);
    let movements = some_movements(store, partner);
    assert_eq!(read(store, move |unit| unit.movements().last(partner)), 6);
    assert_eq!(range(store, partner, 1, 7), movements);
    assert_eq!(range(store, partner, 2, 4), movements[1..3]);
    assert_eq!(range(store, partner, 6, 100), movements[5..]);
    assert_eq!((range(store, partner, 3, 3), range(store, partner, 7, 9)), (vec![], vec![]));
}

/// Even if the clock was set back meanwhile.
pub fn a_period_begins_with_the_least_number(store: &dyn Store) {
    let partner = partner(store);
    let first_since = |seconds| read(store, move |unit| unit.movements().first_since(partner, at(seconds)));
    assert_eq!(first_since(0), None);
    for (number, seconds) in [10, 20, 15, 30].into_iter().enumerate() {
        booked(store, partner, &(MovementKind::Deposit, transfer(&format!("R-{number}")), 1), seconds);
    }
    let found = [0, 10, 11, 20, 21, 30, 31].map(first_since);
    assert_eq!(found, [Some(1), Some(1), Some(2), Some(2), Some(4), Some(4), None]);
    let first_within = |first: i64, end: i64, seconds| {
        read(store, move |unit| unit.movements().first_within(partner, first..end, at(seconds)))
    };
    assert_eq!(
        [first_within(1, 5, 11), first_within(3, 5, 11), first_within(3, 5, 16)],
        [Some(2), Some(3), Some(4)]
    );
    assert_eq!([first_within(3, 4, 16), first_within(2, 2, 0), first_within(5, 9, 0)], [None; 3]);
}

/// Of each kind that is there.
pub fn totals_are_added_up_by_kind(store: &dyn Store) {
    let partner = partner(store);
    some_movements(store, partner);
    let totals = |first: i64, end: i64| {
        let mut totals = read(store, move |unit| unit.movements().totals(partner, first..end));
        totals.sort_by_key(|total| total.kind);
        totals
    };
    let total = |kind, number, amount| KindTotal { kind, number, amount: Kopecks::new(amount) };
    let expected = [
        total(MovementKind::Deposit, 1, 1_000),
        total(MovementKind::Hold, 2, 500),
        total(MovementKind::Capture, 1, 400),
        total(MovementKind::Release, 1, 100),
        total(MovementKind::Withdrawal, 1, 50),
    ];
    assert_eq!(totals(1, 7), expected);
    assert_eq!(totals(2, 3), [total(MovementKind::Hold, 1, 400)]);
    assert_eq!(totals(7, 9), []);
}

/// Within a range of numbers.
pub fn movements_of_a_kind_are_paged(store: &dyn Store) {
    let partner = partner(store);
    let movements = some_movements(store, partner);
    let of_kind = |kind, first: i64, end: i64, number| {
        read(store, move |unit| unit.movements().of_kind(partner, kind, first..end, page(number, 1)))
    };
    let listed = |place: usize, total| Listed { items: vec![movements[place].clone()], total };
    assert_eq!(of_kind(MovementKind::Hold, 1, 7, 1), listed(1, 2));
    assert_eq!(of_kind(MovementKind::Hold, 1, 7, 2), listed(2, 2));
    assert_eq!(of_kind(MovementKind::Hold, 3, 7, 1), listed(2, 1));
    let none = |total| Listed { items: Vec::new(), total };
    assert_eq!(of_kind(MovementKind::Hold, 1, 7, 3), none(2));
    assert_eq!(of_kind(MovementKind::Hold, 1, 2, 1), none(0));
    assert_eq!(of_kind(MovementKind::Correction, 1, 7, 1), none(0));
}

/// Numbers and all.
pub fn movements_are_their_partners_own(store: &dyn Store) {
    let (first, second) = (partner(store), partner(store));
    some_movements(store, first);
    assert_eq!(read(store, move |unit| unit.movements().last(second)), 0);
    assert_eq!(range(store, second, 1, 10), []);
    assert_eq!(read(store, move |unit| unit.movements().first_since(second, at(0))), None);
    booked(store, second, &(MovementKind::Deposit, transfer("R-1"), 7), 1);
    assert_eq!(range(store, second, 1, 10).len(), 1);
}
