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

use crate::cpu::{self, WatchedProcess};
use crate::record::Label;
use crate::targets::Targets;
use calls::Calls;
use engine::Plan;
use kind::Kind;

/// What to send, how often, and what to watch meanwhile.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    label: Label,
    /// The service, such as `127.0.0.1:8080`; connections take turns among several.
    #[arg(long, value_delimiter = ',', required = true)]
    address: Vec<SocketAddr>,
    /// The file that `seed` made.
    #[arg(long, overrides_with = "targets")]
    targets: PathBuf,
    /// Partners that request; all of the file without it.
    #[arg(long)]
    partners: Option<usize>,
    /// What to call; several take turns.
    #[arg(long, value_enum, value_delimiter = ',', required = true)]
    kind: Vec<Kind>,
    /// Bodies are plaintext.
    #[arg(long)]
    clear: bool,
    /// Bodies are filled up to this many bytes by a field that the service ignores.
    #[arg(long, default_value_t = 0)]
    body_bytes: usize,
    /// What changes something has no key of its own: its nonce, which is all chance, is the key. Else it has a version 7
    /// uuid, as from our clients.
    #[arg(long)]
    chance_keys: bool,
    /// Connections.
    #[arg(long, default_value_t = 32)]
    connections: usize,
    /// Open loop: this many calls a second, each timed from the moment at which it should have been sent. Without it
    /// each connection sends the next request when it has the response to the last.
    #[arg(long)]
    rate: Option<f64>,
    /// Never sleeps: whenever there is nothing to do it yields the processor and looks again. For differences that waits
    /// would hide: a virtual machine gives a processor that sleeps to others, and has to wait for it afterwards.
    #[arg(long)]
    awake: bool,
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
    /// Processes whose processor time is shared among the requests, each with its children: `name=pid`.
    #[arg(long, value_parser = WatchedProcess::parse)]
    cpu: Vec<WatchedProcess>,
    /// Processes whose memory is reported at the end: `name=pid`.
    #[arg(long, value_parser = WatchedProcess::parse)]
    memory: Vec<WatchedProcess>,
}

/// Calls made beforehand for each second: more than two processors answer that have a database to ask.
const CALLS_A_SECOND: f64 = 30_000.0;

/// Sends the load and prints what was measured.
pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let mut targets = Targets::read(&args.targets)?;
    if let Some(partners) = args.partners {
        anyhow::ensure!((1..=targets.partners.len()).contains(&partners), "there are not as many partners");
        targets.partners.truncate(partners);
    }
    let seconds = args.seconds + args.warm_up;
    let at_most = args.calls.unwrap_or_else(|| (seconds * args.rate.unwrap_or(CALLS_A_SECOND)) as usize + 1);
    let form = calls::Form { sealed: !args.clear, bytes: args.body_bytes, keyed: !args.chance_keys };
    let mut calls = Calls::make(&targets, &args.kind, form, at_most)?;
    drop(targets);
    let plan = Plan {
        addresses: &args.address,
        connections: args.connections,
        warm_up: Duration::from_secs_f64(args.warm_up),
        measured: Duration::from_secs_f64(args.seconds),
        during: args.during,
        rate: args.rate,
        awake: args.awake,
        watched: &args.cpu,
    };
    let seen = engine::run(&plan, &mut calls).context("the load")?;
    let mut figures = seen.figures(&args.cpu);
    for WatchedProcess { name, pid } in &args.memory {
        figures.insert(format!("peak_{name}_mib"), cpu::memory(*pid)?.1);
    }
    args.label.record(figures).print()
}
