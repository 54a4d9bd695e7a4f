//! What the books should say of requests that deal with each of their cards for itself.

use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Binary, Bool, Nullable, Text};
use kopeck_domain::ids::PartnerId;
use kopeck_port_store::{ItemCounts, StoreError};

use super::jobs;
use super::requests::{DONE, OPEN, REFUSED};
use crate::convert::{AsKey, corrupt, natural};
use crate::dialect::AnyConnection;
use crate::error::Stored;

/// The tables of one kind of request.
pub(super) struct Kind {
    requests: &'static str,
    items: &'static str,
    /// The column of `items` that names the request.
    belongs: &'static str,
    /// The money that a request says it is about.
    asked: &'static str,
    /// The money of an item.
    amount: &'static str,
    work: &'static str,
}

pub(super) const REPLENISHMENTS: Kind = Kind {
    requests: "replenishments",
    items: "replenishment_items",
    belongs: "replenishment_id",
    asked: "MAX(r.amount)",
    amount: "i.amount",
    work: jobs::REPLENISHMENT,
};

pub(super) const LIMIT_CHANGES: Kind = Kind {
    requests: "limit_changes",
    items: "limit_change_items",
    belongs: "limit_change_id",
    asked: "CAST(0 AS BIGINT)",
    amount: "0",
    work: jobs::LIMIT_CHANGE,
};

/// One request with its cards counted.
pub(super) struct CardByCard {
    pub(super) id: Vec<u8>,
    pub(super) state: String,
    pub(super) cards: u32,
    pub(super) has_work: bool,
    pub(super) counts: ItemCounts,
    pub(super) asked_amount: i64,
    pub(super) open_amount: i64,
    pub(super) done_amount: i64,
    pub(super) refused_amount: i64,
    pub(super) claimed_cards: u32,
}

impl CardByCard {
    /// Every request of the partner, oldest first.
    pub(super) fn all(
        connection: &mut AnyConnection,
        partner: PartnerId,
        kind: &Kind,
    ) -> Result<Vec<Self>, StoreError> {
        let Kind { requests, items, belongs, asked, amount, work } = kind;
        let rows: Vec<FactsRow> = sql::<FactsSql>(&format!(
            "SELECT r.id, r.state, r.cards, {asked}, \
             EXISTS (SELECT 1 FROM work w WHERE w.partner_id = r.partner_id \
             AND w.subject_id = r.id AND w.subject_kind = "
        ))
        .bind::<Text, _>(*work)
        .sql(&format!(
            "), i.state, COUNT(i.state), CAST(COALESCE(SUM({amount}), 0) AS BIGINT), \
             CAST(COALESCE(SUM(CASE WHEN i.claimed THEN 1 ELSE 0 END), 0) AS BIGINT) \
             FROM {requests} r LEFT JOIN {items} i \
             ON i.partner_id = r.partner_id AND i.{belongs} = r.id WHERE r.partner_id = "
        ))
        .bind::<Binary, _>(partner.key())
        .sql(" GROUP BY r.partner_id, r.id, r.seq, r.state, r.cards, i.state ORDER BY r.seq")
        .load(connection)
        .stored()?;
        let mut all: Vec<Self> = Vec::new();
        for row in rows {
            row.add_to(&mut all, kind)?;
        }
        Ok(all)
    }
}

type FactsSql = (Binary, Text, BigInt, BigInt, Bool, Nullable<Text>, BigInt, BigInt, BigInt);

/// The items of one request that are in one state; a request without items has one row without a state.
#[derive(Queryable)]
struct FactsRow {
    id: Vec<u8>,
    state: String,
    cards: i64,
    asked: i64,
    has_work: bool,
    item_state: Option<String>,
    items: i64,
    amount: i64,
    claimed: i64,
}

impl FactsRow {
    /// Adds the row to the last of `all`, or as a new one if it is of another request.
    fn add_to(self, all: &mut Vec<CardByCard>, kind: &Kind) -> Result<(), StoreError> {
        if all.last().is_none_or(|last| last.id != self.id) {
            all.push(CardByCard {
                id: self.id,
                state: self.state,
                cards: natural(self.cards, kind.requests)?,
                has_work: self.has_work,
                counts: ItemCounts::default(),
                asked_amount: self.asked,
                open_amount: 0,
                done_amount: 0,
                refused_amount: 0,
                claimed_cards: 0,
            });
        }
        let Some(last) = all.last_mut() else { return Ok(()) };
        let items = natural(self.items, kind.items)?;
        match self.item_state.as_deref() {
            None => {}
            Some(OPEN) => {
                last.counts.open = items;
                last.open_amount = self.amount;
            }
            Some(DONE) => {
                last.counts.done = items;
                last.done_amount = self.amount;
            }
            Some(REFUSED) => {
                last.counts.refused = items;
                last.refused_amount = self.amount;
            }
            Some(_) => return Err(corrupt(kind.items)),
        }
        last.claimed_cards += natural(self.claimed, kind.items)?;
        Ok(())
    }
}
