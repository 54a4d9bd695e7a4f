//! Sends chain heads of the audit log out of the database: to the process log, and to a file or syslog by setting.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use kopeck_audit::Head;
use kopeck_port_store::HeadObserver;
use kopeck_port_system::Clock;
use rustix::system::uname;
use time::{Duration, OffsetDateTime};

use crate::logging::Timestamp;

/// How often changed heads are sent.
const EVERY: Duration = Duration::MINUTE;

/// The socket of the system's log: syslogd, or the journal.
const SYSLOG: &str = "/dev/log";

/// Facility 13, "log audit", and severity 6, "informational", as RFC 5424 counts them.
const PRIORITY: u8 = 13 * 8 + 6;

/// The target of heads beside the process log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HeadDestination {
    /// Appended to this file: `TIME CHAIN:NUMBER:HASH`, one a line.
    File(PathBuf),
    /// To the syslog socket with this path, in the form of RFC 5424.
    Syslog(PathBuf),
}

impl FromStr for HeadDestination {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let path = |path: &str| (!path.is_empty()).then(|| PathBuf::from(path));
        let found = match text.split_once(':') {
            Some(("file", file)) => path(file).map(Self::File),
            Some(("syslog", socket)) => path(socket).map(Self::Syslog),
            None if text == "syslog" => Some(Self::Syslog(SYSLOG.into())),
            _ => None,
        };
        found.ok_or("must be file:PATH, syslog, or syslog:PATH of a socket")
    }
}

impl HeadDestination {
    fn send<'a>(&self, now: OffsetDateTime, mut heads: impl Iterator<Item = &'a Head>) -> io::Result<()> {
        match self {
            Self::File(path) => append(path, now, heads),
            Self::Syslog(socket) => {
                let sender = UnixDatagram::unbound()?;
                let host = printable(&uname().nodename().to_string_lossy());
                let process = std::process::id();
                heads.try_for_each(|head| {
                    let time = Timestamp(now);
                    let line = format!("<{PRIORITY}>1 {time} {host} kopeck {process} audit-head - {head}");
                    sender.send_to(line.as_bytes(), socket).map(drop)
                })
            }
        }
    }
}

/// Opens the file each time, so that log rotation may move it.
fn append<'a>(path: &Path, now: OffsetDateTime, heads: impl Iterator<Item = &'a Head>) -> io::Result<()> {
    let mut lines = String::new();
    for head in heads {
        // Writing to a String cannot fail.
        let _ = writeln!(lines, "{} {head}", Timestamp(now));
    }
    let mut file = OpenOptions::new().create(true).append(true).mode(0o640).open(path)?;
    file.write_all(lines.as_bytes())?;
    file.sync_data()
}

/// A host name as syslog takes it.
fn printable(host: &str) -> String {
    let host: String = host.chars().filter(char::is_ascii_graphic).take(255).collect();
    if host.is_empty() { "-".to_owned() } else { host }
}

/// Collects the heads of chains and sends those that have changed once a minute, and at the end.
pub struct HeadForwarder {
    clock: Arc<dyn Clock>,
    destination: Option<HeadDestination>,
    level: log::Level,
    sent: Box<dyn Fn(bool) + Send + Sync>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The latest head of each chain that was not sent.
    changed: BTreeMap<u64, Head>,
    sent_at: Option<OffsetDateTime>,
}

impl HeadForwarder {
    /// Sends to the process log at `level`, and to `destination`. `clock`: the machine's own time. `sent` gets whether each
    /// attempt succeeded.
    #[must_use]
    pub fn new(
        clock: Arc<dyn Clock>,
        destination: Option<HeadDestination>,
        level: log::Level,
        sent: impl Fn(bool) + Send + Sync + 'static,
    ) -> Self {
        Self { clock, destination, level, sent: Box::new(sent), state: Mutex::default() }
    }

    /// Sends what has changed, if it is time. To be called every second or so.
    pub fn tick(&self) {
        let now = self.clock.now();
        let is_recent = |at: OffsetDateTime| (Duration::ZERO..EVERY).contains(&(now - at));
        if !self.lock().sent_at.is_some_and(is_recent) {
            self.send();
        }
    }

