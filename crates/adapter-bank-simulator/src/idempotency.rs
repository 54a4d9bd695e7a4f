//! Idempotency keys of purchases and refunds.

use diesel::prelude::*;
use kopeck_port_bank::sandbox::CommandKey;

use crate::clock_reading::{ClockReading, to_micros};
use crate::error::SimulatorError;
use crate::schema::commands;

/// The transaction under `key`.
pub(crate) fn made(
    connection: &mut SqliteConnection,
    key: &CommandKey,
) -> Result<Option<i64>, SimulatorError> {
    Ok(commands::table
        .find(&key.text)
        .filter(commands::made_at.ge(to_micros(key.since)))
        .select(commands::transaction_id)
        .first(connection)
        .optional()?)
}

/// Records the transaction under `key`.
pub(crate) fn note(
    connection: &mut SqliteConnection,
    key: &CommandKey,
    transaction: i64,
    moment: ClockReading,
) -> Result<(), SimulatorError> {
    diesel::replace_into(commands::table)
        .values((
            commands::key.eq(&key.text),
            commands::transaction_id.eq(transaction),
            commands::made_at.eq(to_micros(moment.now)),
        ))
        .execute(connection)?;
    Ok(())
}
