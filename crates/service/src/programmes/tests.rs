use kopeck_domain::event::EventType;
use kopeck_domain::ids::RunId;
use kopeck_domain::programme::{DuePeriod, Workdays};
use kopeck_domain::run::{Run, RunItem, RunState};
use kopeck_port_store::mock::MockUnit;
use time::macros::datetime;

use super::making::{Beginning, make, retry};
use super::*;
use crate::runs::ending::after_decline;
use crate::testing::*;

fn declined() -> Run {
    run_of_programme().conclude(0, 1, START).unwrap()
}

fn item(reason: &str) -> RunItem {
    RunItem {
        ordinal: 0,
        line: 1,
        cells: Vec::new(),
        limit: None,
        employee: None,
        custom_id: None,
        card: Some(card_id(1)),
        is_main: true,
        amount: Some(kopecks(500)),
        balance_seen: Some(Kopecks::ZERO),
        fault: None,
        outcome: Some(kopeck_domain::run::Outcome::Refused),
        reason: Some(reason.to_owned()),
    }
}

/// Not one that the bank refused, or that the partner has cancelled.
#[test]
fn a_run_is_tried_again_only_if_the_balance_was_short() {
    for (reason, is_tried) in [
        ("not enough partner balance", true),
        ("the request was cancelled", false),
        ("the card is closed", false),
    ] {
        let (bench, mut unit) = (Bench::new(), MockUnit::default());
        unit.runs.expect_items().returning(move |_, _, _, _| Ok(vec![item(reason)]));
        let run = after_decline(&mut unit, &bench, PARTNER, declined()).unwrap();
        assert_eq!(run.programme().unwrap().retry_at.is_some(), is_tried, "{reason}");
    }
    let paid = run_of_programme().conclude(1, 0, START).unwrap();
    let (bench, mut unit) = (Bench::new(), MockUnit::default());
    assert_eq!(after_decline(&mut unit, &bench, PARTNER, paid.clone()), Ok(paid));
}

#[test]
fn a_run_of_a_programme_that_is_gone_or_paused_is_not_tried_again() {
    for programme in [None, Some(programme().pause().unwrap())] {
        let (bench, mut unit) = (Bench::new(), MockUnit::default());
        unit.programmes.expect_get().returning(move |_, _| Ok(programme.clone()));
        unit.runs
            .expect_set_state()
            .withf(|_, run| run.state() == RunState::Decline && run.programme().unwrap().retry_at.is_none())
            .times(1)
            .returning(|_, _| Ok(()));
        let due = declined().with_retry(Some(START));
        assert_eq!(retry(&mut unit, &bench, PARTNER, due, Vec::new()), Ok(()));
    }
}

/// And so nobody is paid twice by two things of one name; a missed period tells so, and asks nobody.
#[test]
fn a_run_that_is_not_carried_out_has_no_items_and_no_job() {
    let other = RunId::new(fresh_id(702));
    for (beginning, taken, state) in [
        (Beginning::InTime(Vec::new()), Some(other), RunState::Rejected),
        (Beginning::TooLate, None, RunState::Expired),
        (Beginning::TooLate, Some(other), RunState::Expired),
    ] {
        let (bench, mut unit) = (Bench::new(), MockUnit::default());
        unit.runs
            .expect_by_reference()
            .withf(|_, _, reference| reference.as_str() == "meal-2026-03")
            .returning(move |_, _, _| Ok(taken));
        unit.ledger.expect_sheet().returning(|_| Ok(Some(sheet(1_000, 0))));
        unit.runs
            .expect_insert()
            .withf(move |_, run, items| run.state() == state && items.is_empty())
            .times(1)
            .returning(|_, _, _| Ok(()));
        let period = "2026-03".parse().unwrap();
        let due = DuePeriod { period, at: datetime!(2026-03-01 06:00 UTC) };
        let paid = make(&mut unit, &bench, PARTNER, programme(), due, beginning).unwrap();
        assert_eq!(paid.last(), Some(period));
        let told: Vec<EventType> = unit.events.data().iter().map(|data| data.event_type()).collect();
        assert_eq!(told, [EventType::RunStatus]);
    }
}

#[test]
fn a_programme_is_looked_at_once_a_day_at_least() {
    let (bench, workdays) = (Bench::new(), Workdays::default());
    let look = look_at(&programme(), &bench, &workdays).unwrap();
    assert!(look > START && look <= START + Duration::DAY);
    assert_eq!(look_at(&programme().pause().unwrap(), &bench, &workdays), None);
}
