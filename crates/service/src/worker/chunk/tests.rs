use super::*;
use crate::testing::*;
use kopeck_port_bank::{DeclineReason, Instruction, MockBankGateway};
use kopeck_port_store::Subject;

const BLOCKED: Verdict = Verdict::Declined(DeclineReason::Blocked);

/// What the bank is told about the card with this ordinal.
fn submission(ordinal: &u32) -> Submission {
    let (card, amount) = (number(u64::from(*ordinal)), kopecks(100));
    Submission { key: key(*ordinal), instruction: Instruction::TopUp { card, amount } }
}

fn key(ordinal: u32) -> BankKey {
    BankKey::new(format!("request/{ordinal}"))
}

/// What was found of so many cards, by ordinal; `None` where nothing was.
fn found(bank: &MockBankGateway, cards: u32, approach: Approach) -> Vec<(u32, Option<Verdict>)> {
    let findings = tell(bank, Chunk { approach, cards: (0..cards).collect() }, submission);
    assert_eq!(findings.approach, approach);
    let mut found: Vec<_> = findings.cards.into_iter().map(|(card, finding)| (card, finding.ok())).collect();
    found.sort_unstable_by_key(|(card, _)| *card);
    found
}

/// Exactly these cards are sent.
fn expect_submit(bank: &mut MockBankGateway, sent: &[u32], answers: Vec<Result<Verdict, BankError>>) {
    let expected: Vec<Submission> = sent.iter().map(submission).collect();
    bank.expect_submit()
        .withf(move |submissions| *submissions == expected[..])
        .times(1)
        .returning(move |_| answers.clone());
}

/// Exactly these cards are asked for.
fn expect_query(bank: &mut MockBankGateway, asked: &[u32], answer: Result<Vec<Option<Verdict>>, BankError>) {
    let expected: Vec<BankKey> = asked.iter().map(|ordinal| key(*ordinal)).collect();
    bank.expect_query().withf(move |keys| *keys == expected[..]).times(1).returning(move |_| answer.clone());
}

#[test]
fn a_first_claim_sends_every_card_without_asking() {
    let mut bank = MockBankGateway::new();
    expect_submit(&mut bank, &[0, 1], vec![Ok(Verdict::Done), Ok(BLOCKED)]);
    assert_eq!(found(&bank, 2, Approach::Send), [(0, Some(Verdict::Done)), (1, Some(BLOCKED))]);
}

#[test]
fn a_take_over_asks_first_and_sends_only_what_the_bank_does_not_know() {
    let mut bank = MockBankGateway::new();
    expect_query(&mut bank, &[0, 1, 2, 3], Ok(vec![Some(Verdict::Done), None, Some(BLOCKED), None]));
    expect_submit(&mut bank, &[1, 3], vec![Ok(BLOCKED), Ok(Verdict::Done)]);
    let expected = [Verdict::Done, BLOCKED, BLOCKED, Verdict::Done].map(Some);
    assert_eq!(found(&bank, 4, Approach::AskThenSend), (0..).zip(expected).collect::<Vec<_>>());
}

#[test]
fn a_take_over_of_what_is_all_known_sends_nothing() {
    let mut bank = MockBankGateway::new();
    expect_query(&mut bank, &[0], Ok(vec![Some(Verdict::Done)]));
    assert_eq!(found(&bank, 1, Approach::AskThenSend), [(0, Some(Verdict::Done))]);
}

#[test]
fn where_a_repeat_is_not_safe_nothing_is_sent_again() {
    let mut bank = MockBankGateway::new();
    expect_query(&mut bank, &[0, 1], Ok(vec![Some(Verdict::Done), None]));
    assert_eq!(found(&bank, 2, Approach::Ask), [(0, Some(Verdict::Done)), (1, None)]);
}

/// Neither no answer nor one that is too short or too long says anything of any card.
#[test]
fn a_question_without_a_whole_answer_leaves_every_card_open() {
    let down = Err(BankError::Unavailable("down".to_owned()));
    let answers = [down, Ok(vec![]), Ok(vec![Some(Verdict::Done)]), Ok(vec![Some(Verdict::Done); 3])];
    for answer in answers {
        let mut bank = MockBankGateway::new();
        expect_query(&mut bank, &[0, 1], answer);
        assert_eq!(found(&bank, 2, Approach::AskThenSend), [(0, None), (1, None)]);
    }
}

#[test]
fn cards_that_a_short_answer_leaves_out_stay_open() {
    for (answers, first) in [(vec![], None), (vec![Ok(Verdict::Done)], Some(Verdict::Done))] {
        let mut bank = MockBankGateway::new();
        expect_submit(&mut bank, &[0, 1, 2], answers);
        assert_eq!(found(&bank, 3, Approach::Send), [(0, first), (1, None), (2, None)]);
    }
}

/// A request in memory, whose cards are their ordinals.
#[derive(Default)]
struct Request {
    open: Vec<u32>,
    sent: Vec<u32>,
}

impl OpenCards for Request {
    type Card = u32;

