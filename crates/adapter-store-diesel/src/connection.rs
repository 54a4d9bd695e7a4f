//! Connections to the database that the URL's scheme names, pooled by r2d2.
//!
//! A pool for each access: sessions that read and sessions that write have other settings, and SQLite has one writer. The
//! pool opens connections, again and again while the database is away, checks them, and replaces broken ones.

pub(crate) mod postgres;
pub(crate) mod sqlite;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant};

use diesel::connection::{
    Instrumentation, InstrumentationEvent, SimpleConnection, get_default_instrumentation,
};
use diesel::pg::PgConnection;
use diesel::prelude::*;
use diesel::r2d2::{ManageConnection, NopErrorHandler, Pool, PooledConnection};
use diesel::result::Error;
use diesel::sqlite::SqliteConnection;
use kopeck_audit::Head;
use kopeck_port_store::{Access, StoreError};
use scheduled_thread_pool::ScheduledThreadPool;
use time::OffsetDateTime;

use crate::error::{OpenError, StatementFailure};
use crate::server_url::is_server;

/// A connection to one of the databases that the store speaks to.
#[derive(diesel::MultiConnection)]
pub(crate) enum AnyConnection {
    Sqlite(SqliteConnection),
    Postgres(PgConnection),
}

/// Runs a statement that every database knows on the connection within. A statement that is given to the enum is written
/// out anew several times each time it runs, which takes SQLite's share of a short one.
macro_rules! on_either {
    ($connection:expr, $inner:ident => $run:expr) => {
        match $connection {
            $crate::connection::AnyConnection::Sqlite($inner) => $run,
            $crate::connection::AnyConnection::Postgres($inner) => $run,
        }
    };
}
pub(crate) use on_either;

impl AnyConnection {
    /// Connects to the database that the URL's scheme names, and makes an embedded one that is not there.
    pub(crate) fn open(url: &str, access: Access) -> Result<Self, OpenError> {
        Self::set_up(url, access, sqlite::establish)
    }

    /// Connects only to a database that is there.
    pub(crate) fn open_existing(url: &str, access: Access) -> Result<Self, OpenError> {
        Self::set_up(url, access, sqlite::establish_existing)
    }

    fn set_up(
        url: &str,
        access: Access,
        on_sqlite: impl FnOnce(&str) -> Result<SqliteConnection, OpenError>,
    ) -> Result<Self, OpenError> {
        let (connection, set_up) = if is_server(url) {
            let mut pg = postgres::establish(url)?;
            let set_up = postgres::set_up(&mut pg, access);
            (Self::Postgres(pg), set_up)
        } else {
            let mut sqlite = on_sqlite(url)?;
            let set_up = sqlite::set_up(&mut sqlite, access);
            (Self::Sqlite(sqlite), set_up)
        };
        set_up.map_err(OpenError::connect)?;
        Ok(connection)
    }

    /// An empty database, which is this connection's alone and goes with it.
    #[cfg(feature = "testing")]
    pub(crate) fn in_memory() -> Result<Self, OpenError> {
        let mut sqlite = SqliteConnection::establish(":memory:").map_err(OpenError::connect)?;
        sqlite::set_up(&mut sqlite, Access::Write).map_err(OpenError::connect)?;
        Ok(Self::Sqlite(sqlite))
    }

    /// The connection within, for statements that only PostgreSQL knows.
    pub(crate) fn postgres(&mut self) -> QueryResult<&mut PgConnection> {
        match self {
            Self::Postgres(pg) => Ok(pg),
            Self::Sqlite(_) => {
                Err(Error::QueryBuilderError("a statement for PostgreSQL was meant for SQLite".into()))
            }
        }
    }
}

/// How long a caller waits for a connection of a pool.
const WAIT: Duration = Duration::from_secs(2);
/// The same while others use all connections.
const WAIT_FOR_OTHERS: Duration = Duration::from_secs(5);
/// How often a caller looks whether an attempt to connect has failed meanwhile.
const LOOK: Duration = Duration::from_millis(50);
/// r2d2 backs off between attempts up to half of this.
const BACKOFF: Duration = Duration::from_millis(400);
/// A connection to a server is closed after so long, once it is idle.
const MAX_LIFETIME: Duration = Duration::from_secs(30 * 60);

