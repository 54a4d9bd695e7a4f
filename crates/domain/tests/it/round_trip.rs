//! Aggregates survive the round trip through JSON, and faulty ones are refused.

use kopeck_domain::Kopecks;
use kopeck_domain::card::{Card, CardFields, CardLink, CardStatus, CardType};
use kopeck_domain::card_batch::{BatchItem, CardBatch, ItemState};
use kopeck_domain::card_number::CardNumber;
use kopeck_domain::category::{Category, CategoryName};
use kopeck_domain::closing::{Closing, ClosingTerms};
use kopeck_domain::employee::{Employee, NewEmployee};
use kopeck_domain::ids::{
    CardId, ClosingId, EmployeeId, LimitChangeId, OrderId, ReplenishmentId, WithdrawalId,
};
use kopeck_domain::ledger::{Balances, Movement, MovementKind, Reference, TransferReference};
use kopeck_domain::limit::Limit;
use kopeck_domain::limit_change::LimitChange;
use kopeck_domain::order::{LineDetails, Order, OrderKind, OrderLine};
use kopeck_domain::person::{CustomId, DeliveryAddress, PersonName, Phone, Recipient};
use kopeck_domain::replenishment::{Replenishment, ReplenishmentItem, TopUpRefusal};
use kopeck_domain::transaction::{Transaction, TransactionType};
use kopeck_domain::withdrawal::Withdrawal;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use time::OffsetDateTime;
use time::macros::{date, datetime};
use uuid::Uuid;

const NOW: OffsetDateTime = datetime!(2026-03-16 12:00:00.123456 UTC);
const NIL: &str = "00000000-0000-0000-0000-000000000000";

/// Writes the value, reads it again and returns its JSON.
fn round_trip<T>(value: &T) -> Value
where
    T: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug,
{
    let json = serde_json::to_value(value).unwrap();
    assert_eq!(serde_json::from_value::<T>(json.clone()).unwrap(), *value);
    json
}

/// Reads the JSON with another value in one place; returns the error.
fn error_with<T: DeserializeOwned>(json: &Value, field: &str, value: Value) -> String {
    let mut json = json.clone();
    json.as_object_mut().unwrap().insert(field.to_owned(), value);
    serde_json::from_value::<T>(json).map(drop).unwrap_err().to_string()
}

fn number() -> CardNumber {
    CardNumber::parse("4006381333931").unwrap()
}

#[test]
fn employees_and_categories() {
    let fields = NewEmployee {
        surname: Some(PersonName::parse("Ёжиков").unwrap()),
        phone: Some(Phone::parse("0031234567").unwrap()),
        ..NewEmployee::default()
    };
    let custom_id = CustomId::parse("E-1").unwrap();
    let json = round_trip(&Employee::add(EmployeeId::new(Uuid::nil()), custom_id, fields, NOW));
    assert_eq!(
        (&json["phone"], &json["created_at"]),
        (&json!("0031234567"), &json!("2026-03-16T12:00:00.123456Z"))
    );
    assert!(error_with::<Employee>(&json, "phone", json!("12")).contains("10 digits"));
    assert!(error_with::<Employee>(&json, "status", json!("GONE")).contains("must be one of"));

    let category = Category { id: Uuid::nil().into(), name: CategoryName::parse("Office").unwrap() };
    assert_eq!(round_trip(&category), json!({"id": NIL, "name": "Office"}));
}

#[test]
fn a_card_has_a_number_of_its_type() {
    let json = round_trip(&Card::from_stored(CardFields {
        id: CardId::new(Uuid::nil()),
        number: number(),
        kind: CardType::Kkl,
        order: OrderId::new(Uuid::nil()),
        valid_until: date!(2029 - 11 - 30),
        link: Some(CardLink { employee: Uuid::nil().into(), status: CardStatus::Main }),
        block: kopeck_domain::card::PartnerBlock::default(),
    }));
    assert_eq!(json["valid_until"], "2029-11-30");
    assert!(error_with::<Card>(&json, "kind", json!("MLZ")).contains("form of its type"));
    assert!(error_with::<Card>(&json, "number", json!("4006381333932")).contains("check digit"));
}

