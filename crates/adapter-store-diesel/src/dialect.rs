//! Everything in which databases differ: connecting, transactions, the statements that the portable subset of
//! `MultiConnection` cannot say, and what the database's errors mean. But for `bulk` and the audit log's rows, nothing else
//! matches on the backend.

use diesel::connection::SimpleConnection;
use diesel::migration::{Migration, MigrationSource};
use diesel::pg::{Pg, PgConnection};
use diesel::prelude::*;
use diesel::query_builder::{AstPass, QueryFragment, QueryId};
use diesel::result::{DatabaseErrorInformation, Error};
use diesel::sqlite::Sqlite;
use diesel::{Connection, SqliteConnection};
use diesel_migrations::{EmbeddedMigrations, MigrationHarness, embed_migrations};
use kopeck_port_store::{Access, Disposition, Rule};
use kopeck_port_system::Clock;

use crate::connection::{postgres, sqlite};
use crate::error::OpenError;
use crate::files::Files;
use crate::repositories::JobRow;
use crate::schema::{jobs, spent_nonces};
use crate::sql_types::{Id, Moment, sql};
use crate::work_time::WorkTime;

const SQLITE_MIGRATIONS: EmbeddedMigrations = embed_migrations!("../../migrations/sqlite");
const POSTGRES_MIGRATIONS: EmbeddedMigrations = embed_migrations!("../../migrations/postgres");

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
            $crate::dialect::AnyConnection::Sqlite($inner) => $run,
            $crate::dialect::AnyConnection::Postgres($inner) => $run,
        }
    };
}
pub(crate) use on_either;

/// Whether the URL is one of a database server.
pub(crate) fn is_server(url: &str) -> bool {
    postgres::is_url(url)
}

/// The connection, for statements over look-ups or rows of many units of work: on SQLite, where a statement costs no round
/// trip, there are none.
pub(crate) fn postgres(connection: &mut AnyConnection) -> QueryResult<&mut PgConnection> {
    match connection {
        AnyConnection::Postgres(pg) => Ok(pg),
        AnyConnection::Sqlite(_) => {
            Err(Error::QueryBuilderError("a statement for PostgreSQL was meant for SQLite".into()))
        }
    }
}

/// By how much the service is ahead of the clock of a database server, in microseconds.
pub(crate) fn ahead(clock: &dyn Clock) -> i64 {
    i64::try_from(clock.ahead().whole_microseconds()).unwrap_or(i64::MAX)
}

/// Connects to the database that the URL's scheme names.
pub(crate) fn connect(url: &str, access: Access) -> Result<AnyConnection, OpenError> {
    open(url, access, sqlite::establish)
}

/// The same, without making an embedded database that is not there.
pub(crate) fn connect_existing(url: &str, access: Access) -> Result<AnyConnection, OpenError> {
    open(url, access, sqlite::establish_existing)
}

/// Connects, and prepares the connection for this access: pragmas on SQLite, session settings on PostgreSQL.
fn open(
    url: &str,
    access: Access,
    on_sqlite: impl FnOnce(&str) -> Result<SqliteConnection, OpenError>,
) -> Result<AnyConnection, OpenError> {
    let (connection, set_up) = if is_server(url) {
        let mut pg = postgres::establish(url)?;
        let set_up = postgres::set_up(&mut pg, access);
        (AnyConnection::Postgres(pg), set_up)
    } else {
        let mut sqlite = on_sqlite(url)?;
        let set_up = sqlite::set_up(&mut sqlite, access);
        (AnyConnection::Sqlite(sqlite), set_up)
    };
    set_up.map_err(|error| OpenError::Connect(error.to_string()))?;
    Ok(connection)
}

/// Applies the migrations that the database lacks, and names them. Of several processes that do so at once one does
/// it, and the others wait and find it done.
pub(crate) fn migrate(connection: &mut AnyConnection) -> Result<Vec<String>, OpenError> {
    match connection {
        AnyConnection::Sqlite(sqlite) => sqlite::migrating(sqlite, |sqlite| {
            refuse_newer(&applied_on_sqlite(sqlite)?, &versions::<Sqlite>(&SQLITE_MIGRATIONS)?)?;
            let missing = names(sqlite.pending_migrations(SQLITE_MIGRATIONS))?;
            let applied = sqlite.run_pending_migrations(SQLITE_MIGRATIONS);
            applied.map_err(|error| OpenError::Migrate(error.to_string()))?;
            Ok(missing)
        }),
        AnyConnection::Postgres(pg) => {
            // Asked first without the lock, so that nothing but reading is needed if there is nothing to do.
            let missing = missing_on_postgres(pg)?;
            if missing.is_empty() {
                return Ok(missing);
            }
            if !postgres::may_migrate(pg)? {
                return Err(OpenError::MayNotMigrate(missing));
            }
            postgres::begin_migrating(pg)?;
            let missing = missing_on_postgres(pg)?;
            let applied = pg.run_pending_migrations(POSTGRES_MIGRATIONS);
            applied.map_err(|error| OpenError::Migrate(error.to_string()))?;
            postgres::end_migrating(pg)?;
            Ok(missing)
        }
    }
}

