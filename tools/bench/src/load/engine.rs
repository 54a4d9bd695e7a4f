//! Sends calls over many connections and times their responses.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::os::fd::AsRawFd as _;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};
use mio::unix::SourceFd;
use mio::{Events, Interest, Poll, Token};
use rustix::fd::OwnedFd;
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create, timerfd_settime,
};

use super::calls::Calls;
use super::connection::{Connection, SentRequest};
use super::pace::Pace;
use super::summary::LoadSummary;

/// How long the last answers are waited for.
const PATIENCE: Duration = Duration::from_secs(30);
/// Events taken at once.
const EVENTS: usize = 1_024;

/// A load.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plan {
    /// The service.
    pub(crate) address: SocketAddr,
    /// Connections.
    pub(crate) connections: usize,
    /// How long calls are sent before the measurement begins.
    pub(crate) warm_up: Duration,
    /// How long the measurement takes.
    pub(crate) measured: Duration,
    /// A process that it ends with, if that ends before.
    pub(crate) during: Option<i32>,
    /// Calls a second in an open loop; without it the loop is closed.
    pub(crate) rate: Option<f64>,
}

/// Carries `plan` out.
///
/// In a closed loop all responses count that arrive within the measurement; in an open one those of all requests that should
/// have been sent within it, whenever they arrive.
///
/// # Errors
/// If the server refuses or closes a connection, or leaves a request without a response; if there are too few calls.
pub(crate) fn run(plan: &Plan, calls: &mut Calls) -> anyhow::Result<LoadSummary> {
    let mut load = Load::open(plan, calls)?;
    load.run()?;
    let (time, asked) = (load.stage.time()?, plan.measured);
    ensure!(plan.during.is_some() || time >= asked / 4, "the calls were enough for {time:?} of {asked:?}");
    let mut seen = load.seen;
    seen.time = time;
    Ok(seen)
}

/// A load under way.
struct Load<'a> {
    poll: Poll,
    connections: Vec<Connection>,
    calls: &'a mut Calls,
    open: Option<Open>,
    /// Tells the end of the process that the measurement ends with.
    #[expect(dead_code, reason = "it is kept open, and closed")]
    during: Option<OwnedFd>,
    stage: Stage,
    seen: LoadSummary,
    /// Calls without a response.
    waiting: usize,
}

/// What an open loop has to know.
struct Open {
    pace: Pace,
    timer: OwnedFd,
    /// Connections without a request. They are used in turn: the server closes one that never sends anything.
    free: VecDeque<usize>,
    /// Calls that are due and have no connection yet, by the moment they should have been sent.
    late: VecDeque<Instant>,
}

