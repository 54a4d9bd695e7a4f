use kopeck_domain::Kopecks;
use kopeck_domain::access::{Actor, Scope, Scopes};
use kopeck_domain::card_batch::{BatchItem, BatchState, ItemState};
use kopeck_domain::event::EventType;
use kopeck_domain::replenishment::TopUpRefusal;
use kopeck_domain::run::{NewRun, Outcome, RunKind, RunTotals};
use kopeck_port_store::mock::MockUnit;
use kopeck_port_store::{BalanceSheet, Reschedule};

use super::*;
use crate::testing::*;

const DIGEST: Digest = Digest::from_bytes([3; 32]);

fn draft() -> Run {
    let new = NewRun {
        id: RunId::new(fresh_id(900)),
        kind: RunKind::TopUp,
        reference: None,
        at: None,
        creates_categories: false,
        totals: RunTotals { number: 2, amount: Kopecks::new(500), ..RunTotals::default() },
        digest: DIGEST,
    };
    Run::draft(new, Actor::Login, START)
}

fn in_process() -> Run {
    draft().submit(&Authority::LOGIN, DIGEST, false, Kopecks::ZERO, START).unwrap()
}

fn item(ordinal: u32) -> RunItem {
    RunItem {
        ordinal,
        line: ordinal + 1,
        cells: Vec::new(),
        limit: None,
        employee: None,
        custom_id: None,
        card: Some(card_id(u128::from(ordinal))),
        is_main: true,
        amount: Some(Kopecks::new(250)),
        balance_seen: None,
        fault: None,
        outcome: None,
        reason: None,
    }
}

fn known(unit: &mut MockUnit, run: &Run) {
    let run = run.clone();
    unit.runs.expect_get().returning(move |_, _| Ok(Some(run.clone())));
}

fn approval_above(unit: &mut MockUnit, kopecks: i64) {
    let approval_above = Kopecks::new(kopecks);
    let sheet = BalanceSheet { approval_above, ..sheet(1_000, 0) };
    unit.ledger.expect_sheet().returning(move |_| Ok(Some(sheet)));
}

fn told(unit: &MockUnit) -> Vec<EventType> {
    unit.events.data().iter().map(|data| data.event_type()).collect()
}

#[test]
fn a_submission_enqueues_its_job_with_its_event() {
    let (bench, mut unit, run) = (Bench::new(), MockUnit::default(), draft());
    known(&mut unit, &run);
    approval_above(&mut unit, 0);
    unit.runs.expect_set_state().times(1).returning(|_, _| Ok(()));
    unit.jobs
        .expect_enqueue()
        .withf(move |_, subject, delay| *subject == Subject::Run(draft().id()) && delay.is_zero())
        .times(1)
        .returning(|_, _, _| Ok(()));
    unit.runs.expect_requests().returning(|_, _| Ok(Vec::new()));
    let view = submit(&mut unit, &bench, PARTNER, &Authority::LOGIN, run.id(), DIGEST, false).unwrap();
    assert_eq!(view.run.state(), RunState::InProcess);
    assert_eq!(told(&unit), [EventType::RunStatus]);
}

#[test]
fn what_needs_an_approval_has_no_job_yet() {
    let (bench, mut unit, run) = (Bench::new(), MockUnit::default(), draft());
    known(&mut unit, &run);
    approval_above(&mut unit, 499);
    unit.runs.expect_set_state().times(1).returning(|_, _| Ok(()));
    let view = submit(&mut unit, &bench, PARTNER, &Authority::LOGIN, run.id(), DIGEST, false).unwrap();
    assert_eq!(view.run.state(), RunState::WaitingApproval);
}

#[test]
fn a_second_submission_changes_nothing_and_a_forbidden_one_is_refused() {
    let (bench, mut unit, run) = (Bench::new(), MockUnit::default(), in_process());
    known(&mut unit, &run);
    approval_above(&mut unit, 0);
    unit.runs.expect_requests().returning(|_, _| Ok(Vec::new()));
    let again = submit(&mut unit, &bench, PARTNER, &Authority::LOGIN, run.id(), DIGEST, false).unwrap();
    assert_eq!(again.run, run);
    let by = Authority { actor: Actor::Login, scopes: Scopes::of(&[Scope::RunsWrite]) };
    let refused = submit(&mut unit, &bench, PARTNER, &by, run.id(), DIGEST, false);
    let lacking = SubmitError::Forbidden(Scope::ReplenishmentsWrite);
    assert_eq!(refused, Err(ChangeRunError::Refused(lacking)));
    assert!(told(&unit).is_empty());
}

#[test]
fn a_run_waits_for_its_request_and_takes_over_its_verdicts() {
    for (state, pause) in [(BatchState::InProcess, true), (BatchState::PartSuccess, false)] {
        let (bench, mut unit, run) = (Bench::new(), MockUnit::default(), in_process());
        known(&mut unit, &run);
        let batch = replenishment(state, &[250, 250]);
        let id = batch.id();
        unit.runs.expect_requests().returning(move |_, _| Ok(vec![RunRequest::Replenishment(id)]));
        unit.replenishments.expect_get().returning(move |_, _| Ok(Some(batch.clone())));
        let claim = claim(Subject::Run(run.id()));
        if pause {
            unit.jobs
                .expect_reschedule()
                .withf(|_, terms: &Reschedule| {
                    terms.delay == Duration::milliseconds(100) && terms.failures == 0
                })
                .times(1)
                .returning(|_, _| Ok(()));
        } else {
            unit.runs.expect_items().returning(|_, _, _, _| Ok(vec![item(0), item(1)]));
            let states = [ItemState::Done, ItemState::Refused(TopUpRefusal::Blocked)];
            unit.replenishments.expect_items().returning(move |_, _, _, _| {
                Ok(open_items(&[250, 250])
                    .into_iter()
                    .zip(states)
                    .map(|(item, state)| BatchItem { state, ..item })
                    .collect())
            });
            unit.runs
                .expect_decide()
                .withf(|_, _, decisions| {
                    decisions.iter().map(|decision| decision.outcome).collect::<Vec<_>>()
                        == [Outcome::Done, Outcome::Refused]
                        && decisions[1].reason.as_deref() == Some("the card is blocked by the bank")
                })
                .times(1)
                .returning(|_, _, _| Ok(()));
            let outcomes = kopeck_port_store::RunOutcomes { done: 1, missed: 1 };
            unit.runs.expect_outcomes().returning(move |_, _| Ok(outcomes));
            unit.runs
                .expect_set_state()
                .withf(|_, run| run.state() == RunState::PartSuccess)
                .times(1)
                .returning(|_, _| Ok(()));
            unit.jobs.expect_complete().times(1).returning(|_| Ok(()));
        }
        execution::advance(&mut unit, &bench, &claim, run.id()).unwrap();
        assert_eq!(told(&unit).len(), usize::from(!pause));
    }
}
