//! Purchases, refunds and the bank's hand on cards.

use kopeck_domain::Kopecks;
use kopeck_domain::card::Standing;
use kopeck_domain::card_number::CardNumber;
use kopeck_domain::event::DeclinedPurchase;
use kopeck_domain::payment::PaymentRefusal;
use kopeck_domain::transaction::{Transaction, TransactionType};
use kopeck_port_bank::sandbox::{
    CommandKey, Purchase, PurchaseOutcome, Refund, SandboxControl as _, SandboxError,
};
use kopeck_port_bank::{BankGateway as _, DeclineReason, FeedChange, IssuedCard, Verdict};
use proptest::prelude::*;
use time::{Duration, OffsetDateTime};

use crate::bank::{Bank, START, top_up, virtual_cards};

fn of(amount: i64) -> Purchase {
    Purchase {
        place: Some("Bakery".to_owned()),
        mcc: Some("5462".to_owned()),
        merchant_id: Some("M-1".to_owned()),
        ..Purchase::new(Kopecks::new(amount))
    }
}

fn back(payment: i64, amount: i64) -> Refund {
    Refund { payment, amount: Kopecks::new(amount), key: None }
}

/// Buys something that the card can pay, and gives the id of the payment.
fn buy(bank: &Bank, card: CardNumber, amount: i64) -> i64 {
    let answer = bank.bank.purchase(card, &of(amount)).unwrap();
    let PurchaseOutcome::Approved(transaction) = answer else { unreachable!("{answer:?}") };
    transaction
}

fn refused(bank: &Bank, card: CardNumber, purchase: &Purchase) -> PaymentRefusal {
    let answer = bank.bank.purchase(card, purchase).unwrap();
    let PurchaseOutcome::Declined(reason) = answer else { unreachable!("{answer:?}") };
    reason
}

fn virtual_card(bank: &Bank) -> IssuedCard {
    bank.issue("v", vec![virtual_cards(1, 1_000)]).into_iter().next().unwrap()
}

#[test]
fn a_purchase_takes_the_money_and_tells_where() {
    let bank = Bank::new();
    let card = bank.card_with("o", 1_000);
    let at = OffsetDateTime::from_unix_timestamp(START - 86_400).unwrap();
    bank.bank.purchase(card, &Purchase { at: Some(at), ..of(300) }).unwrap();
    let id = buy(&bank, card, 700);
    assert_eq!(bank.balance(card), 0);
    let transactions = bank.bank.transactions(card, 0, 10).unwrap();
    let [_, first, second] = transactions.as_slice() else { panic!("{transactions:?}") };
    assert_eq!((first.executed_at, second.executed_at.unix_timestamp()), (at, START));
    assert_eq!((second.id, second.kind, second.amount.get()), (id, TransactionType::Payment, 700));
    assert_eq!(second.place.as_deref(), Some("Bakery"));
    assert_eq!(second.mcc.as_deref(), Some("5462"));
    assert_eq!(second.merchant_id.as_deref(), Some("M-1"));
    assert_eq!(bank.card(card).remaining_top_up.get(), 1_500_000);
    bank.assert_books_are_right();
}

#[test]
fn a_refused_purchase_is_no_transaction() {
    let bank = Bank::new();
    let card = bank.card_with("o", 1_000);
    assert_eq!(refused(&bank, card, &of(1_001)), PaymentRefusal::InsufficientBalance);
    bank.bank.block(card).unwrap();
    assert_eq!(refused(&bank, card, &of(1)), PaymentRefusal::Blocked);
    bank.bank.unblock(card).unwrap();
    let in_four_years = OffsetDateTime::from_unix_timestamp(START).unwrap() + Duration::days(4 * 365);
    assert_eq!(refused(&bank, card, &Purchase { at: Some(in_four_years), ..of(1) }), PaymentRefusal::Expired);
    bank.bank.expire(card).unwrap();
    assert_eq!(refused(&bank, card, &of(1)), PaymentRefusal::Expired);
    let asleep = virtual_card(&bank).number;
    assert_eq!(refused(&bank, asleep, &of(1)), PaymentRefusal::NotActivated);
    assert_eq!(bank.bank.transactions(card, 0, 10).unwrap().len(), 1);
    assert_eq!(bank.bank.totals().unwrap().payments, Kopecks::ZERO);
}

