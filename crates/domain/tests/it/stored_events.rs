//! The stored form of events: a store keeps it for weeks, so it changes by a migration alone.

use kopeck_domain::Kopecks;
use kopeck_domain::card::{BankStatus, CardStatus, CardType};
use kopeck_domain::card_batch::BatchState;
use kopeck_domain::card_number::CardNumber;
use kopeck_domain::event::{
    BalanceLow, CardAtBank, CardDeclined, CardHolder, CardIssued, CardTransaction, DeclinedPurchase,
    Deposited, DisableReason, EmployeeChange, EmployeeErased, EventData, EventType, Ping, ProgrammeDue,
    RequestStatus, ReturnOrigin, Returned, Transfer, WebhookDisabled,
};
use kopeck_domain::ids::{
    CardId, ClosingId, EmployeeId, LimitChangeId, OrderId, ProgrammeId, ReplenishmentId, RunId, WebhookId,
    WithdrawalId,
};
use kopeck_domain::ledger::TransferReference;
use kopeck_domain::order::OrderState;
use kopeck_domain::payment::PaymentRefusal;
use kopeck_domain::person::CustomId;
use kopeck_domain::request::RequestReference;
use kopeck_domain::run::{RunKind, RunState, RunStatus};
use kopeck_domain::transaction::{Transaction, TransactionType};
use serde_json::{Value, json};
use time::macros::{date, datetime};
use uuid::Uuid;

const ID: Uuid = Uuid::nil();

/// An event of each type, with its stored data.
fn samples() -> Vec<(EventData, Value)> {
    let mut samples = partners_samples();
    // Behind the cards' own, as they are declared.
    samples.splice(11..11, bank_samples());
    samples
}

/// Events of what happens at the bank.
fn bank_samples() -> Vec<(EventData, Value)> {
    let at_bank = || CardAtBank {
        card: CardId::new(ID),
        employee: Some(EmployeeId::new(ID)),
        bank_status: BankStatus::BlockedByBank,
    };
    let stood = || json!({"card": ID, "employee": ID, "bank_status": "BLOCKED_BY_BANK"});
    let at = datetime!(2026-01-31 09:30 UTC);
    let transaction = Transaction {
        id: 7,
        executed_at: at,
        kind: TransactionType::Payment,
        amount: Kopecks::new(300),
        place: Some("Bakery".to_owned()),
        mcc: Some("5462".to_owned()),
        merchant_id: None,
    };
    let moved = CardTransaction { card: CardId::new(ID), employee: Some(EmployeeId::new(ID)), transaction };
    let purchase = DeclinedPurchase {
        at,
        amount: Kopecks::new(300),
        reason: Some(PaymentRefusal::InsufficientBalance),
        place: None,
        mcc: None,
        merchant_id: Some("M-1".to_owned()),
    };
    vec![
        (EventData::CardBankStatus(at_bank()), stood()),
        (EventData::CardActivated(at_bank()), stood()),
        (EventData::CardExpiring(at_bank()), stood()),
        (EventData::CardExpired(at_bank()), stood()),
        (
            EventData::CardTransaction(moved),
            json!({"card": ID, "employee": ID, "transaction": {"id": 7, "executed_at": "2026-01-31T09:30:00Z",
                "kind": "PAYMENT", "amount": 300, "place": "Bakery", "mcc": "5462", "merchant_id": null}}),
        ),
        (
            EventData::CardDeclined(CardDeclined { card: CardId::new(ID), employee: None, purchase }),
            json!({"card": ID, "employee": null, "purchase": {"at": "2026-01-31T09:30:00Z", "amount": 300,
                "reason": "insufficient_funds", "place": null, "mcc": null, "merchant_id": "M-1"}}),
        ),
    ]
}

