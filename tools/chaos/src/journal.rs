//! The journal of a run: requests, faults, and violations.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::fault_kind::FaultKind;
use crate::fleet::Role;

/// The most wrongs that are kept; the rest is counted.
const MOST_WRONGS: usize = 200;

/// The notes of a run.
#[derive(Default)]
pub(crate) struct Journal {
    notes: Mutex<Notes>,
}

/// The entries so far.
#[derive(Default)]
pub(crate) struct Notes {
    /// By kind of request, then by outcome, with how long each took.
    pub(crate) calls: BTreeMap<&'static str, BTreeMap<String, Vec<Duration>>>,
    pub(crate) faults: BTreeMap<FaultKind, u64>,
    /// When workers, or servers that work themselves, were killed.
    pub(crate) kills: Vec<Instant>,
    /// Calls that were repeated under their key after they had been answered.
    pub(crate) repeats: u64,
    /// Violations.
    pub(crate) wrongs: Vec<String>,
    /// How many of these there were beyond the ones that are kept.
    pub(crate) more_wrongs: u64,
}

impl Journal {
    /// A request was tried once.
    pub(crate) fn call(&self, name: &'static str, outcome: String, took: Duration) {
        self.notes().calls.entry(name).or_default().entry(outcome).or_default().push(took);
    }

    /// A fault was done.
    pub(crate) fn fault(&self, kind: FaultKind) {
        *self.notes().faults.entry(kind).or_default() += 1;
    }

    /// A process was killed.
    pub(crate) fn killed(&self, role: Role) {
        if role != Role::Bank {
            self.notes().kills.push(Instant::now());
        }
    }

    /// A request that had been answered was repeated.
    pub(crate) fn repeated(&self) {
        self.notes().repeats += 1;
    }

    /// Something is as it must not be. What is seen again and again is noted once.
    pub(crate) fn wrong(&self, what: impl Into<String>) {
        let (mut notes, what) = (self.notes(), what.into());
        if notes.wrongs.contains(&what) {
            return;
        }
        if notes.wrongs.len() < MOST_WRONGS {
            eprintln!("WRONG: {what}");
            notes.wrongs.push(what);
        } else {
            notes.more_wrongs += 1;
        }
    }

    /// Notes `what` as wrong unless it holds.
    pub(crate) fn must(&self, holds: bool, what: impl FnOnce() -> String) {
        if !holds {
            self.wrong(what());
        }
    }

    /// All notes.
    pub(crate) fn notes(&self) -> MutexGuard<'_, Notes> {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
