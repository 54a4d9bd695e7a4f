//! A database that is open: its connections, its clock, and what is known of its condition.

use std::sync::Arc;
#[cfg(feature = "testing")]
use std::sync::{Mutex, PoisonError};

use kopeck_port_store::{Access, ColumnCipher, StoreError};
use kopeck_port_system::Clock;
use scheduled_thread_pool::ScheduledThreadPool;

use crate::condition::Condition;
use crate::config::{AuditSettings, StoreConfig};
use crate::connection::{
    AnyConnection, ConnectionPool, ConnectionWatch, PoolSettings, PoolState, PooledSession, Session,
};
use crate::dialect;
#[cfg(feature = "testing")]
use crate::dialect::migrations::migrate_on;
use crate::dialect::migrations::missing_migrations;
use crate::error::{OpenError, Stored};
use crate::feed_signal::FeedSignal;
use crate::files::Files;
use crate::history::History;

/// What the transactions of a store share.
pub(crate) struct Database {
    /// By which work is due, where the database has no clock of its own.
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) condition: Arc<Condition>,
    /// Encrypts columns.
    pub(crate) cipher: Arc<dyn ColumnCipher>,
    pub(crate) audit: AuditSettings,
    pub(crate) feed: Option<FeedSignal>,
    read: Arc<ConnectionPool>,
    write: Arc<ConnectionPool>,
    url: String,
}

impl Database {
    /// Opens the database. `is_checked`: whether each connection is checked before a transaction.
    pub(crate) fn open(config: &StoreConfig, is_checked: bool) -> Result<Arc<Self>, OpenError> {
        let url = &config.url;
        let mut first = AnyConnection::open(url, Access::Write)?;
        let missing = missing_migrations(&mut first)?;
        if !missing.is_empty() {
            return Err(OpenError::NotMigrated(missing));
        }
        let files = url.strip_prefix("sqlite://").map(Files::opened);
        let condition = condition(config, files);
        let threads = connecting_threads(if config.is_server() { 3 } else { 1 });
        let pool = |access, size| {
            let (threads, open) = (Arc::clone(&threads), Arc::new(AnyConnection::open_existing));
            let settings = PoolSettings { size, is_checked, threads, open };
            let watch = Arc::clone(&condition) as Arc<dyn ConnectionWatch>;
            Arc::new(ConnectionPool::new(url, access, watch, settings))
        };
        let (read, write) = (pool(Access::Read, config.readers()), pool(Access::Write, config.writers()));
        let database = Self::over(config, read, write, condition)?;
        let session = database.session(Access::Write);
        // SQLite removes its log with the last connection, so the pool has one before this one is closed.
        drop(first);
        database.fit_log(&mut *session.map_err(OpenError::connect)?, false);
        Ok(database)
    }

    /// A new database of one connection, which reads and writes.
    #[cfg(feature = "testing")]
    pub(crate) fn in_memory(config: &StoreConfig) -> Result<Arc<Self>, OpenError> {
        let (condition, threads) = (condition(config, None), connecting_threads(1));
        let mut only = AnyConnection::in_memory()?;
        migrate_on(&mut only)?;
        let only = Mutex::new(Some(only));
        let open = move |_: &str, _: Access| {
            let only = only.lock().unwrap_or_else(PoisonError::into_inner).take();
            only.ok_or_else(|| OpenError::connect("it went with its connection"))
        };
        let settings = PoolSettings { size: 1, is_checked: false, threads, open: Arc::new(open) };
        let watch = Arc::clone(&condition) as Arc<dyn ConnectionWatch>;
        let pool = Arc::new(ConnectionPool::new(&config.url, Access::Write, watch, settings));
        Self::over(config, Arc::clone(&pool), pool, condition)
    }

    fn over(
        config: &StoreConfig,
        read: Arc<ConnectionPool>,
        write: Arc<ConnectionPool>,
        condition: Arc<Condition>,
    ) -> Result<Arc<Self>, OpenError> {
        Ok(Arc::new(Self {
            clock: Arc::clone(&config.clock),
            cipher: Arc::clone(&config.cipher),
            audit: config.audit.clone(),
            feed: FeedSignal::open(config)?,
            read,
            write,
            condition,
            url: config.url.clone(),
        }))
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

    /// Looks whether commits are missing, if another connection has changed the file of an embedded database. A transaction
    /// has to be open.
    ///
    /// # Errors
    /// [`StoreError`] if the database cannot be read.
    pub(crate) fn check_history(&self, session: &mut Session) -> Result<(), StoreError> {
        let changes = dialect::changes_of_others(&mut session.connection).stored()?;
        if std::mem::replace(&mut session.changes_of_others, changes) != changes {
            self.condition.check_history(&mut session.connection)?;
        }
        Ok(())
    }

    /// Finds out, within a writing transaction, whether the database is what it was, if that is in doubt. Returns whether there
    /// is something to commit.
    ///
    /// # Errors
    /// [`StoreError`] if it is not, or cannot be read.
    pub(crate) fn settle(&self, connection: &mut AnyConnection) -> Result<bool, StoreError> {
        self.condition.settle_files(|| dialect::check_pages(&self.url))?;
        if !self.condition.history.is_rewound() {
            return Ok(false);
        }
        let is_noted = self.condition.history.settle(connection)?;
        if !self.condition.history.is_rewound() && dialect::may_pass(connection) {
            // Others may lead to a server that was a primary once.
            self.renew_connections();
        }
        Ok(is_noted)
    }

    /// Leaves all connections to themselves, because a silent server may never answer on them.
    pub(crate) fn renew_connections(&self) {
        self.read.renew();
        self.write.renew();
    }

    /// Keeps the log of an embedded database as short as the space on the disk asks for, and empties it if it `shortens`. No
    /// transaction may be open.
    pub(crate) fn fit_log(&self, session: &mut Session, shortens: bool) {
        let Some(limit) = self.condition.log_limit() else { return };
        let before = std::mem::replace(&mut session.log_limit, limit);
        let shortens = shortens || limit < before;
        if limit == before && !shortens {
            return;
        }
        if let Err(error) = dialect::fit_log(&mut session.connection, limit, shortens) {
            log::debug!("the log of the database is as long as it was: {error}");
            session.failures.take();
        }
    }

    pub(crate) fn connections(&self, access: Access) -> PoolState {
        self.pool(access).state()
    }
}

fn condition(config: &StoreConfig, files: Option<Files>) -> Arc<Condition> {
    let history = History::new(Arc::clone(&config.clock));
    Arc::new(Condition::new(Arc::clone(&config.observer), files, history))
}

/// The threads that open connections.
fn connecting_threads(number: usize) -> Arc<ScheduledThreadPool> {
    let threads = ScheduledThreadPool::builder().num_threads(number).thread_name_pattern("store-connect");
    Arc::new(threads.build())
}