#[test]
fn refunds_go_up_to_the_payment() {
    let bank = Bank::new();
    let card = bank.card_with("o", 1_000);
    let payment = buy(&bank, card, 600);
    let first = bank.bank.refund(card, &back(payment, 200)).unwrap();
    let over = bank.bank.refund(card, &back(payment, 401));
    assert!(matches!(over, Err(SandboxError::OverPayment(left)) if left.get() == 400), "{over:?}");
    // A card that can no longer pay accepts it too.
    bank.bank.block(card).unwrap();
    let second = bank.bank.refund(card, &back(payment, 400)).unwrap();
    assert!(first > payment && second > first);
    let done = bank.bank.refund(card, &back(payment, 1));
    assert!(matches!(done, Err(SandboxError::OverPayment(Kopecks::ZERO))), "{done:?}");
    let transactions = bank.bank.transactions(card, payment, 10).unwrap();
    let seen: Vec<_> = transactions.iter().map(|t| (t.kind, t.amount.get(), t.place.as_deref())).collect();
    let refund = TransactionType::Refund;
    assert_eq!(seen, [(refund, 200, Some("Bakery")), (refund, 400, Some("Bakery"))]);
    assert_eq!(bank.balance(card), 1_000);
    bank.assert_books_are_right();
}

#[test]
fn only_a_payment_of_the_card_is_refunded() {
    let bank = Bank::new();
    let [card, other] = ["a", "b"].map(|key| bank.card_with(key, 1_000));
    let payment = buy(&bank, card, 100);
    let refund = bank.bank.refund(card, &back(payment, 100)).unwrap();
    let filling = bank.bank.transactions(card, 0, 1).unwrap().first().unwrap().id;
    for (number, id) in [(other, payment), (card, refund), (card, filling), (card, 999), (card, -1)] {
        let answer = bank.bank.refund(number, &back(id, 1));
        assert!(matches!(answer, Err(SandboxError::UnknownPayment)), "{number} {id}: {answer:?}");
    }
}

#[test]
fn the_code_activates_a_virtual_card_until_its_last_day() {
    let bank = Bank::new();
    let card = virtual_card(&bank);
    let code = card.activation_code.as_deref();
    for wrong in ["", "AAAAAAAA", &code.unwrap().to_lowercase()] {
        assert!(
            matches!(bank.bank.activate(card.number, Some(wrong)), Err(SandboxError::WrongCode)),
            "{wrong}"
        );
    }
    bank.days_pass(91);
    assert!(matches!(bank.bank.activate(card.number, code), Err(SandboxError::CodeExpired)));
    assert_eq!(bank.card(card.number).activated_at, None);
    bank.bank.activate(card.number, None).unwrap();
    let activated_at = bank.card(card.number).activated_at;
    assert_eq!(activated_at.unwrap().unix_timestamp(), START + 91 * 86_400);
    bank.days_pass(1);
    bank.bank.activate(card.number, Some("whatever")).unwrap();
    assert_eq!(bank.card(card.number).activated_at, activated_at);
    assert_eq!(bank.submit_one(top_up("t", card.number, 100)), Ok(Verdict::Done));
}

#[test]
fn the_code_is_good_on_its_last_day() {
    let bank = Bank::new();
    let card = virtual_card(&bank);
    bank.days_pass(90);
    bank.bank.activate(card.number, card.activation_code.as_deref()).unwrap();
    buy(&bank, card.number, 1_000);
}

#[test]
fn the_bank_blocks_unblocks_and_expires() {
    let bank = Bank::new();
    let card = bank.card_with("o", 0);
    bank.bank.block(card).unwrap();
    assert_eq!(bank.card(card).standing, Standing::Blocked);
    bank.bank.unblock(card).unwrap();
    assert_eq!(bank.card(card).standing, Standing::Open);
    bank.bank.expire(card).unwrap();
    let bank = bank.restarted();
    assert_eq!(bank.card(card).valid_until.to_string(), "2026-11-20");
    let refused = Ok(Verdict::Declined(DeclineReason::Expired));
    assert_eq!(bank.submit_one(top_up("t", card, 100)), refused);
    bank.clock.advance(Duration::days(9));
    bank.bank.expire(card).unwrap();
    assert_eq!(
        bank.card(card).valid_until.to_string(),
        "2026-11-20",
        "a card does not expire later than it did"
    );
}

