//! A database that is open: its connections, its clock, and what is known of its condition.

use std::sync::Arc;

use kopeck_port_store::{Access, ColumnCipher, StoreError};
use kopeck_port_system::Clock;

use crate::condition::Condition;
use crate::config::StoreConfig;
use crate::connection::{ConnectionPool, PoolSettings, PoolState, PooledSession};
use crate::dialect;
use crate::error::OpenError;
use crate::transaction::DieselTransaction;

/// What the transactions of a store share.
pub(crate) struct Database {
    /// By which work is due, where the database has no clock of its own.
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) condition: Arc<Condition>,
    /// Encrypts columns.
    pub(crate) cipher: Arc<dyn ColumnCipher>,
    read: ConnectionPool,
    write: ConnectionPool,
}

impl Database {
    /// Opens the database. `is_checked`: whether each connection is checked before a transaction.
    pub(crate) fn open(config: &StoreConfig, is_checked: bool) -> Result<Arc<Self>, OpenError> {
        let url = &config.url;
        let mut first = dialect::connect(url, Access::Write)?;
        let missing = dialect::missing_migrations(&mut first)?;
        if !missing.is_empty() {
            return Err(OpenError::NotMigrated(missing));
        }
        let condition = Arc::new(Condition::new(Arc::clone(&config.observer), dialect::files(url)));
        let pool = |access, size| {
            ConnectionPool::new(url, access, &config.audit, &condition, PoolSettings { size, is_checked })
        };
        let database = Arc::new(Self {
            clock: Arc::clone(&config.clock),
            cipher: Arc::clone(&config.cipher),
            read: pool(Access::Read, config.readers()),
            write: pool(Access::Write, config.writers()),
            condition,
        });
        let session = DieselTransaction::new(&database, Access::Write);
        // SQLite removes its log with the last connection, so the pool has one before this one is closed.
        drop(first);
        session.map_err(|error| OpenError::Connect(error.to_string()))?.fit_log();
        Ok(database)
    }

    fn pool(&self, access: Access) -> &ConnectionPool {
        match access {
            Access::Read => &self.read,
            Access::Write => &self.write,
        }
    }

    /// A connection of the pool. Where the files of an embedded database are gone none is opened, since that would make new
    /// ones.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] if the database cannot be reached, [`StoreError::Busy`] if all connections are in use.
    pub(crate) fn session(&self, access: Access) -> Result<PooledSession, StoreError> {
        self.condition.check_files(access)?;
        self.pool(access).get()
    }

    /// Replaces the connection of a session.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] if the database cannot be reached.
    pub(crate) fn reconnect(&self, access: Access, session: &mut PooledSession) -> Result<(), StoreError> {
        self.pool(access).reconnect(session)
    }

    /// Leaves all connections to themselves, because a silent server may never answer on them.
    pub(crate) fn renew_connections(&self) {
        self.read.renew();
        self.write.renew();
    }

    pub(crate) fn connections(&self, access: Access) -> PoolState {
        self.pool(access).state()
    }
}