    /// Sends the changed heads. Heads that cannot be sent wait for the next time.
    pub fn send(&self) {
        let now = self.clock.now();
        let heads = std::mem::take(&mut self.lock().changed);
        if heads.is_empty() {
            return;
        }
        for head in heads.values() {
            log::log!(target: "kopeck::audit", self.level, head:% = head; "audit chain head");
        }
        let sent = self.destination.as_ref().map_or(Ok(()), |to| to.send(now, heads.values()));
        (self.sent)(sent.is_ok());
        let mut state = self.lock();
        state.sent_at = Some(now);
        if let Err(error) = sent {
            for (chain, head) in heads {
                state.changed.entry(chain).or_insert(head);
            }
            drop(state);
            log::error!(error:% = error; "the chain heads of the audit log cannot be sent: KOPECK_AUDIT_HEADS");
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl HeadObserver for HeadForwarder {
    fn committed(&self, head: &Head) {
        self.lock().changed.insert(head.chain, head.clone());
    }
}

impl Drop for HeadForwarder {
    fn drop(&mut self) {
        self.send();
    }
}

#[cfg(test)]
mod tests {
    use kopeck_audit::Digest;
    use kopeck_port_system::fake::FakeClock;

    use super::*;

    fn head(chain: u64, number: u64) -> Head {
        Head { chain, number, hash: Digest::from_bytes([7; 32]) }
    }

    fn forwarder(destination: HeadDestination) -> (Arc<FakeClock>, HeadForwarder) {
        let clock = Arc::new(FakeClock::starting_at(OffsetDateTime::UNIX_EPOCH));
        let forwarder =
            HeadForwarder::new(Arc::clone(&clock) as _, Some(destination), log::Level::Debug, drop);
        (clock, forwarder)
    }

    #[test]
    fn a_destination_is_a_file_or_syslog() {
        let of = HeadDestination::from_str;
        assert_eq!(of("file:/a/b"), Ok(HeadDestination::File("/a/b".into())));
        assert_eq!(of("syslog"), Ok(HeadDestination::Syslog("/dev/log".into())));
        assert_eq!(of("syslog:/run/log"), Ok(HeadDestination::Syslog("/run/log".into())));
        for wrong in ["", "file", "file:", "syslog:", "/a/b", "udp:host"] {
            assert!(of(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn changed_heads_are_sent_once_a_minute_and_at_the_end() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("heads");
        let (clock, forwarder) = forwarder(HeadDestination::File(path.clone()));
        let lines = || std::fs::read_to_string(&path).unwrap_or_default();
        let hash = "07".repeat(32);
        forwarder.tick();
        assert_eq!(lines(), "");
        forwarder.committed(&head(1, 1));
        forwarder.committed(&head(1, 2));
        forwarder.committed(&head(2, 1));
        forwarder.tick();
        let first = format!("1970-01-01T00:00:00.000Z 1:2:{hash}\n1970-01-01T00:00:00.000Z 2:1:{hash}\n");
        assert_eq!(lines(), first);
        forwarder.committed(&head(2, 2));
        clock.advance(Duration::seconds(59));
        forwarder.tick();
        assert_eq!(lines(), first);
        clock.advance(Duration::SECOND);
        forwarder.tick();
        let second = format!("{first}1970-01-01T00:01:00.000Z 2:2:{hash}\n");
        assert_eq!(lines(), second, "only what has changed");
        clock.advance(Duration::HOUR);
        forwarder.tick();
        assert_eq!(lines(), second);
        forwarder.committed(&head(3, 1));
        drop(forwarder);
        assert_eq!(lines(), format!("{second}1970-01-01T01:01:00.000Z 3:1:{hash}\n"));
    }

    #[test]
    fn unsent_heads_are_sent_later() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("not-yet").join("heads");
        let (_, forwarder) = forwarder(HeadDestination::File(path.clone()));
        forwarder.committed(&head(1, 1));
        forwarder.committed(&head(2, 5));
        forwarder.send();
        forwarder.committed(&head(1, 2));
        std::fs::create_dir(path.parent().unwrap()).unwrap();
        forwarder.send();
        let lines = std::fs::read_to_string(&path).unwrap();
        assert!(lines.contains(" 1:2:") && lines.contains(" 2:5:") && !lines.contains(" 1:1:"), "{lines}");
    }

    #[test]
    fn syslog_gets_a_message_a_head() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let socket = UnixDatagram::bind(&path).unwrap();
        let (_, forwarder) = forwarder(HeadDestination::Syslog(path));
        forwarder.committed(&head(1, 2));
        forwarder.committed(&head(4, 2));
        forwarder.send();
        for chain in [1, 4] {
            let mut message = [0; 512];
            let length = socket.recv(&mut message).unwrap();
            let message = std::str::from_utf8(&message[..length]).unwrap();
            let words: Vec<&str> = message.split(' ').collect();
            assert_eq!(words[..2], ["<110>1", "1970-01-01T00:00:00.000Z"], "{message}");
            let head = head(chain, 2).to_string();
            assert_eq!(words[3..], ["kopeck", &std::process::id().to_string(), "audit-head", "-", &head]);
        }
        assert_eq!(printable("my host\n"), "myhost");
        assert_eq!(printable(" "), "-");
    }
}