/// Names the migrations that the database lacks. One that has migrations which are not compiled in is refused.
pub(crate) fn missing_migrations(connection: &mut AnyConnection) -> Result<Vec<String>, OpenError> {
    match connection {
        AnyConnection::Sqlite(sqlite) => {
            refuse_newer(&applied_on_sqlite(sqlite)?, &versions::<Sqlite>(&SQLITE_MIGRATIONS)?)?;
            names(sqlite.pending_migrations(SQLITE_MIGRATIONS))
        }
        AnyConnection::Postgres(pg) => missing_on_postgres(pg),
    }
}

fn applied_on_sqlite(sqlite: &mut SqliteConnection) -> Result<Vec<String>, OpenError> {
    let applied = sqlite.applied_migrations().map_err(|error| OpenError::Migrate(error.to_string()))?;
    Ok(applied.iter().map(ToString::to_string).collect())
}

/// The versions that are compiled in.
fn versions<DB: diesel::backend::Backend>(
    source: &impl MigrationSource<DB>,
) -> Result<Vec<String>, OpenError> {
    let all = source.migrations().map_err(|error| OpenError::Migrate(error.to_string()))?;
    Ok(all.iter().map(|migration| migration.name().version().to_string()).collect())
}

/// Refuses a database with applied versions that are not `known`.
fn refuse_newer(applied: &[String], known: &[String]) -> Result<(), OpenError> {
    match applied.iter().filter(|version| !known.contains(version)).max() {
        None => Ok(()),
        Some(newest) => Err(OpenError::NewerSchema {
            database: newest.clone(),
            binary: known.iter().max().cloned().unwrap_or_default(),
        }),
    }
}

fn missing_on_postgres(pg: &mut PgConnection) -> Result<Vec<String>, OpenError> {
    let applied = postgres::applied_migrations(pg)?;
    refuse_newer(&applied, &versions::<Pg>(&POSTGRES_MIGRATIONS)?)?;
    let all: diesel::migration::Result<Vec<Box<dyn Migration<Pg>>>> = POSTGRES_MIGRATIONS.migrations();
    names(all.map(|all| {
        all.into_iter().filter(|one| !applied.contains(&one.name().version().to_string())).collect()
    }))
}

/// Grants `role` what a process that serves or works needs.
pub(crate) fn grant(connection: &mut AnyConnection, role: &str) -> Result<(), OpenError> {
    match connection {
        AnyConnection::Sqlite(_) => Err(OpenError::NoRoles),
        AnyConnection::Postgres(pg) => {
            postgres::grant(pg, role).map_err(|error| OpenError::Grant(error.to_string()))
        }
    }
}

fn names<DB: diesel::backend::Backend>(
    migrations: diesel::migration::Result<Vec<Box<dyn Migration<DB>>>>,
) -> Result<Vec<String>, OpenError> {
    let migrations = migrations.map_err(|error| OpenError::Migrate(error.to_string()))?;
    let mut names: Vec<String> = migrations.iter().map(|migration| migration.name().to_string()).collect();
    names.sort_unstable();
    Ok(names)
}

/// Begins a transaction. A writing one takes SQLite's lock at once: one that reads first and writes later can find
/// the lock taken and would fail however long it waited. On PostgreSQL a writing one sees at each statement all that
/// is committed, and [`crate::transaction::locks`] keep it alone; a reading one sees one state.
pub(crate) fn begin(connection: &mut AnyConnection, access: Access) -> QueryResult<()> {
    match (connection, access) {
        (AnyConnection::Sqlite(sqlite), Access::Write) => control(sqlite, "BEGIN IMMEDIATE"),
        (AnyConnection::Sqlite(sqlite), Access::Read) => control(sqlite, "BEGIN DEFERRED"),
        (AnyConnection::Postgres(pg), Access::Write) => pg.batch_execute("BEGIN"),
        (AnyConnection::Postgres(pg), Access::Read) => {
            pg.batch_execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        }
    }
}

/// Ends a transaction. In one that a failed statement broke, PostgreSQL takes COMMIT for a roll-back and reports no
/// error; a statement before it does.
pub(crate) fn commit(connection: &mut AnyConnection) -> QueryResult<()> {
    match connection {
        AnyConnection::Sqlite(sqlite) => control(sqlite, "COMMIT"),
        AnyConnection::Postgres(pg) => pg.batch_execute("SELECT 1; COMMIT"),
    }
}

