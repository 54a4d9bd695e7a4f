use super::*;
use crate::testing::*;
use kopeck_port_store::BalanceSheet;
use kopeck_port_store::mock::MockUnit;

/// 1,000 kopecks can be spent, and 1,000 are held.
fn accounts(threshold: i64) -> BalanceSheet {
    BalanceSheet { threshold: kopecks(threshold), ..sheet(1_000, 1_000) }
}

fn order() -> Reference {
    Reference::Order(order_id(1))
}

/// What the feed says: what can be spent, and the threshold.
fn told(unit: &mut MockUnit) -> Vec<(i64, i64)> {
    let events = unit.events().after(PARTNER, 0, &[], 10).unwrap();
    let low = events.into_iter().map(|event| match event.event.data {
        EventData::BalanceLow(low) => (low.available.get(), low.threshold.get()),
        other => panic!("{other:?}"),
    });
    low.collect()
}

#[test]
fn a_balance_that_falls_below_the_threshold_is_one_event() {
    for (threshold, kind, amount, event) in [
        (0, MovementKind::Hold, 1_000, None),
        (999, MovementKind::Hold, 1, None),
        (1_000, MovementKind::Hold, 1, Some((999, 1_000))),
        (1_000, MovementKind::Hold, 1_000, Some((0, 1_000))),
        // It was below before.
        (1_001, MovementKind::Hold, 1, None),
        (1_001, MovementKind::Release, 1, None),
        // What was held already could not be spent.
        (1_000, MovementKind::Capture, 1_000, None),
    ] {
        let mut unit = MockUnit::default();
        expect_booking(&mut unit, accounts(threshold), kind, order(), amount);
        assert_eq!(book(&mut unit, &Bench::new(), PARTNER, kind, order(), kopecks(amount)), Ok(()));
        assert_eq!(told(&mut unit), Vec::from_iter(event), "{threshold} {kind:?} {amount}");
    }
}

#[test]
fn zero_and_missing_money_are_not_booked() {
    let bench = Bench::new();
    let hold = |unit: &mut MockUnit, amount| {
        book(unit, &bench, PARTNER, MovementKind::Hold, order(), kopecks(amount))
    };
    assert_eq!(hold(&mut MockUnit::default(), 0), Ok(()));
    let mut unit = MockUnit::default();
    unit.ledger.expect_sheet().returning(|_| Ok(Some(accounts(0))));
    assert!(matches!(hold(&mut unit, 1_001), Err(MoveError::Ledger(LedgerError::Insufficient(_)))));
}

#[test]
fn a_threshold_above_the_balance_is_an_event_at_once() {
    for (before, after, event) in [
        (0, 1_000, None),
        (0, 1_001, Some((1_000, 1_001))),
        (1_001, 2_000, Some((1_000, 2_000))),
        (1_001, 0, None),
    ] {
        let mut unit = MockUnit::default();
        unit.ledger.expect_sheet().returning(move |_| Ok(Some(accounts(before))));
        unit.ledger
            .expect_set_threshold()
            .withf(move |partner, threshold| *partner == PARTNER && *threshold == kopecks(after))
            .times(1)
            .returning(|_, _| Ok(()));
        assert_eq!(set_threshold(&mut unit, &Bench::new(), PARTNER, kopecks(after)), Ok(()));
        assert_eq!(told(&mut unit), Vec::from_iter(event), "{before} {after}");
    }
}

#[test]
fn a_threshold_that_is_set_already_changes_nothing() {
    let mut unit = MockUnit::default();
    unit.ledger.expect_sheet().returning(|_| Ok(Some(accounts(2_000))));
    assert_eq!(set_threshold(&mut unit, &Bench::new(), PARTNER, kopecks(2_000)), Ok(()));
    assert_eq!(told(&mut unit), []);
}
