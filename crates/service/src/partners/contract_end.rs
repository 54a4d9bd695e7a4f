//! The end of a partner's contract: its cards are closed, its money is paid out, and it is deleted once its records
//! need not be kept any longer. Each step can be repeated.

use std::fmt;

use kopeck_domain::Kopecks;
use kopeck_domain::card::Standing;
use kopeck_domain::closing::ClosingReason;
use kopeck_domain::ids::{CardId, PartnerId};
use kopeck_domain::ledger::{MovementKind, TransferReference};
use kopeck_domain::partner::PartnerStatus;
use kopeck_port_store::page::Page;
use kopeck_port_store::{CardFilter, StoreError, UnitOfWork};
use time::Duration;

use super::{PartnerError, TransferOutcome, find, withdraw};
use crate::card_batches::CreateBatchError;
use crate::closings::{self, CardClosing};
use crate::{Env, balance};

/// Why a partner cannot be paid out or deleted yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unfinished {
    /// It can still log in.
    Active,
    /// So many orders and card batches are not finished.
    Requests(u64),
    /// It has cards that are not closed.
    Cards,
    /// So much is on its balance.
    Money(Kopecks),
    /// Money was moved within the retention.
    Retention,
}

impl fmt::Display for Unfinished {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Active => f.write_str("the partner is not suspended"),
            Self::Requests(open) => write!(f, "{open} requests are not finished"),
            Self::Cards => f.write_str("it has cards that are not closed"),
            Self::Money(amount) => write!(f, "{amount} are on its balance"),
            Self::Retention => f.write_str("its last movement is younger than the retention"),
        }
    }
}

/// Why a step was not done.
#[derive(Debug, thiserror::Error)]
pub enum ContractEndError {
    /// Something of the contract is not over.
    #[error("not yet: {0}")]
    Unfinished(Unfinished),
    /// As for other commands.
    #[error(transparent)]
    Partner(#[from] PartnerError),
}

impl From<StoreError> for ContractEndError {
    fn from(error: StoreError) -> Self {
        Self::Partner(error.into())
    }
}

/// The cards of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CardsToClose {
    /// How many of them are not closed.
    pub open: u32,
    /// How many of those were put into a closing now; another request has the others.
    pub requested: u32,
    /// Whether there is a page after this one.
    pub has_next: bool,
}

/// Puts the cards of a page that are neither closed nor in another request into one closing.
///
/// # Errors
/// [`ContractEndError::Unfinished`] if the partner is not suspended: it could go on to use its cards.
pub fn close_cards(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    id: PartnerId,
    page: Page,
) -> Result<CardsToClose, ContractEndError> {
    must_be_suspended(unit, id)?;
    let listed = unit.cards().list(id, &CardFilter::default(), page)?;
    let is_open = |standing| standing != Standing::Closed;
    let open: Vec<CardId> = listed
        .items
        .iter()
        .filter(|record| is_open(record.bank.standing))
        .map(|record| record.card.id())
        .collect();
    let targets = if open.is_empty() { Vec::new() } else { unit.closings().targets(id, &open)? };
    let free: Vec<CardClosing> = targets
        .iter()
        .filter(|target| is_open(target.standing) && !target.claims.money)
        .map(|target| CardClosing { card: target.card.into(), reason: ClosingReason::Other })
        .collect();
    if !free.is_empty() {
        closings::create(unit, env, id, &free, None).map_err(|error| match error {
            CreateBatchError::Store(error) => error,
            // The partner's lock is held since its cards were read.
            error => StoreError::Failed(error.to_string()),
        })?;
    }
    let seen = page.skip() + listed.items.len() as u64;
    Ok(CardsToClose { open: count(open.len()), requested: count(free.len()), has_next: seen < listed.total })
}

/// Books the payment of the whole balance to the partner, under the reference of that payment. Returns the amount that is
/// booked under it, now or before; `None` if there was nothing to pay.
///
/// # Errors
/// [`ContractEndError::Unfinished`] while the partner is active or a request of it is not finished.
pub fn pay_out(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    id: PartnerId,
    reference: &TransferReference,
) -> Result<Option<Kopecks>, ContractEndError> {
    must_be_suspended(unit, id)?;
    must_be_idle(unit, id)?;
    let available = balance::get(unit, id)?.balances.available;
    if !available.is_positive() {
        return Ok(unit.ledger().transferred(id, MovementKind::Withdrawal, reference)?);
    }
    match withdraw(unit, env, id, available, reference)? {
        TransferOutcome::Booked => Ok(Some(available)),
        // The same amount was paid before, and as much has come in since.
        TransferOutcome::AlreadyBooked => Err(PartnerError::ReferenceUsed(available).into()),
    }
}

/// Removes a partner with everything that belongs to it, for good.
///
/// # Errors
/// [`ContractEndError::Unfinished`] unless it is suspended, has no open request, no card that is not closed and no money, and
/// no movement since the retention began.
pub fn delete(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    id: PartnerId,
    retention: Duration,
) -> Result<(), ContractEndError> {
    must_be_suspended(unit, id)?;
    must_be_idle(unit, id)?;
    let balance = balance::get(unit, id)?.balances.balance().map_err(|_| PartnerError::Overflow)?;
    if balance != Kopecks::ZERO {
        return Err(ContractEndError::Unfinished(Unfinished::Money(balance)));
    }
    let began =
        env.now().checked_sub(retention).ok_or(ContractEndError::Unfinished(Unfinished::Retention))?;
    if unit.movements().first_since(id, began)?.is_some() {
        return Err(ContractEndError::Unfinished(Unfinished::Retention));
    }
    if has_open_cards(unit, id)? {
        return Err(ContractEndError::Unfinished(Unfinished::Cards));
    }
    Ok(unit.partners().delete(id)?)
}

fn must_be_suspended(unit: &mut dyn UnitOfWork, id: PartnerId) -> Result<(), ContractEndError> {
    match find(unit, id)?.status {
        PartnerStatus::Suspended => Ok(()),
        PartnerStatus::Active => Err(ContractEndError::Unfinished(Unfinished::Active)),
    }
}

fn must_be_idle(unit: &mut dyn UnitOfWork, id: PartnerId) -> Result<(), ContractEndError> {
    match unit.jobs().count_of(id)? {
        0 => Ok(()),
        open => Err(ContractEndError::Unfinished(Unfinished::Requests(open))),
    }
}

fn has_open_cards(unit: &mut dyn UnitOfWork, id: PartnerId) -> Result<bool, ContractEndError> {
    for number in 1..=Page::MAX_NUMBER {
        let page = page(number)?;
        let listed = unit.cards().list(id, &CardFilter::default(), page)?;
        if listed.items.iter().any(|record| record.bank.standing != Standing::Closed) {
            return Ok(true);
        }
        if page.skip() + listed.items.len() as u64 >= listed.total {
            break;
        }
    }
    Ok(false)
}

/// A page of as many cards as one step looks at.
///
/// # Errors
/// [`StoreError`] if there is no such page.
pub fn page(number: u32) -> Result<Page, StoreError> {
    Page::new(number, Page::MAX_SIZE).map_err(|error| StoreError::Failed(error.to_string()))
}

fn count(cards: usize) -> u32 {
    u32::try_from(cards).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests;
