//! A simulator that is ruled across the network.

use std::time::Duration;

use kopeck_domain::Kopecks;
use kopeck_domain::card::{CardType, Standing};
use kopeck_domain::card_number::CardNumber;
use kopeck_domain::payment::PaymentRefusal;
use kopeck_port_bank::sandbox::{
    BankFaults, CommandKey, Purchase, PurchaseOutcome, Refund, SandboxClock as _, SandboxControl as _,
    SandboxError,
};
use kopeck_port_bank::{
    BankError, BankGateway as _, BankKey, Instruction, IssuedCard, OrderedCards, Submission, Verdict,
};
use kopeck_port_system::Clock as _;

use crate::test_bank::{START, TestBank};

fn virtual_card(bench: &TestBank, key: &str) -> IssuedCard {
    let first_top_up = Some(Kopecks::new(10_000));
    let line = OrderedCards { kind: CardType::Mlz, count: 1, first_top_up, delivery: None };
    let order =
        Submission { key: BankKey::new(key).unwrap(), instruction: Instruction::IssueCards(vec![line]) };
    assert_eq!(bench.submit(&[order]), [Ok(Verdict::Done)]);
    bench.issued_cards(&BankKey::new(key).unwrap(), 0, 1).unwrap().remove(0)
}

fn once(key: &str) -> CommandKey {
    CommandKey { text: key.to_owned(), since: START }
}

fn purchase(amount: i64, key: Option<&str>) -> Purchase {
    Purchase {
        place: Some("Пекарня".to_owned()),
        mcc: Some("5462".to_owned()),
        key: key.map(once),
        ..Purchase::new(Kopecks::new(amount))
    }
}

#[test]
fn money_is_spent_and_given_back_once_under_a_key() {
    let bench = TestBank::new();
    let issued = virtual_card(&bench, "o");
    let card = issued.number;
    let control = &bench.control;
    assert_eq!(
        control.purchase(card, &purchase(1, None)),
        Ok(PurchaseOutcome::Declined(PaymentRefusal::NotActivated))
    );
    assert_eq!(control.activate(card, Some("wrong")), Err(SandboxError::WrongCode));
    control.activate(card, issued.activation_code.as_deref()).unwrap();
    let bought = control.purchase(card, &purchase(6_000, Some("p"))).unwrap();
    assert_eq!(control.purchase(card, &purchase(6_000, Some("p"))), Ok(bought));
    let PurchaseOutcome::Approved(payment) = bought else { panic!("{bought:?}") };
    let refund = |amount, key| Refund { payment, amount: Kopecks::new(amount), key: Some(once(key)) };
    assert_eq!(
        control.refund(card, &refund(6_001, "r")),
        Err(SandboxError::OverPayment(Kopecks::new(6_000)))
    );
    assert_eq!(control.refund(card, &refund(1_000, "r")), control.refund(card, &refund(1_000, "r")));
    let unknown = Refund { payment: 99, ..refund(1, "s") };
    assert_eq!(control.refund(card, &unknown), Err(SandboxError::UnknownPayment));
    assert_eq!(bench.card(card).unwrap().unwrap().balance.get(), 5_000);
    let seen = bench.transactions(card, 0, 10).unwrap();
    assert_eq!(seen.iter().map(|made| made.amount.get()).collect::<Vec<_>>(), [10_000, 6_000, 1_000]);
    assert_eq!((seen[1].place.as_deref(), seen[1].mcc.as_deref()), (Some("Пекарня"), Some("5462")));
}

#[test]
fn cards_are_blocked_and_expire() {
    let bench = TestBank::new();
    let card = virtual_card(&bench, "o").number;
    bench.control.block(card).unwrap();
    assert_eq!(bench.card(card).unwrap().unwrap().standing, Standing::Blocked);
    bench.control.unblock(card).unwrap();
    bench.control.expire(card).unwrap();
    let stands = bench.card(card).unwrap().unwrap();
    assert_eq!((stands.standing, stands.valid_until.to_string()), (Standing::Open, "2026-03-01".to_owned()));
    let unknown = CardNumber::parse("9999999999").unwrap();
    assert_eq!(bench.control.block(unknown), Err(SandboxError::UnknownCard));
    assert_eq!(bench.control.purchase(unknown, &purchase(1, None)), Err(SandboxError::UnknownCard));
}

#[test]
fn the_clock_moves_and_codes_grow_old() {
    let bench = TestBank::new();
    let issued = virtual_card(&bench, "o");
    assert_eq!(bench.control.offset_micros(), Ok(0));
    let days = Duration::from_secs(100 * 24 * 3_600);
    assert_eq!(bench.control.advance(days, &once("a")), Ok(8_640_000_000_000));
    assert_eq!(bench.control.offset_micros(), Ok(8_640_000_000_000));
    assert_eq!(bench.clock.now(), START + time::Duration::days(100));
    let code = issued.activation_code.as_deref();
    assert_eq!(bench.control.activate(issued.number, code), Err(SandboxError::CodeExpired));
    assert_eq!(bench.control.advance(Duration::MAX, &once("b")), Err(SandboxError::ClockTooFar));
}

/// The same as in process: what fails has no effect, what is lost has one. Across the network an unknown outcome is a
/// pending one.
#[test]
fn faults_show_across_the_network() {
    let bench = TestBank::new();
    let card = virtual_card(&bench, "o").number;
    bench.control.activate(card, None).unwrap();
    let top_up = |key: &str| Submission {
        key: BankKey::new(key).unwrap(),
        instruction: Instruction::TopUp { card, amount: Kopecks::new(1) },
    };
    let behave = |faults: BankFaults| bench.control.inject_faults(faults).unwrap();
    behave(BankFaults { down: true, ..BankFaults::default() });
    assert!(matches!(bench.submit(&[top_up("1")])[..], [Err(BankError::Unavailable(_))]));
    assert!(bench.card(card).is_err());
    behave(BankFaults { lose_answer_rate: 1.0, ..BankFaults::default() });
    assert!(matches!(bench.submit(&[top_up("2")])[..], [Ok(Verdict::Pending)]));
    behave(BankFaults::default());
    let keys = ["1", "2"].map(|key| BankKey::new(key).unwrap());
    assert_eq!(bench.query(&keys), Ok(vec![None, Some(Verdict::Done)]));
    assert_eq!(bench.simulator.applied(&keys[1]).unwrap(), 1);
}