#[test]
fn an_order_has_cards_of_its_kind_and_a_cost() {
    let amount = Kopecks::new(5_000);
    let virtual_cards =
        OrderLine { card_type: CardType::Mlz, count: 2, details: LineDetails::Virtual { amount } };
    let plastic_cards = OrderLine {
        card_type: CardType::Mp4,
        count: 1,
        details: LineDetails::Plastic {
            address: DeliveryAddress::parse("Tula").unwrap(),
            recipient: Recipient::parse("Anna").unwrap(),
            phone: Phone::parse("9031234567").unwrap(),
        },
    };
    assert_eq!(
        round_trip(&virtual_cards),
        json!({"card_type": "MLZ", "count": 2, "details": {"virtual": {"amount": 5_000}}})
    );
    round_trip(&plastic_cards);

    let place = |kind, line| Order::place(OrderId::new(Uuid::nil()), kind, &[line], NOW).unwrap();
    let json = round_trip(&place(OrderKind::Virtual, virtual_cards));
    assert_eq!((&json["cost"], &json["state"]), (&json!(10_000), &json!("NEW")));
    assert!(error_with::<Order>(&json, "cards", json!(0)).contains("1 to 100000 cards"));
    assert!(error_with::<Order>(&json, "cost", json!(-1)).contains("cost"));
    assert!(error_with::<Order>(&json, "card_type", json!("KKL")).contains("must be MLZ"));
    let json = round_trip(&place(OrderKind::Plastic, plastic_cards));
    assert!(error_with::<Order>(&json, "cost", json!(1)).contains("cost"));
}

#[test]
fn a_card_batch_has_at_least_one_card() {
    let batch: Replenishment =
        CardBatch::new(ReplenishmentId::new(Uuid::nil()), 3, Kopecks::new(1_000), NOW).start(NOW).unwrap();
    let json = round_trip(&batch);
    assert_eq!((&json["terms"], &json["state"]), (&json!(1_000), &json!("IN_PROCESS")));
    for cards in [0, 10_001] {
        assert!(error_with::<Replenishment>(&json, "cards", json!(cards)).contains("1 to 10000 cards"));
    }
    let limits: LimitChange = CardBatch::new(LimitChangeId::new(Uuid::nil()), 1, Limit::default(), NOW);
    round_trip(&limits);
    let closing: Closing =
        CardBatch::new(ClosingId::new(Uuid::nil()), 1, ClosingTerms { is_urgent: true }, NOW);
    assert_eq!(round_trip(&closing)["terms"], json!({"is_urgent": true}));
    let withdrawal: Withdrawal = CardBatch::new(WithdrawalId::new(Uuid::nil()), 1, None, NOW);
    assert_eq!(round_trip(&withdrawal)["returned"], json!(0));

    for (state, json) in [
        (ItemState::Open, json!("open")),
        (ItemState::Done, json!("done")),
        (ItemState::Returned(Kopecks::new(5)), json!({"returned": 5})),
        (ItemState::Refused(TopUpRefusal::Blocked), json!({"refused": "BLOCKED"})),
    ] {
        let item: ReplenishmentItem = BatchItem {
            ordinal: 0,
            card: Uuid::nil().into(),
            number: number(),
            terms: Kopecks::new(1),
            state,
        };
        assert_eq!(round_trip(&item)["state"], json);
    }
}

#[test]
fn money_that_moves_is_above_zero() {
    let deposit = Reference::Transfer(TransferReference::parse("invoice-17").unwrap());
    let movement = Movement::new(MovementKind::Deposit, deposit, Kopecks::new(100)).unwrap();
    let json = round_trip(&movement);
    assert_eq!(json, json!({"kind": "DEPOSIT", "reference": {"transfer": "invoice-17"}, "amount": 100}));
    assert!(error_with::<Movement>(&json, "amount", json!(0)).contains("above zero"));

    let transaction = Transaction {
        id: 7,
        executed_at: NOW,
        kind: TransactionType::Payment,
        amount: Kopecks::new(1),
        place: Some("Cafe".to_owned()),
        mcc: None,
        merchant_id: None,
    };
    let json = round_trip(&transaction);
    assert!(error_with::<Transaction>(&json, "amount", json!(0)).contains("above zero"));
}

#[test]
fn balances_add_up_to_zero() {
    let deposit = Reference::Transfer(TransferReference::parse("invoice-17").unwrap());
    let movement = Movement::new(MovementKind::Deposit, deposit, Kopecks::new(100)).unwrap();
    let json = round_trip(&Balances::default().after(&movement).unwrap());
    assert_eq!(json, json!({"deposited": -100, "available": 100, "held": 0, "spent": 0}));
    assert!(error_with::<Balances>(&json, "held", json!(1)).contains("add up to zero"));
    let json = json!({"deposited": 0, "available": 1, "held": -1, "spent": 0});
    assert!(serde_json::from_value::<Balances>(json).unwrap_err().to_string().contains("below zero"));
}