impl<'a> Load<'a> {
    fn open(plan: &Plan, calls: &'a mut Calls) -> anyhow::Result<Self> {
        let poll = Poll::new()?;
        let mut connections = Vec::with_capacity(plan.connections);
        for number in 0..plan.connections {
            let mut connection = Connection::open(plan.address)?;
            let interest = Interest::READABLE | Interest::WRITABLE;
            poll.registry().register(connection.socket(), Token(number), interest)?;
            connections.push(connection);
        }
        let open = match plan.rate {
            Some(rate) => {
                let timer = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::NONBLOCK)?;
                watch(&poll, &timer, Token(plan.connections))?;
                let free = (0..plan.connections).collect();
                Some(Open { pace: Pace::new(rate), timer, free, late: VecDeque::new() })
            }
            None => None,
        };
        let during = plan.during.map(end_of).transpose()?;
        if let Some(end) = &during {
            watch(&poll, end, Token(plan.connections + 1))?;
        }
        let (stage, seen) = (Stage::new(plan), LoadSummary::new()?);
        Ok(Self { poll, connections, calls, open, during, stage, seen, waiting: 0 })
    }

    fn run(&mut self) -> anyhow::Result<()> {
        match &self.open {
            Some(open) => open.start_timer()?,
            None => {
                for number in 0..self.connections.len() {
                    self.send(number, Instant::now())?;
                }
            }
        }
        let mut events = Events::with_capacity(EVENTS);
        loop {
            let now = Instant::now();
            if self.stage.is_over(now) {
                // What fell due while this thread did not run is of the measured time too.
                self.send_due()?;
                if self.waiting == 0 {
                    return Ok(());
                }
            }
            if now > self.stage.ends + PATIENCE {
                bail!("{} calls have no answer", self.waiting);
            }
            if let Err(error) = self.poll.poll(&mut events, Some(self.stage.left(now)))
                && error.kind() != std::io::ErrorKind::Interrupted
            {
                return Err(error).context("poll");
            }
            for event in &events {
                match event.token().0.checked_sub(self.connections.len()) {
                    None => self.turn(event.token().0)?,
                    Some(0) => self.send_due()?,
                    Some(_) => self.stage.cut(Instant::now()),
                }
            }
        }
    }

    /// Goes on with a connection that something happened to.
    fn turn(&mut self, number: usize) -> anyhow::Result<()> {
        let Some(connection) = self.connections.get_mut(number) else { return Ok(()) };
        if !connection.is_busy() {
            return Ok(());
        }
        connection.write()?;
        let Some((sent, status)) = connection.read()? else { return Ok(()) };
        let now = Instant::now();
        self.waiting -= 1;
        let counted_by = if self.open.is_some() { sent.since } else { now };
        if self.stage.measures(counted_by) {
            self.seen.note(now - sent.since, (status != sent.status).then_some(status));
        }
        let next = match &mut self.open {
            None => (!self.stage.is_over(now)).then_some(now),
            Some(open) => {
                let late = open.late.pop_front();
                if late.is_none() {
                    open.free.push_back(number);
                }
                late
            }
        };
        next.map_or(Ok(()), |since| self.send(number, since))
    }

    fn send(&mut self, number: usize, since: Instant) -> anyhow::Result<()> {
        let Some(connection) = self.connections.get_mut(number) else { return Ok(()) };
        let Some(call) = self.calls.next() else {
            self.stage.cut(Instant::now());
            return Ok(());
        };
        self.waiting += 1;
        let sent = SentRequest { since, status: call.status() };
        connection.send(sent, |out| self.calls.render(call, out))
    }

    /// Sends what is due by now, or puts it behind the requests that wait for a connection.
    fn send_due(&mut self) -> anyhow::Result<()> {
        let now = Instant::now();
        let begun = self.stage.begun;
        loop {
            let Some(open) = &mut self.open else { return Ok(()) };
            // Read so that the timer tells the next time too; how often it rang is the pace's to know.
            let _ = rustix::io::read(&open.timer, &mut [0; 8]);
            let Some(due) = open.pace.due(now - begun).map(|due| begun + due) else { return Ok(()) };
            if self.stage.is_over(due) {
                return Ok(());
            }
            match open.free.pop_front() {
                Some(number) => self.send(number, due)?,
                None => open.late.push_back(due),
            }
        }
    }
}

/// What becomes readable when the process ends.
fn end_of(process: i32) -> anyhow::Result<OwnedFd> {
    let process = Pid::from_raw(process).context("there is no such process")?;
    pidfd_open(process, PidfdFlags::NONBLOCK).context("the process to wait for")
}

fn watch(poll: &Poll, source: &OwnedFd, token: Token) -> std::io::Result<()> {
    poll.registry().register(&mut SourceFd(&source.as_raw_fd()), token, Interest::READABLE)
}

impl Open {
    fn start_timer(&self) -> anyhow::Result<()> {
        let interval = self.pace.interval();
        let interval = Timespec {
            tv_sec: i64::try_from(interval.as_secs())?,
            tv_nsec: i64::from(interval.subsec_nanos().max(1)),
        };
        let times = Itimerspec { it_interval: interval, it_value: interval };
        timerfd_settime(&self.timer, TimerfdTimerFlags::empty(), &times)?;
        Ok(())
    }
}

/// Warm-up, measurement, end.
#[derive(Debug, Clone, Copy)]
struct Stage {
    begun: Instant,
    starts: Instant,
    ends: Instant,
}

impl Stage {
    fn new(plan: &Plan) -> Self {
        let begun = Instant::now();
        let starts = begun + plan.warm_up;
        Self { begun, starts, ends: starts + plan.measured }
    }

    fn measures(&self, moment: Instant) -> bool {
        (self.starts..self.ends).contains(&moment)
    }

    fn is_over(&self, moment: Instant) -> bool {
        moment >= self.ends
    }

    /// Ends the measurement now.
    fn cut(&mut self, now: Instant) {
        self.ends = self.ends.min(now);
    }

    /// How long a poll may wait.
    fn left(&self, now: Instant) -> Duration {
        let left = self.ends.saturating_duration_since(now);
        if left.is_zero() { Duration::from_millis(100) } else { left }
    }

