//! Limit changes: set, follow, cancel, list. The rest of their life is the worker's.

use std::collections::HashMap;

use kopeck_domain::ids::{CardId, LimitChangeId, PartnerId};
use kopeck_domain::limit::{Limit, LimitConflict};
use kopeck_domain::limit_change::{ItemState, LimitChange, LimitChangeItem};
use kopeck_domain::page::{Listed, Page};
use kopeck_domain::request::{RequestEvent, RequestState};
use kopeck_port_store::{LimitTarget, Rule, StoreError, Subject, UnitOfWork};
use time::Date;

use crate::{Env, targets};

/// Why a card cannot be part of a new limit change. Each is a 409 of the interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LimitConflictReason {
    /// Another open limit change has it. An open replenishment is no hindrance.
    InChange,
    /// It has expired.
    Expired,
}

/// A card that cannot be part of a new limit change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LimitCardConflict {
    /// The card.
    pub card: CardId,
    /// Why.
    pub reason: LimitConflictReason,
}

/// Why a limit change was not accepted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SetLimitsError {
    /// The partner has no such cards, in the order of the request.
    #[error("unknown cards")]
    UnknownCards(Vec<CardId>),
    /// The settings of the limit contradict each other.
    #[error(transparent)]
    Limit(#[from] LimitConflict),
    /// Cards whose limits cannot be changed now, in the order of the request.
    #[error("cards in conflict")]
    Conflicts(Vec<LimitCardConflict>),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Why a limit change was not shown.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LimitChangeError {
    /// The partner has no such request.
    #[error("no such request")]
    NotFound,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Why a limit change has no result to show.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LimitResultError {
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

/// Why a limit change was not cancelled.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CancelLimitChangeError {
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

/// Accepts a request of one limit for many cards, linked or not, and puts it before the workers after the processing
/// delay. No card stands twice in a request.
///
/// # Errors
/// [`SetLimitsError`]. Unknown cards are named first, as 404 comes before 409. Settings that contradict each other
/// come before cards in conflict: those may be free in a moment, and the caller who waited for them would then learn
/// that the call can never succeed.
pub fn set(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    partner: PartnerId,
    cards: &[CardId],
    limit: &Result<Limit, LimitConflict>,
) -> Result<LimitChange, SetLimitsError> {
    let now = env.now();
    let targets: HashMap<CardId, LimitTarget> =
        unit.cards().limit_targets(partner, cards)?.into_iter().map(|target| (target.card, target)).collect();
    let found = targets::known(cards, &targets).map_err(SetLimitsError::UnknownCards)?;
    let limit = limit.clone()?;
    let conflicts = conflicts(&found, env.today());
    if !conflicts.is_empty() {
        return Err(SetLimitsError::Conflicts(conflicts));
    }
    let items: Vec<LimitChangeItem> = (0..)
        .zip(found)
        .map(|(ordinal, target)| LimitChangeItem {
            ordinal,
            card: target.card,
            number: target.number,
            state: ItemState::Open,
        })
        .collect();
    let id = LimitChangeId::new(env.ids.next_id());
    // The caller lets ten thousand cards through at most.
    let count = u32::try_from(items.len()).unwrap_or(u32::MAX);
    let request = LimitChange::request(id, count, limit, now);
    if let Err(error) = unit.limit_changes().insert(partner, &request, &items) {
        return Err(raced(unit, partner, cards, error));
    }
    unit.jobs().enqueue(partner, Subject::LimitChange(id), env.settings.processing_delay)?;
    Ok(request)
}

/// Where a request stands.
///
/// # Errors
/// [`LimitChangeError`].
pub fn status(
    unit: &mut dyn UnitOfWork,
    partner: PartnerId,
    id: LimitChangeId,
) -> Result<LimitChange, LimitChangeError> {
    unit.limit_changes().get(partner, id)?.ok_or(LimitChangeError::NotFound)
}

/// A request that is done with what became of its cards, of the first `limit` at most. None of that ever changes: the
/// rest can be read later, and fits.
///
/// # Errors
/// [`LimitResultError`].
pub fn result(
    unit: &mut dyn UnitOfWork,
    partner: PartnerId,
    id: LimitChangeId,
    limit: u32,
) -> Result<(LimitChange, Vec<LimitChangeItem>), LimitResultError> {
    let request = unit.limit_changes().get(partner, id)?.ok_or(LimitResultError::NotFound)?;
    match request.state {
        RequestState::New | RequestState::InProcess => Err(LimitResultError::NotProcessed),
        RequestState::Rejected => Err(LimitResultError::Cancelled),
        RequestState::Success
        | RequestState::PartSuccess
        | RequestState::Decline
        | RequestState::Confirmed => {
            let items = unit.limit_changes().items(partner, id, 0, limit)?;
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
    id: LimitChangeId,
    from: u32,
    limit: u32,
) -> Result<Vec<LimitChangeItem>, StoreError> {
    unit.limit_changes().items(partner, id, from, limit)
}

/// Cancels a request that no worker has taken up; cancelling twice changes nothing.
///
/// # Errors
/// [`CancelLimitChangeError`].
pub fn cancel(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    partner: PartnerId,
    id: LimitChangeId,
) -> Result<LimitChange, CancelLimitChangeError> {
    let before = unit.limit_changes().get(partner, id)?.ok_or(CancelLimitChangeError::NotFound)?;
    let was_open = before.state.is_open();
    let request = before
        .on(RequestEvent::Cancel, env.now())
        .map_err(|refusal| CancelLimitChangeError::WrongState(refusal.from))?;
    if was_open {
        unit.limit_changes().set_state(partner, &request)?;
        unit.limit_changes().release_cards(partner, id)?;
        unit.jobs().cancel(partner, Subject::LimitChange(id))?;
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
) -> Result<Listed<LimitChange>, StoreError> {
    unit.limit_changes().list(partner, status, page)
}

/// The refusal behind a constraint that a call which ran at the same moment made us break: the cards that the other
/// call took are named.
fn raced(
    unit: &mut dyn UnitOfWork,
    partner: PartnerId,
    cards: &[CardId],
    error: StoreError,
) -> SetLimitsError {
    if error != StoreError::Conflict(Rule::CardInOneLimitChange) {
        return error.into();
    }
    let found = unit.cards().limit_targets(partner, cards).unwrap_or_default();
    let claimed = found.into_iter().filter(|target| target.in_change).map(|target| target.card);
    let conflict = |card| LimitCardConflict { card, reason: LimitConflictReason::InChange };
    SetLimitsError::Conflicts(targets::taken(cards, claimed).into_iter().map(conflict).collect())
}

/// The cards in conflict, each with the first reason that applies.
fn conflicts(targets: &[&LimitTarget], today: Date) -> Vec<LimitCardConflict> {
    let reason = |target: &LimitTarget| {
        if target.in_change {
            Some(LimitConflictReason::InChange)
        } else if today > target.valid_until {
            Some(LimitConflictReason::Expired)
        } else {
            None
        }
    };
    let conflict =
        |target: &&LimitTarget| reason(target).map(|reason| LimitCardConflict { card: target.card, reason });
    targets.iter().filter_map(conflict).collect()
}

#[cfg(test)]
mod tests;
