mod blocks;
mod particular;

use std::sync::{Arc, Mutex};

use super::*;
use crate::testing::*;
use BatchState as S;
use kopeck_domain::card::Standing;
use kopeck_domain::card_batch::BatchFields;
use kopeck_domain::closing::{ClosingTerms, Closings};
use kopeck_domain::event::EventType;
use kopeck_domain::limit_change::LimitChanges;
use kopeck_domain::replenishment::{TopUpRefusal, TopUps};
use kopeck_domain::withdrawal::Withdrawals;
use kopeck_port_bank::{DeclineReason, MockBankGateway};
use kopeck_port_store::mock::MockUnit;
use kopeck_port_store::{BatchTarget, CardClaims, Subject};

const BLOCKED: Verdict = Verdict::Declined(DeclineReason::Blocked);
/// No card is blocked by its partner.
const NO_BLOCKS: ReadBlocks<'_> = &|_| Ok(Vec::new());
const POLICY: SubmissionPolicy = SubmissionPolicy { chunk: 2, repeat_is_safe: true };

for_each_kind! {
    a_first_claim_sends_every_card_without_a_query
    a_take_over_queries_first_and_sends_only_what_the_bank_does_not_know
    a_take_over_of_known_cards_sends_nothing
    where_a_repeat_is_not_safe_nothing_is_sent_again
    a_query_without_a_whole_answer_leaves_every_card_open
    cards_that_a_short_answer_leaves_out_stay_open
    where_a_repeat_is_safe_the_claim_says_whether_to_query_first
    where_a_repeat_is_not_safe_each_card_is_marked_before_it_is_sent
    verdicts_on_all_cards_leave_nothing_to_wait_for
    only_what_did_not_reach_the_bank_is_sent_again
    silence_on_one_card_lets_the_others_be_sent
    an_instruction_unknown_to_the_bank_is_left_to_a_person
    a_task_that_was_not_sent_is_unmarked
    the_last_chunk_decides_by_all_cards_of_the_batch
    a_chunk_with_more_behind_it_goes_on
    after_a_query_all_cards_are_counted
    silence_on_one_card_does_not_hold_up_the_others
    silence_alone_changes_nothing
    verdicts_for_another_subject_are_a_failure
    a_batch_in_process_goes_on
    a_batch_that_is_closed_needs_nothing_more
    a_batch_that_is_not_there_is_a_failure
    a_verdict_of_another_kind_is_left_to_a_person
}

fn batch_claim<K: SampleKind>() -> Claim {
    claim(K::subject(batch_id::<K>()))
}

fn submission<K: SampleKind>(ordinal: u32) -> Submission {
    let item = sample_items::<K>(ordinal + 1).pop().unwrap();
    Submission { key: K::key(batch_id::<K>(), &item), instruction: K::instruction(&K::terms(5), &item) }
}

fn task<K: SampleKind>(cards: u32, strategy: Strategy) -> BatchTask<K> {
    let is_rest = strategy == Strategy::Query;
    BatchTask { id: batch_id::<K>(), terms: K::terms(5), strategy, items: sample_items(cards), is_rest }
}

/// What was found of so many cards, by ordinal; `None` where nothing was.
fn found<K: SampleKind>(
    bank: &MockBankGateway,
    cards: u32,
    strategy: Strategy,
) -> Vec<(u32, Option<Verdict>)> {
    let verdicts = task::<K>(cards, strategy).call(bank, NO_BLOCKS);
    assert_eq!((verdicts.id, verdicts.strategy), (batch_id::<K>(), strategy));
    let found = verdicts.items.into_iter().map(|(item, verdict)| (item.ordinal, verdict.ok()));
    let mut found: Vec<_> = found.collect();
    found.sort_unstable_by_key(|(ordinal, _)| *ordinal);
    found
}

