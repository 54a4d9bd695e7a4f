//! The ledger.

use kopeck_domain::Kopecks;
use kopeck_domain::ids::PartnerId;
use kopeck_domain::ledger::{Balances, Movement, MovementKind, Reference, TransferReference};

use super::card_batches::some_replenishment;
use super::support::{at, book, id, partner, read, some_order, write};
use crate::{BalanceSheet, Rule, Store, StoreError};

fn transfer_reference(text: &str) -> TransferReference {
    TransferReference::parse(text).unwrap()
}

fn booked(
    store: &dyn Store,
    partner: PartnerId,
    movement: (MovementKind, Reference, i64),
    seconds: i64,
) -> Result<(), StoreError> {
    write(store, move |unit| book(unit.ledger(), partner, movement.clone(), at(seconds)))
}

fn sheet(store: &dyn Store, partner: PartnerId) -> Option<BalanceSheet> {
    read(store, move |unit| unit.ledger().sheet(partner))
}

fn balances(deposited: i64, available: i64, held: i64, spent: i64) -> Balances {
    Balances {
        deposited: Kopecks::new(deposited),
        available: Kopecks::new(available),
        held: Kopecks::new(held),
        spent: Kopecks::new(spent),
    }
}

fn balance_sheet(balances: Balances, seconds: i64) -> BalanceSheet {
    BalanceSheet {
        balances,
        updated_at: at(seconds),
        threshold: Kopecks::ZERO,
        approval_above: Kopecks::ZERO,
    }
}

/// Since its creation; an unknown partner has none.
pub fn a_new_partner_has_empty_accounts(store: &dyn Store) {
    let partner = partner(store);
    let empty = balance_sheet(Balances::default(), 0);
    assert_eq!(sheet(store, partner), Some(empty));
    assert_eq!(sheet(store, id()), None);
}

/// Of that partner alone, and notes when.
pub fn a_movement_changes_the_balances(store: &dyn Store) {
    let (partner, other) = (partner(store), partner(store));
    let (first, second) = (some_order(store, partner), some_order(store, partner));
    let steps = [
        (MovementKind::Deposit, Reference::Transfer(transfer_reference("R-1")), 1_000, (-1_000, 1_000, 0, 0)),
        (MovementKind::Hold, Reference::Order(first), 400, (-1_000, 600, 400, 0)),
        (MovementKind::Hold, Reference::Order(second), 600, (-1_000, 0, 1_000, 0)),
        (MovementKind::Capture, Reference::Order(first), 400, (-1_000, 0, 600, 400)),
        (MovementKind::Release, Reference::Order(second), 600, (-1_000, 600, 0, 400)),
    ];
    for ((kind, reference, amount, (d, a, h, s)), seconds) in steps.into_iter().zip(10..) {
        booked(store, partner, (kind, reference, amount), seconds).unwrap();
        let expected = balance_sheet(balances(d, a, h, s), seconds);
        assert_eq!(sheet(store, partner), Some(expected), "{kind}");
    }
    assert_eq!(sheet(store, other).unwrap().balances, Balances::default());
}

/// For each partner and kind of movement; a refused deposit moves nothing.
pub fn a_reference_counts_once(store: &dyn Store) {
    let (first, second) = (partner(store), partner(store));
    let reference = transfer_reference("R-1");
    let deposited = |partner| {
        let reference = reference.clone();
        read(store, move |unit| unit.ledger().transferred(partner, MovementKind::Deposit, &reference))
    };
    let deposit = |amount| (MovementKind::Deposit, Reference::Transfer(reference.clone()), amount);
    assert_eq!(deposited(first), None);
    booked(store, first, deposit(500), 10).unwrap();
    let refused = booked(store, first, deposit(700), 20);
    assert_eq!(refused, Err(StoreError::Conflict(Rule::TransferReference)));
    assert_eq!(sheet(store, first).unwrap().balances, balances(-500, 500, 0, 0));
    assert_eq!((deposited(first), deposited(second)), (Some(Kopecks::new(500)), None));
    booked(store, second, deposit(700), 20).unwrap();
    assert_eq!((deposited(first), deposited(second)), (Some(Kopecks::new(500)), Some(Kopecks::new(700))));
    for kind in [MovementKind::Withdrawal, MovementKind::Correction] {
        let transfer = |amount| (kind, Reference::Transfer(reference.clone()), amount);
        let transferred = {
            let reference = reference.clone();
            move || {
                let reference = reference.clone();
                read(store, move |unit| unit.ledger().transferred(first, kind, &reference))
            }
        };
        assert_eq!(transferred(), None);
        booked(store, first, transfer(10), 30).unwrap();
        assert_eq!(transferred(), Some(Kopecks::new(10)));
        let refused = booked(store, first, transfer(20), 40);
        assert_eq!(refused, Err(StoreError::Conflict(Rule::TransferReference)));
    }
    assert_eq!(sheet(store, first).unwrap().balances, balances(-480, 480, 0, 0));
}

