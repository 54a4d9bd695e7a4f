//! Fault injection: errors, lost responses, duplicates, a bank that is down.

use std::sync::{Arc, Barrier, Mutex};
use std::time::Duration;

use kopeck_port_bank::sandbox::{BankFaults, SandboxControl as _};
use kopeck_port_bank::{BankError, BankGateway as _, BankKey, Submission, Verdict};

use crate::bank::{Bank, order, plastic, top_up, virtual_cards};

const GOOD: BankFaults = BankFaults {
    latency: Duration::ZERO,
    error_rate: 0.0,
    lose_answer_rate: 0.0,
    duplicate_rate: 0.0,
    lose_request_rate: 0.0,
    silent_feed: false,
    down: false,
};

fn unavailable<T>(answer: &Result<T, BankError>) -> bool {
    matches!(answer, Err(BankError::Unavailable(_)))
}

fn unknown<T>(answer: &Result<T, BankError>) -> bool {
    matches!(answer, Err(BankError::Unknown(_)))
}

#[test]
fn a_bank_that_is_down_does_nothing() {
    let bank = Bank::new();
    let card = bank.card_with("o", 0);
    bank.bank.inject_faults(BankFaults { down: true, ..GOOD }).unwrap();
    let key = BankKey::new("t").unwrap();
    assert!(unavailable(&bank.submit_one(top_up("t", card, 100))));
    assert!(unavailable(&bank.bank.query(std::slice::from_ref(&key))));
    assert!(unavailable(&bank.bank.issued_cards(&BankKey::new("o").unwrap(), 0, 1)));
    assert!(unavailable(&bank.bank.card(card)));
    assert!(unavailable(&bank.bank.transactions(card, 0, 1)));
    bank.bank.inject_faults(GOOD).unwrap();
    assert_eq!(bank.bank.query(&[key]), Ok(vec![None]));
    assert_eq!(bank.balance(card), 0);
}

#[test]
fn an_error_comes_before_the_effect() {
    let bank = Bank::new();
    let card = bank.card_with("o", 0);
    bank.bank.inject_faults(BankFaults { error_rate: 1.0, ..GOOD }).unwrap();
    assert!(unavailable(&bank.submit_one(top_up("t", card, 100))));
    assert!(unavailable(&bank.bank.card(card)));
    bank.bank.inject_faults(GOOD).unwrap();
    assert_eq!(bank.bank.query(&[BankKey::new("t").unwrap()]), Ok(vec![None]));
    assert_eq!(bank.submit_one(top_up("t", card, 100)), Ok(Verdict::Done));
    assert_eq!(bank.balance(card), 100);
}

#[test]
fn a_lost_response_is_found_by_its_key() {
    let bank = Bank::new();
    let card = bank.card_with("o", 0);
    bank.bank.inject_faults(BankFaults { lose_answer_rate: 1.0, ..GOOD }).unwrap();
    assert!(unknown(&bank.submit_one(top_up("t", card, 100))));
    assert!(unknown(&bank.submit_one(order("p", vec![plastic(2)]))));
    // Reads have no effect, so no response is lost.
    let keys = ["t", "p", "never"].map(|key| BankKey::new(key).unwrap());
    assert_eq!(bank.bank.query(&keys), Ok(vec![Some(Verdict::Done), Some(Verdict::Done), None]));
    assert_eq!(bank.balance(card), 100);
    assert_eq!(bank.bank.issued_cards(&BankKey::new("p").unwrap(), 0, 10).unwrap().len(), 2);
    bank.bank.inject_faults(GOOD).unwrap();
    assert_eq!(bank.submit_one(top_up("t", card, 100)), Ok(Verdict::Done));
    assert_eq!(bank.balance(card), 100);
}

