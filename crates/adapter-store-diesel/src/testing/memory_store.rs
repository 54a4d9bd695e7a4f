//! The plain store on a database in memory.

use std::sync::Arc;

use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use diesel::sql_types::Text;
use kopeck_port_store::{Access, ColumnCipher, Done, Store, StoreError, Work};
use kopeck_port_system::Clock;

use crate::config::StoreConfig;
use crate::connection::AnyConnection;
use crate::database::Database;
use crate::error::{OpenError, Stored as _, StoredRows as _};
use crate::plain::PooledStore;
use crate::statements::RawStatement;

/// The plain store on one connection to a SQLite database in memory. It runs every unit of work on the caller's thread.
pub struct MemoryStore {
    store: PooledStore,
    tables: Vec<String>,
}

impl MemoryStore {
    /// A migrated, empty database.
    ///
    /// # Errors
    /// [`OpenError`] if a migration fails.
    pub fn open(clock: Arc<dyn Clock>, cipher: Arc<dyn ColumnCipher>) -> Result<Self, OpenError> {
        let config = StoreConfig { cipher, ..StoreConfig::new("sqlite://:memory:", clock) };
        let store = PooledStore::over(Database::in_memory(&config)?, config.queue);
        let mut store = Self { store, tables: Vec::new() };
        store.tables = store.answers(TABLES).map_err(OpenError::connect)?;
        Ok(store)
    }

    /// Empties the database. What the connection has prepared it keeps.
    ///
    /// # Errors
    /// [`StoreError`] if a row cannot be deleted, as those of the audit log.
    pub fn clear(&self) -> Result<(), StoreError> {
        self.execute("PRAGMA foreign_keys = OFF;")?;
        let delete = |sqlite: &mut SqliteConnection, table| {
            RawStatement::new(&format!("DELETE FROM {table}"), Vec::new()).execute(sqlite).done()
        };
        on(&self.store, |sqlite| self.tables.iter().try_for_each(|table| delete(sqlite, table)))?;
        self.execute("INSERT INTO bank_feed (id, cursor) VALUES (1, 0); PRAGMA foreign_keys = ON;")
    }

    /// Runs statements, such as one that makes a trigger.
    ///
    /// # Errors
    /// [`StoreError`] if one fails.
    pub fn execute(&self, statements: &str) -> Result<(), StoreError> {
        on(&self.store, |sqlite| sqlite.batch_execute(statements).stored())
    }

    /// The rows of a query with one column, `answer`, of texts: a look at the tables themselves.
    ///
    /// # Errors
    /// [`StoreError`] if it fails.
    pub fn answers(&self, query: &str) -> Result<Vec<String>, StoreError> {
        let statement = RawStatement::new(query, Vec::new());
        on(&self.store, |sqlite| statement.load(sqlite).all(|AnswerRow { answer }| Ok(answer)))
    }
}

const TABLES: &str =
    "SELECT name AS answer FROM sqlite_schema WHERE type = 'table' AND name <> '__diesel_schema_migrations'";

#[derive(QueryableByName)]
struct AnswerRow {
    #[diesel(sql_type = Text)]
    answer: String,
}

fn on<T>(
    store: &PooledStore,
    body: impl FnOnce(&mut SqliteConnection) -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    match &mut store.database.session(Access::Write)?.connection {
        AnyConnection::Sqlite(sqlite) => body(sqlite),
        AnyConnection::Postgres(_) => Err(StoreError::Failed("a database in memory is SQLite's".to_owned())),
    }
}

impl Store for MemoryStore {
    /// Returns only after `done`.
    fn submit(&self, access: Access, work: Work, done: Done) {
        done(self.run(access, work));
    }

    fn run(&self, access: Access, work: Work) -> Result<(), StoreError> {
        self.store.run(access, work)
    }
}
