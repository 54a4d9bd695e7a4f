//! Keeps the service's clock in step with a simulator across the network.

use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::Duration;

use kopeck_port_bank::sandbox::{CommandKey, FollowingClock, SandboxClock, SandboxError};

use crate::control::SimulatorControl;

/// How often the simulator's clock is polled, for moves by other services' sandboxes.
const POLL: Duration = Duration::from_secs(1);

/// The clocks of the simulator and of the service. A move moves both at once; a thread follows moves by other services until
/// this is dropped.
pub struct SynchronisedClock {
    control: Arc<SimulatorControl>,
    clock: Arc<dyn FollowingClock>,
    /// Dropped to stop the thread.
    alive: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl SynchronisedClock {
    /// Moves `clock` to the simulator's and follows that from now on. A simulator that is unavailable is followed later.
    ///
    /// # Errors
    /// [`SandboxError::NotASimulator`] from the bank; a clock that cannot be moved; a system that gives no thread.
    pub fn start(
        control: Arc<SimulatorControl>,
        clock: Arc<dyn FollowingClock>,
    ) -> Result<Self, SandboxError> {
        match control.offset_micros() {
            Ok(offset_micros) => clock.follow(offset_micros)?,
            Err(error @ SandboxError::NotASimulator(_)) => return Err(error),
            Err(error) => log::warn!(reason:% = error; "the simulator's clock is not available yet"),
        }
        let (alive, dead) = mpsc::channel();
        let (followed, follower) = (Arc::clone(&control), Arc::clone(&clock));
        let run = move || {
            let mut is_lost = false;
            while dead.recv_timeout(POLL) == Err(RecvTimeoutError::Timeout) {
                is_lost = follow(&followed, &*follower, is_lost);
            }
        };
        let thread = std::thread::Builder::new().name("bank-clock".to_owned()).spawn(run);
        let thread =
            thread.map_err(|error| SandboxError::Failed(format!("the system gives no thread: {error}")))?;
        Ok(Self { control, clock, alive: Some(alive), thread: Some(thread) })
    }
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

impl Drop for SynchronisedClock {
    fn drop(&mut self) {
        drop(self.alive.take());
        if self.thread.take().is_some_and(|thread| thread.join().is_err()) {
            log::error!("the thread that polls the simulator's clock panicked");
        }
    }
}

/// Returns whether the simulator is unreachable. Only the first failure is logged.
fn follow(control: &SimulatorControl, clock: &dyn FollowingClock, was_lost: bool) -> bool {
    let followed = control.offset_micros().and_then(|offset_micros| clock.follow(offset_micros));
    if let (Err(reason), false) = (&followed, was_lost) {
        log::warn!(reason:% = reason; "the simulator's clock cannot be followed");
    }
    followed.is_err()
}
