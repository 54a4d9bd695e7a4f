//! The rows of card batches and their items.

use diesel::prelude::*;
use kopeck_domain::Kopecks;
use kopeck_domain::card_batch::BatchFields;
use kopeck_domain::card_batch::{BatchItem, CardBatch, ItemState};
use kopeck_domain::ids::PartnerId;
use kopeck_domain::request::RequestReference;
use kopeck_port_store::StoreError;

use super::kinds::{BatchColumns, ItemColumns, StoredColumns};
use crate::convert::{AsKey, card_number, corrupt, natural, number, word};
use crate::schema::{card_batch_items, card_batches};
use crate::sql_types::{Id, UtcTimestamp};
use crate::statements::row;

/// The states of an item. The reason for a refusal has a column of its own.
pub(super) const OPEN: &str = "OPEN";
pub(super) const DONE: &str = "DONE";
pub(super) const REFUSED: &str = "REFUSED";

/// The columns `state`, `refusal` and `returned` of an item.
pub(super) fn state_columns<R: Into<&'static str>>(
    state: ItemState<R>,
) -> (&'static str, Option<&'static str>, Option<i64>) {
    match state {
        ItemState::Open => (OPEN, None, None),
        ItemState::Done => (DONE, None, None),
        ItemState::Returned(amount) => (DONE, None, Some(amount.get())),
        ItemState::Refused(refusal) => (REFUSED, Some(refusal.into()), None),
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
    is_urgent: bool,
    returned: i64,
    reference: Option<String>,
}

impl BatchRow {
    pub(super) fn new<K: StoredColumns>(partner: PartnerId, seq: i64, batch: &CardBatch<K>) -> Self {
        let BatchColumns { amount, spending_limit, is_urgent } = K::columns(batch.terms());
        Self {
            partner_id: partner.key(),
            id: batch.id().key(),
            kind: K::KIND.to_owned(),
            seq,
            cards: i64::from(batch.cards()),
            amount,
            spending_limit,
            state: batch.state().as_str().to_owned(),
            created_at: UtcTimestamp::of(batch.created_at()),
            state_since: UtcTimestamp::of(batch.state_since()),
            is_urgent,
            returned: batch.returned().get(),
            reference: batch.reference().map(|reference| reference.as_str().to_owned()),
        }
    }

    pub(super) fn batch<K: StoredColumns>(self) -> Result<CardBatch<K>, StoreError> {
        let Self { amount, spending_limit, is_urgent, .. } = self;
        Ok(CardBatch::from_stored(BatchFields {
            id: self.id.to(),
            cards: natural(self.cards, "card_batches.cards")?,
            terms: K::terms(&BatchColumns { amount, spending_limit, is_urgent })?,
            returned: Kopecks::new(self.returned),
            state: word(&self.state, "card_batches.state")?,
            created_at: self.created_at.time("card_batches.created_at")?,
            state_since: self.state_since.time("card_batches.state_since")?,
            reference: self.reference.map(RequestReference::from_stored),
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
    reason: Option<String>,
    is_urgent: bool,
    returned: Option<i64>,
}

impl ItemRow {
    pub(super) fn new<K: StoredColumns>(batch: &BatchRow, item: &BatchItem<K>) -> Self {
        let (state, refusal, returned) = state_columns(item.state);
        let ItemColumns { amount, reason } = K::item_columns(item.terms);
        Self {
            partner_id: batch.partner_id,
            batch_id: batch.id,
            ordinal: i64::from(item.ordinal),
            kind: batch.kind.clone(),
            card_id: item.card.key(),
            number: number(item.number),
            amount,
            state: state.to_owned(),
            refusal: refusal.map(ToOwned::to_owned),
            claimed: true,
            sent: false,
            reason: reason.map(ToOwned::to_owned),
            is_urgent: batch.is_urgent,
            returned,
        }
    }

    pub(super) fn item<K: StoredColumns>(self) -> Result<BatchItem<K>, StoreError> {
        let state = match (self.state.as_str(), self.refusal.as_deref(), self.returned) {
            (OPEN, None, None) => ItemState::Open,
            (DONE, None, None) => ItemState::Done,
            (DONE, None, Some(amount)) => ItemState::Returned(Kopecks::new(amount)),
            (REFUSED, Some(refusal), None) => ItemState::Refused(word(refusal, "card_batch_items.refusal")?),
            _ => return Err(corrupt("card_batch_items.state")),
        };
        Ok(BatchItem {
            ordinal: natural(self.ordinal, "card_batch_items.ordinal")?,
            card: self.card_id.to(),
            number: card_number(self.number, "card_batch_items.number")?,
            terms: K::item_terms(self.amount, self.reason.as_deref())?,
            state,
        })
    }
}

row!(BatchRow, card_batches:
    partner_id, id, kind, seq, cards, amount, spending_limit, state, created_at, state_since, is_urgent,
    returned, reference);

row!(ItemRow, card_batch_items:
    partner_id, batch_id, ordinal, kind, card_id, number, amount, state, refusal, claimed, sent, reason,
    is_urgent, returned);