#[test]
fn each_instruction_of_a_batch_has_a_fate_of_its_own() {
    let bank = Bank::new();
    let card = bank.card_with("o", 0);
    let batch: Vec<Submission> = (0..200).map(|n| top_up(&format!("t{n}"), card, 100)).collect();
    bank.bank.inject_faults(BankFaults { error_rate: 0.3, lose_answer_rate: 0.3, ..GOOD }).unwrap();
    let answers = bank.bank.submit(&batch);
    bank.bank.inject_faults(GOOD).unwrap();
    let keys: Vec<_> = batch.iter().map(|submission| submission.key.clone()).collect();
    let stored = bank.bank.query(&keys).unwrap();
    for (answer, stored) in answers.iter().zip(&stored) {
        assert_eq!(
            unavailable(answer),
            stored.is_none(),
            "an error had an effect, or something else had none"
        );
    }
    let count =
        |wanted: fn(&Result<Verdict, BankError>) -> bool| answers.iter().filter(|a| wanted(a)).count();
    let (failed, lost, done) = (count(unavailable), count(unknown), count(|answer| answer.is_ok()));
    assert!(failed > 30 && lost > 20 && done > 60, "{failed} failed, {lost} lost, {done} done");
    assert_eq!(bank.balance(card), i64::try_from(lost + done).unwrap() * 100);
}

#[test]
fn a_duplicating_bank_carries_out_twice() {
    let bank = Bank::new();
    let card = bank.card_with("o", 0);
    bank.bank.inject_faults(BankFaults { duplicate_rate: 1.0, ..GOOD }).unwrap();
    assert_eq!(bank.submit_one(top_up("t", card, 600_000)), Ok(Verdict::Done));
    assert_eq!(bank.balance(card), 600_000);
    assert_eq!(bank.submit_one(top_up("t", card, 600_000)), Ok(Verdict::Done));
    assert_eq!(bank.balance(card), 1_200_000);
    // No room for a third: the verdict stays, the money too.
    assert_eq!(bank.submit_one(top_up("t", card, 600_000)), Ok(Verdict::Done));
    assert_eq!((bank.balance(card), bank.bank.applied(&BankKey::new("t").unwrap()).unwrap()), (1_200_000, 2));
    let twice = [order("p", vec![virtual_cards(2, 100)]), order("p", vec![virtual_cards(2, 100)])];
    assert_eq!(bank.bank.submit(&twice), [Ok(Verdict::Done), Ok(Verdict::Done)]);
    assert_eq!(bank.bank.applied(&BankKey::new("p").unwrap()).unwrap(), 2);
    assert_eq!(bank.bank.issued_cards(&BankKey::new("p").unwrap(), 0, 10).unwrap().len(), 4);
    bank.assert_books_are_right();
}

#[test]
fn a_slow_bank_responds_late_and_does_not_block_others() {
    // All callers meet while they wait, which they cannot if one keeps another out.
    let (all, waits) = (Barrier::new(8), Arc::<Mutex<Vec<Duration>>>::default());
    let log = Arc::clone(&waits);
    let bank = Bank::new().sleeping(move |latency| {
        log.lock().unwrap().push(latency);
        all.wait();
    });
    let card = bank.card_with("o", 0);
    bank.bank.inject_faults(BankFaults { latency: Duration::from_millis(300), ..GOOD }).unwrap();
    std::thread::scope(|scope| {
        for n in 0..8 {
            let bank = &bank;
            scope.spawn(move || bank.submit_one(top_up(&n.to_string(), card, 100)).unwrap());
        }
    });
    assert_eq!(*waits.lock().unwrap(), [Duration::from_millis(300); 8]);
    bank.bank.inject_faults(GOOD).unwrap();
    assert_eq!(bank.balance(card), 800);
}

#[test]
fn a_restart_ends_the_faults() {
    let bank = Bank::new();
    bank.bank.inject_faults(BankFaults { down: true, ..GOOD }).unwrap();
    assert!(bank.bank.faults().down);
    assert_eq!(bank.restarted().bank.faults(), BankFaults::default());
}

#[test]
fn repeat_is_safe_is_a_setting() {
    let bank = Bank::new();
    assert!(bank.bank.repeat_is_safe());
    assert!(!bank.neighbour().with_repeat_is_safe(false).repeat_is_safe());
}
