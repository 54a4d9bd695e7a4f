//! How long a quiet partner waits beside one that does its worst: its reads, its writes and its large calls.
//!
//! `KOPECK_BENCH_URL` is the service, `KOPECK_BENCH_BUSY` and `KOPECK_BENCH_QUIET` are what `kopeck partner create --json` printed
//! for the two partners, which need not seal.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use comfy_table::{Table, presets};
use kopeck_client::{CardStatus, CardType, NewEmployee, PlasticItem, RequestState, Uuid, Wait};
use serde_json::{Value, json};

use crate::caller::{Caller, nonce};
use crate::partner::{self, Secrets};
use crate::targets::Target;

/// Cards of the hostile partner, and those of them that are linked.
const CARDS: u32 = 500;
const LINKED: usize = 100;
/// Longer than the order takes.
const ORDER_TAKES: Duration = Duration::from_secs(60);
/// Connections of the hostile partner.
const CONNECTIONS: usize = 32;
/// Cards of a large call of the quiet partner: more than 32 KiB.
const LARGE: u128 = 700;
/// Between two requests of the quiet partner.
const PAUSES: [Duration; 3] =
    [Duration::from_millis(5), Duration::from_millis(20), Duration::from_millis(50)];
/// A p99 may be so many times that without the other partner.
const MOST_TIMES: f64 = 5.0;

/// What to measure.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// How long each row is measured.
    #[arg(long, default_value_t = 8)]
    seconds: u64,
    /// Only rows whose name has this text.
    #[arg(long, default_value = "")]
    only: String,
}

/// What the hostile partner has.
struct Hostile {
    address: SocketAddr,
    target: Target,
    secrets: Secrets,
    linked: Vec<Uuid>,
}

/// The request number `n` of the hostile partner, rendered.
type Render<'a> = Box<dyn Fn(&Caller, u64) -> Vec<u8> + Sync + 'a>;

/// Measures, prints a table, and fails if the quiet partner waits too long or is refused.
pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let (hostile, quiet) = prepare()?;
    let time = Duration::from_secs(args.seconds);
    let alone = measure(hostile.address, &quiet, time)?;
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN);
    table.set_header([
        "the other partner does",
        "and gets per second",
        "read ms",
        "write ms",
        "large call ms",
        "503",
    ]);
    let show = |times: &Times, place: usize| format!("{:.1}", times.p99(place) * 1_000.0);
    table.add_row(["nothing", "", &show(&alone, 0), &show(&alone, 1), &show(&alone, 2), ""]);
    let mut broken = Vec::new();
    for (name, render) in rows(&hostile).into_iter().filter(|(name, _)| name.contains(&args.only)) {
        let (got, times) = beside(&hostile, &render, || measure(hostile.address, &quiet, time))?;
        let cell = |place: usize| {
            let ratio = times.p99(place) / alone.p99(place);
            format!("{} ({ratio:.1} x)", show(&times, place))
        };
        table.add_row([name, &got, &cell(0), &cell(1), &cell(2), &times.refused.to_string()]);
        let is_slow = (0..3).any(|place| times.p99(place) > MOST_TIMES * alone.p99(place));
        if is_slow || times.refused > 0 {
            broken.push(name);
        }
    }
    println!("{table}");
    anyhow::ensure!(broken.is_empty(), "the quiet partner waits too long beside: {}", broken.join(", "));
    Ok(())
}

