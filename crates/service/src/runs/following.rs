//! Follows the requests of a run, and decides its items by what became of theirs.

use kopeck_domain::card_batch::{BatchItem, BatchState, CardBatch, ItemState};
use kopeck_domain::ids::{OrderId, PartnerId};
use kopeck_domain::limit_change::LimitChanges;
use kopeck_domain::order::OrderState;
use kopeck_domain::replenishment::TopUps;
use kopeck_domain::run::{Outcome, Run, RunItem};
use kopeck_domain::withdrawal::Withdrawals;
use kopeck_port_store::{RunDecision, RunRequest, StoreError, StoredKind, UnitOfWork};

use super::ending::ITEMS_AT_ONCE;
use super::execution::decision;

const CANCELLED: &str = "the request was cancelled";

/// Decides the items of the requests that have ended. Whether one has not.
pub(super) fn advance(
    unit: &mut dyn UnitOfWork,
    partner: PartnerId,
    run: &Run,
    requests: &[RunRequest],
) -> Result<bool, StoreError> {
    for request in requests {
        let is_open = match *request {
            RunRequest::Order(id) => {
                let order = unit.orders().get(partner, id)?.ok_or_else(missing)?;
                order.state().is_open()
            }
            RunRequest::Replenishment(id) => batch::<TopUps>(unit, partner, id)?.state().is_open(),
            RunRequest::LimitChange(id) => batch::<LimitChanges>(unit, partner, id)?.state().is_open(),
            RunRequest::Withdrawal(id) => batch::<Withdrawals>(unit, partner, id)?.state().is_open(),
        };
        if is_open {
            return Ok(true);
        }
    }
    for request in requests {
        match *request {
            RunRequest::Order(id) => decide_order(unit, partner, run, id)?,
            RunRequest::Replenishment(id) => {
                let batch = batch::<TopUps>(unit, partner, id)?;
                decide_batch(unit, partner, run, &batch, |_| true, |refusal| refusal.text())?;
            }
            RunRequest::LimitChange(id) => {
                let batch = batch::<LimitChanges>(unit, partner, id)?;
                let has_it = |item: &RunItem| item.limit.as_ref() == Some(batch.limit());
                decide_batch(unit, partner, run, &batch, has_it, |refusal| refusal.text())?;
            }
            RunRequest::Withdrawal(id) => {
                let batch = batch::<Withdrawals>(unit, partner, id)?;
                decide_batch(unit, partner, run, &batch, |_| true, |refusal| refusal.text())?;
            }
        }
    }
    Ok(false)
}

/// Decides the items of an order, which has few.
fn decide_order(
    unit: &mut dyn UnitOfWork,
    partner: PartnerId,
    run: &Run,
    id: OrderId,
) -> Result<(), StoreError> {
    let order = unit.orders().get(partner, id)?.ok_or_else(missing)?;
    let items = unit.runs().open_items(partner, run.id(), u32::MAX)?;
    let of = |item: &RunItem| match order.state() {
        OrderState::Success | OrderState::Confirmed => done(item),
        OrderState::Rejected => decision(item, Outcome::Refused, CANCELLED),
        _ => decision(item, Outcome::Refused, "refused by the bank"),
    };
    let decisions: Vec<RunDecision> = items.iter().map(of).collect();
    unit.runs().decide(partner, run.id(), &decisions)
}

fn batch<K: StoredKind>(
    unit: &mut dyn UnitOfWork,
    partner: PartnerId,
    id: K::Id,
) -> Result<CardBatch<K>, StoreError> {
    K::repository(unit).get(partner, id)?.ok_or_else(missing)
}

/// Decides the undecided items that `is_own` says are those of the batch, which has them in their order.
fn decide_batch<K: StoredKind>(
    unit: &mut dyn UnitOfWork,
    partner: PartnerId,
    run: &Run,
    batch: &CardBatch<K>,
    is_own: impl Fn(&RunItem) -> bool,
    text: fn(K::Refusal) -> &'static str,
) -> Result<(), StoreError> {
    let (mut from, mut place) = (0, 0);
    while from < run.totals().number {
        let mut items = unit.runs().items(partner, run.id(), from, ITEMS_AT_ONCE)?;
        from += ITEMS_AT_ONCE;
        items.retain(|item| item.outcome.is_none() && is_own(item));
        let count = u32::try_from(items.len()).unwrap_or(u32::MAX);
        let decisions: Vec<RunDecision> = if batch.state() == BatchState::Rejected {
            items.iter().map(|item| decision(item, Outcome::Refused, CANCELLED)).collect()
        } else {
            let verdicts = K::repository(unit).items(partner, batch.id(), place, count)?;
            if verdicts.len() != items.len() {
                return Err(other_items());
            }
            items.iter().zip(&verdicts).map(|pair| verdict_of(pair, text)).collect::<Result<_, _>>()?
        };
        unit.runs().decide(partner, run.id(), &decisions)?;
        place += count;
    }
    if place == batch.cards() { Ok(()) } else { Err(other_items()) }
}

fn verdict_of<K: StoredKind>(
    (item, verdict): (&RunItem, &BatchItem<K>),
    text: fn(K::Refusal) -> &'static str,
) -> Result<RunDecision, StoreError> {
    match verdict.state {
        ItemState::Done | ItemState::Returned(_) => Ok(done(item)),
        ItemState::Refused(refusal) => Ok(decision(item, Outcome::Refused, text(refusal))),
        ItemState::Open => {
            Err(StoreError::Corrupt("card_batch_items.state: open after the end of the batch".to_owned()))
        }
    }
}

fn other_items() -> StoreError {
    StoreError::Corrupt("run_items: a run has other items than its request".to_owned())
}

fn done(item: &RunItem) -> RunDecision {
    RunDecision { ordinal: item.ordinal, outcome: Outcome::Done, reason: None, employee: None }
}

fn missing() -> StoreError {
    StoreError::Corrupt("run_requests: there is no such request".to_owned())
}
