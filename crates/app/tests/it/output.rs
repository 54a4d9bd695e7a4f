//! A process whose output has no reader.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::process::{Installation, ask};

/// The timeout of every wait; each takes much less.
const LONG: Duration = Duration::from_secs(60);

/// Requests in one burst; each is a line of the log.
const BURST: usize = 100;

/// A port that was free a moment ago.
fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// Sends bursts of requests on one connection until `is_enough` says so, and expects an answer to each.
fn call_until(address: &str, mut is_enough: impl FnMut() -> bool) {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(LONG)).unwrap();
    let since = Instant::now();
    let id = "x".repeat(64);
    while !is_enough() {
        assert!(since.elapsed() < LONG, "it goes on for too long");
        let head = format!("GET /nowhere HTTP/1.1\r\nhost: kopeck\r\nx-request-id: {id}\r\n\r\n");
        stream.write_all(head.repeat(BURST).as_bytes()).unwrap();
        let (mut answered, mut last) = (0, Vec::new());
        while answered < BURST {
            let mut bytes = [0; 16_384];
            let read = stream.read(&mut bytes).expect("an answer");
            assert_ne!(read, 0, "the server hung up");
            last.extend_from_slice(&bytes[..read]);
            let text = String::from_utf8_lossy(&last);
            answered += text.matches("HTTP/1.1 404").count();
            // A response may have come in two parts.
            last = text.rsplit_once("HTTP/1.1 404").map_or_else(|| last.clone(), |(_, tail)| tail.into());
        }
    }
}

fn dropped_lines(operations: &str) -> u64 {
    let (_, text) = ask(operations, "/metrics");
    let line = text.lines().find_map(|line| line.strip_prefix("kopeck_log_lines_dropped_total "));
    line.expect("the counter is shown from the start").parse().unwrap()
}

#[test]
fn a_log_without_a_reader_blocks_no_request() {
    let installation = Installation::embedded();
    let (mut reader, writer) = std::io::pipe().unwrap();
    let mut command =
        installation.command(&["serve", "--listen", "127.0.0.1:0", "--operations-listen", "127.0.0.1:0"]);
    command.stderr(Stdio::from(OwnedFd::from(writer)));
    let running = installation.start_with_log(command);
    let address = running.base_url.strip_prefix("http://").unwrap();
    assert_eq!(dropped_lines(&running.operations), 0);
    call_until(address, || dropped_lines(&running.operations) > 0);

    let drained = std::thread::spawn(move || {
        let mut log = String::new();
        reader.read_to_string(&mut log).unwrap();
        log
    });
    let (_, well) = running.stop("TERM");
    let log = drained.join().unwrap();
    assert!(well, "{log}");
    let told = log
        .lines()
        .position(|line| line.contains(" log lines dropped lines="))
        .expect("dropped lines are logged");
    assert!(log.lines().skip(told).any(|line| line.ends_with("stopped")), "the log goes on to the end");
    assert!(log.lines().all(|line| line.starts_with("20")), "every line is whole");
}

#[test]
fn a_log_without_a_reader_does_not_delay_the_shutdown() {
    let installation = Installation::embedded();
    let (reader, mut writer) = std::io::pipe().unwrap();
    // A full pipe from the start on.
    rustix::io::ioctl_fionbio(&writer, true).unwrap();
    while writer.write(&[b'x'; 4096]).is_ok() {}
    rustix::io::ioctl_fionbio(&writer, false).unwrap();
    let mut command = installation.command(&["serve", "--listen", "127.0.0.1:0"]);
    command.stderr(Stdio::from(OwnedFd::from(writer)));
    let (_, well) = installation.start_with_log(command).stop("TERM");
    assert!(well);
    drop(reader);
}

#[test]
fn a_start_does_not_depend_on_its_output() {
    let full = || Stdio::from(File::options().write(true).open("/dev/full").unwrap());
    let broken = || Stdio::from(OwnedFd::from(std::io::pipe().unwrap().1));
    for output in [full, broken] {
        let installation = Installation::embedded();
        let address = format!("127.0.0.1:{}", free_port());
        let mut command = installation.command(&["serve", "--listen", &address]);
        let mut child = command.stdout(output()).stderr(output()).spawn().unwrap();
        let since = Instant::now();
        while TcpStream::connect(&address).is_err() {
            assert!(since.elapsed() < LONG && child.try_wait().unwrap().is_none(), "it does not serve");
            std::thread::sleep(Duration::from_millis(10));
        }
        assert_eq!(ask(&format!("http://{address}"), "/nowhere").0, 404);
        let told = Command::new("kill").args(["-s", "TERM", &child.id().to_string()]).status().unwrap();
        assert!(told.success() && child.wait().unwrap().success());
    }
}
