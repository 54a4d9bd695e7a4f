//! Instructions and their verdicts.

use std::collections::HashMap;

use diesel::dsl::max;
use diesel::prelude::*;
use kopeck_domain::Kopecks;
use kopeck_port_bank::{DeclineReason, Instruction, Verdict};

use crate::error::SimulatorError;
use crate::schema::instructions;

/// Rows or keys of a statement: well below SQLite's 32,766 variables.
pub(crate) const ROWS_OF_A_STATEMENT: usize = 1_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct InstructionRecord {
    pub(crate) id: i64,
    pub(crate) fingerprint: [u8; 32],
    pub(crate) verdict: Verdict,
}

/// A new row.
#[derive(Debug, Insertable)]
#[diesel(table_name = instructions, treat_none_as_default_value = false)]
pub(crate) struct NewInstruction<'a> {
    id: i64,
    key: &'a str,
    kind: &'static str,
    fingerprint: Vec<u8>,
    verdict: &'static str,
    applied: i32,
    returned: Option<i64>,
}

impl<'a> NewInstruction<'a> {
    pub(crate) fn new(key: &'a str, instruction: &Instruction, recorded: InstructionRecord) -> Self {
        Self {
            id: recorded.id,
            key,
            kind: match instruction {
                Instruction::IssueCards(_) => "ISSUE_CARDS",
                Instruction::TopUp { .. } => "TOP_UP",
                Instruction::SetLimit { .. } => "SET_LIMIT",
                Instruction::SetBlock { .. } => "SET_BLOCK",
                Instruction::CloseCard { .. } => "CLOSE_CARD",
                Instruction::Withdraw { .. } => "WITHDRAW",
            },
            fingerprint: recorded.fingerprint.to_vec(),
            verdict: verdict_word(recorded.verdict),
            applied: i32::from(is_done(recorded.verdict)),
            returned: match recorded.verdict {
                Verdict::Returned(amount) => Some(amount.get()),
                Verdict::Done | Verdict::Declined(_) | Verdict::Pending => None,
            },
        }
    }
}

/// Key, id, fingerprint, verdict, and what came back.
type RecordedRow = (String, i64, Vec<u8>, String, Option<i64>);

/// The recorded instructions under `keys`.
pub(crate) fn recorded<'a>(
    connection: &mut SqliteConnection,
    keys: &[&'a str],
) -> Result<HashMap<&'a str, InstructionRecord>, SimulatorError> {
    let mut by_text: HashMap<String, InstructionRecord> = HashMap::with_capacity(keys.len());
    for chunk in keys.chunks(ROWS_OF_A_STATEMENT) {
        let rows: Vec<RecordedRow> = instructions::table
            .filter(instructions::key.eq_any(chunk))
            .select((
                instructions::key,
                instructions::id,
                instructions::fingerprint,
                instructions::verdict,
                instructions::returned,
            ))
            .load(connection)?;
        for (key, id, fingerprint, verdict, returned) in rows {
            let fingerprint = fingerprint
                .try_into()
                .map_err(|_| SimulatorError::Corrupt("a fingerprint of another length"))?;
            by_text
                .insert(key, InstructionRecord { id, fingerprint, verdict: verdict_of(&verdict, returned)? });
        }
    }
    Ok(keys.iter().filter_map(|key| Some((*key, *by_text.get(*key)?))).collect())
}

/// The id of the next instruction. Read under the write lock, so that it is unique.
pub(crate) fn next_id(connection: &mut SqliteConnection) -> Result<i64, SimulatorError> {
    let last: Option<i64> = instructions::table.select(max(instructions::id)).first(connection)?;
    Ok(last.unwrap_or(0) + 1)
}

