//! Reconciliation with the bank: its registry of each day is compared with the copy of its transactions, the card
//! batches and the orders. Nothing is changed.
//!
//! The service learns of the bank's movements from its feed, a moment later. A movement of the running day that the feed is
//! about to bring is no difference: it is reported separately.
//!
//! A day is compared card by card in the order of their numbers, in which the registry comes too, so that no more than
//! a page of cards is in memory. Then what the service settled on that day is compared with the keys that the registry
//! had.

mod booked;
mod cards;
mod difference;
mod registry;
mod seen;
mod settled;
mod unread;

use std::collections::HashSet;
use std::ops::{Range, RangeInclusive};
use std::sync::Arc;

use kopeck_domain::card_number::CardNumber;
use kopeck_domain::ids::{CardId, PartnerId};
use kopeck_domain::transaction::Transaction;
use kopeck_port_bank::{BankError, BankGateway, RegistryError};
use kopeck_port_store::{Access, Store, StoreError, UnitOfWork, transact};
use time::{Date, OffsetDateTime};

use crate::Env;
use registry::RegistryReader;
use seen::SeenKeys;

pub use difference::{Difference, DifferenceKind};

/// Cards of a page.
const CARDS: u32 = 200;

/// Why a comparison did not come to its end.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReconcileError {
    /// The bank has no registry.
    #[error("the bank has no registry")]
    NotSupported,
    /// The bank did not respond.
    #[error(transparent)]
    Bank(#[from] BankError),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The process stops.
    #[error("the comparison was stopped")]
    Stopped,
}

impl From<RegistryError> for ReconcileError {
    fn from(error: RegistryError) -> Self {
        match error {
            RegistryError::NotSupported => Self::NotSupported,
            RegistryError::Bank(error) => Self::Bank(error),
        }
    }
}

/// Compares days.
pub struct BankReconciler {
    store: Arc<dyn Store>,
    bank: Arc<dyn BankGateway>,
    env: Arc<Env>,
}

/// A day that is being compared.
struct Day<'a> {
    date: Date,
    /// Until now, if it is today.
    period: Range<OffsetDateTime>,
    /// All days of the comparison.
    all: RangeInclusive<Date>,
    partners: Arc<[PartnerId]>,
    stopping: &'a dyn Fn() -> bool,
}

/// What was found on a day so far.
#[derive(Default)]
struct Progress {
    /// The keys that the registry had.
    seen: SeenKeys,
    /// Transactions that it did not have.
    unlisted: Vec<Unlisted>,
    /// Those that it had on another card: the card here, and the id.
    misplaced: HashSet<(CardNumber, i64)>,
    /// Movements of the running day that are missing here, but may still come with the feed.
    not_here: Vec<NotHere>,
}

/// A movement at the bank without its copy here.
struct NotHere {
    partner: PartnerId,
    card: CardId,
    number: CardNumber,
    transaction: i64,
    difference: Difference,
}

/// A transaction that the registry of its day does not have.
struct Unlisted {
    partner: PartnerId,
    card: CardNumber,
    transaction: Transaction,
}

impl Day<'_> {
    /// Fails if the process stops.
    fn go_on(&self) -> Result<(), ReconcileError> {
        if (self.stopping)() { Err(ReconcileError::Stopped) } else { Ok(()) }
    }
}

impl BankReconciler {
    /// A comparison over these ports.
    #[must_use]
    pub fn new(store: Arc<dyn Store>, bank: Arc<dyn BankGateway>, env: Arc<Env>) -> Self {
        Self { store, bank, env }
    }

    /// Compares the days of the service's zone and calls `report` for each difference, in the order of days. Of the
    /// running day it compares what happened until now; a day to come is empty. Returns the movements of the running day that
    /// are missing here because the service is yet to read them from the bank's feed. Checks `stopping` between pages. Blocks
    /// during bank requests.
    ///
    /// # Errors
    /// [`ReconcileError`]; differences reported before it stand.
    pub fn compare(
        &self,
        days: &RangeInclusive<Date>,
        stopping: &dyn Fn() -> bool,
        report: &mut dyn FnMut(Difference),
    ) -> Result<Vec<Difference>, ReconcileError> {
        let mut unread = Vec::new();
        let partners = self.read(|unit| unit.partners().list())?;
        let partners: Arc<[PartnerId]> = partners.iter().map(|partner| partner.id).collect();
        let mut next = Some(*days.start());
        while let Some(date) = next.filter(|date| date <= days.end()) {
            next = date.next_day();
            let zone = self.env.settings.zone;
            let start = zone.start_of(date);
            let end = next.map_or(start, |next| zone.start_of(next)).min(self.env.now()).max(start);
            let day = Day {
                date,
                period: start..end,
                all: days.clone(),
                partners: Arc::clone(&partners),
                stopping,
            };
            unread.append(&mut self.compare_day(&day, report)?);
        }
        Ok(unread)
    }

    /// Compares a day; returns its movements that are yet to be read.
    fn compare_day(
        &self,
        day: &Day<'_>,
        report: &mut dyn FnMut(Difference),
    ) -> Result<Vec<Difference>, ReconcileError> {
        let mut registry = RegistryReader::new(&*self.bank, day.period.clone());
        let mut progress = Progress::default();
        let mut after = None;
        loop {
            day.go_on()?;
            let page = self.read(move |unit| unit.reconciliation().cards(after, CARDS))?;
            let last = page.last().filter(|_| page.len() == CARDS as usize).map(|(number, ..)| *number);
            // The registry first: what happens meanwhile is then known here before it is looked for.
            let entries = registry.up_to(last)?;
            self.compare_cards(day, page, entries, &mut progress, report)?;
            after = last;
            if last.is_none() {
                break;
            }
        }
        let unread = self.tell_unread_apart(day, std::mem::take(&mut progress.not_here), report)?;
        self.compare_unlisted(day, &progress, report)?;
        self.compare_settled(day, &progress.seen, report)?;
        Ok(unread)
    }

    /// Runs a reading unit of work.
    fn read<T: Send + 'static>(
        &self,
        body: impl FnMut(&mut dyn UnitOfWork) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        transact(&*self.store, Access::Read, body)
    }
}

#[cfg(test)]
mod tests;
