//! Connection pools of the bank's database: one connection writes, a few read.

use std::sync::Arc;
use std::time::Duration;

use diesel::connection::SimpleConnection as _;
use diesel::r2d2::{ConnectionManager, CustomizeConnection, Error as PoolConnectionError, Pool};
use diesel::result::Error as StoreError;
use diesel::{Connection as _, SqliteConnection};
use scheduled_thread_pool::ScheduledThreadPool;

use crate::error::SimulatorError;

/// `FULL`: an acknowledged write survives a loss of power. The timeout exceeds the time of the largest order, because
/// another process may write to the same file.
const PRAGMAS: &str = "\
    PRAGMA busy_timeout = 30000;\
    PRAGMA synchronous = FULL;\
    PRAGMA foreign_keys = ON;";

/// How long a caller waits for a connection: as long as SQLite waits for its lock.
const POOL_TIMEOUT: Duration = Duration::from_secs(30);

const WAL: &str = "PRAGMA journal_mode = WAL";

/// How often the switch to the write-ahead log is tried. Each failure means that another connection made progress, so few
/// tries suffice.
const WAL_TRIES: u32 = 100;

/// Sets up each new connection of a pool.
#[derive(Debug)]
struct Setup {
    cache_kib: u32,
}

/// SQLite takes one writer at a time: a second connection would wait in its busy handler, which is unfair and sleeps.
const WRITER: (u32, Setup) = (1, Setup { cache_kib: 8_192 });
const READERS: (u32, Setup) = (4, Setup { cache_kib: 2_048 });

impl CustomizeConnection<SqliteConnection, PoolConnectionError> for Setup {
    fn on_acquire(&self, connection: &mut SqliteConnection) -> Result<(), PoolConnectionError> {
        configure(connection)
            .and_then(|()| connection.batch_execute(&format!("PRAGMA cache_size = -{}", self.cache_kib)))
            .map_err(PoolConnectionError::QueryError)
    }
}

/// The pools. A connection whose user panics is closed, which rolls its transaction back.
pub(crate) struct Database {
    writer: Pool<ConnectionManager<SqliteConnection>>,
    readers: Pool<ConnectionManager<SqliteConnection>>,
}

impl Database {
    /// Opens the file at `path`, or creates it, and runs `prepare` in a transaction before any other use.
    ///
    /// It opens a connection outside of the pools, because a pool reports an error only after its timeout.
    pub(crate) fn open<T>(
        path: &str,
        prepare: impl FnOnce(&mut SqliteConnection) -> Result<T, SimulatorError>,
    ) -> Result<(Self, T), SimulatorError> {
        let mut connection = SqliteConnection::establish(path)?;
        configure(&mut connection)?;
        // A migration may replace a table that others refer to.
        connection.batch_execute("PRAGMA foreign_keys = OFF")?;
        let prepared = write(&mut connection, prepare)?;
        // A file opens at once, so both pools share one thread instead of three each.
        let opener = Arc::new(ScheduledThreadPool::new(1));
        Ok((Self { writer: pool(path, WRITER, &opener), readers: pool(path, READERS, &opener) }, prepared))
    }

    /// Runs `work` outside of a transaction.
    pub(crate) fn read<T, E: From<SimulatorError>>(
        &self,
        work: impl FnOnce(&mut SqliteConnection) -> Result<T, E>,
    ) -> Result<T, E> {
        work(&mut *self.readers.get().map_err(SimulatorError::Pool)?)
    }

    /// Runs `work` in a transaction that holds the write lock from its beginning, and commits it if it is `Ok`.
    pub(crate) fn write<T, E: From<SimulatorError>>(
        &self,
        work: impl FnOnce(&mut SqliteConnection) -> Result<T, E>,
    ) -> Result<T, E> {
        write(&mut *self.writer.get().map_err(SimulatorError::Pool)?, work)
    }
}

/// A pool that opens its connections on demand and keeps them.
fn pool(
    path: &str,
    (connections, setup): (u32, Setup),
    opener: &Arc<ScheduledThreadPool>,
) -> Pool<ConnectionManager<SqliteConnection>> {
    Pool::builder()
        .thread_pool(Arc::clone(opener))
        .max_size(connections)
        .min_idle(Some(0))
        .idle_timeout(None)
        .max_lifetime(None)
        .connection_timeout(POOL_TIMEOUT)
        // A file in this machine does not lose connections.
        .test_on_check_out(false)
        .connection_customizer(Box::new(setup))
        .build_unchecked(ConnectionManager::new(path))
}