/// Runs a statement that keeps a transaction together and every database knows.
pub(crate) fn keep_together(connection: &mut AnyConnection, statement: &'static str) -> QueryResult<()> {
    match connection {
        AnyConnection::Sqlite(sqlite) => control(sqlite, statement),
        AnyConnection::Postgres(pg) => pg.batch_execute(statement),
    }
}

/// Runs a statement that is kept prepared: to parse it takes SQLite longer than to carry it out.
fn control(sqlite: &mut SqliteConnection, statement: &'static str) -> QueryResult<()> {
    sqlite.execute_returning_count(&Control(statement)).map(drop)
}

/// A statement without values.
struct Control(&'static str);

impl QueryFragment<Sqlite> for Control {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Sqlite>) -> QueryResult<()> {
        out.push_sql(self.0);
        Ok(())
    }
}

impl QueryId for Control {
    type QueryId = ();

    const HAS_STATIC_QUERY_ID: bool = false;
}

/// Runs statements that every database knows.
pub(crate) fn execute(connection: &mut AnyConnection, statements: &str) -> QueryResult<()> {
    connection.batch_execute(statements)
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
    execute(connection, "SAVEPOINT guarded")?;
    let result = body(connection);
    let end = match result {
        Ok(_) => "RELEASE SAVEPOINT guarded",
        Err(_) => "ROLLBACK TO SAVEPOINT guarded; RELEASE SAVEPOINT guarded",
    };
    execute(connection, end)?;
    result
}

/// Whether a failure of an unknown kind may be one of the moment, such as a deadlock. SQLite's last: its disk stays
/// full, and it has waited for a lock already.
pub(crate) fn may_pass(connection: &AnyConnection) -> bool {
    matches!(connection, AnyConnection::Postgres(_))
}

/// Takes a lock until the end of the transaction, if it is free. On SQLite a writing transaction is alone anyway.
pub(crate) fn try_lock(connection: &mut AnyConnection, key: i64) -> QueryResult<bool> {
    match connection {
        AnyConnection::Sqlite(_) => Ok(true),
        AnyConnection::Postgres(pg) => postgres::try_lock(pg, key),
    }
}

/// Waits for a lock, and takes it until the end of the transaction.
pub(crate) fn wait_for_lock(connection: &mut AnyConnection, key: i64) -> QueryResult<()> {
    match connection {
        AnyConnection::Sqlite(_) => Ok(()),
        AnyConnection::Postgres(pg) => postgres::wait_for_lock(pg, key),
    }
}

/// Records a nonce, unless it is there.
pub(crate) fn insert_nonce(
    connection: &mut AnyConnection,
    api_key_hash: &[u8; 32],
    nonce: &str,
    at: Moment,
) -> QueryResult<bool> {
    use spent_nonces as t;
    let inserted = on_either!(connection, inner => {
        diesel::insert_into(t::table)
            .values((t::api_key_hash.eq(api_key_hash), t::nonce.eq(nonce), t::spent_at.eq(at)))
            .on_conflict((t::api_key_hash, t::nonce))
            .do_nothing()
            .execute(inner)
    });
    Ok(inserted? > 0)
}

/// The moment `delay` after that by which work is due and leases are over, for use within a statement. `delay` is in
/// microseconds.
pub(crate) fn work_time_in(connection: &AnyConnection, clock: &dyn Clock, delay: i64) -> WorkTime {
    match connection {
        AnyConnection::Sqlite(_) => WorkTime::At(Moment(Moment::of(clock.now()).0.saturating_add(delay))),
        AnyConnection::Postgres(_) => WorkTime::FromServersNow(ahead(clock).saturating_add(delay)),
    }
}

/// The moment by which work is due and leases are over: that of the database's server, or, where
/// the database is in this process, that of the service's clock.
pub(crate) fn work_time(connection: &mut AnyConnection, clock: &dyn Clock) -> QueryResult<Moment> {
    match connection {
        AnyConnection::Sqlite(_) => Ok(Moment::of(clock.now())),
        AnyConnection::Postgres(pg) => Ok(Moment(postgres::now(pg)?.0.saturating_add(ahead(clock)))),
    }
}

