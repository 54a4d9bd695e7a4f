//! A simulator that is ruled across the network.

use kopeck_adapter_bank_http::ControlError;
use kopeck_bank_protocol::simulator::{
    AdvanceRequest, BehaviourDto, IdempotencyKeyDto, PaymentRefusalDto, PurchaseRequest, PurchaseResponse,
    RefundRequest,
};
use kopeck_domain::Kopecks;
use kopeck_domain::card::{CardType, Standing};
use kopeck_domain::card_number::CardNumber;
use kopeck_port_bank::{
    BankError, BankGateway as _, BankKey, Instruction, IssuedCard, OrderedCards, Submission, Verdict,
};
use kopeck_port_system::Clock as _;

use crate::bench::{Bench, START};

fn virtual_card(bench: &Bench, key: &str) -> IssuedCard {
    let first_top_up = Some(Kopecks::new(10_000));
    let line = OrderedCards { kind: CardType::Mlz, count: 1, first_top_up, delivery: None };
    let order = Submission { key: BankKey::new(key), instruction: Instruction::IssueCards(vec![line]) };
    assert_eq!(bench.submit(&[order]), [Ok(Verdict::Done)]);
    bench.issued_cards(&BankKey::new(key), 0, 1).unwrap().remove(0)
}

fn once(key: &str) -> IdempotencyKeyDto {
    IdempotencyKeyDto { key: key.to_owned(), since: START }
}

fn purchase(amount: i64, key: Option<&str>) -> PurchaseRequest {
    PurchaseRequest {
        amount: Kopecks::new(amount),
        place: Some("Пекарня".to_owned()),
        mcc: Some("5462".to_owned()),
        merchant_id: None,
        at: None,
        once: key.map(once),
    }
}

#[test]
fn money_is_spent_and_given_back_once_under_a_key() {
    let bench = Bench::new();
    let issued = virtual_card(&bench, "o");
    let card = issued.number;
    let control = &bench.control;
    assert_eq!(
        control.purchase(card, &purchase(1, None)),
        Ok(PurchaseResponse::Refused { reason: PaymentRefusalDto::NotActivated })
    );
    assert_eq!(control.activate(card, Some("wrong")), Err(ControlError::WrongCode));
    control.activate(card, issued.activation_code.as_deref()).unwrap();
    let bought = control.purchase(card, &purchase(6_000, Some("p"))).unwrap();
    assert_eq!(control.purchase(card, &purchase(6_000, Some("p"))), Ok(bought));
    let PurchaseResponse::Approved { transaction: payment } = bought else { panic!("{bought:?}") };
    let refund = |amount, key| RefundRequest { payment, amount: Kopecks::new(amount), once: Some(once(key)) };
    assert_eq!(
        control.refund(card, &refund(6_001, "r")),
        Err(ControlError::OverPayment(Kopecks::new(6_000)))
    );
    assert_eq!(control.refund(card, &refund(1_000, "r")), control.refund(card, &refund(1_000, "r")));
    let unknown = RefundRequest { payment: 99, ..refund(1, "s") };
    assert_eq!(control.refund(card, &unknown), Err(ControlError::UnknownPayment));
    assert_eq!(bench.card(card).unwrap().unwrap().balance.get(), 5_000);
    let seen = bench.transactions(card, 0, 10).unwrap();
    assert_eq!(seen.iter().map(|made| made.amount.get()).collect::<Vec<_>>(), [10_000, 6_000, 1_000]);
    assert_eq!((seen[1].place.as_deref(), seen[1].mcc.as_deref()), (Some("Пекарня"), Some("5462")));
}

#[test]
fn cards_are_blocked_and_expire() {
    let bench = Bench::new();
    let card = virtual_card(&bench, "o").number;
    bench.control.block(card).unwrap();
    assert_eq!(bench.card(card).unwrap().unwrap().standing, Standing::Blocked);
    bench.control.unblock(card).unwrap();
    bench.control.expire(card).unwrap();
    let stands = bench.card(card).unwrap().unwrap();
    assert_eq!((stands.standing, stands.valid_until.to_string()), (Standing::Open, "2026-03-01".to_owned()));
    let unknown = CardNumber::parse("9999999999").unwrap();
    assert_eq!(bench.control.block(unknown), Err(ControlError::UnknownCard));
    assert_eq!(bench.control.purchase(unknown, &purchase(1, None)), Err(ControlError::UnknownCard));
}

#[test]
fn the_clock_moves_and_codes_grow_old() {
    let bench = Bench::new();
    let issued = virtual_card(&bench, "o");
    assert_eq!(bench.control.clock().unwrap().offset_micros, 0);
    let request = AdvanceRequest { seconds: 100 * 24 * 3_600, once: once("a") };
    assert_eq!(bench.control.advance(&request).unwrap().offset_micros, 8_640_000_000_000);
    assert_eq!(bench.control.clock().unwrap().offset_micros, 8_640_000_000_000);
    assert_eq!(bench.clock.now(), START + time::Duration::days(100));
    let code = issued.activation_code.as_deref();
    assert_eq!(bench.control.activate(issued.number, code), Err(ControlError::CodeExpired));
    let too_far = AdvanceRequest { seconds: u64::MAX, once: once("b") };
    assert_eq!(bench.control.advance(&too_far), Err(ControlError::ClockTooFar));
}

/// The same as in process: what fails has no effect, what is lost has one.
#[test]
fn misbehaviour_shows_across_the_network() {
    let bench = Bench::new();
    let card = virtual_card(&bench, "o").number;
    bench.control.activate(card, None).unwrap();
    let top_up = |key: &str| Submission {
        key: BankKey::new(key),
        instruction: Instruction::TopUp { card, amount: Kopecks::new(1) },
    };
    let behave = |behaviour: BehaviourDto| bench.control.set_behaviour(&behaviour).unwrap();
    behave(BehaviourDto { down: true, ..BehaviourDto::default() });
    assert!(matches!(bench.submit(&[top_up("1")])[..], [Err(BankError::Unavailable(_))]));
    assert!(bench.card(card).is_err());
    behave(BehaviourDto { lose_answer_rate: 1.0, ..BehaviourDto::default() });
    assert!(matches!(bench.submit(&[top_up("2")])[..], [Err(BankError::Unknown(_))]));
    behave(BehaviourDto::default());
    let keys = ["1", "2"].map(BankKey::new);
    assert_eq!(bench.query(&keys), Ok(vec![None, Some(Verdict::Done)]));
    assert_eq!(bench.simulator.applied(&keys[1]).unwrap(), 1);
}
