//! Connecting to PostgreSQL, and its locks.

use std::borrow::Cow;

use diesel::connection::SimpleConnection;
use diesel::pg::PgConnection;
use diesel::prelude::*;
use diesel::sql_types::Text;
use kopeck_port_store::Access;

use crate::error::OpenError;
use crate::server_url::with_system_roots;
use crate::statements::{self, Bind, RawStatement, binds};

/// Parameters of libpq that the URL may override: timeouts of two seconds to connect, to send and to receive.
const DEFAULTS: [(&str, &str); 7] = [
    ("application_name", "kopeck"),
    ("connect_timeout", "2"),
    ("keepalives", "1"),
    ("keepalives_idle", "1"),
    ("keepalives_interval", "1"),
    ("keepalives_count", "2"),
    ("tcp_user_timeout", "2000"),
];

/// Settings of a session, before its first statement. A unit of work is short: one that waits for a lock for two seconds
/// has met a fault, and one that is silent for ten belongs to a machine that is gone and must not keep its locks. The
/// server's own probes find out about a dead machine sooner. Plans are cheap here, so compiling them never pays, and every
/// statement finds its rows by the same index whatever its values are, so one plan serves them all. It is not to be one
/// that reads a whole table because that was empty when the plan was made, nor one that starts processes of its own for each page
/// of a hundred rows because the plan does not know how few those are.
const SESSION: &str = "
    SET client_min_messages = warning;
    SET default_transaction_isolation = 'read committed';
    SET lock_timeout = '2s';
    SET statement_timeout = '30s';
    SET idle_in_transaction_session_timeout = '10s';
    SET tcp_keepalives_idle = 2;
    SET tcp_keepalives_interval = 1;
    SET tcp_keepalives_count = 3;
    SET jit = off;
    SET plan_cache_mode = force_generic_plan;
    SET enable_seqscan = off;
    SET max_parallel_workers_per_gather = 0;
";

/// A reading session that tried to write would write without a lock; it is refused at once.
const READER: &str = "SET default_transaction_read_only = on;";

/// Migrations take their time, and those who wait for them have it too.
const MIGRATOR: &str = "SET lock_timeout = '60s'; SET statement_timeout = 0;";

/// Held while a process migrates; the bytes of "kopeckmi".
const MIGRATING: i64 = 0x6b6f_7065_636b_6d69;

pub(crate) fn establish(url: &str) -> Result<PgConnection, OpenError> {
    PgConnection::establish(&with_defaults(&with_system_roots(url))).map_err(OpenError::connect)
}

pub(crate) fn set_up(connection: &mut PgConnection, access: Access) -> QueryResult<()> {
    connection.batch_execute(SESSION)?;
    match access {
        Access::Read => connection.batch_execute(READER),
        Access::Write => Ok(()),
    }
}

/// The URL with [`DEFAULTS`] for what it does not say.
fn with_defaults(url: &str) -> String {
    let given: Vec<&str> = url.split_once('?').map_or("", |(_, query)| query).split('&').collect();
    let is_given = |name: &str| given.iter().any(|pair| pair.split('=').next() == Some(name));
    let mut url = Cow::Borrowed(url);
    for (name, value) in DEFAULTS.into_iter().filter(|(name, _)| !is_given(name)) {
        let joint = if url.contains('?') { '&' } else { '?' };
        url = Cow::Owned(format!("{url}{joint}{name}={value}"));
    }
    url.into_owned()
}

/// Keeps other processes from migrating until the connection is closed or [`end_migrating`] is called.
pub(crate) fn begin_migrating(connection: &mut PgConnection) -> QueryResult<()> {
    connection.batch_execute(MIGRATOR)?;
    RawStatement::new("SELECT pg_advisory_lock(?)", binds![MIGRATING]).execute(connection).map(drop)
}

pub(crate) fn end_migrating(connection: &mut PgConnection) -> QueryResult<()> {
    RawStatement::new("SELECT pg_advisory_unlock(?)", binds![MIGRATING]).execute(connection).map(drop)
}

/// Whether any migration was ever applied.
fn knows_migrations(connection: &mut PgConnection) -> QueryResult<bool> {
    let question = "SELECT to_regclass('__diesel_schema_migrations') IS NOT NULL AS answer";
    statements::is_true(connection, question, Vec::new())
}

#[derive(QueryableByName)]
struct Applied {
    #[diesel(sql_type = Text)]
    version: String,
}

/// The encoding of the database.
pub(crate) fn encoding(connection: &mut PgConnection) -> QueryResult<String> {
    texts(connection, "SELECT current_setting('server_encoding') AS text", Vec::new())
        .map(|found| found.concat())
}

/// Tables and views in the schema, but for those of extensions.
pub(crate) fn tables(connection: &mut PgConnection) -> QueryResult<Vec<String>> {
    let question = "
        SELECT relname::text AS text FROM pg_class c
        WHERE relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = current_schema())
        AND relkind IN ('r', 'p', 'v', 'm', 'f')
        AND NOT EXISTS (SELECT FROM pg_depend WHERE classid = 'pg_class'::regclass AND objid = c.oid AND deptype = 'e')
        ORDER BY relname";
    texts(connection, question, Vec::new())
}