pub(crate) fn insert(
    connection: &mut SqliteConnection,
    rows: &[NewInstruction<'_>],
) -> Result<(), SimulatorError> {
    for chunk in rows.chunks(ROWS_OF_A_STATEMENT) {
        diesel::insert_into(instructions::table).values(chunk).execute(connection)?;
    }
    Ok(())
}

/// Counts a second effect of an instruction.
pub(crate) fn applied_again(connection: &mut SqliteConnection, id: i64) -> Result<(), SimulatorError> {
    diesel::update(instructions::table.find(id))
        .set(instructions::applied.eq(instructions::applied + 1))
        .execute(connection)?;
    Ok(())
}

/// How many times the instruction under `key` had its effect.
pub(crate) fn applied(connection: &mut SqliteConnection, key: &str) -> Result<u32, SimulatorError> {
    let applied: Option<i32> = instructions::table
        .filter(instructions::key.eq(key))
        .select(instructions::applied)
        .first(connection)
        .optional()?;
    u32::try_from(applied.unwrap_or(0)).map_err(|_| SimulatorError::Corrupt("a negative count"))
}

/// Whether an instruction with this verdict had an effect.
pub(crate) const fn is_done(verdict: Verdict) -> bool {
    match verdict {
        Verdict::Done | Verdict::Returned(_) => true,
        Verdict::Declined(_) | Verdict::Pending => false,
    }
}

const fn verdict_word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Done | Verdict::Returned(_) => "DONE",
        Verdict::Declined(DeclineReason::OverCardLimit) => "OVER_CARD_LIMIT",
        Verdict::Declined(DeclineReason::Blocked) => "BLOCKED",
        Verdict::Declined(DeclineReason::BlockedByPartner) => "BLOCKED_BY_PARTNER",
        Verdict::Declined(DeclineReason::Expired) => "EXPIRED",
        Verdict::Declined(DeclineReason::NotActivated) => "NOT_ACTIVATED",
        Verdict::Declined(DeclineReason::Closed) => "CLOSED",
        Verdict::Declined(DeclineReason::NotEnoughOnCard) => "NOT_ENOUGH_ON_CARD",
        Verdict::Declined(DeclineReason::Refused) => "REFUSED",
        // The simulator decides at once.
        Verdict::Pending => "PENDING",
    }
}

fn verdict_of(word: &str, returned: Option<i64>) -> Result<Verdict, SimulatorError> {
    Ok(match word {
        "DONE" => returned.map_or(Verdict::Done, |amount| Verdict::Returned(Kopecks::new(amount))),
        "OVER_CARD_LIMIT" => Verdict::Declined(DeclineReason::OverCardLimit),
        "BLOCKED" => Verdict::Declined(DeclineReason::Blocked),
        "BLOCKED_BY_PARTNER" => Verdict::Declined(DeclineReason::BlockedByPartner),
        "EXPIRED" => Verdict::Declined(DeclineReason::Expired),
        "NOT_ACTIVATED" => Verdict::Declined(DeclineReason::NotActivated),
        "CLOSED" => Verdict::Declined(DeclineReason::Closed),
        "NOT_ENOUGH_ON_CARD" => Verdict::Declined(DeclineReason::NotEnoughOnCard),
        "REFUSED" => Verdict::Declined(DeclineReason::Refused),
        _ => return Err(SimulatorError::Corrupt("a verdict with another word")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_survive_the_round_trip() {
        let declined = [
            DeclineReason::OverCardLimit,
            DeclineReason::Blocked,
            DeclineReason::BlockedByPartner,
            DeclineReason::Expired,
            DeclineReason::NotActivated,
            DeclineReason::Closed,
            DeclineReason::NotEnoughOnCard,
            DeclineReason::Refused,
        ]
        .map(Verdict::Declined);
        for verdict in declined.into_iter().chain([Verdict::Done]) {
            assert_eq!(verdict_of(verdict_word(verdict), None).unwrap(), verdict);
        }
        let returned = Verdict::Returned(Kopecks::new(7));
        assert_eq!(verdict_of(verdict_word(returned), Some(7)).unwrap(), returned);
        assert!(verdict_of("done", None).is_err());
    }
}
