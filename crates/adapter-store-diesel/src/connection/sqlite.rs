//! Connecting to SQLite, and the transaction in which it is migrated.

use diesel::connection::SimpleConnection;
use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::result::Error;
use diesel::sql_types::{BigInt, Integer, Text};
use kopeck_port_store::Access;

use crate::error::OpenError;
use crate::outage::outage_of;
use crate::statements::RawStatement;
use kopeck_port_store::Outage;

/// The first setting of a connection: to wait for another process's lock instead of failing.
const WAITING: &str = "PRAGMA busy_timeout = 5000;";

/// Migrations take their time, and those who wait for them have it too.
const MIGRATING: &str = "PRAGMA busy_timeout = 60000; PRAGMA foreign_keys = OFF;";

/// Changes are written to a log beside the file, so that readers and the writer do not wait for each other. The file
/// remembers this, so only the first connection that it ever has changes anything.
const LOG: &str = "PRAGMA journal_mode = WAL;";

/// Settings of every connection, once it has the log. What is deleted or overwritten is overwritten in the file too; see
/// [`scrub`]. The file is not mapped into memory: a read past its end, or on a
/// disk that fails, would end the process by a signal instead of an error. Each connection has a page cache of 8 MiB of its
/// own; larger ones save no time, since the system keeps the file's pages anyway.
const ANY: &str = "
    PRAGMA synchronous = FULL;
    PRAGMA foreign_keys = ON;
    PRAGMA secure_delete = ON;
    PRAGMA temp_store = MEMORY;
    PRAGMA mmap_size = 0;
    PRAGMA cache_size = -8192;
";

/// A reading connection that tried to write would meet the writer's lock; it is refused at once.
const READER: &str = "PRAGMA query_only = ON;";

/// The size of a page with its header in the log.
const PAGE: u64 = 4096 + 24;

/// How often a connection tries to give a new file its log. Every failure is another connection's try, so there are
/// never many.
const TRIES: u32 = 100;

/// Opens the database, and makes it if it is not there.
pub(crate) fn establish(url: &str) -> Result<SqliteConnection, OpenError> {
    connect(path(url)?)
}

/// Opens the database only if it is there.
pub(crate) fn establish_existing(url: &str) -> Result<SqliteConnection, OpenError> {
    let path = path(url)?.replace('%', "%25").replace('?', "%3f").replace('#', "%23");
    connect(&format!("file:{path}?mode=rw"))
}

fn path(url: &str) -> Result<&str, OpenError> {
    let path = url.strip_prefix("sqlite://").ok_or(OpenError::Url)?;
    // A memory database belongs to one connection, and SQLite would take a leading `file:` for a URL of its own.
    if path.is_empty() || path == ":memory:" || path.starts_with("file:") {
        return Err(OpenError::Url);
    }
    Ok(path)
}

fn connect(path: &str) -> Result<SqliteConnection, OpenError> {
    SqliteConnection::establish(path).map_err(OpenError::connect)
}

pub(crate) fn set_up(connection: &mut SqliteConnection, access: Access) -> QueryResult<()> {
    connection.batch_execute(WAITING)?;
    keep_log(connection)?;
    connection.batch_execute(ANY)?;
    match access {
        Access::Read => connection.batch_execute(READER),
        Access::Write => Ok(()),
    }
}

/// Gives the file its log. SQLite looks at the file before it takes the lock to change it, and of several connections
/// that have looked, all fail that do not come first, without waiting; those wait here, by its lock, and try again.
fn keep_log(connection: &mut SqliteConnection) -> QueryResult<()> {
    for _ in 1..TRIES {
        match connection.batch_execute(LOG) {
            Err(Error::DatabaseError(kind, info))
                if outage_of(&kind, info.message()) == Some(Outage::Locked) =>
            {
                connection.batch_execute("BEGIN IMMEDIATE; COMMIT")?;
            }
            done => return done,
        }
    }
    connection.batch_execute(LOG)
}

/// Tables and views, but for SQLite's own.
pub(crate) fn tables(connection: &mut SqliteConnection) -> QueryResult<Vec<String>> {
    sql::<Text>(
        "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite!_%' ESCAPE '!' ORDER BY name",
    )
    .load(connection)
}

/// Carries the log over into the file whenever it has so many bytes, and lets it have no more afterwards. If it `shortens`,
/// also at once, as far as there is space for it, and empties it; readers are not waited for.
pub(crate) fn fit_log(connection: &mut SqliteConnection, bytes: u64, shortens: bool) -> QueryResult<()> {
    let pages = bytes / PAGE;
    connection.batch_execute(&format!(
        "PRAGMA wal_autocheckpoint = {pages}; PRAGMA journal_size_limit = {bytes};"
    ))?;
    if !shortens {
        return Ok(());
    }
    connection.batch_execute("PRAGMA busy_timeout = 100;")?;
    let shortened = connection.batch_execute("PRAGMA wal_checkpoint(TRUNCATE);");
    connection.batch_execute(WAITING)?;
    shortened
}

