//! Deposits that wait for a second operator.

use kopeck_domain::ids::PartnerId;
use kopeck_domain::ledger::TransferReference;
use kopeck_domain::pending_deposit::PendingDeposit;

use crate::StoreError;

/// Deposits that wait for a second operator.
#[expect(clippy::missing_errors_doc, reason = "every method fails with the database alone")]
#[cfg_attr(feature = "mock", mockall::automock)]
pub trait PendingDepositRepository {
    /// Adds a deposit.
    fn insert(&mut self, deposit: &PendingDeposit) -> Result<(), StoreError>;
    /// The partner's deposit under this reference. Within a writing unit of work it stays as read until the end.
    fn get(
        &mut self,
        partner: PartnerId,
        reference: &TransferReference,
    ) -> Result<Option<PendingDeposit>, StoreError>;
    /// Removes the partner's deposit under this reference.
    fn remove(&mut self, partner: PartnerId, reference: &TransferReference) -> Result<(), StoreError>;
    /// Deposits of all partners, the oldest first, `limit` at most.
    fn list(&mut self, limit: u32) -> Result<Vec<PendingDeposit>, StoreError>;
}
