//! Top-ups: verdicts, batches, repeats.

use kopeck_adapter_bank_simulator::Discrepancy;
use kopeck_domain::card_number::CardNumber;
use kopeck_domain::transaction::TransactionType;
use kopeck_port_bank::sandbox::SandboxControl as _;
use kopeck_port_bank::{BankError, BankGateway as _, BankKey, DeclineReason, Submission, Verdict};

use crate::bank::{Bank, order, plastic, top_up, virtual_cards};

const fn declined(reason: DeclineReason) -> Result<Verdict, BankError> {
    Ok(Verdict::Declined(reason))
}

#[test]
fn money_arrives_and_is_a_transaction() {
    let bank = Bank::new();
    let card = bank.card_with("o", 0);
    assert_eq!(bank.submit_one(top_up("t", card, 250_000)), Ok(Verdict::Done));
    assert_eq!((bank.balance(card), bank.card(card).remaining_top_up.get()), (250_000, 1_250_000));
    let transactions = bank.bank.transactions(card, 0, 10).unwrap();
    let seen: Vec<_> = transactions.iter().map(|t| (t.kind, t.amount.get(), t.place.as_deref())).collect();
    assert_eq!(seen, [(TransactionType::Replenishment, 250_000, None)]);
    assert_eq!(bank.bank.totals().unwrap().top_ups.get(), 250_000);
    bank.assert_books_are_right();
}

#[test]
fn each_refusal_leaves_the_card_alone() {
    let bank = Bank::new();
    let [full, blocked, expired] = ["a", "b", "c"].map(|key| bank.card_with(key, 1_000_000));
    bank.bank.block(blocked).unwrap();
    bank.bank.expire(expired).unwrap();
    let asleep = bank.issue("v", vec![virtual_cards(1, 1_000_000)]).first().unwrap().number;
    let unknown = CardNumber::from_u64(1_000_000_000).unwrap();
    let answers = bank.bank.submit(&[
        top_up("1", full, 500_001),
        top_up("2", blocked, 100),
        top_up("3", expired, 100),
        top_up("4", asleep, 100),
        top_up("5", unknown, 100),
        top_up("6", full, 1_013),
    ]);
    let reasons = [
        DeclineReason::OverCardLimit,
        DeclineReason::Blocked,
        DeclineReason::Expired,
        DeclineReason::NotActivated,
        DeclineReason::Refused,
        DeclineReason::Refused,
    ];
    assert_eq!(answers, reasons.map(declined));
    assert_eq!([full, blocked, expired, asleep].map(|card| bank.balance(card)), [1_000_000; 4]);
    let keys = ["1", "2", "3", "4", "5", "6"].map(|key| BankKey::new(key).unwrap());
    let stored: Vec<_> = bank.bank.query(&keys).unwrap().into_iter().map(Option::unwrap).collect();
    assert_eq!(stored, reasons.map(Verdict::Declined));
    assert!(keys.iter().all(|key| bank.bank.applied(key).unwrap() == 0));
    bank.assert_books_are_right();
}

#[test]
fn a_verdict_stays_when_the_card_has_changed() {
    let bank = Bank::new();
    let card = bank.card_with("o", 0);
    bank.bank.block(card).unwrap();
    assert_eq!(bank.submit_one(top_up("t", card, 100)), declined(DeclineReason::Blocked));
    bank.bank.unblock(card).unwrap();
    assert_eq!(bank.submit_one(top_up("t", card, 100)), declined(DeclineReason::Blocked));
    assert_eq!(bank.submit_one(top_up("u", card, 100)), Ok(Verdict::Done));
    bank.bank.block(card).unwrap();
    assert_eq!(bank.submit_one(top_up("u", card, 100)), Ok(Verdict::Done));
    assert_eq!(bank.balance(card), 100);
}

#[test]
fn a_batch_is_answered_in_its_order_and_knows_its_own_effects() {
    let bank = Bank::new();
    let card = bank.card_with("o", 0);
    let answers = bank.bank.submit(&[
        top_up("1", card, 1_000_000),
        top_up("2", card, 600_000),
        order("3", vec![plastic(2)]),
        top_up("4", card, 500_000),
        top_up("1", card, 1_000_000),
        top_up("5", card, 1),
    ]);
    let over = declined(DeclineReason::OverCardLimit);
    let done = || Ok(Verdict::Done);
    assert_eq!(answers, [done(), over.clone(), done(), done(), done(), over]);
    assert_eq!(bank.balance(card), 1_500_000);
    assert_eq!(bank.bank.issued_cards(&BankKey::new("3").unwrap(), 0, 10).unwrap().len(), 2);
    bank.assert_books_are_right();
}

