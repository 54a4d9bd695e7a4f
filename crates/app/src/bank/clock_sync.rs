//! Keeps the service's clock in step with a simulator across the network.

use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::Context;
use kopeck_adapter_bank_http::SimulatorControl;
use kopeck_port_bank::sandbox::{CommandKey, SandboxClock, SandboxError};

use crate::clock::ServiceClock;

/// How often the simulator's clock is polled, for moves by other services' sandboxes.
const POLL: Duration = Duration::from_secs(1);

/// A thread that polls the simulator's clock and moves the service's. Dropping it stops it.
pub(super) struct ClockSync {
    /// Dropped to stop the thread.
    alive: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// The clocks of the simulator and of the service: both move at once, instead of after the next poll.
pub(super) struct SynchronisedClock {
    pub(super) control: Arc<SimulatorControl>,
    pub(super) clock: Arc<ServiceClock>,
}

impl SandboxClock for SynchronisedClock {
    fn offset_micros(&self) -> Result<i64, SandboxError> {
        self.clock.offset_micros()
    }

    fn advance(&self, by: Duration, key: &CommandKey) -> Result<i64, SandboxError> {
        let offset_micros = self.control.advance(by, key)?;
        self.clock.follow(offset_micros)?;
        Ok(offset_micros)
    }
}

impl ClockSync {
    /// # Errors
    /// If the system gives no thread.
    pub(super) fn start(control: Arc<SimulatorControl>, clock: Arc<ServiceClock>) -> anyhow::Result<Self> {
        let (alive, dead) = mpsc::channel();
        let thread = std::thread::Builder::new().name("bank-clock".to_owned()).spawn(move || {
            let mut is_lost = false;
            while dead.recv_timeout(POLL) == Err(RecvTimeoutError::Timeout) {
                is_lost = follow(&control, &clock, is_lost);
            }
        });
        Ok(Self { alive: Some(alive), thread: Some(thread.context("the system gives no thread")?) })
    }
}

impl Drop for ClockSync {
    fn drop(&mut self) {
        drop(self.alive.take());
        if self.thread.take().is_some_and(|thread| thread.join().is_err()) {
            log::error!("the thread that polls the simulator's clock panicked");
        }
    }
}

/// Returns whether the simulator is unreachable. Only the first failure is logged.
fn follow(control: &SimulatorControl, clock: &ServiceClock, was_lost: bool) -> bool {
    let followed = match control.offset_micros() {
        Ok(offset_micros) => clock.follow(offset_micros).map_err(|error| error.to_string()),
        Err(error) => Err(error.to_string()),
    };
    match followed {
        Ok(()) => false,
        Err(reason) => {
            if !was_lost {
                log::warn!(reason = reason.as_str(); "the simulator's clock cannot be followed");
            }
            true
        }
    }
}