#[test]
fn a_card_that_is_not_there() {
    let bank = Bank::new();
    let unknown = CardNumber::from_u64(1_000_000_000).unwrap();
    assert_eq!(bank.bank.card(unknown), Ok(None));
    assert_eq!(bank.bank.transactions(unknown, 0, 10), Ok(vec![]));
    let answers = [
        bank.bank.block(unknown),
        bank.bank.unblock(unknown),
        bank.bank.expire(unknown),
        bank.bank.activate(unknown, None),
        bank.bank.purchase(unknown, &of(1)).map(|_| ()),
    ];
    assert!(answers.iter().all(|answer| matches!(answer, Err(SandboxError::UnknownCard))), "{answers:?}");
    assert!(matches!(bank.bank.refund(unknown, &back(1, 1)), Err(SandboxError::UnknownPayment)));
}

#[test]
fn amounts_are_above_zero() {
    let bank = Bank::new();
    let card = bank.card_with("o", 1_000);
    let payment = buy(&bank, card, 100);
    for amount in [0, -1, i64::MIN] {
        assert!(matches!(bank.bank.purchase(card, &of(amount)), Err(SandboxError::Amount)));
        let refund = bank.bank.refund(card, &back(payment, amount));
        assert!(matches!(refund, Err(SandboxError::Amount)));
    }
    assert_eq!(refused(&bank, card, &of(i64::MAX)), PaymentRefusal::InsufficientBalance);
}

#[test]
fn a_retried_purchase_has_one_effect() {
    let bank = Bank::new();
    let card = bank.card_with("o", 1_000);
    let key = |text: &str| {
        Some(CommandKey { text: text.to_owned(), since: OffsetDateTime::from_unix_timestamp(START).unwrap() })
    };
    let purchase = Purchase { key: key("buy"), ..of(300) };
    let first = bank.bank.purchase(card, &purchase).unwrap();
    let PurchaseOutcome::Approved(transaction) = first else { panic!("{first:?}") };
    // The outcome stays although it would be refused by now, and after a restart.
    bank.bank.block(card).unwrap();
    let bank = bank.restarted();
    assert_eq!(bank.bank.purchase(card, &purchase).unwrap(), first);
    let refund = Refund { key: key("refund"), ..back(transaction, 300) };
    let given_back = bank.bank.refund(card, &refund).unwrap();
    assert_eq!(bank.bank.refund(card, &refund).unwrap(), given_back);
    assert_eq!((bank.balance(card), bank.bank.transactions(card, 0, 10).unwrap().len()), (1_000, 3));
    bank.assert_books_are_right();
}

#[test]
fn a_key_that_is_long_unused_stands_for_something_else() {
    let bank = Bank::new();
    let card = bank.card_with("o", 1_000);
    let buy = |since: i64| {
        let since = OffsetDateTime::from_unix_timestamp(START + since).unwrap();
        bank.bank
            .purchase(card, &Purchase { key: Some(CommandKey { text: "k".to_owned(), since }), ..of(300) })
            .unwrap()
    };
    let first = buy(0);
    bank.days_pass(8);
    assert_ne!(buy(1), first);
    assert_eq!(bank.balance(card), 400);
}

/// The outcome stays although it would be approved by now, and after a restart. The feed has it once.
#[test]
fn a_retried_purchase_is_declined_once() {
    let bank = Bank::new();
    let card = bank.card_with("o", 0);
    let key = |text: &str| {
        let since = OffsetDateTime::from_unix_timestamp(START).unwrap();
        Some(CommandKey { text: text.to_owned(), since })
    };
    let purchase = Purchase { key: key("k"), ..of(300) };
    assert_eq!(refused(&bank, card, &purchase), PaymentRefusal::InsufficientBalance);
    bank.submit_one(top_up("t", card, 300)).unwrap();
    let bank = bank.restarted();
    assert_eq!(refused(&bank, card, &purchase), PaymentRefusal::InsufficientBalance);
    let feed = bank.bank.feed(0, 100).unwrap();
    let declined = feed.iter().filter(|entry| matches!(entry.change, FeedChange::Declined(_)));
    assert_eq!(declined.count(), 1);
    let another = Purchase { key: key("another"), ..of(300) };
    assert!(matches!(bank.bank.purchase(card, &another), Ok(PurchaseOutcome::Approved(_))));
}

