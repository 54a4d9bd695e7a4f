//! The simulator itself: its books, its clock, its dice.

use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use diesel::SqliteConnection;
use diesel::migration::{Migration, MigrationSource as _};
use diesel::sqlite::Sqlite;
use diesel_migrations::{EmbeddedMigrations, MigrationHarness as _, embed_migrations};
use kopeck_domain::calendar::Zone;
use kopeck_port_bank::BankKey;
use kopeck_port_system::{Clock, Entropy};

use crate::behaviour::{Behaviour, BehaviourError, Mood};
use crate::connection::Database;
use crate::error::SimulatorError;
use crate::instructions;
use crate::issue::{self, Press};
use crate::ledger::{self, Books, Discrepancy};
use crate::moments::Moment;
use crate::numbers::Numbers;

const MIGRATIONS: EmbeddedMigrations = embed_migrations!("migrations");

/// A bank that keeps its books in a SQLite file of its own and outlives a restart.
///
/// Calls block, also each other: there is one connection that writes and one that reads. Several processes may have
/// the same books open.
pub struct Simulator {
    pub(crate) database: Database,
    pub(crate) mood: Mood,
    pub(crate) repeat_is_safe: bool,
    /// Waits as long as an answer is late.
    pub(crate) sleep: Box<dyn Fn(Duration) + Send + Sync>,
    clock: Arc<dyn Clock>,
    entropy: Arc<dyn Entropy>,
    zone: Zone,
    numbers: Numbers,
}

impl Simulator {
    /// Opens the books at `path`, or begins them. Days begin and end in `zone`; `entropy` makes card numbers,
    /// activation codes and the dice of [`Behaviour`].
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
            issue::numbers(connection, entropy.as_ref())
        })?;
        Ok(Self {
            database,
            mood: Mood::new(Arc::clone(&entropy)),
            repeat_is_safe: true,
            sleep: Box::new(thread::sleep),
            clock,
            entropy,
            zone,
            numbers,
        })
    }

    /// Sets what the gateway says of itself, `true` unless set. It changes nothing of what the bank does:
    /// [`Behaviour::duplicate_rate`] does that.
    #[must_use]
    pub fn with_repeat_is_safe(self, repeat_is_safe: bool) -> Self {
        Self { repeat_is_safe, ..self }
    }

    /// Waits by `sleep` while an answer is late, [`thread::sleep`] unless set: for tests that do not want to.
    #[must_use]
    pub fn with_sleep(self, sleep: impl Fn(Duration) + Send + Sync + 'static) -> Self {
        Self { sleep: Box::new(sleep), ..self }
    }

    /// How the bank misbehaves at present.
    #[must_use]
    pub fn behaviour(&self) -> Behaviour {
        self.mood.get()
    }

    /// How the bank misbehaves from now on. The powers of the sandbox never do.
    ///
    /// # Errors
    /// [`BehaviourError`] if a rate is no probability; then nothing changes.
    pub fn set_behaviour(&self, behaviour: Behaviour) -> Result<(), BehaviourError> {
        self.mood.set(behaviour)
    }

    /// How many times the instruction under `key` had its effect; 0 if it was declined or never arrived.
    ///
    /// # Errors
    /// [`SimulatorError`] if the books cannot be read.
    pub fn applied(&self, key: &BankKey) -> Result<u32, SimulatorError> {
        self.database.read(|connection| instructions::applied(connection, key.as_str()))
    }

    /// The totals of the books.
    ///
    /// # Errors
    /// [`SimulatorError`] if the books cannot be read.
    pub fn books(&self) -> Result<Books, SimulatorError> {
        self.database.read(ledger::books)
    }

    /// Recomputes the balance of every card from its transactions and gives those that are stored differently.
    ///
    /// # Errors
    /// [`SimulatorError`] if the books cannot be read.
    pub fn check(&self) -> Result<Vec<Discrepancy>, SimulatorError> {
        self.database.read(ledger::check)
    }

    pub(crate) const fn zone(&self) -> Zone {
        self.zone
    }

    pub(crate) fn moment(&self) -> Moment {
        Moment::new(self.clock.now(), self.zone)
    }

    pub(crate) fn moment_of(&self, moment: time::OffsetDateTime) -> Moment {
        Moment::new(moment, self.zone)
    }

    pub(crate) fn press(&self) -> Press<'_> {
        Press { numbers: self.numbers, entropy: self.entropy.as_ref(), moment: self.moment() }
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
    fn books_of_a_newer_schema_are_refused() {
        let mut connection = SqliteConnection::establish(":memory:").unwrap();
        migrate(&mut connection).unwrap();
        migrate(&mut connection).unwrap();
        let later = "INSERT INTO __diesel_schema_migrations (version) VALUES ('20990101000001')";
        connection.batch_execute(later).unwrap();
        match migrate(&mut connection) {
            Err(SimulatorError::NewerSchema { books, binary }) => {
                assert_eq!((&*books, &*binary), ("20990101000001", "20261121000001"));
            }
            other => panic!("{other:?}"),
        }
    }
}
