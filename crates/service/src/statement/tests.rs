use kopeck_domain::ledger::{Balances, Movement, MovementKind, Reference, TransferReference};
use kopeck_port_store::mock::MockUnit;
use proptest::prelude::*;
use time::macros::{date, datetime};
use time::{Duration, OffsetDateTime};

use super::*;
use crate::testing::*;

/// Deposits of 10, 20, 30… kopecks at these moments, of which one kopeck each is held.
fn deposits(moments: &[OffsetDateTime]) -> MockUnit {
    let booked = |(number, booked_at): (i64, &OffsetDateTime)| {
        let reference = Reference::Transfer(TransferReference::parse("R").unwrap());
        BookedMovement {
            number,
            movement: Movement::new(MovementKind::Deposit, reference, kopecks(10 * number)).unwrap(),
            request_reference: None,
            booked_at: *booked_at,
            available: kopecks((1..=number).map(|number| 10 * number).sum::<i64>() - 1),
            held: kopecks(1),
        }
    };
    unit((1..).zip(moments).map(booked).collect())
}

/// A partner with this history.
fn unit(history: Vec<BookedMovement>) -> MockUnit {
    let history = std::sync::Arc::new(history);
    let mut unit = MockUnit::default();
    let all = std::sync::Arc::clone(&history);
    unit.movements.expect_last().returning(move |_| Ok(i64::try_from(all.len()).unwrap()));
    let all = std::sync::Arc::clone(&history);
    unit.movements.expect_first_since().returning(move |_, moment| {
        Ok(all.iter().find(|entry| entry.booked_at >= moment).map(|entry| entry.number))
    });
    let all = std::sync::Arc::clone(&history);
    unit.movements.expect_first_within().returning(move |_, numbers, moment| {
        let mut within = all.iter().filter(|entry| numbers.contains(&entry.number));
        Ok(within.find(|entry| entry.booked_at >= moment).map(|entry| entry.number))
    });
    unit.movements.expect_range().returning(move |_, numbers| {
        Ok(history.iter().filter(|entry| numbers.contains(&entry.number)).cloned().collect())
    });
    unit
}

/// 21:00 UTC is midnight in the service's zone.
const MOMENTS: [OffsetDateTime; 5] = [
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
    // One kopeck is held all the time.
    let parts = |balance: i64| BalanceParts::of(kopecks(balance - 1), kopecks(1)).unwrap();
    assert_eq!((numbers, opening, closing), (2..5, parts(10), parts(100)));
    assert_eq!(outline.days.len(), 28);
    let day = |day, opening, closing, amount| DayTotal {
        date: date!(2026 - 02 - 01).replace_day(day).unwrap(),
        opening: parts(opening),
        closing: parts(closing),
        change: BalanceParts::of(kopecks(amount), kopecks(0)).unwrap(),
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
    assert_eq!(outline.days[0].closing.balance, kopecks(150));
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
    let changes = |total: &TypeTotal| {
        let BalanceParts { balance, hold, available } = total.change;
        (total.number, available.get(), hold.get(), balance.get())
    };
    let totals: Vec<_> = type_totals(&pieces).unwrap().iter().map(changes).collect();
    let none = (0, 0, 0, 0);
    let expected = [(1, 1_000, 0, 1_000), (3, -350, 350, 0), (1, 0, -200, -200), none, none, none, none];
    assert_eq!(totals, expected);
    let too_much = [total(MovementKind::Deposit, 1, i64::MAX), total(MovementKind::Deposit, 1, 1)];
    assert!(matches!(type_totals(&too_much), Err(StoreError::Corrupt(_))));
}

/// What a partner does: the kind of a movement, its amount, and the minutes since the one before.
fn steps() -> impl Strategy<Value = Vec<(MovementKind, i64, i64)>> {
    let kind = proptest::sample::select(MovementKind::ALL);
    proptest::collection::vec((kind, 1..500_i64, 0..6_000_i64), 0..40)
}

/// The movements that the accounts bear, from the beginning of the year on.
fn history(steps: &[(MovementKind, i64, i64)]) -> Vec<BookedMovement> {
    let (mut balances, mut booked_at) = (Balances::default(), datetime!(2026-01-01 00:00 UTC));
    let mut booked = Vec::new();
    for (kind, amount, minutes) in steps {
        booked_at += Duration::minutes(*minutes);
        let movement = Movement::new(*kind, Reference::Order(order_id(1)), kopecks(*amount)).unwrap();
        let Ok(after) = balances.after(&movement) else { continue };
        balances = after;
        booked.push(BookedMovement {
            number: i64::try_from(booked.len()).unwrap() + 1,
            movement,
            request_reference: None,
            booked_at,
            available: after.available,
            held: after.held,
        });
    }
    booked
}

fn three(parts: BalanceParts) -> [i64; 3] {
    [parts.balance, parts.hold, parts.available].map(Kopecks::get)
}

/// Opening and all of these changes are closing, for the balance, the hold and what is available.
fn expect_sum(opening: BalanceParts, changes: impl Iterator<Item = BalanceParts>, closing: BalanceParts) {
    let sum = changes
        .map(three)
        .fold(three(opening), |sum, change| [sum[0] + change[0], sum[1] + change[1], sum[2] + change[2]]);
    assert_eq!(sum, three(closing));
    for parts in [opening, closing] {
        assert_eq!(parts.balance, parts.hold.plus(parts.available).unwrap());
    }
}

proptest! {
    /// At any moment, whatever is open then: entries, types and days add up to what there is, and days and months follow
    /// each other.
    #[test]
    fn a_statement_adds_up_at_any_moment(steps in steps(), cut in 0..40_usize) {
        let mut all = history(&steps);
        all.truncate(cut);
        let bench = Bench::new();
        let mut before = BalanceParts::default();
        for text in ["2026-01", "2026-02", "2026-03"] {
            let Outline { span, days, .. } = outline(&mut unit(all.clone()), &bench, PARTNER, month(text)).unwrap();
            assert_eq!(span.opening, before);
            before = span.closing;
            let entries = || all.iter().filter(|entry| span.numbers.contains(&entry.number));
            let change =
                |entry: &BookedMovement| BalanceParts::change_by(entry.movement.kind(), entry.movement.amount()).unwrap();
            expect_sum(span.opening, entries().map(change), span.closing);
            let pieces: Vec<KindTotal> = entries()
                .map(|entry| KindTotal { kind: entry.movement.kind(), number: 1, amount: entry.movement.amount() })
                .collect();
            let totals = type_totals(&pieces).unwrap();
            assert_eq!(totals.iter().map(|total| total.number).sum::<u64>(), pieces.len() as u64);
            expect_sum(span.opening, totals.iter().map(|total| total.change), span.closing);
            expect_sum(span.opening, days.iter().map(|day| day.change), span.closing);
            let mut end = span.opening;
            for day in &days {
                assert_eq!(day.opening, end);
                expect_sum(day.opening, std::iter::once(day.change), day.closing);
                end = day.closing;
            }
            for entry in entries() {
                let previous = all.iter().find(|other| other.number + 1 == entry.number);
                let previous = previous.map_or_else(BalanceParts::default, |entry| BalanceParts::after(entry).unwrap());
                expect_sum(previous, std::iter::once(change(entry)), BalanceParts::after(entry).unwrap());
            }
        }
    }
}
