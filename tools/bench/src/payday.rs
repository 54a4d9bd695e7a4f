//! Payday: programmes of all partners that are due at one moment, from that moment to the last card's SUCCESS.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::thread;
use std::time::Instant;

use anyhow::{Context as _, bail};
use clap::ValueEnum;
use kopeck_port_system::Clock as _;
use serde_json::{Value, json};
use time::macros::offset;
use time::{Duration, OffsetDateTime, UtcOffset};

use crate::caller::Caller;
use crate::machine::MachineClock;
use crate::mass::{POLL, text, until_success};
use crate::memory;
use crate::record::Label;
use crate::targets::Targets;

/// The zone of a service without settings.
const ZONE: UtcOffset = offset!(+3);
/// The time between the making of programmes and the moment at which they are due, at least, and for each of them.
const LEAD: Duration = Duration::seconds(5);
const LEAD_OF_EACH: Duration = Duration::milliseconds(10);
/// Longer than a run waits for those before it.
const AT_MOST: std::time::Duration = std::time::Duration::from_secs(1_200);

/// A part of a payday.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Part {
    /// Makes the programmes, and ends at the moment at which they are due.
    Make,
    /// Waits for the last card of what is due.
    Follow,
}

/// Whose programmes, and how many.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    label: Label,
    /// The service, of which each partner's clock is that of this machine.
    #[arg(long)]
    address: SocketAddr,
    /// The file that `seed` made.
    #[arg(long)]
    targets: PathBuf,
    /// Programmes of each partner, each for everybody.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=100))]
    programmes: u64,
    /// Only this part of it.
    #[arg(long, value_enum)]
    part: Option<Part>,
    /// A process whose memory is reported at the end.
    #[arg(long, value_name = "PID")]
    memory: Option<u32>,
}

/// Does it, and prints how long it took from the moment at which the programmes were due.
pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let targets = Targets::read(&args.targets)?;
    if args.part != Some(Part::Follow) {
        make(args, &targets)?;
    }
    if args.part == Some(Part::Make) {
        return Ok(());
    }
    let begun = Instant::now();
    let (runs, cards) = follow(args, &targets)?;
    let mut figures = BTreeMap::from([
        ("seconds".to_owned(), begun.elapsed().as_secs_f64()),
        ("runs".to_owned(), runs as f64),
        ("cards".to_owned(), cards as f64),
    ]);
    if let Some(process) = args.memory {
        figures.insert("peak_mib".to_owned(), memory::of(process)?.1);
    }
    args.label.record(figures).print()
}

fn make(args: &Args, targets: &Targets) -> anyhow::Result<()> {
    let count = i32::try_from(args.programmes * targets.partners.len() as u64)?;
    let due = full_minute(MachineClock.now() + LEAD + LEAD_OF_EACH * count);
    let local = due.to_offset(ZONE);
    let body = json!({
        "name": "Payday",
        "for": { "all": true },
        "amount": { "fixed": 100 },
        "every": "WEEK",
        "day": local.weekday().number_from_monday(),
        "time": format!("{:02}:{:02}", local.hour(), local.minute()),
    });
    for target in &targets.partners {
        let mut caller = Caller::connect(args.address, target)?;
        for _ in 0..args.programmes {
            let call = caller.sealed_post("/v1/programmes", &body);
            caller.send(&call, 201)?;
        }
    }
    let left = due - MachineClock.now();
    anyhow::ensure!(left.is_positive(), "the programmes were made {} too late", -left);
    thread::sleep(left.unsigned_abs());
    Ok(())
}

/// The first full minute that is not before this.
fn full_minute(at: OffsetDateTime) -> OffsetDateTime {
    let past = Duration::seconds(i64::from(at.second())) + Duration::nanoseconds(i64::from(at.nanosecond()));
    if past.is_zero() { at } else { at - past + Duration::MINUTE }
}

/// Waits for one run of each programme, and for its cards. How many of both there were.
fn follow(args: &Args, targets: &Targets) -> anyhow::Result<(u64, u64)> {
    let (mut runs, mut cards) = (0, 0);
    for target in &targets.partners {
        let mut caller = Caller::connect(args.address, target)?;
        for programme in data(&caller.get_json("/v1/programmes?per_page=100")?)? {
            let run = first_run(&mut caller, &text(programme, "idProgramme")?)?;
            let number = run.get("number").and_then(Value::as_u64).context("a run without number")?;
            let requests = run.get("requests").and_then(Value::as_array).context("a run without requests")?;
            anyhow::ensure!(number == targets.employees && requests.len() == 1, "another run is due: {run}");
            for request in requests {
                until_success(&mut caller, &format!("/v1/replenishment/{}/status", text(request, "id")?))?;
            }
            (runs, cards) = (runs + 1, cards + number);
        }
    }
    Ok((runs, cards))
}

fn first_run(caller: &mut Caller, programme: &str) -> anyhow::Result<Value> {
    let begun = Instant::now();
    loop {
        let listed = caller.get_json(&format!("/v1/programme/{programme}/runs"))?;
        if let Some(run) = data(&listed)?.first() {
            return Ok(run.clone());
        }
        if begun.elapsed() > AT_MOST {
            bail!("a programme makes no run");
        }
        thread::sleep(POLL);
    }
}

fn data(answer: &Value) -> anyhow::Result<&Vec<Value>> {
    answer.get("data").and_then(Value::as_array).with_context(|| format!("an answer without data: {answer}"))
}

#[cfg(test)]
mod tests {
    use time::macros::datetime;

    use super::full_minute;

    #[test]
    fn a_full_minute_is_not_before() {
        let minute = datetime!(2026-12-31 23:59 UTC);
        assert_eq!(full_minute(minute), minute);
        assert_eq!(full_minute(datetime!(2026-12-31 23:58:00.001 UTC)), minute);
        assert_eq!(full_minute(datetime!(2026-12-31 23:59:59 UTC)), datetime!(2027-01-01 0:00 UTC));
    }
}
