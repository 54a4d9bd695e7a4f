//! Connecting to PostgreSQL, and its locks.

use std::borrow::Cow;

use diesel::connection::SimpleConnection;
use diesel::pg::PgConnection;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Bool, Text};
use kopeck_port_store::Access;

use crate::error::OpenError;
use crate::repositories::JobRow;
use crate::server_url::with_system_roots;
use crate::sql_types::{Moment, sql};
use crate::statements::{Bind, RawStatement};

/// What libpq is told unless the URL says otherwise: to give up on a server that does not answer within two seconds,
/// whether it is asked for a connection, does not take what is sent, or has gone while we wait for its word.
const DEFAULTS: [(&str, &str); 7] = [
    ("application_name", "kopeck"),
    ("connect_timeout", "2"),
    ("keepalives", "1"),
    ("keepalives_idle", "1"),
    ("keepalives_interval", "1"),
    ("keepalives_count", "2"),
    ("tcp_user_timeout", "2000"),
];

/// What a session is told before anything else. A unit of work is short: one that waits for a lock for two seconds
/// has met a fault, and one that is silent for ten belongs to a machine that is gone and must not keep its locks. The
/// server's own probes find out about a dead machine sooner. Plans are cheap here, so compiling them never pays, and every
/// statement finds its rows by the same index whatever its values are, so one plan serves them all. It is not to be one
/// that reads a whole table because that was empty when the plan was made.
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
";

/// A reading session that tried to write would write without a lock; it is refused at once.
const READER: &str = "SET default_transaction_read_only = on;";

/// Migrations take their time, and those who wait for them have it too.
const MIGRATOR: &str = "SET lock_timeout = '60s'; SET statement_timeout = 0;";

/// Held while a process migrates; the bytes of "kopeckmi".
const MIGRATING: i64 = 0x6b6f_7065_636b_6d69;

/// Whether the URL is one of PostgreSQL.
pub(crate) fn is_url(url: &str) -> bool {
    url.starts_with("postgres://") || url.starts_with("postgresql://")
}

pub(crate) fn establish(url: &str) -> Result<PgConnection, OpenError> {
    PgConnection::establish(&with_defaults(&with_system_roots(url)))
        .map_err(|error| OpenError::Connect(error.to_string()))
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
    RawStatement::new("SELECT pg_advisory_lock(?)", vec![Bind::Int(MIGRATING)]).execute(connection).map(drop)
}

pub(crate) fn end_migrating(connection: &mut PgConnection) -> QueryResult<()> {
    RawStatement::new("SELECT pg_advisory_unlock(?)", vec![Bind::Int(MIGRATING)])
        .execute(connection)
        .map(drop)
}

#[derive(QueryableByName)]
struct Answer {
    #[diesel(sql_type = Bool)]
    answer: bool,
}

/// Whether any migration was ever applied.
fn knows_migrations(connection: &mut PgConnection) -> QueryResult<bool> {
    let question = "SELECT to_regclass('__diesel_schema_migrations') IS NOT NULL AS answer";
    RawStatement::new(question, Vec::new()).get_result::<Answer>(connection).map(|found| found.answer)
}

#[derive(QueryableByName)]
struct Applied {
    #[diesel(sql_type = Text)]
    version: String,
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
    RawStatement::new(question, Vec::new()).get_result::<Answer>(connection).map(|found| found.answer)
}

/// Grants `role` what a process that serves or works needs.
pub(crate) fn grant(connection: &mut PgConnection, role: &str) -> QueryResult<()> {
    let setting = "SELECT set_config('kopeck.service_role', ?, false) IS NOT NULL AS answer";
    RawStatement::new(setting, vec![Bind::Text(role)]).get_result::<Answer>(connection)?;
    connection.batch_execute(include_str!("grants.sql"))
}

/// Takes a lock until the end of the transaction, if it is free.
pub(crate) fn try_lock(connection: &mut PgConnection, key: i64) -> QueryResult<bool> {
    let question = "SELECT pg_try_advisory_xact_lock(?) AS answer";
    RawStatement::new(question, vec![Bind::Int(key)]).get_result::<Answer>(connection).map(|got| got.answer)
}

/// 14 KB in rows that are too short to be stored elsewhere: more than pages that are there have room for, as a rule.
const PROBE: &str = "
    INSERT INTO spent_nonces (api_key_hash, nonce, spent_at)
    SELECT decode(repeat('00', 32), 'hex'), string_agg(md5(random()::text), ''), row
    FROM generate_series(1, 8) AS row CROSS JOIN generate_series(1, 56) GROUP BY row";

