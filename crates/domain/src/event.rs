//! Events: what happened to a partner's data, as the feed reports it.
//!
//! An event holds identifiers, states and amounts. It never holds a name, a phone number, an address or an activation code.

use time::{Date, OffsetDateTime};

use crate::Kopecks;
use crate::card::{BankStatus, CardStatus, CardType};
use crate::card_batch::BatchState;
use crate::card_number::CardNumber;
use crate::ids::{
    CardId, ClosingId, EmployeeId, EventId, LimitChangeId, OrderId, ReplenishmentId, WebhookId, WithdrawalId,
};
use crate::ledger::TransferReference;
use crate::order::OrderState;
use crate::payment::PaymentRefusal;
use crate::person::CustomId;
use crate::request::RequestReference;
use crate::string_enum::serde_enum;
use crate::transaction::Transaction;

#[cfg(feature = "serde")]
time::serde::format_description!(iso_date, Date, "[year]-[month]-[day]");

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

impl EventData {
    /// The employee whose [`CustomId`] it holds.
    #[must_use]
    pub const fn names(&self) -> Option<EmployeeId> {
        match self {
            Self::EmployeeCreated(change) | Self::EmployeeUpdated(change) if change.custom_id.is_some() => {
                Some(change.employee)
            }
            _ => None,
        }
    }

    /// The event without a [`CustomId`].
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

/// Where a request stands now.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct RequestStatus<I, S> {
    /// The request.
    pub id: I,
    /// Its new state.
    pub state: S,
    /// What the partner calls the request.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub reference: Option<RequestReference>,
}

/// A card that the bank issued.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct CardIssued {
    /// The card.
    pub card: CardId,
    /// The bank's number of it.
    pub number: CardNumber,
    /// The product.
    pub kind: CardType,
    /// The order it was issued for.
    pub order: OrderId,
    /// The last day on which it is valid.
    #[cfg_attr(feature = "serde", serde(with = "iso_date"))]
    pub valid_until: Date,
    /// Whether it can pay now.
    pub bank_status: BankStatus,
}

/// A card and the employee who holds it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct CardHolder {
    /// The card.
    pub card: CardId,
    /// Its holder.
    pub employee: EmployeeId,
    /// Its role.
    pub status: CardStatus,
    /// Whether it can pay now.
    pub bank_status: BankStatus,
}

/// A card as the bank has it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct CardAtBank {
    /// The card.
    pub card: CardId,
    /// Its holder, if any.
    pub employee: Option<EmployeeId>,
    /// Whether it can pay now.
    pub bank_status: BankStatus,
}

/// Money that moved on a card.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct CardTransaction {
    /// The card.
    pub card: CardId,
    /// Its holder, if any.
    pub employee: Option<EmployeeId>,
    /// What moved.
    pub transaction: Transaction,
}

/// A purchase that the bank declined.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct CardDeclined {
    /// The card.
    pub card: CardId,
    /// Its holder, if any.
    pub employee: Option<EmployeeId>,
    /// The purchase, and why it was declined.
    pub purchase: DeclinedPurchase,
}

/// A purchase that had no effect.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct DeclinedPurchase {
    /// When it was tried.
    #[cfg_attr(feature = "serde", serde(with = "time::serde::rfc3339"))]
    pub at: OffsetDateTime,
    /// Kopecks, above zero.
    pub amount: Kopecks,
    /// Why; `None` for a reason of the bank's own.
    pub reason: Option<PaymentRefusal>,
    /// Name of the merchant's outlet.
    pub place: Option<String>,
    /// Merchant category code.
    pub mcc: Option<String>,
    /// The merchant's identifier.
    pub merchant_id: Option<String>,
}

/// Money that arrived.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Deposited {
    /// Kopecks.
    pub amount: Kopecks,
    /// The operator's reference; none for the first deposit of a partner, and for one of the sandbox.
    pub reference: Option<TransferReference>,
}

/// Money that came back from a card.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Returned {
    /// Kopecks, above zero.
    pub amount: Kopecks,
    /// The request that brought it back.
    pub by: ReturnOrigin,
    /// What the partner calls the request.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub reference: Option<RequestReference>,
}

/// A request that brings money back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum ReturnOrigin {
    /// The card was closed.
    Closing(ClosingId),
    /// Its money was taken back.
    Withdrawal(WithdrawalId),
}

/// Money that was taken from the partner's balance by an operator.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Transfer {
    /// Kopecks, above zero.
    pub amount: Kopecks,
    /// The reference of the payment, or of the deposit that was reversed.
    pub reference: TransferReference,
}

/// Less money than a partner wants to have left.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct BalanceLow {
    /// What the partner can spend now, kopecks.
    pub available: Kopecks,
    /// The threshold that it fell below, kopecks.
    pub threshold: Kopecks,
}

/// An employee who was added or changed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct EmployeeChange {
    /// The employee.
    pub employee: EmployeeId,
    /// The partner's own identifier of them, as it was then; `None` once they were erased.
    pub custom_id: Option<CustomId>,
}

/// An employee whose personal data was erased.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct EmployeeErased {
    /// The employee.
    pub employee: EmployeeId,
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
