//! Statements over thousands of rows.
//!
//! SQLite is in the process: a prepared statement run in a loop costs no round trip, and the transaction around it is
//! what makes it fast. A look-up by thousands of identifiers is one statement over a JSON list.

use diesel::prelude::*;
use diesel::sql_query;
use diesel::sql_types::{BigInt, Binary, Bool, Integer, Nullable, Text};
use kopeck_domain::ids::CardId;

use crate::convert::Key;
use crate::dialect::AnyConnection;
use crate::repositories::{CardRow, ItemRow};
use crate::schema::{cards, replenishment_items};
use crate::update::update;

/// Adds cards.
pub(crate) fn insert_cards(connection: &mut AnyConnection, rows: &[CardRow]) -> QueryResult<()> {
    match connection {
        AnyConnection::Sqlite(sqlite) => rows
            .iter()
            .try_for_each(|row| diesel::insert_into(cards::table).values(row).execute(sqlite).map(drop)),
    }
}

/// Adds the cards of a replenishment.
pub(crate) fn insert_items(connection: &mut AnyConnection, rows: &[ItemRow]) -> QueryResult<()> {
    match connection {
        AnyConnection::Sqlite(sqlite) => rows.iter().try_for_each(|row| {
            diesel::insert_into(replenishment_items::table).values(row).execute(sqlite).map(drop)
        }),
    }
}

/// A decision on one card of a replenishment.
pub(crate) struct Decision {
    pub(crate) ordinal: i64,
    pub(crate) state: &'static str,
    pub(crate) refusal: Option<&'static str>,
}

/// Writes decisions on cards that are open.
pub(crate) fn settle_items(
    connection: &mut AnyConnection,
    partner: &Key,
    replenishment: &Key,
    decisions: &[Decision],
) -> QueryResult<()> {
    use replenishment_items as t;
    match connection {
        AnyConnection::Sqlite(sqlite) => decisions.iter().try_for_each(|decision| {
            let open = t::table
                .filter(t::partner_id.eq(partner))
                .filter(t::replenishment_id.eq(replenishment))
                .filter(t::ordinal.eq(decision.ordinal))
                .filter(t::state.eq("OPEN"));
            update(open)
                .set((t::state.eq(decision.state), t::refusal.eq(decision.refusal)))
                .execute(sqlite)
                .map(drop)
        }),
    }
}

/// A card as a new top-up finds it.
#[derive(QueryableByName)]
pub(crate) struct TargetRow {
    #[diesel(sql_type = Binary)]
    pub(crate) id: Vec<u8>,
    #[diesel(sql_type = BigInt)]
    pub(crate) number: i64,
    #[diesel(sql_type = Nullable<Text>)]
    pub(crate) link_status: Option<String>,
    #[diesel(sql_type = Integer)]
    pub(crate) valid_until: i32,
    #[diesel(sql_type = Bool)]
    pub(crate) in_request: bool,
}

/// CROSS JOIN keeps SQLite's planner from walking the cards and looking each of them up in the list.
const SQLITE_TARGETS: &str = "
    SELECT c.id, c.number, c.link_status, c.valid_until, EXISTS (
        SELECT 1 FROM replenishment_items i
        WHERE i.partner_id = c.partner_id AND i.card_id = c.id AND i.claimed
    ) AS in_request
    FROM json_each(?) wanted CROSS JOIN cards c ON c.partner_id = ? AND c.id = unhex(wanted.value)";

/// Times of 1970 are older than any setting lets an answer be; what was never fetched stays so.
const SQLITE_OUTDATE: &str = "
    UPDATE cards SET seen_at = 0, transactions_seen_at = min(transactions_seen_at, 0)
    WHERE partner_id = ? AND id IN (SELECT unhex(value) FROM json_each(?))";

/// Makes what the bank said of cards too old to answer from.
pub(crate) fn outdate_bank_view(
    connection: &mut AnyConnection,
    partner: &Key,
    ids: &[CardId],
) -> QueryResult<()> {
    match connection {
        AnyConnection::Sqlite(sqlite) => sql_query(SQLITE_OUTDATE)
            .bind::<Binary, _>(partner)
            .bind::<Text, _>(json_list(ids))
            .execute(sqlite)
            .map(drop),
    }
}

fn json_list(ids: &[CardId]) -> String {
    let hex: Vec<String> = ids.iter().map(|id| format!("\"{}\"", id.uuid().simple())).collect();
    format!("[{}]", hex.join(","))
}

/// Those of `ids` that are the partner's cards.
pub(crate) fn top_up_targets(
    connection: &mut AnyConnection,
    partner: &Key,
    ids: &[CardId],
) -> QueryResult<Vec<TargetRow>> {
    match connection {
        AnyConnection::Sqlite(sqlite) => {
            sql_query(SQLITE_TARGETS).bind::<Text, _>(json_list(ids)).bind::<Binary, _>(partner).load(sqlite)
        }
    }
}
