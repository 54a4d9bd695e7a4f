//! Connections to the books.

use std::sync::{Mutex, PoisonError};

use diesel::connection::SimpleConnection as _;
use diesel::result::Error as StoreError;
use diesel::{Connection as _, SqliteConnection};

use crate::error::SimulatorError;

/// `FULL`: what was answered survives a loss of power. The wait is longer than the largest order takes, because
/// another process may have the same books open.
const PRAGMAS: &str = "\
    PRAGMA busy_timeout = 30000;\
    PRAGMA synchronous = FULL;\
    PRAGMA foreign_keys = ON;\
    PRAGMA cache_size = -8192;";

const WAL: &str = "PRAGMA journal_mode = WAL";

/// How often the switch to the write-ahead log is tried. Every failure is another connection's try, so there are never
/// many.
const WAL_TRIES: u32 = 100;

/// One connection, used by one thread at a time.
///
/// A panic closes the connection, which rolls back whatever it had begun; the next use opens another.
pub(crate) struct Line {
    path: String,
    idle: Mutex<Option<SqliteConnection>>,
}

impl Line {
    pub(crate) fn open(path: &str) -> Result<Self, SimulatorError> {
        Ok(Self { path: path.to_owned(), idle: Mutex::new(Some(connect(path)?)) })
    }

    /// Runs `work` outside of a transaction.
    pub(crate) fn run<T, E: From<SimulatorError>>(
        &self,
        work: impl FnOnce(&mut SqliteConnection) -> Result<T, E>,
    ) -> Result<T, E> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let mut connection = match idle.take() {
            Some(connection) => connection,
            None => connect(&self.path)?,
        };
        let result = work(&mut connection);
        *idle = Some(connection);
        result
    }

    /// Runs `work` in a transaction that has the right to write from its beginning, and commits it if it is `Ok`.
    pub(crate) fn write<T, E: From<SimulatorError>>(
        &self,
        work: impl FnOnce(&mut SqliteConnection) -> Result<T, E>,
    ) -> Result<T, E> {
        self.run(|connection| {
            let mut worked = false;
            let result = connection.immediate_transaction::<T, Failure<E>, _>(|connection| {
                let value = work(connection).map_err(Failure::Work)?;
                worked = true;
                Ok(value)
            });
            result.map_err(|failure| match failure {
                Failure::Work(error) => error,
                Failure::Frame(error) if worked => SimulatorError::Commit(error).into(),
                Failure::Frame(error) => SimulatorError::Store(error).into(),
            })
        })
    }
}

/// What failed: the work, or beginning and ending the transaction round it.
enum Failure<E> {
    Work(E),
    Frame(StoreError),
}

impl<E> From<StoreError> for Failure<E> {
    fn from(error: StoreError) -> Self {
        Self::Frame(error)
    }
}

fn connect(path: &str) -> Result<SqliteConnection, SimulatorError> {
    let mut connection = SqliteConnection::establish(path)?;
    connection.batch_execute(PRAGMAS)?;
    use_write_ahead_log(&mut connection)?;
    Ok(connection)
}

/// SQLite looks at new books before it takes the lock to make the switch, and whoever has looked and does not come first
/// fails without waiting; it waits here, by its lock, and tries again.
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

    use super::*;

    #[test]
    fn a_panic_leaves_no_transaction_behind() {
        let folder = tempfile::tempdir().unwrap();
        let line = Line::open(folder.path().join("bank.db").to_str().unwrap()).unwrap();
        let write = |sql: &str, then_panic: bool| {
            line.write(|connection| {
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

    /// As services do that are started together for the first time.
    #[test]
    fn new_books_may_be_opened_by_several_at_once() {
        const SERVICES: usize = 8;
        let folder = tempfile::tempdir().unwrap();
        for round in 0..50 {
            let path = folder.path().join(format!("{round}.db"));
            let start = std::sync::Barrier::new(SERVICES);
            std::thread::scope(|scope| {
                for _ in 0..SERVICES {
                    scope.spawn(|| {
                        start.wait();
                        connect(path.to_str().unwrap()).map(drop).unwrap();
                    });
                }
            });
        }
    }

    #[test]
    fn a_failed_commit_is_told_apart() {
        let folder = tempfile::tempdir().unwrap();
        let line = Line::open(folder.path().join("bank.db").to_str().unwrap()).unwrap();
        let deferred = "CREATE TABLE a (n INTEGER PRIMARY KEY);\
                        CREATE TABLE b (n INTEGER REFERENCES a (n) DEFERRABLE INITIALLY DEFERRED)";
        line.run(|connection| Ok::<_, SimulatorError>(connection.batch_execute(deferred)?)).unwrap();
        let result = line.write(|connection| {
            sql_query("INSERT INTO b VALUES (7)").execute(connection)?;
            Ok::<_, SimulatorError>(())
        });
        assert!(matches!(result, Err(SimulatorError::Commit(_))), "{result:?}");
    }
}
