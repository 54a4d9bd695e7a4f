//! Transactions of a card.

use kopeck_domain::Kopecks;
use kopeck_domain::calendar::Zone;
use kopeck_domain::transaction::{Transaction, TransactionType};
use serde::Serialize;

/// A transaction in a list.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TransactionDto<'a> {
    id: i64,
    date_execution_at: String,
    time_execution_at: String,
    #[serde(rename = "type")]
    kind: TransactionType,
    amount: Kopecks,
    place: Option<&'a str>,
    mcc: Option<&'a str>,
    merchant_id: Option<&'a str>,
}

impl<'a> TransactionDto<'a> {
    pub(crate) fn new(transaction: &'a Transaction, zone: Zone) -> Self {
        Self {
            id: transaction.id,
            date_execution_at: zone.date_text(transaction.executed_at),
            time_execution_at: zone.time_text(transaction.executed_at),
            kind: transaction.kind,
            amount: transaction.amount,
            place: transaction.place.as_deref(),
            mcc: transaction.mcc.as_deref(),
            merchant_id: transaction.merchant_id.as_deref(),
        }
    }
}
