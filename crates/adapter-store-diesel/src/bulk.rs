//! Statements over thousands of rows.
//!
//! SQLite is in the process: a prepared statement run in a loop costs no round trip, and the transaction around it is
//! what makes it fast. A look-up by thousands of identifiers is one statement over a JSON list. PostgreSQL gets one
//! statement for all rows, over arrays, or one for each outcome that rows share.

use std::collections::BTreeMap;

use diesel::prelude::*;
use diesel::sql_query;
use diesel::sql_types::{BigInt, Bool, Nullable, Text};
use kopeck_domain::ids::CardId;

use crate::connection::AnyConnection;
use crate::convert::AsKey;
use crate::repositories::{CardRow, TransactionRow};
use crate::schema::{cards, transactions};
use crate::sql_types::{Day, Id, Moment, sql};
use crate::statements::{Bind, RawStatement, column};

const POSTGRES_INSERT_CARDS: &str = "
    INSERT INTO cards (
        partner_id, id, seq, number, kind, order_id, ordinal, valid_until, employee_id, link_status,
        activation_code, activation_valid_until, first_top_up, balance, remaining_top_up, activated_at, standing, seen_at,
        account_value, account_updated_at, transactions_seen_at, spending_limit
    )
    SELECT * FROM unnest(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";

/// Adds cards.
pub(crate) fn insert_cards(connection: &mut AnyConnection, rows: &[CardRow]) -> QueryResult<()> {
    match connection {
        AnyConnection::Sqlite(sqlite) => rows
            .iter()
            .try_for_each(|row| diesel::insert_into(cards::table).values(row).execute(sqlite).map(drop)),
        AnyConnection::Postgres(pg) => {
            let columns = vec![
                column!(Ids: rows, row => row.partner_id),
                column!(Ids: rows, row => row.card.id),
                column!(Ints: rows, row => row.seq),
                column!(Ints: rows, row => row.card.number),
                column!(Texts: rows, row => row.card.kind.as_str()),
                column!(Ids: rows, row => row.card.order_id),
                column!(Ints: rows, row => row.ordinal),
                column!(Days: rows, row => row.card.valid_until),
                column!(MaybeIds: rows, row => row.card.employee_id),
                column!(MaybeTexts: rows, row => row.card.link_status.as_deref()),
                column!(MaybeBytesList: rows, row => row.activation.activation_code.as_deref()),
                column!(MaybeDays: rows, row => row.activation.activation_valid_until),
                column!(MaybeInts: rows, row => row.activation.first_top_up),
                column!(Ints: rows, row => row.bank.balance),
                column!(Ints: rows, row => row.bank.remaining_top_up),
                column!(MaybeMoments: rows, row => row.bank.activated_at),
                column!(Texts: rows, row => row.bank.standing.as_str()),
                column!(Moments: rows, row => row.bank.seen_at),
                column!(Ints: rows, row => row.account_value),
                column!(Moments: rows, row => row.account_updated_at),
                column!(MaybeMoments: rows, row => row.transactions_seen_at),
                column!(Texts: rows, row => row.spending_limit.as_str()),
            ];
            RawStatement::new(POSTGRES_INSERT_CARDS, columns).execute(pg).map(drop)
        }
    }
}

const POSTGRES_PUT_TRANSACTIONS: &str = "
    INSERT INTO transactions (
        partner_id, card_id, id, executed_at, kind, amount, place, mcc, merchant_id
    )
    SELECT * FROM unnest(?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (partner_id, card_id, id) DO NOTHING";

/// Adds transactions, passing over those that are there.
pub(crate) fn put_transactions(connection: &mut AnyConnection, rows: &[TransactionRow]) -> QueryResult<()> {
    match connection {
        AnyConnection::Sqlite(sqlite) => rows.iter().try_for_each(|row| {
            diesel::insert_into(transactions::table)
                .values(row)
                .on_conflict((transactions::partner_id, transactions::card_id, transactions::id))
                .do_nothing()
                .execute(sqlite)
                .map(drop)
        }),
        AnyConnection::Postgres(pg) => {
            let columns = vec![
                column!(Ids: rows, row => row.partner_id),
                column!(Ids: rows, row => row.card_id),
                column!(Ints: rows, row => row.id),
                column!(Moments: rows, row => row.executed_at),
                column!(Texts: rows, row => row.kind.as_str()),
                column!(Ints: rows, row => row.amount),
                column!(MaybeTexts: rows, row => row.place.as_deref()),
                column!(MaybeTexts: rows, row => row.mcc.as_deref()),
                column!(MaybeTexts: rows, row => row.merchant_id.as_deref()),
            ];
            RawStatement::new(POSTGRES_PUT_TRANSACTIONS, columns).execute(pg).map(drop)
        }
    }
}

/// A decision on one card of a request.
pub(crate) struct Decision {
    pub(crate) ordinal: i64,
    pub(crate) state: &'static str,
    pub(crate) refusal: Option<&'static str>,
}

/// Cards of a request that are decided the same way.
struct Alike {
    state: &'static str,
    refusal: Option<&'static str>,
    ordinals: Vec<i64>,
}

/// The decisions by their outcome, of which there are few. One statement each finds its cards by the key; one statement
/// for all would have to join them, and where a request is new to the planner's statistics it compares each card of
/// the request with each decision. For the same reason the statements name the range in which the cards lie: whatever
/// the planner makes of the list, it reads that range of the key and no more.
fn same(decisions: &[Decision]) -> impl Iterator<Item = Alike> {
    let mut by_outcome = BTreeMap::<_, Vec<i64>>::new();
    for decision in decisions {
        by_outcome.entry((decision.state, decision.refusal)).or_default().push(decision.ordinal);
    }
    by_outcome.into_iter().map(|((state, refusal), ordinals)| Alike { state, refusal, ordinals })
}

/// The least and the greatest of `ordinals`; of none, a range with nothing in it.
fn range(ordinals: &[i64]) -> (i64, i64) {
    ordinals
        .iter()
        .fold((i64::MAX, i64::MIN), |(first, last), ordinal| (first.min(*ordinal), last.max(*ordinal)))
}

/// Makes the statements over the cards of requests of one kind, each kind of which has a table of its own. `$columns`
/// are those that a new row has.
macro_rules! statements_over_items {
    (
        $(#[$doc:meta])*
        $kind:ident: $items:ident of $request:ident as $row:ident;
        $postgres_insert:expr => { $($column:ident: $field:ident as $value:ident;)* }
    ) => {
        $(#[$doc])*
        pub(crate) mod $kind {
            use diesel::prelude::*;

            use super::{Decision, range, same};
            use crate::sql_types::Id;
            use crate::connection::AnyConnection;
            use crate::statements::{Bind, RawStatement, column};
            use crate::repositories::$row;
            use crate::schema::$items as t;
            use crate::update::update;

            const POSTGRES_MARK_SENT: &str = concat!(
                "UPDATE ",
                stringify!($items),
                " SET sent = ? WHERE partner_id = ? AND ",
                stringify!($request),
                " = ? AND ordinal BETWEEN ? AND ? AND ordinal = ANY (?)",
            );

            const POSTGRES_SETTLE: &str = concat!(
                "UPDATE ",
                stringify!($items),
                " SET state = ?, refusal = ? WHERE partner_id = ? AND ",
                stringify!($request),
                " = ? AND ordinal BETWEEN ? AND ? AND ordinal = ANY (?) AND state = 'OPEN'",
            );

            /// Adds the cards of a request.
            pub(crate) fn insert(connection: &mut AnyConnection, rows: &[$row]) -> QueryResult<()> {
                match connection {
                    AnyConnection::Sqlite(sqlite) => rows.iter().try_for_each(|row| {
                        diesel::insert_into(t::table).values(row).execute(sqlite).map(drop)
                    }),
                    AnyConnection::Postgres(pg) => {
                        let columns = vec![$(column!($column: rows, row => row.$field.$value())),*];
                        RawStatement::new($postgres_insert, columns).execute(pg).map(drop)
                    }
                }
            }

            /// Marks cards as sent or not.
            pub(crate) fn mark_sent(
                connection: &mut AnyConnection,
                partner: Id,
                request: Id,
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
                    AnyConnection::Postgres(pg) => {
                        let ordinals: Vec<i64> = ordinals.iter().copied().map(i64::from).collect();
                        let (first, last) = range(&ordinals);
                        let values = vec![
                            Bind::Bool(sent),
                            Bind::Id(partner),
                            Bind::Id(request),
                            Bind::Int(first),
                            Bind::Int(last),
                            Bind::Ints(ordinals),
                        ];
                        RawStatement::new(POSTGRES_MARK_SENT, values).execute(pg).map(drop)
                    }
                }
            }

            /// Writes decisions on cards that are open.
            pub(crate) fn settle(
                connection: &mut AnyConnection,
                partner: Id,
                request: Id,
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
                    AnyConnection::Postgres(pg) => same(decisions).try_for_each(|alike| {
                        let (first, last) = range(&alike.ordinals);
                        let values = vec![
                            Bind::Text(alike.state),
                            Bind::MaybeText(alike.refusal),
                            Bind::Id(partner),
                            Bind::Id(request),
                            Bind::Int(first),
                            Bind::Int(last),
                            Bind::Ints(alike.ordinals),
                        ];
                        RawStatement::new(POSTGRES_SETTLE, values).execute(pg).map(drop)
                    }),
                }
            }
        }
    };
}

statements_over_items! {
    /// Over the cards of replenishments.
    top_ups: replenishment_items of replenishment_id as TopUpRow;
    "INSERT INTO replenishment_items \
     (partner_id, replenishment_id, ordinal, card_id, number, amount, state, refusal, claimed, sent) \
     SELECT * FROM unnest(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)" => {
        Ids: partner_id as to_owned;
        Ids: replenishment_id as to_owned;
        Ints: ordinal as to_owned;
        Ids: card_id as to_owned;
        Ints: number as to_owned;
        Ints: amount as to_owned;
        Texts: state as as_str;
        MaybeTexts: refusal as as_deref;
        Bools: claimed as to_owned;
        Bools: sent as to_owned;
    }
}
statements_over_items! {
    /// Over the cards of limit changes.
    limits: limit_change_items of limit_change_id as LimitRow;
    "INSERT INTO limit_change_items \
     (partner_id, limit_change_id, ordinal, card_id, number, state, refusal, claimed, sent) \
     SELECT * FROM unnest(?, ?, ?, ?, ?, ?, ?, ?, ?)" => {
        Ids: partner_id as to_owned;
        Ids: limit_change_id as to_owned;
        Ints: ordinal as to_owned;
        Ids: card_id as to_owned;
        Ints: number as to_owned;
        Texts: state as as_str;
        MaybeTexts: refusal as as_deref;
        Bools: claimed as to_owned;
        Bools: sent as to_owned;
    }
}

/// A card as a new request finds it.
#[derive(QueryableByName)]
pub(crate) struct TargetRow {
    #[diesel(sql_type = sql::Id)]
    pub(crate) id: Id,
    #[diesel(sql_type = BigInt)]
    pub(crate) number: i64,
    #[diesel(sql_type = Nullable<Text>)]
    pub(crate) link_status: Option<String>,
    #[diesel(sql_type = sql::Day)]
    pub(crate) valid_until: Day,
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

/// The same for PostgreSQL. Asked by EXISTS, its planner would rather read every claimed card of the partner, for ten.
macro_rules! postgres_targets {
    ($items:literal) => {
        concat!(
            "SELECT c.id, c.number, c.link_status, c.valid_until, (SELECT i.claimed FROM ",
            $items,
            " i WHERE i.partner_id = c.partner_id AND i.card_id = c.id AND i.claimed LIMIT 1) IS NOT NULL AS claimed ",
            "FROM unnest(?) AS wanted (id) JOIN cards c ON c.partner_id = ? AND c.id = wanted.id",
        )
    };
}

/// Those of `ids` that are the partner's cards.
pub(crate) fn targets(
    connection: &mut AnyConnection,
    claims: Claims,
    partner: Id,
    ids: &[CardId],
) -> QueryResult<Vec<TargetRow>> {
    match connection {
        AnyConnection::Sqlite(sqlite) => {
            let statement = match claims {
                Claims::Replenishments => sqlite_targets!("replenishment_items"),
                Claims::LimitChanges => sqlite_targets!("limit_change_items"),
            };
            sql_query(statement).bind::<Text, _>(json_list(ids)).bind::<sql::Id, _>(partner).load(sqlite)
        }
        AnyConnection::Postgres(pg) => {
            let statement = match claims {
                Claims::Replenishments => postgres_targets!("replenishment_items"),
                Claims::LimitChanges => postgres_targets!("limit_change_items"),
            };
            RawStatement::new(statement, vec![list(ids), Bind::Id(partner)]).load(pg)
        }
    }
}

const SQLITE_SET_LIMIT: &str = "
    UPDATE cards SET spending_limit = ?
    WHERE partner_id = ? AND id IN (SELECT unhex(value) FROM json_each(?))";

const POSTGRES_SET_LIMIT: &str = "UPDATE cards SET spending_limit = ? WHERE partner_id = ? AND id = ANY (?)";

/// Stores one limit for cards.
pub(crate) fn set_limit(
    connection: &mut AnyConnection,
    partner: Id,
    ids: &[CardId],
    limit: &str,
) -> QueryResult<()> {
    match connection {
        AnyConnection::Sqlite(sqlite) => sql_query(SQLITE_SET_LIMIT)
            .bind::<Text, _>(limit)
            .bind::<sql::Id, _>(partner)
            .bind::<Text, _>(json_list(ids))
            .execute(sqlite)
            .map(drop),
        AnyConnection::Postgres(pg) => {
            let values = vec![Bind::Text(limit), Bind::Id(partner), list(ids)];
            RawStatement::new(POSTGRES_SET_LIMIT, values).execute(pg).map(drop)
        }
    }
}

/// Times of 1970 are older than any setting lets an answer be; what was never fetched stays so.
const SQLITE_OUTDATE: &str = "
    UPDATE cards SET seen_at = 0, transactions_seen_at = min(transactions_seen_at, 0)
    WHERE partner_id = ? AND id IN (SELECT unhex(value) FROM json_each(?))
        AND (seen_at > ? OR transactions_seen_at > ?)";

/// To PostgreSQL's least() the least of nothing and zero is zero.
const POSTGRES_OUTDATE: &str = "
    UPDATE cards
    SET seen_at = 0,
        transactions_seen_at = CASE WHEN transactions_seen_at > 0 THEN 0 ELSE transactions_seen_at END
    WHERE partner_id = ? AND id = ANY (?) AND (seen_at > ? OR transactions_seen_at > ?)";

/// Makes what the bank said of cards after `too_old_at` too old to answer from. Most cards of a large request were not
/// looked at for a while: those are not written.
pub(crate) fn outdate_bank_view(
    connection: &mut AnyConnection,
    partner: Id,
    ids: &[CardId],
    too_old_at: Moment,
) -> QueryResult<()> {
    match connection {
        AnyConnection::Sqlite(sqlite) => sql_query(SQLITE_OUTDATE)
            .bind::<sql::Id, _>(partner)
            .bind::<Text, _>(json_list(ids))
            .bind::<sql::Moment, _>(too_old_at)
            .bind::<sql::Moment, _>(too_old_at)
            .execute(sqlite)
            .map(drop),
        AnyConnection::Postgres(pg) => {
            let too_old_at = || Bind::Moment(too_old_at);
            let values = vec![Bind::Id(partner), list(ids), too_old_at(), too_old_at()];
            RawStatement::new(POSTGRES_OUTDATE, values).execute(pg).map(drop)
        }
    }
}

fn list(ids: &[CardId]) -> Bind<'static> {
    Bind::Ids(ids.iter().map(AsKey::key).collect())
}

fn json_list(ids: &[CardId]) -> String {
    let hex: Vec<String> = ids.iter().map(|id| format!("\"{}\"", id.uuid().simple())).collect();
    format!("[{}]", hex.join(","))
}
