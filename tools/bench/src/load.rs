//! The load generator: plain HTTP over connections that stay open, on one thread.
//!
//! It shares the processors with what it measures, so it does as little as it can while it measures: calls are rendered
//! and sealed beforehand, a response is read no further than its status and length.

mod calls;
mod connection;
mod engine;
mod kind;
mod pace;
mod summary;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context as _;

use crate::memory;
use crate::record::Label;
use crate::targets::Targets;
use calls::Calls;
use engine::Plan;
use kind::LoadKind;

/// What to send, how often, and what to watch meanwhile.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    label: Label,
    /// The service, such as `127.0.0.1:8080`.
    #[arg(long)]
    address: SocketAddr,
    /// The file that `seed` made.
    #[arg(long, overrides_with = "targets")]
    targets: PathBuf,
    /// What to call; several take turns.
    #[arg(long, value_enum, value_delimiter = ',', required = true)]
    kind: Vec<LoadKind>,
    /// Connections.
    #[arg(long, default_value_t = 32)]
    connections: usize,
    /// Open loop: this many calls a second, each timed from the moment at which it should have been sent. Without it
    /// each connection sends the next request when it has the response to the last.
    #[arg(long)]
    rate: Option<f64>,
    /// Seconds before the measurement, which warm caches up.
    #[arg(long, default_value_t = 0.5)]
    warm_up: f64,
    /// Seconds of the measurement.
    #[arg(long, default_value_t = 3.0, overrides_with = "seconds")]
    seconds: f64,
    /// A process whose end is the end of the measurement, if it comes before `--seconds` are over.
    #[arg(long, value_name = "PID")]
    during: Option<i32>,
    /// The most calls with a body; those are made beforehand. The measurement ends with them, but it is void if they do
    /// not last for a quarter of it.
    #[arg(long)]
    calls: Option<usize>,
    /// A process whose memory is reported at the end.
    #[arg(long, value_name = "PID")]
    memory: Option<u32>,
}

/// Calls made beforehand for each second: more than two processors answer that have a database to ask.
const CALLS_A_SECOND: f64 = 30_000.0;

/// Sends the load and prints what was measured.
pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let targets = Targets::read(&args.targets)?;
    let seconds = args.seconds + args.warm_up;
    let at_most = args.calls.unwrap_or_else(|| (seconds * args.rate.unwrap_or(CALLS_A_SECOND)) as usize + 1);
    let mut calls = Calls::make(&targets, &args.kind, at_most)?;
    drop(targets);
    let plan = Plan {
        address: args.address,
        connections: args.connections,
        warm_up: Duration::from_secs_f64(args.warm_up),
        measured: Duration::from_secs_f64(args.seconds),
        during: args.during,
        rate: args.rate,
    };
    let seen = engine::run(&plan, &mut calls).context("the load")?;
    let mut figures = seen.figures();
    if let Some(process) = args.memory {
        figures.insert("peak_mib".to_owned(), memory::of(process)?.1);
    }
    args.label.record(figures).print()
}
