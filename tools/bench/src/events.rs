//! Events: what requests that wait for one cost, and how long a delivery to a webhook takes, alone and beside another
//! partner's endpoint that is dead.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use comfy_table::{Table, presets};
use hdrhistogram::Histogram;
use serde_json::json;

use crate::caller::{Caller, nonce};
use crate::cpu;
use crate::targets::{Target, Targets};

/// What to measure.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The service, which has to be a sandbox.
    #[arg(long)]
    address: SocketAddr,
    /// Partners without events: 100 requests of each may wait.
    #[arg(long)]
    targets: PathBuf,
    /// The service's process.
    #[arg(long)]
    pid: u32,
    /// Requests that wait at once.
    #[arg(long, default_value_t = 10_000)]
    waiting: usize,
    /// Events that wait for the dead endpoint.
    #[arg(long, default_value_t = 100_000)]
    queued: usize,
}

/// Requests that a partner may have waiting.
const WAITING_OF_A_PARTNER: usize = 100;
/// Reads of a measurement.
const READS: usize = 2_000;
/// Deliveries of a measurement.
const DELIVERIES: usize = 300;
/// Connections that make the events of the dead endpoint.
const CONNECTIONS: usize = 8;
/// Longer than a delivery takes.
const PATIENCE: Duration = Duration::from_secs(60);

/// Measures, and prints two tables.
pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let targets = Targets::read(&args.targets)?.partners;
    let [reader, sender, dead, waiting @ ..] = &targets[..] else {
        anyhow::bail!("three partners are needed, and those whose requests wait")
    };
    let mut table = table(["requests that wait", "p50 of a read, ms", "p99, ms", "memory, MiB"]);
    let mut caller = Caller::connect(args.address, reader)?;
    let mut row = |caller: &mut Caller, name: String| -> anyhow::Result<()> {
        let times = reads(caller)?;
        let memory = cpu::memory(args.pid)?.0;
        table.add_row([name, millis(&times, 0.5), millis(&times, 0.99), format!("{memory:.1}")]);
        Ok(())
    };
    row(&mut caller, "none".to_owned())?;
    let open = wait(args, &mut caller, waiting)?;
    row(&mut caller, open.len().to_string())?;
    drop(open);
    println!("{table}\n");

    let mut table = self::table(["beside", "deliveries", "p50, ms", "p99, ms"]);
    let arrived = receiver(sender, args.address)?;
    let mut caller = Caller::connect(args.address, sender)?;
    let mut row = |name: String, first: usize| -> anyhow::Result<()> {
        let times = deliveries(&mut caller, &arrived, first)?;
        table.add_row([name, DELIVERIES.to_string(), millis(&times, 0.5), millis(&times, 0.99)]);
        Ok(())
    };
    row("nothing".to_owned(), 0)?;
    let _silent = dead_endpoint(dead, args)?;
    row(format!("a dead endpoint with {} events", args.queued), DELIVERIES)?;
    println!("{table}");
    Ok(())
}

fn table<const N: usize>(header: [&str; N]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN);
    table.set_header(header);
    table
}

/// Microseconds.
fn histogram() -> anyhow::Result<Histogram<u64>> {
    Ok(Histogram::new(3)?)
}

fn millis(times: &Histogram<u64>, quantile: f64) -> String {
    format!("{:.1}", times.value_at_quantile(quantile) as f64 / 1_000.0)
}

fn reads(caller: &mut Caller) -> anyhow::Result<Histogram<u64>> {
    let mut times = histogram()?;
    for _ in 0..READS {
        let begun = Instant::now();
        caller.get_json("/v1/balance")?;
        times.record(begun.elapsed().as_micros() as u64)?;
    }
    Ok(times)
}

/// Opens connections, each with a request that waits for half a minute.
fn wait(args: &Args, caller: &mut Caller, partners: &[Target]) -> anyhow::Result<Vec<TcpStream>> {
    let mut open = Vec::with_capacity(args.waiting);
    for target in partners.iter().flat_map(|target| std::iter::repeat_n(target, WAITING_OF_A_PARTNER)) {
        if open.len() == args.waiting {
            break;
        }
        let mut socket = TcpStream::connect(args.address)?;
        let head = format!(
            "GET /v1/events?wait=30 HTTP/1.1\r\nhost: bench\r\nauthorization: Bearer {}\r\nx-nonce: {}\r\n\r\n",
            target.access_token,
            nonce()
        );
        socket.write_all(head.as_bytes())?;
        open.push(socket);
        // It comes behind the others in the queue of the store, which has a bound.
        caller.get_json("/v1/balance")?;
    }
    anyhow::ensure!(open.len() == args.waiting, "{} partners are too few", partners.len());
    for socket in &mut open {
        socket.set_nonblocking(true)?;
        let answered = socket.peek(&mut [0]).is_ok();
        anyhow::ensure!(!answered, "a request did not wait");
    }
    Ok(open)
}

/// A webhook of the partner, and when its deliveries arrive.
fn receiver(partner: &Target, service: SocketAddr) -> anyhow::Result<Receiver<Instant>> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    create(partner, service, listener.local_addr()?)?;
    let (sender, arrived) = mpsc::channel();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let mut request = [0; 16 * 1024];
            // A delivery is short, and its head and body come together or one just after the other.
            let Ok(_) = stream.read(&mut request) else { continue };
            if sender.send(Instant::now()).is_err() {
                return;
            }
            let _ = stream.write_all(b"HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n");
        }
    });
    Ok(arrived)
}

fn create(partner: &Target, service: SocketAddr, endpoint: SocketAddr) -> anyhow::Result<()> {
    let mut caller = Caller::connect(service, partner)?;
    let webhook =
        json!({"url": format!("http://{endpoint}/"), "types": ["employee.created"], "sealed": false});
    let call = caller.sealed_post("/v1/webhooks", &webhook);
    caller.send(&call, 201).map(drop)
}

/// Adds employees, one after the delivery of the other, and takes the time from each response to its delivery.
fn deliveries(
    caller: &mut Caller,
    arrived: &Receiver<Instant>,
    first: usize,
) -> anyhow::Result<Histogram<u64>> {
    let mut times = histogram()?;
    for number in first..first + DELIVERIES {
        let call = caller.sealed_post("/v1/employee/add", &json!({"customId": format!("W-{number}")}));
        caller.send(&call, 200)?;
        let committed = Instant::now();
        let delivered = arrived.recv_timeout(PATIENCE).context("a delivery did not arrive")?;
        times.record(delivered.saturating_duration_since(committed).as_micros() as u64)?;
    }
    Ok(times)
}

/// A webhook that takes connections and never answers, and its events.
fn dead_endpoint(partner: &Target, args: &Args) -> anyhow::Result<TcpListener> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    create(partner, args.address, listener.local_addr()?)?;
    thread::scope(|scope| {
        let make = |connection: usize| {
            move || -> anyhow::Result<()> {
                let mut caller = Caller::connect(args.address, partner)?;
                for number in (connection..args.queued).step_by(CONNECTIONS) {
                    let call =
                        caller.sealed_post("/v1/employee/add", &json!({"customId": format!("D-{number}")}));
                    caller.send(&call, 200)?;
                }
                Ok(())
            }
        };
        let makers: Vec<_> = (0..CONNECTIONS).map(|connection| scope.spawn(make(connection))).collect();
        for maker in makers {
            maker.join().map_err(|_| anyhow::anyhow!("a thread ended by itself"))??;
        }
        anyhow::Ok(())
    })?;
    Ok(listener)
}
