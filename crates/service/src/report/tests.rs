use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use kopeck_domain::report::ReportAmounts;
use kopeck_port_store::ReportPerson;
use kopeck_port_store::mock::MockUnit;
use time::macros::datetime;
use uuid::Uuid;

use super::*;
use crate::testing::*;

fn month(text: &str) -> CalendarMonth {
    CalendarMonth::parse(text).unwrap()
}

fn row(place: i64) -> ReportRow {
    let id = employee_id(place.unsigned_abs().into());
    let person =
        ReportPerson { id, custom_id: None, surname: None, name: None, patronymic: None, category: None };
    ReportRow { place, person: Some(person), amounts: ReportAmounts { payments: 1, ..amounts() } }
}

fn amounts() -> ReportAmounts {
    ReportAmounts { opening: kopecks(5), ..ReportAmounts::default() }
}

/// A unit whose months have these last numbers, with so many persons, a row each, and transactions up to 90.
fn unit(known: &[(&str, i64)], people: i64) -> MockUnit {
    let known: BTreeMap<CalendarMonth, i64> =
        known.iter().map(|(text, known)| (month(text), *known)).collect();
    let mut unit = MockUnit::default();
    unit.reports.expect_last_transaction().returning(|_| Ok(90));
    unit.reports.expect_last_person().returning(move |_| Ok(people));
    unit.reports
        .expect_known_since()
        .returning(move |_, from| Ok(known.range(from..).map(|(_, known)| *known).min()));
    unit.reports.expect_people().returning(|_, places, _| Ok(places.map(row).collect()));
    unit.reports.expect_unassigned().returning(|_, _| Ok(amounts()));
    unit
}

#[test]
fn a_month_begins_and_ends_at_midnight_of_the_zone() {
    let env = Bench::new();
    let mut unit = unit(&[], 0);
    unit.reports.expect_closed().returning(|_, _| Ok(None));
    let outline = outline(&mut unit, &env, PARTNER, month("2026-02")).unwrap();
    let expected = datetime!(2026-01-31 21:00 UTC)..datetime!(2026-02-28 21:00 UTC);
    assert_eq!(outline.period.within, expected);
    let to_come = super::outline(&mut unit, &env, PARTNER, month("2999-01"));
    assert_eq!(to_come, Err(ReportError::ToCome));
}

/// A later month that is closed fixes the earlier ones, too, and late transactions go to the first month behind it.
#[test]
fn closed_months_say_which_transactions_are_late() {
    let env = Bench::new();
    for (known, asked, expected) in [
        (&[][..], "2026-02", (90, 90)),
        (&[("2026-01", 40)], "2026-02", (40, 90)),
        (&[("2026-01", 40)], "2026-01", (40, 40)),
        (&[("2025-12", 30), ("2026-01", 40)], "2026-01", (30, 40)),
        (&[("2026-01", 40)], "2025-12", (40, 40)),
        (&[("2025-11", 50), ("2026-01", 40)], "2025-12", (40, 40)),
    ] {
        let mut unit = unit(known, 0);
        unit.reports.expect_closed().returning(|_, _| Ok(None));
        let ReportPeriod { known_before, known, .. } =
            outline(&mut unit, &env, PARTNER, month(asked)).unwrap().period;
        assert_eq!((known_before, known), expected, "{asked}");
    }
}

#[test]
fn pieces_have_every_person_once_and_the_cards_of_nobody_last() {
    let env = Bench::new();
    for people in [0, 1, PIECE, PIECE + 1, 2 * PIECE + 7] {
        let mut unit = unit(&[], people);
        unit.reports.expect_closed().returning(|_, _| Ok(None));
        let outline = outline(&mut unit, &env, PARTNER, month("2026-02")).unwrap();
        let (mut places, mut next) = (Vec::new(), Some(0));
        while let Some(after) = next {
            let (rows, further) = piece(&mut unit, PARTNER, &outline, after).unwrap();
            places.extend(rows.iter().map(|row| row.place));
            next = further;
        }
        let expected: Vec<i64> = (1..=people).chain([ReportRow::LAST]).collect();
        assert_eq!(places, expected);
    }
}

