//! Money between a partner and its operator: deposits, their reversals, payments to the partner.

use kopeck_domain::Kopecks;
use kopeck_domain::event::{Deposited, EventData, Transfer};
use kopeck_domain::ids::PartnerId;
use kopeck_domain::ledger::{LedgerError, MovementKind, Reference, TransferReference};
use kopeck_port_store::{StoreError, UnitOfWork};

use super::{PartnerError, find};
use crate::money::{self, MoveError};
use crate::{Env, balance, events};

/// Who deposits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DepositOrigin {
    /// An operator, under a reference.
    Operator(TransferReference),
    /// The creation of the partner.
    Opening,
    /// The sandbox.
    Sandbox,
}

/// Whether a transfer moved money.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TransferOutcome {
    /// Money moved.
    Booked,
    /// The same reference moved the same amount before; nothing moved.
    AlreadyBooked,
}

/// What the first deposit of a partner is called in the ledger.
const OPENING: &str = "opening";
/// What deposits of the sandbox begin with there; the identifier of each follows.
const SANDBOX: &str = "sandbox-";
/// The length of an identifier as text.
const UUID_LENGTH: usize = 36;

/// Books money that arrived on the partner's balance. An operator's reference deposits once.
///
/// # Errors
/// [`PartnerError`].
pub fn deposit(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    id: PartnerId,
    amount: Kopecks,
    origin: &DepositOrigin,
) -> Result<TransferOutcome, PartnerError> {
    let own = |text: &str| {
        TransferReference::parse(text).map_err(|error| StoreError::Failed(format!("reference: {error}")))
    };
    let (reference, named) = match origin {
        DepositOrigin::Operator(reference) => (reference.clone(), Some(reference.clone())),
        DepositOrigin::Opening => (own(OPENING)?, None),
        DepositOrigin::Sandbox => (own(&format!("{SANDBOX}{}", env.ids.next_id()))?, None),
    };
    let event = EventData::BalanceDeposited(Deposited { amount, reference: named });
    book_once(unit, env, id, MovementKind::Deposit, &reference, amount, event)
}

/// Books money that was paid out to the partner. A reference withdraws once.
///
/// # Errors
/// [`PartnerError`]; [`PartnerError::Insufficient`] if less than `amount` is available.
pub fn withdraw(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    id: PartnerId,
    amount: Kopecks,
    reference: &TransferReference,
) -> Result<TransferOutcome, PartnerError> {
    let event = EventData::BalanceWithdrawn(Transfer { amount, reference: reference.clone() });
    book_once(unit, env, id, MovementKind::Withdrawal, reference, amount, event)
}

/// Takes back the whole of a deposit that an operator made under this reference, and returns its amount. It can be done
/// once.
///
/// # Errors
/// [`PartnerError`]; [`PartnerError::NoDeposit`] also for a deposit without a reference of an operator's;
/// [`PartnerError::AlreadyReversed`]; [`PartnerError::Insufficient`] if the partner has spent it.
pub fn reverse_deposit(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    id: PartnerId,
    reference: &TransferReference,
) -> Result<Kopecks, PartnerError> {
    find(unit, id)?;
    if is_generated(reference) {
        return Err(PartnerError::NoDeposit);
    }
    let amount =
        unit.ledger().transferred(id, MovementKind::Deposit, reference)?.ok_or(PartnerError::NoDeposit)?;
    let event = EventData::BalanceCorrected(Transfer { amount, reference: reference.clone() });
    match book_once(unit, env, id, MovementKind::Correction, reference, amount, event) {
        Ok(TransferOutcome::Booked) => Ok(amount),
        Ok(TransferOutcome::AlreadyBooked) => Err(PartnerError::AlreadyReversed),
        Err(error) => Err(error),
    }
}

/// Whether the service generated the reference, which no operator gave.
pub(crate) fn is_generated(reference: &TransferReference) -> bool {
    let text = reference.as_str();
    text == OPENING || text.strip_prefix(SANDBOX).is_some_and(|id| id.len() == UUID_LENGTH)
}

/// Books a transfer with its event, unless its reference did before. An error leaves the unit of work to be rolled back.
fn book_once(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    id: PartnerId,
    kind: MovementKind,
    reference: &TransferReference,
    amount: Kopecks,
    event: EventData,
) -> Result<TransferOutcome, PartnerError> {
    find(unit, id)?;
    if !amount.is_positive() {
        return Err(PartnerError::NotPositive);
    }
    match unit.ledger().transferred(id, kind, reference)? {
        Some(before) if before == amount => return Ok(TransferOutcome::AlreadyBooked),
        Some(before) => return Err(PartnerError::ReferenceUsed(before)),
        None => {}
    }
    // Before the movement, which may be followed by the event of a low balance.
    events::append(unit, env, id, [event])?;
    match money::book(unit, env, id, kind, Reference::Transfer(reference.clone()), amount) {
        Ok(()) => Ok(TransferOutcome::Booked),
        Err(MoveError::Ledger(LedgerError::Overflow(_))) => Err(PartnerError::Overflow),
        Err(MoveError::Ledger(LedgerError::NotPositive)) => Err(PartnerError::NotPositive),
        Err(MoveError::Ledger(LedgerError::Insufficient(_))) => {
            Err(PartnerError::Insufficient(balance::get(unit, id)?.balances.available))
        }
        Err(MoveError::Store(error)) => Err(PartnerError::Store(error)),
    }
}

#[cfg(test)]
mod tests;
