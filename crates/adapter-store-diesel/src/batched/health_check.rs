//! Health check of a database server, on a connection of its own. libpq has no timeout for a result, so each check has a
//! thread, which may hang for ever.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use diesel::connection::SimpleConnection;
use kopeck_port_store::Access;

use crate::connection::AnyConnection;
use crate::error::OpenError;

/// Ticks between two attempts to connect.
const BETWEEN_ATTEMPTS: u64 = 4;
/// Ticks without a result after which another thread checks on a new connection, since the old one may lead nowhere.
/// Longer than a connection may take.
const NEW_CONNECTION: u64 = 60;
/// How many threads may hang at the same time.
const MOST_THREADS: u32 = 4;

/// The health check of one server.
pub(crate) struct HealthCheck {
    url: String,
    state: Mutex<CheckState>,
}

#[derive(Default)]
struct CheckState {
    /// The connection, while no thread uses it.
    idle: Option<AnyConnection>,
    /// The tick at which the check was requested.
    wanted_since: Option<u64>,
    /// The tick at which the latest thread was started.
    started: u64,
    /// The number of the latest thread, and whether it has not come back.
    latest: u32,
    is_latest_running: bool,
    /// Threads that have not come back.
    running: u32,
    /// The server has answered since the last look.
    answered: bool,
}

impl HealthCheck {
    /// Connects.
    pub(crate) fn open(url: &str) -> Result<Arc<Self>, OpenError> {
        let idle = Some(AnyConnection::open(url, Access::Read)?);
        Ok(Arc::new(Self {
            url: url.to_owned(),
            state: Mutex::new(CheckState { idle, ..CheckState::default() }),
        }))
    }

    fn lock(&self) -> MutexGuard<'_, CheckState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Requests a check at this tick. Returns for how many ticks it has been requested.
    pub(crate) fn request(self: &Arc<Self>, now: u64) -> u64 {
        let mut state = self.lock();
        let since = *state.wanted_since.get_or_insert(now);
        let age = now - state.started;
        let is_due = if state.is_latest_running {
            age >= NEW_CONNECTION
        } else {
            state.idle.is_some() || age >= BETWEEN_ATTEMPTS
        };
        if is_due && state.running < MOST_THREADS {
            (state.started, state.latest, state.is_latest_running) = (now, state.latest + 1, true);
            let (check, number, idle) = (Arc::clone(self), state.latest, state.idle.take());
            let run = move || check.run(number, idle);
            match thread::Builder::new().name("store-health-check".to_owned()).spawn(run) {
                Ok(_) => state.running += 1,
                Err(error) => {
                    state.is_latest_running = false;
                    log::warn!("no thread for a health check of the database: {error}");
                }
            }
        }
        now - since
    }

    /// Withdraws the request.
    pub(crate) fn cancel(&self) {
        self.lock().wanted_since = None;
    }

    /// Whether the server has answered since the last look.
    pub(crate) fn take_answer(&self) -> bool {
        std::mem::take(&mut self.lock().answered)
    }

    /// Asks the server on this connection, or on a new one if it is broken; may never come back.
    fn run(&self, number: u32, idle: Option<AnyConnection>) {
        let alive = idle.and_then(|mut open| open.batch_execute("SELECT 1").is_ok().then_some(open));
        let open = alive.or_else(|| AnyConnection::open(&self.url, Access::Read).ok());
        let mut state = self.lock();
        state.running -= 1;
        state.is_latest_running &= state.latest != number;
        if open.is_some() {
            (state.answered, state.wanted_since, state.idle) = (true, None, open);
        }
    }
}
