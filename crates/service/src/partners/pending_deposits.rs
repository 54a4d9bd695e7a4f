//! Deposits by four eyes: one operator enters a deposit, and nothing moves until another one confirms it.

use kopeck_domain::Kopecks;
use kopeck_domain::access::{Actor, Authority};
use kopeck_domain::approval::{ApprovalError, Digest};
use kopeck_domain::ids::PartnerId;
use kopeck_domain::ledger::{MovementKind, TransferReference};
use kopeck_domain::pending_deposit::PendingDeposit;
use kopeck_port_store::{StoreError, UnitOfWork};
use sha2::{Digest as _, Sha256};

use super::{DepositOrigin, PartnerError, deposit, find};
use crate::Env;

/// How many are listed. More than that wait nowhere.
const MOST: u32 = 1_000;

/// Why a deposit was not entered, confirmed or refused.
#[derive(Debug, thiserror::Error)]
pub enum PendingDepositError {
    /// Nothing waits under the reference.
    #[error("no deposit waits under this reference")]
    NotPending,
    /// Another deposit waits under the reference.
    #[error("another deposit waits under this reference")]
    ReferenceWaits,
    /// The actor may not confirm it, has seen another one, or comes too late.
    #[error(transparent)]
    Approval(#[from] ApprovalError),
    /// As for a deposit.
    #[error(transparent)]
    Partner(#[from] PartnerError),
}

impl From<StoreError> for PendingDepositError {
    fn from(error: StoreError) -> Self {
        Self::Partner(error.into())
    }
}

/// Names partner, reference and amount of a deposit: what is confirmed.
#[must_use]
pub fn digest_of_deposit(deposit: &PendingDeposit) -> Digest {
    let mut hash = Sha256::new();
    hash.update(deposit.partner.uuid().as_bytes());
    hash.update(deposit.amount.get().to_be_bytes());
    hash.update(deposit.reference.as_str());
    Digest::from_bytes(hash.finalize().into())
}

/// Enters a deposit for another operator to confirm. Entering the same again changes nothing; one that has expired is
/// replaced.
///
/// # Errors
/// [`PendingDepositError`]; [`PartnerError::ReferenceUsed`] if the reference has deposited before.
pub fn enter_deposit(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    by: &Actor,
    partner: PartnerId,
    amount: Kopecks,
    reference: &TransferReference,
) -> Result<PendingDeposit, PendingDepositError> {
    find(unit, partner)?;
    if !amount.is_positive() {
        return Err(PartnerError::NotPositive.into());
    }
    if let Some(before) = unit.ledger().transferred(partner, MovementKind::Deposit, reference)? {
        return Err(PartnerError::ReferenceUsed(before).into());
    }
    let now = env.now();
    match unit.pending_deposits().get(partner, reference)? {
        Some(waiting) if waiting.is_expired(now) => unit.pending_deposits().remove(partner, reference)?,
        Some(waiting) if waiting.by == *by && waiting.amount == amount => return Ok(waiting),
        Some(_) => return Err(PendingDepositError::ReferenceWaits),
        None => {}
    }
    let entered = PendingDeposit { partner, reference: reference.clone(), amount, by: by.clone(), at: now };
    unit.pending_deposits().insert(&entered)?;
    Ok(entered)
}

/// Confirms a deposit, which is booked with that. `seen` is the [`digest_of_deposit`] of what `by` has seen.
///
/// # Errors
/// [`PendingDepositError`].
pub fn confirm_deposit(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    by: &Authority,
    partner: PartnerId,
    reference: &TransferReference,
    seen: Digest,
) -> Result<PendingDeposit, PendingDepositError> {
    let waiting = waiting(unit, partner, reference)?;
    waiting.confirm(by, digest_of_deposit(&waiting), seen, env.now())?;
    deposit(unit, env, partner, waiting.amount, &DepositOrigin::Operator(reference.clone()))?;
    unit.pending_deposits().remove(partner, reference)?;
    Ok(waiting)
}

/// Refuses a deposit: nothing moves, and the reference is free again.
///
/// # Errors
/// [`PendingDepositError::NotPending`], or the store's failure.
pub fn refuse_deposit(
    unit: &mut dyn UnitOfWork,
    partner: PartnerId,
    reference: &TransferReference,
) -> Result<PendingDeposit, PendingDepositError> {
    let waiting = waiting(unit, partner, reference)?;
    unit.pending_deposits().remove(partner, reference)?;
    Ok(waiting)
}

fn waiting(
    unit: &mut dyn UnitOfWork,
    partner: PartnerId,
    reference: &TransferReference,
) -> Result<PendingDeposit, PendingDepositError> {
    unit.pending_deposits().get(partner, reference)?.ok_or(PendingDepositError::NotPending)
}

/// The deposits of all partners that wait, the oldest first.
///
/// # Errors
/// [`StoreError`] if the store fails.
pub fn pending_deposits(unit: &mut dyn UnitOfWork) -> Result<Vec<PendingDeposit>, StoreError> {
    unit.pending_deposits().list(MOST)
}

#[cfg(test)]
mod tests;