/// Notes, within the transaction, that personal data was erased. The number means nothing else.
pub(crate) fn note_erasure(connection: &mut SqliteConnection) -> QueryResult<()> {
    connection.batch_execute("PRAGMA user_version = 1;")
}

/// Makes the file anew if something was erased since the last time. `secure_delete` overwrites rows where they are, and
/// not the copies that were left in the free space of a page when rows were moved to another one. Returns whether it
/// did.
pub(crate) fn scrub(connection: &mut SqliteConnection) -> Result<bool, OpenError> {
    let failed = |error: Error| OpenError::Scrub(error.to_string());
    if user_version(connection).map_err(failed)? == 0 {
        return Ok(false);
    }
    // The copy may be larger than the memory.
    connection.batch_execute("PRAGMA temp_store = FILE; VACUUM;").map_err(failed)?;
    // The log has earlier pages, also if connections that do nothing any more keep it.
    let emptied = diesel::sql_query("PRAGMA wal_checkpoint(TRUNCATE)").get_result(connection);
    let Checkpoint { busy } = emptied.map_err(failed)?;
    if busy != 0 {
        return Err(OpenError::Scrub("its log is in use".to_owned()));
    }
    connection.batch_execute("PRAGMA user_version = 0;").map_err(failed)?;
    Ok(true)
}

/// Whether an erasure was noted since the file was last made anew: 0 if none was.
fn user_version(connection: &mut SqliteConnection) -> QueryResult<i32> {
    sql::<Integer>("SELECT user_version FROM pragma_user_version").get_result(connection)
}

/// A number that is another one after another connection has changed the file.
pub(crate) fn data_version(connection: &mut SqliteConnection) -> QueryResult<i64> {
    #[derive(QueryableByName)]
    struct Version {
        #[diesel(sql_type = BigInt)]
        data_version: i64,
    }
    let text = "SELECT data_version FROM pragma_data_version";
    RawStatement::new(text, Vec::new()).get_result(connection).map(|row: Version| row.data_version)
}

/// Reads all pages, to find out whether the file is damaged. It takes as long as to read the file.
pub(crate) fn check_pages(connection: &mut SqliteConnection) -> QueryResult<bool> {
    sql::<Text>("PRAGMA quick_check(1)").get_result(connection).map(|found: String| found == "ok")
}

/// What SQLite says of a checkpoint.
#[derive(QueryableByName)]
struct Checkpoint {
    /// Whether something kept it from being complete.
    #[diesel(sql_type = Integer)]
    busy: i32,
}

/// Writes the file's first page as it is.
pub(crate) fn probe(connection: &mut SqliteConnection) -> QueryResult<()> {
    let version = user_version(connection)?;
    connection.batch_execute(&format!("PRAGMA user_version = {version};"))
}

/// Runs migrations in one transaction. One that makes a table anew drops the old one, which foreign keys to it would not
/// allow; so they are not enforced meanwhile, and if anything has changed, each of them is followed at the end.
pub(crate) fn migrating(
    connection: &mut SqliteConnection,
    migrate: impl FnOnce(&mut SqliteConnection) -> Result<Vec<String>, OpenError>,
) -> Result<Vec<String>, OpenError> {
    // Within a transaction it would change nothing.
    connection.batch_execute(MIGRATING)?;
    let applied = connection.immediate_transaction(|connection| {
        let applied = migrate(connection)?;
        if !applied.is_empty() {
            let astray: i64 =
                sql::<BigInt>("SELECT count(*) FROM pragma_foreign_key_check").get_result(connection)?;
            if astray > 0 {
                return Err(OpenError::Migrate(format!("rows that would refer to nothing: {astray}")));
            }
        }
        Ok(applied)
    });
    connection.batch_execute(WAITING)?;
    connection.batch_execute(ANY)?;
    applied
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;

    use super::*;

    #[test]
    fn only_a_file_that_is_there_is_opened_again() {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("sqlite://{}/a%20b?c#d.db", folder.path().display());
        assert!(establish_existing(&url).is_err());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        establish(&url).unwrap().batch_execute("CREATE TABLE t (c INTEGER)").unwrap();
        establish_existing(&url).unwrap().batch_execute("SELECT c FROM t").unwrap();
    }

    /// As services do that are started together for the first time.
    #[test]
    fn a_new_file_may_be_opened_by_several_at_once() {
        const SERVICES: usize = 8;
        let folder = tempfile::tempdir().unwrap();
        for round in 0..100 {
            let url = format!("sqlite://{}/{round}.db", folder.path().display());
            let start = Barrier::new(SERVICES);
            std::thread::scope(|scope| {
                for _ in 0..SERVICES {
                    scope.spawn(|| {
                        start.wait();
                        crate::connection::AnyConnection::open(&url, Access::Write).map(drop).unwrap();
                    });
                }
            });
        }
    }
}
