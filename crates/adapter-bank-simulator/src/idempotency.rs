//! Idempotency keys of purchases and refunds.

use diesel::prelude::*;
use kopeck_domain::payment::PaymentRefusal;
use kopeck_port_bank::sandbox::{CommandKey, PurchaseOutcome};

use crate::clock_reading::{ClockReading, to_micros};
use crate::error::SimulatorError;
use crate::schema::commands;

/// The outcome of the command under `key`: the transaction, or why it was declined.
pub(crate) fn outcome(
    connection: &mut SqliteConnection,
    key: &CommandKey,
) -> Result<Option<PurchaseOutcome>, SimulatorError> {
    let found: Option<(Option<i64>, Option<String>)> = commands::table
        .find(&key.text)
        .filter(commands::made_at.ge(to_micros(key.since)))
        .select((commands::transaction_id, commands::refusal))
        .first(connection)
        .optional()?;
    let Some((transaction, refusal)) = found else { return Ok(None) };
    let Some(code) = refusal else { return Ok(transaction.map(PurchaseOutcome::Approved)) };
    let refusal = PaymentRefusal::from_code(&code).ok_or(SimulatorError::Corrupt("commands.refusal"))?;
    Ok(Some(PurchaseOutcome::Declined(refusal)))
}

/// Records what came of the command under `key`.
pub(crate) fn note(
    connection: &mut SqliteConnection,
    key: &CommandKey,
    outcome: PurchaseOutcome,
    moment: ClockReading,
) -> Result<(), SimulatorError> {
    let (transaction, refusal) = match outcome {
        PurchaseOutcome::Approved(transaction) => (Some(transaction), None),
        PurchaseOutcome::Declined(refusal) => (None, Some(refusal.code())),
    };
    diesel::replace_into(commands::table)
        .values((
            commands::key.eq(&key.text),
            commands::transaction_id.eq(transaction),
            commands::refusal.eq(refusal),
            commands::made_at.eq(to_micros(moment.now)),
        ))
        .execute(connection)?;
    Ok(())
}
