//! Everything in which databases differ: connecting, transactions, the statements that the portable subset of
//! `MultiConnection` cannot say, and what the database's errors mean. But for `bulk`, nothing else matches on the
//! backend.

use diesel::connection::SimpleConnection;
use diesel::migration::Migration;
use diesel::prelude::*;
use diesel::result::{DatabaseErrorInformation, Error};
use diesel::sql_types::Binary;
use diesel::sqlite::Sqlite;
use diesel::{Connection, SqliteConnection};
use diesel_migrations::{EmbeddedMigrations, MigrationHarness, embed_migrations};
use kopeck_port_store::{Access, Rule};
use kopeck_port_system::Clock;

use crate::convert::micros;
use crate::error::OpenError;
use crate::repositories::{AnswerRow, TransactionRow, WorkRow};
use crate::schema::{recorded_answers, spent_nonces, transactions, work};

const SQLITE_MIGRATIONS: EmbeddedMigrations = embed_migrations!("../../migrations/sqlite");

/// A connection to one of the databases that the store speaks to.
#[derive(diesel::MultiConnection)]
pub(crate) enum AnyConnection {
    Sqlite(SqliteConnection),
}

/// What an SQLite connection has to be told before anything else: wait for another process's lock instead of
/// failing, and write to a log beside the file, so that readers and the writer do not wait for each other.
const SQLITE_ANY: &str = "
    PRAGMA busy_timeout = 5000;
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = FULL;
    PRAGMA foreign_keys = ON;
    PRAGMA temp_store = MEMORY;
    PRAGMA mmap_size = 1073741824;
    PRAGMA cache_size = -65536;
    PRAGMA journal_size_limit = 67108864;
";

/// A reading connection that tried to write would meet the writer's lock; it is refused at once.
const SQLITE_READER: &str = "PRAGMA query_only = ON;";

/// Connects to the database that the URL's scheme names.
pub(crate) fn connect(url: &str, access: Access) -> Result<AnyConnection, OpenError> {
    let path = url.strip_prefix("sqlite://").ok_or(OpenError::Url)?;
    // A memory database belongs to one connection, and SQLite would take a leading `file:` for a URL of its own.
    if path.is_empty() || path == ":memory:" || path.starts_with("file:") {
        return Err(OpenError::Url);
    }
    let mut connection =
        SqliteConnection::establish(path).map_err(|error| OpenError::Connect(error.to_string()))?;
    let set_up = |error: Error| OpenError::Connect(error.to_string());
    connection.batch_execute(SQLITE_ANY).map_err(set_up)?;
    if access == Access::Read {
        connection.batch_execute(SQLITE_READER).map_err(set_up)?;
    }
    Ok(AnyConnection::Sqlite(connection))
}

/// Applies the migrations that the database lacks, and names them.
pub(crate) fn migrate(connection: &mut AnyConnection) -> Result<Vec<String>, OpenError> {
    let missing = missing_migrations(connection)?;
    let applied = match connection {
        AnyConnection::Sqlite(sqlite) => sqlite.run_pending_migrations(SQLITE_MIGRATIONS).map(drop),
    };
    applied.map_err(|error| OpenError::Migrate(error.to_string()))?;
    Ok(missing)
}

/// Names the migrations that the database lacks.
pub(crate) fn missing_migrations(connection: &mut AnyConnection) -> Result<Vec<String>, OpenError> {
    let missing: diesel::migration::Result<Vec<Box<dyn Migration<Sqlite>>>> = match connection {
        AnyConnection::Sqlite(sqlite) => sqlite.pending_migrations(SQLITE_MIGRATIONS),
    };
    let missing = missing.map_err(|error| OpenError::Migrate(error.to_string()))?;
    Ok(missing.iter().map(|migration| migration.name().to_string()).collect())
}

/// Begins a transaction. A writing one takes SQLite's lock at once: one that reads first and writes later can find
/// the lock taken and would fail however long it waited.
pub(crate) fn begin(connection: &mut AnyConnection, access: Access) -> QueryResult<()> {
    match (connection, access) {
        (AnyConnection::Sqlite(sqlite), Access::Write) => sqlite.batch_execute("BEGIN IMMEDIATE"),
        (AnyConnection::Sqlite(sqlite), Access::Read) => sqlite.batch_execute("BEGIN DEFERRED"),
    }
}

/// Records an answer, unless there is one under its key.
pub(crate) fn insert_answer(connection: &mut AnyConnection, row: &AnswerRow) -> QueryResult<bool> {
    use recorded_answers as t;
    let inserted = match connection {
        AnyConnection::Sqlite(sqlite) => diesel::insert_into(t::table)
            .values(row)
            .on_conflict((t::partner_id, t::key))
            .do_nothing()
            .execute(sqlite)?,
    };
    Ok(inserted > 0)
}

