//! Replenishments: create, follow, cancel, list. The rest of their life is the worker's.

use std::collections::HashMap;

use kopeck_domain::Kopecks;
use kopeck_domain::card::CardStatus;
use kopeck_domain::ids::{CardId, PartnerId, ReplenishmentId};
use kopeck_domain::money::AmountOverflow;
use kopeck_domain::page::{Listed, Page};
use kopeck_domain::replenishment::{ItemState, Replenishment, ReplenishmentItem};
use kopeck_domain::request::{RequestEvent, RequestState};
use kopeck_port_store::{Rule, StoreError, Subject, TopUpTarget, UnitOfWork};
use time::Date;

use crate::{Env, targets};

/// A card and what it is to be topped up by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TopUp {
    /// The card; no card stands twice in a request.
    pub card: CardId,
    /// Kopecks, above zero.
    pub amount: Kopecks,
}

/// Why a card cannot be part of a new request. Each is a 409 of the interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConflictReason {
    /// Another open request has it.
    InRequest,
    /// It is no MAIN card.
    NotMain,
    /// It has expired.
    Expired,
}

/// A card that cannot be part of a new request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CardConflict {
    /// The card.
    pub card: CardId,
    /// Why.
    pub reason: ConflictReason,
}

/// Why a request was not accepted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CreateReplenishmentError {
    /// The partner has no such cards, in the order of the request.
    #[error("unknown cards")]
    UnknownCards(Vec<CardId>),
    /// Cards that cannot be topped up now, in the order of the request.
    #[error("cards in conflict")]
    Conflicts(Vec<CardConflict>),
    /// The sum of the amounts does not fit.
    #[error(transparent)]
    Overflow(#[from] AmountOverflow),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Why a request was not shown.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReplenishmentError {
    /// The partner has no such request.
    #[error("no such request")]
    NotFound,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Why a request has no result to show.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReplenishmentResultError {
    /// The partner has no such request.
    #[error("no such request")]
    NotFound,
    /// It is not done yet.
    #[error("the request is not processed yet")]
    NotProcessed,
    /// The partner cancelled it.
    #[error("the request is cancelled")]
    Cancelled,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Why a request was not cancelled.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CancelReplenishmentError {
    /// The partner has no such request.
    #[error("no such request")]
    NotFound,
    /// Its state does not allow it.
    #[error("the request is {0}")]
    WrongState(RequestState),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Accepts a request and puts it before the workers after the processing delay. Money is not held before a worker
/// takes it up.
///
/// # Errors
/// [`CreateReplenishmentError`]; unknown cards are named before conflicts.
pub fn create(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    partner: PartnerId,
    top_ups: &[TopUp],
) -> Result<Replenishment, CreateReplenishmentError> {
    let now = env.now();
    let cards: Vec<CardId> = top_ups.iter().map(|top_up| top_up.card).collect();
    let targets: HashMap<CardId, TopUpTarget> = unit
        .cards()
        .top_up_targets(partner, &cards)?
        .into_iter()
        .map(|target| (target.card, target))
        .collect();
    let found = targets::known(&cards, &targets).map_err(CreateReplenishmentError::UnknownCards)?;
    let conflicts = conflicts(&found, env.today());
    if !conflicts.is_empty() {
        return Err(CreateReplenishmentError::Conflicts(conflicts));
    }
    let items: Vec<ReplenishmentItem> = (0..)
        .zip(top_ups.iter().zip(found))
        .map(|(ordinal, (top_up, target))| ReplenishmentItem {
            ordinal,
            card: top_up.card,
            number: target.number,
            amount: top_up.amount,
            state: ItemState::Open,
        })
        .collect();
    let id = ReplenishmentId::new(env.ids.next_id());
    let request = Replenishment::request(id, top_ups.iter().map(|top_up| top_up.amount), now)?;
    if let Err(error) = unit.replenishments().insert(partner, &request, &items) {
        return Err(raced(unit, partner, &cards, error));
    }
    unit.jobs().enqueue(partner, Subject::Replenishment(id), env.settings.processing_delay)?;
    Ok(request)
}

/// Where a request stands.
///
/// # Errors
/// [`ReplenishmentError`].
pub fn status(
    unit: &mut dyn UnitOfWork,
    partner: PartnerId,
    id: ReplenishmentId,
) -> Result<Replenishment, ReplenishmentError> {
    unit.replenishments().get(partner, id)?.ok_or(ReplenishmentError::NotFound)
}

/// A request that is done with what became of its cards, of the first `limit` at most. None of that ever changes: the
/// rest can be read later, and fits.
///
/// # Errors
/// [`ReplenishmentResultError`].
pub fn result(
    unit: &mut dyn UnitOfWork,
    partner: PartnerId,
    id: ReplenishmentId,
    limit: u32,
) -> Result<(Replenishment, Vec<ReplenishmentItem>), ReplenishmentResultError> {
    let request = unit.replenishments().get(partner, id)?.ok_or(ReplenishmentResultError::NotFound)?;
    match request.state {
        RequestState::New | RequestState::InProcess => Err(ReplenishmentResultError::NotProcessed),
        RequestState::Rejected => Err(ReplenishmentResultError::Cancelled),
        RequestState::Success
        | RequestState::PartSuccess
        | RequestState::Decline
        | RequestState::Confirmed => {
            let items = unit.replenishments().items(partner, id, 0, limit)?;
            Ok((request, items))
        }
    }
}

/// More of a request whose [`result`] was shown: its cards from number `from` on, `limit` at most.
///
/// # Errors
/// [`StoreError`] if the store fails.
pub fn more_of_result(
    unit: &mut dyn UnitOfWork,
    partner: PartnerId,
    id: ReplenishmentId,
    from: u32,
    limit: u32,
) -> Result<Vec<ReplenishmentItem>, StoreError> {
    unit.replenishments().items(partner, id, from, limit)
}

/// Cancels a request that no worker has taken up; cancelling twice changes nothing.
///
/// # Errors
/// [`CancelReplenishmentError`].
pub fn cancel(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    partner: PartnerId,
    id: ReplenishmentId,
) -> Result<Replenishment, CancelReplenishmentError> {
    let before = unit.replenishments().get(partner, id)?.ok_or(CancelReplenishmentError::NotFound)?;
    let was_open = before.state.is_open();
    let request = before
        .on(RequestEvent::Cancel, env.now())
        .map_err(|refusal| CancelReplenishmentError::WrongState(refusal.from))?;
    if was_open {
        unit.replenishments().set_state(partner, &request)?;
        unit.replenishments().release_cards(partner, id)?;
        unit.jobs().cancel(partner, Subject::Replenishment(id))?;
    }
    Ok(request)
}

/// A page of the partner's requests, newest first.
///
/// # Errors
/// [`StoreError`] if the store fails.
pub fn list(
    unit: &mut dyn UnitOfWork,
    partner: PartnerId,
    status: Option<RequestState>,
    page: Page,
) -> Result<Listed<Replenishment>, StoreError> {
    unit.replenishments().list(partner, status, page)
}

/// The refusal behind a constraint that a call which ran at the same moment made us break: the cards that the other
/// call took are named.
fn raced(
    unit: &mut dyn UnitOfWork,
    partner: PartnerId,
    cards: &[CardId],
    error: StoreError,
) -> CreateReplenishmentError {
    if error != StoreError::Conflict(Rule::CardInOneReplenishment) {
        return error.into();
    }
    let found = unit.cards().top_up_targets(partner, cards).unwrap_or_default();
    let claimed = found.into_iter().filter(|target| target.in_request).map(|target| target.card);
    let conflict = |card| CardConflict { card, reason: ConflictReason::InRequest };
    CreateReplenishmentError::Conflicts(targets::taken(cards, claimed).into_iter().map(conflict).collect())
}

/// The cards in conflict, each with the first reason that applies.
fn conflicts(targets: &[&TopUpTarget], today: Date) -> Vec<CardConflict> {
    let reason = |target: &TopUpTarget| match target.status {
        _ if target.in_request => Some(ConflictReason::InRequest),
        Some(CardStatus::Main) if today > target.valid_until => Some(ConflictReason::Expired),
        Some(CardStatus::Main) => None,
        Some(CardStatus::Additional | CardStatus::TemporarilyBlocked) | None => Some(ConflictReason::NotMain),
    };
    let conflict =
        |target: &&TopUpTarget| reason(target).map(|reason| CardConflict { card: target.card, reason });
    targets.iter().filter_map(conflict).collect()
}

#[cfg(test)]
mod tests;