#[test]
fn the_same_key_tops_up_once_also_after_a_restart() {
    let bank = Bank::new();
    let card = bank.card_with("o", 0);
    for _ in 0..3 {
        assert_eq!(bank.submit_one(top_up("t", card, 700)), Ok(Verdict::Done));
    }
    let bank = bank.restarted();
    assert_eq!(bank.submit_one(top_up("t", card, 700)), Ok(Verdict::Done));
    assert_eq!((bank.balance(card), bank.bank.applied(&BankKey::new("t").unwrap()).unwrap()), (700, 1));
    let other = bank.submit_one(top_up("t", card, 701));
    assert!(matches!(other, Err(BankError::Unavailable(_))), "{other:?}");
    assert_eq!(bank.balance(card), 700);
}

#[test]
fn hundreds_of_top_ups_go_in_one_call() {
    let bank = Bank::new();
    let cards: Vec<_> = bank.issue("o", vec![plastic(2_500)]).into_iter().map(|card| card.number).collect();
    let batch: Vec<Submission> =
        (0..).zip(&cards).map(|(n, card)| top_up(&format!("t{n}"), *card, 100 + n)).collect();
    let answers = bank.bank.submit(&batch);
    assert_eq!(answers.iter().filter(|answer| **answer == Ok(Verdict::Done)).count(), 2_475);
    // Every hundredth ends in 13 kopecks.
    assert_eq!(answers.get(13), Some(&declined(DeclineReason::Refused)));
    assert_eq!(bank.bank.submit(&batch), answers);
    let keys: Vec<_> = batch.iter().map(|submission| submission.key.clone()).collect();
    let stored: Vec<_> =
        bank.bank.query(&keys).unwrap().into_iter().map(|verdict| Ok(verdict.unwrap())).collect();
    assert_eq!(stored, answers);
    assert_eq!(bank.balance(*cards.last().unwrap()), 2_599);
    bank.assert_books_are_right();
}

#[test]
fn an_empty_batch_has_no_results() {
    let bank = Bank::new();
    assert_eq!(bank.bank.submit(&[]), []);
    assert_eq!(bank.bank.query(&[]), Ok(vec![]));
    assert_eq!(bank.bank.query(&[BankKey::new("never").unwrap()]), Ok(vec![None]));
    assert_eq!(bank.bank.applied(&BankKey::new("never").unwrap()).unwrap(), 0);
}

#[test]
fn transactions_come_in_pages_by_ascending_id() {
    let bank = Bank::new();
    let [card, other] = ["a", "b"].map(|key| bank.card_with(key, 0));
    for n in 1..=5 {
        bank.submit_one(top_up(&format!("t{n}"), card, n)).unwrap();
        bank.submit_one(top_up(&format!("u{n}"), other, 100 * n)).unwrap();
    }
    let page = |after, limit| bank.bank.transactions(card, after, limit).unwrap();
    let all = page(0, 100);
    assert_eq!(all.iter().map(|t| t.amount.get()).collect::<Vec<_>>(), [1, 2, 3, 4, 5]);
    assert!(all.is_sorted_by(|a, b| a.id < b.id));
    let (first, rest) = all.split_at(2);
    assert_eq!(page(0, 2), first);
    assert_eq!(page(first.last().unwrap().id, 100), rest);
    assert_eq!(page(all.last().unwrap().id, 100), []);
}

#[test]
fn a_card_expires_on_the_day_after_its_last() {
    let bank = Bank::new();
    let card = bank.card_with("o", 0);
    // From 21.11.2026 to the last day, 30.11.2029.
    bank.days_pass(1_105);
    assert_eq!(bank.submit_one(top_up("1", card, 100)), Ok(Verdict::Done));
    bank.days_pass(1);
    assert_eq!(bank.submit_one(top_up("2", card, 100)), declined(DeclineReason::Expired));
}

#[test]
fn a_wrong_balance_is_found() {
    let bank = Bank::new();
    let [card, _other] = ["a", "b"].map(|key| bank.card_with(key, 500));
    bank.tamper(&format!("UPDATE cards SET balance = 501 WHERE number = {card}"));
    let [wrong] = <[Discrepancy; 1]>::try_from(bank.bank.check().unwrap()).unwrap();
    assert_eq!((wrong.card, wrong.stored.get(), wrong.recomputed.get()), (card.get(), 501, 500));
}

#[test]
fn a_corrupt_database_is_an_error_without_effect() {
    let bank = Bank::new();
    let card = bank.card_with("o", 500);
    bank.tamper(&format!("UPDATE cards SET valid_until = 2000000000 WHERE number = {card}"));
    let answer = bank.submit_one(top_up("t", card, 100));
    assert!(matches!(&answer, Err(BankError::Unavailable(why)) if why.contains("corrupt")), "{answer:?}");
    assert_eq!(bank.bank.query(&[BankKey::new("t").unwrap()]), Ok(vec![None]));
}
