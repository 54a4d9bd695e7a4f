//! Pages of the console of a large partner: how long the server takes for each, and what goes over the wire.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Instant;

use anyhow::ensure;

use crate::caller::Caller;
use crate::numbered;
use crate::record::Record;
use crate::targets::Targets;

/// What the first page may take at most, with its style sheet, its script and its icon.
const MOST_BYTES: usize = 100_000;
const MOST_MILLISECONDS: f64 = 100.0;

/// What to measure.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The service.
    #[arg(long)]
    address: SocketAddr,
    /// The file that `seed --payments` made; a user of its first partner looks.
    #[arg(long)]
    targets: PathBuf,
    /// How often each page is asked for; the median counts.
    #[arg(long, default_value_t = 15)]
    times: usize,
    /// The most milliseconds of the first page.
    #[arg(long, default_value_t = MOST_MILLISECONDS)]
    most: f64,
}

/// Asks for each page, and refuses a first page that is too slow or too heavy.
pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let targets = Targets::read(&args.targets)?;
    let target = targets.partners.first().ok_or_else(|| anyhow::anyhow!("there is no partner"))?;
    let mut caller = Caller::connect(args.address, target)?;
    let month = crate::seed::month()?;
    let person = numbered::id(numbered::EMPLOYEES + targets.employees / 2);
    let pages = [
        ("home", "/console".to_owned()),
        ("people", "/console/people".to_owned()),
        ("search", "/console/people?q=T-77".to_owned()),
        ("person", format!("/console/person/{person}")),
        ("runs", "/console/runs".to_owned()),
        ("programmes", "/console/programmes".to_owned()),
        ("orders", "/console/orders".to_owned()),
        ("reports", format!("/console/reports?month={month}")),
    ];
    let (mut slow, mut weight) = (0.0, 0);
    for (name, path) in &pages {
        let mut took = Vec::new();
        let mut bytes = 0;
        for _ in 0..args.times {
            bytes = 0;
            let began = Instant::now();
            let status = caller.page(path, &target.console_session, &mut |part| bytes += part.len())?;
            took.push(began.elapsed().as_secs_f64() * 1_000.0);
            ensure!(status == 200, "{path}: {status}");
        }
        took.sort_by(f64::total_cmp);
        let median = took.get(took.len() / 2).copied().unwrap_or_default();
        let worst = took.last().copied().unwrap_or_default();
        if *name == "home" {
            (slow, weight) = (median, bytes);
        }
        let figures = [("median ms", median), ("worst ms", worst), ("kB", bytes as f64 / 1_000.0)];
        let figures: BTreeMap<String, f64> = figures.map(|(name, figure)| (name.to_owned(), figure)).into();
        Record { row: "console".to_owned(), side: (*name).to_owned(), figures }.print()?;
    }
    for asset in ["/console/console.css", "/console/icon.svg", "/console/console.js"] {
        let mut bytes = 0;
        if caller.page(asset, "", &mut |part| bytes += part.len())? == 200 {
            weight += bytes;
        }
    }
    ensure!(weight <= MOST_BYTES, "the first page has {weight} bytes with what it loads");
    ensure!(slow <= args.most, "the first page takes {slow:.0} ms");
    Ok(())
}