fn texts(connection: &mut PgConnection, question: &str, values: Vec<Bind<'_>>) -> QueryResult<Vec<String>> {
    #[derive(QueryableByName)]
    struct Found {
        #[diesel(sql_type = Text)]
        text: String,
    }
    let found: Vec<Found> = RawStatement::new(question, values).load(connection)?;
    Ok(found.into_iter().map(|row| row.text).collect())
}

/// The versions of the migrations that were applied. Diesel's own question would first make their table, which a role
/// that only serves may not.
pub(crate) fn applied_migrations(connection: &mut PgConnection) -> QueryResult<Vec<String>> {
    if !knows_migrations(connection)? {
        return Ok(Vec::new());
    }
    let rows: Vec<Applied> =
        RawStatement::new("SELECT version FROM __diesel_schema_migrations", Vec::new()).load(connection)?;
    Ok(rows.into_iter().map(|row| row.version).collect())
}

/// Whether the role may make and alter tables: it owns those that are there.
pub(crate) fn may_migrate(connection: &mut PgConnection) -> QueryResult<bool> {
    let question = "
        SELECT COALESCE(has_schema_privilege(current_schema(), 'CREATE'), false) AND NOT EXISTS (
            SELECT FROM pg_class
            WHERE oid = to_regclass('__diesel_schema_migrations') AND NOT pg_has_role(relowner, 'USAGE')
        ) AS answer";
    statements::is_true(connection, question, Vec::new())
}

/// The tables in which the personal data of employees stood, in its earlier versions too.
const ERASED_FROM: [&str; 4] = ["employees", "events", "recorded_responses", "webhook_deliveries"];

/// Whether the role owns the tables that [`rewrite`] writes. VACUUM would pass over others with a warning.
pub(crate) fn may_rewrite(connection: &mut PgConnection) -> QueryResult<bool> {
    let question = "
        SELECT NOT EXISTS (
            SELECT FROM pg_class WHERE oid = to_regclass(?) AND NOT pg_has_role(relowner, 'USAGE')
        ) AS answer";
    for table in ERASED_FROM {
        if !statements::is_true(connection, question, binds![table])? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Writes the tables with erased data anew, with their indexes. Each is locked meanwhile.
pub(crate) fn rewrite(connection: &mut PgConnection) -> QueryResult<()> {
    connection.batch_execute(MIGRATOR)?;
    ERASED_FROM.iter().try_for_each(|table| connection.batch_execute(&format!("VACUUM (FULL) {table}")))
}

/// Waits until no snapshot sees the rows as they were before this call: VACUUM keeps what one still sees. A later snapshot
/// begins with the oldest transaction that writes on the server, in other databases too, so these are waited for as well.
/// Returns the holders of those that are left after a minute.
pub(crate) fn wait_for_snapshots(connection: &mut PgConnection) -> QueryResult<Vec<String>> {
    // A tenth of a second apart.
    const LOOKS: u32 = 600;
    let holders = "
        WITH holders AS (
            SELECT 'process ' || pid AS text, GREATEST(
                age(backend_xid),
                CASE WHEN datname IS NULL OR datname = current_database() THEN age(backend_xmin) END
            ) AS age
            FROM pg_stat_activity WHERE pid <> pg_backend_pid()
            UNION ALL
            SELECT 'prepared transaction ' || gid, age(transaction) FROM pg_prepared_xacts
            UNION ALL
            SELECT 'replication slot ' || slot_name, age(xmin) FROM pg_replication_slots
        )
        SELECT text FROM holders WHERE age >= age(?::text::xid)";
    let now = texts(connection, "SELECT pg_current_xact_id()::xid::text AS text", Vec::new())?.concat();
    let mut left = Vec::new();
    for _ in 0..LOOKS {
        left = texts(connection, holders, binds![now.as_str()])?;
        if left.is_empty() {
            break;
        }
        connection.batch_execute("SELECT pg_sleep(0.1)")?;
    }
    Ok(left)
}

/// Grants `role` what a process that serves or works needs.
pub(crate) fn grant(connection: &mut PgConnection, role: &str) -> QueryResult<()> {
    let setting = "SELECT set_config('kopeck.service_role', ?, false) IS NOT NULL AS answer";
    statements::is_true(connection, setting, binds![role])?;
    connection.batch_execute(include_str!("grants.sql"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_url_has_the_last_word() {
        let url = with_defaults("postgres://kopeck@/db?host=/run/pg&connect_timeout=9");
        assert!(url.starts_with("postgres://kopeck@/db?host=/run/pg&connect_timeout=9&"), "{url}");
        assert_eq!(url.matches("connect_timeout").count(), 1);
        assert!(
            with_defaults("postgresql://h/db").contains("/db?application_name=kopeck&connect_timeout=2&")
        );
    }
}