    fn ordinal(card: &u32) -> u32 {
        *card
    }

    fn open(&mut self, limit: u32) -> Result<Vec<u32>, StoreError> {
        Ok(self.open.iter().copied().take(usize::try_from(limit).unwrap()).collect())
    }

    fn unsent(&mut self, limit: u32) -> Result<Vec<u32>, StoreError> {
        let unsent = self.open.iter().copied().filter(|card| !self.sent.contains(card));
        Ok(unsent.take(usize::try_from(limit).unwrap()).collect())
    }

    fn mark_sent(&mut self, ordinals: &[u32], sent: bool) -> Result<(), StoreError> {
        assert!(!ordinals.is_empty());
        self.sent.retain(|card| !ordinals.contains(card));
        if sent {
            self.sent.extend(ordinals);
        }
        Ok(())
    }
}

fn request(open: &[u32], sent: &[u32]) -> Request {
    Request { open: open.to_vec(), sent: sent.to_vec() }
}

fn gathered(request: &mut Request, may_have_sent: bool, repeat_is_safe: bool) -> (Approach, Vec<u32>) {
    let claim = Claim { may_have_sent, ..claim(Subject::Replenishment(replenishment_id(1))) };
    let Chunk { approach, cards } = gather(request, &claim, Tactics { chunk: 2, repeat_is_safe }).unwrap();
    (approach, cards)
}

#[test]
fn where_a_repeat_is_safe_the_claim_says_whether_to_ask_first() {
    let mut request = request(&[0, 1, 2], &[]);
    assert_eq!(gathered(&mut request, false, true), (Approach::Send, vec![0, 1]));
    assert_eq!(gathered(&mut request, true, true), (Approach::AskThenSend, vec![0, 1]));
    assert!(request.sent.is_empty());
}

/// Whatever the claim says: each card is sent once, and once all are, the bank is asked for what is left.
#[test]
fn where_a_repeat_is_not_safe_each_card_is_marked_before_it_is_sent() {
    for may_have_sent in [false, true] {
        let mut request = request(&[0, 1, 2], &[]);
        assert_eq!(gathered(&mut request, may_have_sent, false), (Approach::SendOnce, vec![0, 1]));
        assert_eq!(gathered(&mut request, may_have_sent, false), (Approach::SendOnce, vec![2]));
        assert_eq!(gathered(&mut request, may_have_sent, false), (Approach::Ask, vec![0, 1, 2]));
    }
}

fn after(
    request: &mut Request,
    approach: Approach,
    cards: Vec<(u32, Result<Verdict, NoVerdict>)>,
) -> Option<Next> {
    next_without_verdict(request, &Findings { approach, cards }).unwrap()
}

fn not_sent() -> NoVerdict {
    NoVerdict::NotSent("down".to_owned())
}

fn no_word() -> NoVerdict {
    NoVerdict::NoWord("timeout".to_owned())
}

#[test]
fn verdicts_for_all_leave_nothing_to_wait_for() {
    for approach in [Approach::Send, Approach::SendOnce, Approach::AskThenSend, Approach::Ask] {
        assert_eq!(after(&mut request(&[0], &[0]), approach, vec![(0, Ok(BLOCKED))]), None);
    }
}

/// What reached nobody can be sent later; what may have reached the bank cannot.
#[test]
fn only_what_reached_nobody_is_sent_again() {
    let mut request = request(&[0, 1, 2], &[0, 1, 2]);
    let findings = vec![(0, Err(no_word())), (1, Err(not_sent())), (2, Err(no_word()))];
    assert_eq!(after(&mut request, Approach::SendOnce, findings), Some(Next::Later { may_have_sent: true }));
    assert_eq!(request.sent, [0, 2]);
}

#[test]
fn silence_for_one_card_lets_the_others_be_sent() {
    let findings = vec![(0, Ok(Verdict::Done)), (1, Err(no_word()))];
    assert_eq!(after(&mut request(&[1, 2], &[1]), Approach::SendOnce, findings), Some(Next::GoOn));
}

/// All that is left, that is: a bank that was not reached may know.
#[test]
fn what_the_bank_does_not_know_is_left_to_a_person() {
    let unknown = || Err(NoVerdict::NotKnown);
    let mut request = request(&[0, 1, 2], &[0, 1, 2]);
    let findings = vec![(0, Ok(Verdict::Done)), (1, unknown()), (2, unknown())];
    assert_eq!(after(&mut request, Approach::Ask, findings), Some(Next::LeaveToPerson));
    let later = Some(Next::Later { may_have_sent: true });
    assert_eq!(after(&mut request, Approach::Ask, vec![(0, Err(no_word())), (1, unknown())]), later);
}

#[test]
fn a_chunk_that_was_not_sent_is_marked_so() {
    let mut request = request(&[0, 1, 2], &[0, 1, 2]);
    Chunk { approach: Approach::SendOnce, cards: vec![0, 1] }.take_back(&mut request).unwrap();
    assert_eq!(request.sent, [2]);
}
