//! What the reconciliation compares of card batches.

use diesel::prelude::*;
use diesel::sql_types::{BigInt, Bool, Nullable, Text};
use kopeck_domain::Kopecks;
use kopeck_domain::ids::PartnerId;
use kopeck_port_store::{BatchAmounts, BatchFacts, ItemCounts, StoreError};

use super::kinds::StoredColumns;
use super::rows::{DONE, OPEN, REFUSED};
use crate::connection::AnyConnection;
use crate::convert::{AsKey, corrupt, natural, word};
use crate::error::Stored;
use crate::sql_types::{Id, sql};
use crate::statements::{self, binds};

/// Every batch of the partner, oldest first.
pub(super) fn all<K: StoredColumns>(
    connection: &mut AnyConnection,
    partner: PartnerId,
) -> Result<Vec<BatchFacts<K>>, StoreError> {
    let rows: Vec<FactsRow> = statements::load(connection, FACTS, binds![partner.key(), K::KIND]).stored()?;
    let mut all = Vec::new();
    for row in rows {
        row.add_to(&mut all)?;
    }
    Ok(all)
}

const FACTS: &str = "
    SELECT b.id, b.state, b.cards, b.amount AS asked, b.returned,
        EXISTS (
            SELECT 1 FROM jobs j
            WHERE j.partner_id = b.partner_id AND j.subject_kind = b.kind AND j.subject_id = b.id
        ) AS has_job,
        i.state AS item_state, COUNT(i.state) AS items,
        CAST(COALESCE(SUM(i.amount), 0) AS BIGINT) AS amount,
        CAST(COALESCE(SUM(i.returned), 0) AS BIGINT) AS item_returned,
        CAST(COALESCE(SUM(CASE WHEN i.claimed THEN 1 ELSE 0 END), 0) AS BIGINT) AS claimed
    FROM card_batches b
    LEFT JOIN card_batch_items i ON i.partner_id = b.partner_id AND i.batch_id = b.id
    WHERE b.partner_id = ? AND b.kind = ?
    GROUP BY b.partner_id, b.id, i.state ORDER BY b.seq";

/// The items of one batch that are in one state; a batch without items has one row without a state.
#[derive(QueryableByName)]
struct FactsRow {
    #[diesel(sql_type = sql::Id)]
    id: Id,
    #[diesel(sql_type = Text)]
    state: String,
    #[diesel(sql_type = BigInt)]
    cards: i64,
    #[diesel(sql_type = Nullable<BigInt>)]
    asked: Option<i64>,
    #[diesel(sql_type = BigInt)]
    returned: i64,
    #[diesel(sql_type = Bool)]
    has_job: bool,
    #[diesel(sql_type = Nullable<Text>)]
    item_state: Option<String>,
    #[diesel(sql_type = BigInt)]
    items: i64,
    #[diesel(sql_type = BigInt)]
    amount: i64,
    #[diesel(sql_type = BigInt)]
    item_returned: i64,
    #[diesel(sql_type = BigInt)]
    claimed: i64,
}

impl FactsRow {
    /// Adds the row to the last of `all`, or as a new one if it is of another batch.
    fn add_to<K: StoredColumns>(self, all: &mut Vec<BatchFacts<K>>) -> Result<(), StoreError> {
        let id: K::Id = self.id.to();
        if all.last().is_none_or(|last| last.id != id) {
            all.push(BatchFacts {
                id,
                state: word(&self.state, "card_batches.state")?,
                cards: natural(self.cards, "card_batches.cards")?,
                counts: ItemCounts::default(),
                amounts: BatchAmounts {
                    asked: self.asked.map(Kopecks::new),
                    returned: Kopecks::new(self.returned),
                    ..BatchAmounts::default()
                },
                claimed_cards: 0,
                has_job: self.has_job,
            });
        }
        let Some(last) = all.last_mut() else { return Ok(()) };
        let (items, sum) = (natural(self.items, "card_batch_items")?, Kopecks::new(self.amount));
        match self.item_state.as_deref() {
            None => {}
            Some(OPEN) => (last.counts.open, last.amounts.open) = (items, sum),
            Some(DONE) => {
                (last.counts.done, last.amounts.done) = (items, sum);
                last.amounts.returned_by_cards = Kopecks::new(self.item_returned);
            }
            Some(REFUSED) => (last.counts.refused, last.amounts.refused) = (items, sum),
            Some(_) => return Err(corrupt("card_batch_items.state")),
        }
        last.claimed_cards += natural::<u32>(self.claimed, "card_batch_items")?;
        Ok(())
    }
}
