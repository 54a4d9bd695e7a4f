//! The registry: every transaction of a period.

use std::ops::Range;

use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Bool};
use kopeck_port_bank::{BankKey, RegistryEntry, RegistryPosition};
use time::OffsetDateTime;

use crate::cards::{self, TransactionRow, column};
use crate::clock_reading::to_micros;
use crate::error::SimulatorError;
use crate::schema::{instructions, transactions};

/// Transactions of a period behind `after`, by card and id, `limit` at most.
pub(crate) fn entries(
    connection: &mut SqliteConnection,
    period: &Range<OffsetDateTime>,
    after: Option<RegistryPosition>,
    limit: u32,
) -> Result<Vec<RegistryEntry>, SimulatorError> {
    let (card, id) = after.map_or((0, 0), |after| (column(after.card), after.id));
    // Compared as a row, the position is found by the index of cards and ids.
    let behind = sql::<Bool>("(transactions.card, transactions.id) > (")
        .bind::<BigInt, _>(card)
        .sql(", ")
        .bind::<BigInt, _>(id)
        .sql(")");
    let rows: Vec<(i64, TransactionRow, Option<String>)> = transactions::table
        .left_join(instructions::table.on(transactions::instruction_id.eq(instructions::id.nullable())))
        .filter(transactions::executed_at.ge(to_micros(period.start)))
        .filter(transactions::executed_at.lt(to_micros(period.end)))
        .filter(behind)
        .order((transactions::card, transactions::id))
        .limit(i64::from(limit))
        .select((transactions::card, TransactionRow::as_select(), instructions::key.nullable()))
        .load(connection)?;
    let entry = |(card, row, key): (i64, TransactionRow, Option<String>)| {
        let key = key.map(BankKey::new).transpose();
        Ok(RegistryEntry {
            card: cards::number(card)?,
            transaction: row.transaction()?,
            key: key.map_err(|_| SimulatorError::Corrupt("a malformed bank key"))?,
        })
    };
    rows.into_iter().map(entry).collect()
}
