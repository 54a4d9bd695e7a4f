use super::chunk::{Approach, NoVerdict};
use super::*;
use crate::testing::*;
use RequestState as S;
use kopeck_port_bank::MockBankGateway;
use kopeck_port_store::ItemCounts;
use kopeck_port_store::mock::MockUnit;

fn top_up_claim(may_have_sent: bool) -> Claim {
    Claim { may_have_sent, ..claim(Subject::Replenishment(replenishment_id(1))) }
}

fn errand(amounts: &[i64]) -> TopUpErrand {
    let chunk = Chunk { approach: Approach::Send, cards: open_items(amounts) };
    TopUpErrand { request: replenishment_id(1), chunk }
}

/// Each card under its own key, with its own amount.
#[test]
fn every_card_is_topped_up_by_its_amount() {
    let submission = |(ordinal, amount): (u32, i64)| Submission {
        key: BankKey::new(format!("replenishment/00000000-0000-0000-0000-000000000001/{ordinal}")),
        instruction: Instruction::TopUp { card: number(u64::from(ordinal)), amount: kopecks(amount) },
    };
    let expected = [(0, 300), (1, 200)].map(submission);
    let mut bank = MockBankGateway::new();
    bank.expect_submit()
        .withf(move |submissions| *submissions == expected)
        .times(1)
        .returning(|_| vec![Ok(Verdict::Done), Ok(BLOCKED)]);
    let report = errand(&[300, 200]).call(&bank);
    let expected = open_items(&[300, 200]).into_iter().zip([Ok(Verdict::Done), Ok(BLOCKED)]);
    assert_eq!(report.findings.cards, expected.collect::<Vec<_>>());
}

fn silence() -> NoVerdict {
    NoVerdict::NoWord("timeout".to_owned())
}

const BLOCKED: Verdict = Verdict::Declined(DeclineReason::Blocked);

fn report(findings: Vec<Result<Verdict, NoVerdict>>) -> TopUpReport {
    let amounts: Vec<i64> = (1..).map(|n| 100 * n).take(findings.len()).collect();
    let cards = open_items(&amounts).into_iter().zip(findings).collect();
    TopUpReport { findings: Findings { approach: Approach::Send, cards } }
}

fn expect_settled(unit: &mut MockUnit, expected: Vec<(u32, ItemState)>) {
    let topped_up = expected.iter().filter(|(_, state)| *state == ItemState::ToppedUp);
    let outdated: Vec<_> = topped_up.map(|(ordinal, _)| card_id(u128::from(*ordinal))).collect();
    if !outdated.is_empty() {
        unit.cards
            .expect_outdate_bank_view()
            .withf(move |_, cards, too_old_at| *cards == outdated && *too_old_at < START)
            .times(1)
            .returning(|_, _, _| Ok(()));
    }
    unit.replenishments
        .expect_settle_items()
        .withf(move |partner, id, decided| {
            (*partner, *id) == (PARTNER, replenishment_id(1)) && *decided == expected[..]
        })
        .times(1)
        .returning(|_, _, _| Ok(()));
}

fn counts_are(unit: &mut MockUnit, open: u32, done: u32, refused: u32) {
    unit.replenishments.expect_counts().returning(move |_, _| Ok(ItemCounts { open, done, refused }));
}

/// The request, of one card, goes to its last state, and its cards are free for others.
fn expect_concluded(unit: &mut MockUnit, from: RequestState, to: RequestState) {
    let request = replenishment(from, &[100]);
    unit.replenishments.expect_get().times(1).returning(move |_, _| Ok(Some(request.clone())));
    expect_state(unit, to);
    unit.replenishments
        .expect_release_cards()
        .withf(|partner, id| (*partner, *id) == (PARTNER, replenishment_id(1)))
        .times(1)
        .returning(|_, _| Ok(()));
}

fn expect_state(unit: &mut MockUnit, state: RequestState) {
    unit.replenishments
        .expect_set_state()
        .withf(move |partner, request| {
            *partner == PARTNER && request.state == state && request.state_since == START
        })
        .times(1)
        .returning(|_, _| Ok(()));
}

fn run_settle(unit: &mut MockUnit, report: &TopUpReport) -> Result<Next, StoreError> {
    settle(unit, &Bench::new(), &top_up_claim(false), report)
}

fn reference() -> Reference {
    Reference::Replenishment(replenishment_id(1))
}