/// A person who got nothing has no row, nor have unassigned cards; a closed month is filtered by what it has kept.
#[test]
fn the_report_of_a_programme_has_whom_it_gave_something() {
    let env = Bench::new();
    for is_closed in [false, true] {
        let mut unit = unit(&[], 5);
        let month_of = ClosedMonth {
            known: 90,
            kept_up_to: ReportRow::LAST,
            sha256: Some([7; 32]),
            erasures: 0,
            is_changed: false,
        };
        unit.reports.expect_closed().returning(move |_, _| Ok(is_closed.then(|| month_of.clone())));
        let kept = vec![row(2), row(4), ReportRow { person: None, ..row(ReportRow::LAST) }];
        unit.reports.expect_kept_rows().returning(move |_, _, _, _| Ok(kept.clone()));
        let programme = Uuid::from_u128(9).into();
        unit.reports.expect_given_by().times(1).returning(move |_, by, places, _| {
            assert_eq!((by, places), (programme, if is_closed { 2..5 } else { 1..6 }));
            Ok([(3, kopecks(2)), (4, kopecks(7))].into())
        });
        let outline = outline(&mut unit, &env, PARTNER, month("2026-02")).unwrap();
        let outline = outline.of_programme(Some(programme));
        let (mut rows, mut next) = (Vec::new(), Some(0));
        while let Some(after) = next {
            let (some, further) = piece(&mut unit, PARTNER, &outline, after).unwrap();
            rows.extend(some.into_iter().map(|row| (row.place, row.amounts)));
            next = further;
        }
        let given = |amount| row(1).amounts.giving(kopecks(amount)).unwrap();
        let expected = [(3, given(2)), (4, given(7))];
        assert_eq!(rows, expected[usize::from(is_closed)..]);
        assert_eq!(rows[0].1.closing(), row(1).amounts.closing());
    }
}

#[test]
fn a_month_is_closed_in_steps_and_once() {
    let env = Bench::new();
    let kept: Arc<Mutex<(Option<ClosedMonth>, Vec<i64>)>> = Arc::default();
    let mut unit = unit(&[], PIECE + 1);
    let state = Arc::clone(&kept);
    unit.reports.expect_closed().returning(move |_, _| Ok(state.lock().unwrap().0.clone()));
    let state = Arc::clone(&kept);
    unit.reports.expect_begin_closing().times(1).returning(move |_, _, known| {
        let begun = ClosedMonth { known, kept_up_to: 0, sha256: None, erasures: 0, is_changed: false };
        state.lock().unwrap().0 = Some(begun);
        Ok(())
    });
    let state = Arc::clone(&kept);
    unit.reports.expect_keep_rows().returning(move |_, _, rows, up_to| {
        let mut state = state.lock().unwrap();
        state.1.extend(rows.iter().map(|row| row.place));
        state.0.as_mut().unwrap().kept_up_to = up_to;
        Ok(())
    });
    let state = Arc::clone(&kept);
    unit.reports.expect_end_closing().times(1).returning(move |_, _, sha256, is_changed, _| {
        let mut state = state.lock().unwrap();
        let month = state.0.as_mut().unwrap();
        (month.sha256, month.is_changed) = (Some(sha256), is_changed);
        Ok(())
    });
    let asked = month("2026-02");
    let mut steps = 0;
    while close_step(&mut unit, &env, PARTNER, asked).unwrap() == Closing::Going {
        steps += 1;
    }
    assert_eq!(steps, 4, "the beginning, two pieces, the cards of nobody");
    assert_eq!(kept.lock().unwrap().1, (1..=PIECE + 1).chain([ReportRow::LAST]).collect::<Vec<_>>());
    kept.lock().unwrap().0.as_mut().unwrap().erasures = 3;
    close(&mut unit, &env, PARTNER, asked, [7; 32], 2).unwrap();
    let closed = kept.lock().unwrap().0.clone().unwrap();
    assert_eq!((closed.known, closed.sha256, closed.is_changed), (90, Some([7; 32]), true));
    assert_eq!(close_step(&mut unit, &env, PARTNER, asked), Err(CloseError::Closed));
    assert_eq!(close(&mut unit, &env, PARTNER, asked, [7; 32], 2), Err(CloseError::Closed));
    let running = month("2999-01");
    assert_eq!(close_step(&mut unit, &env, PARTNER, running), Err(CloseError::NotOver));
}
