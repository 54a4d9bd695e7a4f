//! Transactions of a card.

use kopeck_domain::Kopecks;
use kopeck_domain::calendar::Zone;
use kopeck_domain::transaction::{Transaction, TransactionType};

use super::DateText;
use crate::openapi::schema::api_type;

api_type! {
    /// A transaction in a list.
    pub(crate) struct TransactionDto<'a> as "Transaction" {
        /// Its number.
        id: i64,
        /// The day.
        date_execution_at: DateText,
        /// The time of the day, `HH:MM`.
        time_execution_at: String,
        /// What it is; it tells the direction.
        #[serde(rename = "type")]
        kind: TransactionType,
        /// Kopecks, always positive.
        amount: Kopecks,
        /// The merchant's outlet, where there is one.
        place: Option<&'a str>,
        /// The merchant's category code, where there is one.
        mcc: Option<&'a str>,
        /// The merchant's identifier, where there is one.
        merchant_id: Option<&'a str>,
    }
}

impl<'a> TransactionDto<'a> {
    pub(crate) fn new(transaction: &'a Transaction, zone: Zone) -> Self {
        Self {
            id: transaction.id,
            date_execution_at: DateText::of(transaction.executed_at, zone),
            time_execution_at: zone.time_text(transaction.executed_at),
            kind: transaction.kind,
            amount: transaction.amount,
            place: transaction.place.as_deref(),
            mcc: transaction.mcc.as_deref(),
            merchant_id: transaction.merchant_id.as_deref(),
        }
    }
}
