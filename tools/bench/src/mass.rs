//! Mass work: 100,000 cards topped up, 100,000 cards ordered, a file of 10,000 top-ups read and checked.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::ops::Range;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use clap::ValueEnum;
use serde_json::{Value, json};

use crate::caller::{Caller, Sealed};
use crate::memory;
use crate::numbered;
use crate::record::Label;
use crate::targets::Targets;

/// Requests of the top-up.
const REQUESTS: u64 = 10;
/// Lines of the order, and cards of each.
const LINES: u64 = 20;
const CARDS_A_LINE: u64 = 5_000;
/// Rows of the file, the most that a run has.
const FILE_ROWS: u64 = 10_000;
/// The polling interval: a hundredth of what is measured.
pub(crate) const POLL: Duration = Duration::from_millis(20);
/// Longer than any of it takes.
const AT_MOST: Duration = Duration::from_secs(300);

/// What is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Task {
    /// Tops up all cards of the partner, by ten requests, until all are done.
    TopUps,
    /// Orders 100,000 virtual cards and reads the result to its end.
    Order,
    /// Has a file of 10,000 top-ups checked, from its upload to the preview of the run.
    Preview,
}

/// What to do, and for whom.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    label: Label,
    #[arg(long, value_enum)]
    task: Task,
    /// The service.
    #[arg(long)]
    address: SocketAddr,
    /// The file that `seed` made; its first partner calls.
    #[arg(long)]
    targets: PathBuf,
    /// A process whose memory is reported at the end.
    #[arg(long, value_name = "PID")]
    memory: Option<u32>,
}

/// Does it, and prints how long it took.
pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let targets = Targets::read(&args.targets)?;
    let target = targets.partners.first().context("there is no partner")?;
    let mut caller = Caller::connect(args.address, target)?;
    let calls = calls(args.task, &caller, targets.employees);
    let begun = Instant::now();
    let mut figures = match args.task {
        Task::TopUps => top_ups(&mut caller, &calls, targets.employees)?,
        Task::Order => order(&mut caller, &calls)?,
        Task::Preview => preview(&mut caller, &calls)?,
    };
    figures.insert("seconds".to_owned(), begun.elapsed().as_secs_f64());
    if let Some(process) = args.memory {
        figures.insert("peak_mib".to_owned(), memory::of(process)?.1);
    }
    args.label.record(figures).print()
}

type Figures = BTreeMap<String, f64>;

/// The requests that begin the task, made before the time does: on their machine, partners would have done that.
fn calls(task: Task, caller: &Caller, cards: u64) -> Vec<Sealed> {
    match task {
        Task::TopUps => {
            let each = cards / REQUESTS;
            (0..REQUESTS).map(|request| top_up(caller, request * each..(request + 1) * each)).collect()
        }
        Task::Order => {
            let line = json!({ "numberCards": CARDS_A_LINE, "typeCard": "MLZ", "amount": 5_000 });
            let body = json!({ "data": vec![line; LINES as usize] });
            vec![caller.sealed_post("/v1/order/virtualcards", &body)]
        }
        Task::Preview => {
            let row = |number| format!("{};1,00\r\n", numbered::id(numbered::EMPLOYEES + 1 + number));
            let file = format!("idEmployee;Сумма\r\n{}", (0..FILE_ROWS).map(row).collect::<String>());
            let body = json!({ "kind": "TOP_UP", "file": STANDARD.encode(file) });
            vec![caller.sealed_post("/v1/runs", &body)]
        }
    }
}

fn top_up(caller: &Caller, cards: Range<u64>) -> Sealed {
    let card = |number| {
        let id = numbered::id(numbered::MAIN_CARDS + 1 + number).to_string();
        json!({ "idCard": id, "amountReplenishment": 100 })
    };
    caller.sealed_post("/v1/replenishment", &json!({ "cards": cards.map(card).collect::<Vec<_>>() }))
}

