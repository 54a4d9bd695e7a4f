//! Card batches: create, follow, cancel, list. The rest of their life is the worker's.
//!
//! What the kinds differ in is in their `ProcessedKind`, which stands with the use case that creates a batch:
//! [`replenishments`](crate::replenishments), [`limits`](crate::limits), [`closings`](crate::closings) and
//! [`withdrawals`](crate::withdrawals).

use std::collections::{HashMap, HashSet};

use kopeck_domain::Kopecks;
use kopeck_domain::card::Standing;
use kopeck_domain::card_batch::{BatchItem, BatchState, CardBatch, ItemState};
use kopeck_domain::card_ref::CardRef;
use kopeck_domain::ids::{CardId, PartnerId};
use kopeck_domain::ledger::Reference;
use kopeck_domain::request::{RequestReference, RequestState};
use kopeck_port_bank::{BankKey, DeclineReason, Instruction};
use kopeck_port_store::page::{Listed, Page};
use kopeck_port_store::{BatchTarget, Lane, RequestFilter, Rule, StoreError, StoredKind, UnitOfWork};
use time::{Date, Duration};

use crate::card_refs::NamedCards;
use crate::{Env, events};

/// A kind of card batch, as the use cases and the workers treat it.
pub(crate) trait ProcessedKind: StoredKind {
    /// What a batch is called in logs and reports.
    const NAME: &'static str;
    /// What the bank's keys of this kind begin with.
    const KEY: &'static str;
    /// Whether money comes back from the cards: then a verdict says how much.
    const RETURNS_MONEY: bool = false;
    /// The most cards that are sent and settled at a time.
    const CHUNK: u32 = u32::MAX;

    /// Whether a card that the partner blocks is refused, whatever the bank knows of the block.
    const HEEDS_BLOCKS: bool = false;

    /// The first reason why a new batch cannot have the card, which is not closed and in no other batch.
    fn conflict(target: &BatchTarget, today: Date) -> Option<ConflictReason>;
    /// How long a new batch with these items stays new at least.
    fn delay(env: &Env, _: &[BatchItem<Self>]) -> Duration {
        env.settings.processing_delay
    }
    /// What happens at once to the cards of a new batch.
    fn accepted(
        _: &mut dyn UnitOfWork,
        _: &Env,
        _: PartnerId,
        _: &[BatchItem<Self>],
    ) -> Result<(), StoreError> {
        Ok(())
    }
    /// Whether a new batch has to wait for others that have its cards.
    fn has_to_wait(_: &mut dyn UnitOfWork, _: PartnerId, _: &CardBatch<Self>) -> Result<bool, StoreError> {
        Ok(false)
    }
    /// What the bank shall do with a card of a batch with these terms.
    fn instruction(terms: &Self::Terms, item: &BatchItem<Self>) -> Instruction;
    /// Why the card was refused, if the bank declined it for `reason`.
    fn refusal(reason: DeclineReason) -> Self::Refusal;
    /// What happens when a worker takes a new batch up.
    fn start(
        unit: &mut dyn UnitOfWork,
        env: &Env,
        partner: PartnerId,
        batch: &CardBatch<Self>,
    ) -> Result<(), StoreError>;
    /// What follows from the verdicts on some of the cards, beside their new states.
    fn apply(
        unit: &mut dyn UnitOfWork,
        env: &Env,
        partner: PartnerId,
        batch: &CardBatch<Self>,
        decided: &BatchDecision<'_, Self>,
    ) -> Result<(), StoreError>;
    /// The money that is held for an undecided card, if this kind moves money.
    fn held(item: &BatchItem<Self>) -> Option<Kopecks>;
    /// What the ledger calls a batch, if this kind moves money.
    fn reference(id: Self::Id) -> Option<Reference>;

    /// What a card that was carried out had moved on it, below zero if money left it; `None` if nothing moved.
    fn card_movement(item: &BatchItem<Self>) -> Option<Kopecks> {
        // An amount above zero always has an opposite.
        item.state.returned().filter(|amount| amount.is_positive()).map(|amount| Kopecks::new(-amount.get()))
    }

    /// The key under which the bank does what it is sent for a card once. It never changes.
    fn key(id: Self::Id, item: &BatchItem<Self>) -> BankKey {
        BankKey::of(Self::KEY, id.into(), Some(item.ordinal))
    }
}

/// Cards of a batch on which there is a verdict, in their new states.
#[derive(Debug)]
pub(crate) struct BatchDecision<'a, K: ProcessedKind> {
    /// Carried out.
    pub(crate) done: Vec<&'a BatchItem<K>>,
    /// Declined.
    pub(crate) refused: Vec<&'a BatchItem<K>>,
}

/// Why a card cannot be part of a new batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConflictReason {
    /// It is closed.
    Closed,
    /// Another open batch has it.
    InBatch,
    /// It is no MAIN card.
    NotMain,
    /// It has expired.
    Expired,
    /// The employee that the request names has no MAIN card.
    NoMainCard,
}

