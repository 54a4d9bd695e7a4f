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
    Connection as _, Instrumentation, InstrumentationEvent, get_default_instrumentation,
};
use diesel::r2d2::{ManageConnection, NopErrorHandler, Pool, PooledConnection};
use kopeck_port_store::{Access, StoreError};

use crate::audit_chain::AuditWriter;
use crate::condition::Condition;
use crate::config::AuditSettings;
use crate::dialect::{self, AnyConnection};
use crate::error::{OpenError, StatementFailure};

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
    /// Appends to the audit log's chain of this connection.
    pub(crate) audit_writer: AuditWriter,
    pub(crate) failures: Failures,
    /// The limit of the write-ahead log that this connection was set to, in bytes.
    pub(crate) log_limit: u64,
    /// Whether the pool is to close the connection.
    pub(crate) is_broken: bool,
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

impl Session {
    fn new(mut connection: AnyConnection, audit: &AuditSettings) -> Self {
        let failures = Failures::default();
        let next = get_default_instrumentation();
        connection.set_instrumentation(FailureRecorder { failures: failures.clone(), next });
        let audit_writer = AuditWriter::new(audit.clone());
        Self { connection, audit_writer, failures, log_limit: u64::MAX, is_broken: false }
    }
}

/// Opens connections of one access: sessions that read and sessions that write have other settings.
#[derive(Clone)]
pub(crate) struct Manager {
    url: String,
    access: Access,
    audit: AuditSettings,
    condition: Arc<Condition>,
    /// Attempts to connect that have failed.
    failed: Arc<AtomicU64>,
}

impl Manager {
    /// The files of an embedded database may have been removed or replaced after the latest look at them: none is made, and
    /// no other one is used.
    fn open(&self) -> Result<Session, OpenError> {
        let connection = dialect::connect_existing(&self.url, self.access);
        self.condition.look_at_files(self.access).map_err(|error| OpenError::Connect(error.to_string()))?;
        Ok(Session::new(connection?, &self.audit))
    }
}

impl ManageConnection for Manager {
    type Connection = Session;
    type Error = OpenError;

    fn connect(&self) -> Result<Session, OpenError> {
        self.open().inspect_err(|_| {
            self.failed.fetch_add(1, Ordering::Relaxed);
        })
    }

    fn is_valid(&self, session: &mut Session) -> Result<(), OpenError> {
        let checked = dialect::execute(&mut session.connection, "SELECT 1");
        checked.map_err(|error| OpenError::Connect(error.to_string()))
    }

    fn has_broken(&self, session: &mut Session) -> bool {
        session.is_broken
    }
}

/// A connection that goes back to its pool when it is dropped.
pub(crate) type PooledSession = PooledConnection<Manager>;

/// How a pool is used.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PoolSettings {
    /// The most connections.
    pub(crate) size: usize,
    /// Whether a connection is checked, by a round trip, before it is handed out.
    pub(crate) is_checked: bool,
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
        audit: &AuditSettings,
        condition: &Arc<Condition>,
        settings: PoolSettings,
    ) -> Self {
        let manager = Manager {
            url: url.to_owned(),
            access,
            audit: audit.clone(),
            condition: Arc::clone(condition),
            failed: Arc::default(),
        };
        let current = RwLock::new(pool(&manager, settings));
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
        let reopened = self.manager.open();
        *session = reopened.map_err(|error| StoreError::Unavailable(error.to_string()))?;
        log::info!("connected to the database again");
        Ok(())
    }

    /// Starts anew, without the connections that there are: where a server was silent, they may lead nowhere.
    pub(crate) fn renew(&self) {
        let renewed = pool(&self.manager, self.settings);
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

/// The connections of a pool at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PoolState {
    /// Connections that are open.
    pub open: u32,
    /// Those of them that no transaction uses.
    pub idle: u32,
}

fn pool(manager: &Manager, settings: PoolSettings) -> Pool<Manager> {
    let PoolSettings { size, is_checked } = settings;
    Pool::builder()
        .max_size(u32::try_from(size.max(1)).unwrap_or(u32::MAX))
        .min_idle(Some(0))
        .connection_timeout(BACKOFF)
        .max_lifetime(dialect::is_server(&manager.url).then_some(MAX_LIFETIME))
        .idle_timeout(None)
        .test_on_check_out(is_checked)
        // Callers get the error.
        .error_handler(Box::new(NopErrorHandler))
        .build_unchecked(manager.clone())
}
