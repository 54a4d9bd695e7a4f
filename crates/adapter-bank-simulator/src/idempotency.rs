//! Idempotency keys of purchases and refunds.

use diesel::prelude::*;
use time::OffsetDateTime;

use crate::clock_reading::{ClockReading, to_micros};
use crate::error::SimulatorError;
use crate::schema::commands;

/// The key of a purchase or refund: a retry has no second effect. A refusal is not recorded, so its retry is decided
/// anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CommandRetry<'a> {
    /// Names one purchase or refund.
    pub key: &'a str,
    /// A key that was last used before this time may be reused.
    pub since: OffsetDateTime,
}

impl CommandRetry<'_> {
    /// The transaction under the key.
    pub(crate) fn made(self, connection: &mut SqliteConnection) -> Result<Option<i64>, SimulatorError> {
        Ok(commands::table
            .find(self.key)
            .filter(commands::made_at.ge(to_micros(self.since)))
            .select(commands::transaction_id)
            .first(connection)
            .optional()?)
    }

    /// Records the transaction under the key.
    pub(crate) fn note(
        self,
        connection: &mut SqliteConnection,
        transaction: i64,
        moment: ClockReading,
    ) -> Result<(), SimulatorError> {
        diesel::replace_into(commands::table)
            .values((
                commands::key.eq(self.key),
                commands::transaction_id.eq(transaction),
                commands::made_at.eq(to_micros(moment.now)),
            ))
            .execute(connection)?;
        Ok(())
    }
}
