//! Which transactions to list, and which payment to ask about.

use kopeck_api::TransactionType;
use kopeck_api::wire::{self, WireText as _};
use serde::Serialize;
use time::{Date, PrimitiveDateTime};

use crate::request::Request;

/// Which transactions to list. The default lists all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TransactionFilter {
    /// Those of this day and later.
    pub from: Option<Date>,
    /// Those of this day and earlier.
    pub to: Option<Date>,
    /// Those of this kind.
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