fn write<T, E: From<SimulatorError>>(
    connection: &mut SqliteConnection,
    work: impl FnOnce(&mut SqliteConnection) -> Result<T, E>,
) -> Result<T, E> {
    let mut worked = false;
    let result = connection.immediate_transaction::<T, Failure<E>, _>(|connection| {
        let value = work(connection).map_err(Failure::Work)?;
        worked = true;
        Ok(value)
    });
    result.map_err(|failure| match failure {
        Failure::Work(error) => error,
        Failure::Transaction(error) if worked => SimulatorError::Commit(error).into(),
        Failure::Transaction(error) => SimulatorError::Store(error).into(),
    })
}

/// Whether the work failed, or the begin or commit of its transaction.
enum Failure<E> {
    Work(E),
    Transaction(StoreError),
}

impl<E> From<StoreError> for Failure<E> {
    fn from(error: StoreError) -> Self {
        Self::Transaction(error)
    }
}

fn configure(connection: &mut SqliteConnection) -> Result<(), StoreError> {
    connection.batch_execute(PRAGMAS)?;
    use_write_ahead_log(connection)
}

/// Several connections may switch a new file at once. SQLite reads the file before it takes the lock to switch, and the
/// loser of that race fails without waiting for the lock. So the loser waits for the lock here, and tries again.
fn use_write_ahead_log(connection: &mut SqliteConnection) -> Result<(), StoreError> {
    for _ in 1..WAL_TRIES {
        match connection.batch_execute(WAL) {
            Err(_) => connection.batch_execute("BEGIN IMMEDIATE; COMMIT")?,
            done => return done,
        }
    }
    connection.batch_execute(WAL)
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use diesel::prelude::*;
    use diesel::sql_query;
    use diesel::sql_types::Integer;

    use super::*;

    fn database(folder: &tempfile::TempDir) -> Database {
        Database::open(folder.path().join("bank.db").to_str().unwrap(), |_| Ok(())).unwrap().0
    }

    #[test]
    fn a_panic_leaves_no_transaction_behind() {
        let folder = tempfile::tempdir().unwrap();
        let database = database(&folder);
        let write = |sql: &str, then_panic: bool| {
            database.write(|connection| {
                sql_query(sql).execute(connection)?;
                assert!(!then_panic, "on purpose");
                Ok::<_, SimulatorError>(())
            })
        };
        write("CREATE TABLE t (n INTEGER UNIQUE)", false).unwrap();
        assert!(catch_unwind(AssertUnwindSafe(|| write("INSERT INTO t VALUES (1)", true))).is_err());
        // Would collide if the first had stayed.
        write("INSERT INTO t VALUES (1)", false).unwrap();
        assert!(matches!(write("INSERT INTO t VALUES (1)", false), Err(SimulatorError::Store(_))));
    }

    #[test]
    fn a_reader_does_not_wait_for_another_or_for_the_writer() {
        let folder = tempfile::tempdir().unwrap();
        let database = database(&folder);
        let one = |connection: &mut SqliteConnection| {
            Ok::<_, SimulatorError>(
                diesel::select(diesel::dsl::sql::<Integer>("1")).get_result::<i32>(connection)?,
            )
        };
        let nested = database.write(|_| database.read(|_| database.read(one)));
        assert_eq!(nested.unwrap(), 1);
    }

    #[test]
    fn a_file_that_cannot_be_opened_is_an_error_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let result = Database::open(folder.path().to_str().unwrap(), |_| Ok(()));
        assert!(matches!(result.map(drop), Err(SimulatorError::Open(_))));
    }

    #[test]
    fn several_services_may_create_the_file_at_once() {
        const SERVICES: usize = 8;
        let folder = tempfile::tempdir().unwrap();
        for round in 0..50 {
            let path = folder.path().join(format!("{round}.db"));
            let start = std::sync::Barrier::new(SERVICES);
            std::thread::scope(|scope| {
                for _ in 0..SERVICES {
                    scope.spawn(|| {
                        start.wait();
                        Database::open(path.to_str().unwrap(), |_| Ok(())).map(drop).unwrap();
                    });
                }
            });
        }
    }

    #[test]
    fn a_failed_commit_has_an_error_of_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let database = database(&folder);
        let deferred = "CREATE TABLE a (n INTEGER PRIMARY KEY);\
                        CREATE TABLE b (n INTEGER REFERENCES a (n) DEFERRABLE INITIALLY DEFERRED)";
        database.read(|connection| Ok::<_, SimulatorError>(connection.batch_execute(deferred)?)).unwrap();
        let result = database.write(|connection| {
            sql_query("INSERT INTO b VALUES (7)").execute(connection)?;
            Ok::<_, SimulatorError>(())
        });
        assert!(matches!(result, Err(SimulatorError::Commit(_))), "{result:?}");
    }
}