#[test]
fn each_reason_of_the_bank_frees_the_money_and_has_its_own_name() {
    let reasons = [
        (DeclineReason::OverCardLimit, TopUpRefusal::OverCardLimit),
        (DeclineReason::Blocked, TopUpRefusal::Blocked),
        (DeclineReason::Expired, TopUpRefusal::Expired),
        (DeclineReason::NotActivated, TopUpRefusal::NotActivated),
        (DeclineReason::Refused, TopUpRefusal::RefusedByBank),
    ];
    for (reason, refusal) in reasons {
        let mut unit = MockUnit::default();
        expect_settled(&mut unit, vec![(0, ItemState::Refused(refusal))]);
        expect_booking(&mut unit, sheet(0, 100), MovementKind::Release, reference(), 100);
        counts_are(&mut unit, 0, 0, 1);
        expect_concluded(&mut unit, S::InProcess, S::Decline);
        let next = run_settle(&mut unit, &report(vec![Ok(Verdict::Declined(reason))]));
        assert!(matches!(next, Ok(Next::Finished)), "{reason:?}");
    }
}

#[test]
fn the_last_chunk_decides_by_all_cards_of_the_request() {
    for (counts, state) in [((0, 5, 0), S::Success), ((0, 4, 1), S::PartSuccess), ((0, 1, 4), S::PartSuccess)]
    {
        let mut unit = MockUnit::default();
        expect_settled(&mut unit, vec![(0, ItemState::ToppedUp)]);
        expect_booking(&mut unit, sheet(0, 100), MovementKind::Capture, reference(), 100);
        counts_are(&mut unit, counts.0, counts.1, counts.2);
        expect_concluded(&mut unit, S::InProcess, state);
        let next = run_settle(&mut unit, &report(vec![Ok(Verdict::Done)]));
        assert!(matches!(next, Ok(Next::Finished)), "{state}");
    }
}

#[test]
fn a_chunk_with_more_behind_it_goes_on() {
    let mut unit = MockUnit::default();
    expect_settled(&mut unit, vec![(0, ItemState::ToppedUp)]);
    expect_booking(&mut unit, sheet(0, 900), MovementKind::Capture, reference(), 100);
    stored_request(&mut unit, S::InProcess);
    let next = run_settle(&mut unit, &report(vec![Ok(Verdict::Done)]));
    assert!(matches!(next, Ok(Next::GoOn)));
}

/// Cards that were only asked for may lie in front of others, or behind: all are counted.
#[test]
fn after_a_question_all_cards_are_counted() {
    for (open, next) in [(1, Next::GoOn), (0, Next::Finished)] {
        let mut unit = MockUnit::default();
        expect_settled(&mut unit, vec![(0, ItemState::ToppedUp)]);
        expect_booking(&mut unit, sheet(0, 900), MovementKind::Capture, reference(), 100);
        counts_are(&mut unit, open, 2 - open, 0);
        if open == 0 {
            expect_concluded(&mut unit, S::InProcess, S::Success);
        } else {
            stored_request(&mut unit, S::InProcess);
        }
        let mut report = report(vec![Ok(Verdict::Done)]);
        report.findings.approach = Approach::Ask;
        assert_eq!(run_settle(&mut unit, &report), Ok(next));
    }
}

/// What is known is booked at once; the money of what is not stays held, and the request stays open.
#[test]
fn silence_of_one_card_does_not_hold_up_the_others() {
    for silent in [silence(), NoVerdict::NotSent("down".to_owned())] {
        let mut unit = MockUnit::default();
        let blocked = ItemState::Refused(TopUpRefusal::Blocked);
        expect_settled(&mut unit, vec![(0, ItemState::ToppedUp), (2, blocked), (3, ItemState::ToppedUp)]);
        let before = sheet(0, 1_000);
        expect_booking(&mut unit, before, MovementKind::Capture, reference(), 500);
        let after = sheet(0, 500);
        expect_booking(&mut unit, after, MovementKind::Release, reference(), 300);
        let findings = vec![Ok(Verdict::Done), Err(silent), Ok(BLOCKED), Ok(Verdict::Done)];
        assert!(matches!(run_settle(&mut unit, &report(findings)), Ok(Next::Later { may_have_sent: true })));
    }
}

#[test]
fn silence_alone_books_nothing() {
    let mut unit = MockUnit::default();
    expect_settled(&mut unit, vec![]);
    let next = run_settle(&mut unit, &report(vec![Err(silence()), Err(silence())]));
    assert!(matches!(next, Ok(Next::Later { may_have_sent: true })));
}

#[test]
fn a_capture_that_the_books_do_not_cover_is_a_failure() {
    let mut unit = MockUnit::default();
    unit.replenishments.expect_settle_items().returning(|_, _, _| Ok(()));
    unit.cards.expect_outdate_bank_view().returning(|_, _, _| Ok(()));
    unit.ledger.expect_sheet().returning(|_| Ok(Some(sheet(1_000, 99))));
    let next = run_settle(&mut unit, &report(vec![Ok(Verdict::Done)]));
    assert!(matches!(next, Err(StoreError::Corrupt(_))));
}

