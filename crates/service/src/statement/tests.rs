use kopeck_domain::ledger::{Movement, Reference, TransferReference};
use kopeck_port_store::mock::MockUnit;
use time::macros::{date, datetime};
use time::{Duration, OffsetDateTime};

use super::*;
use crate::testing::*;

/// Deposits of 10, 20, 30… kopecks at these moments, of which one kopeck each is held.
fn deposits(moments: &'static [OffsetDateTime]) -> MockUnit {
    let booked = move |number: i64| {
        let place = usize::try_from(number - 1).unwrap();
        let reference = Reference::Transfer(TransferReference::parse("R").unwrap());
        BookedMovement {
            number,
            movement: Movement::new(MovementKind::Deposit, reference, kopecks(10 * number)).unwrap(),
            request_reference: None,
            booked_at: moments[place],
            available: kopecks((1..=number).map(|number| 10 * number).sum::<i64>() - 1),
            held: kopecks(1),
        }
    };
    let count = i64::try_from(moments.len()).unwrap();
    let first = move |numbers: Range<i64>, moment| {
        numbers.into_iter().find(|number| booked(*number).booked_at >= moment)
    };
    let mut unit = MockUnit::default();
    unit.movements.expect_last().returning(move |_| Ok(count));
    unit.movements.expect_first_since().returning(move |_, moment| Ok(first(1..count + 1, moment)));
    unit.movements.expect_first_within().returning(move |_, numbers, moment| Ok(first(numbers, moment)));
    unit.movements.expect_range().returning(move |_, numbers| {
        Ok(numbers.filter(|number| (1..=count).contains(number)).map(booked).collect())
    });
    unit
}

/// 21:00 UTC is midnight in the service's zone.
static MOMENTS: [OffsetDateTime; 5] = [
    datetime!(2026-01-31 20:59 UTC),
    datetime!(2026-01-31 21:00 UTC),
    datetime!(2026-02-02 09:00 UTC),
    datetime!(2026-02-02 20:59 UTC),
    datetime!(2026-02-28 21:00 UTC),
];

fn month(text: &str) -> CalendarMonth {
    CalendarMonth::parse(text).unwrap()
}

#[test]
fn a_month_has_its_days_by_the_zone_of_the_service() {
    let outline = outline(&mut deposits(&MOMENTS), &Bench::new(), PARTNER, month("2026-02")).unwrap();
    assert!(outline.is_complete);
    let EntrySpan { numbers, opening, closing } = outline.span;
    assert_eq!((numbers, opening, closing), (2..5, kopecks(10), kopecks(100)));
    assert_eq!(outline.days.len(), 28);
    let day = |day, opening, closing, amount| DayTotal {
        date: date!(2026 - 02 - 01).replace_day(day).unwrap(),
        opening: kopecks(opening),
        closing: kopecks(closing),
        amount: kopecks(amount),
    };
    assert_eq!(outline.days[..3], [day(1, 10, 30, 20), day(2, 30, 100, 70), day(3, 100, 100, 0)]);
    assert_eq!(outline.days[27], day(28, 100, 100, 0));
}

#[test]
fn a_month_that_is_not_over_ends_today() {
    // 10 March in the zone.
    let outline = outline(&mut deposits(&MOMENTS), &Bench::new(), PARTNER, month("2026-03")).unwrap();
    assert!(!outline.is_complete);
    assert_eq!((outline.days.len(), outline.span.numbers), (10, 5..6));
    assert_eq!(outline.days[0].closing, kopecks(150));
}

#[test]
fn a_month_to_come_has_no_statement() {
    let (bench, mut unit) = (Bench::new(), MockUnit::default());
    let refused = outline(&mut unit, &bench, PARTNER, month("2026-04"));
    assert_eq!(refused, Err(StatementError::ToCome));
    bench.clock.advance(Duration::days(21) + Duration::hours(12));
    assert!(outline(&mut deposits(&MOMENTS), &bench, PARTNER, month("2026-04")).is_ok());
}

#[test]
fn the_pieces_of_a_range_cover_it_once() {
    assert_eq!(piece(&(5..12), 5, 4), 5..9);
    assert_eq!(piece(&(5..12), 9, 4), 9..12);
    assert!(piece(&(5..12), 12, 4).is_empty());
}

#[test]
fn totals_of_pieces_are_added_up_for_every_type() {
    let total = |kind, number, amount| KindTotal { kind, number, amount: kopecks(amount) };
    let pieces = [
        total(MovementKind::Deposit, 1, 1_000),
        total(MovementKind::Hold, 2, 300),
        total(MovementKind::Hold, 1, 50),
        total(MovementKind::Capture, 1, 200),
    ];
    let totals: Vec<(u64, i64)> =
        type_totals(&pieces).unwrap().iter().map(|total| (total.number, total.amount.get())).collect();
    assert_eq!(totals, [(1, 1_000), (3, -350), (1, 0), (0, 0), (0, 0), (0, 0), (0, 0)]);
    let too_much = [total(MovementKind::Deposit, 1, i64::MAX), total(MovementKind::Deposit, 1, 1)];
    assert!(matches!(type_totals(&too_much), Err(StoreError::Corrupt(_))));
}