/// Exactly these cards are sent.
fn expect_submit<K: SampleKind>(
    bank: &mut MockBankGateway,
    sent: &[u32],
    answers: Vec<Result<Verdict, BankError>>,
) {
    let expected: Vec<Submission> = sent.iter().map(|ordinal| submission::<K>(*ordinal)).collect();
    bank.expect_submit()
        .withf(move |submissions| *submissions == expected[..])
        .times(1)
        .returning(move |_| answers.clone());
}

/// Exactly these cards are queried.
fn expect_query<K: SampleKind>(
    bank: &mut MockBankGateway,
    asked: &[u32],
    answer: Result<Vec<Option<Verdict>>, BankError>,
) {
    let expected: Vec<BankKey> = asked.iter().map(|ordinal| submission::<K>(*ordinal).key).collect();
    bank.expect_query().withf(move |keys| *keys == expected[..]).times(1).returning(move |_| answer.clone());
}

fn a_first_claim_sends_every_card_without_a_query<K: SampleKind>() {
    let mut bank = MockBankGateway::new();
    expect_submit::<K>(&mut bank, &[0, 1], vec![Ok(Verdict::Done), Ok(BLOCKED)]);
    assert_eq!(found::<K>(&bank, 2, Strategy::Send), [(0, Some(Verdict::Done)), (1, Some(BLOCKED))]);
}

fn a_take_over_queries_first_and_sends_only_what_the_bank_does_not_know<K: SampleKind>() {
    let mut bank = MockBankGateway::new();
    expect_query::<K>(&mut bank, &[0, 1, 2, 3], Ok(vec![Some(Verdict::Done), None, Some(BLOCKED), None]));
    expect_submit::<K>(&mut bank, &[1, 3], vec![Ok(BLOCKED), Ok(Verdict::Done)]);
    let expected = [Verdict::Done, BLOCKED, BLOCKED, Verdict::Done].map(Some);
    assert_eq!(found::<K>(&bank, 4, Strategy::QueryThenSend), (0..).zip(expected).collect::<Vec<_>>());
}

fn a_take_over_of_known_cards_sends_nothing<K: SampleKind>() {
    let mut bank = MockBankGateway::new();
    expect_query::<K>(&mut bank, &[0], Ok(vec![Some(Verdict::Done)]));
    assert_eq!(found::<K>(&bank, 1, Strategy::QueryThenSend), [(0, Some(Verdict::Done))]);
}

fn where_a_repeat_is_not_safe_nothing_is_sent_again<K: SampleKind>() {
    let mut bank = MockBankGateway::new();
    expect_query::<K>(&mut bank, &[0, 1], Ok(vec![Some(Verdict::Done), None]));
    assert_eq!(found::<K>(&bank, 2, Strategy::Query), [(0, Some(Verdict::Done)), (1, None)]);
}

/// Neither no response nor one that is too short or too long says anything of any card.
fn a_query_without_a_whole_answer_leaves_every_card_open<K: SampleKind>() {
    let down = Err(BankError::Unavailable("down".to_owned()));
    let answers = [down, Ok(vec![]), Ok(vec![Some(Verdict::Done)]), Ok(vec![Some(Verdict::Done); 3])];
    for answer in answers {
        let mut bank = MockBankGateway::new();
        expect_query::<K>(&mut bank, &[0, 1], answer);
        assert_eq!(found::<K>(&bank, 2, Strategy::QueryThenSend), [(0, None), (1, None)]);
    }
}

fn cards_that_a_short_answer_leaves_out_stay_open<K: SampleKind>() {
    for (answers, first) in [(vec![], None), (vec![Ok(Verdict::Done)], Some(Verdict::Done))] {
        let mut bank = MockBankGateway::new();
        expect_submit::<K>(&mut bank, &[0, 1, 2], answers);
        assert_eq!(found::<K>(&bank, 3, Strategy::Send), [(0, first), (1, None), (2, None)]);
    }
}

