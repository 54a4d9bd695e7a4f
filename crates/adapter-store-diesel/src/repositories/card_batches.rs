//! Card batches: one repository and one pair of tables for every kind.

mod facts;
mod kinds;
mod rows;
mod target;

use diesel::dsl::{auto_type, count_star};
use diesel::prelude::*;
use kopeck_domain::Kopecks;
use kopeck_domain::card_batch::{BatchItem, CardBatch, ItemState};
use kopeck_domain::ids::{CardId, PartnerId};
use kopeck_port_store::page::{Listed, Page};
use kopeck_port_store::{
    BatchFacts, BatchFilter, BatchTarget, CardBatchRepository, CardClaims, ItemCounts, Lane, StoreError,
};

use self::kinds::StoredColumns;
use self::rows::{BatchRow, DONE, ItemRow, OPEN, REFUSED, state_columns};
use self::target::TargetOf;
use super::{descending, listed, window};
use crate::connection::MultiBackend;
use crate::convert::{AsKey, corrupt, natural};
use crate::dialect;
use crate::error::{Stored, StoredRows};
use crate::schema::{card_batch_items, card_batches};
use crate::sql_types::{Id, UtcTimestamp};
use crate::statements::{self, Bind, OneOf, binds};
use crate::transaction::DieselTransaction;

/// A batch of more cards does not go through the write buffer.
const MAX_BUFFERED_CARDS: usize = 100;

/// The items of a batch. Identifiers of batches are unique over all kinds.
#[auto_type]
fn items_of(partner: PartnerId, batch: Id) -> _ {
    let partner: Id = partner.key();
    card_batch_items::table
        .filter(card_batch_items::partner_id.eq(partner))
        .filter(card_batch_items::batch_id.eq(batch))
}

/// Those of them with ordinals from `first` to before `end`.
#[auto_type]
fn items_in(partner: PartnerId, batch: Id, first: i64, end: i64) -> _ {
    let items: items_of = items_of(partner, batch);
    items.filter(card_batch_items::ordinal.ge(first)).filter(card_batch_items::ordinal.lt(end))
}

const MARK_SENT: &str = "UPDATE card_batch_items SET sent = ? \
    WHERE partner_id = ? AND batch_id = ? AND ordinal BETWEEN ? AND ? AND ordinal ?";

const SETTLE: &str = "UPDATE card_batch_items SET state = ?, refusal = ?, returned = ? \
    WHERE partner_id = ? AND batch_id = ? AND ordinal BETWEEN ? AND ? AND ordinal ? AND state = 'OPEN'";

/// With `claimed` as a literal PostgreSQL could take the index of claimed cards, which has those of all of the partner's
/// batches.
const RELEASE: &str = "UPDATE card_batch_items SET claimed = ? \
    WHERE partner_id = ? AND batch_id = ? AND ordinal >= ? AND ordinal < ? AND claimed = ?";

/// The partner's batches of a kind that fit `filter`.
fn filtered(
    partner: PartnerId,
    kind: &'static str,
    filter: &BatchFilter,
) -> card_batches::BoxedQuery<'static, MultiBackend> {
    let BatchFilter { state, reference, from, before } = filter;
    let mut query = card_batches::table
        .filter(card_batches::partner_id.eq(partner.key()))
        .filter(card_batches::kind.eq(kind))
        .into_boxed();
    if let Some(state) = state {
        query = query.filter(card_batches::state.eq(state.as_str()));
    }
    if let Some(reference) = reference {
        query = query.filter(card_batches::reference.eq(reference.as_str().to_owned()));
    }
    if let Some(from) = from {
        query = query.filter(card_batches::created_at.ge(UtcTimestamp::of(*from)));
    }
    if let Some(before) = before {
        query = query.filter(card_batches::created_at.lt(UtcTimestamp::of(*before)));
    }
    query
}

impl DieselTransaction {
    /// How many cards the batch has: none if there is no such batch.
    fn cards_in<K: StoredColumns>(&mut self, partner: PartnerId, id: K::Id) -> Result<i64, StoreError> {
        let batch = CardBatchRepository::<K>::get(self, partner, id)?;
        Ok(batch.map_or(0, |batch| i64::from(batch.cards())))
    }

