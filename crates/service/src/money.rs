//! Booking on the ledger: read the accounts, let the domain decide, write.

use kopeck_domain::Kopecks;
use kopeck_domain::ids::PartnerId;
use kopeck_domain::ledger::{LedgerError, Movement, MovementKind, Reference};
use kopeck_port_store::{StoreError, UnitOfWork};
use time::OffsetDateTime;

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
    /// For movements that the books guarantee to be covered: a refusal means that they are broken.
    pub(crate) fn unexpected(self) -> StoreError {
        match self {
            Self::Ledger(refusal) => StoreError::Corrupt(format!("ledger: {refusal}")),
            Self::Store(error) => error,
        }
    }
}

/// Books a movement of `amount`; nothing happens for an amount of zero.
pub(crate) fn book(
    unit: &mut dyn UnitOfWork,
    partner: PartnerId,
    kind: MovementKind,
    reference: Reference,
    amount: Kopecks,
    now: OffsetDateTime,
) -> Result<(), MoveError> {
    if amount == Kopecks::ZERO {
        return Ok(());
    }
    let movement = Movement::new(kind, reference, amount)?;
    let sheet = unit.ledger().sheet(partner)?.ok_or_else(no_accounts)?;
    let after = sheet.balances.after(&movement)?;
    Ok(unit.ledger().book(partner, &movement, after, now)?)
}

/// Every partner has accounts from its creation on.
pub(crate) fn no_accounts() -> StoreError {
    StoreError::Corrupt("balances: a partner has no accounts".to_owned())
}