/// Records a nonce, unless it is there.
pub(crate) fn insert_nonce(
    connection: &mut AnyConnection,
    api_key_hash: &[u8; 32],
    nonce: &str,
    at: i64,
) -> QueryResult<bool> {
    use spent_nonces as t;
    let inserted = match connection {
        AnyConnection::Sqlite(sqlite) => diesel::insert_into(t::table)
            .values((t::api_key_hash.eq(api_key_hash), t::nonce.eq(nonce), t::spent_at.eq(at)))
            .on_conflict((t::api_key_hash, t::nonce))
            .do_nothing()
            .execute(sqlite)?,
    };
    Ok(inserted > 0)
}

/// Adds transactions, passing over those that are there.
pub(crate) fn put_transactions(connection: &mut AnyConnection, rows: &[TransactionRow]) -> QueryResult<()> {
    match connection {
        AnyConnection::Sqlite(sqlite) => rows.iter().try_for_each(|row| {
            diesel::insert_into(transactions::table)
                .values(row)
                .on_conflict((transactions::partner_id, transactions::card_id, transactions::id))
                .do_nothing()
                .execute(sqlite)
                .map(drop)
        }),
    }
}

/// The moment by which work is due and leases are over, in Unix microseconds: that of the database's server, or, where
/// the database is in this process, that of the service's clock.
pub(crate) fn work_time(connection: &mut AnyConnection, clock: &dyn Clock) -> QueryResult<i64> {
    match connection {
        AnyConnection::Sqlite(_) => Ok(micros(clock.now())),
    }
}

/// Work that is due at `now` and not under a lease, the partners taking turns, for this transaction alone to take. On
/// SQLite a writing transaction is alone anyway.
pub(crate) fn due_work(connection: &mut AnyConnection, now: i64, limit: u32) -> QueryResult<Vec<WorkRow>> {
    match connection {
        AnyConnection::Sqlite(sqlite) => {
            let mut due: Vec<(usize, WorkRow)> = Vec::new();
            let mut partner = next_partner_with_work(sqlite, &[])?;
            while let Some(id) = partner {
                let own = work::table
                    .filter(work::partner_id.eq(&id))
                    .filter(work::due_at.le(now))
                    .filter(work::leased_until.is_null().or(work::leased_until.le(now)))
                    .order(work::due_at)
                    .limit(i64::from(limit))
                    .select(WorkRow::as_select())
                    .load(sqlite)?;
                due.extend(own.into_iter().enumerate());
                partner = next_partner_with_work(sqlite, &id)?;
            }
            due.sort_by_key(|(turn, row)| (*turn, row.due_at));
            due.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
            Ok(due.into_iter().map(|(_, row)| row).collect())
        }
    }
}

#[diesel::declare_sql_function]
extern "SQL" {
    /// `MIN` of keys, which diesel's own does not take.
    #[aggregate]
    #[sql_name = "MIN"]
    fn least_key(key: Binary) -> Nullable<Binary>;
}

/// The partner after `id` that has work, due or not: one look into the primary key.
fn next_partner_with_work(sqlite: &mut SqliteConnection, id: &[u8]) -> QueryResult<Option<Vec<u8>>> {
    work::table.filter(work::partner_id.gt(id)).select(least_key(work::partner_id)).get_result(sqlite)
}

/// The rule behind a unique constraint, if it is one that a caller can break. SQLite names the columns.
pub(crate) fn rule_of(info: &(dyn DatabaseErrorInformation + Send + Sync)) -> Option<Rule> {
    match info.message().strip_prefix("UNIQUE constraint failed: ")? {
        "partners.login" => Some(Rule::PartnerLogin),
        "employees.partner_id, employees.custom_id" => Some(Rule::EmployeeCustomId),
        "categories.partner_id, categories.folded_name" => Some(Rule::CategoryName),
        "cards.partner_id, cards.employee_id" => Some(Rule::OneMainCard),
        "replenishment_items.partner_id, replenishment_items.card_id" => Some(Rule::CardInOneReplenishment),
        "limit_change_items.partner_id, limit_change_items.card_id" => Some(Rule::CardInOneLimitChange),
        "movements.partner_id, movements.deposit_reference" => Some(Rule::DepositReference),
        _ => None,
    }
}

/// Whether another process kept the database locked for longer than we wait.
pub(crate) fn is_locked(message: &str) -> bool {
    message.contains("database is locked") || message.contains("database table is locked")
}