    /// How many cards the batch has, and an ordinal before which all of them are decided; none if there is no such batch.
    fn extent<K: StoredColumns>(&mut self, partner: PartnerId, id: K::Id) -> Result<(i64, i64), StoreError> {
        let found = card_batches::table
            .find((partner.key(), id.key()))
            .filter(card_batches::kind.eq(K::KIND))
            .select((card_batches::cards, card_batches::first_open))
            .get_result(self.of(partner)?)
            .optional()
            .stored()?;
        Ok(found.unwrap_or_default())
    }

    /// Notes of a large batch, whose cards are decided one after the other, that those up to here are: so that no step passes over
    /// them again for each of the next ones.
    fn pass_decided<K: StoredColumns>(
        &mut self,
        partner: PartnerId,
        id: K::Id,
        mut ordinals: Vec<i64>,
    ) -> Result<(), StoreError> {
        ordinals.sort_unstable();
        let Some(first) = ordinals.first().copied() else { return Ok(()) };
        let in_a_row = (first..).zip(&ordinals).take_while(|(next, ordinal)| next == *ordinal).count();
        let end = first + i64::try_from(in_a_row).unwrap_or(0);
        if end < i64::from(statements::SCAN_CHUNK) {
            return Ok(());
        }
        let text = "UPDATE card_batches SET first_open = ? WHERE partner_id = ? AND id = ? AND first_open BETWEEN ? AND ?";
        self.change(partner, text, binds![end, partner.key(), id.key(), first, end])
    }

    /// The undecided items of a batch, `limit` at most, by ordinal, with those marked as sent or without.
    fn undecided<K: StoredColumns>(
        &mut self,
        partner: PartnerId,
        id: K::Id,
        limit: u32,
        sent_too: bool,
    ) -> Result<Vec<BatchItem<K>>, StoreError> {
        let mut found: Vec<BatchItem<K>> = Vec::new();
        let mut left = limit;
        let (cards, first_open) = self.extent::<K>(partner, id)?;
        let ranges = statements::ordinal_ranges(cards, statements::SCAN_CHUNK);
        for (first, end) in ranges.skip_while(|(_, end)| *end <= first_open) {
            let mut from = first.max(first_open);
            while from < end && left > 0 {
                let most = left.min(statements::UPDATE_CHUNK);
                let rows: Vec<ItemRow> = items_in(partner, id.key(), from, end)
                    .filter(card_batch_items::state.eq(OPEN))
                    .filter(card_batch_items::sent.eq(false).or(card_batch_items::sent.eq(sent_too)))
                    .order(card_batch_items::ordinal)
                    .limit(i64::from(most))
                    .select(ItemRow::as_select())
                    .load(self.of(partner)?)
                    .stored()?;
                let count = u32::try_from(rows.len()).unwrap_or(most);
                // A statement that found fewer than its limit has found the last.
                let last = rows.last().filter(|_| count == most);
                from = last.map_or(end, |last| last.ordinal + 1);
                left -= count;
                for row in rows {
                    found.push(row.item()?);
                }
            }
        }
        Ok(found)
    }

    /// Updates items by `statement`, which begins with these values and goes on with the batch and the ordinals.
    ///
    /// It names the range of the ordinals too: whatever PostgreSQL's planner makes of the list, it reads that part of
    /// the primary key and no more.
    fn update_items(
        &mut self,
        partner: PartnerId,
        batch: Id,
        ordinals: &[i64],
        statement: &'static str,
        values: impl Fn() -> Vec<Bind<'static>>,
    ) -> Result<(), StoreError> {
        let (connection, partner) = (self.of(partner)?, partner.key());
        for some in ordinals.chunks(statements::UPDATE_CHUNK as usize) {
            let (Some(first), Some(last)) = (some.iter().min(), some.iter().max()) else { continue };
            let mut values = values();
            values.extend(binds![partner, batch, first, last, OneOf(some.to_vec())]);
            statements::execute(connection, statement, values).stored()?;
        }
        Ok(())
    }

