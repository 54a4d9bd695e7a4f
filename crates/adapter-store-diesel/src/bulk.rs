//! Statements over thousands of rows.
//!
//! SQLite is in the process: a prepared statement run in a loop costs no round trip, and the transaction around it is
//! what makes it fast. A look-up by thousands of identifiers is one statement over a JSON list. PostgreSQL gets one
//! statement for all rows, over arrays, or one for each outcome that rows share.

use diesel::prelude::*;
use kopeck_domain::ids::CardId;

use crate::connection::AnyConnection;
use crate::convert::AsKey;
use crate::repositories::{CardRow, ItemRow, TransactionRow};
use crate::schema::{card_batch_items, cards, transactions};
use crate::sql_types::{Id, Moment};
use crate::statements::{self, Bind, OneOf, RawStatement, column};

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

const POSTGRES_INSERT_ITEMS: &str = "
    INSERT INTO card_batch_items
        (partner_id, batch_id, ordinal, kind, card_id, number, amount, state, refusal, claimed, sent)
    SELECT * FROM unnest(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";

/// Adds items of any card batches.
pub(crate) fn insert_items(connection: &mut AnyConnection, rows: &[ItemRow]) -> QueryResult<()> {
    match connection {
        AnyConnection::Sqlite(sqlite) => rows.iter().try_for_each(|row| {
            diesel::insert_into(card_batch_items::table).values(row).execute(sqlite).map(drop)
        }),
        AnyConnection::Postgres(pg) => {
            let columns = vec![
                column!(Ids: rows, row => row.partner_id),
                column!(Ids: rows, row => row.batch_id),
                column!(Ints: rows, row => row.ordinal),
                column!(Texts: rows, row => row.kind.as_str()),
                column!(Ids: rows, row => row.card_id),
                column!(Ints: rows, row => row.number),
                column!(MaybeInts: rows, row => row.amount),
                column!(Texts: rows, row => row.state.as_str()),
                column!(MaybeTexts: rows, row => row.refusal.as_deref()),
                column!(Bools: rows, row => row.claimed),
                column!(Bools: rows, row => row.sent),
            ];
            RawStatement::new(POSTGRES_INSERT_ITEMS, columns).execute(pg).map(drop)
        }
    }
}

const SET_LIMIT: &str = "UPDATE cards SET spending_limit = ? WHERE partner_id = ? AND id ?";

/// Stores one limit for cards.
pub(crate) fn set_limit(
    connection: &mut AnyConnection,
    partner: Id,
    ids: &[CardId],
    limit: &str,
) -> QueryResult<()> {
    let values = vec![Bind::Text(limit), Bind::Id(partner), one_of(ids)];
    statements::execute(connection, SET_LIMIT, values)
}

/// Timestamps of 1970 are older than any setting allows; what was never fetched stays so.
const OUTDATE: &str = "
    UPDATE cards
    SET seen_at = ?, transactions_seen_at = CASE WHEN transactions_seen_at > ? THEN ? ELSE transactions_seen_at END
    WHERE partner_id = ? AND id ? AND (seen_at > ? OR transactions_seen_at > ?)";

/// Makes the bank's view of cards, as of after `too_old_at`, too old to answer from. Most cards of a large batch were not
/// looked at for a while: those are not written.
pub(crate) fn outdate_bank_view(
    connection: &mut AnyConnection,
    partner: Id,
    ids: &[CardId],
    too_old_at: Moment,
) -> QueryResult<()> {
    let epoch = || Bind::Moment(Moment(0));
    let too_old_at = || Bind::Moment(too_old_at);
    let mut values = vec![epoch(), epoch(), epoch(), Bind::Id(partner), one_of(ids)];
    values.extend([too_old_at(), too_old_at()]);
    statements::execute(connection, OUTDATE, values)
}

fn one_of(ids: &[CardId]) -> Bind<'static> {
    Bind::IsOneOfIds(OneOf(ids.iter().map(AsKey::key).collect()))
}