#[test]
fn a_report_for_another_subject_is_a_failure() {
    let other = claim(Subject::Order(kopeck_domain::ids::OrderId::new(fresh_id(1))));
    let settled = settle(&mut MockUnit::default(), &Bench::new(), &other, &report(vec![]));
    assert!(matches!(settled, Err(StoreError::Corrupt(_))));
}

/// A request for 300 and 200 kopecks in this state is in the store.
fn stored_request(unit: &mut MockUnit, state: RequestState) {
    unit.replenishments
        .expect_get()
        .times(1)
        .returning(move |_, _| Ok(Some(replenishment(state, &[300, 200]))));
}

const TACTICS: Tactics = Tactics { chunk: 2, repeat_is_safe: true };

fn run_prepare(unit: &mut MockUnit) -> Option<TopUpErrand> {
    prepare(unit, &Bench::new(), &top_up_claim(false), replenishment_id(1), TACTICS).unwrap()
}

fn open_items_are(unit: &mut MockUnit, items: Vec<ReplenishmentItem>) {
    unit.replenishments
        .expect_open_items()
        .withf(|partner, id, limit| (*partner, *id, *limit) == (PARTNER, replenishment_id(1), 2))
        .times(1)
        .returning(move |_, _, _| Ok(items.clone()));
}

#[test]
fn starting_holds_what_the_balance_covers_and_refuses_the_rest() {
    let mut unit = MockUnit::default();
    let items = open_items(&[300, 200]);
    stored_request(&mut unit, S::New);
    unit.replenishments
        .expect_items()
        .withf(|_, _, from, limit| (*from, *limit) == (0, 2))
        .times(1)
        .returning(|_, _, _, _| Ok(open_items(&[300, 200])));
    unit.ledger.expect_sheet().times(1).returning(|_| Ok(Some(sheet(250, 0))));
    expect_settled(&mut unit, vec![(0, ItemState::Refused(TopUpRefusal::NotEnoughBalance))]);
    expect_booking(&mut unit, sheet(250, 0), MovementKind::Hold, reference(), 200);
    expect_state(&mut unit, S::InProcess);
    open_items_are(&mut unit, items[1..].to_vec());
    let errand = run_prepare(&mut unit).unwrap();
    assert_eq!((errand.request, &errand.chunk.cards[..]), (replenishment_id(1), &items[1..]));
}

#[test]
fn a_request_in_process_holds_nothing_again() {
    let mut unit = MockUnit::default();
    stored_request(&mut unit, S::InProcess);
    open_items_are(&mut unit, open_items(&[300]));
    assert_eq!(run_prepare(&mut unit).unwrap().chunk.cards, open_items(&[300]));
}

/// Nothing is held, and the bank has nothing to be told: the work is done with the taking of it.
#[test]
fn a_request_that_nothing_covers_is_declined_at_once() {
    let mut unit = MockUnit::default();
    stored_request(&mut unit, S::New);
    unit.replenishments.expect_items().returning(|_, _, _, _| Ok(open_items(&[300, 200])));
    unit.ledger.expect_sheet().returning(|_| Ok(Some(sheet(199, 0))));
    let uncovered = ItemState::Refused(TopUpRefusal::NotEnoughBalance);
    expect_settled(&mut unit, vec![(0, uncovered), (1, uncovered)]);
    expect_state(&mut unit, S::InProcess);
    open_items_are(&mut unit, vec![]);
    counts_are(&mut unit, 0, 0, 2);
    expect_state(&mut unit, S::Decline);
    unit.replenishments.expect_release_cards().times(1).returning(|_, _| Ok(()));
    unit.jobs.expect_complete().withf(|claim| *claim == top_up_claim(false)).times(1).returning(|_| Ok(()));
    assert!(run_prepare(&mut unit).is_none());
}

#[test]
fn a_request_that_is_closed_needs_nothing_more() {
    for state in [S::Rejected, S::Success, S::PartSuccess, S::Decline] {
        let mut unit = MockUnit::default();
        stored_request(&mut unit, state);
        unit.jobs.expect_complete().times(1).returning(|_| Ok(()));
        assert!(run_prepare(&mut unit).is_none(), "{state}");
    }
}

#[test]
fn a_request_that_is_not_there_is_a_failure() {
    let mut unit = MockUnit::default();
    unit.replenishments.expect_get().returning(|_, _| Ok(None));
    let prepared = prepare(&mut unit, &Bench::new(), &top_up_claim(false), replenishment_id(1), TACTICS);
    assert!(matches!(prepared, Err(StoreError::Corrupt(_))));
}