/// A batch of three open cards in the store, and the ordinals of those that are marked as sent.
fn marked<K: SampleKind>(sent: &[u32]) -> (MockUnit, Arc<Mutex<Vec<u32>>>) {
    let (mut unit, sent) = (MockUnit::default(), Arc::new(Mutex::new(sent.to_vec())));
    let batches = K::mock(&mut unit);
    let up_to = |limit| usize::try_from(limit).unwrap();
    batches
        .expect_open_items()
        .returning(move |_, _, limit| Ok(sample_items(3).into_iter().take(up_to(limit)).collect()));
    let marks = Arc::clone(&sent);
    batches.expect_unsent_items().returning(move |_, _, limit| {
        let marks = marks.lock().unwrap();
        let unsent = sample_items(3).into_iter().filter(|item: &BatchItem<K>| !marks.contains(&item.ordinal));
        Ok(unsent.take(up_to(limit)).collect())
    });
    let marks = Arc::clone(&sent);
    batches.expect_mark_sent().returning(move |_, _, ordinals, sent| {
        assert!(!ordinals.is_empty());
        let mut marks = marks.lock().unwrap();
        marks.retain(|ordinal| !ordinals.contains(ordinal));
        if sent {
            marks.extend(ordinals);
        }
        Ok(())
    });
    (unit, sent)
}

/// The strategy and the ordinals of the next task.
fn gathered<K: SampleKind>(
    unit: &mut MockUnit,
    claim: &Claim,
    policy: SubmissionPolicy,
) -> (Strategy, Vec<u32>) {
    let (strategy, items, _) = gather::<K>(unit, claim, batch_id::<K>(), policy).unwrap();
    (strategy, items.iter().map(|item| item.ordinal).collect())
}

fn where_a_repeat_is_safe_the_claim_says_whether_to_query_first<K: SampleKind>() {
    if K::RETURNS_MONEY {
        return;
    }
    let (mut unit, sent) = marked::<K>(&[]);
    for (may_have_sent, strategy) in [(false, Strategy::Send), (true, Strategy::QueryThenSend)] {
        let claim = Claim { may_have_sent, ..batch_claim::<K>() };
        assert_eq!(gathered::<K>(&mut unit, &claim, POLICY), (strategy, vec![0, 1]));
    }
    assert!(sent.lock().unwrap().is_empty());
}

/// Whatever the claim says: each card is sent once, and once all are, the bank is queried for the open ones.
fn where_a_repeat_is_not_safe_each_card_is_marked_before_it_is_sent<K: SampleKind>() {
    let policy = SubmissionPolicy { repeat_is_safe: false, ..POLICY };
    for may_have_sent in [false, true] {
        let (mut unit, _) = marked::<K>(&[]);
        let claim = Claim { may_have_sent, ..batch_claim::<K>() };
        for expected in [
            (Strategy::SendOnce, vec![0, 1]),
            (Strategy::SendOnce, vec![2]),
            (Strategy::Query, vec![0, 1, 2]),
        ] {
            assert_eq!(gathered::<K>(&mut unit, &claim, policy), expected);
        }
    }
}

fn verdicts<K: SampleKind>(
    strategy: Strategy,
    verdicts: Vec<Result<Verdict, NoVerdict>>,
) -> BatchVerdicts<K> {
    let items = sample_items(u32::try_from(verdicts.len()).unwrap());
    let rest = if strategy == Strategy::Query { Remaining::Nothing } else { Remaining::ByOrdinal };
    BatchVerdicts { id: batch_id::<K>(), strategy, items: items.into_iter().zip(verdicts).collect(), rest }
}

fn after<K: SampleKind>(
    unit: &mut MockUnit,
    strategy: Strategy,
    found: Vec<Result<Verdict, NoVerdict>>,
) -> Option<Next> {
    let verdicts = verdicts::<K>(strategy, found);
    let missing = |(item, verdict): &'_ (BatchItem<K>, Result<Verdict, NoVerdict>)| {
        verdict.as_ref().err().map(|reason| (item.ordinal, reason.clone()))
    };
    let missing: Vec<_> = verdicts.items.iter().filter_map(missing).collect();
    let missing: Missing<'_, K> =
        missing.into_iter().map(|(ordinal, reason)| (&verdicts.items[ordinal as usize].0, reason)).collect();
    next_without_verdict(unit, &batch_claim::<K>(), &verdicts, &missing, false).unwrap()
}

