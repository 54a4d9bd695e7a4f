//! Transactions on the wire.

use kopeck_api as api;
use kopeck_domain::calendar::Zone;
use kopeck_domain::transaction::Transaction;

use crate::dto::local;

/// The body of a transaction.
pub(crate) fn body(transaction: &Transaction, zone: Zone) -> api::Transaction {
    let at = local(transaction.executed_at, zone);
    api::Transaction {
        id: transaction.id,
        date_execution_at: at.date(),
        time_execution_at: at.time(),
        transaction_type: transaction.kind.as_str().into(),
        amount: transaction.amount.get(),
        place: transaction.place.clone(),
        mcc: transaction.mcc.clone(),
        merchant_id: transaction.merchant_id.clone(),
    }
}
