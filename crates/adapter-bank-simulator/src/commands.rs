//! Purchases and refunds under a key.

use diesel::prelude::*;
use time::OffsetDateTime;

use crate::error::SimulatorError;
use crate::moments::{Moment, to_micros};
use crate::schema::commands;

/// Names a purchase or a refund, so that one that is sent again is not made again. What was refused moved nothing and
/// is decided anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Once<'a> {
    /// The name; it stands for one purchase or refund alone.
    pub key: &'a str,
    /// A name that was last used before this moment may be used for something else.
    pub since: OffsetDateTime,
}

impl Once<'_> {
    /// The transaction that was made under the key, if any was.
    pub(crate) fn made(self, connection: &mut SqliteConnection) -> Result<Option<i64>, SimulatorError> {
        Ok(commands::table
            .find(self.key)
            .filter(commands::made_at.ge(to_micros(self.since)))
            .select(commands::transaction_id)
            .first(connection)
            .optional()?)
    }

    /// Notes which transaction was made under the key.
    pub(crate) fn note(
        self,
        connection: &mut SqliteConnection,
        transaction: i64,
        moment: Moment,
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
