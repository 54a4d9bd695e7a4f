//! Memory of the real process under many clients.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::process::Command;
use std::thread;
use std::time::Duration;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::process::{Installation, Running};
use crate::raw_http::{JSON, RawRequest, get, login_call, post};

const IDLE: usize = 3_000;
/// For each of the three kinds of unfinished requests; 500 in all.
const TOKEN_CALLS: usize = 200;
const BODIES: usize = 200;
const HEADS: usize = 100;

/// The bound of a release build, which holds 130 to 144 MiB here. A debug build holds up to 20 MiB more of the same load,
/// and maps three times as much of its executable, so mapped files are not counted there.
const LIMIT_KIB: u64 = 160 * 1024;

/// This process needs a file for each of its connections too.
fn raise_own_limit() {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }).unwrap();
}

/// `serve`, started with the soft limit of open files that many systems give.
fn start_with_few_files(installation: &Installation) -> Running {
    // The bound is that of the default store; the plain one keeps a stack and pages for each of its threads.
    let plain = installation.command(&["serve", "--listen", "127.0.0.1:0", "--store", "batched"]);
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -S -n 1024; exec \"$0\" \"$@\""]);
    command.arg(plain.get_program()).args(plain.get_args());
    for (name, value) in plain.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    installation.start_command(command)
}

fn connect(address: &str) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    // A server that has refused what it is sent reads no more of it.
    stream.set_write_timeout(Some(Duration::from_secs(5))).unwrap();
    stream
}

/// A connection that has had one response and is kept open.
fn idle(address: &str) -> TcpStream {
    let mut stream = connect(address);
    stream.write_all(b"GET /nowhere HTTP/1.1\r\nhost: kopeck\r\n\r\n").unwrap();
    let mut answer = [0; 1024];
    let read = stream.read(&mut answer).unwrap();
    assert!(answer[..read].starts_with(b"HTTP/1.1 404"));
    stream
}

/// A request with a body of `size` bytes, but for its last byte.
fn unfinished(call: &RawRequest, size: usize) -> Vec<u8> {
    let body = format!("{{\"x\":\"{}\"}}", "x".repeat(size - 8));
    let mut bytes = call.clone().bytes(JSON, body).to_bytes();
    bytes.pop();
    bytes
}

/// Sends `bytes` on so many connections at once, each as far as the server takes them, and keeps the connections open.
fn send_on(address: &str, connections: usize, bytes: &[u8]) -> Vec<TcpStream> {
    thread::scope(|scope| {
        let send = || {
            let mut stream = connect(address);
            // The server does not read a refused request to its end.
            let _ = stream.write_all(bytes);
            stream
        };
        let threads: Vec<_> = (0..connections).map(|_| scope.spawn(send)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

#[test]
fn unfinished_and_idle_connections_leave_memory_and_room_for_others() {
    raise_own_limit();
    let installation = Installation::embedded();
    let partner = installation.create_partner(&["--sealing", "optional"]);
    let running = start_with_few_files(&installation);
    let address = running.base_url.strip_prefix("http://").unwrap();
    let login = || login_call(&partner.api_key, &partner.login, &partner.password).send_to(&running.base_url);
    let token = login().text_of("accessToken");

    let idle: Vec<TcpStream> = (0..IDLE).map(|_| idle(address)).collect();
    let call = post("/v1/get_access_token", &serde_json::json!({})).with("x-api-key", "ak_wrong");
    let token_calls = send_on(address, TOKEN_CALLS, &unfinished(&call, 8 * 1024));
    let call = RawRequest::new("POST", "/v1/category").token(&token);
    let bodies = send_on(address, BODIES, &unfinished(&call, 2 * 1024 * 1024));
    let head = format!("GET /v1/balance HTTP/1.1\r\nhost: kopeck\r\nx-long: {}", "x".repeat(131_072));
    let heads = send_on(address, HEADS, &head.as_bytes()[..131_071]);

    for _ in 0..20 {
        assert_eq!(get("/v1/balance").token(&token).send_to(&running.base_url).status, 200);
    }
    assert_eq!(login().status, 200, "token calls have a part of the memory for themselves");
    drop((idle, token_calls, bodies, heads));
    let from_files = if cfg!(debug_assertions) { running.memory_kib("RssFile:") } else { 0 };
    let peak = running.memory_kib("VmHWM:") - from_files;
    assert!(peak < LIMIT_KIB, "{peak} KiB");
}
