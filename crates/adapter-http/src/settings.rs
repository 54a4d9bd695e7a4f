//! What an operator can choose about the HTTP server.

use std::time::Duration;

/// Limits of the HTTP server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HttpSettings {
    /// The most bytes that a body may have.
    pub body_limit: usize,
    /// How long a body may take to arrive, from the head on. actix times the head alone.
    pub body_deadline: Duration,
    /// How long a call may take, from the arrival of its body on, until its turn in the store comes. Work that comes
    /// later is not begun.
    pub deadline: Duration,
    /// Threads that serve connections.
    pub workers: usize,
    /// How many passwords are checked at once: each takes a processor and 19 MiB for tens of milliseconds.
    pub logins_at_once: usize,
    /// How many calls may wait for the bank at once.
    pub bank_calls_at_once: usize,
    /// Whether `/openapi.json` and the reference page `/docs` are served.
    pub docs: bool,
}

impl Default for HttpSettings {
    /// 2 MiB in 30 s, then 8 s; one worker and one password a processor; with the reference page.
    fn default() -> Self {
        let processors = std::thread::available_parallelism().map_or(2, std::num::NonZero::get);
        Self {
            body_limit: 2 * 1024 * 1024,
            body_deadline: Duration::from_secs(30),
            deadline: Duration::from_secs(8),
            workers: processors,
            logins_at_once: processors,
            bank_calls_at_once: 64,
            docs: true,
        }
    }
}
