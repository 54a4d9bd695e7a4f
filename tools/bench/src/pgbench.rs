//! The yardstick on PostgreSQL: the statements of a request, run by pgbench, which is a small program in C and has nothing
//! else to do.
//!
//! The scripts say where each statement comes from. They stay what one request needs by itself, also where the service does
//! the work of several calls at once.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;

use anyhow::Context as _;
use clap::ValueEnum;

use crate::record::Label;
use crate::targets::Targets;
use crate::{machine, numbered};

/// What pgbench runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Script {
    /// `GET /v1/employee/{id}`, the selects alone.
    Read,
    /// `POST /v1/employee/add`.
    Add,
    /// `POST /v1/replenishment` of ten cards.
    Replenish,
}

impl Script {
    const fn text(self) -> &'static str {
        match self {
            Self::Read => include_str!("../sql/read.sql"),
            Self::Add => include_str!("../sql/add.sql"),
            Self::Replenish => include_str!("../sql/replenish.sql"),
        }
    }
}

/// What to run, and how.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    label: Label,
    #[arg(long, value_enum)]
    script: Script,
    /// The program.
    #[arg(long)]
    program: PathBuf,
    /// The folder of the server's socket.
    #[arg(long)]
    socket: PathBuf,
    /// The file that `seed` made.
    #[arg(long, overrides_with = "targets")]
    targets: PathBuf,
    #[arg(long, default_value_t = 32)]
    clients: u64,
    #[arg(long, default_value_t = 3)]
    seconds: u64,
    /// Transactions of each client, in place of seconds.
    #[arg(long)]
    transactions: Option<u64>,
}

/// Runs pgbench and prints what it measured.
pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let targets = Targets::read(&args.targets)?;
    let folder = std::env::temp_dir().join(format!("kopeck-pgbench-{}", std::process::id()));
    std::fs::write(&folder, args.script.text())?;
    let output = command(args, &targets, &folder).output();
    std::fs::remove_file(&folder)?;
    let output = output.with_context(|| format!("cannot run {}", args.program.display()))?;
    let (said, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    anyhow::ensure!(output.status.success(), "pgbench failed: {said}{errors}");
    let figures = read(&said).with_context(|| format!("pgbench said: {said}{errors}"))?;
    args.label.record(figures).print()
}

fn command(args: &Args, targets: &Targets, script: &std::path::Path) -> Command {
    let mut command = Command::new(&args.program);
    command.args(["-n", "-M", "prepared", "-j", "2", "-U", "kopeck", "-c"]);
    command.arg(args.clients.to_string()).arg("-h").arg(&args.socket).arg("-f").arg(script);
    let partners = targets.partners.len() as u64;
    let per_client = match args.transactions {
        Some(transactions) => {
            command.arg("-t").arg(transactions.to_string());
            transactions
        }
        None => {
            command.arg("-T").arg(args.seconds.to_string());
            0
        }
    };
    // A million numbers for each client, in a range that no other run of these hours has.
    let run = 4_000_000_000_000_000 + machine::unix_seconds() % 1_000_000 * 1_000_000_000;
    let variables = [
        ("n", 0),
        ("run", run),
        ("partners", partners),
        ("employees", targets.employees),
        ("lock", lock_of_none()),
        // Tens of cards that a client takes of each partner.
        ("blocks", per_client / partners + 1),
    ];
    for (name, value) in variables {
        command.arg("-D").arg(format!("{name}={value}"));
    }
    command.arg("postgres");
    command
}

/// The number of the lock of partner number 0, as the store makes it of the identifier. That of partner `n`, of one
/// digit, is this one with `n` laid over it bit by bit.
fn lock_of_none() -> u64 {
    let (high, low) = numbered::id(numbered::PARTNERS).as_u64_pair();
    high.rotate_left(32) ^ low
}

/// The figures in what pgbench says at its end.
fn read(said: &str) -> anyhow::Result<BTreeMap<String, f64>> {
    let after = |prefix: &str| {
        let line = said.lines().find_map(|line| line.strip_prefix(prefix));
        let number = line.and_then(|rest| rest.split([' ', '/']).next()?.parse::<f64>().ok());
        number.with_context(|| format!("there is no {prefix:?}"))
    };
    Ok(BTreeMap::from([
        ("per_second".to_owned(), after("tps = ")?),
        ("calls".to_owned(), after("number of transactions actually processed: ")?),
        ("errors".to_owned(), after("number of failed transactions: ")?),
        ("average_us".to_owned(), after("latency average = ")? * 1_000.0),
    ]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_pgbench_is_read() {
        let said = "transaction type: x.sql\nnumber of transactions actually processed: 250/250\n\
            number of failed transactions: 3 (1.200%)\nlatency average = 1.250 ms\n\
            initial connection time = 20.1 ms\ntps = 800.500000 (without initial connection time)\n";
        let figures = read(said).unwrap();
        assert_eq!(figures["per_second"], 800.5);
        assert_eq!(figures["calls"], 250.0);
        assert_eq!(figures["errors"], 3.0);
        assert_eq!(figures["average_us"], 1_250.0);
        assert!(read("nothing").is_err());
    }

    #[test]
    fn locks_are_those_of_the_store() {
        for number in 1..=9 {
            let (high, low) = numbered::id(numbered::PARTNERS + number).as_u64_pair();
            assert_eq!(lock_of_none() ^ number, high.rotate_left(32) ^ low);
        }
    }
}
