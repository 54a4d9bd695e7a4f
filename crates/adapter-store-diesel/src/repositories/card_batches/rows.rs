//! The rows of card batches and their items.

use diesel::prelude::*;
use kopeck_domain::card_batch::StoredBatch;
use kopeck_domain::card_batch::{BatchItem, CardBatch, ItemState};
use kopeck_domain::ids::PartnerId;
use kopeck_port_store::StoreError;

use super::kinds::StoredColumns;
use crate::convert::{AsKey, card_number, corrupt, natural, number, word};
use crate::schema::{card_batch_items, card_batches};
use crate::sql_types::{Id, UtcTimestamp};
use crate::statements::row;

/// The states of an item. The reason for a refusal has a column of its own.
pub(super) const OPEN: &str = "OPEN";
pub(super) const DONE: &str = "DONE";
pub(super) const REFUSED: &str = "REFUSED";

/// The columns `state` and `refusal` of an item.
pub(super) fn state_columns<R: Into<&'static str>>(
    state: ItemState<R>,
) -> (&'static str, Option<&'static str>) {
    match state {
        ItemState::Open => (OPEN, None),
        ItemState::Done => (DONE, None),
        ItemState::Refused(refusal) => (REFUSED, Some(refusal.into())),
    }
}

/// A card batch.
#[derive(Queryable, Selectable)]
#[diesel(table_name = card_batches)]
pub(crate) struct BatchRow {
    partner_id: Id,
    id: Id,
    kind: String,
    seq: i64,
    cards: i64,
    amount: Option<i64>,
    spending_limit: Option<String>,
    state: String,
    created_at: UtcTimestamp,
    state_since: UtcTimestamp,
}

impl BatchRow {
    pub(super) fn new<K: StoredColumns>(partner: PartnerId, seq: i64, batch: &CardBatch<K>) -> Self {
        let (amount, spending_limit) = K::columns(&batch.terms);
        Self {
            partner_id: partner.key(),
            id: batch.id.key(),
            kind: K::KIND.to_owned(),
            seq,
            cards: i64::from(batch.cards),
            amount,
            spending_limit,
            state: batch.state.as_str().to_owned(),
            created_at: UtcTimestamp::of(batch.created_at),
            state_since: UtcTimestamp::of(batch.state_since),
        }
    }

    pub(super) fn batch<K: StoredColumns>(self) -> Result<CardBatch<K>, StoreError> {
        Ok(CardBatch::from_stored(StoredBatch {
            id: self.id.to(),
            cards: natural(self.cards, "card_batches.cards")?,
            terms: K::terms(self.amount, self.spending_limit.as_deref())?,
            state: word(&self.state, "card_batches.state")?,
            created_at: self.created_at.time("card_batches.created_at")?,
            state_since: self.state_since.time("card_batches.state_since")?,
        }))
    }
}

/// One card of a batch.
#[derive(Queryable, Selectable)]
#[diesel(table_name = card_batch_items)]
pub(crate) struct ItemRow {
    partner_id: Id,
    batch_id: Id,
    pub(super) ordinal: i64,
    kind: String,
    card_id: Id,
    number: i64,
    amount: Option<i64>,
    state: String,
    refusal: Option<String>,
    claimed: bool,
    sent: bool,
}

impl ItemRow {
    pub(super) fn new<K: StoredColumns>(batch: &BatchRow, item: &BatchItem<K>) -> Self {
        let (state, refusal) = state_columns(item.state);
        Self {
            partner_id: batch.partner_id,
            batch_id: batch.id,
            ordinal: i64::from(item.ordinal),
            kind: batch.kind.clone(),
            card_id: item.card.key(),
            number: number(item.number),
            amount: K::item_amount(item.terms),
            state: state.to_owned(),
            refusal: refusal.map(ToOwned::to_owned),
            claimed: true,
            sent: false,
        }
    }

    pub(super) fn item<K: StoredColumns>(self) -> Result<BatchItem<K>, StoreError> {
        let state = match (self.state.as_str(), self.refusal.as_deref()) {
            (OPEN, None) => ItemState::Open,
            (DONE, None) => ItemState::Done,
            (REFUSED, Some(refusal)) => ItemState::Refused(word(refusal, "card_batch_items.refusal")?),
            _ => return Err(corrupt("card_batch_items.state")),
        };
        Ok(BatchItem {
            ordinal: natural(self.ordinal, "card_batch_items.ordinal")?,
            card: self.card_id.to(),
            number: card_number(self.number, "card_batch_items.number")?,
            terms: K::item_terms(self.amount)?,
            state,
        })
    }
}

row!(BatchRow, card_batches:
    partner_id, id, kind, seq, cards, amount, spending_limit, state, created_at, state_since);

row!(ItemRow, card_batch_items:
    partner_id, batch_id, ordinal, kind, card_id, number, amount, state, refusal, claimed, sent);