fn not_sent() -> Result<Verdict, NoVerdict> {
    Err(NoVerdict::NotSent("down".to_owned()))
}

fn no_answer() -> Result<Verdict, NoVerdict> {
    Err(NoVerdict::NoAnswer("timeout".to_owned()))
}

fn unknown() -> Result<Verdict, NoVerdict> {
    Err(NoVerdict::NotKnown)
}

fn verdicts_on_all_cards_leave_nothing_to_wait_for<K: SampleKind>() {
    for strategy in [Strategy::Send, Strategy::SendOnce, Strategy::QueryThenSend, Strategy::Query] {
        assert_eq!(after::<K>(&mut marked::<K>(&[0]).0, strategy, vec![Ok(BLOCKED)]), None);
    }
}

/// What did not reach the bank can be sent later; what may have reached it cannot.
fn only_what_did_not_reach_the_bank_is_sent_again<K: SampleKind>() {
    let (mut unit, sent) = marked::<K>(&[0, 1, 2]);
    let found = vec![no_answer(), not_sent(), no_answer()];
    let later = Some(Next::Later { may_have_sent: true });
    assert_eq!(after::<K>(&mut unit, Strategy::SendOnce, found), later);
    assert_eq!(*sent.lock().unwrap(), [0, 2]);
}

fn silence_on_one_card_lets_the_others_be_sent<K: SampleKind>() {
    let found = vec![Ok(Verdict::Done), no_answer()];
    assert_eq!(after::<K>(&mut marked::<K>(&[1]).0, Strategy::SendOnce, found), Some(Next::GoOn));
}

/// All that is left, that is: a bank that was not reached may know.
fn an_instruction_unknown_to_the_bank_is_left_to_a_person<K: SampleKind>() {
    let (mut unit, _) = marked::<K>(&[0, 1, 2]);
    let found = vec![Ok(Verdict::Done), unknown(), unknown()];
    assert_eq!(after::<K>(&mut unit, Strategy::Query, found), Some(Next::LeaveToPerson));
    let later = Some(Next::Later { may_have_sent: true });
    assert_eq!(after::<K>(&mut unit, Strategy::Query, vec![no_answer(), unknown()]), later);
}

fn a_task_that_was_not_sent_is_unmarked<K: SampleKind>() {
    let (mut unit, sent) = marked::<K>(&[0, 1, 2]);
    let task = task::<K>(2, Strategy::SendOnce);
    assert!(task.is_marked());
    task.unmark(&mut unit, &batch_claim::<K>()).unwrap();
    assert_eq!(*sent.lock().unwrap(), [2]);
}

fn stored_batch<K: SampleKind>(unit: &mut MockUnit, state: S, cards: u32) {
    K::mock(unit)
        .expect_get()
        .withf(|partner, id| (*partner, *id) == (PARTNER, batch_id::<K>()))
        .times(1)
        .returning(move |_, _| Ok(Some(batch(state, cards))));
}

fn expect_state<K: SampleKind>(unit: &mut MockUnit, state: S) {
    K::mock(unit)
        .expect_set_state()
        .withf(move |partner, batch| {
            (*partner, batch.id(), batch.state(), batch.state_since())
                == (PARTNER, batch_id::<K>(), state, START)
        })
        .times(1)
        .returning(|_, _| Ok(()));
}

fn expect_settled<K: SampleKind>(unit: &mut MockUnit, expected: Vec<(u32, ItemState<K::Refusal>)>) {
    K::mock(unit)
        .expect_settle_items()
        .withf(move |partner, id, decided| {
            (*partner, *id) == (PARTNER, batch_id::<K>()) && *decided == expected[..]
        })
        .times(1)
        .returning(|_, _, _| Ok(()));
}

fn counts_are<K: SampleKind>(unit: &mut MockUnit, open: u32, done: u32, refused: u32) {
    K::mock(unit).expect_counts().returning(move |_, _| Ok(ItemCounts { open, done, refused }));
}

