//! Connections: how many a network may have, and what becomes of requests whose client is gone.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use kopeck_adapter_http::HttpSettings;
use socket2::{Domain, Socket, Type};

use crate::process::Installation;
use crate::raw_http::{RawResponse, connect, get, optional};
use crate::server::TestServer;

/// A connection that has had one response and is kept open; `None` if it is refused, which may show at any step.
fn open(base_url: &str, from: [u8; 4]) -> Option<TcpStream> {
    let address: SocketAddr = base_url.strip_prefix("http://").unwrap().parse().unwrap();
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
    socket.bind(&SocketAddr::from((from, 0)).into()).unwrap();
    socket.connect(&address.into()).ok()?;
    let mut stream = TcpStream::from(socket);
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    stream.write_all(b"GET /nowhere HTTP/1.1\r\nhost: kopeck\r\n\r\n").ok()?;
    RawResponse::try_read(&mut stream).map(|got| {
        assert_eq!(got.status, 404);
        stream
    })
}

/// [`open`], once connections that were closed have ended.
fn open_soon(base_url: &str, from: [u8; 4]) -> TcpStream {
    loop {
        if let Some(stream) = open(base_url, from) {
            return stream;
        }
    }
}

#[test]
fn a_network_has_an_eighth_of_the_connections() {
    let trusted_proxies = "127.0.0.3".parse().unwrap();
    let settings =
        HttpSettings { workers: 1, max_connections: 32, trusted_proxies, ..HttpSettings::default() };
    let server = TestServer::start_with(false, settings.clone());
    let [one, other, proxy] = [[127, 0, 0, 1], [127, 0, 0, 2], [127, 0, 0, 3]];
    let mut of_one: Vec<_> = (0..4).map(|_| open(&server.base_url, one).expect("its share")).collect();
    for _ in 0..3 {
        assert!(open(&server.base_url, one).is_none(), "more than its share");
    }
    let of_proxy: Vec<_> = (0..10).filter_map(|_| open(&server.base_url, proxy)).collect();
    assert_eq!(of_proxy.len(), 10, "a proxy carries the requests of many");
    assert!(open(&server.base_url, other).is_some());
    of_one.pop();
    of_one.push(open_soon(&server.base_url, one));

    // The programs of a developer are all on one machine.
    let sandbox = TestServer::start_with(true, settings);
    let of_one: Vec<_> = (0..10).filter_map(|_| open(&sandbox.base_url, one)).collect();
    assert_eq!(of_one.len(), 10);
}

#[test]
fn refused_connections_are_counted() {
    let installation = Installation::new();
    let mut command = installation.command(&["serve", "--listen", "127.0.0.1:0", "--sandbox", "false"]);
    command.args(["--operations-listen", "127.0.0.1:0", "--max-connections", "16"]);
    let running = installation.start_command(command);
    let counted = |count: u32| {
        let line = format!("kopeck_refused_connections_total {count}");
        running.ask("/metrics").1.lines().any(|other| other == line)
    };
    assert!(counted(0));
    let share: Vec<_> = (0..2).map(|_| open(&running.base_url, [127, 0, 0, 1]).unwrap()).collect();
    assert!(open(&running.base_url, [127, 0, 0, 1]).is_none());
    assert!(counted(1));
    drop(share);
}

/// How a client ends a connection.
#[derive(Debug, Clone, Copy, PartialEq)]
enum End {
    Close,
    Reset,
}

/// How many more send such a request than may wait.
const REFUSED: usize = 3;

