//! Transactions and balances.

use std::ops::Range;

use diesel::dsl::max;
use diesel::prelude::*;
use diesel::sql_query;
use diesel::sql_types::BigInt;
use kopeck_domain::Kopecks;
use kopeck_domain::transaction::TransactionType;
use time::OffsetDateTime;

use crate::clock_reading::to_micros;
use crate::error::SimulatorError;
use crate::feed;
use crate::instructions::ROWS_OF_A_STATEMENT;
use crate::schema::transactions;

#[derive(Debug, Insertable)]
#[diesel(table_name = transactions, treat_none_as_default_value = false)]
pub(crate) struct NewTransaction<'a> {
    pub(crate) card: i64,
    pub(crate) kind: &'static str,
    pub(crate) amount: i64,
    pub(crate) executed_at: i64,
    pub(crate) place: Option<&'a str>,
    pub(crate) mcc: Option<&'a str>,
    pub(crate) merchant_id: Option<&'a str>,
    pub(crate) instruction_id: Option<i64>,
    pub(crate) payment_id: Option<i64>,
}

impl NewTransaction<'_> {
    /// A top-up by an instruction.
    pub(crate) fn replenishment(card: i64, amount: i64, executed_at: i64, instruction: i64) -> Self {
        Self::instructed(TransactionType::Replenishment, card, amount, executed_at, instruction)
    }

    /// Money that an instruction took back.
    pub(crate) fn reversal(card: i64, amount: i64, executed_at: i64, instruction: i64) -> Self {
        Self::instructed(TransactionType::Reversal, card, amount, executed_at, instruction)
    }

    fn instructed(kind: TransactionType, card: i64, amount: i64, executed_at: i64, instruction: i64) -> Self {
        Self {
            card,
            kind: kind.as_str(),
            amount,
            executed_at,
            place: None,
            mcc: None,
            merchant_id: None,
            instruction_id: Some(instruction),
            payment_id: None,
        }
    }
}

/// The change of the card's balance by a transaction.
macro_rules! signed {
    () => {
        "CASE WHEN kind IN ('PAYMENT', 'REVERSAL') THEN -amount ELSE amount END"
    };
}

/// `NOT INDEXED` leaves the primary key. Without it SQLite walks the whole index of the cards, because that one has
/// the order of the groups, and every posting takes time in proportion to the ledger.
const MOVE_BALANCES: &str = concat!(
    "UPDATE cards SET balance = balance + moved.total FROM (SELECT card, sum(",
    signed!(),
    ") AS total FROM transactions NOT INDEXED WHERE id > ? GROUP BY card) AS moved \
     WHERE cards.number = moved.card"
);

/// Writes transactions, updates the balances of their cards and adds them to the feed. Nothing else changes a balance. `at`: now.
pub(crate) fn post(
    connection: &mut SqliteConnection,
    new: &[NewTransaction<'_>],
    at: i64,
) -> Result<(), SimulatorError> {
    if new.is_empty() {
        return Ok(());
    }
    let before = last_id(connection)?;
    for chunk in new.chunks(ROWS_OF_A_STATEMENT) {
        diesel::insert_into(transactions::table).values(chunk).execute(connection)?;
    }
    sql_query(MOVE_BALANCES).bind::<BigInt, _>(before).execute(connection)?;
    feed::add_transactions(connection, before, at)
}

/// Writes one transaction, as [`post`] does, and gives its id.
pub(crate) fn post_one(
    connection: &mut SqliteConnection,
    new: NewTransaction<'_>,
    at: i64,
) -> Result<i64, SimulatorError> {
    post(connection, &[new], at)?;
    last_id(connection)
}

/// The condition is that of the index `spending_of_card`.
const SPENT: &str = concat!(
    "SELECT coalesce(-sum(",
    signed!(),
    "), 0) AS spent FROM transactions \
     WHERE kind IN ('PAYMENT', 'REFUND') AND card = ? AND executed_at >= ? AND executed_at < ?"
);

#[derive(QueryableByName)]
struct Spent {
    #[diesel(sql_type = BigInt)]
    spent: i64,
}

/// The amount spent with a card in `period`: payments less refunds.
pub(crate) fn spent(
    connection: &mut SqliteConnection,
    card: i64,
    period: &Range<OffsetDateTime>,
) -> Result<Kopecks, SimulatorError> {
    let spent: Spent = sql_query(SPENT)
        .bind::<BigInt, _>(card)
        .bind::<BigInt, _>(to_micros(period.start))
        .bind::<BigInt, _>(to_micros(period.end))
        .get_result(connection)?;
    Ok(Kopecks::new(spent.spent))
}

fn last_id(connection: &mut SqliteConnection) -> Result<i64, SimulatorError> {
    let last: Option<i64> = transactions::table.select(max(transactions::id)).first(connection)?;
    Ok(last.unwrap_or(0))
}

/// The totals of the ledger.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LedgerTotals {
    /// Issued cards.
    pub cards: u64,
    /// First top-ups of virtual cards.
    pub first_top_ups: Kopecks,
    /// Later top-ups.
    pub top_ups: Kopecks,
    /// Payments.
    pub payments: Kopecks,
    /// Refunds.
    pub refunds: Kopecks,
    /// Money that was taken back from cards.
    pub reversals: Kopecks,
    /// Money on all cards: `first_top_ups + top_ups - payments + refunds - reversals` in a sound ledger.
    pub balances: Kopecks,
}

