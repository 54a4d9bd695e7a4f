//! How processes stop, and which signals do not stop them.

use std::io::Write as _;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::process::{Installation, Running};
use crate::raw_http::{RawResponse, connect, get, login_call};

/// No stop lasts longer while no request is under way.
const BOUND: Duration = Duration::from_secs(10);

/// One of the servers that callers have the choice between.
struct Server {
    installation: Installation,
    address: String,
    token: String,
}

impl Server {
    /// With its first process.
    fn start() -> (Self, Running) {
        let installation = Installation::embedded();
        let partner = installation.create_partner(&["--sealing", "optional"]);
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut server = Self { installation, address: format!("127.0.0.1:{port}"), token: String::new() };
        let running = server.process();
        let login = login_call(&partner.api_key, &partner.login, &partner.password);
        server.token = login.send_to(&running.base_url).text_of("accessToken");
        (server, running)
    }

    fn process(&self) -> Running {
        let arguments = ["serve", "--listen", &self.address, "--rate-limit", "0", "--access-ttl", "1h"];
        self.installation.start_command(self.installation.command(&arguments))
    }

    /// A request that keeps its connection.
    fn call(&self) -> Vec<u8> {
        let call = get("/v1/balance").token(&self.token).to_bytes();
        String::from_utf8(call).unwrap().replace("connection: close\r\n", "").into_bytes()
    }
}

/// Calls one server after the other on connections that it keeps as long as it may, and repeats nothing. Counts the
/// answers; returns what became of a request that was not answered.
fn request_without_retries(
    servers: &[Server; 2],
    mut at: usize,
    is_over: &AtomicBool,
    answered: &AtomicUsize,
) -> Option<String> {
    loop {
        let server = &servers[at % 2];
        at += 1;
        let Ok(mut stream) = TcpStream::connect(&server.address) else { continue };
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        loop {
            if is_over.load(Ordering::Relaxed) {
                return None;
            }
            let sent = stream.write_all(&server.call());
            if let Err(error) = sent {
                return Some(format!("not sent: {error}"));
            }
            let Some(got) = RawResponse::try_read(&mut stream) else { return Some("cut off".to_owned()) };
            if got.status != 200 {
                return Some(format!("{got:?}"));
            }
            answered.fetch_add(1, Ordering::Relaxed);
            if got.header("connection") == Some("close") {
                break;
            }
        }
    }
}

/// Restarts two servers in turns while callers are busy.
fn no_call_is_cut_off(restarts: usize) {
    let ((first, mut one), (second, mut other)) = (Server::start(), Server::start());
    let servers = [first, second];
    let (is_over, answered) = (AtomicBool::new(false), AtomicUsize::new(0));
    let lost: Vec<String> = thread::scope(|scope| {
        let (servers, is_over, answered) = (&servers, &is_over, &answered);
        let call = |at| scope.spawn(move || request_without_retries(servers, at, is_over, answered));
        let callers: Vec<_> = (0..8).map(call).collect();
        for restart in 0..restarts {
            let before = answered.load(Ordering::Relaxed);
            let (server, running) =
                if restart % 2 == 0 { (&servers[0], &mut one) } else { (&servers[1], &mut other) };
            running.signal("TERM");
            assert!(running.end(), "{}", server.installation.log());
            *running = server.process();
            while answered.load(Ordering::Relaxed) < before + 100
                && !callers.iter().any(|one| one.is_finished())
            {
                thread::yield_now();
            }
        }
        is_over.store(true, Ordering::Relaxed);
        callers.into_iter().filter_map(|caller| caller.join().unwrap()).collect()
    });
    assert!(lost.is_empty(), "of {answered:?} calls: {lost:?}");
}

#[test]
fn a_rolling_restart_cuts_off_no_call() {
    no_call_is_cut_off(2);
}

#[test]
#[ignore = "takes a minute; the one with two restarts is like it"]
fn twelve_rolling_restarts_cut_off_no_call() {
    no_call_is_cut_off(12);
}