/// Within a second and what a busy machine adds, of the thirty that the requests would wait.
#[test]
fn a_client_that_is_gone_frees_its_place_among_those_who_wait() {
    let server = TestServer::start();
    let (_, token) = optional(&server);
    let wait = |seconds: u32| get(&format!("/v1/events?after=1&wait={seconds}")).token(&token);
    for end in [End::Close, End::Reset] {
        let waiting: Vec<TcpStream> = (0..100 + REFUSED)
            .map(|_| {
                let mut stream = connect(&server.base_url, Ipv4Addr::LOCALHOST);
                stream.write_all(&wait(30).to_bytes()).unwrap();
                stream.set_nonblocking(true).unwrap();
                stream
            })
            .collect();
        let is_answered = |stream: &&TcpStream| stream.peek(&mut [0]).is_ok();
        while waiting.iter().filter(is_answered).count() < REFUSED {
            std::thread::yield_now();
        }
        if end == End::Reset {
            for stream in &waiting {
                socket2::SockRef::from(stream).set_linger(Some(Duration::ZERO)).unwrap();
            }
        }
        let since = Instant::now();
        drop(waiting);
        while wait(1).send(&server).status != 200 {}
        assert!(since.elapsed() < Duration::from_secs(15), "{end:?}: {:?}", since.elapsed());
    }
}

/// A client that closes its sending side on purpose gets what is there within a second.
#[test]
fn a_half_closed_connection_is_answered_but_does_not_wait() {
    let server = TestServer::start();
    let (_, token) = optional(&server);
    let ask = |bytes: &[u8]| {
        let mut stream = connect(&server.base_url, Ipv4Addr::LOCALHOST);
        stream.write_all(bytes).unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        text
    };
    let keep = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap().replace("connection: close\r\n", "");
    let balance = keep(get("/v1/balance").token(&token).to_bytes());
    let answers = ask(balance.repeat(3).as_bytes());
    assert_eq!(answers.matches("HTTP/1.1 200").count(), 3, "{answers}");
    let since = Instant::now();
    let waiting = keep(get("/v1/events?after=1&wait=30").token(&token).to_bytes());
    let answer = ask(waiting.as_bytes());
    assert!(answer.starts_with("HTTP/1.1 408") && answer.contains("connection: close"), "{answer}");
    assert!(since.elapsed() < Duration::from_secs(15), "{:?}", since.elapsed());
}

/// Connections beyond the limit of open files are not accepted; the operations port responds meanwhile.
#[test]
fn connections_leave_files_for_the_operations_port() {
    let processors = std::thread::available_parallelism().unwrap().get();
    let limit = 40 + 8 * processors + 8;
    let installation = Installation::new();
    let plain =
        installation.command(&["serve", "--listen", "127.0.0.1:0", "--operations-listen", "127.0.0.1:0"]);
    let mut limited = std::process::Command::new("sh");
    limited.args(["-c", &format!("ulimit -n {limit}; exec \"$0\" \"$@\"")]);
    limited.arg(plain.get_program()).args(plain.get_args());
    for (name, value) in plain.get_envs() {
        match value {
            Some(value) => limited.env(name, value),
            None => limited.env_remove(name),
        };
    }
    let running = installation.start_command(limited);
    let log = installation.log();
    let lines: Vec<&str> =
        log.lines().filter(|line| line.contains("too low for KOPECK_MAX_CONNECTIONS")).collect();
    assert_eq!(lines.len(), 1, "{log}");
    assert!(lines[0].contains("connections=4") && lines[0].contains(&format!("limit={limit}")), "{log}");
    // The kernel keeps those that are not accepted.
    let address = running.base_url.strip_prefix("http://").unwrap();
    let connections: Vec<TcpStream> = (0..300).map(|_| TcpStream::connect(address).unwrap()).collect();
    for mut stream in &connections {
        stream.write_all(b"GET /nowhere HTTP/1.1\r\nhost: kopeck\r\n\r\n").unwrap();
    }
    // The first are served, so that as many are accepted as ever will be.
    let mut first = connections[0].try_clone().unwrap();
    first.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    assert_eq!(RawResponse::read(&mut first).status, 404);
    for _ in 0..20 {
        assert_eq!(running.ask("/health/live").0, 200);
        assert_eq!(running.ask("/health/ready").0, 200);
    }
    drop((first, connections));
    assert_eq!(get("/nowhere").send_to(&running.base_url).status, 404);
}
