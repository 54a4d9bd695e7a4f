//! Plays seeds of the simulation: one with its trace, or many with a count of what they found.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::process::ExitCode;
use std::time::Instant;

use clap::Parser;
use simulation::{Sabotage, Simulation};

/// Plays seeds of the simulation of Kopeck.
#[derive(Parser)]
struct Arguments {
    /// Plays this seed and shows what happens.
    #[arg(long, conflicts_with = "seeds", required_unless_present = "seeds")]
    seed: Option<u64>,
    /// Plays all seeds from A to below B, given as A..B.
    #[arg(long, value_parser = seeds)]
    seeds: Option<Seeds>,
    /// Switches a safety rule off.
    #[arg(long)]
    sabotage: Option<Sabotage>,
}

#[derive(Clone)]
struct Seeds {
    from: u64,
    until: u64,
}

fn main() -> ExitCode {
    let Arguments { seed, seeds, sabotage } = Arguments::parse();
    let out = &mut io::stdout().lock();
    let simulation = match Simulation::open(sabotage) {
        Ok(simulation) => simulation,
        Err(error) => {
            let _ = writeln!(io::stderr(), "{error}");
            return ExitCode::FAILURE;
        }
    };
    let held = match (seed, seeds) {
        (Some(seed), _) => show(out, &simulation, seed),
        (None, Some(seeds)) => count(out, &simulation, &seeds),
        (None, None) => Ok(true),
    };
    match held {
        Ok(true) => ExitCode::SUCCESS,
        // Also without a reader: a closed pipe, a full disk.
        Ok(false) | Err(_) => ExitCode::FAILURE,
    }
}

/// Plays one seed with its trace; returns whether everything held.
fn show(out: &mut dyn Write, simulation: &Simulation, seed: u64) -> io::Result<bool> {
    let report = simulation.run(seed, true);
    for line in &report.trace {
        writeln!(out, "{line}")?;
    }
    writeln!(out, "requests: {:?}", report.requests)?;
    match &report.violation {
        Some(violation) => writeln!(out, "seed {seed}: VIOLATED: {violation}")?,
        None => writeln!(out, "seed {seed}: everything held")?,
    }
    Ok(report.violation.is_none())
}

/// Plays many seeds; returns whether everything held in all of them.
fn count(out: &mut dyn Write, simulation: &Simulation, seeds: &Seeds) -> io::Result<bool> {
    let start = Instant::now();
    let mut violated: u64 = 0;
    let mut requests: BTreeMap<String, u64> = BTreeMap::new();
    for seed in seeds.from..seeds.until {
        let report = simulation.run(seed, false);
        for (kind, count) in report.requests {
            *requests.entry(kind).or_default() += count;
        }
        if let Some(violation) = report.violation {
            violated += 1;
            writeln!(out, "seed {seed}: VIOLATED: {violation}")?;
        }
    }
    for (kind, count) in requests {
        writeln!(out, "{count:>10}  {kind}")?;
    }
    let (played, took) = (seeds.until.saturating_sub(seeds.from), start.elapsed());
    writeln!(out, "{played} seeds, {violated} violations, {:.1} s", took.as_secs_f64())?;
    Ok(violated == 0)
}

fn seeds(text: &str) -> Result<Seeds, String> {
    let wrong = || "must be two numbers, as in 0..1000".to_owned();
    let (from, until) = text.split_once("..").ok_or_else(wrong)?;
    Ok(Seeds { from: from.parse().map_err(|_| wrong())?, until: until.parse().map_err(|_| wrong())? })
}