    /// Takes the rows into the write buffer if it takes any, and notes that the cards are in a batch.
    fn buffer<K: StoredColumns>(
        &mut self,
        partner: PartnerId,
        lane: Lane,
        batch: BatchRow,
        items: &[BatchItem<K>],
    ) -> Result<Option<BatchRow>, StoreError> {
        if items.len() > MAX_BUFFERED_CARDS {
            return Ok(Some(batch));
        }
        let Some(buffer) = self.pending(partner)? else { return Ok(Some(batch)) };
        let rows: Vec<ItemRow> = items.iter().map(|item| ItemRow::new(&batch, item)).collect();
        buffer.add(batch);
        rows.into_iter().for_each(|row| buffer.add(row));
        for item in items {
            let key = TargetOf { card: item.card };
            if let Some(target) = self.load(partner, key.clone())? {
                let claims = target.claims.and(CardClaims::of(lane));
                self.remember(partner, key, Some(BatchTarget { claims, ..target }));
            }
        }
        Ok(None)
    }
}

impl<K: StoredColumns> CardBatchRepository<K> for DieselTransaction {
    fn targets(&mut self, partner: PartnerId, cards: &[CardId]) -> Result<Vec<BatchTarget>, StoreError> {
        if self.run.is_batched() && cards.len() <= MAX_BUFFERED_CARDS {
            let keys = cards.iter().map(|card| TargetOf { card: *card });
            return Ok(self.load_all(partner, keys)?.into_iter().flatten().collect());
        }
        let connection = self.of(partner)?;
        let some = |some| target::load(connection, partner, some);
        let found: Vec<_> =
            cards.chunks(statements::UPDATE_CHUNK as usize).map(some).collect::<Result<_, _>>()?;
        Ok(found.into_iter().flatten().collect())
    }

    fn insert(
        &mut self,
        partner: PartnerId,
        batch: &CardBatch<K>,
        items: &[BatchItem<K>],
    ) -> Result<(), StoreError> {
        let seq = self.next_number(partner, K::LIST)?;
        let Some(row) =
            self.buffer(partner, K::lane(batch.terms()), BatchRow::new(partner, seq, batch), items)?
        else {
            return self.give_out(partner, K::LIST, seq);
        };
        statements::insert(self.of(partner)?, std::slice::from_ref(&row)).stored()?;
        self.give_out(partner, K::LIST, seq)?;
        dialect::guarded(self.of(partner)?, |connection| {
            items.chunks(statements::INSERT_CHUNK).try_for_each(|items| {
                let rows: Vec<ItemRow> = items.iter().map(|item| ItemRow::new(&row, item)).collect();
                statements::insert(connection, &rows)
            })
        })
        .stored()
    }

    fn get(&mut self, partner: PartnerId, id: K::Id) -> Result<Option<CardBatch<K>>, StoreError> {
        card_batches::table
            .find((partner.key(), id.key()))
            .filter(card_batches::kind.eq(K::KIND))
            .select(BatchRow::as_select())
            .get_result(self.of(partner)?)
            .found(BatchRow::batch)
    }

    fn set_state(&mut self, partner: PartnerId, batch: &CardBatch<K>) -> Result<(), StoreError> {
        let text = "UPDATE card_batches SET state = ?, state_since = ? WHERE partner_id = ? AND id = ?";
        let (state, since) = (batch.state().as_str(), UtcTimestamp::of(batch.state_since()));
        self.change(partner, text, binds![state, since, partner.key(), batch.id().key()])
    }

    fn items(
        &mut self,
        partner: PartnerId,
        id: K::Id,
        from_ordinal: u32,
        limit: u32,
    ) -> Result<Vec<BatchItem<K>>, StoreError> {
        items_of(partner, id.key())
            .filter(card_batch_items::ordinal.ge(i64::from(from_ordinal)))
            .order(card_batch_items::ordinal)
            .limit(i64::from(limit))
            .select(ItemRow::as_select())
            .load(self.of(partner)?)
            .all(ItemRow::item)
    }

    fn open_items(
        &mut self,
        partner: PartnerId,
        id: K::Id,
        limit: u32,
    ) -> Result<Vec<BatchItem<K>>, StoreError> {
        self.undecided(partner, id, limit, true)
    }

    fn unsent_items(
        &mut self,
        partner: PartnerId,
        id: K::Id,
        limit: u32,
    ) -> Result<Vec<BatchItem<K>>, StoreError> {
        self.undecided(partner, id, limit, false)
    }

