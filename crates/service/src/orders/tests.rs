use super::*;
use crate::testing::*;
use OrderState as S;
use kopeck_domain::card::CardType;
use kopeck_domain::order::OrderFields;
use kopeck_port_store::mock::MockUnit;
use time::Duration;

fn stored_order(unit: &mut MockUnit, order: Option<Order>) {
    unit.orders
        .expect_get()
        .withf(|partner, id| *partner == PARTNER && *id == order_id(1))
        .times(1)
        .returning(move |_, _| Ok(order.clone()));
}

fn expect_state(unit: &mut MockUnit, state: OrderState) {
    unit.orders
        .expect_set_state()
        .withf(move |partner, order| {
            *partner == PARTNER && order.state() == state && order.state_since() == START
        })
        .times(1)
        .returning(|_, _| Ok(()));
}

/// The order and the work as they have to be stored, once each.
fn expect_placed(unit: &mut MockUnit, lines: &[OrderLine]) {
    let (id, expected) = (OrderId::new(fresh_id(1)), lines.to_vec());
    unit.orders
        .expect_insert()
        .withf(move |partner, order, lines| *partner == PARTNER && order.id() == id && *lines == expected[..])
        .times(1)
        .returning(|_, _, _| Ok(()));
    unit.jobs
        .expect_enqueue()
        .withf(move |partner, subject, delay| {
            *partner == PARTNER && *subject == Subject::Order(id) && *delay == Duration::seconds(3)
        })
        .times(1)
        .returning(|_, _, _| Ok(()));
}

#[test]
fn a_virtual_order_holds_what_it_costs() {
    let (bench, mut unit) = (Bench::new(), MockUnit::default());
    let lines = [virtual_line(2, 5_000), virtual_line(1, 7_000)];
    let reference = Reference::Order(OrderId::new(fresh_id(1)));
    expect_booking(&mut unit, sheet(17_000, 500), MovementKind::Hold, reference, 17_000);
    expect_placed(&mut unit, &lines);
    let order = place(&mut unit, &bench, PARTNER, OrderKind::Virtual, &lines, None).unwrap();
    assert_eq!((order.cards(), order.cost(), order.state()), (3, kopecks(17_000), S::New));
    assert_eq!((order.created_at(), order.state_since()), (START, START));
}

/// The ledger refers to the order, so a hold before it would break a constraint of the database.
#[test]
fn the_order_is_stored_before_its_money_is_held() {
    let (bench, mut unit, mut steps) = (Bench::new(), MockUnit::default(), mockall::Sequence::new());
    unit.orders.expect_insert().times(1).in_sequence(&mut steps).returning(|_, _, _| Ok(()));
    unit.ledger.expect_sheet().returning(|_| Ok(Some(sheet(5_000, 0))));
    unit.ledger.expect_book().times(1).in_sequence(&mut steps).returning(|_, _, _, _| Ok(()));
    unit.jobs.expect_enqueue().returning(|_, _, _| Ok(()));
    assert!(place(&mut unit, &bench, PARTNER, OrderKind::Virtual, &[virtual_line(1, 5_000)], None).is_ok());
}

#[test]
fn a_plastic_order_books_nothing() {
    let (bench, mut unit) = (Bench::new(), MockUnit::default());
    let lines = [plastic_line(10_000)];
    expect_placed(&mut unit, &lines);
    let order = place(&mut unit, &bench, PARTNER, OrderKind::Plastic, &lines, None).unwrap();
    assert_eq!((order.cost(), order.card_type()), (kopecks(0), CardType::Kkl));
}

#[test]
fn one_kopeck_too_few_is_402_and_no_work() {
    let (bench, mut unit) = (Bench::new(), MockUnit::default());
    unit.orders.expect_insert().returning(|_, _, _| Ok(()));
    unit.ledger.expect_sheet().returning(|_| Ok(Some(sheet(9_999, 90_000))));
    assert_eq!(
        place(&mut unit, &bench, PARTNER, OrderKind::Virtual, &[virtual_line(2, 5_000)], None),
        Err(PlaceOrderError::InsufficientBalance)
    );
}

#[test]
fn a_faulty_order_comes_before_its_money() {
    let (bench, mut unit) = (Bench::new(), MockUnit::default());
    for lines in [vec![], vec![virtual_line(1, 5_000); 101], vec![virtual_line(5_000, 5_000); 21]] {
        let refused = place(&mut unit, &bench, PARTNER, OrderKind::Virtual, &lines, None);
        assert!(matches!(refused, Err(PlaceOrderError::Invalid(_))), "{} lines", lines.len());
    }
}

#[test]
fn a_partner_without_accounts_is_a_failure() {
    let (bench, mut unit) = (Bench::new(), MockUnit::default());
    unit.orders.expect_insert().returning(|_, _, _| Ok(()));
    unit.ledger.expect_sheet().returning(|_| Ok(None));
    let refused = place(&mut unit, &bench, PARTNER, OrderKind::Virtual, &[virtual_line(1, 5_000)], None);
    assert!(matches!(refused, Err(PlaceOrderError::Store(StoreError::Corrupt(_)))), "{refused:?}");
}