/// Makes the partners' cards and employees, and logs them in.
#[tokio::main]
async fn prepare() -> anyhow::Result<(Hostile, Target)> {
    let url = std::env::var("KOPECK_BENCH_URL").context("KOPECK_BENCH_URL")?;
    let address = url.trim_start_matches("http://").parse().context("the address of the service")?;
    let (busy, quiet) = (partner::client("KOPECK_BENCH_BUSY")?, partner::client("KOPECK_BENCH_QUIET")?);
    let item = PlasticItem {
        number_cards: CARDS,
        type_card: CardType::Kkl,
        delivery_address: "Nevsky 1".to_owned(),
        recipient: "Ivan Ivanov".to_owned(),
        phone: "9031234567".to_owned(),
    };
    let order = busy.orders().plastic(&[item]).await?.order_id;
    let state = busy.orders().wait(order, Wait::up_to(ORDER_TAKES), |_| ()).await?;
    anyhow::ensure!(state == RequestState::Success, "the order ended in {state}");
    let cards = busy.cards().all_available(Some(&CardType::Kkl)).collect().await?;
    let cards = cards.get(..LINKED).context("the order brought too few cards")?;
    for card in cards {
        let employee = busy.employees().add(&NewEmployee::new(&card.custom_id_card)).await?.id_employee;
        busy.cards().link(employee, &card.custom_id_card, &CardStatus::Main).await?;
    }
    quiet.employees().add(&NewEmployee::new("quiet")).await?;
    let hostile = Hostile {
        address,
        target: partner::target("KOPECK_BENCH_BUSY", &busy, 1).await?,
        secrets: partner::secrets("KOPECK_BENCH_BUSY")?,
        linked: cards.iter().map(|card| card.id_card).collect(),
    };
    Ok((hostile, partner::target("KOPECK_BENCH_QUIET", &quiet, 2).await?))
}

fn get(target: &str) -> Render<'_> {
    Box::new(move |caller, _| caller.render("GET", target, "", &nonce(), b""))
}

fn post<'a>(path: &'a str, header: &'a str, body: impl Fn(u64) -> String + Sync + 'a) -> Render<'a> {
    let headers = format!("content-type: application/json\r\n{header}");
    Box::new(move |caller, number| {
        let body = body(number);
        caller.render("POST", path, &headers, &nonce(), body.as_bytes())
    })
}

/// A top-up of unknown cards.
fn unknown_cards(count: u128) -> Value {
    let card = |number| json!({"idCard": Uuid::from_u128(number), "amountReplenishment": 1});
    json!({"cards": (0..count).map(card).collect::<Vec<_>>()})
}

/// What the hostile partner does.
fn rows(hostile: &Hostile) -> Vec<(&'static str, Render<'_>)> {
    let top_up = |card| json!({"idCard": card, "amountReplenishment": 1});
    let top_ups = json!({"cards": hostile.linked.iter().map(top_up).collect::<Vec<_>>()}).to_string();
    let faulty = format!("{{\"cards\":[{}]}}", vec!["{}"; 10_000].join(","));
    let unknown = unknown_cards(10_000).to_string();
    let large = format!("{{\"x\":[{}0]}}", "{\"a\":0},".repeat(2 * 1024 * 1024 / 8 - 10));
    let login = json!({"login": hostile.secrets.login, "password": hostile.secrets.password}).to_string();
    let api_key = format!("content-type: application/json\r\nx-api-key: {}\r\n", hostile.secrets.api_key);
    let sheet = "accept: application/vnd.openxmlformats-officedocument.spreadsheetml.sheet\r\n";
    let month = month();
    let statement = format!("/v1/statement/{month}");
    let of_month = statement.clone();
    let employee = |number| json!({"customId": format!("h-{}-{number}", nonce())}).to_string();
    vec![
        ("reads beyond its rate", get("/v1/balance")),
        ("10,000 faulty items a call", post("/v1/replenishment", "", move |_| faulty.clone())),
        ("10,000 unknown cards a call", post("/v1/replenishment", "", move |_| unknown.clone())),
        ("bodies of 2 MiB", post("/v1/category", "", move |_| large.clone())),
        ("writes under new keys", post("/v1/employee/add", "", employee)),
        ("one write under one key", {
            post("/v1/employee/add", "idempotency-key: one\r\n", |_| json!({"customId": "h-one"}).to_string())
        }),
        ("many writes under one key", post("/v1/employee/add", "idempotency-key: many\r\n", employee)),
        ("top-ups of 100 cards", post("/v1/replenishment", "", move |_| top_ups.clone())),
        ("lists of 500 cards", get("/v1/cards?per_page=500")),
        ("searches of names", get("/v1/employees?per_page=500&q=a")),
        ("the feed from its beginning", get("/v1/events?after=0&limit=500")),
        ("logins", {
            Box::new(move |caller: &Caller, _| {
                caller.render("POST", "/v1/get_access_token", &api_key, &nonce(), login.as_bytes())
            })
        }),
        (
            "statements",
            Box::new(move |caller: &Caller, _| caller.render("GET", &statement, "", &nonce(), b"")),
        ),
        ("spreadsheets", {
            Box::new(move |caller: &Caller, _| caller.render("GET", &of_month, sheet, &nonce(), b""))
        }),
    ]
}