/// A connection of a pool, with its state between transactions.
pub(crate) struct Session {
    pub(crate) connection: AnyConnection,
    /// The audit log's chain of this connection.
    pub(crate) chain: ChainPosition,
    pub(crate) failures: Failures,
    /// The limit of the write-ahead log that this connection was set to, in bytes.
    pub(crate) log_limit: u64,
    /// By this it is seen that another connection has changed an embedded database.
    pub(crate) changes_of_others: i64,
    /// Whether the pool is to close the connection.
    pub(crate) is_broken: bool,
}

/// The position of a connection in its chain of the audit log.
#[derive(Default)]
pub(crate) struct ChainPosition {
    /// How far the chain is committed; `None` before the first entry, and if that is not known.
    pub(crate) head: Option<Head>,
    /// When its checkpoint was last moved.
    pub(crate) checkpoint_at: Option<OffsetDateTime>,
}

/// The worst failure of a connection's statements since the last look. A use case turns a [`StoreError`] into an error of
/// its own, so diesel tells the connection itself of each failed statement.
#[derive(Clone, Default)]
pub(crate) struct Failures(Arc<Mutex<Option<StatementFailure>>>);

/// Notes failed statements, and passes all events on to the instrumentation that the connection would have without it.
struct FailureRecorder {
    failures: Failures,
    next: Option<Box<dyn Instrumentation>>,
}

impl Failures {
    /// Takes the worst failure since the last look.
    pub(crate) fn take(&self) -> Option<StatementFailure> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Whether a statement has failed since the last look.
    pub(crate) fn is_any(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }
}

impl Instrumentation for FailureRecorder {
    fn on_connection_event(&mut self, event: InstrumentationEvent<'_>) {
        if let InstrumentationEvent::FinishQuery { error: Some(error), .. } = &event
            && let Some(failure) = StatementFailure::of(error)
        {
            let mut worst = self.failures.0.lock().unwrap_or_else(PoisonError::into_inner);
            if Some(&failure) > worst.as_ref() {
                *worst = Some(failure);
            }
        }
        if let Some(next) = &mut self.next {
            next.on_connection_event(event);
        }
    }
}

/// Looks at each connection that a pool opens.
pub(crate) trait ConnectionWatch: Send + Sync {
    /// Whether it leads to the files that the others have.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] if it does not.
    fn look_at_files(&self, access: Access) -> Result<(), StoreError>;

    /// Whether it leads to the database that the others have.
    ///
    /// # Errors
    /// [`StoreError`] if the database cannot be read.
    fn check_history(&self, connection: &mut AnyConnection) -> Result<(), StoreError>;

    /// It was opened, or could not be.
    fn connected(&self, access: Access, error: Option<&OpenError>);
}

/// Opens a connection to the database behind a URL.
pub(crate) type OpenConnection = Arc<dyn Fn(&str, Access) -> Result<AnyConnection, OpenError> + Send + Sync>;

/// Opens connections of one access, with their settings: pragmas on SQLite, `SET` on PostgreSQL.
#[derive(Clone)]
pub(crate) struct Manager {
    url: String,
    access: Access,
    open: OpenConnection,
    watch: Arc<dyn ConnectionWatch>,
    /// Attempts to connect that have failed.
    failed: Arc<AtomicU64>,
}

impl Manager {
    /// The files of an embedded database may have been removed or replaced after the latest look at them: none is made, and
    /// no other one is used.
    fn open(&self) -> Result<AnyConnection, OpenError> {
        let connection = (self.open)(&self.url, self.access);
        self.watch.look_at_files(self.access).map_err(OpenError::connect)?;
        let mut connection = connection?;
        self.watch.check_history(&mut connection).map_err(OpenError::connect)?;
        Ok(connection)
    }
}

impl ManageConnection for Manager {
    type Connection = Session;
    type Error = OpenError;

    fn connect(&self) -> Result<Session, OpenError> {
        let opened = self.open();
        self.watch.connected(self.access, opened.as_ref().err());
        let mut connection = opened.inspect_err(|_| {
            self.failed.fetch_add(1, Ordering::Relaxed);
        })?;
        let failures = Failures::default();
        let next = get_default_instrumentation();
        connection.set_instrumentation(FailureRecorder { failures: failures.clone(), next });
        let chain = ChainPosition::default();
        Ok(Session {
            connection,
            chain,
            failures,
            log_limit: u64::MAX,
            changes_of_others: 0,
            is_broken: false,
        })
    }

