//! Statements in which databases differ, where the portable subset of `MultiConnection` cannot say them: transactions,
//! locks, the clock. Connecting is in `connection`, and which errors mean what in `error` and `outage`.

pub(crate) mod due_jobs;
pub(crate) mod migrations;

use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use diesel::result::Error;
use kopeck_port_store::{Access, Disposition, StoreError};
use kopeck_port_system::Clock;

use crate::connection::{AnyConnection, postgres, sqlite};
use crate::error::{OpenError, Stored};
use crate::outage::outage_of;
use crate::sql_types::{UtcTimestamp, sql};
use crate::statements::{self, Bind, RawStatement, binds};
use kopeck_port_store::Outage;

/// By how much the service is ahead of the clock of a database server, in microseconds.
pub(crate) fn ahead(clock: &dyn Clock) -> i64 {
    i64::try_from(clock.ahead().whole_microseconds()).unwrap_or(i64::MAX)
}

/// Begins a transaction. A writing one takes SQLite's lock at once: one that reads first and writes later can find
/// the lock taken and would fail however long it waited. On PostgreSQL a writing one sees at each statement all that
/// is committed, and [`crate::transaction::locks`] keep it alone; a reading one sees one state.
pub(crate) fn begin(connection: &mut AnyConnection, access: Access) -> QueryResult<()> {
    match access {
        Access::Read => {
            control(connection, "BEGIN DEFERRED", "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        }
        Access::Write => control(connection, "BEGIN IMMEDIATE", "BEGIN"),
    }
}

/// Ends a transaction. In one that a failed statement broke, PostgreSQL takes COMMIT for a roll-back and reports no
/// error; a statement before it does.
pub(crate) fn commit(connection: &mut AnyConnection) -> QueryResult<()> {
    control(connection, "COMMIT", "SELECT 1; COMMIT")
}

/// Runs a statement that keeps a transaction together and every database knows.
pub(crate) fn keep_together(connection: &mut AnyConnection, statement: &'static str) -> QueryResult<()> {
    control(connection, statement, statement)
}

/// SQLite's is kept prepared: to parse it takes longer than to carry it out.
fn control(
    connection: &mut AnyConnection,
    on_sqlite: &'static str,
    on_postgres: &'static str,
) -> QueryResult<()> {
    match connection {
        AnyConnection::Sqlite(sqlite) => RawStatement::new(on_sqlite, Vec::new()).execute(sqlite).map(drop),
        AnyConnection::Postgres(pg) => pg.batch_execute(on_postgres),
    }
}

/// Runs a statement that a constraint may refuse, so that the unit of work can go on after it: on PostgreSQL it would
/// take the transaction with it.
pub(crate) fn guarded<T>(
    connection: &mut AnyConnection,
    body: impl FnOnce(&mut AnyConnection) -> QueryResult<T>,
) -> QueryResult<T> {
    if let AnyConnection::Sqlite(_) = connection {
        return body(connection);
    }
    connection.batch_execute("SAVEPOINT guarded")?;
    let result = body(connection);
    let end = match result {
        Ok(_) => "RELEASE SAVEPOINT guarded",
        Err(_) => "ROLLBACK TO SAVEPOINT guarded; RELEASE SAVEPOINT guarded",
    };
    connection.batch_execute(end)?;
    result
}

/// Whether a failure of an unknown kind may be transient, such as a deadlock. SQLite's are permanent: its disk stays full,
/// and it has waited for a lock already.
pub(crate) fn may_pass(connection: &AnyConnection) -> bool {
    matches!(connection, AnyConnection::Postgres(_))
}

/// Takes a lock until the end of the transaction, if it is free. On SQLite a writing transaction is alone anyway.
pub(crate) fn try_lock(connection: &mut AnyConnection, key: i64) -> QueryResult<bool> {
    match connection {
        AnyConnection::Sqlite(_) => Ok(true),
        AnyConnection::Postgres(pg) => {
            statements::is_true(pg, "SELECT pg_try_advisory_xact_lock(?) AS answer", binds![key])
        }
    }
}

/// Waits for a lock, and takes it until the end of the transaction.
pub(crate) fn wait_for_lock(connection: &mut AnyConnection, key: i64) -> QueryResult<()> {
    match connection {
        AnyConnection::Sqlite(_) => Ok(()),
        AnyConnection::Postgres(pg) => {
            RawStatement::new("SELECT pg_advisory_xact_lock(?)", binds![key]).execute(pg).map(drop)
        }
    }
}

/// The [`work_time`] plus `delay`, for use within a statement. `delay` is in microseconds.
pub(crate) fn work_time_in(connection: &AnyConnection, clock: &dyn Clock, delay: i64) -> Bind<'static> {
    match connection {
        AnyConnection::Sqlite(_) => {
            UtcTimestamp(UtcTimestamp::of(clock.now()).0.saturating_add(delay)).into()
        }
        AnyConnection::Postgres(_) => Bind::FromServersNow(ahead(clock).saturating_add(delay)),
    }
}

#[derive(QueryableByName)]
struct Now {
    #[diesel(sql_type = sql::UtcTimestamp)]
    now: UtcTimestamp,
}

/// The present time by which work is due and leases are over: that of the database's server, or, where the database is in
/// this process, that of the service's clock.
pub(crate) fn work_time(connection: &mut AnyConnection, clock: &dyn Clock) -> QueryResult<UtcTimestamp> {
    match connection {
        AnyConnection::Sqlite(_) => Ok(UtcTimestamp::of(clock.now())),
        AnyConnection::Postgres(pg) => {
            // Not that of the transaction's beginning.
            let question = "SELECT clock_timestamp() AS now";
            let row: Now = RawStatement::new(question, Vec::new()).get_result(pg)?;
            Ok(UtcTimestamp(row.now.0.saturating_add(ahead(clock))))
        }
    }
}

/// 14 KB in rows that are too short to be stored elsewhere: more than pages that are there have room for, as a rule.
const PROBE: &str = "
    INSERT INTO spent_nonces (api_key_hash, nonce, spent_at)
    SELECT decode(repeat('00', 32), 'hex'), string_agg(md5(random()::text), ''), to_timestamp(row)
    FROM generate_series(1, 8) AS row CROSS JOIN generate_series(1, 56) GROUP BY row";

/// Writes something that changes nothing, to find out whether the database accepts changes. Only SQLite has to commit it.
pub(crate) fn probe(connection: &mut AnyConnection) -> QueryResult<Disposition> {
    match connection {
        AnyConnection::Sqlite(sqlite) => sqlite::probe(sqlite).map(|()| Disposition::Commit),
        AnyConnection::Postgres(pg) => {
            RawStatement::new(PROBE, Vec::new()).execute(pg).map(|_| Disposition::RollBack)
        }
    }
}

/// Whether the server follows another one.
pub(crate) fn is_standby(connection: &mut AnyConnection) -> QueryResult<bool> {
    match connection {
        AnyConnection::Sqlite(_) => Ok(false),
        AnyConnection::Postgres(pg) => {
            statements::is_true(pg, "SELECT pg_is_in_recovery() AS answer", Vec::new())
        }
    }
}

/// Lets the commit of the open transaction wait for no standby.
pub(crate) fn commit_without_standby(connection: &mut AnyConnection) -> QueryResult<()> {
    match connection {
        AnyConnection::Sqlite(_) => Ok(()),
        AnyConnection::Postgres(pg) => pg.batch_execute("SET LOCAL synchronous_commit = local"),
    }
}

/// A number that is another one after another connection has changed the file of an embedded database. A transaction has to
/// be open.
pub(crate) fn changes_of_others(connection: &mut AnyConnection) -> QueryResult<i64> {
    match connection {
        AnyConnection::Sqlite(sqlite) => sqlite::data_version(sqlite),
        AnyConnection::Postgres(_) => Ok(0),
    }
}

/// Whether all pages of an embedded database can be read. A connection of its own has none of them in memory.
///
/// # Errors
/// [`StoreError`] if that cannot be found out now.
pub(crate) fn check_pages(url: &str) -> Result<bool, StoreError> {
    let opened = AnyConnection::open_existing(url, Access::Read);
    let checked = match opened {
        Ok(AnyConnection::Sqlite(mut sqlite)) => sqlite::check_pages(&mut sqlite),
        Ok(AnyConnection::Postgres(_)) => return Ok(true),
        Err(error) if error.is_malformed() => return Ok(false),
        Err(error) => return Err(StoreError::Unavailable(error.to_string())),
    };
    match checked {
        Err(Error::DatabaseError(kind, info))
            if matches!(outage_of(&kind, info.message()), Some(Outage::Malformed | Outage::Io)) =>
        {
            Ok(false)
        }
        checked => checked.stored(),
    }
}

/// Notes that personal data was erased, so that [`scrub`] makes the file of an embedded database anew.
pub(crate) fn note_erasure(connection: &mut AnyConnection) -> QueryResult<()> {
    match connection {
        AnyConnection::Sqlite(sqlite) => sqlite::note_erasure(sqlite),
        AnyConnection::Postgres(_) => Ok(()),
    }
}

/// Makes the file of an embedded database anew if personal data was erased from it: free space of its pages may hold
/// copies. Call it once the store is closed. Returns whether it did; a database on a server vacuums its tables by
/// itself.
///
/// # Errors
/// [`OpenError`] if the file cannot be written. It stays as it is then, and the next call does it.
pub fn scrub(url: &str) -> Result<bool, OpenError> {
    if !url.starts_with("sqlite://") {
        return Ok(false);
    }
    match AnyConnection::open_existing(url, Access::Write)? {
        AnyConnection::Sqlite(mut sqlite) => sqlite::scrub(&mut sqlite),
        AnyConnection::Postgres(_) => Ok(false),
    }
}

/// Whether the role of the URL may call [`rewrite`].
///
/// # Errors
/// [`OpenError::NotOwner`] if it may not, or that of the connection.
pub fn check_may_rewrite(url: &str) -> Result<(), OpenError> {
    let AnyConnection::Postgres(mut pg) = AnyConnection::open_existing(url, Access::Read)? else {
        return Ok(());
    };
    let may = postgres::may_rewrite(&mut pg).map_err(OpenError::connect)?;
    if may { Ok(()) } else { Err(OpenError::NotOwner) }
}

/// Makes the tables of a server anew from which personal data was erased: a vacuum leaves the bytes of earlier versions in free
/// space of their files. Each table is locked as long as it takes. Waits up to a minute for snapshots that still see the
/// earlier versions. An embedded database is left to [`scrub`].
///
/// # Errors
/// [`OpenError`] if such a snapshot stays, or if a table cannot be written. What was written before stays.
pub fn rewrite(url: &str) -> Result<(), OpenError> {
    match AnyConnection::open_existing(url, Access::Write)? {
        AnyConnection::Sqlite(_) => Ok(()),
        AnyConnection::Postgres(mut pg) => {
            let failed = |error: diesel::result::Error| OpenError::Scrub(error.to_string());
            let holders = postgres::wait_for_snapshots(&mut pg).map_err(failed)?;
            if !holders.is_empty() {
                return Err(OpenError::Held(holders.join(", ")));
            }
            postgres::rewrite(&mut pg).map_err(failed)
        }
    }
}

/// Lets the log of an embedded database have so many bytes, and empties it first if it `shortens`.
pub(crate) fn fit_log(connection: &mut AnyConnection, bytes: u64, shortens: bool) -> QueryResult<()> {
    match connection {
        AnyConnection::Sqlite(sqlite) => sqlite::fit_log(sqlite, bytes, shortens),
        AnyConnection::Postgres(_) => Ok(()),
    }
}
