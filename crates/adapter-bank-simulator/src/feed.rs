//! The feed.

use std::collections::HashMap;

use diesel::prelude::*;
use diesel::sql_query;
use diesel::sql_types::BigInt;
use kopeck_domain::Kopecks;
use kopeck_domain::card_number::CardNumber;
use kopeck_domain::event::DeclinedPurchase;
use kopeck_domain::payment::PaymentRefusal;
use kopeck_domain::transaction::Transaction;
use kopeck_port_bank::{FeedChange, FeedEntry};

use crate::cards::{self, TransactionRow, column};
use crate::clock_reading::{ClockReading, from_micros, to_micros};
use crate::error::SimulatorError;
use crate::instructions::ROWS_OF_A_STATEMENT;
use crate::schema::{feed, transactions};

/// `NOT INDEXED` leaves the primary key.
const ADD_TRANSACTIONS: &str = "INSERT INTO feed (card, kind, at, transaction_id)
    SELECT card, 'TRANSACTION', ?, id FROM transactions NOT INDEXED WHERE id > ? ORDER BY id";

/// Adds the transactions with ids above `after`.
pub(crate) fn add_transactions(
    connection: &mut SqliteConnection,
    after: i64,
    at: i64,
) -> Result<(), SimulatorError> {
    sql_query(ADD_TRANSACTIONS).bind::<BigInt, _>(at).bind::<BigInt, _>(after).execute(connection)?;
    Ok(())
}

/// Removes a transaction from the feed, as if the bank had not told of it.
pub(crate) fn leave_out(connection: &mut SqliteConnection, transaction: i64) -> Result<(), SimulatorError> {
    diesel::delete(feed::table.filter(feed::transaction_id.eq(transaction))).execute(connection)?;
    Ok(())
}

/// A change of a card.
#[derive(Debug, Clone, Copy)]
pub(crate) enum CardChange {
    Activated,
    Blocked,
    Unblocked,
    Expired,
    Closed,
}

/// Adds a change of a card.
pub(crate) fn add_change(
    connection: &mut SqliteConnection,
    card: CardNumber,
    change: CardChange,
    moment: ClockReading,
) -> Result<(), SimulatorError> {
    let kind = match change {
        CardChange::Activated => "ACTIVATED",
        CardChange::Blocked => "BLOCKED",
        CardChange::Unblocked => "UNBLOCKED",
        CardChange::Expired => "EXPIRED",
        // The protocol has no kind for it.
        CardChange::Closed => "CHANGED",
    };
    let values = (feed::card.eq(column(card)), feed::kind.eq(kind), feed::at.eq(to_micros(moment.now)));
    diesel::insert_into(feed::table).values(values).execute(connection)?;
    Ok(())
}

/// Adds a purchase that was declined.
pub(crate) fn add_declined(
    connection: &mut SqliteConnection,
    card: CardNumber,
    declined: &DeclinedPurchase,
    moment: ClockReading,
) -> Result<(), SimulatorError> {
    let values = (
        feed::card.eq(column(card)),
        feed::kind.eq("DECLINED"),
        feed::at.eq(to_micros(moment.now)),
        feed::tried_at.eq(to_micros(declined.at)),
        feed::amount.eq(declined.amount.get()),
        feed::reason.eq(declined.reason.map_or("other", PaymentRefusal::code)),
        feed::place.eq(declined.place.as_deref()),
        feed::mcc.eq(declined.mcc.as_deref()),
        feed::merchant_id.eq(declined.merchant_id.as_deref()),
    );
    diesel::insert_into(feed::table).values(values).execute(connection)?;
    Ok(())
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = feed)]
struct EntryRow {
    seq: i64,
    card: i64,
    kind: String,
    at: i64,
    transaction_id: Option<i64>,
    #[diesel(embed)]
    declined: DeclinedRow,
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = feed)]
struct DeclinedRow {
    tried_at: Option<i64>,
    amount: Option<i64>,
    reason: Option<String>,
    place: Option<String>,
    mcc: Option<String>,
    merchant_id: Option<String>,
}

/// Entries with numbers above `after`, `limit` at most.
pub(crate) fn entries(
    connection: &mut SqliteConnection,
    after: i64,
    limit: u32,
) -> Result<Vec<FeedEntry>, SimulatorError> {
    let rows: Vec<EntryRow> = feed::table
        .filter(feed::seq.gt(after))
        .order(feed::seq)
        .limit(i64::from(limit))
        .select(EntryRow::as_select())
        .load(connection)?;
    let ids: Vec<i64> = rows.iter().filter_map(|row| row.transaction_id).collect();
    let mut transactions = with_previous(connection, &ids)?;
    rows.into_iter().map(|row| row.entry(&mut transactions)).collect()
}

/// Transactions by their ids, each with the id of the card's transaction before it.
fn with_previous(
    connection: &mut SqliteConnection,
    ids: &[i64],
) -> Result<HashMap<i64, (Transaction, i64)>, SimulatorError> {
    let earlier = diesel::alias!(transactions as earlier);
    let before = earlier
        .filter(earlier.field(transactions::card).eq(transactions::card))
        .filter(earlier.field(transactions::id).lt(transactions::id))
        .select(diesel::dsl::max(earlier.field(transactions::id)))
        .single_value();
    let mut found = HashMap::with_capacity(ids.len());
    for ids in ids.chunks(ROWS_OF_A_STATEMENT) {
        let rows: Vec<(TransactionRow, Option<i64>)> = transactions::table
            .filter(transactions::id.eq_any(ids))
            .select((TransactionRow::as_select(), before))
            .load(connection)?;
        for (row, before) in rows {
            let transaction = row.transaction()?;
            found.insert(transaction.id, (transaction, before.unwrap_or(0)));
        }
    }
    Ok(found)
}

impl EntryRow {
    fn entry(self, transactions: &mut HashMap<i64, (Transaction, i64)>) -> Result<FeedEntry, SimulatorError> {
        let change = match self.kind.as_str() {
            "ACTIVATED" => FeedChange::Activated,
            "BLOCKED" => FeedChange::Blocked,
            "UNBLOCKED" => FeedChange::Unblocked,
            "EXPIRED" => FeedChange::Expired,
            "CHANGED" => FeedChange::Other,
            "DECLINED" => FeedChange::Declined(self.declined.purchase()?),
            _ => {
                let found = self.transaction_id.and_then(|id| transactions.remove(&id));
                let (transaction, previous) =
                    found.ok_or(SimulatorError::Corrupt("an entry without its transaction"))?;
                FeedChange::Transaction { transaction, previous }
            }
        };
        Ok(FeedEntry { seq: self.seq, at: from_micros(self.at)?, card: cards::number(self.card)?, change })
    }
}

impl DeclinedRow {
    fn purchase(self) -> Result<DeclinedPurchase, SimulatorError> {
        let Self { tried_at, amount, reason, place, mcc, merchant_id } = self;
        Ok(DeclinedPurchase {
            at: from_micros(tried_at.unwrap_or_default())?,
            amount: Kopecks::new(amount.unwrap_or_default()),
            reason: reason.and_then(|code| PaymentRefusal::from_code(&code)),
            place,
            mcc,
            merchant_id,
        })
    }
}
