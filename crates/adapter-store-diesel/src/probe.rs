//! Asks the database server whether it is there, on a thread and a connection of its own: libpq has no time-out for an
//! answer, so that whoever asks may never come back.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use kopeck_port_store::Access;

use crate::dialect::{self, AnyConnection};
use crate::error::OpenError;

/// After so many beats without an answer another thread asks on a new connection: the old one may lead nowhere for ever.
/// Longer than a connection may take.
const ASK_ANEW: u64 = 60;
/// How many threads may hang at the same time.
const MOST_THREADS: u32 = 4;
/// How long it waits after a server did not let it in.
const AFTER_FAILURE: Duration = Duration::from_millis(200);

/// Whoever asks the server.
pub(crate) struct Probe {
    url: String,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// The beat at which an answer was first wanted.
    wanted_since: Option<u64>,
    /// The beat at which the latest thread was started, or the answer was first wanted.
    asked_since: u64,
    /// An answer has come that nobody has taken notice of.
    answered: bool,
    /// The number of the latest thread. Those before it end when they come back.
    latest: u32,
    running: u32,
    closed: bool,
}

impl Probe {
    /// Connects, and waits to be told to ask.
    pub(crate) fn start(url: &str) -> Result<Arc<Self>, OpenError> {
        let connection = dialect::connect(url, Access::Read)?;
        let probe = Self { url: url.to_owned(), state: Mutex::default(), changed: Condvar::new() };
        let probe = Arc::new(probe);
        probe.spawn(Some(connection))?;
        Ok(probe)
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
        let probe = Arc::clone(self);
        let spawned = thread::Builder::new().name("store-probe".to_owned()).spawn(move || {
            probe.run(number, connection);
            probe.lock().running -= 1;
        });
        if spawned.is_err() {
            self.lock().running -= 1;
        }
        Ok(spawned.map(drop)?)
    }

    /// Wants to know at this beat whether the server answers. Answers since how many beats that has been wanted.
    pub(crate) fn ask(self: &Arc<Self>, now: u64) -> u64 {
        let mut state = self.lock();
        let since = *state.wanted_since.get_or_insert(now);
        if since == now {
            state.asked_since = now;
        }
        let anew = now - state.asked_since >= ASK_ANEW && state.running < MOST_THREADS;
        if anew {
            state.asked_since = now;
        }
        drop(state);
        self.changed.notify_all();
        if anew && let Err(error) = self.spawn(None) {
            log::warn!("the database cannot be asked anew: {error}");
        }
        now - since
    }

    /// Nobody wants to know any more.
    pub(crate) fn forget(&self) {
        self.lock().wanted_since = None;
    }

    /// Whether the server has answered since this was last asked.
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

    /// Waits until there is something to ask; answers whether the thread is to do it.
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