/// The present month.
fn month() -> String {
    use kopeck_port_system::Clock as _;
    let now = crate::machine::MachineClock.now();
    format!("{:04}-{:02}", now.year(), u8::from(now.month()))
}

/// The result of `work` while the hostile partner sends its requests, and what it got.
fn beside<T>(
    hostile: &Hostile,
    render: &Render<'_>,
    work: impl FnOnce() -> anyhow::Result<T>,
) -> anyhow::Result<(String, T)> {
    let (ended, number, begun) = (AtomicBool::new(false), AtomicU64::new(0), Instant::now());
    thread::scope(|scope| {
        let flood = || {
            let mut got = BTreeMap::<u16, u64>::new();
            while !ended.load(Ordering::Relaxed) {
                // A server that refuses a body may close the connection.
                let Ok(mut caller) = Caller::connect(hostile.address, &hostile.target) else { continue };
                while !ended.load(Ordering::Relaxed) {
                    let request = render(&caller, number.fetch_add(1, Ordering::Relaxed));
                    let Ok(status) = caller.send_raw(&request) else { break };
                    *got.entry(status).or_default() += 1;
                }
            }
            got
        };
        let floods: Vec<_> = (0..CONNECTIONS).map(|_| scope.spawn(flood)).collect();
        let done = work();
        ended.store(true, Ordering::Relaxed);
        let seconds = begun.elapsed().as_secs_f64();
        let mut all = BTreeMap::<u16, u64>::new();
        for flood in floods {
            for (status, count) in flood.join().unwrap_or_default() {
                *all.entry(status).or_default() += count;
            }
        }
        let each = all.iter().map(|(status, count)| format!("{:.0} x {status}", *count as f64 / seconds));
        Ok((each.collect::<Vec<_>>().join(", "), done?))
    })
}

/// Seconds of the quiet partner's reads, writes and large calls, sorted; and how many of them were refused.
#[derive(Default)]
struct Times {
    sorted: [Vec<f64>; 3],
    refused: usize,
}

impl Times {
    fn p99(&self, place: usize) -> f64 {
        let times = self.sorted.get(place).map(Vec::as_slice).unwrap_or_default();
        times.get(times.len() * 99 / 100).or(times.last()).copied().unwrap_or_default()
    }
}

/// The quiet partner's requests for so long, each kind on a connection of its own.
fn measure(address: SocketAddr, quiet: &Target, time: Duration) -> anyhow::Result<Times> {
    let large = unknown_cards(LARGE).to_string();
    let kinds: [(u16, Render<'_>); 3] = [
        (200, get("/v1/balance")),
        (200, post("/v1/employee/add", "", |_| json!({"customId": format!("q-{}", nonce())}).to_string())),
        (404, post("/v1/replenishment", "", |_| large.clone())),
    ];
    let until = Instant::now() + time;
    let mut all = Times::default();
    thread::scope(|scope| {
        let of_kind = |(expected, render): &(u16, Render<'_>), pause| -> anyhow::Result<(Vec<f64>, usize)> {
            let (mut caller, mut times, mut refused) = (Caller::connect(address, quiet)?, Vec::new(), 0);
            while Instant::now() < until {
                let request = render(&caller, 0);
                let begun = Instant::now();
                let status = caller.send_raw(&request)?;
                times.push(begun.elapsed().as_secs_f64());
                refused += usize::from(status == 503);
                anyhow::ensure!(
                    [*expected, 503].contains(&status),
                    "the quiet partner was answered {status}"
                );
                thread::sleep(pause);
            }
            times.sort_by(f64::total_cmp);
            Ok((times, refused))
        };
        let threads: Vec<_> =
            kinds.iter().zip(PAUSES).map(|(kind, pause)| scope.spawn(move || of_kind(kind, pause))).collect();
        for (place, thread) in threads.into_iter().enumerate() {
            let (times, refused) = thread.join().map_err(|_| anyhow::anyhow!("a thread panicked"))??;
            if let Some(sorted) = all.sorted.get_mut(place) {
                *sorted = times;
            }
            all.refused += refused;
        }
        Ok(all)
    })
}
