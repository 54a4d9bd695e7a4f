//! Supervises the threads of the batched store: answers callers of a silent server, replaces threads that hang, and probes
//! the database after an outage.
//!
//! A frozen server whose machine still acknowledges packets can hold a thread for ever, and a statement over thousands of
//! rows may take its time. A health check on another connection, which a healthy server answers at once, tells the two
//! apart. See `docs/adr/0010-a-health-check-detects-a-silent-database.md`.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use kopeck_port_store::StoreError;

use super::executor::Executor;
use super::health_check::HealthCheck;
use super::in_flight::Ticks;
use crate::availability::Part;
use crate::error::OpenError;

/// The time between two ticks.
const TICK: Duration = Duration::from_millis(50);
/// Ticks after which the batch of a thread is suspicious: 0.4 s.
const SILENCE: u64 = 8;
/// Ticks that the server has to answer a health check: 1 s.
const PATIENCE: u64 = 20;
/// Ticks that threads have to end their batches once the server answers again: 2 s.
const RETURN: u64 = 40;
/// Ticks that work waits in a queue: 10 s.
const QUEUE_TIMEOUT: u64 = 200;

/// The supervisor's thread.
pub(crate) struct Supervisor {
    shared: Arc<Shared>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

struct Shared {
    executor: Arc<Executor>,
    ticks: Ticks,
    /// Of a server.
    health_check: Option<Arc<HealthCheck>>,
    away: AtomicBool,
    stopping: Mutex<bool>,
    stopped: Condvar,
}

impl Supervisor {
    /// Starts to supervise `executor`. `server`: the URL of a server, which may fall silent.
    pub(crate) fn start(
        executor: Arc<Executor>,
        ticks: Ticks,
        server: Option<&str>,
    ) -> Result<Self, OpenError> {
        let health_check = server.map(HealthCheck::open).transpose()?;
        let (away, stopping, stopped) = (AtomicBool::new(false), Mutex::default(), Condvar::new());
        let shared = Arc::new(Shared { executor, ticks, health_check, away, stopping, stopped });
        let watching = Arc::clone(&shared);
        let thread =
            thread::Builder::new().name("store-supervisor".to_owned()).spawn(move || watching.run())?;
        Ok(Self { shared, thread: Mutex::new(Some(thread)) })
    }

    /// Whether the server is silent.
    pub(crate) fn is_away(&self) -> bool {
        self.shared.away.load(Ordering::Acquire)
    }

    /// Whether the supervisor's thread calls this.
    pub(crate) fn is_this_thread(&self) -> bool {
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        thread.as_ref().is_some_and(|handle| handle.thread().id() == thread::current().id())
    }

    pub(crate) fn stop(&self) {
        *self.shared.stopping.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.shared.stopped.notify_all();
        let is_self = self.is_this_thread();
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread.filter(|_| !is_self)
            && thread.join().is_err()
        {
            log::error!("the supervisor of the store panicked");
        }
    }
}

/// The error of callers while the server is silent.
pub(crate) fn silent() -> StoreError {
    StoreError::Unavailable("it does not answer".to_owned())
}

impl Shared {
    fn run(&self) {
        // The tick at which the server last came back.
        let mut back = 0;
        while !self.wait_for_tick() {
            let now = self.ticks.count();
            self.executor.refuse_overdue(now.saturating_sub(QUEUE_TIMEOUT));
            self.executor.look_after_database(now, self.away.load(Ordering::Acquire));
            if let Some(check) = &self.health_check {
                self.check_server(check, now, &mut back);
            }
        }
    }

    /// Waits for the next tick. Returns whether the supervisor is to stop.
    fn wait_for_tick(&self) -> bool {
        let stopping = self.stopping.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.stopped.wait_timeout_while(stopping, TICK, |stopping| !*stopping);
        *waited.unwrap_or_else(PoisonError::into_inner).0
    }

    fn check_server(&self, check: &Arc<HealthCheck>, now: u64, back: &mut u64) {
        if check.take_answer() && self.away.load(Ordering::Acquire) {
            self.executor.renew_connections();
            self.away.store(false, Ordering::Release);
            self.executor.availability().back(Part::Answers);
            *back = now;
        }
        let was_away = self.away.load(Ordering::Acquire);
        let is_silent = self.executor.is_any_busy_since(now.saturating_sub(SILENCE));
        if !is_silent && !was_away {
            check.cancel();
            return;
        }
        let unanswered = check.request(now);
        if unanswered >= PATIENCE && !was_away {
            self.away.store(true, Ordering::Release);
            self.executor.availability().lost(Part::Answers, "does not answer");
        }
        if self.away.load(Ordering::Acquire) {
            self.executor.refuse_all(&silent());
        } else if now - *back >= RETURN {
            self.executor.replace_given_up();
        }
    }
}
