use kopeck_domain::ledger::{Movement, TransferReference};
use kopeck_domain::request::RequestReference;
use kopeck_port_store::mock::MockUnit;
use time::Duration;

use super::*;
use crate::testing::*;

fn transfer(text: &str) -> Reference {
    Reference::Transfer(TransferReference::parse(text).unwrap())
}

/// After movement `n` a partner can spend `n` kopecks, and ten are held.
fn booked(number: i64) -> BookedMovement {
    BookedMovement {
        number,
        movement: Movement::new(MovementKind::Deposit, transfer("R"), kopecks(1)).unwrap(),
        request_reference: None,
        booked_at: START,
        available: kopecks(number),
        held: kopecks(10),
    }
}

/// What there is after movement `n`; nothing before the first.
fn parts(number: i64) -> BalanceParts {
    if number == 0 { BalanceParts::default() } else { BalanceParts::after(&booked(number)).unwrap() }
}

/// A ledger of five movements, of which those from the third on were booked at START or later.
fn five_movements() -> MockUnit {
    let mut unit = MockUnit::default();
    unit.movements.expect_last().withf(|partner| *partner == PARTNER).returning(|_| Ok(5));
    unit.movements.expect_first_since().returning(|_, moment| Ok((moment <= START).then_some(3)));
    unit.movements.expect_range().returning(|_, numbers| Ok(numbers.map(booked).collect()));
    unit
}

#[test]
fn a_period_is_a_range_of_numbers_between_two_balances() {
    let (early, late) = (Some(START), Some(START + Duration::DAY));
    for (from, before, numbers, opening, closing) in [
        (None, None, 1..6, 0, 5),
        (early, None, 3..6, 2, 5),
        (None, early, 1..3, 0, 2),
        (early, late, 3..6, 2, 5),
        (late, None, 6..6, 5, 5),
        (late, late, 6..6, 5, 5),
    ] {
        let expected = EntrySpan { numbers, opening: parts(opening), closing: parts(closing) };
        assert_eq!(span(&mut five_movements(), PARTNER, from, before), Ok(expected));
    }
}

#[test]
fn a_period_without_movements_is_empty() {
    let mut unit = MockUnit::default();
    unit.movements.expect_last().returning(|_| Ok(0));
    unit.movements.expect_first_since().returning(|_, _| Ok(None));
    let empty = EntrySpan { numbers: 1..1, opening: parts(0), closing: parts(0) };
    assert_eq!(span(&mut unit, PARTNER, Some(START), Some(START)), Ok(empty));
}

#[test]
fn a_page_is_a_part_of_the_range() {
    let filter = EntryFilter { from: Some(START), ..EntryFilter::default() };
    for (number, expected) in [(1, vec![3, 4]), (2, vec![5]), (3, vec![]), (Page::MAX_NUMBER, vec![])] {
        let page = Page::new(number, 2).unwrap();
        let listed = list(&mut five_movements(), PARTNER, filter, page).unwrap();
        assert_eq!((listed.opening, listed.closing, listed.entries.total), (parts(2), parts(5), 3));
        let numbers: Vec<i64> = listed.entries.items.iter().map(|entry| entry.number).collect();
        assert_eq!(numbers, expected, "page {number}");
    }
}

#[test]
fn a_kind_is_looked_for_in_the_same_range() {
    let mut unit = five_movements();
    let found = Listed { items: vec![booked(4)], total: 1 };
    let expected = found.clone();
    unit.movements
        .expect_of_kind()
        .withf(|partner, kind, numbers, _| {
            (*partner, *kind, numbers.clone()) == (PARTNER, MovementKind::Deposit, 3..6)
        })
        .times(1)
        .returning(move |_, _, _, _| Ok(found.clone()));
    let filter = EntryFilter { from: Some(START), before: None, kind: Some(MovementKind::Deposit) };
    let listed = list(&mut unit, PARTNER, filter, Page::new(1, 2).unwrap()).unwrap();
    assert_eq!(listed, EntryPage { opening: parts(2), closing: parts(5), entries: expected });
}

#[test]
fn a_missing_movement_is_a_broken_ledger() {
    let mut unit = MockUnit::default();
    unit.movements.expect_last().returning(|_| Ok(1));
    unit.movements.expect_range().returning(|_, _| Ok(Vec::new()));
    assert!(matches!(span(&mut unit, PARTNER, None, None), Err(StoreError::Corrupt(_))));
}

#[test]
fn absent_references_are_not_shown() {
    let request = Some(RequestReference::parse("PO-7").unwrap());
    let sandbox = format!("sandbox-{}", fresh_id(1));
    for (reference, shown) in [
        (transfer("R-1"), Some("R-1")),
        (transfer("opening"), None),
        (transfer(&sandbox), None),
        (transfer("sandbox-7"), Some("sandbox-7")),
        (Reference::Order(order_id(1)), Some("PO-7")),
        (Reference::Replenishment(replenishment_id(1)), Some("PO-7")),
    ] {
        let movement = Movement::new(MovementKind::Hold, reference, kopecks(1)).unwrap();
        let entry = BookedMovement { movement, request_reference: request.clone(), ..booked(1) };
        assert_eq!(reference_of(&entry), shown);
    }
}
