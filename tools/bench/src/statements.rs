//! The yardsticks without the service: the same rows by statements that the database's own library runs, and nothing else.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use clap::ValueEnum;
use diesel::connection::SimpleConnection as _;
use diesel::prelude::*;
use diesel::query_builder::{AstPass, Query, QueryFragment, QueryId};
use diesel::sql_types::{BigInt, Untyped};
use diesel::sqlite::Sqlite;

use crate::machine;
use crate::numbered;
use crate::record::Label;

/// What is carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Script {
    /// The rows of 100,000 top-ups, on PostgreSQL.
    TopUps,
    /// The rows of 100,000 issued cards, on PostgreSQL.
    Order,
    /// The rows of adds of employees, on SQLite: the physical limit of one thread.
    Adds,
}

/// What to carry out, and where.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    label: Label,
    #[arg(long, value_enum)]
    script: Script,
    /// The database.
    #[arg(long, env = "KOPECK_DATABASE_URL", hide_env_values = true)]
    url: String,
    /// The file of SQLite.
    #[arg(long, required_if_eq("script", "adds"))]
    file: Option<PathBuf>,
    /// Adds in a transaction.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(i64).range(1..))]
    units: i64,
    /// Seconds of adds.
    #[arg(long, default_value_t = 3)]
    seconds: u64,
}

/// Carries the statements out and prints how long that took.
pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let figures = match (args.script, &args.file) {
        (Script::TopUps, _) => mass(args, include_str!("../sql/top-ups.sql"))?,
        (Script::Order, _) => mass(args, include_str!("../sql/order.sql"))?,
        (Script::Adds, file) => adds(args, &file.as_ref().context("--file")?.to_string_lossy())?,
    };
    args.label.record(figures).print()
}

type Figures = BTreeMap<String, f64>;

fn mass(args: &Args, statements: &str) -> anyhow::Result<Figures> {
    let mut connection = PgConnection::establish(&args.url).context("cannot connect")?;
    let begun = Instant::now();
    connection.batch_execute(statements)?;
    Ok(BTreeMap::from([("seconds".to_owned(), begun.elapsed().as_secs_f64())]))
}

fn adds(args: &Args, file: &str) -> anyhow::Result<Figures> {
    let mut connection = SqliteConnection::establish(file)?;
    connection.batch_execute(include_str!("../sql/adds-sqlite.sql"))?;
    let at = i64::try_from(machine::unix_seconds())? * 1_000_000;
    let (begun, time, mut done) = (Instant::now(), Duration::from_secs(args.seconds), 0);
    while begun.elapsed() < time {
        // Like the service, which has no transaction of one statement.
        connection.immediate_transaction(|connection| {
            AddMany { first: done + 1, last: done + args.units, at }.execute(connection)
        })?;
        done += args.units;
    }
    Ok(BTreeMap::from([
        ("per_second".to_owned(), done as f64 / begun.elapsed().as_secs_f64()),
        ("units".to_owned(), args.units as f64),
    ]))
}

/// Adds of these numbers, the eight partners taking turns: a statement that stays prepared.
#[derive(QueryId)]
struct AddMany {
    first: i64,
    last: i64,
    at: i64,
}

impl Query for AddMany {
    type SqlType = Untyped;
}

impl RunQueryDsl<SqliteConnection> for AddMany {}

impl QueryFragment<Sqlite> for AddMany {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Sqlite>) -> QueryResult<()> {
        out.push_sql("WITH RECURSIVE n (i) AS (SELECT ");
        out.push_bind_param::<BigInt, _>(&self.first)?;
        out.push_sql(" UNION ALL SELECT i + 1 FROM n WHERE i < ");
        out.push_bind_param::<BigInt, _>(&self.last)?;
        out.push_sql(") INSERT INTO adds SELECT i, CAST(CAST(");
        out.push_bind_param::<BigInt, _>(&PARTNER)?;
        out.push_sql(" + i % 8 AS TEXT) AS BLOB), CAST(CAST(");
        out.push_bind_param::<BigInt, _>(&EMPLOYEE)?;
        out.push_sql(" + i AS TEXT) AS BLOB), ");
        out.push_bind_param::<BigInt, _>(&self.at)?;
        out.push_sql(" FROM n");
        Ok(())
    }
}

/// The first partner.
const PARTNER: i64 = numbered::PARTNERS.cast_signed() + 1;
/// Before the first new employee, behind all that were seeded.
const EMPLOYEE: i64 = 4_000_000_000_000_000;
