//! Follows the requests of a run, and decides its items by what became of theirs.

use kopeck_domain::card_batch::{BatchItem, BatchState, CardBatch, ItemState};
use kopeck_domain::ids::PartnerId;
use kopeck_domain::limit_change::LimitChanges;
use kopeck_domain::order::OrderState;
use kopeck_domain::replenishment::TopUps;
use kopeck_domain::run::{Outcome, Run, RunItem};
use kopeck_domain::withdrawal::Withdrawals;
use kopeck_port_store::{RunDecision, RunRequest, StoreError, StoredKind, UnitOfWork};

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
    let items = unit.runs().open_items(partner, run.id(), u32::MAX)?;
    let mut decisions = Vec::with_capacity(items.len());
    for request in requests {
        decisions.extend(match *request {
            RunRequest::Order(id) => {
                let order = unit.orders().get(partner, id)?.ok_or_else(missing)?;
                let of = |item: &RunItem| match order.state() {
                    OrderState::Success | OrderState::Confirmed => done(item),
                    OrderState::Rejected => decision(item, Outcome::Refused, CANCELLED),
                    _ => decision(item, Outcome::Refused, "refused by the bank"),
                };
                items.iter().map(of).collect()
            }
            RunRequest::Replenishment(id) => {
                let batch = batch::<TopUps>(unit, partner, id)?;
                of_batch(unit, partner, &batch, &items, |refusal| refusal.text())?
            }
            RunRequest::LimitChange(id) => {
                let batch = batch::<LimitChanges>(unit, partner, id)?;
                let own = items.iter().filter(|item| item.limit.as_ref() == Some(batch.limit()));
                let own: Vec<RunItem> = own.cloned().collect();
                of_batch(unit, partner, &batch, &own, |refusal| refusal.text())?
            }
            RunRequest::Withdrawal(id) => {
                let batch = batch::<Withdrawals>(unit, partner, id)?;
                of_batch(unit, partner, &batch, &items, |refusal| refusal.text())?
            }
        });
    }
    unit.runs().decide(partner, run.id(), &decisions)?;
    Ok(false)
}

fn batch<K: StoredKind>(
    unit: &mut dyn UnitOfWork,
    partner: PartnerId,
    id: K::Id,
) -> Result<CardBatch<K>, StoreError> {
    K::repository(unit).get(partner, id)?.ok_or_else(missing)
}

/// The decisions on the items of a batch, which are in its order.
fn of_batch<K: StoredKind>(
    unit: &mut dyn UnitOfWork,
    partner: PartnerId,
    batch: &CardBatch<K>,
    items: &[RunItem],
    text: fn(K::Refusal) -> &'static str,
) -> Result<Vec<RunDecision>, StoreError> {
    if batch.state() == BatchState::Rejected {
        return Ok(items.iter().map(|item| decision(item, Outcome::Refused, CANCELLED)).collect());
    }
    let verdicts = K::repository(unit).items(partner, batch.id(), 0, batch.cards())?;
    if verdicts.len() != items.len() {
        return Err(StoreError::Corrupt("run_items: a run has other items than its request".to_owned()));
    }
    let of = |(item, verdict): (&RunItem, &BatchItem<K>)| match verdict.state {
        ItemState::Done | ItemState::Returned(_) => Ok(done(item)),
        ItemState::Refused(refusal) => Ok(decision(item, Outcome::Refused, text(refusal))),
        ItemState::Open => {
            Err(StoreError::Corrupt("card_batch_items.state: open after the end of the batch".to_owned()))
        }
    };
    items.iter().zip(&verdicts).map(of).collect()
}

fn done(item: &RunItem) -> RunDecision {
    RunDecision { ordinal: item.ordinal, outcome: Outcome::Done, reason: None, employee: None }
}

fn missing() -> StoreError {
    StoreError::Corrupt("run_requests: there is no such request".to_owned())
}
