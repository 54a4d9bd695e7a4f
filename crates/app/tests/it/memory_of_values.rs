//! Memory of the real process for the values of many bodies: nothing beside their text.

use std::fmt::Write as _;
use std::io::Write as _;
use std::net::TcpStream;
use std::thread;
use std::time::Duration;

use serde_json::json;

use crate::api_client::UNKNOWN_ID;
use crate::process::{Installation, Running};
use crate::raw_http::{JSON, RawRequest, RawResponse, fresh_nonce, get, login_call, post};
use crate::world::token_operations;

/// Bodies at once.
const AT_ONCE: usize = 100;
const BODY: usize = 2 * 1024 * 1024;

const PATIENCE: Duration = Duration::from_secs(120);

/// A tree of the values of one such body would have 174 MiB, and the budget lets 24 of them in at once. A build without
/// optimization on a busy machine keeps more freed memory than a release.
const LIMIT_KIB: u64 = if cfg!(debug_assertions) { 400 } else { 160 } * 1024;

/// Texts of JSON of almost the greatest length, each of a kind that takes much memory as a tree, is deep, or is long.
fn shapes() -> Vec<String> {
    let size = BODY - 1_000;
    let repeated = |item: &str| format!("[{}null]", item.repeat(size / item.len()));
    let mut names = String::from("{");
    for number in 0..size / 14 {
        write!(names, "\"{:07}\":[],", size - number).unwrap();
    }
    names.push_str("\"\":0}");
    let deep = format!("{}{}", "[".repeat(100), "]".repeat(100));
    let string = format!("\"{}\"", "\\u0401".repeat(size / 6 - 1));
    vec![repeated("{\"a\":0},"), repeated("0,"), repeated(&format!("{deep},")), string, names]
}

/// A call with a shape among the text of its body.
struct Shaped {
    method: &'static str,
    path: String,
    before: String,
    after: &'static str,
}

/// For each operation that changes something: the shape in a field that the operation does not name, in one that it does,
/// and in an item of a list.
fn all_calls() -> Vec<Shaped> {
    let mut all = Vec::new();
    for operation in token_operations().filter(|operation| operation.changes) {
        let path = operation
            .placeholders()
            .fold(operation.path.to_owned(), |path, name| path.replace(&format!("{{{name}}}"), UNKNOWN_ID));
        let mut add = |before: String, after| {
            all.push(Shaped { method: operation.method, path: path.clone(), before, after });
        };
        add("{\"x\":".to_owned(), "}");
        for name in operation.fields() {
            add(format!("{{\"{name}\":"), "}");
        }
        for list in operation.fields().filter(|name| ["cards", "data"].contains(name)) {
            add(format!("{{\"{list}\":[{{\"idCard\":"), "}]}");
            add(format!("{{\"{list}\":[{{\"x\":"), "}]}");
        }
    }
    all
}

impl Shaped {
    /// Sends the call with this shape; 0 if there is no response.
    fn send(&self, running: &Running, token: &str, shape: &str) -> u16 {
        let address = running.base_url.strip_prefix("http://").unwrap();
        let mut stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_write_timeout(Some(PATIENCE)).unwrap();
        let length = self.before.len() + shape.len() + self.after.len();
        let head = RawRequest::new(self.method, &self.path).token(token).with("content-type", JSON);
        let head = head.with("content-length", length.to_string()).to_bytes();
        let parts = [head.as_slice(), self.before.as_bytes(), shape.as_bytes(), self.after.as_bytes()];
        // The server does not read a refused body to its end.
        let _ = parts.iter().try_for_each(|part| stream.write_all(part));
        RawResponse::try_read(&mut stream).map_or(0, |got| got.status)
    }
}

/// Runs a hundred of them at once, by number.
fn at_once(send: impl Fn(usize) -> u16 + Sync) -> Vec<u16> {
    thread::scope(|scope| {
        let send = &send;
        let threads: Vec<_> = (0..AT_ONCE).map(|number| scope.spawn(move || send(number))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

/// The real process with two partners.
struct Server {
    running: Running,
    tokens: [String; 2],
    _installation: Installation,
}

impl Server {
    fn start() -> Self {
        let installation = Installation::embedded();
        let partners = [(); 2].map(|()| installation.create_partner(&["--sealing", "optional"]));
        let running = installation.serve(&["--rate-limit", "0"]);
        let tokens = partners.map(|partner| {
            let login = login_call(&partner.api_key, &partner.login, &partner.password);
            login.send_to(&running.base_url).text_of("accessToken")
        });
        Self { running, tokens, _installation: installation }
    }

    /// Sends a hundred calls with this shape at once.
    fn flood<'c>(&self, shape: &str, call: impl Fn(usize) -> &'c Shaped + Sync) {
        let token = |number| &self.tokens[number % self.tokens.len()];
        let statuses = at_once(|number| call(number).send(&self.running, token(number), shape));
        assert!(statuses.iter().any(|status| ![0, 413, 503].contains(status)), "{statuses:?}");
        assert!(!statuses.contains(&500), "{statuses:?}");
    }

    /// Sends a hundred calls that wait for two seconds, with one of the bodies each.
    fn flood_of_waiting(&self) {
        let running = &self.running;
        let slow = post("/sandbox/v1/bank", &json!({"latencyMs": 2_000})).token(&self.tokens[0]);
        slow.send_to(&running.base_url).ok(200);
        let before = "{\"amount\":1,\"x\":".to_owned();
        let deposit =
            Shaped { method: "POST", path: "/sandbox/v1/balance/deposit".to_owned(), before, after: "}" };
        self.flood(&shapes()[0], |_| &deposit);
        let waits = json!({"after": 0, "wait": 2, "types": "order.status", "x": [[{"a": 0}]]});
        let wait = get("/v1/events").token(&self.tokens[0]).json(&waits);
        let statuses = at_once(|_| wait.clone().nonce(&fresh_nonce()).send_to(&running.base_url).status);
        assert!(statuses.iter().all(|status| *status == 200), "{statuses:?}");
        let large = get("/v1/events").token(&self.tokens[0]).bytes(JSON, &shapes()[0]);
        assert_eq!(large.send_to(&running.base_url).status, 413, "a read has parameters alone");
    }

    fn assert_memory(&self) {
        let from_files = if cfg!(debug_assertions) { self.running.memory_kib("RssFile:") } else { 0 };
        let peak = self.running.memory_kib("VmHWM:") - from_files;
        assert!(peak < LIMIT_KIB, "{peak} KiB");
    }
}

#[test]
fn a_hundred_large_bodies_take_no_more_than_their_text() {
    let (server, calls) = (Server::start(), all_calls());
    for (turn, shape) in shapes().iter().enumerate() {
        server.flood(shape, |number| &calls[(turn * AT_ONCE + number) % calls.len()]);
    }
    server.flood_of_waiting();
    server.assert_memory();
}

#[test]
#[ignore = "takes many minutes; the one above takes each kind of body and each call once"]
fn a_hundred_large_bodies_of_one_kind_take_no_more_than_their_text() {
    let server = Server::start();
    for shape in shapes() {
        for call in all_calls() {
            server.flood(&shape, |_| &call);
        }
        server.assert_memory();
    }
    server.flood_of_waiting();
    server.assert_memory();
}
