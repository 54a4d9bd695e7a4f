use super::chunk::{Approach, NoVerdict};
use super::*;
use crate::testing::*;
use RequestState as S;
use kopeck_port_bank::MockBankGateway;
use kopeck_port_store::ItemCounts;
use kopeck_port_store::mock::MockUnit;

const BLOCKED: Verdict = Verdict::Declined(DeclineReason::Blocked);

fn limit_claim() -> Claim {
    claim(Subject::LimitChange(limit_change_id(1)))
}

fn silence() -> NoVerdict {
    NoVerdict::NoWord("timeout".to_owned())
}

fn report(findings: Vec<Result<Verdict, NoVerdict>>) -> LimitReport {
    let count = u32::try_from(findings.len()).unwrap();
    let cards = open_limit_items(count).into_iter().zip(findings).collect();
    LimitReport { findings: Findings { approach: Approach::Send, cards } }
}

/// The last of the request's two cards.
fn last_card(finding: Result<Verdict, NoVerdict>) -> LimitReport {
    let mut report = report(vec![Ok(Verdict::Done), finding]);
    drop(report.findings.cards.remove(0));
    report
}

/// The request is in the store, in this state.
fn stored_request(unit: &mut MockUnit, state: RequestState) {
    unit.limit_changes
        .expect_get()
        .withf(|partner, id| (*partner, *id) == (PARTNER, limit_change_id(1)))
        .times(1)
        .returning(move |_, _| Ok(Some(limit_change(state))));
}

fn expect_state(unit: &mut MockUnit, state: RequestState) {
    let expected = LimitChange { state_since: START, ..limit_change(state) };
    unit.limit_changes
        .expect_set_state()
        .withf(move |partner, request| *partner == PARTNER && *request == expected)
        .times(1)
        .returning(|_, _| Ok(()));
}

fn expect_settled(unit: &mut MockUnit, expected: Vec<(u32, ItemState)>) {
    unit.limit_changes
        .expect_settle_items()
        .withf(move |partner, id, decided| {
            (*partner, *id) == (PARTNER, limit_change_id(1)) && *decided == expected[..]
        })
        .times(1)
        .returning(|_, _, _| Ok(()));
}

/// Exactly these cards have the new limit.
fn expect_limit_set(unit: &mut MockUnit, cards: &'static [u128]) {
    unit.cards
        .expect_set_limit()
        .withf(|partner, ids, limit| {
            let expected: Vec<_> = cards.iter().map(|card| card_id(*card)).collect();
            *partner == PARTNER && *ids == expected && *limit == daily(700)
        })
        .times(1)
        .returning(|_, _, _| Ok(()));
}

fn counts_are(unit: &mut MockUnit, open: u32, done: u32, refused: u32) {
    unit.limit_changes.expect_counts().returning(move |_, _| Ok(ItemCounts { open, done, refused }));
}

/// The request goes to its last state, and its cards are free for others.
fn expect_concluded(unit: &mut MockUnit, state: RequestState) {
    expect_state(unit, state);
    unit.limit_changes
        .expect_release_cards()
        .withf(|partner, id| (*partner, *id) == (PARTNER, limit_change_id(1)))
        .times(1)
        .returning(|_, _| Ok(()));
}

fn run_settle(unit: &mut MockUnit, report: &LimitReport) -> Result<Next, StoreError> {
    settle(unit, &Bench::new(), &limit_claim(), report)
}

/// Each card under its own key, all with the limit of the request.
#[test]
fn every_card_is_given_the_limit() {
    let submission = |ordinal: u32| Submission {
        key: BankKey::new(format!("limit/00000000-0000-0000-0000-000000000001/{ordinal}")),
        instruction: Instruction::SetLimit { card: number(u64::from(ordinal)), limit: daily(700) },
    };
    let expected = [0, 1].map(submission);
    let mut bank = MockBankGateway::new();
    bank.expect_submit()
        .withf(move |submissions| *submissions == expected)
        .times(1)
        .returning(|_| vec![Ok(Verdict::Done), Ok(BLOCKED)]);
    let chunk = Chunk { approach: Approach::Send, cards: open_limit_items(2) };
    let errand = LimitErrand { request: limit_change_id(1), limit: daily(700), chunk };
    let found = errand.call(&bank).findings.cards;
    let expected = open_limit_items(2).into_iter().zip([Ok(Verdict::Done), Ok(BLOCKED)]);
    assert_eq!(found, expected.collect::<Vec<_>>());
}

#[test]
fn each_reason_of_the_bank_leaves_the_card_its_limit_and_has_its_own_name() {
    let reasons = [
        (DeclineReason::OverCardLimit, LimitChangeRefusal::RefusedByBank),
        (DeclineReason::Blocked, LimitChangeRefusal::Blocked),
        (DeclineReason::Expired, LimitChangeRefusal::Expired),
        (DeclineReason::NotActivated, LimitChangeRefusal::NotActivated),
        (DeclineReason::Refused, LimitChangeRefusal::RefusedByBank),
    ];
    for (reason, refusal) in reasons {
        let mut unit = MockUnit::default();
        stored_request(&mut unit, S::InProcess);
        expect_settled(&mut unit, vec![(1, ItemState::Refused(refusal))]);
        counts_are(&mut unit, 0, 0, 2);
        expect_concluded(&mut unit, S::Decline);
        let next = run_settle(&mut unit, &last_card(Ok(Verdict::Declined(reason))));
        assert!(matches!(next, Ok(Next::Finished)), "{reason:?}");
    }
}