    fn is_valid(&self, session: &mut Session) -> Result<(), OpenError> {
        session.connection.batch_execute("SELECT 1").map_err(OpenError::connect)
    }

    fn has_broken(&self, session: &mut Session) -> bool {
        session.is_broken
    }
}

/// A connection that goes back to its pool when it is dropped.
pub(crate) type PooledSession = PooledConnection<Manager>;

/// How pools are used.
#[derive(Clone)]
pub(crate) struct PoolSettings {
    /// The most connections.
    pub(crate) size: usize,
    /// Whether a connection is checked, by a round trip, before it is handed out.
    pub(crate) is_checked: bool,
    /// The threads that open connections.
    pub(crate) threads: Arc<ScheduledThreadPool>,
    /// How they are opened.
    pub(crate) open: OpenConnection,
}

/// The connections of one access.
pub(crate) struct ConnectionPool {
    manager: Manager,
    settings: PoolSettings,
    current: RwLock<Pool<Manager>>,
}

impl ConnectionPool {
    /// A pool without connections yet.
    pub(crate) fn new(
        url: &str,
        access: Access,
        watch: Arc<dyn ConnectionWatch>,
        settings: PoolSettings,
    ) -> Self {
        let open = Arc::clone(&settings.open);
        let manager = Manager { url: url.to_owned(), access, open, watch, failed: Arc::default() };
        let current = RwLock::new(pool(&manager, &settings));
        Self { manager, settings, current }
    }

    fn current(&self) -> Pool<Manager> {
        self.current.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Hands out a connection, and opens one if none is idle.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] if the database cannot be reached, [`StoreError::Busy`] if all connections are in use.
    pub(crate) fn get(&self) -> Result<PooledSession, StoreError> {
        let (pool, began) = (self.current(), Instant::now());
        let failed = self.manager.failed.load(Ordering::Relaxed);
        loop {
            let error = match pool.get_timeout(LOOK) {
                Ok(session) => return Ok(session),
                Err(error) => error,
            };
            let is_full = pool.state().connections as usize >= self.settings.size;
            if is_full && began.elapsed() >= WAIT_FOR_OTHERS {
                return Err(StoreError::Busy);
            }
            let has_failed = self.manager.failed.load(Ordering::Relaxed) > failed;
            if !is_full && (has_failed || began.elapsed() >= WAIT) {
                return Err(StoreError::Unavailable(error.to_string()));
            }
        }
    }

    /// Opens the connection of a session anew, where a transaction finds it broken.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] if the database cannot be reached.
    pub(crate) fn reconnect(&self, session: &mut Session) -> Result<(), StoreError> {
        let reopened = self.manager.connect();
        *session = reopened.map_err(|error| StoreError::Unavailable(error.to_string()))?;
        log::debug!("connected to the database again");
        Ok(())
    }

    /// Starts anew, without the connections that there are: where a server was silent, they may lead nowhere.
    pub(crate) fn renew(&self) {
        let renewed = pool(&self.manager, &self.settings);
        let former =
            std::mem::replace(&mut *self.current.write().unwrap_or_else(PoisonError::into_inner), renewed);
        // Closed without the lock.
        drop(former);
    }

    /// Open connections, and idle ones among them.
    pub(crate) fn state(&self) -> PoolState {
        let state = self.current().state();
        PoolState { open: state.connections, idle: state.idle_connections }
    }
}

/// The connections of a pool at one time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PoolState {
    /// Connections that are open.
    pub open: u32,
    /// Those of them that no transaction uses.
    pub idle: u32,
}

fn pool(manager: &Manager, settings: &PoolSettings) -> Pool<Manager> {
    Pool::builder()
        .max_size(u32::try_from(settings.size).unwrap_or(u32::MAX))
        .min_idle(Some(0))
        .connection_timeout(BACKOFF)
        .max_lifetime(is_server(&manager.url).then_some(MAX_LIFETIME))
        .idle_timeout(None)
        .test_on_check_out(settings.is_checked)
        .thread_pool(Arc::clone(&settings.threads))
        // Callers get the error.
        .error_handler(Box::new(NopErrorHandler))
        .build_unchecked(manager.clone())
}