/// A card that cannot be part of a new batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CardConflict {
    /// As the request names it.
    pub named: CardRef,
    /// The card; `None` for an employee without MAIN card.
    pub card: Option<CardId>,
    /// Why.
    pub reason: ConflictReason,
}

/// Why a batch was not accepted; `T` says what is wrong with the batch as a whole.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CreateBatchError<T> {
    /// Cards that another name stands for before: their places from 0, and their names.
    #[error("cards that stand twice")]
    Twice(Vec<(usize, CardRef)>),
    /// The partner has no such cards or employees, in the order of the request.
    #[error("unknown cards")]
    UnknownCards(Vec<CardRef>),
    /// What the batch says for all of its cards is refused.
    #[error("refused terms")]
    Terms(T),
    /// Cards that the batch cannot have now, in the order of the request.
    #[error("cards in conflict")]
    Conflicts(Vec<CardConflict>),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Why a batch was not shown.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BatchError {
    /// The partner has no such batch.
    #[error("no such request")]
    NotFound,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Why a batch has no result to show.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BatchResultError {
    /// The partner has no such batch.
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

/// Why a batch was not cancelled.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CancelBatchError {
    /// The partner has no such batch.
    #[error("no such request")]
    NotFound,
    /// Its state does not allow it, or, while it is new, its kind.
    #[error("the request is {0}")]
    WrongState(BatchState),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Accepts a batch of `cards`, each once and with what the batch says for it, and enqueues its job, after the processing
/// delay unless the kind has another.
///
/// Unknown cards are reported first, as 404 comes before 409. Faulty terms come before cards in conflict: those may be
/// free in a moment, and a caller who waited for them would then learn that the request can never succeed.
pub(crate) fn create<K: ProcessedKind, T>(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    partner: PartnerId,
    cards: &[(CardRef, K::ItemTerms)],
    terms: Result<K::Terms, T>,
    reference: Option<&RequestReference>,
) -> Result<CardBatch<K>, CreateBatchError<T>> {
    let named = NamedCards::find(unit, partner, cards.iter().map(|(card, _)| card))?;
    let targets = targets::<K, T>(unit, partner, &named)?;
    let terms = terms.map_err(CreateBatchError::Terms)?;
    let today = env.today();
    let lane = K::lane(&terms);
    let conflict = |target: &BatchTarget| {
        if target.standing == Standing::Closed {
            // For good, so that waiting for the other batch is of no use.
            Some(ConflictReason::Closed)
        } else if target.claims.exclude(lane) {
            Some(ConflictReason::InBatch)
        } else {
            K::conflict(target, today)
        }
    };
    let conflicts = named.conflicts(|card| targets.get(&card).and_then(conflict));
    if !conflicts.is_empty() {
        return Err(CreateBatchError::Conflicts(conflicts));
    }
    let found =
        named.iter().zip(cards).filter_map(|((_, card), (_, own))| Some((targets.get(&card?)?, *own)));
    match accept(unit, env, partner, &found.collect::<Vec<_>>(), terms, reference) {
        Err(StoreError::Conflict(Rule::CardInOneBatch)) => {
            Err(CreateBatchError::Conflicts(taken::<K>(unit, partner, &named, lane)?))
        }
        accepted => Ok(accepted?),
    }
}

/// Accepts a batch of cards which this unit of work has found free and fit for it.
///
/// # Errors
/// [`Rule::CardInOneBatch`] if a concurrent request has taken one, and those of the store.
pub(crate) fn accept<K: ProcessedKind>(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    partner: PartnerId,
    cards: &[(&BatchTarget, K::ItemTerms)],
    terms: K::Terms,
    reference: Option<&RequestReference>,
) -> Result<CardBatch<K>, StoreError> {
    let item = |(ordinal, (target, terms)): (u32, &(&BatchTarget, K::ItemTerms))| BatchItem {
        ordinal,
        card: target.card,
        number: target.number,
        terms: *terms,
        state: ItemState::Open,
    };
    let items: Vec<BatchItem<K>> = (0..).zip(cards).map(item).collect();
    let count = u32::try_from(items.len()).unwrap_or(u32::MAX);
    let batch = CardBatch::new(K::Id::from(env.ids.next_id()), count, terms, env.now());
    let batch = batch.with_reference(reference.cloned());
    K::repository(unit).insert(partner, &batch, &items)?;
    unit.jobs().enqueue(partner, K::subject(batch.id()), K::delay(env, &items))?;
    events::append(unit, env, partner, [batch.status_event()])?;
    K::accepted(unit, env, partner, &items)?;
    Ok(batch)
}

/// The cards of a new batch, all of which the partner has.
pub(crate) fn targets<K: StoredKind, T>(
    unit: &mut dyn UnitOfWork,
    partner: PartnerId,
    cards: &NamedCards<'_>,
) -> Result<HashMap<CardId, BatchTarget>, CreateBatchError<T>> {
    let found = K::repository(unit).targets(partner, &cards.ids())?;
    let targets: HashMap<_, _> = found.into_iter().map(|target| (target.card, target)).collect();
    let is_unknown = |card: CardId| !targets.contains_key(&card);
    let unknown = cards.iter().filter(|(_, card)| card.is_some_and(is_unknown));
    let unknown: Vec<CardRef> = unknown.map(|(named, _)| named.clone()).collect();
    if unknown.is_empty() { Ok(targets) } else { Err(CreateBatchError::UnknownCards(unknown)) }
}

/// The cards that a concurrent request took. All of `cards` if the store does not show which: within this transaction
/// a database may show its data as they were.
fn taken<K: ProcessedKind>(
    unit: &mut dyn UnitOfWork,
    partner: PartnerId,
    cards: &NamedCards<'_>,
    lane: Lane,
) -> Result<Vec<CardConflict>, StoreError> {
    let targets = K::repository(unit).targets(partner, &cards.ids())?;
    let taken: HashSet<CardId> =
        targets.into_iter().filter(|target| target.claims.exclude(lane)).map(|target| target.card).collect();
    let is_taken = |card| taken.is_empty() || taken.contains(&card);
    Ok(cards.conflicts(|card| is_taken(card).then_some(ConflictReason::InBatch)))
}

/// A batch of the partner.
///
/// # Errors
/// [`BatchError`].
pub fn get<K: StoredKind>(
    unit: &mut dyn UnitOfWork,
    partner: PartnerId,
    id: K::Id,
) -> Result<CardBatch<K>, BatchError> {
    K::repository(unit).get(partner, id)?.ok_or(BatchError::NotFound)
}

/// A batch that is done with what became of its cards, of the first `limit` at most. None of that ever changes: the
/// rest can be read later, and fits.
///
/// # Errors
/// [`BatchResultError`].
pub fn result<K: StoredKind>(
    unit: &mut dyn UnitOfWork,
    partner: PartnerId,
    id: K::Id,
    limit: u32,
) -> Result<(CardBatch<K>, Vec<BatchItem<K>>), BatchResultError> {
    let batch = K::repository(unit).get(partner, id)?.ok_or(BatchResultError::NotFound)?;
    match batch.state() {
        BatchState::New | BatchState::InProcess => Err(BatchResultError::NotProcessed),
        BatchState::Rejected => Err(BatchResultError::Cancelled),
        BatchState::Success | BatchState::PartSuccess | BatchState::Decline => {
            let items = K::repository(unit).items(partner, id, 0, limit)?;
            Ok((batch, items))
        }
    }
}

/// More of a batch whose [`result`] was shown: its cards from number `from` on, `limit` at most.
///
/// # Errors
/// [`StoreError`] if the store fails.
pub fn more_of_result<K: StoredKind>(
    unit: &mut dyn UnitOfWork,
    partner: PartnerId,
    id: K::Id,
    from: u32,
    limit: u32,
) -> Result<Vec<BatchItem<K>>, StoreError> {
    K::repository(unit).items(partner, id, from, limit)
}

/// Cancels a batch that no worker has taken up; cancelling twice changes nothing.
///
/// # Errors
/// [`CancelBatchError`].
pub fn cancel<K: StoredKind>(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    partner: PartnerId,
    id: K::Id,
) -> Result<CardBatch<K>, CancelBatchError> {
    let before = K::repository(unit).get(partner, id)?.ok_or(CancelBatchError::NotFound)?;
    let was_open = before.state().is_open();
    let batch = before.cancel(env.now()).map_err(|refusal| CancelBatchError::WrongState(refusal.from))?;
    if was_open {
        set_state(unit, env, partner, &batch)?;
        K::repository(unit).release_cards(partner, id)?;
        unit.jobs().cancel(partner, K::subject(id))?;
    }
    Ok(batch)
}

/// Stores the batch's new state.
pub(crate) fn set_state<K: StoredKind>(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    partner: PartnerId,
    batch: &CardBatch<K>,
) -> Result<(), StoreError> {
    K::repository(unit).set_state(partner, batch)?;
    events::append(unit, env, partner, [batch.status_event()])
}

/// A page of the partner's batches, newest first: those that fit `filter`, whose state no batch may be able to have.
///
/// # Errors
/// [`StoreError`] if the store fails.
pub fn list<K: StoredKind>(
    unit: &mut dyn UnitOfWork,
    partner: PartnerId,
    filter: &RequestFilter<RequestState>,
    page: Page,
) -> Result<Listed<CardBatch<K>>, StoreError> {
    match filter.narrowed(BatchState::of) {
        Some(own) => K::repository(unit).list(partner, &own, page),
        None => Ok(Listed { items: Vec::new(), total: 0 }),
    }
}

#[cfg(test)]
mod tests;
