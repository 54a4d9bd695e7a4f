//! The time of the worst request of 64 KiB that each parser of the service takes.
//!
//! A parser whose time grows with the square of its input lets any client stop the threads that serve. Each request is
//! made to cost its parser the most, is refused before anything is changed, and is timed from its first byte to the end of
//! its response.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Instant;

use anyhow::Context as _;
use kopeck_sealing::{Clear, RequestContext, Slot, seal_request};

use crate::caller::{Caller, nonce};
use crate::machine;
use crate::record::Label;
use crate::targets::Targets;

/// The most bytes of a request.
const BYTES: usize = 64 * 1024;
/// What the rest of a request may take, such as its token.
const REST: usize = 2 * 1024;
/// How often each request is sent; the median counts.
const TIMES: usize = 51;
/// A list that is taken has so many items at most.
const ITEMS: usize = 10_000;
/// A body has so many fields at most, and so many of them may be sealed.
const FIELDS: usize = 100;
const SEALED_FIELDS: usize = 32;

/// What to measure.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    label: Label,
    /// The server.
    #[arg(long)]
    address: SocketAddr,
    /// The file that `seed` made.
    #[arg(long)]
    targets: PathBuf,
}

/// A request for one parser.
struct Request {
    parser: &'static str,
    bytes: Vec<u8>,
    status: u16,
}

/// Measures each parser, and prints the times and the longest of them.
pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let targets = Targets::read(&args.targets)?;
    let target = targets.partners.first().context("no partner")?;
    let mut caller = Caller::connect(args.address, target)?;
    let mut figures = BTreeMap::new();
    for request in requests(&caller) {
        let ms = median(&mut caller, &request).with_context(|| format!("parser {}", request.parser))?;
        figures.insert(format!("{}_ms", request.parser), ms);
    }
    let worst = figures.values().copied().fold(0.0, f64::max);
    figures.insert("worst_ms".to_owned(), worst);
    args.label.record(figures).print()
}

fn median(caller: &mut Caller, request: &Request) -> anyhow::Result<f64> {
    let mut times = Vec::with_capacity(TIMES);
    for _ in 0..TIMES {
        let begun = Instant::now();
        let status = caller.send_raw(&request.bytes)?;
        times.push(begun.elapsed().as_secs_f64() * 1_000.0);
        anyhow::ensure!(status == request.status, "answered {status}, not {}", request.status);
    }
    times.sort_by(f64::total_cmp);
    times.get(TIMES / 2).copied().context("nothing was measured")
}

/// The worst request of each parser.
fn requests(caller: &Caller) -> Vec<Request> {
    let get = |parser, target: &str, header: &str, status| {
        let bytes = caller.render("GET", target, header, &nonce(), b"");
        Request { parser, bytes, status }
    };
    let post = |parser, path: &str, body: &str| {
        let bytes =
            caller.render("POST", path, "content-type: application/json\r\n", &nonce(), body.as_bytes());
        Request { parser, bytes, status: 422 }
    };
    vec![
        get("path", &filled("/v1/card", "/s1.%41"), "", 404),
        get("query", &filled("/v1/employees?", "p%61=1&"), "", 414),
        get("headers", "/v1/card/x", &headers(), 422),
        get("accept", "/v1/card/x", &(filled("accept: a", ",a;q=0") + "\r\n"), 422),
        get("request_id", "/v1/card/x", &(filled("x-request-id: a", "a") + "\r\n"), 422),
        post("names", "/v1/category", &names()),
        post("nested_names", "/v1/category", &nested_names()),
        post("objects", "/v1/category", &closed("{\"x\":[{}", ",{}", "]}")),
        post("depth", "/v1/category", &closed("{\"x\":", "[", "1]}")),
        post("digits", "/v1/category", &closed("{\"x\":1", "7", "}")),
        post("escapes", "/v1/category", &closed("{\"nameCategory\":\"", "\\u0451", "\"}")),
        post("faults", "/v1/replenishment", &faults()),
        sealed_fields(caller),
    ]
}

/// `start`, and `piece` as often as it fits.
fn filled(start: &str, piece: &str) -> String {
    let times = (BYTES - REST - start.len()) / piece.len();
    format!("{start}{}", piece.repeat(times))
}

fn closed(start: &str, piece: &str, end: &str) -> String {
    filled(start, piece) + end
}

/// As many headers as a head may have.
fn headers() -> String {
    let value = "v".repeat((BYTES - REST) / 90 - 10);
    let mut headers = String::new();
    for number in 0..90 {
        // Writing to a text does not fail.
        let _ = write!(headers, "x-{number:03}: {value}\r\n");
    }
    headers
}

/// As many fields as a body may have, whose names differ at their ends only.
fn names() -> String {
    let long = "n".repeat((BYTES - REST) / FIELDS - 10);
    let fields: Vec<String> = (0..FIELDS).map(|number| format!("\"{long}{number:03}\":1")).collect();
    format!("{{{}}}", fields.join(","))
}

/// An object of many names within the body.
fn nested_names() -> String {
    let fields: Vec<String> = (0..(BYTES - REST) / 10).map(|number| format!("\"{number:05}\":1")).collect();
    format!("{{\"x\":{{{}}}}}", fields.join(","))
}

/// As many faulty items as a list may have, each with two faults.
fn faults() -> String {
    let items = vec!["{}"; ITEMS].join(",");
    closed(&format!("{{\"cards\":[{items}],\"x\":\""), "x", "\"}")
}

/// As many sealed fields as a body may have, each bound to a long clear one.
fn sealed_fields(caller: &Caller) -> Request {
    let (path, nonce) = ("/v1/category", nonce());
    let clear_text = "x".repeat(BYTES - REST - SEALED_FIELDS * 140);
    let mut clear = Clear::new();
    clear.add(Slot::Field("clear"), clear_text.as_str());
    let mut body = format!("{{\"clear\":\"{clear_text}\"");
    for number in 0..SEALED_FIELDS {
        let name = format!("x{number:02}");
        let slot = Slot::Field(&name);
        let context = RequestContext { method: "POST", path, nonce: &nonce, slot, clear: &clear };
        let sealed =
            seal_request(caller.key(), &context, machine::unix_seconds(), machine::random(), b"sealed");
        // Writing to a text does not fail.
        let _ = write!(body, ",\"{name}\":\"{sealed}\"");
    }
    body.push('}');
    let bytes = caller.render("POST", path, "content-type: application/json\r\n", &nonce, body.as_bytes());
    Request { parser: "sealed_fields", bytes, status: 422 }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use kopeck_sealing::{KeyId, SealingKey};

    use super::*;
    use crate::targets::Target;

    #[test]
    fn every_request_has_nearly_64_kib_and_no_more() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let key = SealingKey::new(KeyId::from_bytes([1; 8]), [2; 32]);
        let target = Target::new(1, "t".repeat(700), &key);
        let caller = Caller::connect(listener.local_addr().unwrap(), &target).unwrap();
        for Request { parser, bytes, .. } in requests(&caller) {
            assert!((BYTES - 2 * REST..=BYTES).contains(&bytes.len()), "{parser}: {}", bytes.len());
        }
    }
}
