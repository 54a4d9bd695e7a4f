#![doc = include_str!("../README.md")]
#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "figures of a report, and counts far below 2^52"
)]
#![cfg_attr(test, expect(clippy::float_cmp, reason = "figures that are made exactly"))]

mod caller;
mod console;
mod hostile;
mod instant_bank;
mod load;
mod machine;
mod mass;
mod memory;
mod numbered;
mod parsers;
mod partner;
mod payday;
mod pgbench;
mod record;
mod relay;
mod report;
mod seed;
mod start;
mod statements;
mod targets;

use std::process::ExitCode;

use clap::Parser;

/// Measures the service.
#[derive(Parser)]
#[command(name = "kopeck-bench", version)]
enum Command {
    /// How long a quiet partner waits beside one that does its worst.
    Hostile(hostile::Args),
    /// Makes partners with employees and cards, straight in the tables, and tokens for them.
    Seed(seed::Args),
    /// Sends calls and measures how many are answered, and how fast.
    Load(load::Args),
    /// Runs the statements of a request by pgbench.
    Pgbench(pgbench::Args),
    /// Serves a bank that carries out everything at once.
    InstantBank(instant_bank::Args),
    /// Relays to a database server as if it were across a network.
    Distance(relay::Args),
    /// Tops up or orders 100,000 cards.
    Mass(mass::Args),
    /// Makes programmes that are due at one moment, and waits for the last card of their runs.
    Payday(payday::Args),
    /// Runs the statements that mass work or adds would be at the least.
    Statements(statements::Args),
    /// Sends each parser of the service its worst request of 64 KiB.
    Parsers(parsers::Args),
    /// Starts a server and waits for its first response.
    Start(start::Args),
    /// Asks for pages of the console of a large partner.
    Console(console::Args),
    /// Makes the tables.
    Report(report::Args),
}

fn main() -> ExitCode {
    let done = match Command::parse() {
        Command::Hostile(args) => hostile::run(&args),
        Command::Seed(args) => seed::run(&args),
        Command::Load(args) => load::run(&args),
        Command::Pgbench(args) => pgbench::run(&args),
        Command::InstantBank(args) => instant_bank::run(&args),
        Command::Distance(args) => relay::run(&args),
        Command::Mass(args) => mass::run(&args),
        Command::Payday(args) => payday::run(&args),
        Command::Statements(args) => statements::run(&args),
        Command::Parsers(args) => parsers::run(&args),
        Command::Start(args) => start::run(&args),
        Command::Console(args) => console::run(&args),
        Command::Report(args) => report::run(&args),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("the measurement could not go on: {error:#}");
            ExitCode::FAILURE
        }
    }
}
