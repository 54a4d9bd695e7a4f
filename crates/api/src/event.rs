//! Events: what happened to a partner's data.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use time::{Date, OffsetDateTime, PrimitiveDateTime};
use uuid::Uuid;

use crate::card::{BankStatus, CardStatus, CardType, Transaction};
use crate::employee::EmployeeErased;
use crate::open_enum::open_enum;
use crate::programme::ProgrammeDueEvent;
use crate::request::RequestState;
use crate::run::RunEvent;
use crate::shape::{HasShape, OrAbsent, Shape, body};
use crate::wire;

/// A type of event, for documents.
#[derive(Debug, Clone, Copy)]
pub struct EventDescription {
    /// Its name.
    pub event_type: &'static str,
    /// The description.
    pub about: &'static str,
    /// The form of its data.
    pub data: Shape,
}

/// Declares the types of events: each with its name, what it tells, and what happened.
macro_rules! events {
    ($($variant:ident($data:ident) = $name:literal, $about:literal;)*) => {
        open_enum! {
            /// The type of an event. A newer service may have further ones.
            pub enum EventType as "EventType", "The type of an event: the description of Events has each type with its data." {
                $(#[doc = $about] $variant = $name,)*
            }
        }

        /// The data of an event.
        #[derive(Debug, Clone, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum EventData {
            $(#[doc = $about] $variant($data),)*
            /// An event of a type that this version does not know.
            Unknown {
                /// Its type.
                event_type: String,
                /// Its data.
                data: Value,
            },
        }

        /// Each type of event, with what happened and the form of its data.
        pub const EVENT_DESCRIPTIONS: &[EventDescription] =
            &[$(EventDescription { event_type: $name, about: $about, data: $data::SHAPE }),*];

        impl HasShape for EventData {
            const SHAPE: Shape = Shape::AnyOf(&[$($data::SHAPE),*]);
        }

        #[cfg(feature = "domain")]
        impl EventData {
            /// The data of an event of the domain. A type that one of the two lists lacks does not compile.
            pub(crate) fn of(data: &kopeck_domain::event::EventData, zone: kopeck_domain::calendar::Zone) -> Self {
                match data {
                    $(kopeck_domain::event::EventData::$variant(data) => Self::$variant($data::of(data, zone)),)*
                }
            }
        }

        impl EventData {
            /// The type of the event.
            #[must_use]
            pub fn event_type(&self) -> EventType {
                match self {
                    $(Self::$variant(_) => EventType::$variant,)*
                    Self::Unknown { event_type, .. } => EventType::Unknown(event_type.clone()),
                }
            }

            fn from_parts(event_type: EventType, data: Value) -> serde_json::Result<Self> {
                Ok(match event_type {
                    $(EventType::$variant => Self::$variant(serde_json::from_value(data)?),)*
                    EventType::Unknown(event_type) => Self::Unknown { event_type, data },
                })
            }

            fn to_value(&self) -> serde_json::Result<Value> {
                match self {
                    $(Self::$variant(data) => serde_json::to_value(data),)*
                    Self::Unknown { data, .. } => Ok(data.clone()),
                }
            }
        }
    };
}

events! {
    OrderStatus(OrderEvent) = "order.status", "An order was created, or reached another state.";
    ReplenishmentStatus(ReplenishmentEvent) = "replenishment.status",
        "A top-up request was created, or reached another state.";
    LimitsStatus(LimitsEvent) = "limits.status", "A change of limits was created, or reached another state.";
    ClosingStatus(ClosingEvent) = "closing.status", "A request to close cards was created, or reached another state.";
    WithdrawalStatus(WithdrawalEvent) = "withdrawal.status",
        "A request to take money from cards was created, or reached another state.";
    RunStatus(RunEvent) = "run.status", "A run was created, or reached another state.";
    ProgrammeDue(ProgrammeDueEvent) = "programme.due",
        "A programme pays within 72 hours, or the balance is short on the day.";
    CardIssued(CardIssuedEvent) = "card.issued", "The bank issued a card for an order.";
    CardLinked(CardLinkEvent) = "card.linked", "A card was linked to an employee.";
    CardUnlinked(CardLinkEvent) = "card.unlinked", "A card was unlinked from its employee.";
    CardStatus(CardLinkEvent) = "card.status", "The status of a linked card was switched.";
    CardBankStatus(BankCardEvent) = "card.bank_status", "A card was blocked, unblocked or closed at the bank.";
    CardActivated(BankCardEvent) = "card.activated", "A virtual card was activated.";
    CardExpiring(BankCardEvent) = "card.expiring", "A card expires within 30 days.";
    CardExpired(BankCardEvent) = "card.expired", "The last day of a card is over.";
    CardTransaction(CardTransactionEvent) = "card.transaction", "Money moved on a card.";
    CardDeclined(CardDeclinedEvent) = "card.declined", "The bank declined a purchase.";
    BalanceDeposited(DepositEvent) = "balance.deposited", "Money arrived on your balance.";
    BalanceReturned(ReturnEvent) = "balance.returned", "Money came back from a card to your balance.";
    BalanceWithdrawn(TransferEvent) = "balance.withdrawn", "Money was paid out to you from your balance.";
    BalanceCorrected(TransferEvent) = "balance.corrected", "A deposit was reversed.";
    BalanceLow(BalanceLowEvent) = "balance.low", "What you can spend fell below your threshold.";
    EmployeeCreated(EmployeeEvent) = "employee.created", "An employee was added.";
    EmployeeUpdated(EmployeeEvent) = "employee.updated", "An employee's fields were changed.";
    EmployeeErased(EmployeeErased) = "employee.erased", "An employee's personal data was erased.";
    WebhookDisabled(WebhookDisabledEvent) = "webhook.disabled", "The service disabled a webhook.";
    Ping(PingEvent) = "ping", "A test event, which you asked for.";
}

/// An event. Its identifier is the same if it is sent again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "EventBody", into = "EventBody")]
pub struct Event {
    /// Its identifier.
    pub id: Uuid,
    /// Its number in your feed. An event that becomes visible later has a greater one.
    pub seq: i64,
    /// When it happened, UTC, to the second.
    pub created_at: OffsetDateTime,
    /// The change.
    pub data: EventData,
}

impl HasShape for Event {
    const SHAPE: Shape = EventBody::SHAPE;
}

body! {
    /// An event. Its identifier is the same if it is sent again.
    pub struct EventBody as "Event" {
        /// Its identifier.
        id: Uuid,
        /// Its number in your feed. An event that becomes visible later has a greater one.
        seq: i64,
        /// The type of the event. Later versions may add types: ignore those that you do not know.
        event_type: EventType = "type",
        /// When it happened, UTC.
        #[serde(with = "time::serde::rfc3339")]
        created_at: OffsetDateTime,
        /// The data of the event; its fields depend on the type.
        data: Value as EventData,
    }
}

impl TryFrom<EventBody> for Event {
    type Error = serde_json::Error;

    fn try_from(body: EventBody) -> Result<Self, Self::Error> {
        let EventBody { id, seq, event_type, created_at, data } = body;
        Ok(Self { id, seq, created_at, data: EventData::from_parts(event_type, data)? })
    }
}

impl From<Event> for EventBody {
    fn from(event: Event) -> Self {
        let Event { id, seq, created_at, data } = event;
        // The data consist of texts, numbers and lists, which are JSON.
        let value = data.to_value().unwrap_or(Value::Null);
        Self { id, seq, event_type: data.event_type(), created_at, data: value }
    }
}

body! {
    /// A part of the feed.
    pub struct Feed as "Feed" {
        /// The events, in the order of their numbers.
        data: Vec<Event>,
        /// The `after` of the next request.
        next: i64,
        /// The least number that is kept.
        oldest: i64,
        /// The greatest number so far; one less than `oldest` if there is no event. A service that does not send it is
        /// an older one.
        #[serde(default)]
        newest: Option<i64>,
    }
}

body! {
    /// The state of an order.
    pub struct OrderEvent as "OrderEvent" {
        /// The order.
        order_id: Uuid,
        /// Its new state.
        state: RequestState = "status",
        /// Your own name for it; absent if you gave none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reference: Option<String> as OrAbsent<String>,
    }
}

body! {
    /// The state of a replenishment.
    pub struct ReplenishmentEvent as "ReplenishmentEvent" {
        /// The top-up request.
        replenishment_id: Uuid,
        /// Its new state.
        state: RequestState = "status",
        /// Your own name for it; absent if you gave none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reference: Option<String> as OrAbsent<String>,
    }
}

body! {
    /// The state of a limit change.
    pub struct LimitsEvent as "LimitsEvent" {
        /// The change of limits.
        set_limits_cards_id: Uuid,
        /// Its new state.
        state: RequestState = "status",
        /// Your own name for it; absent if you gave none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reference: Option<String> as OrAbsent<String>,
    }
}

body! {
    /// The state of a closing.
    pub struct ClosingEvent as "ClosingEvent" {
        /// The closing.
        closing_id: Uuid,
        /// Its new state.
        state: RequestState = "status",
        /// Your own name for it; absent if you gave none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reference: Option<String> as OrAbsent<String>,
    }
}

body! {
    /// The state of a withdrawal.
    pub struct WithdrawalEvent as "WithdrawalEvent" {
        /// The withdrawal.
        withdrawal_id: Uuid,
        /// Its new state.
        state: RequestState = "status",
        /// Your own name for it; absent if you gave none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reference: Option<String> as OrAbsent<String>,
    }
}

body! {
    /// A card that the bank issued.
    pub struct CardIssuedEvent as "CardIssuedEvent" {
        /// Our identifier.
        id_card: Uuid,
        /// The bank's number.
        custom_id_card: String,
        /// Its type.
        type_card: CardType,
        /// The order it was issued for.
        order_id: Uuid,
        /// Its last day.
        #[serde(with = "wire::text")]
        date_until: Date,
        /// Whether it can pay now.
        bank_status: BankStatus,
    }
}

body! {
    /// A card and the employee to whom it is or was linked.
    pub struct CardLinkEvent as "CardLinkEvent" {
        /// The card.
        id_card: Uuid,
        /// The employee.
        id_employee: Uuid,
        /// The status of the card; if it was unlinked, the status before.
        status_card: CardStatus,
        /// Whether it can pay now.
        bank_status: BankStatus,
    }
}

body! {
    /// A card as the bank has it.
    pub struct BankCardEvent as "BankCardEvent" {
        /// The card.
        id_card: Uuid,
        /// The employee to whom it is linked, if any.
        id_employee: Option<Uuid>,
        /// Whether it can pay now.
        bank_status: BankStatus,
    }
}

body! {
    /// Money that moved on a card.
    pub struct CardTransactionEvent as "CardTransactionEvent" {
        /// The card.
        id_card: Uuid,
        /// The employee to whom it was linked at that time, if any.
        id_employee: Option<Uuid>,
        /// The transaction.
        transaction: Transaction,
    }
}

body! {
    /// A purchase that the bank declined.
    pub struct CardDeclinedEvent as "CardDeclinedEvent" {
        /// The card.
        id_card: Uuid,
        /// The employee to whom it was linked at that time, if any.
        id_employee: Option<Uuid>,
        /// How much it was about, kopecks.
        amount: i64,
        /// Why, for people.
        reason: String,
        /// Why, for programs: a code as that of a forecast; `null` for a reason of the bank's own.
        code: Option<String>,
        /// The merchant's outlet, where there is one.
        place: Option<String>,
        /// The merchant's category code, where there is one.
        mcc: Option<String>,
        /// The merchant's identifier, where there is one.
        merchant_id: Option<String>,
        /// When it was tried.
        #[serde(with = "wire::text")]
        date: PrimitiveDateTime,
    }
}

body! {
    /// Money that arrived.
    pub struct DepositEvent as "DepositEvent" {
        /// How much, kopecks.
        amount: i64,
        /// Under which reference; `null` in the sandbox, and for the deposit with which a partner begins.
        reference: Option<String>,
    }
}

body! {
    /// Money that was returned from one card. It has the identifier of the closing or withdrawal.
    pub struct ReturnEvent as "ReturnEvent" {
        /// How much, kopecks.
        amount: i64,
        /// Your reference of the request; `null` if it has none.
        reference: Option<String>,
        /// The closing, if it was one; else `null`.
        closing_id: Option<Uuid>,
        /// The withdrawal, if it was one; else `null`.
        withdrawal_id: Option<Uuid>,
    }
}

body! {
    /// The operator debited your balance: a payout to you, or a reversed deposit.
    pub struct TransferEvent as "TransferEvent" {
        /// How much, kopecks, above zero.
        amount: i64,
        /// The reference of the payment, or of the deposit that was reversed.
        reference: String,
    }
}

body! {
    /// The available amount fell below your threshold, which the operator sets on your request. The event
    /// is not sent again until it has been above the threshold.
    pub struct BalanceLowEvent as "BalanceLowEvent" {
        /// The available amount, kopecks.
        available: i64,
        /// The threshold, kopecks.
        threshold: i64,
    }
}

body! {
    /// An employee who was added or changed.
    pub struct EmployeeEvent as "EmployeeEvent" {
        /// Our identifier.
        id_employee: Uuid,
        /// Your identifier, as it was then; `null` once the employee was erased.
        custom_id: Option<String>,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use time::macros::datetime;

    use super::*;

    fn told(event_type: &str, data: &Value) -> Value {
        json!({"id": Uuid::nil(), "seq": 7, "type": event_type, "createdAt": "2026-01-31T09:30:00Z", "data": data})
    }

    #[test]
    fn a_known_event_is_typed() {
        let text = told("balance.deposited", &json!({"amount": 50, "reference": null}));
        let event: Event = serde_json::from_value(text.clone()).unwrap();
        let data = EventData::BalanceDeposited(DepositEvent { amount: 50, reference: None });
        let at = datetime!(2026-01-31 09:30 UTC);
        assert_eq!(event, Event { id: Uuid::nil(), seq: 7, created_at: at, data });
        assert_eq!(serde_json::to_value(&event).unwrap(), text);
    }

    #[test]
    fn an_event_of_a_newer_service_is_kept_as_it_is() {
        let text = told("card.melted", &json!({"degrees": [961.8]}));
        let event: Event = serde_json::from_value(text.clone()).unwrap();
        assert_eq!(event.data.event_type(), EventType::Unknown("card.melted".to_owned()));
        assert_eq!(serde_json::to_value(&event).unwrap(), text);
    }

    #[test]
    fn a_known_event_without_its_fields_is_faulty() {
        assert!(serde_json::from_value::<Event>(told("order.status", &json!({}))).is_err());
    }
}

body! {
    /// A webhook that the service disabled.
    pub struct WebhookDisabledEvent as "WebhookDisabledEvent" {
        /// The webhook.
        id_webhook: Uuid,
        /// Why: `gone` (your endpoint responded 410), `failing` (no delivery succeeded for three days),
        /// `operator`.
        reason: String,
    }
}

body! {
    /// A test event.
    pub struct PingEvent as "PingEvent" {}
}
