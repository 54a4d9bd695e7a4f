//! The simulator as a bank gateway.

use std::ops::Range;

use diesel::SqliteConnection;
use kopeck_domain::card_number::CardNumber;
use kopeck_domain::transaction::Transaction;
use kopeck_port_bank::sandbox::BankFaults;
use kopeck_port_bank::{
    BankCard, BankError, BankGateway, BankKey, Capabilities, Capability, FeedEntry, FeedError, IssuedCard,
    RegistryEntry, RegistryError, RegistryPosition, Submission, Verdict,
};
use time::OffsetDateTime;

use crate::cards;
use crate::error::SimulatorError;
use crate::feed;
use crate::instructions;
use crate::registry;
use crate::simulator::Simulator;
use crate::submit;

/// Another instruction under a known key has no effect: [`BankError::Unavailable`].
impl BankGateway for Simulator {
    fn repeat_is_safe(&self) -> bool {
        self.repeat_is_safe && self.capabilities.has(Capability::RepeatSafe)
    }

    fn capabilities(&self) -> Capabilities {
        self.capabilities
    }

    fn submit(&self, submissions: &[Submission]) -> Vec<Result<Verdict, BankError>> {
        let faults = self.faults.get();
        let lost: Vec<bool> =
            submissions.iter().map(|_| self.faults.occurs(faults.lose_request_rate)).collect();
        let arrives: Vec<bool> =
            lost.iter().map(|lost| !lost && !faults.down && !self.faults.occurs(faults.error_rate)).collect();
        let arrived: Vec<&Submission> =
            submissions.iter().zip(&arrives).filter(|(_, arrives)| **arrives).map(|(sent, _)| sent).collect();
        let mut answers = self.carry_out(&arrived, &faults).into_iter();
        let answers = arrives
            .into_iter()
            .zip(lost)
            .map(|(arrives, is_lost)| {
                let answer = if arrives { answers.next() } else { None };
                answer.unwrap_or_else(|| {
                    let unknown = BankError::Unknown("the request was lost".to_owned());
                    Err(if is_lost && !faults.down { unknown } else { no_answer(&faults) })
                })
            })
            .collect();
        self.wait(&faults);
        answers
    }

    fn query(&self, keys: &[BankKey]) -> Result<Vec<Option<Verdict>>, BankError> {
        let keys: Vec<&str> = keys.iter().map(BankKey::as_str).collect();
        self.read(|connection| {
            let recorded = instructions::recorded(connection, &keys)?;
            Ok(keys.iter().map(|key| recorded.get(key).map(|recorded| recorded.verdict)).collect())
        })
    }

    fn issued_cards(&self, key: &BankKey, skip: u32, limit: u32) -> Result<Vec<IssuedCard>, BankError> {
        self.read(|connection| cards::issued(connection, key.as_str(), skip, limit))
    }

    fn card(&self, number: CardNumber) -> Result<Option<BankCard>, BankError> {
        self.read(|connection| cards::card(connection, number))
    }

    fn transactions(
        &self,
        number: CardNumber,
        after: i64,
        limit: u32,
    ) -> Result<Vec<Transaction>, BankError> {
        self.read(|connection| cards::transactions(connection, number, after, limit))
    }

    fn feed(&self, after: i64, limit: u32) -> Result<Vec<FeedEntry>, FeedError> {
        if !self.capabilities.has(Capability::Feed) {
            return Err(FeedError::NotSupported);
        }
        Ok(self.read(|connection| feed::entries(connection, after, limit))?)
    }

    fn registry(
        &self,
        period: &Range<OffsetDateTime>,
        after: Option<RegistryPosition>,
        limit: u32,
    ) -> Result<Vec<RegistryEntry>, RegistryError> {
        if !self.capabilities.has(Capability::Registry) {
            return Err(RegistryError::NotSupported);
        }
        Ok(self.read(|connection| registry::entries(connection, period, after, limit))?)
    }
}

impl Simulator {
    /// Carries out `arrived`, and loses some responses.
    fn carry_out(&self, arrived: &[&Submission], faults: &BankFaults) -> Vec<Result<Verdict, BankError>> {
        if arrived.is_empty() {
            return Vec::new();
        }
        let again = || self.faults.occurs(faults.duplicate_rate);
        let answers = self
            .database
            .write(|connection| {
                submit::carry_out(connection, &self.card_issuer(), self.capabilities, arrived, &again)
            })
            .unwrap_or_else(|error| vec![Err(bank_error(&error)); arrived.len()]);
        answers
            .into_iter()
            .map(|answer| {
                if self.faults.occurs(faults.lose_answer_rate) {
                    return Err(BankError::Unknown("the answer was lost".to_owned()));
                }
                answer
            })
            .collect()
    }

    fn read<T>(
        &self,
        work: impl FnOnce(&mut SqliteConnection) -> Result<T, SimulatorError>,
    ) -> Result<T, BankError> {
        let faults = self.faults.get();
        let answer = if faults.down || self.faults.occurs(faults.error_rate) {
            Err(no_answer(&faults))
        } else {
            self.database.read(work).map_err(|error| bank_error(&error))
        };
        self.wait(&faults);
        answer
    }

    /// A bank that is down has no latency either.
    fn wait(&self, faults: &BankFaults) {
        if !faults.down && !faults.latency.is_zero() {
            (self.sleep)(faults.latency);
        }
    }
}

fn no_answer(faults: &BankFaults) -> BankError {
    BankError::Unavailable(if faults.down { "the bank is down" } else { "the bank failed" }.to_owned())
}

/// Every error but a failed commit means a rollback.
fn bank_error(error: &SimulatorError) -> BankError {
    match error {
        SimulatorError::Commit(_) => BankError::Unknown(error.to_string()),
        SimulatorError::Path
        | SimulatorError::Open(_)
        | SimulatorError::Pool(_)
        | SimulatorError::Migration(_)
        | SimulatorError::Store(_)
        | SimulatorError::Corrupt(_)
        | SimulatorError::NewerSchema { .. }
        | SimulatorError::OutOfNumbers => BankError::Unavailable(error.to_string()),
    }
}