/// A card whose balance is not the sum of its transactions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Discrepancy {
    /// The number of the card.
    pub card: u64,
    /// The stored balance.
    pub stored: Kopecks,
    /// The balance that the transactions add up to.
    pub recomputed: Kopecks,
}

const TOTALS: &str = "\
    SELECT (SELECT count(*) FROM cards) AS cards, (SELECT coalesce(sum(balance), 0) FROM cards) AS balances, \
    coalesce(sum(t.amount) FILTER (WHERE i.kind = 'ISSUE_CARDS'), 0) AS first_top_ups, \
    coalesce(sum(t.amount) FILTER (WHERE i.kind = 'TOP_UP'), 0) AS top_ups, \
    coalesce(sum(t.amount) FILTER (WHERE t.kind = 'PAYMENT'), 0) AS payments, \
    coalesce(sum(t.amount) FILTER (WHERE t.kind = 'REFUND'), 0) AS refunds, \
    coalesce(sum(t.amount) FILTER (WHERE t.kind = 'REVERSAL'), 0) AS reversals \
    FROM transactions AS t LEFT JOIN instructions AS i ON i.id = t.instruction_id";

#[derive(QueryableByName)]
struct Totals {
    #[diesel(sql_type = BigInt)]
    cards: i64,
    #[diesel(sql_type = BigInt)]
    first_top_ups: i64,
    #[diesel(sql_type = BigInt)]
    top_ups: i64,
    #[diesel(sql_type = BigInt)]
    payments: i64,
    #[diesel(sql_type = BigInt)]
    refunds: i64,
    #[diesel(sql_type = BigInt)]
    reversals: i64,
    #[diesel(sql_type = BigInt)]
    balances: i64,
}

pub(crate) fn totals(connection: &mut SqliteConnection) -> Result<LedgerTotals, SimulatorError> {
    let totals: Totals = sql_query(TOTALS).get_result(connection)?;
    Ok(LedgerTotals {
        cards: totals.cards.unsigned_abs(),
        first_top_ups: Kopecks::new(totals.first_top_ups),
        top_ups: Kopecks::new(totals.top_ups),
        payments: Kopecks::new(totals.payments),
        refunds: Kopecks::new(totals.refunds),
        reversals: Kopecks::new(totals.reversals),
        balances: Kopecks::new(totals.balances),
    })
}

const RECOMPUTED: &str = concat!(
    "SELECT number AS card, balance AS stored, coalesce(total, 0) AS recomputed FROM cards \
     LEFT JOIN (SELECT card, sum(",
    signed!(),
    ") AS total FROM transactions GROUP BY card) ON card = number WHERE stored <> recomputed ORDER BY number"
);

#[derive(QueryableByName)]
struct Difference {
    #[diesel(sql_type = BigInt)]
    card: i64,
    #[diesel(sql_type = BigInt)]
    stored: i64,
    #[diesel(sql_type = BigInt)]
    recomputed: i64,
}

/// The cards whose stored balance is wrong.
pub(crate) fn check(connection: &mut SqliteConnection) -> Result<Vec<Discrepancy>, SimulatorError> {
    let rows: Vec<Difference> = sql_query(RECOMPUTED).load(connection)?;
    let discrepancy = |row: Difference| Discrepancy {
        card: row.card.unsigned_abs(),
        stored: Kopecks::new(row.stored),
        recomputed: Kopecks::new(row.recomputed),
    };
    Ok(rows.into_iter().map(discrepancy).collect())
}