#[test]
fn the_last_chunk_decides_by_all_cards_of_the_request() {
    for (counts, state) in [((2, 0), S::Success), ((1, 1), S::PartSuccess)] {
        let mut unit = MockUnit::default();
        stored_request(&mut unit, S::InProcess);
        expect_settled(&mut unit, vec![(1, ItemState::Done)]);
        expect_limit_set(&mut unit, &[1]);
        counts_are(&mut unit, 0, counts.0, counts.1);
        expect_concluded(&mut unit, state);
        assert!(matches!(run_settle(&mut unit, &last_card(Ok(Verdict::Done))), Ok(Next::Finished)));
    }
}

#[test]
fn a_chunk_with_more_behind_it_goes_on() {
    let mut unit = MockUnit::default();
    stored_request(&mut unit, S::InProcess);
    expect_settled(&mut unit, vec![(0, ItemState::Done)]);
    expect_limit_set(&mut unit, &[0]);
    assert!(matches!(run_settle(&mut unit, &report(vec![Ok(Verdict::Done)])), Ok(Next::GoOn)));
}

/// What is known is stored at once; what is not stays open, and so does the request.
#[test]
fn silence_of_one_card_does_not_hold_up_the_others() {
    for silent in [silence(), NoVerdict::NotSent("down".to_owned())] {
        let mut unit = MockUnit::default();
        stored_request(&mut unit, S::InProcess);
        let blocked = ItemState::Refused(LimitChangeRefusal::Blocked);
        expect_settled(&mut unit, vec![(0, ItemState::Done), (2, blocked), (3, ItemState::Done)]);
        expect_limit_set(&mut unit, &[0, 3]);
        let findings = vec![Ok(Verdict::Done), Err(silent), Ok(BLOCKED), Ok(Verdict::Done)];
        assert!(matches!(run_settle(&mut unit, &report(findings)), Ok(Next::Later { may_have_sent: true })));
    }
}

#[test]
fn silence_alone_changes_nothing() {
    let mut unit = MockUnit::default();
    stored_request(&mut unit, S::InProcess);
    expect_settled(&mut unit, vec![]);
    let next = run_settle(&mut unit, &report(vec![Err(silence()), Err(silence())]));
    assert!(matches!(next, Ok(Next::Later { may_have_sent: true })));
}

#[test]
fn a_report_for_another_subject_is_a_failure() {
    let other = claim(Subject::Replenishment(replenishment_id(1)));
    let settled = settle(&mut MockUnit::default(), &Bench::new(), &other, &report(vec![]));
    assert!(matches!(settled, Err(StoreError::Corrupt(_))));
}

const TACTICS: Tactics = Tactics { chunk: 2, repeat_is_safe: true };

fn run_prepare(unit: &mut MockUnit) -> Option<LimitErrand> {
    prepare(unit, &Bench::new(), &limit_claim(), limit_change_id(1), TACTICS).unwrap()
}

#[test]
fn a_new_request_is_started_and_one_in_process_goes_on() {
    for state in [S::New, S::InProcess] {
        let mut unit = MockUnit::default();
        stored_request(&mut unit, state);
        if state == S::New {
            expect_state(&mut unit, S::InProcess);
        }
        unit.limit_changes
            .expect_open_items()
            .withf(|partner, id, limit| (*partner, *id, *limit) == (PARTNER, limit_change_id(1), 2))
            .times(1)
            .returning(|_, _, _| Ok(open_limit_items(2)));
        let errand = run_prepare(&mut unit).unwrap();
        assert_eq!((errand.request, errand.limit), (limit_change_id(1), daily(700)));
        assert_eq!(errand.chunk.cards, open_limit_items(2));
    }
}

#[test]
fn a_request_that_is_closed_needs_nothing_more() {
    for state in [S::Rejected, S::Success, S::PartSuccess, S::Decline] {
        let mut unit = MockUnit::default();
        stored_request(&mut unit, state);
        unit.jobs.expect_complete().withf(|claim| *claim == limit_claim()).times(1).returning(|_| Ok(()));
        assert!(run_prepare(&mut unit).is_none(), "{state}");
    }
}

#[test]
fn a_request_that_is_not_there_is_a_failure() {
    let mut unit = MockUnit::default();
    unit.limit_changes.expect_get().returning(|_, _| Ok(None));
    let prepared = prepare(&mut unit, &Bench::new(), &limit_claim(), limit_change_id(1), TACTICS);
    assert!(matches!(prepared, Err(StoreError::Corrupt(_))));
}
