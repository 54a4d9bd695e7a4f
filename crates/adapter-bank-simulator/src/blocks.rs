//! Blocks by instruction, which are apart from those of the bank's own.

use std::collections::{HashMap, HashSet};

use diesel::prelude::*;
use kopeck_domain::card::Standing;
use kopeck_domain::card_number::CardNumber;
use kopeck_port_bank::{BankCard, DeclineReason};

use crate::cards::{column, number};
use crate::error::SimulatorError;
use crate::instructions::ROWS_OF_A_STATEMENT;
use crate::schema::blocks;

/// The latest block or unblock of a card.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Block {
    pub(crate) blocked: bool,
    pub(crate) change: u32,
}

/// Whether a block is set or lifted. `None` is a card of another bank.
pub(crate) fn decide(card: Option<&BankCard>) -> Result<(), DeclineReason> {
    match card.ok_or(DeclineReason::Refused)?.standing {
        Standing::Open | Standing::Blocked => Ok(()),
        Standing::Closed => Err(DeclineReason::Blocked),
    }
}

/// Which of these cards are blocked.
pub(crate) fn blocked(
    connection: &mut SqliteConnection,
    numbers: &[CardNumber],
) -> Result<HashSet<CardNumber>, SimulatorError> {
    let mut found = HashSet::new();
    for chunk in numbers.chunks(ROWS_OF_A_STATEMENT) {
        let rows: Vec<i64> = blocks::table
            .filter(blocks::card.eq_any(chunk.iter().copied().map(column)))
            .filter(blocks::blocked)
            .select(blocks::card)
            .load(connection)?;
        for row in rows {
            found.insert(number(row)?);
        }
    }
    Ok(found)
}

/// Sets blocks, each unless a later change of the card was seen.
pub(crate) fn set(
    connection: &mut SqliteConnection,
    changes: &HashMap<CardNumber, Block>,
) -> Result<(), SimulatorError> {
    for (card, Block { blocked, change }) in changes {
        let row = (
            blocks::card.eq(column(*card)),
            blocks::blocked.eq(blocked),
            blocks::change.eq(i64::from(*change)),
        );
        let seen =
            blocks::table.find(column(*card)).select(blocks::change).first::<i64>(connection).optional()?;
        if seen.is_none_or(|seen| seen < i64::from(*change)) {
            diesel::replace_into(blocks::table).values(row).execute(connection)?;
        }
    }
    Ok(())
}
