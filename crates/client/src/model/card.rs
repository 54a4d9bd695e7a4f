//! Which cards and transactions to list, and which payment to ask about.

use kopeck_api::wire::{self, WireText as _};
use kopeck_api::{BankStatus, CardStatus, CardType, TransactionType};
use serde::Serialize;
use time::{Date, PrimitiveDateTime};
use uuid::Uuid;

use crate::request::Request;

/// Which cards to list. The default lists all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CardFilter {
    /// Only cards that are linked to an employee, or to none.
    pub linked: Option<bool>,
    /// Only cards with this status.
    pub status_card: Option<CardStatus>,
    /// Only cards with this status at the bank.
    pub bank_status: Option<BankStatus>,
    /// Only cards of this type.
    pub type_card: Option<CardType>,
    /// Only cards of this order.
    pub order_id: Option<Uuid>,
    /// Only cards of this employee.
    pub id_employee: Option<Uuid>,
    /// Only cards whose last day is before this one.
    pub expires_before: Option<Date>,
    /// Only the card with this number.
    pub custom_id_card: Option<String>,
}

impl CardFilter {
    pub(crate) fn add_to(&self, request: Request) -> Request {
        request
            .query("linked", self.linked.map(|linked| linked.to_string()))
            .query("statusCard", self.status_card.as_ref().map(CardStatus::as_str))
            .query("bankStatus", self.bank_status.as_ref().map(BankStatus::as_str))
            .query("typeCard", self.type_card.as_ref().map(CardType::as_str))
            .query("orderId", self.order_id.map(|id| id.to_string()))
            .query("idEmployee", self.id_employee.map(|id| id.to_string()))
            .query("expiresBefore", self.expires_before.map(|day| day.text()))
            .query("customIdCard", self.custom_id_card.as_deref())
    }
}

/// Which transactions to list. The default lists all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TransactionFilter {
    /// Only transactions of this day and later.
    pub from: Option<Date>,
    /// Only transactions of this day and earlier.
    pub to: Option<Date>,
    /// Only transactions of this kind.
    pub transaction_type: Option<TransactionType>,
}

impl TransactionFilter {
    pub(crate) fn add_to(&self, request: Request) -> Request {
        request
            .query("from", self.from.map(|day| day.text()))
            .query("to", self.to.map(|day| day.text()))
            .query("type", self.transaction_type.as_ref().map(TransactionType::as_str))
    }
}

/// A payment to ask about.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct PaymentQuestion {
    /// How much, in kopecks.
    pub amount: i64,
    /// When, to the minute, in the service's time zone. Default: now.
    #[serde(serialize_with = "wire::text_or_null::serialize", skip_serializing_if = "Option::is_none")]
    pub at: Option<PrimitiveDateTime>,
    /// The merchant's category code. It matters if the limit of the card names merchant categories.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mcc: Option<String>,
}

impl PaymentQuestion {
    /// About `amount` kopecks, now, at a merchant without a category.
    #[must_use]
    pub fn new(amount: i64) -> Self {
        Self { amount, ..Self::default() }
    }
}