    fn mark_sent(
        &mut self,
        partner: PartnerId,
        id: K::Id,
        ordinals: &[u32],
        sent: bool,
    ) -> Result<(), StoreError> {
        let ordinals: Vec<i64> = ordinals.iter().copied().map(i64::from).collect();
        self.update_items(partner, id.key(), &ordinals, MARK_SENT, || binds![sent])
    }

    fn settle_items(
        &mut self,
        partner: PartnerId,
        id: K::Id,
        decided: &[(u32, ItemState<K::Refusal>)],
    ) -> Result<(), StoreError> {
        // One statement for each outcome, of which there are few, but for amounts that come back: these come in small
        // chunks. One for all would have to join the outcomes, and while a batch is new to PostgreSQL's statistics, its
        // planner compares each item with each outcome.
        let mut by_outcome = std::collections::BTreeMap::<_, Vec<i64>>::new();
        for (ordinal, state) in decided {
            by_outcome.entry(state_columns(*state)).or_default().push(i64::from(*ordinal));
        }
        for ((state, refusal, returned), ordinals) in by_outcome {
            let outcome = || binds![state, refusal, returned];
            self.update_items(partner, id.key(), &ordinals, SETTLE, outcome)?;
        }
        let ordinals = decided.iter().map(|(ordinal, _)| i64::from(*ordinal)).collect();
        self.pass_decided::<K>(partner, id, ordinals)
    }

    fn add_returned(&mut self, partner: PartnerId, id: K::Id, amount: Kopecks) -> Result<(), StoreError> {
        let text = "UPDATE card_batches SET returned = returned + ? WHERE partner_id = ? AND id = ?";
        self.change(partner, text, binds![amount.get(), partner.key(), id.key()])
    }

    fn counts(&mut self, partner: PartnerId, id: K::Id) -> Result<ItemCounts, StoreError> {
        let mut counts = ItemCounts::default();
        let cards = self.cards_in::<K>(partner, id)?;
        for (first, end) in statements::ordinal_ranges(cards, statements::COUNT_CHUNK) {
            let groups: Vec<(String, i64)> = items_in(partner, id.key(), first, end)
                .group_by(card_batch_items::state)
                .select((card_batch_items::state, count_star()))
                .load(self.of(partner)?)
                .stored()?;
            for (state, count) in groups {
                let slot = match state.as_str() {
                    OPEN => &mut counts.open,
                    DONE => &mut counts.done,
                    REFUSED => &mut counts.refused,
                    _ => return Err(corrupt("card_batch_items.state")),
                };
                *slot += natural::<u32>(count, "card_batch_items")?;
            }
        }
        Ok(counts)
    }

    fn release_cards(&mut self, partner: PartnerId, id: K::Id) -> Result<(), StoreError> {
        let cards = self.cards_in::<K>(partner, id)?;
        for (first, end) in statements::ordinal_ranges(cards, statements::UPDATE_CHUNK) {
            let values = binds![false, partner.key(), id.key(), first, end, true];
            self.change(partner, RELEASE, values)?;
        }
        Ok(())
    }

    fn list(
        &mut self,
        partner: PartnerId,
        filter: &BatchFilter,
        page: Page,
    ) -> Result<Listed<CardBatch<K>>, StoreError> {
        let kind = || filtered(partner, K::KIND, filter);
        let own = || kind().order(card_batches::seq.desc()).select(BatchRow::as_select());
        let (total, rows) = if filter.is_empty() {
            let total = self.last_number(partner, K::LIST)?.unwrap_or(0);
            let (after, up_to) = descending(page, total);
            (total, own().filter(card_batches::seq.gt(after)).filter(card_batches::seq.le(up_to)))
        } else {
            let total: i64 = kind().count().get_result(self.of(partner)?).stored()?;
            let (limit, offset) = window(page);
            (total, own().limit(limit).offset(offset))
        };
        listed(total, rows.load(self.of(partner)?), BatchRow::batch)
    }

    fn facts(&mut self, partner: PartnerId) -> Result<Vec<BatchFacts<K>>, StoreError> {
        facts::all(self.of(partner)?, partner)
    }
}
