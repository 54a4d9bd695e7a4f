//! Booking on the ledger: read the accounts, let the domain decide, write.

use kopeck_domain::Kopecks;
use kopeck_domain::event::{BalanceLow, EventData};
use kopeck_domain::ids::PartnerId;
use kopeck_domain::ledger::{LedgerError, Movement, MovementKind, Reference};
use kopeck_port_store::{StoreError, UnitOfWork};

use crate::{Env, events};

/// Why money could not be moved.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum MoveError {
    /// The ledger refused.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl MoveError {
    /// For movements that the ledger guarantees to be covered: a refusal means that it is broken.
    pub(crate) fn unexpected(self) -> StoreError {
        match self {
            Self::Ledger(refusal) => StoreError::Corrupt(format!("ledger: {refusal}")),
            Self::Store(error) => error,
        }
    }
}

/// Books a movement of `amount`; nothing happens for an amount of zero. If it takes what the partner can spend below its
/// threshold, that is an event, behind those that were appended before.
pub(crate) fn book(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    partner: PartnerId,
    kind: MovementKind,
    reference: Reference,
    amount: Kopecks,
) -> Result<(), MoveError> {
    if amount == Kopecks::ZERO {
        return Ok(());
    }
    let movement = Movement::new(kind, reference, amount)?;
    let sheet = unit.ledger().sheet(partner)?.ok_or_else(no_accounts)?;
    let after = sheet.balances.after(&movement)?;
    unit.ledger().book(partner, &movement, after, env.now())?;
    if sheet.balances.available >= sheet.threshold && after.available < sheet.threshold {
        append_low(unit, env, partner, after.available, sheet.threshold)?;
    }
    Ok(())
}

/// Sets the threshold, in kopecks; zero for none. If less can be spent already, that is an event at once.
///
/// # Errors
/// [`StoreError`] if the store fails.
pub(crate) fn set_threshold(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    partner: PartnerId,
    threshold: Kopecks,
) -> Result<(), StoreError> {
    let sheet = unit.ledger().sheet(partner)?.ok_or_else(no_accounts)?;
    if sheet.threshold == threshold {
        return Ok(());
    }
    unit.ledger().set_threshold(partner, threshold)?;
    if sheet.balances.available < threshold {
        append_low(unit, env, partner, sheet.balances.available, threshold)?;
    }
    Ok(())
}

fn append_low(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    partner: PartnerId,
    available: Kopecks,
    threshold: Kopecks,
) -> Result<(), StoreError> {
    events::append(unit, env, partner, [EventData::BalanceLow(BalanceLow { available, threshold })])
}

/// Every partner has accounts from its creation on.
pub(crate) fn no_accounts() -> StoreError {
    StoreError::Corrupt("balances: a partner has no accounts".to_owned())
}

#[cfg(test)]
mod tests;
