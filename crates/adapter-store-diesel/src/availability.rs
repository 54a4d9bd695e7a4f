//! The two log lines of an outage of the database: its beginning, and its end.

use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// What is not available. Several may be at the same time; the outage ends with the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    /// No connection can be opened.
    Connections,
    /// A server does not answer.
    Answers,
    /// It accepts no changes.
    Changes,
}

/// Whether the database is available, as the log has it.
#[derive(Debug, Default)]
pub(crate) struct Availability(Mutex<AvailabilityState>);

#[derive(Debug, Default)]
struct AvailabilityState {
    away: Vec<Part>,
    since: Option<Instant>,
}

impl Availability {
    /// A part is not available.
    pub(crate) fn lost(&self, part: Part, reason: &str) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !state.away.contains(&part) {
            state.away.push(part);
        }
        if state.since.is_none() {
            state.since = Some(Instant::now());
            log::error!(reason; "database unavailable");
        }
    }

    /// A part is available.
    pub(crate) fn back(&self, part: Part) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.away.retain(|other| *other != part);
        if state.away.is_empty()
            && let Some(since) = state.since.take()
        {
            let after = format!("{}s", since.elapsed().as_secs());
            log::info!(after = after.as_str(); "database available again");
        }
    }
}
