//! Transactions of a card: the service keeps a copy of the bank's list and asks only for what is new.

use kopeck_domain::ids::{CardId, PartnerId};
use kopeck_domain::page::{Listed, Page};
use kopeck_domain::transaction::Transaction;
use kopeck_port_bank::{BankError, BankGateway};
use kopeck_port_store::{Access, Store, StoreError, TransactionFilter, UnitOfWork, transact};

use crate::Env;

/// How many transactions are asked of the bank at a time.
const FETCH: u32 = 500;

/// Why the transactions of a card were not shown.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TransactionsError {
    /// The partner has no such card.
    #[error("no such card")]
    NotFound,
    /// The bank cannot be reached, and there is no copy to answer from.
    #[error("the bank is unavailable")]
    BankUnavailable,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Brings the copy of the card's transactions up to date unless it is young. While the bank cannot be reached, an
/// older copy does. Blocks while the bank thinks.
///
/// # Errors
/// [`TransactionsError`].
pub fn sync(
    store: &dyn Store,
    bank: &dyn BankGateway,
    env: &Env,
    partner: PartnerId,
    id: CardId,
) -> Result<(), TransactionsError> {
    let (record, mut latest) = transact(store, Access::Read, move |unit| {
        let record = unit.cards().get(partner, id)?.ok_or(TransactionsError::NotFound)?;
        Ok::<_, TransactionsError>((record, unit.transactions().latest_id(partner, id)?))
    })?;
    if record.transactions_seen_at.is_some_and(|seen_at| !env.is_stale(seen_at)) {
        return Ok(());
    }
    loop {
        let seen_at = env.now();
        let fetched = match bank.transactions(record.card.number, latest, FETCH) {
            Ok(fetched) => fetched,
            Err(BankError::Unavailable(reason) | BankError::Unknown(reason)) => {
                log::warn!(reason = reason.as_str(); "the bank did not give transactions");
                return if record.transactions_seen_at.is_some() {
                    Ok(())
                } else {
                    Err(TransactionsError::BankUnavailable)
                };
            }
        };
        let more = u32::try_from(fetched.len()).is_ok_and(|count| count >= FETCH);
        latest = fetched.iter().map(|transaction| transaction.id).fold(latest, i64::max);
        transact(store, Access::Write, move |unit| -> Result<(), StoreError> {
            unit.transactions().append(partner, id, &fetched, seen_at)
        })?;
        if !more {
            return Ok(());
        }
    }
}

/// A page of the copy, newest first.
///
/// # Errors
/// [`TransactionsError`].
pub fn list(
    unit: &mut dyn UnitOfWork,
    partner: PartnerId,
    id: CardId,
    filter: TransactionFilter,
    page: Page,
) -> Result<Listed<Transaction>, TransactionsError> {
    unit.cards().get(partner, id)?.ok_or(TransactionsError::NotFound)?;
    Ok(unit.transactions().list(partner, id, filter, page)?)
}