/// Work that is due at `now` and not under a lease, the partners taking turns.
pub(crate) fn due_work(connection: &mut AnyConnection, now: Moment, limit: u32) -> QueryResult<Vec<JobRow>> {
    match connection {
        AnyConnection::Sqlite(sqlite) => {
            let mut due: Vec<(usize, JobRow)> = Vec::new();
            let mut partner = next_partner_with_work(sqlite, Id::default())?;
            while let Some(id) = partner {
                let own = jobs::table
                    .filter(jobs::partner_id.eq(id))
                    .filter(jobs::due_at.le(now))
                    .filter(jobs::leased_until.is_null().or(jobs::leased_until.le(now)))
                    .order(jobs::due_at)
                    .limit(i64::from(limit))
                    .select(JobRow::as_select())
                    .load(sqlite)?;
                due.extend(own.into_iter().enumerate());
                partner = next_partner_with_work(sqlite, id)?;
            }
            due.sort_by_key(|(turn, row)| (*turn, row.due_at));
            due.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
            Ok(due.into_iter().map(|(_, row)| row).collect())
        }
        AnyConnection::Postgres(pg) => postgres::due_work(pg, now, limit),
    }
}

/// Those of `rows` that are still to be had, for this transaction alone to take. On SQLite a writing transaction is
/// alone anyway.
pub(crate) fn take_due(
    connection: &mut AnyConnection,
    now: Moment,
    rows: Vec<JobRow>,
) -> QueryResult<Vec<JobRow>> {
    match connection {
        AnyConnection::Sqlite(_) => Ok(rows),
        AnyConnection::Postgres(pg) => postgres::take_due(pg, now, &rows),
    }
}

#[diesel::declare_sql_function]
extern "SQL" {
    /// `MIN` of identifiers, which diesel's own does not take.
    #[aggregate]
    #[sql_name = "MIN"]
    fn least_id(id: sql::Id) -> Nullable<sql::Id>;
}

/// The partner after `id` that has work, due or not: one look into the primary key.
fn next_partner_with_work(sqlite: &mut SqliteConnection, id: Id) -> QueryResult<Option<Id>> {
    jobs::table.filter(jobs::partner_id.gt(id)).select(least_id(jobs::partner_id)).get_result(sqlite)
}

/// The rule behind a unique constraint, if it is one that a caller can break. PostgreSQL names the constraint, SQLite
/// the columns.
pub(crate) fn rule_of(info: &(dyn DatabaseErrorInformation + Send + Sync)) -> Option<Rule> {
    let broken = match info.constraint_name() {
        Some(name) => name,
        None => info.message().strip_prefix("UNIQUE constraint failed: ")?,
    };
    match broken {
        "partners_login" | "partners.login" => Some(Rule::PartnerLogin),
        "employees_custom_id" | "employees.partner_id, employees.custom_id" => Some(Rule::EmployeeCustomId),
        "categories_name" | "categories.partner_id, categories.folded_name" => Some(Rule::CategoryName),
        "cards_number"
        | "cards.number"
        | "cards_partner_id_number_key"
        | "cards.partner_id, cards.number" => Some(Rule::CardNumber),
        "cards_one_main" | "cards.partner_id, cards.employee_id" => Some(Rule::OneMainCard),
        "replenishment_items_claim"
        | "replenishment_items.partner_id, replenishment_items.card_id"
        | "limit_change_items_claim"
        | "limit_change_items.partner_id, limit_change_items.card_id" => Some(Rule::CardInOneBatch),
        "movements_deposit" | "movements.partner_id, movements.deposit_reference" => {
            Some(Rule::DepositReference)
        }
        "sealed_nonces_pkey" | "sealed_nonces.partner_id, sealed_nonces.nonce" => Some(Rule::SealedNonce),
        _ => None,
    }
}

/// The files of an embedded database that a connection is open on.
pub(crate) fn files(url: &str) -> Option<Files> {
    url.strip_prefix("sqlite://").map(Files::opened)
}

/// Writes something that changes nothing, to find out whether the database accepts changes. Only SQLite has to commit it.
pub(crate) fn probe(connection: &mut AnyConnection) -> QueryResult<Disposition> {
    match connection {
        AnyConnection::Sqlite(sqlite) => sqlite::probe(sqlite).map(|()| Disposition::Commit),
        AnyConnection::Postgres(pg) => postgres::probe(pg).map(|()| Disposition::RollBack),
    }
}

/// Lets the log of an embedded database have so many bytes.
pub(crate) fn limit_log(connection: &mut AnyConnection, bytes: u64) -> QueryResult<()> {
    match connection {
        AnyConnection::Sqlite(sqlite) => sqlite::limit_log(sqlite, bytes),
        AnyConnection::Postgres(_) => Ok(()),
    }
}

/// Empties the log of an embedded database, as far as there is space.
pub(crate) fn shorten_log(connection: &mut AnyConnection) -> QueryResult<()> {
    match connection {
        AnyConnection::Sqlite(sqlite) => sqlite::shorten_log(sqlite),
        AnyConnection::Postgres(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests;
