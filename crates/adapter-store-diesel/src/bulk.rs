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
use crate::repositories::CardRow;
use crate::schema::cards;

/// Adds cards.
pub(crate) fn insert_cards(connection: &mut AnyConnection, rows: &[CardRow]) -> QueryResult<()> {
    match connection {
        AnyConnection::Sqlite(sqlite) => rows
            .iter()
            .try_for_each(|row| diesel::insert_into(cards::table).values(row).execute(sqlite).map(drop)),
    }
}

/// A decision on one card of a request.
pub(crate) struct Decision {
    pub(crate) ordinal: i64,
    pub(crate) state: &'static str,
    pub(crate) refusal: Option<&'static str>,
}

/// Makes the statements over the cards of requests of one kind, each kind of which has a table of its own.
macro_rules! statements_over_items {
    ($(#[$doc:meta])* $kind:ident: $items:ident of $request:ident as $row:ident) => {
        $(#[$doc])*
        pub(crate) mod $kind {
            use diesel::prelude::*;

            use super::Decision;
            use crate::convert::Key;
            use crate::dialect::AnyConnection;
            use crate::repositories::$row;
            use crate::schema::$items as t;
            use crate::update::update;

            /// Adds the cards of a request.
            pub(crate) fn insert(connection: &mut AnyConnection, rows: &[$row]) -> QueryResult<()> {
                match connection {
                    AnyConnection::Sqlite(sqlite) => rows.iter().try_for_each(|row| {
                        diesel::insert_into(t::table).values(row).execute(sqlite).map(drop)
                    }),
                }
            }

            /// Marks cards as sent or not.
            pub(crate) fn mark_sent(
                connection: &mut AnyConnection,
                partner: &Key,
                request: &Key,
                ordinals: &[u32],
                sent: bool,
            ) -> QueryResult<()> {
                match connection {
                    AnyConnection::Sqlite(sqlite) => ordinals.iter().try_for_each(|ordinal| {
                        let card = t::table
                            .filter(t::partner_id.eq(partner))
                            .filter(t::$request.eq(request))
                            .filter(t::ordinal.eq(i64::from(*ordinal)));
                        update(card).set(t::sent.eq(sent)).execute(sqlite).map(drop)
                    }),
                }
            }

            /// Writes decisions on cards that are open.
            pub(crate) fn settle(
                connection: &mut AnyConnection,
                partner: &Key,
                request: &Key,
                decisions: &[Decision],
            ) -> QueryResult<()> {
                match connection {
                    AnyConnection::Sqlite(sqlite) => decisions.iter().try_for_each(|decision| {
                        let open = t::table
                            .filter(t::partner_id.eq(partner))
                            .filter(t::$request.eq(request))
                            .filter(t::ordinal.eq(decision.ordinal))
                            .filter(t::state.eq("OPEN"));
                        update(open)
                            .set((t::state.eq(decision.state), t::refusal.eq(decision.refusal)))
                            .execute(sqlite)
                            .map(drop)
                    }),
                }
            }
        }
    };
}

statements_over_items! {
    /// Over the cards of replenishments.
    top_ups: replenishment_items of replenishment_id as TopUpRow
}
statements_over_items! {
    /// Over the cards of limit changes.
    limits: limit_change_items of limit_change_id as LimitRow
}

/// A card as a new request finds it.
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
    pub(crate) claimed: bool,
}

/// Which requests' claims on cards are asked for.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Claims {
    Replenishments,
    LimitChanges,
}

/// The look-up of cards with the claims in `$items`. CROSS JOIN keeps SQLite's planner from walking the cards and
/// looking each of them up in the list.
macro_rules! sqlite_targets {
    ($items:literal) => {
        concat!(
            "SELECT c.id, c.number, c.link_status, c.valid_until, EXISTS (SELECT 1 FROM ",
            $items,
            " i WHERE i.partner_id = c.partner_id AND i.card_id = c.id AND i.claimed) AS claimed ",
            "FROM json_each(?) wanted CROSS JOIN cards c ON c.partner_id = ? AND c.id = unhex(wanted.value)",
        )
    };
}

/// Those of `ids` that are the partner's cards.
pub(crate) fn targets(
    connection: &mut AnyConnection,
    claims: Claims,
    partner: &Key,
    ids: &[CardId],
) -> QueryResult<Vec<TargetRow>> {
    match connection {
        AnyConnection::Sqlite(sqlite) => {
            let statement = match claims {
                Claims::Replenishments => sqlite_targets!("replenishment_items"),
                Claims::LimitChanges => sqlite_targets!("limit_change_items"),
            };
            sql_query(statement).bind::<Text, _>(json_list(ids)).bind::<Binary, _>(partner).load(sqlite)
        }
    }
}

const SQLITE_SET_LIMIT: &str = "
    UPDATE cards SET spending_limit = ?
    WHERE partner_id = ? AND id IN (SELECT unhex(value) FROM json_each(?))";

/// Stores one limit for cards.
pub(crate) fn set_limit(
    connection: &mut AnyConnection,
    partner: &Key,
    ids: &[CardId],
    limit: &str,
) -> QueryResult<()> {
    match connection {
        AnyConnection::Sqlite(sqlite) => sql_query(SQLITE_SET_LIMIT)
            .bind::<Text, _>(limit)
            .bind::<Binary, _>(partner)
            .bind::<Text, _>(json_list(ids))
            .execute(sqlite)
            .map(drop),
    }
}

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