/// The batch goes to its last state, and its cards are free for others.
fn expect_concluded<K: SampleKind>(unit: &mut MockUnit, state: S) {
    expect_state::<K>(unit, state);
    K::mock(unit)
        .expect_release_cards()
        .withf(|partner, id| (*partner, *id) == (PARTNER, batch_id::<K>()))
        .times(1)
        .returning(|_, _| Ok(()));
}

fn run_settle<K: SampleKind>(unit: &mut MockUnit, verdicts: &BatchVerdicts<K>) -> Result<Next, StoreError> {
    settle(unit, &Bench::new(), &batch_claim::<K>(), verdicts)
}

fn the_last_chunk_decides_by_all_cards_of_the_batch<K: SampleKind>() {
    let refused = ItemState::Refused(K::refusal(DeclineReason::Blocked));
    for (verdict, item, counts, state) in [
        (K::DONE, K::done(), (5, 0), S::Success),
        (K::DONE, K::done(), (4, 1), S::PartSuccess),
        (BLOCKED, refused, (1, 4), S::PartSuccess),
        (BLOCKED, refused, (0, 5), S::Decline),
    ] {
        let mut unit = MockUnit::default();
        stored_batch::<K>(&mut unit, S::InProcess, 1);
        expect_settled::<K>(&mut unit, vec![(0, item)]);
        let (done, declined) = if item == refused { (&[][..], &[0][..]) } else { (&[0][..], &[][..]) };
        K::expect_applied(&mut unit, done, declined);
        counts_are::<K>(&mut unit, 0, counts.0, counts.1);
        expect_concluded::<K>(&mut unit, state);
        let next = run_settle::<K>(&mut unit, &verdicts(Strategy::Send, vec![Ok(verdict)]));
        assert_eq!(next, Ok(Next::Finished), "{state}");
    }
}

fn a_chunk_with_more_behind_it_goes_on<K: SampleKind>() {
    let mut unit = MockUnit::default();
    stored_batch::<K>(&mut unit, S::InProcess, 2);
    expect_settled::<K>(&mut unit, vec![(0, K::done())]);
    K::expect_applied(&mut unit, &[0], &[]);
    let next = run_settle::<K>(&mut unit, &verdicts(Strategy::Send, vec![Ok(K::DONE)]));
    assert_eq!(next, Ok(Next::GoOn));
}

/// Cards that were only queried may lie in front of others, or behind: all are counted.
fn after_a_query_all_cards_are_counted<K: SampleKind>() {
    for (open, next) in [(1, Next::GoOn), (0, Next::Finished)] {
        let mut unit = MockUnit::default();
        stored_batch::<K>(&mut unit, S::InProcess, 2);
        expect_settled::<K>(&mut unit, vec![(0, K::done())]);
        K::expect_applied(&mut unit, &[0], &[]);
        counts_are::<K>(&mut unit, open, 2 - open, 0);
        if open == 0 {
            expect_concluded::<K>(&mut unit, S::Success);
        }
        let settled = run_settle::<K>(&mut unit, &verdicts(Strategy::Query, vec![Ok(K::DONE)]));
        assert_eq!(settled, Ok(next));
    }
}

/// What is known is stored and applied at once; what is not stays open, and so does the batch.
fn silence_on_one_card_does_not_hold_up_the_others<K: SampleKind>() {
    for silent in [no_answer(), not_sent()] {
        let mut unit = MockUnit::default();
        stored_batch::<K>(&mut unit, S::InProcess, 4);
        let blocked = ItemState::Refused(K::refusal(DeclineReason::Blocked));
        expect_settled::<K>(&mut unit, vec![(0, K::done()), (2, blocked), (3, K::done())]);
        K::expect_applied(&mut unit, &[0, 3], &[2]);
        let found = vec![Ok(K::DONE), silent.clone(), Ok(BLOCKED), Ok(K::DONE)];
        let next = run_settle::<K>(&mut unit, &verdicts(Strategy::Send, found));
        assert_eq!(next, Ok(Next::Later { may_have_sent: silent == no_answer() }));
    }
}

