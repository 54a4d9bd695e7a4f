//! Sees to it that whoever waits for the store is answered, also if the database is silent, and that an outage is noticed
//! and its end too.
//!
//! A server that is frozen but whose machine acknowledges what it is sent can hold a thread for ever, and a statement
//! over thousands of rows may take its time. The two are told apart by a question on another connection, which a server
//! that is well answers at once. See `docs/adr/0010-a-health-check-detects-a-silent-database.md`.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use kopeck_port_store::StoreError;

use crate::crew::Crew;
use crate::error::OpenError;
use crate::hand::Beats;
use crate::probe::Probe;

/// How often it looks.
const BEAT: Duration = Duration::from_millis(50);
/// After so many beats with the same work a thread is looked into: 0.4 s.
const SILENCE: u64 = 8;
/// So many beats the server has for the answer to a question that costs nothing: 1 s.
const PATIENCE: u64 = 20;
/// So many beats threads have, once the server is back, to come back too: 2 s.
const RETURN: u64 = 40;
/// So many beats work waits for its turn: 10 s.
const TURN: u64 = 200;

/// Whoever looks after the threads of a store.
pub(crate) struct Watch {
    shared: Arc<Shared>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

struct Shared {
    crew: Arc<Crew>,
    beats: Beats,
    /// Who asks the server, if there is one.
    probe: Option<Arc<Probe>>,
    away: AtomicBool,
    stopping: Mutex<bool>,
    told: Condvar,
}

impl Watch {
    /// Starts looking after `crew`. `server`: the URL of the server that may fall silent.
    pub(crate) fn start(crew: Arc<Crew>, beats: Beats, server: Option<&str>) -> Result<Self, OpenError> {
        let probe = server.map(Probe::start).transpose()?;
        let away = AtomicBool::new(false);
        let shared = Shared { crew, beats, probe, away, stopping: Mutex::default(), told: Condvar::new() };
        let shared = Arc::new(shared);
        let watching = Arc::clone(&shared);
        let thread = thread::Builder::new().name("store-watch".to_owned()).spawn(move || watching.run())?;
        Ok(Self { shared, thread: Mutex::new(Some(thread)) })
    }

    /// Whether the database is known to be silent.
    pub(crate) fn is_away(&self) -> bool {
        self.shared.away.load(Ordering::Acquire)
    }

    /// Whether the caller is the watch itself.
    pub(crate) fn is_this_thread(&self) -> bool {
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        thread.as_ref().is_some_and(|handle| handle.thread().id() == thread::current().id())
    }

    pub(crate) fn stop(&self) {
        *self.shared.stopping.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.shared.told.notify_all();
        let is_self = self.is_this_thread();
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread.filter(|_| !is_self)
            && thread.join().is_err()
        {
            log::error!("the watch of the store panicked");
        }
        if let Some(probe) = &self.shared.probe {
            probe.close();
        }
    }
}

/// What callers are told while the database is silent.
pub(crate) fn silent() -> StoreError {
    StoreError::Unavailable("it does not answer".to_owned())
}

impl Shared {
    fn run(&self) {
        // The beat at which the server was last found to be back.
        let mut back = 0;
        while !self.rest() {
            let now = self.beats.count();
            self.crew.refuse_overdue(now.saturating_sub(TURN));
            self.crew.look_after_database(now, self.away.load(Ordering::Acquire));
            if let Some(probe) = &self.probe {
                self.look(probe, now, &mut back);
            }
        }
    }

    /// Waits for the next beat; answers whether it is told to stop.
    fn rest(&self) -> bool {
        let stopping = self.stopping.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.told.wait_timeout_while(stopping, BEAT, |stopping| !*stopping);
        *waited.unwrap_or_else(PoisonError::into_inner).0
    }

    fn look(&self, probe: &Arc<Probe>, now: u64, back: &mut u64) {
        if probe.take_answer() && self.away.load(Ordering::Acquire) {
            self.crew.suspect_all();
            self.away.store(false, Ordering::Release);
            log::info!("the database answers again");
            *back = now;
        }
        let was_away = self.away.load(Ordering::Acquire);
        let is_silent = self.crew.is_any_busy_since(now.saturating_sub(SILENCE));
        if !is_silent && !was_away {
            probe.forget();
            return;
        }
        let unanswered = probe.ask(now);
        if unanswered >= PATIENCE && !was_away {
            self.away.store(true, Ordering::Release);
            log::error!("the database does not answer: everything is refused until it does");
        }
        if self.away.load(Ordering::Acquire) {
            self.crew.refuse_all(&silent());
        } else if now - *back >= RETURN {
            self.crew.replace_given_up();
        }
    }
}
