//! Memory of the real process for pipelined requests of unauthenticated clients.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use rustls::{ClientConfig, ClientConnection, StreamOwned};

use crate::process::{Installation, Running};
use crate::raw_http::fresh_nonce;
use crate::tls::{client_config, write_pair};

const CONNECTIONS: usize = 100;

/// More than the dispatcher reads at once.
const SENT: usize = 160 * 1024;

/// The bound for all connections together: a thirtieth of what they took when the dispatcher parsed its whole buffer.
const LIMIT_KIB: u64 = 64 * 1024;

/// The bytes sent on each connection, by name.
fn floods() -> Vec<(&'static str, Vec<u8>)> {
    let head = |line: &str, headers: &str| format!("{line} HTTP/1.1\r\nhost: x\r\n{headers}\r\n");
    let many: String = (0..95).map(|number| format!("x-{number}: 1\r\n")).collect();
    let coded = head("POST /nowhere", "transfer-encoding: chunked\r\n");
    let login = format!(
        "x-api-key: ak_wrong\r\nx-nonce: {}\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n",
        fresh_nonce()
    );
    let repeated = |request: &str| request.repeat(SENT / request.len() + 1);
    let floods = [
        ("short requests", repeated(&head("GET /x", ""))),
        ("heads of 96 headers", repeated(&head("GET /x", &many))),
        ("documents that are not read", repeated(&head("GET /openapi.json", ""))),
        ("redirects", repeated(&head("GET /", ""))),
        ("responses without a body", repeated(&head("HEAD /docs", ""))),
        ("empty chunked bodies", repeated(&format!("{coded}0\r\n\r\n"))),
        ("chunk extensions", coded.clone() + "1;" + &"e".repeat(SENT) + "\r\nx\r\n0\r\n\r\n" + &coded),
        ("extensions of many chunks", coded.clone() + &"1;e=x\r\nx\r\n".repeat(SENT / 10)),
        ("trailers", coded + "0\r\n" + &"t: x\r\n".repeat(SENT / 6) + "\r\n"),
        (
            "a body in chunks of a byte",
            head("POST /v1/get_access_token", &login) + &"1\r\nx\r\n".repeat(8_000),
        ),
    ];
    floods.map(|(name, text)| (name, text.into_bytes())).into()
}

/// Opens a connection, sends as much as the server takes, and waits for the first byte of a response: by then it has
/// parsed what it parses at once.
fn flood<S: Read + Write>(connect: &(dyn Fn() -> S + Sync), bytes: &[u8]) -> S {
    let mut stream = connect();
    // The rest of what is not taken is not sent.
    let _ = stream.write_all(bytes);
    stream.read_exact(&mut [0]).unwrap();
    stream
}

fn resident_kib(running: &Running, figure: &str) -> u64 {
    // A debug build maps much of its executable.
    running.memory_kib(figure) - running.memory_kib("RssFile:")
}

fn stays_flat<S: Read + Write + Send>(running: &Running, connect: &(dyn Fn() -> S + Sync)) {
    drop(flood(connect, b"GET /openapi.json HTTP/1.1\r\nhost: x\r\n\r\n"));
    let idle = resident_kib(running, "VmRSS:");
    for (name, bytes) in floods() {
        let connections: Vec<S> = thread::scope(|scope| {
            let threads: Vec<_> = (0..CONNECTIONS).map(|_| scope.spawn(|| flood(connect, &bytes))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let peak = resident_kib(running, "VmHWM:");
        assert!(peak < idle + LIMIT_KIB, "{name}: {idle} KiB, then {peak} KiB");
        drop(connections);
    }
}

fn socket(address: &str) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_write_timeout(Some(Duration::from_secs(1))).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    stream
}

#[test]
fn pipelined_requests_take_no_memory() {
    let installation = Installation::embedded();
    let running = installation.serve(&["--store", "batched"]);
    let address = running.base_url.strip_prefix("http://").unwrap();
    stays_flat(&running, &|| socket(address));
}

#[test]
fn pipelined_requests_over_tls_take_no_memory() {
    let installation = Installation::embedded();
    let [chain, key] = ["chain.pem", "key.pem"].map(|name| installation.path().join(name));
    write_pair(&chain, &key);
    let [chain_text, key_text] = [&chain, &key].map(|path| path.to_str().unwrap());
    let running =
        installation.serve(&["--store", "batched", "--tls-cert", chain_text, "--tls-key", key_text]);
    let config: Arc<ClientConfig> = client_config(&chain, &["http/1.1"]).into();
    let address = running.base_url.strip_prefix("https://").unwrap();
    stays_flat(&running, &|| {
        let client = ClientConnection::new(Arc::clone(&config), "127.0.0.1".try_into().unwrap()).unwrap();
        StreamOwned::new(client, socket(address))
    });
}
