//! The simulator: database, clock, random numbers.

use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use diesel::SqliteConnection;
use diesel::migration::{Migration, MigrationSource as _};
use diesel::sqlite::Sqlite;
use diesel_migrations::{EmbeddedMigrations, MigrationHarness as _, embed_migrations};
use kopeck_domain::calendar::Zone;
use kopeck_port_bank::sandbox::BankFaults;
use kopeck_port_bank::{BankKey, Capabilities};
use kopeck_port_system::{Clock, Entropy};

use crate::card_issuer::{self, CardIssuer};
use crate::card_numbers::CardNumbers;
use crate::clock_reading::ClockReading;
use crate::connection::Database;
use crate::error::SimulatorError;
use crate::faults::FaultInjection;
use crate::instructions;
use crate::ledger::{self, Discrepancy, LedgerTotals};

const MIGRATIONS: EmbeddedMigrations = embed_migrations!("migrations");

/// A simulated bank with a SQLite database.
///
/// Calls block. One connection writes and a few read; several processes may share the database.
pub struct Simulator {
    pub(crate) database: Database,
    pub(crate) faults: FaultInjection,
    pub(crate) repeat_is_safe: bool,
    pub(crate) capabilities: Capabilities,
    /// Waits for the injected latency.
    pub(crate) sleep: Box<dyn Fn(Duration) + Send + Sync>,
    clock: Arc<dyn Clock>,
    entropy: Arc<dyn Entropy>,
    zone: Zone,
    numbers: CardNumbers,
}

impl Simulator {
    /// Opens the database at `path`, or creates it. `zone` bounds days; `entropy` makes card numbers, activation codes
    /// and the random draws of [`BankFaults`].
    ///
    /// # Errors
    /// [`SimulatorError`] if the file cannot be opened or brought up to date.
    pub fn open(
        path: &Path,
        clock: Arc<dyn Clock>,
        entropy: Arc<dyn Entropy>,
        zone: Zone,
    ) -> Result<Self, SimulatorError> {
        let path = path.to_str().ok_or(SimulatorError::Path)?;
        // In one transaction: of several processes that open a new file, one migrates it and the others wait.
        let (database, numbers) = Database::open(path, |connection| {
            migrate(connection)?;
            card_issuer::numbers(connection, entropy.as_ref())
        })?;
        Ok(Self {
            database,
            faults: FaultInjection::new(Arc::clone(&entropy)),
            repeat_is_safe: true,
            capabilities: Capabilities::EVERYTHING,
            sleep: Box::new(thread::sleep),
            clock,
            entropy,
            zone,
            numbers,
        })
    }

    /// Sets what the gateway reports, `true` by default. What the bank really does is [`BankFaults::duplicate_rate`].
    #[must_use]
    pub fn with_repeat_is_safe(self, repeat_is_safe: bool) -> Self {
        Self { repeat_is_safe, ..self }
    }

    /// Plays a bank that can do no more than this: it declines other instructions, and has no other operations.
    #[must_use]
    pub fn with_capabilities(self, capabilities: Capabilities) -> Self {
        Self { capabilities, ..self }
    }

    /// Replaces [`thread::sleep`] for the injected latency: for tests.
    #[must_use]
    pub fn with_sleep(self, sleep: impl Fn(Duration) + Send + Sync + 'static) -> Self {
        Self { sleep: Box::new(sleep), ..self }
    }

    /// The faults in force.
    #[must_use]
    pub fn faults(&self) -> BankFaults {
        self.faults.get()
    }

    /// How many times the instruction under `key` had its effect; 0 if it was declined or never arrived.
    ///
    /// # Errors
    /// [`SimulatorError`] if the database cannot be read.
    pub fn applied(&self, key: &BankKey) -> Result<u32, SimulatorError> {
        self.database.read(|connection| instructions::applied(connection, key.as_str()))
    }

    /// The totals of the ledger.
    ///
    /// # Errors
    /// [`SimulatorError`] if the database cannot be read.
    pub fn totals(&self) -> Result<LedgerTotals, SimulatorError> {
        self.database.read(ledger::totals)
    }

    /// The cards whose stored balance differs from the sum of their transactions.
    ///
    /// # Errors
    /// [`SimulatorError`] if the database cannot be read.
    pub fn check(&self) -> Result<Vec<Discrepancy>, SimulatorError> {
        self.database.read(ledger::check)
    }

    pub(crate) const fn zone(&self) -> Zone {
        self.zone
    }

    pub(crate) fn moment(&self) -> ClockReading {
        ClockReading::new(self.clock.now(), self.zone)
    }

    pub(crate) fn moment_of(&self, moment: time::OffsetDateTime) -> ClockReading {
        ClockReading::new(moment, self.zone)
    }

    pub(crate) fn card_issuer(&self) -> CardIssuer<'_> {
        CardIssuer { numbers: self.numbers, entropy: self.entropy.as_ref(), moment: self.moment() }
    }
}

fn migrate(connection: &mut SqliteConnection) -> Result<(), SimulatorError> {
    let failed =
        |error: Box<dyn std::error::Error + Send + Sync>| SimulatorError::Migration(error.to_string());
    let applied = connection.applied_migrations().map_err(failed)?;
    let all: Vec<Box<dyn Migration<Sqlite>>> = MIGRATIONS.migrations().map_err(failed)?;
    let known: Vec<_> = all.iter().map(|migration| migration.name().version()).collect();
    if let Some(newest) = applied.iter().filter(|version| !known.contains(version)).max() {
        let binary = known.iter().max().map_or_else(String::new, ToString::to_string);
        return Err(SimulatorError::NewerSchema { books: newest.to_string(), binary });
    }
    connection.run_pending_migrations(MIGRATIONS).map(drop).map_err(failed)
}

#[cfg(test)]
mod tests {
    use diesel::Connection as _;
    use diesel::connection::SimpleConnection as _;

    use super::*;

    #[test]
    fn a_newer_schema_is_refused() {
        let mut connection = SqliteConnection::establish(":memory:").unwrap();
        migrate(&mut connection).unwrap();
        migrate(&mut connection).unwrap();
        let later = "INSERT INTO __diesel_schema_migrations (version) VALUES ('20990101000001')";
        connection.batch_execute(later).unwrap();
        match migrate(&mut connection) {
            Err(SimulatorError::NewerSchema { books, binary }) => {
                assert_eq!((&*books, &*binary), ("20990101000001", "20261127000001"));
            }
            other => panic!("{other:?}"),
        }
    }
}
