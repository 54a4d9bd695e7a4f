//! Keys and verdicts.

use super::{a_card, balance, key, order, plastic, submit_one, top_up, unknown_card};
use crate::{BankError, BankGateway, BankKey, DeclineReason, Submission, Verdict};

const REFUSED: Verdict = Verdict::Declined(DeclineReason::Refused);

/// A key that was never sent has no verdict.
pub fn an_unsent_instruction_is_not_known(bank: &dyn BankGateway) {
    assert_eq!(bank.query(&[key("a"), key("b")]), Ok(vec![None, None]));
}

/// Empty requests have empty responses.
pub fn an_empty_query_has_an_empty_result(bank: &dyn BankGateway) {
    assert_eq!(bank.submit(&[]), []);
    assert_eq!(bank.query(&[]), Ok(vec![]));
    let card = a_card(bank);
    assert_eq!(bank.issued_cards(&key("a-card"), 0, 0), Ok(vec![]));
    assert_eq!(bank.transactions(card, 0, 0), Ok(vec![]));
}

/// The same instruction under the same key has its effect once, in one batch and in several.
pub fn a_key_is_done_once(bank: &dyn BankGateway) {
    let card = a_card(bank);
    let once = top_up("t", card, 100);
    assert_eq!(bank.submit(&[once.clone(), once.clone()]), [Ok(Verdict::Done), Ok(Verdict::Done)]);
    assert_eq!(submit_one(bank, &once), Ok(Verdict::Done));
    assert_eq!(bank.query(&[key("t"), key("t")]), Ok(vec![Some(Verdict::Done); 2]));
    assert_eq!(balance(bank, card), 100);
}

/// What was refused stays refused under its key, also when it would go through now.
pub fn a_verdict_stays_whatever_has_changed(bank: &dyn BankGateway) {
    let card = a_card(bank);
    let room = bank.card(card).unwrap().unwrap().remaining_top_up.get();
    let too_much = top_up("too-much", card, room + 1);
    let declined = submit_one(bank, &too_much);
    assert_eq!(declined, Ok(Verdict::Declined(DeclineReason::OverCardLimit)));
    assert_eq!(submit_one(bank, &top_up("all", card, room)), Ok(Verdict::Done));
    assert_eq!(submit_one(bank, &too_much), declined);
    // And what was done stays done, though there is no room any more.
    assert_eq!(submit_one(bank, &top_up("all", card, room)), Ok(Verdict::Done));
    assert_eq!(balance(bank, card), room);
}

/// Another instruction under a used key has no effect and no verdict.
pub fn a_key_never_names_two_instructions(bank: &dyn BankGateway) {
    let card = a_card(bank);
    let answers = bank.submit(&[top_up("t", card, 100), top_up("t", card, 200), top_up("u", card, 1)]);
    assert_eq!((&answers[0], &answers[2]), (&Ok(Verdict::Done), &Ok(Verdict::Done)));
    assert!(matches!(answers[1], Err(BankError::Unavailable(_))), "{answers:?}");
    assert_eq!(bank.query(&[key("t")]), Ok(vec![Some(Verdict::Done)]));
    assert_eq!(balance(bank, card), 101);
}

/// Each instruction has a separate verdict.
pub fn verdicts_come_in_the_order_of_the_instructions(bank: &dyn BankGateway) {
    let card = a_card(bank);
    let batch = [
        top_up("1", unknown_card(), 1),
        top_up("2", card, 2),
        order("3", &[plastic(1)]),
        top_up("4", unknown_card(), 4),
        top_up("5", card, 5),
    ];
    let verdicts = [REFUSED, Verdict::Done, Verdict::Done, REFUSED, Verdict::Done];
    assert_eq!(bank.submit(&batch), verdicts.map(Ok));
    let keys = ["5", "4", "never", "3", "2", "1"].map(key);
    let known =
        [Some(Verdict::Done), Some(REFUSED), None, Some(Verdict::Done), Some(Verdict::Done), Some(REFUSED)];
    assert_eq!(bank.query(&keys), Ok(known.to_vec()));
    assert_eq!(balance(bank, card), 7);
}

/// Keys travel as they are.
pub fn a_key_may_have_any_visible_character(bank: &dyn BankGateway) {
    let visible: String = ('!'..='~').collect();
    let keys = ["..", "order/1", "a?b=c&d#e%2F+f", &visible, &"k".repeat(100)];
    let orders: Vec<Submission> = keys.iter().map(|text| order(text, &[plastic(1)])).collect();
    assert_eq!(bank.submit(&orders), vec![Ok(Verdict::Done); keys.len()]);
    for text in keys {
        assert_eq!(bank.issued_cards(&key(text), 0, 10).unwrap().len(), 1, "{text}");
    }
    let asked: Vec<BankKey> = keys.iter().map(|text| key(text)).collect();
    assert_eq!(bank.query(&asked), Ok(vec![Some(Verdict::Done); keys.len()]));
}

/// However many instructions and keys are given, each has its response.
pub fn a_large_batch_is_answered_whole(bank: &dyn BankGateway) {
    let card = a_card(bank);
    let batch: Vec<Submission> = (1..=2_345).map(|n| top_up(&format!("t/{n}"), card, 1)).collect();
    assert_eq!(bank.submit(&batch), vec![Ok(Verdict::Done); batch.len()]);
    let keys: Vec<BankKey> = batch.iter().map(|submission| submission.key.clone()).collect();
    assert_eq!(bank.query(&keys), Ok(vec![Some(Verdict::Done); keys.len()]));
    assert_eq!(balance(bank, card), 2_345);
    assert_eq!(bank.transactions(card, 0, u32::MAX).unwrap().len(), batch.len());
}