    /// How long the measurement took.
    fn time(self) -> anyhow::Result<Duration> {
        self.ends.checked_duration_since(self.starts).context("the calls ended in the warm-up")
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::net::{TcpListener, TcpStream};
    use std::thread;

    use kopeck_sealing::{KeyId, SealingKey};

    use super::super::kind::LoadKind;
    use super::*;
    use crate::targets::{Target, Targets};

    /// Serves connections, each on a thread of its own, until they are closed; `answer` to every call.
    fn server(answer: &'static [u8]) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        thread::spawn(move || {
            for socket in listener.incoming() {
                thread::spawn(move || answer_all(socket.unwrap(), answer));
            }
        });
        address
    }

    fn answer_all(mut socket: TcpStream, answer: &[u8]) {
        let (mut seen, mut byte) = (Vec::new(), [0]);
        while socket.read_exact(&mut byte).is_ok() {
            seen.push(byte[0]);
            if seen.ends_with(b"\r\n\r\n") {
                seen.clear();
                socket.write_all(answer).unwrap();
            }
        }
    }

    fn calls(kind: LoadKind, at_most: usize) -> Calls {
        let key = SealingKey::new(KeyId::from_bytes([1; 8]), [2; 32]);
        let partners = vec![Target::new(1, "t".to_owned(), &key)];
        Calls::make(&Targets { partners, employees: 100, cards: 2 }, &[kind], at_most).unwrap()
    }

    fn plan(address: SocketAddr, connections: usize, ms: u64, rate: Option<f64>) -> Plan {
        let measured = Duration::from_millis(ms);
        Plan { address, connections, warm_up: Duration::ZERO, measured, during: None, rate }
    }

    const OK: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}";

    /// However late a request is sent or answered, it counts: by the moment at which it should have been sent.
    #[test]
    fn an_open_loop_makes_all_calls_of_its_time_whatever_becomes_of_them() {
        let address = server(OK);
        let seen = run(&plan(address, 1, 50, Some(1_000.0)), &mut calls(LoadKind::Read, 0)).unwrap();
        assert_eq!(seen.figures()["calls"], 50.0);
        assert_eq!(seen.figures()["errors"], 0.0);
    }

    #[test]
    fn wrong_responses_are_counted() {
        let address = server(b"HTTP/1.1 503 Busy\r\ncontent-length: 0\r\n\r\n");
        let seen = run(&plan(address, 4, 50, Some(1_000.0)), &mut calls(LoadKind::Read, 0)).unwrap();
        assert_eq!((seen.figures()["errors"], seen.figures()["status_503"]), (50.0, 50.0));
    }

    /// The server takes the body of a call for the beginning of the next head, which does no harm.
    #[test]
    fn a_load_ends_with_its_calls_and_is_void_if_they_were_few() {
        let address = server(OK);
        let plan = plan(address, 2, 60_000, None);
        // One that goes with a process may be as short as that is.
        let during = i32::try_from(std::process::id()).ok();
        let seen = run(&Plan { during, ..plan }, &mut calls(LoadKind::Add, 20)).unwrap();
        assert!(seen.time < Duration::from_secs(60));
        assert!(seen.figures()["calls"] <= 20.0);
        let few = run(&Plan { during: None, ..plan }, &mut calls(LoadKind::Add, 20));
        let told = few.err().unwrap().to_string();
        assert!(told.starts_with("the calls were enough for ") && told.ends_with(" of 60s"), "{told}");
    }

    #[test]
    fn a_load_ends_with_the_process_that_it_goes_with() {
        let address = server(OK);
        let mut process = std::process::Command::new("true").spawn().unwrap();
        for rate in [None, Some(1_000.0)] {
            let during = i32::try_from(process.id()).ok();
            let plan = Plan { during, ..plan(address, 2, 60_000, rate) };
            let seen = run(&plan, &mut calls(LoadKind::Read, 0)).unwrap();
            assert!(seen.time < Duration::from_secs(60));
        }
        process.wait().unwrap();
        let ended = Plan { during: Some(0), ..plan(address, 1, 60_000, None) };
        assert!(run(&ended, &mut calls(LoadKind::Read, 0)).is_err());
    }

    #[test]
    fn a_server_that_hangs_up_ends_the_load() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let closing = thread::spawn(move || drop(listener.accept().unwrap()));
        assert!(run(&plan(address, 1, 60_000, None), &mut calls(LoadKind::Read, 0)).is_err());
        closing.join().unwrap();
    }
}
