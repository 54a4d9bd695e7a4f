//! Health check of a database server, on a thread and a connection of its own: libpq has no timeout for an answer, so the
//! thread may hang for ever.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use kopeck_port_store::Access;

use crate::dialect::{self, AnyConnection};
use crate::error::OpenError;

/// Ticks without an answer after which another thread checks on a new connection, since the old one may lead nowhere.
/// Longer than a connection may take.
const NEW_CONNECTION: u64 = 60;
/// How many threads may hang at the same time.
const MOST_THREADS: u32 = 4;
/// The pause after a failed attempt to connect.
const AFTER_FAILURE: Duration = Duration::from_millis(200);

/// The health check of one server.
pub(crate) struct HealthCheck {
    url: String,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// The tick at which the check was requested.
    wanted_since: Option<u64>,
    /// The tick at which the latest thread was started, or the check was requested.
    asked_since: u64,
    /// The server has answered since the last look.
    answered: bool,
    /// The number of the latest thread. Those before it end when they come back.
    latest: u32,
    running: u32,
    closed: bool,
}

impl HealthCheck {
    /// Connects, and waits for a request.
    pub(crate) fn start(url: &str) -> Result<Arc<Self>, OpenError> {
        let connection = dialect::connect(url, Access::Read)?;
        let check = Self { url: url.to_owned(), state: Mutex::default(), changed: Condvar::new() };
        let check = Arc::new(check);
        check.spawn(Some(connection))?;
        Ok(check)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn spawn(self: &Arc<Self>, connection: Option<AnyConnection>) -> Result<(), OpenError> {
        let number = {
            let mut state = self.lock();
            (state.latest, state.running) = (state.latest + 1, state.running + 1);
            state.latest
        };
        let check = Arc::clone(self);
        let spawned = thread::Builder::new().name("store-health-check".to_owned()).spawn(move || {
            check.run(number, connection);
            check.lock().running -= 1;
        });
        if spawned.is_err() {
            self.lock().running -= 1;
        }
        Ok(spawned.map(drop)?)
    }

    /// Requests a check at this tick. Returns for how many ticks it has been requested.
    pub(crate) fn request(self: &Arc<Self>, now: u64) -> u64 {
        let mut state = self.lock();
        let since = *state.wanted_since.get_or_insert(now);
        if since == now {
            state.asked_since = now;
        }
        let anew = now - state.asked_since >= NEW_CONNECTION && state.running < MOST_THREADS;
        if anew {
            state.asked_since = now;
        }
        drop(state);
        self.changed.notify_all();
        if anew && let Err(error) = self.spawn(None) {
            log::warn!("no thread for another health check of the database: {error}");
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

    pub(crate) fn close(&self) {
        self.lock().closed = true;
        self.changed.notify_all();
    }

    fn run(&self, number: u32, mut connection: Option<AnyConnection>) {
        while self.is_wanted(number) {
            let answered = self.is_there(&mut connection);
            let mut state = self.lock();
            if answered {
                // Whichever thread it is: the server has answered.
                (state.answered, state.wanted_since) = (true, None);
            } else if state.latest == number && !state.closed {
                drop(self.changed.wait_timeout_while(state, AFTER_FAILURE, |state| !state.closed));
            }
        }
    }

    /// Waits for a request. Returns whether this thread is to check.
    fn is_wanted(&self, number: u32) -> bool {
        let waits =
            |state: &mut State| !state.closed && state.latest == number && state.wanted_since.is_none();
        let state = self.changed.wait_while(self.lock(), waits).unwrap_or_else(PoisonError::into_inner);
        !state.closed && state.latest == number
    }

    /// Whether the server answers; may never come back.
    fn is_there(&self, connection: &mut Option<AnyConnection>) -> bool {
        if let Some(open) = connection
            && dialect::execute(open, "SELECT 1").is_ok()
        {
            return true;
        }
        *connection = dialect::connect(&self.url, Access::Read).ok();
        connection.is_some()
    }
}