/// Events of what the partner or the service does.
#[expect(clippy::too_many_lines, reason = "a few lines a type of event")]
fn partners_samples() -> Vec<(EventData, Value)> {
    let holder = || CardHolder {
        card: CardId::new(ID),
        employee: EmployeeId::new(ID),
        status: CardStatus::Main,
        bank_status: BankStatus::Blocking,
    };
    let held = || json!({"card": ID, "employee": ID, "status": "MAIN", "bank_status": "BLOCKING"});
    let employee =
        || EmployeeChange { employee: EmployeeId::new(ID), custom_id: Some(CustomId::parse("E-1").unwrap()) };
    let changed = || json!({"employee": ID, "custom_id": "E-1"});
    let issued = CardIssued {
        card: CardId::new(ID),
        number: CardNumber::parse("4006381333931").unwrap(),
        kind: CardType::Mlz,
        order: OrderId::new(ID),
        valid_until: date!(2029 - 01 - 31),
        bank_status: BankStatus::Open,
    };
    let reference = || TransferReference::parse("R-1").unwrap();
    let deposited = Deposited { amount: Kopecks::new(5_000), reference: Some(reference()) };
    let transfer = || Transfer { amount: Kopecks::new(5_000), reference: reference() };
    vec![
        (
            EventData::OrderStatus(RequestStatus {
                id: OrderId::new(ID),
                state: OrderState::InProcess,
                reference: None,
            }),
            json!({"id": ID, "state": "IN_PROCESS"}),
        ),
        (
            EventData::ReplenishmentStatus(RequestStatus {
                id: ReplenishmentId::new(ID),
                state: BatchState::New,
                reference: Some(RequestReference::parse("PO-7").unwrap()),
            }),
            json!({"id": ID, "state": "NEW", "reference": "PO-7"}),
        ),
        (
            EventData::LimitsStatus(RequestStatus {
                id: LimitChangeId::new(ID),
                state: BatchState::PartSuccess,
                reference: None,
            }),
            json!({"id": ID, "state": "PART_SUCCESS"}),
        ),
        (
            EventData::ClosingStatus(RequestStatus {
                id: ClosingId::new(ID),
                state: BatchState::New,
                reference: None,
            }),
            json!({"id": ID, "state": "NEW"}),
        ),
        (
            EventData::WithdrawalStatus(RequestStatus {
                id: WithdrawalId::new(ID),
                state: BatchState::Success,
                reference: None,
            }),
            json!({"id": ID, "state": "SUCCESS"}),
        ),
        (
            EventData::RunStatus(RunStatus {
                id: RunId::new(ID),
                kind: RunKind::TopUp,
                state: RunState::WaitingApproval,
                reference: None,
            }),
            json!({"id": ID, "kind": "TOP_UP", "state": "WAITING_APPROVAL"}),
        ),
        (
            EventData::ProgrammeDue(ProgrammeDue {
                programme: ProgrammeId::new(ID),
                period: "2026-W49".parse().unwrap(),
                at: datetime!(2026-01-31 09:30 UTC),
                needed: Kopecks::new(7),
                available: Kopecks::new(5),
                short: Kopecks::new(2),
            }),
            json!({
                "programme": ID, "period": "2026-W49", "at": "2026-01-31T09:30:00Z", "needed": 7, "available": 5,
                "short": 2,
            }),
        ),
        (
            EventData::CardIssued(issued),
            json!({"card": ID, "number": "4006381333931", "kind": "MLZ", "order": ID,
                "valid_until": "2029-01-31", "bank_status": "OPEN"}),
        ),
        (EventData::CardLinked(holder()), held()),
        (EventData::CardUnlinked(holder()), held()),
        (EventData::CardStatus(holder()), held()),
        (EventData::BalanceDeposited(deposited), json!({"amount": 5_000, "reference": "R-1"})),
        (
            EventData::BalanceReturned(Returned {
                amount: Kopecks::new(700),
                by: ReturnOrigin::Closing(ClosingId::new(ID)),
                reference: Some(RequestReference::parse("PO-7").unwrap()),
            }),
            json!({"amount": 700, "by": {"closing": ID}, "reference": "PO-7"}),
        ),
        (EventData::BalanceWithdrawn(transfer()), json!({"amount": 5_000, "reference": "R-1"})),
        (EventData::BalanceCorrected(transfer()), json!({"amount": 5_000, "reference": "R-1"})),
        (
            EventData::BalanceLow(BalanceLow {
                available: Kopecks::new(4_000),
                threshold: Kopecks::new(5_000),
            }),
            json!({"available": 4_000, "threshold": 5_000}),
        ),
        (EventData::EmployeeCreated(employee()), changed()),
        (EventData::EmployeeUpdated(employee()), changed()),
        (
            EventData::EmployeeErased(EmployeeErased { employee: EmployeeId::new(ID) }),
            json!({"employee": ID}),
        ),
        (
            EventData::WebhookDisabled(WebhookDisabled {
                webhook: WebhookId::new(ID),
                reason: DisableReason::Gone,
            }),
            json!({"webhook": ID, "reason": "gone"}),
        ),
        (EventData::Ping(Ping {}), json!({})),
    ]
}

#[test]
fn events_of_every_type_are_read_as_they_were_stored() {
    for (event, data) in samples() {
        let stored = json!({"type": event.event_type().as_str(), "data": data});
        assert_eq!(serde_json::to_value(&event).unwrap(), stored);
        assert_eq!(serde_json::from_value::<EventData>(stored).unwrap(), event);
    }
    let types: Vec<EventType> = samples().iter().map(|(event, _)| event.event_type()).collect();
    assert_eq!(types, EventType::ALL);
}

#[test]
fn the_name_of_an_employee_can_be_taken_out_of_every_event_that_holds_it() {
    for (event, data) in samples() {
        let holds = data.to_string().contains("E-1");
        assert_eq!(event.names().is_some(), holds, "{event:?}");
        let erased = event.clone().without_name();
        assert_eq!(erased.names(), None);
        assert!(!serde_json::to_string(&erased).unwrap().contains("E-1"), "{erased:?}");
        assert_eq!(erased == event, !holds, "nothing else of it changes");
    }
}