#[test]
fn while_draining_each_response_closes_its_connection() {
    let installation = Installation::new();
    let ports = ["--operations-listen", "127.0.0.1:0", "--drain-pause", "1h"];
    let running = installation.serve(&ports);
    let mut kept = connect(&running.base_url, Ipv4Addr::LOCALHOST);
    let mut ask = || {
        kept.write_all(b"GET /nowhere HTTP/1.1\r\nhost: kopeck\r\n\r\n").unwrap();
        RawResponse::read(&mut kept)
    };
    assert_eq!(ask().header("connection"), None);
    running.signal("TERM");
    let since = Instant::now();
    while running.ask("/health/ready").0 == 200 {
        assert!(since.elapsed() < BOUND, "{}", installation.log());
    }
    let last = ask();
    assert_eq!((last.status, last.header("connection")), (404, Some("close")));
    assert!(RawResponse::try_read(&mut kept).is_none(), "the connection is closed");
    let new = get("/nowhere").send_to(&running.base_url);
    assert_eq!(new.status, 404, "new connections are accepted during the pause");
    let (_, well) = running.stop("TERM");
    assert!(well, "{}", installation.log());
}

#[test]
fn connections_without_a_request_do_not_hold_up_a_stop() {
    let installation = Installation::new();
    let running = installation.serve(&[]);
    let mut idle: Vec<_> = (0..3).map(|_| connect(&running.base_url, Ipv4Addr::LOCALHOST)).collect();
    for stream in &mut idle {
        stream.write_all(b"GET /nowhere HTTP/1.1\r\nhost: kopeck\r\n\r\n").unwrap();
        assert_eq!(RawResponse::read(stream).status, 404);
    }
    let silent = connect(&running.base_url, Ipv4Addr::LOCALHOST);
    let mut half = connect(&running.base_url, Ipv4Addr::LOCALHOST);
    half.write_all(b"GET /nowhere HTTP/1.1\r\nhos").unwrap();
    let since = Instant::now();
    let (_, well) = running.stop("TERM");
    assert!(well && since.elapsed() < BOUND, "{:?}: {}", since.elapsed(), installation.log());
    assert!(!installation.log().contains("ERROR"), "{}", installation.log());
    drop((idle, silent, half));
}

#[test]
fn a_tls_connection_that_says_nothing_does_not_hold_up_a_stop() {
    let installation = Installation::new();
    let files = ["chain.pem", "key.pem"].map(|name| installation.path().join(name));
    crate::tls::write_pair(&files[0], &files[1]);
    let [chain, key] = files.each_ref().map(|file| file.to_str().unwrap());
    let running = installation.serve(&["--tls-cert", chain, "--tls-key", key]);
    let address = running.base_url.strip_prefix("https://").unwrap();
    let silent: Vec<_> = (0..3).map(|_| TcpStream::connect(address).unwrap()).collect();
    let since = Instant::now();
    let (_, well) = running.stop("TERM");
    assert!(well && since.elapsed() < BOUND, "{:?}: {}", since.elapsed(), installation.log());
    drop(silent);
}

#[test]
fn signals_of_log_rotators_and_terminals_stop_no_process() {
    let installation = Installation::on_a_server();
    let bank = installation.bank_simulator("127.0.0.1:0", "secret");
    let bank_url = [&["--bank-url", &bank.base_url][..], &["--bank-secret", "secret"]].concat();
    let serving = installation.serve(&[&bank_url[..], &["--no-workers"]].concat());
    let log = installation.path().join("serve.log");
    let rotated = installation.path().join("serve.log.1");
    std::fs::rename(&log, &rotated).unwrap();
    let working = installation.worker(&bank_url);
    let mut processes = [bank, serving, working];
    for running in &processes {
        for signal in ["HUP", "USR1", "USR2", "HUP"] {
            running.signal(signal);
        }
    }
    let since = Instant::now();
    for log in [&log, &rotated] {
        let said = || std::fs::read_to_string(log).unwrap();
        while !(said().contains("SIGHUP: reading the master keys") && said().contains("SIGUSR1: ignored")) {
            assert!(since.elapsed() < BOUND, "{}", said());
        }
    }
    assert!(processes.iter_mut().all(Running::runs));
    assert_eq!(get("/nowhere").send_to(&processes[1].base_url).status, 404);
    for running in processes {
        assert!(running.stop("TERM").1);
    }
}

#[test]
fn too_few_files_end_a_start_with_a_message() {
    let installation = Installation::new();
    for command in ["serve", "worker"] {
        let plain = installation.command(&[command]);
        let mut limited = Command::new("sh");
        limited.args(["-c", "ulimit -n 32; exec \"$0\" \"$@\""]);
        limited.arg(plain.get_program()).args(plain.get_args());
        let output = limited.output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains("the limit of open files is 32") && said.contains("ulimit -n"), "{said}");
    }
}
