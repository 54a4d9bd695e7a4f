//! Sandbox commands on cards, beyond the gateway.

use diesel::prelude::*;
use kopeck_domain::Kopecks;
use kopeck_domain::card::Standing;
use kopeck_domain::card_number::CardNumber;
use kopeck_port_bank::BankCard;

use crate::cards::{self, column};
use crate::clock_reading::{ClockReading, from_julian, to_julian, to_micros};
use crate::error::SimulatorError;
use crate::schema::cards as cards_table;
use crate::simulator::Simulator;

/// Why a command had no effect.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    /// The bank has no such card.
    #[error("the bank has no such card")]
    UnknownCard,
    /// The card has no such payment.
    #[error("the card has no such payment")]
    UnknownPayment,
    /// The amount is not above zero.
    #[error("the amount must be above zero")]
    Amount,
    /// More than is left of the payment after earlier refunds.
    #[error("only {left} of the payment can still be refunded")]
    OverPayment {
        /// What can still be refunded.
        left: Kopecks,
    },
    /// Not the card's activation code.
    #[error("the activation code is wrong")]
    WrongCode,
    /// The card's code, after its last day.
    #[error("the activation code has expired")]
    CodeExpired,
    /// A database error.
    #[error(transparent)]
    Database(#[from] SimulatorError),
}

impl From<diesel::result::Error> for SandboxError {
    fn from(error: diesel::result::Error) -> Self {
        Self::Database(error.into())
    }
}

impl Simulator {
    /// Activates a card, by its code or without one by the bank itself. An active card keeps its activation time,
    /// whatever the code.
    ///
    /// # Errors
    /// [`SandboxError::UnknownCard`], [`SandboxError::WrongCode`], [`SandboxError::CodeExpired`], or a database error.
    pub fn activate(&self, number: CardNumber, code: Option<&str>) -> Result<(), SandboxError> {
        let moment = self.moment();
        self.database.write(|connection| {
            if existing(connection, number)?.activated_at.is_some() {
                return Ok(());
            }
            if let Some(code) = code {
                accept_code(connection, number, code, moment)?;
            }
            diesel::update(cards_table::table.find(column(number)))
                .set(cards_table::activated_at.eq(to_micros(moment.now)))
                .execute(connection)?;
            Ok(())
        })
    }

    /// Blocks a card: it neither pays nor takes top-ups.
    ///
    /// # Errors
    /// [`SandboxError::UnknownCard`], or a database error.
    pub fn block(&self, number: CardNumber) -> Result<(), SandboxError> {
        self.stand(number, Standing::Blocked)
    }

    /// Lifts the block of a card.
    ///
    /// # Errors
    /// [`SandboxError::UnknownCard`], or a database error.
    pub fn unblock(&self, number: CardNumber) -> Result<(), SandboxError> {
        self.stand(number, Standing::Open)
    }

    /// Sets the last day of a card to yesterday, unless it expired earlier.
    ///
    /// # Errors
    /// [`SandboxError::UnknownCard`], or a database error.
    pub fn expire(&self, number: CardNumber) -> Result<(), SandboxError> {
        let yesterday = to_julian(self.moment().yesterday());
        self.database.write(|connection| {
            existing(connection, number)?;
            let valid =
                cards_table::table.find(column(number)).filter(cards_table::valid_until.gt(yesterday));
            diesel::update(valid).set(cards_table::valid_until.eq(yesterday)).execute(connection)?;
            Ok(())
        })
    }

    fn stand(&self, number: CardNumber, standing: Standing) -> Result<(), SandboxError> {
        self.database.write(|connection| {
            let changed = diesel::update(cards_table::table.find(column(number)))
                .set(cards_table::standing.eq(standing.as_str()))
                .execute(connection)?;
            found(changed)
        })
    }
}

pub(crate) fn existing(
    connection: &mut SqliteConnection,
    number: CardNumber,
) -> Result<BankCard, SandboxError> {
    cards::card(connection, number)?.ok_or(SandboxError::UnknownCard)
}

fn found(changed: usize) -> Result<(), SandboxError> {
    if changed == 0 { Err(SandboxError::UnknownCard) } else { Ok(()) }
}

fn accept_code(
    connection: &mut SqliteConnection,
    number: CardNumber,
    code: &str,
    moment: ClockReading,
) -> Result<(), SandboxError> {
    let (right, last_day): (Option<String>, Option<i32>) = cards_table::table
        .find(column(number))
        .select((cards_table::activation_code, cards_table::code_valid_until))
        .first(connection)?;
    if right.as_deref() != Some(code) {
        return Err(SandboxError::WrongCode);
    }
    match last_day.map(from_julian).transpose()? {
        Some(last_day) if moment.today > last_day => Err(SandboxError::CodeExpired),
        Some(_) | None => Ok(()),
    }
}
