//! The yardstick of mass work on PostgreSQL: the same rows by a few statements over all of them.

use std::collections::BTreeMap;
use std::time::Instant;

use anyhow::Context as _;
use clap::ValueEnum;
use diesel::connection::SimpleConnection as _;
use diesel::{Connection as _, PgConnection};

use crate::cpu::{self, WatchedProcess};
use crate::record::Label;

/// What is carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Script {
    /// The rows of 100,000 top-ups.
    TopUps,
    /// The rows of 100,000 issued cards.
    Order,
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
    /// Processes whose processor time is reported, each with its children: `name=pid`.
    #[arg(long, value_parser = WatchedProcess::parse)]
    cpu: Vec<WatchedProcess>,
}

/// Carries the statements out and prints how long that took.
pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let statements = match args.script {
        Script::TopUps => include_str!("../sql/top-ups.sql"),
        Script::Order => include_str!("../sql/order.sql"),
    };
    let mut connection = PgConnection::establish(&args.url).context("cannot connect")?;
    let (before, begun) = (cpu::spent(&args.cpu)?, Instant::now());
    connection.batch_execute(statements)?;
    let mut figures = BTreeMap::from([("seconds".to_owned(), begun.elapsed().as_secs_f64())]);
    for ((watched, after), before) in args.cpu.iter().zip(cpu::spent(&args.cpu)?).zip(before) {
        figures.insert(format!("cpu_{}_s", watched.name), after.saturating_sub(before).as_secs_f64());
    }
    args.label.record(figures).print()
}
