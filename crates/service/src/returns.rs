//! What closings and withdrawals share: money that comes back from a card.

use kopeck_domain::card_batch::{BatchItem, CardBatch};
use kopeck_domain::event::{EventData, ReturnOrigin, Returned};
use kopeck_domain::ids::{CardId, PartnerId};
use kopeck_domain::ledger::{MovementKind, Reference};
use kopeck_port_store::{StoreError, UnitOfWork};

use crate::card_batches::ProcessedKind;
use crate::money::{self, MoveError};
use crate::{Env, events};

/// Cards that are settled in one unit of work: each adds a movement and events.
pub(crate) const CHUNK: u32 = 100;

/// Books what came back from a card that is done, and tells the partner. Nothing is booked for an empty card.
pub(crate) fn book<K: ProcessedKind>(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    partner: PartnerId,
    batch: &CardBatch<K>,
    item: &BatchItem<K>,
    by: ReturnOrigin,
) -> Result<(), StoreError> {
    let amount = item.state.returned().unwrap_or_default();
    if !amount.is_positive() {
        return Ok(());
    }
    let reference = match by {
        ReturnOrigin::Closing(id) => Reference::Closing(id),
        ReturnOrigin::Withdrawal(id) => Reference::Withdrawal(id),
    };
    money::book(unit, env, partner, MovementKind::Return, reference, amount)
        .map_err(MoveError::unexpected)?;
    let returned = Returned { amount, by, reference: batch.reference().cloned() };
    events::append(unit, env, partner, [EventData::BalanceReturned(returned)])
}

/// After the end of the batch every reader sees these cards as the bank has them, whatever the age of the stored copy.
pub(crate) fn outdate<K: ProcessedKind>(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    partner: PartnerId,
    items: &[&BatchItem<K>],
) -> Result<(), StoreError> {
    if items.is_empty() {
        return Ok(());
    }
    let cards: Vec<CardId> = items.iter().map(|item| item.card).collect();
    unit.cards().outdate_bank_view(partner, &cards, env.too_old_at())
}