#[test]
fn the_whole_table_of_results() {
    for &state in S::ALL {
        let mut unit = MockUnit::default();
        stored_order(&mut unit, Some(order(state, 3, 15_000)));
        let refusal = match state {
            S::New | S::InProcess => Some(OrderResultError::NotProcessed),
            S::Rejected => Some(OrderResultError::Cancelled),
            S::Decline => Some(OrderResultError::Declined),
            S::Success | S::Confirmed => None,
        };
        let item =
            OrderResultItem { ordinal: 0, card_type: CardType::Mlz, number: number(1), activation: None };
        let items = vec![item];
        if refusal.is_none() {
            let stored = items.clone();
            unit.orders
                .expect_result()
                .withf(|partner, id, from, limit| {
                    (*partner, *id, *from, *limit) == (PARTNER, order_id(1), 0, 3)
                })
                .times(1)
                .returning(move |_, _, _, _| Ok(stored.clone()));
        }
        let expected = refusal.map_or(Ok(OrderResult { order: order(state, 3, 15_000), items }), Err);
        assert_eq!(result(&mut unit, PARTNER, order_id(1), 3), expected, "{state}");
    }
}

#[test]
fn the_whole_table_of_confirming() {
    for &state in S::ALL {
        let (bench, mut unit) = (Bench::new(), MockUnit::default());
        stored_order(&mut unit, Some(order(state, 3, 15_000)));
        let expected = match state {
            S::Success => {
                expect_state(&mut unit, S::Confirmed);
                Ok(Order::from_stored(OrderFields {
                    state_since: START,
                    ..order(S::Confirmed, 3, 15_000).into_fields()
                }))
            }
            // Once more: nothing is written.
            S::Confirmed => Ok(order(S::Confirmed, 3, 15_000)),
            S::New | S::InProcess | S::Decline | S::Rejected => Err(ChangeOrderError::WrongState(state)),
        };
        assert_eq!(confirm(&mut unit, &bench, PARTNER, order_id(1)), expected, "{state}");
    }
}

#[test]
fn the_whole_table_of_cancelling() {
    for &state in S::ALL {
        let (bench, mut unit) = (Bench::new(), MockUnit::default());
        stored_order(&mut unit, Some(order(state, 3, 15_000)));
        unit.jobs
            .expect_cancel()
            .withf(|partner, subject| *partner == PARTNER && *subject == Subject::Order(order_id(1)))
            .times(if state == S::New { 1..=1 } else { 0..=1 })
            .returning(|_, _| Ok(()));
        let expected = match state {
            S::New => {
                let reference = Reference::Order(order_id(1));
                expect_booking(&mut unit, sheet(0, 15_000), MovementKind::Release, reference, 15_000);
                expect_state(&mut unit, S::Rejected);
                Ok(Order::from_stored(OrderFields {
                    state_since: START,
                    ..order(S::Rejected, 3, 15_000).into_fields()
                }))
            }
            // Once more: nothing is written and nothing is released twice.
            S::Rejected => Ok(order(S::Rejected, 3, 15_000)),
            S::InProcess | S::Success | S::Decline | S::Confirmed => Err(ChangeOrderError::WrongState(state)),
        };
        assert_eq!(cancel(&mut unit, &bench, PARTNER, order_id(1)), expected, "{state}");
    }
}

#[test]
fn cancelling_a_plastic_order_books_nothing() {
    let (bench, mut unit) = (Bench::new(), MockUnit::default());
    stored_order(&mut unit, Some(order(S::New, 3, 0)));
    expect_state(&mut unit, S::Rejected);
    unit.jobs.expect_cancel().times(1).returning(|_, _| Ok(()));
    let cancelled = cancel(&mut unit, &bench, PARTNER, order_id(1)).unwrap();
    assert_eq!(cancelled.state(), S::Rejected);
}

#[test]
fn a_hold_that_is_not_in_the_books_is_a_failure() {
    let (bench, mut unit) = (Bench::new(), MockUnit::default());
    stored_order(&mut unit, Some(order(S::New, 3, 15_000)));
    unit.orders.expect_set_state().returning(|_, _| Ok(()));
    unit.ledger.expect_sheet().returning(|_| Ok(Some(sheet(0, 14_999))));
    let refused = cancel(&mut unit, &bench, PARTNER, order_id(1));
    assert!(matches!(refused, Err(ChangeOrderError::Store(StoreError::Corrupt(_)))), "{refused:?}");
}

#[test]
fn unknown_orders_are_not_found() {
    let (bench, mut unit) = (Bench::new(), MockUnit::default());
    unit.orders.expect_get().times(4).returning(|_, _| Ok(None));
    let id = order_id(1);
    assert_eq!(status(&mut unit, PARTNER, id), Err(OrderError::NotFound));
    assert_eq!(result(&mut unit, PARTNER, id, 3), Err(OrderResultError::NotFound));
    assert_eq!(confirm(&mut unit, &bench, PARTNER, id), Err(ChangeOrderError::NotFound));
    assert_eq!(cancel(&mut unit, &bench, PARTNER, id), Err(ChangeOrderError::NotFound));
}