/// Whatever a use case believes the balances to be.
pub fn unbalanced_movements_are_refused(store: &dyn Store) {
    let partner = partner(store);
    let order = some_order(store, partner);
    for after in [
        balances(-1, 0, 0, 0),
        balances(1, -1, 0, 0),
        balances(1, 0, -1, 0),
        balances(1, 0, 0, -1),
        balances(0, -1, 1, 0),
    ] {
        let refused = write(store, move |unit| {
            let amount = Kopecks::new(1);
            let movement = Movement::new(MovementKind::Hold, Reference::Order(order), amount).unwrap();
            unit.ledger().book(partner, &movement, after, at(10))
        });
        assert!(matches!(refused, Err(StoreError::Failed(_))), "{after:?}");
    }
    let empty = balance_sheet(Balances::default(), 0);
    assert_eq!(sheet(store, partner), Some(empty));
}

/// An order or replenishment of another does not exist.
pub fn a_movement_belongs_to_the_partners_own_request(store: &dyn Store) {
    let (first, second) = (partner(store), partner(store));
    booked(store, first, (MovementKind::Deposit, Reference::Transfer(transfer_reference("R")), 9), 1)
        .unwrap();
    let request = some_replenishment(store, second);
    for reference in [
        Reference::Order(some_order(store, second)),
        Reference::Order(id()),
        Reference::Replenishment(request),
    ] {
        let refused = booked(store, first, (MovementKind::Hold, reference, 1), 2);
        assert_eq!(refused, Err(StoreError::Conflict(Rule::Reference)));
    }
    let stranger: PartnerId = id();
    let movement =
        Movement::new(MovementKind::Deposit, Reference::Transfer(transfer_reference("R")), Kopecks::new(1))
            .unwrap();
    let refused =
        write(store, move |unit| unit.ledger().book(stranger, &movement, balances(-1, 1, 0, 0), at(3)));
    assert_eq!(refused, Err(StoreError::Conflict(Rule::Reference)));
}

/// Whatever moves; that of another stays as it is.
pub fn a_threshold_is_kept(store: &dyn Store) {
    let (partner, other) = (partner(store), partner(store));
    let threshold = Kopecks::new(700);
    write(store, move |unit| unit.ledger().set_threshold(partner, threshold)).unwrap();
    let deposit = (MovementKind::Deposit, Reference::Transfer(transfer_reference("R-1")), 500);
    booked(store, partner, deposit, 10).unwrap();
    let expected = BalanceSheet { threshold, ..balance_sheet(balances(-500, 500, 0, 0), 10) };
    assert_eq!(sheet(store, partner), Some(expected));
    assert_eq!(sheet(store, other), Some(balance_sheet(Balances::default(), 0)));
    let stranger: PartnerId = id();
    write(store, move |unit| unit.ledger().set_threshold(stranger, threshold)).unwrap();
    assert_eq!(sheet(store, stranger), None);
}

/// Beside the threshold of a low balance, whatever moves; that of another stays as it is.
pub fn the_amount_that_needs_an_approval_is_kept(store: &dyn Store) {
    let (partner, other) = (partner(store), partner(store));
    let (threshold, approval_above) = (Kopecks::new(700), Kopecks::new(5_000));
    write(store, move |unit| unit.ledger().set_threshold(partner, threshold)).unwrap();
    write(store, move |unit| unit.ledger().set_approval(partner, approval_above)).unwrap();
    let deposit = (MovementKind::Deposit, Reference::Transfer(transfer_reference("R-1")), 500);
    booked(store, partner, deposit, 10).unwrap();
    let expected = BalanceSheet { threshold, approval_above, ..balance_sheet(balances(-500, 500, 0, 0), 10) };
    assert_eq!(sheet(store, partner), Some(expected));
    assert_eq!(sheet(store, other), Some(balance_sheet(Balances::default(), 0)));
    write(store, move |unit| unit.ledger().set_approval(partner, Kopecks::ZERO)).unwrap();
    assert_eq!(sheet(store, partner).unwrap().approval_above, Kopecks::ZERO);
    let stranger: PartnerId = id();
    write(store, move |unit| unit.ledger().set_approval(stranger, approval_above)).unwrap();
    assert_eq!(sheet(store, stranger), None);
}