/// Adds rows that need new pages. To be rolled back.
pub(crate) fn probe(connection: &mut PgConnection) -> QueryResult<()> {
    RawStatement::new(PROBE, Vec::new()).execute(connection).map(drop)
}

#[derive(QueryableByName)]
struct Locked {
    #[diesel(sql_type = BigInt)]
    key: i64,
    #[diesel(sql_type = Bool)]
    got: bool,
}

/// Takes locks until the end of the transaction; says of each whether it was free.
pub(crate) fn try_locks(connection: &mut PgConnection, keys: Vec<i64>) -> QueryResult<Vec<(i64, bool)>> {
    let question = "SELECT key, pg_try_advisory_xact_lock(key) AS got FROM unnest(?) AS wanted (key)";
    let rows: Vec<Locked> = RawStatement::new(question, vec![Bind::Ints(keys)]).load(connection)?;
    Ok(rows.into_iter().map(|row| (row.key, row.got)).collect())
}

/// Waits for a lock, and takes it until the end of the transaction.
pub(crate) fn wait_for_lock(connection: &mut PgConnection, key: i64) -> QueryResult<()> {
    RawStatement::new("SELECT pg_advisory_xact_lock(?)", vec![Bind::Int(key)]).execute(connection).map(drop)
}

#[derive(QueryableByName)]
struct Now {
    #[diesel(sql_type = sql::Moment)]
    now: Moment,
}

/// The server's time. Not that of the transaction's beginning.
pub(crate) fn now(connection: &mut PgConnection) -> QueryResult<Moment> {
    let question = "SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS BIGINT) AS now";
    RawStatement::new(question, Vec::new()).get_result::<Now>(connection).map(|row| row.now)
}

/// Walks from partner to partner by one look into the index each, so that one with a great deal of work costs no more
/// than another.
const DUE_WORK: &str = "
    WITH RECURSIVE partners (id) AS (
        (SELECT partner_id FROM jobs ORDER BY partner_id LIMIT 1)
        UNION ALL
        SELECT (SELECT w.partner_id FROM jobs w WHERE w.partner_id > p.id ORDER BY w.partner_id LIMIT 1)
        FROM partners p WHERE p.id IS NOT NULL
    )
    SELECT due.*
    FROM partners p CROSS JOIN LATERAL (
        SELECT own.*, row_number() OVER (ORDER BY own.due_at) AS turn
        FROM (
            SELECT w.partner_id, w.subject_kind, w.subject_id, w.attempt, w.failures, w.may_have_sent, w.due_at
            FROM jobs w
            WHERE w.partner_id = p.id AND w.due_at <= ? AND (w.leased_until IS NULL OR w.leased_until <= ?)
            ORDER BY w.due_at LIMIT ?
        ) own
    ) due
    ORDER BY due.turn, due.due_at LIMIT ?";

/// Work that is due at `now` and not under a lease, the partners taking turns.
pub(crate) fn due_work(connection: &mut PgConnection, now: Moment, limit: u32) -> QueryResult<Vec<JobRow>> {
    let limit = i64::from(limit);
    let values = vec![Bind::Moment(now), Bind::Moment(now), Bind::Int(limit), Bind::Int(limit)];
    RawStatement::new(DUE_WORK, values).load(connection)
}

const TAKE_DUE: &str = "
    SELECT w.partner_id, w.subject_kind, w.subject_id, w.attempt, w.failures, w.may_have_sent, w.due_at
    FROM unnest(?, ?, ?) WITH ORDINALITY AS wanted (partner_id, subject_kind, subject_id, place)
    JOIN jobs w USING (partner_id, subject_kind, subject_id)
    WHERE w.due_at <= ? AND (w.leased_until IS NULL OR w.leased_until <= ?)
    ORDER BY wanted.place
    FOR UPDATE OF w SKIP LOCKED";

/// Those of `rows` that are still due and that nobody else is taking, in their order, for this transaction to take.
pub(crate) fn take_due(
    connection: &mut PgConnection,
    now: Moment,
    rows: &[JobRow],
) -> QueryResult<Vec<JobRow>> {
    let values = vec![
        Bind::Ids(rows.iter().map(|row| row.partner_id).collect()),
        Bind::Texts(rows.iter().map(|row| row.subject_kind.as_str()).collect()),
        Bind::Ids(rows.iter().map(|row| row.subject_id).collect()),
        Bind::Moment(now),
        Bind::Moment(now),
    ];
    RawStatement::new(TAKE_DUE, values).load(connection)
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
