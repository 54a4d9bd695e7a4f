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
fn found(bank: &MockBankGateway, cards: u32, may_have_sent: bool) -> Vec<(u32, Option<Verdict>)> {
    let claim = Claim { may_have_sent, ..claim(Subject::Replenishment(replenishment_id(1))) };
    let findings = tell(bank, &claim, (0..cards).collect(), submission);
    let mut found: Vec<_> = findings.into_iter().map(|(card, finding)| (card, finding.ok())).collect();
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
    assert_eq!(found(&bank, 2, false), [(0, Some(Verdict::Done)), (1, Some(BLOCKED))]);
}

#[test]
fn a_take_over_asks_first_and_sends_only_what_the_bank_does_not_know() {
    let mut bank = MockBankGateway::new();
    bank.expect_repeat_is_safe().return_const(true);
    expect_query(&mut bank, &[0, 1, 2, 3], Ok(vec![Some(Verdict::Done), None, Some(BLOCKED), None]));
    expect_submit(&mut bank, &[1, 3], vec![Ok(BLOCKED), Ok(Verdict::Done)]);
    let expected = [Verdict::Done, BLOCKED, BLOCKED, Verdict::Done].map(Some);
    assert_eq!(found(&bank, 4, true), (0..).zip(expected).collect::<Vec<_>>());
}

#[test]
fn a_take_over_of_what_is_all_known_sends_nothing() {
    let mut bank = MockBankGateway::new();
    bank.expect_repeat_is_safe().return_const(true);
    expect_query(&mut bank, &[0], Ok(vec![Some(Verdict::Done)]));
    assert_eq!(found(&bank, 1, true), [(0, Some(Verdict::Done))]);
}

#[test]
fn where_a_repeat_is_not_safe_nothing_is_sent_again() {
    let mut bank = MockBankGateway::new();
    bank.expect_repeat_is_safe().return_const(false);
    expect_query(&mut bank, &[0, 1], Ok(vec![Some(Verdict::Done), None]));
    assert_eq!(found(&bank, 2, true), [(0, Some(Verdict::Done)), (1, None)]);
}

/// Neither no answer nor one that is too short or too long says anything of any card.
#[test]
fn a_question_without_a_whole_answer_leaves_every_card_open() {
    let down = Err(BankError::Unavailable("down".to_owned()));
    let answers = [down, Ok(vec![]), Ok(vec![Some(Verdict::Done)]), Ok(vec![Some(Verdict::Done); 3])];
    for answer in answers {
        let mut bank = MockBankGateway::new();
        bank.expect_repeat_is_safe().return_const(true);
        expect_query(&mut bank, &[0, 1], answer);
        assert_eq!(found(&bank, 2, true), [(0, None), (1, None)]);
    }
}

#[test]
fn cards_that_a_short_answer_leaves_out_stay_open() {
    for (answers, first) in [(vec![], None), (vec![Ok(Verdict::Done)], Some(Verdict::Done))] {
        let mut bank = MockBankGateway::new();
        expect_submit(&mut bank, &[0, 1, 2], answers);
        assert_eq!(found(&bank, 3, false), [(0, first), (1, None), (2, None)]);
    }
}
