//! A trace of a run, line by line, for the replay of a seed.

use std::sync::{Arc, Mutex};

use kopeck_port_system::Clock;
use kopeck_port_system::fake::FakeClock;

use crate::store::lock;

/// The lines. Without a reader none is formatted.
pub(crate) struct Trace {
    clock: Arc<FakeClock>,
    lines: Option<Mutex<Vec<String>>>,
}

impl Trace {
    pub(crate) fn new(clock: Arc<FakeClock>, wanted: bool) -> Self {
        Self { clock, lines: wanted.then(Mutex::default) }
    }

    /// Adds a line: who, and what happened, with the seconds since the start.
    pub(crate) fn note(&self, who: &str, what: impl FnOnce() -> String) {
        if let Some(lines) = &self.lines {
            let seconds = self.clock.ahead().as_seconds_f64();
            lock(lines).push(format!("{seconds:>12.3}s  {who:<12}  {}", what()));
        }
    }

    pub(crate) fn lines(&self) -> Vec<String> {
        self.lines.as_ref().map(|lines| lock(lines).clone()).unwrap_or_default()
    }
}
