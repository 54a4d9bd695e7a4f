//! Events: what happened to a partner's data, as the feed reports it.
//!
//! An event holds identifiers, states and amounts. It never holds a name, a phone number, an address or an activation code.

use time::OffsetDateTime;

use crate::card::CardEvent;
use crate::card_batch::BatchState;
use crate::ids::{
    ClosingId, EmployeeId, EventId, LimitChangeId, OrderId, ReplenishmentId, WebhookId, WithdrawalId,
};
use crate::order::OrderState;
use crate::string_enum::serde_enum;

pub use crate::card::{CardAtBank, CardHolder, CardIssued};
pub use crate::employee::{EmployeeChange, EmployeeErased};
pub use crate::ledger::{BalanceLow, Deposited, ReturnOrigin, Returned, Transfer};
pub use crate::payment::{CardDeclined, DeclinedPurchase};
pub use crate::programme::ProgrammeDue;
pub use crate::request::RequestStatus;
pub use crate::run::status::RunStatus;
pub use crate::transaction::CardTransaction;

/// Something that happened once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// Its identifier, by which a receiver recognises a second delivery.
    pub id: EventId,
    /// When it happened.
    pub created_at: OffsetDateTime,
    /// What happened.
    pub data: EventData,
}

/// Declares the types of events: each with its name and what it tells.
macro_rules! events {
    ($($(#[$doc:meta])* $variant:ident($data:ty) = $name:literal,)*) => {
        serde_enum! {
            /// The type of an event.
            EventType { $($(#[$doc])* $variant = $name),* }
        }

        /// What happened. With the feature `serde` it is an object of `type` and `data`.
        #[derive(Debug, Clone, PartialEq, Eq)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(tag = "type", content = "data"))]
        #[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
        pub enum EventData {
            $($(#[$doc])* #[cfg_attr(feature = "serde", serde(rename = $name))] $variant($data),)*
        }

        impl EventData {
            /// Its type.
            #[must_use]
            pub const fn event_type(&self) -> EventType {
                match self {
                    $(Self::$variant(_) => EventType::$variant,)*
                }
            }
        }
    };
}

events! {
    /// An order was created, or reached another state.
    OrderStatus(RequestStatus<OrderId, OrderState>) = "order.status",
    /// A replenishment was created, or reached another state.
    ReplenishmentStatus(RequestStatus<ReplenishmentId, BatchState>) = "replenishment.status",
    /// A change of limits was created, or reached another state.
    LimitsStatus(RequestStatus<LimitChangeId, BatchState>) = "limits.status",
    /// A request to close cards was created, or reached another state.
    ClosingStatus(RequestStatus<ClosingId, BatchState>) = "closing.status",
    /// A request to take money from cards was created, or reached another state.
    WithdrawalStatus(RequestStatus<WithdrawalId, BatchState>) = "withdrawal.status",
    /// A run was created, or reached another state.
    RunStatus(RunStatus) = "run.status",
    /// A programme pays a period within [`NOTICE`](crate::programme::NOTICE), or the balance is short on the day.
    ProgrammeDue(ProgrammeDue) = "programme.due",
    /// The bank issued a card for an order.
    CardIssued(CardIssued) = "card.issued",
    /// A card was linked to an employee.
    CardLinked(CardHolder) = "card.linked",
    /// A card was unlinked from its employee, whose it was with this status.
    CardUnlinked(CardHolder) = "card.unlinked",
    /// The status of a linked card was switched.
    CardStatus(CardHolder) = "card.status",
    /// A card was blocked, unblocked or closed at the bank: by the bank, or by the partner, whose block the bank confirmed.
    CardBankStatus(CardAtBank) = "card.bank_status",
    /// A virtual card was activated.
    CardActivated(CardAtBank) = "card.activated",
    /// A card expires within [`EXPIRY_NOTICE`](crate::card::EXPIRY_NOTICE).
    CardExpiring(CardAtBank) = "card.expiring",
    /// The last day of a card is over.
    CardExpired(CardAtBank) = "card.expired",
    /// Money moved on a card.
    CardTransaction(CardTransaction) = "card.transaction",
    /// The bank declined a purchase.
    CardDeclined(CardDeclined) = "card.declined",
    /// Money arrived on the partner's balance.
    BalanceDeposited(Deposited) = "balance.deposited",
    /// Money came back from a card to the partner's balance.
    BalanceReturned(Returned) = "balance.returned",
    /// Money was paid out to the partner.
    BalanceWithdrawn(Transfer) = "balance.withdrawn",
    /// A deposit was reversed.
    BalanceCorrected(Transfer) = "balance.corrected",
    /// What a partner can spend fell below its threshold.
    BalanceLow(BalanceLow) = "balance.low",
    /// An employee was added.
    EmployeeCreated(EmployeeChange) = "employee.created",
    /// An employee's fields were changed.
    EmployeeUpdated(EmployeeChange) = "employee.updated",
    /// An employee's personal data was erased.
    EmployeeErased(EmployeeErased) = "employee.erased",
    /// A webhook was disabled by the service.
    WebhookDisabled(WebhookDisabled) = "webhook.disabled",
    /// A test event, which the partner asked for. It goes to one webhook alone.
    Ping(Ping) = "ping",
}

impl From<CardEvent> for EventData {
    fn from(event: CardEvent) -> Self {
        match event {
            CardEvent::Status(holder) => Self::CardStatus(holder),
            CardEvent::BankStatus(card) => Self::CardBankStatus(card),
            CardEvent::Activated(card) => Self::CardActivated(card),
            CardEvent::Expiring(card) => Self::CardExpiring(card),
            CardEvent::Expired(card) => Self::CardExpired(card),
        }
    }
}

impl EventData {
    /// The employee whose [`CustomId`](crate::person::CustomId) it holds.
    #[must_use]
    pub const fn names(&self) -> Option<EmployeeId> {
        match self {
            Self::EmployeeCreated(change) | Self::EmployeeUpdated(change) if change.custom_id.is_some() => {
                Some(change.employee)
            }
            _ => None,
        }
    }

    /// The event without a [`CustomId`](crate::person::CustomId).
    #[must_use]
    pub fn without_name(self) -> Self {
        match self {
            Self::EmployeeCreated(change) => {
                Self::EmployeeCreated(EmployeeChange { custom_id: None, ..change })
            }
            Self::EmployeeUpdated(change) => {
                Self::EmployeeUpdated(EmployeeChange { custom_id: None, ..change })
            }
            other => other,
        }
    }
}

serde_enum! {
    /// Why the service disabled a webhook.
    DisableReason {
        /// The receiver answered 410 Gone.
        Gone = "gone",
        /// No delivery succeeded for three days.
        Failing = "failing",
        /// An operator disabled it.
        Operator = "operator",
    }
}

/// A webhook that the service disabled.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct WebhookDisabled {
    /// The webhook.
    pub webhook: WebhookId,
    /// Why.
    pub reason: DisableReason,
}

/// Nothing happened.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Ping {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::person::CustomId;
    use uuid::Uuid;

    #[test]
    fn an_event_lets_go_of_the_name_that_it_holds() {
        let employee = EmployeeId::new(Uuid::from_u128(1));
        let named = EmployeeChange { employee, custom_id: Some(CustomId::parse("T-0001").unwrap()) };
        let nameless = EmployeeChange { employee, custom_id: None };
        for event in [EventData::EmployeeCreated, EventData::EmployeeUpdated] {
            assert_eq!(event(named.clone()).names(), Some(employee));
            assert_eq!(event(nameless.clone()).names(), None);
            assert_eq!(event(named.clone()).without_name(), event(nameless.clone()));
        }
        let erased = EventData::EmployeeErased(EmployeeErased { employee });
        assert_eq!(erased.names(), None);
        assert_eq!(erased.clone().without_name(), erased);
    }
}