fn silence_alone_changes_nothing<K: SampleKind>() {
    let mut unit = MockUnit::default();
    stored_batch::<K>(&mut unit, S::InProcess, 2);
    expect_settled::<K>(&mut unit, vec![]);
    let next = run_settle::<K>(&mut unit, &verdicts(Strategy::Send, vec![no_answer(), no_answer()]));
    assert_eq!(next, Ok(Next::Later { may_have_sent: true }));
}

fn verdicts_for_another_subject_are_a_failure<K: SampleKind>() {
    let other = claim(Subject::Order(order_id(1)));
    let verdicts = verdicts::<K>(Strategy::Send, vec![]);
    let settled = settle(&mut MockUnit::default(), &Bench::new(), &other, &verdicts);
    assert!(matches!(settled, Err(StoreError::Corrupt(_))));
}

fn run_prepare<K: SampleKind>(unit: &mut MockUnit) -> Result<Option<BatchTask<K>>, StoreError> {
    prepare(unit, &Bench::new(), &batch_claim::<K>(), batch_id::<K>(), POLICY)
}

fn open_items_are<K: SampleKind>(unit: &mut MockUnit, items: Vec<BatchItem<K>>) {
    if K::RETURNS_MONEY {
        let mut sent = items.clone();
        K::mock(unit).expect_unsent_items().times(1).returning(move |_, _, _| Ok(std::mem::take(&mut sent)));
        K::mock(unit).expect_mark_sent().returning(|_, _, _, _| Ok(()));
    }
    K::mock(unit)
        .expect_open_items()
        .withf(|partner, id, _| (*partner, *id) == (PARTNER, batch_id::<K>()))
        .times(usize::from(!K::RETURNS_MONEY))
        .returning(move |_, _, _| Ok(items.clone()));
}

/// It was started before: nothing is held again.
fn a_batch_in_process_goes_on<K: SampleKind>() {
    let mut unit = MockUnit::default();
    stored_batch::<K>(&mut unit, S::InProcess, 5);
    open_items_are::<K>(&mut unit, sample_items(2));
    let task = run_prepare::<K>(&mut unit).unwrap().unwrap();
    assert_eq!((task.id, task.terms, task.items), (batch_id::<K>(), K::terms(5), sample_items(2)));
}

fn a_batch_that_is_closed_needs_nothing_more<K: SampleKind>() {
    for state in [S::Rejected, S::Success, S::PartSuccess, S::Decline] {
        let mut unit = MockUnit::default();
        stored_batch::<K>(&mut unit, state, 2);
        unit.jobs
            .expect_complete()
            .withf(|claim| *claim == batch_claim::<K>())
            .times(1)
            .returning(|_| Ok(()));
        assert!(run_prepare::<K>(&mut unit).unwrap().is_none(), "{state}");
    }
}

fn a_batch_that_is_not_there_is_a_failure<K: SampleKind>() {
    let mut unit = MockUnit::default();
    K::mock(&mut unit).expect_get().returning(|_, _| Ok(None));
    assert!(matches!(run_prepare::<K>(&mut unit), Err(StoreError::Corrupt(_))));
}

/// A bank that says how much came back where nothing does, or does not say it where something does, said nothing.
fn a_verdict_of_another_kind_is_left_to_a_person<K: SampleKind>() {
    let other = if K::RETURNS_MONEY { Verdict::Done } else { Verdict::Returned(RETURNED) };
    let mut unit = MockUnit::default();
    unit.ledger.expect_sheet().returning(|_| Ok(Some(spent_sheet(500))));
    stored_batch::<K>(&mut unit, S::InProcess, 1);
    expect_settled::<K>(&mut unit, vec![]);
    let next = run_settle::<K>(&mut unit, &verdicts(Strategy::Send, vec![Ok(other)]));
    assert_eq!(next, Ok(Next::LeaveToPerson));
}
