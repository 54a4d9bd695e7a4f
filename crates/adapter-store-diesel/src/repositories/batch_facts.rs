//! What the reconciliation compares of card batches.

use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Bool, Nullable, Text};
use kopeck_domain::Kopecks;
use kopeck_domain::card_batch::BatchKind;
use kopeck_domain::ids::PartnerId;
use kopeck_port_store::{BatchAmounts, BatchFacts, ItemCounts, StoreError};

use super::jobs;
use super::requests::{DONE, OPEN, REFUSED};
use crate::connection::AnyConnection;
use crate::convert::{AsKey, corrupt, natural, word};
use crate::error::Stored;
use crate::sql_types::{Id, sql};

/// The tables of one kind of batch.
pub(super) struct Tables {
    requests: &'static str,
    items: &'static str,
    /// The column of `items` that names the batch.
    belongs: &'static str,
    /// The money that a batch asks for.
    asked: &'static str,
    /// The money of an item.
    amount: &'static str,
    work: &'static str,
}

pub(super) const REPLENISHMENTS: Tables = Tables {
    requests: "replenishments",
    items: "replenishment_items",
    belongs: "replenishment_id",
    asked: "MAX(r.amount)",
    amount: "i.amount",
    work: jobs::REPLENISHMENT,
};

pub(super) const LIMIT_CHANGES: Tables = Tables {
    requests: "limit_changes",
    items: "limit_change_items",
    belongs: "limit_change_id",
    asked: "CAST(0 AS BIGINT)",
    amount: "0",
    work: jobs::LIMIT_CHANGE,
};

/// Every batch of the partner, oldest first.
pub(super) fn all<K: BatchKind>(
    connection: &mut AnyConnection,
    partner: PartnerId,
    tables: &Tables,
) -> Result<Vec<BatchFacts<K>>, StoreError> {
    let Tables { requests, items, belongs, asked, amount, work } = tables;
    let rows: Vec<FactsRow> = sql::<FactsSql>(&format!(
        "SELECT r.id, r.state, r.cards, {asked}, \
         EXISTS (SELECT 1 FROM jobs w WHERE w.partner_id = r.partner_id \
         AND w.subject_id = r.id AND w.subject_kind = "
    ))
    .bind::<Text, _>(*work)
    .sql(&format!(
        "), i.state, COUNT(i.state), CAST(COALESCE(SUM({amount}), 0) AS BIGINT), \
         CAST(COALESCE(SUM(CASE WHEN i.claimed THEN 1 ELSE 0 END), 0) AS BIGINT) \
         FROM {requests} r LEFT JOIN {items} i \
         ON i.partner_id = r.partner_id AND i.{belongs} = r.id WHERE r.partner_id = "
    ))
    .bind::<sql::Id, _>(partner.key())
    .sql(" GROUP BY r.partner_id, r.id, r.seq, r.state, r.cards, i.state ORDER BY r.seq")
    .load(connection)
    .stored()?;
    let mut all = Vec::new();
    for row in rows {
        row.add_to(&mut all, tables)?;
    }
    Ok(all)
}

type FactsSql = (sql::Id, Text, BigInt, BigInt, Bool, Nullable<Text>, BigInt, BigInt, BigInt);

/// The items of one batch that are in one state; a batch without items has one row without a state.
#[derive(Queryable)]
struct FactsRow {
    id: Id,
    state: String,
    cards: i64,
    asked: i64,
    has_job: bool,
    item_state: Option<String>,
    items: i64,
    amount: i64,
    claimed: i64,
}

impl FactsRow {
    /// Adds the row to the last of `all`, or as a new one if it is of another batch.
    fn add_to<K: BatchKind>(self, all: &mut Vec<BatchFacts<K>>, tables: &Tables) -> Result<(), StoreError> {
        let id: K::Id = self.id.to();
        if all.last().is_none_or(|last| last.id != id) {
            all.push(BatchFacts {
                id,
                state: word(&self.state, tables.requests)?,
                cards: natural(self.cards, tables.requests)?,
                counts: ItemCounts::default(),
                amounts: BatchAmounts { asked: Kopecks::new(self.asked), ..BatchAmounts::default() },
                claimed_cards: 0,
                has_job: self.has_job,
            });
        }
        let Some(last) = all.last_mut() else { return Ok(()) };
        let (items, sum) = (natural(self.items, tables.items)?, Kopecks::new(self.amount));
        match self.item_state.as_deref() {
            None => {}
            Some(OPEN) => (last.counts.open, last.amounts.open) = (items, sum),
            Some(DONE) => (last.counts.done, last.amounts.done) = (items, sum),
            Some(REFUSED) => (last.counts.refused, last.amounts.refused) = (items, sum),
            Some(_) => return Err(corrupt(tables.items)),
        }
        last.claimed_cards += natural(self.claimed, tables.items)?;
        Ok(())
    }
}