/// Something that moves money, if the bank lets it.
#[derive(Debug, Clone)]
enum Step {
    TopUp { key: u8, amount: i64 },
    Purchase { amount: i64 },
    Refund { payment: usize, amount: i64 },
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        (0..6_u8, 1..900_000_i64).prop_map(|(key, amount)| Step::TopUp { key, amount }),
        (1..700_000_i64).prop_map(|amount| Step::Purchase { amount }),
        (0..4_usize, 1..400_000_i64).prop_map(|(payment, amount)| Step::Refund { payment, amount }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    /// After any sequence the balance follows from the responses, and the ledger is sound.
    #[test]
    fn the_responses_explain_the_balance(steps in prop::collection::vec(step(), 1..25)) {
        let bank = Bank::new();
        let card = bank.card_with("o", 0);
        let (mut balance, mut payments, mut keys) = (0, Vec::new(), std::collections::HashSet::new());
        for step in steps {
            match step {
                Step::TopUp { key, amount } => {
                    let answer = bank.submit_one(top_up(&key.to_string(), card, amount));
                    if keys.insert(key) && answer == Ok(Verdict::Done) {
                        balance += amount;
                    }
                }
                Step::Purchase { amount } => {
                    if let PurchaseOutcome::Approved(transaction) = bank.bank.purchase(card, &of(amount)).unwrap() {
                        balance -= amount;
                        payments.push(transaction);
                    }
                }
                Step::Refund { payment, amount } => {
                    let payment = payments.get(payment).copied().unwrap_or(0);
                    if bank.bank.refund(card, &back(payment, amount)).is_ok() {
                        balance += amount;
                    }
                }
            }
            prop_assert_eq!(bank.balance(card), balance);
        }
        bank.assert_books_are_right();
    }
}

#[test]
fn the_feed_tells_what_happens_to_cards() {
    let bank = Bank::new();
    let card = bank.card_with("o", 1_000);
    let asleep = virtual_card(&bank);
    let seen = bank.bank.feed(0, 100).unwrap().last().unwrap().seq;
    for _ in 0..2 {
        // The second time none of these changes anything.
        bank.bank.block(card).unwrap();
        bank.bank.activate(asleep.number, None).unwrap();
    }
    let tried = OffsetDateTime::from_unix_timestamp(START - 60).unwrap();
    refused(&bank, card, &Purchase { at: Some(tried), ..of(7) });
    for _ in 0..2 {
        bank.bank.unblock(card).unwrap();
    }
    let payment = buy(&bank, card, 700);
    bank.bank.refund(card, &back(payment, 700)).unwrap();
    for _ in 0..2 {
        bank.bank.expire(card).unwrap();
    }
    let entries = bank.bank.feed(seen, 100).unwrap();
    let transactions = bank.bank.transactions(card, 0, 10).unwrap();
    let [filled, paid, refunded] = &transactions[..] else { unreachable!("{transactions:?}") };
    let told = |transaction: &Transaction, previous: &Transaction| FeedChange::Transaction {
        transaction: transaction.clone(),
        previous: previous.id,
    };
    let declined = DeclinedPurchase {
        at: tried,
        amount: Kopecks::new(7),
        reason: Some(PaymentRefusal::Blocked),
        place: Some("Bakery".to_owned()),
        mcc: Some("5462".to_owned()),
        merchant_id: Some("M-1".to_owned()),
    };
    let expected = [
        (card, FeedChange::Blocked),
        (asleep.number, FeedChange::Activated),
        (card, FeedChange::Declined(declined)),
        (card, FeedChange::Unblocked),
        (card, told(paid, filled)),
        (card, told(refunded, paid)),
        (card, FeedChange::Expired),
    ];
    let changes: Vec<_> = entries.iter().map(|entry| (entry.card, entry.change.clone())).collect();
    assert_eq!(changes, expected);
    assert!(entries.iter().all(|entry| entry.at.unix_timestamp() == START));
}
