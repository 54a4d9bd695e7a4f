//! The sandbox's commands, beyond the gateway.

use diesel::prelude::*;
use kopeck_domain::card::Standing;
use kopeck_domain::card_number::CardNumber;
use kopeck_port_bank::BankCard;
use kopeck_port_bank::sandbox::{
    BankFaults, Purchase, PurchaseOutcome, Refund, SandboxControl, SandboxError,
};

use crate::cards::{self, column};
use crate::clock_reading::{ClockReading, from_julian, to_julian, to_micros};
use crate::error::SimulatorError;
use crate::feed::{self, CardChange};
use crate::schema::cards as cards_table;
use crate::simulator::Simulator;

impl SandboxControl for Simulator {
    fn purchase(&self, card: CardNumber, purchase: &Purchase) -> Result<PurchaseOutcome, SandboxError> {
        self.make_purchase(card, purchase)
    }

    fn refund(&self, card: CardNumber, refund: &Refund) -> Result<i64, SandboxError> {
        self.make_refund(card, refund)
    }

    fn block(&self, card: CardNumber) -> Result<(), SandboxError> {
        self.set_standing(card, Standing::Blocked, CardChange::Blocked)
    }

    fn unblock(&self, card: CardNumber) -> Result<(), SandboxError> {
        self.set_standing(card, Standing::Open, CardChange::Unblocked)
    }

    fn expire(&self, card: CardNumber) -> Result<(), SandboxError> {
        let moment = self.moment();
        let yesterday = to_julian(moment.yesterday());
        self.database.write(|connection| {
            existing(connection, card)?;
            let valid = cards_table::table.find(column(card)).filter(cards_table::valid_until.gt(yesterday));
            let changed = diesel::update(valid)
                .set(cards_table::valid_until.eq(yesterday))
                .execute(connection)
                .map_err(SimulatorError::from)?;
            if changed > 0 {
                feed::add_change(connection, card, CardChange::Expired, moment)?;
            }
            Ok(())
        })
    }

    fn activate(&self, card: CardNumber, code: Option<&str>) -> Result<(), SandboxError> {
        let moment = self.moment();
        self.database.write(|connection| {
            let before = existing(connection, card)?;
            // A closed card stays as it is.
            if before.activated_at.is_some() || before.standing == Standing::Closed {
                return Ok(());
            }
            if let Some(code) = code {
                accept_code(connection, card, code, moment)?;
            }
            diesel::update(cards_table::table.find(column(card)))
                .set(cards_table::activated_at.eq(to_micros(moment.now)))
                .execute(connection)
                .map_err(SimulatorError::from)?;
            Ok(feed::add_change(connection, card, CardChange::Activated, moment)?)
        })
    }

    fn inject_faults(&self, faults: BankFaults) -> Result<(), SandboxError> {
        self.faults.set(faults)
    }
}

impl From<SimulatorError> for SandboxError {
    fn from(error: SimulatorError) -> Self {
        if error.is_passing() {
            Self::Unreachable(error.to_string())
        } else {
            Self::Failed(error.to_string())
        }
    }
}

impl Simulator {
    fn set_standing(
        &self,
        number: CardNumber,
        standing: Standing,
        change: CardChange,
    ) -> Result<(), SandboxError> {
        let moment = self.moment();
        self.database.write(|connection| {
            let before = existing(connection, number)?.standing;
            // A closed card stays closed.
            if before == standing || before == Standing::Closed {
                return Ok(());
            }
            diesel::update(cards_table::table.find(column(number)))
                .set(cards_table::standing.eq(standing.as_str()))
                .execute(connection)
                .map_err(SimulatorError::from)?;
            Ok(feed::add_change(connection, number, change, moment)?)
        })
    }
}

pub(crate) fn existing(
    connection: &mut SqliteConnection,
    number: CardNumber,
) -> Result<BankCard, SandboxError> {
    cards::card(connection, number)?.ok_or(SandboxError::UnknownCard)
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
        .first(connection)
        .map_err(SimulatorError::from)?;
    if right.as_deref() != Some(code) {
        return Err(SandboxError::WrongCode);
    }
    match last_day.map(from_julian).transpose()? {
        Some(last_day) if moment.today > last_day => Err(SandboxError::CodeExpired),
        Some(_) | None => Ok(()),
    }
}