fn top_ups(caller: &mut Caller, calls: &[Sealed], cards: u64) -> anyhow::Result<Figures> {
    let begun = Instant::now();
    let mut requests = Vec::new();
    for call in calls {
        requests.push(text(&caller.send(call, 202)?, "replenishmentId")?);
    }
    let accepted = begun.elapsed().as_secs_f64();
    for id in requests {
        until_success(caller, &format!("/v1/replenishment/{id}/status"))?;
    }
    Ok(BTreeMap::from([("cards".to_owned(), cards as f64), ("accepted_s".to_owned(), accepted)]))
}

fn order(caller: &mut Caller, calls: &[Sealed]) -> anyhow::Result<Figures> {
    let begun = Instant::now();
    let call = calls.first().context("there is no order")?;
    let id = text(&caller.send(call, 202)?, "orderId")?;
    until_success(caller, &format!("/v1/order/status/{id}"))?;
    let issued = begun.elapsed().as_secs_f64();
    let mut cards = Counter::new(br#""customIdCard""#);
    let status = caller.get(&format!("/v1/order/result/{id}"), &mut |piece| cards.feed(piece))?;
    anyhow::ensure!(status == 200, "the result was answered {status}");
    let expected = LINES * CARDS_A_LINE;
    anyhow::ensure!(cards.found == expected, "the result has {} cards of {expected}", cards.found);
    Ok(BTreeMap::from([
        ("cards".to_owned(), cards.found as f64),
        ("issued_s".to_owned(), issued),
        ("result_mib".to_owned(), cards.bytes as f64 / 1_048_576.0),
    ]))
}

fn preview(caller: &mut Caller, calls: &[Sealed]) -> anyhow::Result<Figures> {
    let run = caller.send(calls.first().context("there is no file")?, 201)?;
    let count = |name: &str| run.get(name).and_then(Value::as_u64);
    anyhow::ensure!(
        count("number") == Some(FILE_ROWS) && count("faulty") == Some(0),
        "the preview is another: {run}"
    );
    Ok(BTreeMap::from([("rows".to_owned(), FILE_ROWS as f64)]))
}

pub(crate) fn until_success(caller: &mut Caller, path: &str) -> anyhow::Result<()> {
    let begun = Instant::now();
    loop {
        match text(&caller.get_json(path)?, "message")?.as_str() {
            "SUCCESS" => return Ok(()),
            "NEW" | "IN_PROCESS" if begun.elapsed() < AT_MOST => thread::sleep(POLL),
            state => bail!("a request is {state}"),
        }
    }
}

pub(crate) fn text(answer: &Value, name: &str) -> anyhow::Result<String> {
    let text = answer.get(name).and_then(Value::as_str);
    text.map(str::to_owned).with_context(|| format!("an answer without {name}: {answer}"))
}

/// Counts how often a text stands in bytes that come in pieces.
struct Counter {
    pattern: &'static [u8],
    /// The end of the last piece, too short to hold the text.
    rest: Vec<u8>,
    found: u64,
    bytes: usize,
}

impl Counter {
    const fn new(pattern: &'static [u8]) -> Self {
        Self { pattern, rest: Vec::new(), found: 0, bytes: 0 }
    }

    fn feed(&mut self, piece: &[u8]) {
        self.bytes += piece.len();
        self.rest.extend_from_slice(piece);
        let hits = self.rest.windows(self.pattern.len()).filter(|window| *window == self.pattern).count();
        self.found += hits as u64;
        let kept = self.rest.len().saturating_sub(self.pattern.len() - 1);
        self.rest.drain(..kept);
    }
}

#[cfg(test)]
mod tests {
    use super::Counter;

    #[test]
    fn a_text_is_found_across_pieces_and_once() {
        let mut counter = Counter::new(b"\"id\"");
        for piece in ["{\"i", "d\":1},{\"id\"", ":2}", "{\"id", "\""] {
            counter.feed(piece.as_bytes());
        }
        assert_eq!((counter.found, counter.bytes), (3, 22));
    }
}
