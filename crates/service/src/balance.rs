//! The partner's balance.

use kopeck_domain::ids::PartnerId;
use kopeck_port_store::{BalanceSheet, StoreError, UnitOfWork};

/// What lies on the partner's accounts at this moment.
///
/// # Errors
/// [`StoreError`] if the store fails.
pub fn get(unit: &mut dyn UnitOfWork, partner: PartnerId) -> Result<BalanceSheet, StoreError> {
    unit.ledger().sheet(partner)?.ok_or_else(crate::money::no_accounts)
}
