//! Which transactions to list.

use kopeck_api::TransactionType;
use kopeck_api::wire::WireText as _;
use time::Date;

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
