//! Whether the database does what it is there for.
//!
//! A statement that fails for an [`Outage`] makes the store suspicious; what decides is a probe: a write of its own on a
//! writing thread, at once and every half second until one succeeds. So one row that another session has locked does
//! not make a server unready, and a disk that has space again is noticed without a request.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use kopeck_port_store::{Access, StoreError};

use crate::availability::{Availability, Part};
use crate::connection::{AnyConnection, ConnectionWatch};
use crate::error::OpenError;
use crate::files::{DiskSpace, Files};
use crate::history::History;
use kopeck_port_store::Outage;
use kopeck_port_store::StoreObserver;

/// Milliseconds between two probes.
const BETWEEN_PROBES: u64 = 500;
/// Milliseconds between two looks at the files.
const BETWEEN_LOOKS: u64 = 250;
/// Milliseconds between two measures of the space.
const BETWEEN_MEASURES: u64 = 1_000;

/// What is known of the database, shared by the threads of a store.
pub(crate) struct Condition {
    /// Whether commits are missing.
    pub(crate) history: History,
    /// Tells the log.
    pub(crate) availability: Availability,
    observer: Arc<dyn StoreObserver>,
    /// Of an embedded database.
    files: Option<Files>,
    opened: Instant,
    /// When the files were last looked after, in milliseconds since it was opened.
    looked_at: AtomicU64,
    state: Mutex<ConditionState>,
}

#[derive(Default)]
struct ConditionState {
    /// What the latest probe met.
    outage: Option<Outage>,
    is_probing: bool,
    /// What a write met last, if no probe has succeeded since.
    latest: Option<Outage>,
    /// Whether a write has met it since the latest probe began.
    is_latest_new: bool,
    /// When the next probe may begin, in milliseconds since the database was opened.
    next: u64,
}

impl Condition {
    /// `files`: those of an embedded database that is open.
    pub(crate) fn new(observer: Arc<dyn StoreObserver>, files: Option<Files>, history: History) -> Self {
        let looked_at = AtomicU64::new(0);
        let availability = Availability::default();
        Self {
            history,
            availability,
            observer,
            files,
            opened: Instant::now(),
            looked_at,
            state: Mutex::default(),
        }
    }

    /// Who measures the store.
    pub(crate) fn observer(&self) -> Arc<dyn StoreObserver> {
        Arc::clone(&self.observer)
    }

    fn lock(&self) -> MutexGuard<'_, ConditionState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Why nothing can be written at present.
    pub(crate) fn outage(&self) -> Option<Outage> {
        self.refusal(Access::Write).or_else(|| self.lock().outage)
    }

    /// Why units of work must not begin.
    fn refusal(&self, access: Access) -> Option<Outage> {
        let files = self.files.as_ref();
        let of_files = files.and_then(Files::refusal);
        match access {
            Access::Read => of_files,
            Access::Write => of_files
                .or_else(|| files.is_some_and(Files::is_suspect).then_some(Outage::Malformed))
                .or_else(|| self.history.is_rewound().then_some(Outage::Rewound)),
        }
    }

    /// How much space an embedded database has.
    pub(crate) fn space(&self) -> Option<DiskSpace> {
        self.files.as_ref().map(Files::space)
    }

    /// How long the log of an embedded database may grow, in bytes.
    pub(crate) fn log_limit(&self) -> Option<u64> {
        self.files.as_ref().map(Files::log_limit)
    }

    /// A statement of a thread with this access has failed.
    pub(crate) fn failed(&self, access: Access, outage: Outage) {
        if let (Outage::Malformed, Some(files)) = (outage, &self.files) {
            files.are_malformed();
        }
        self.note(access, outage);
    }

    fn note(&self, access: Access, outage: Outage) {
        self.observer.failed(access, outage);
        if access == Access::Write {
            let mut state = self.lock();
            (state.latest, state.is_latest_new) = (Some(outage), true);
        }
    }

    /// Whether transactions may begin.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] if the files are gone or damaged.
    pub(crate) fn check_files(&self, access: Access) -> Result<(), StoreError> {
        self.refuse(access, self.refusal(Access::Read))
    }

    /// Whether units of work may change something.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] if the files may be damaged, or commits are missing.
    pub(crate) fn check_changes(&self) -> Result<(), StoreError> {
        self.refuse(Access::Write, self.refusal(Access::Write))
    }

    /// The same as [`Self::check_files`] by a look now: whether a commit went where it will be found again, and whether a new
    /// connection leads to the files that the others have.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] if the files are gone or damaged, or, for changes, may be damaged.
    pub(crate) fn look_at_files(&self, access: Access) -> Result<(), StoreError> {
        let Some(files) = &self.files else { return Ok(()) };
        files.look();
        let suspicion = (access == Access::Write && files.is_suspect()).then_some(Outage::Malformed);
        self.refuse(access, files.refusal().or(suspicion))
    }

    fn refuse(&self, access: Access, refusal: Option<Outage>) -> Result<(), StoreError> {
        let Some(outage) = refusal else { return Ok(()) };
        self.note(access, outage);
        Err(StoreError::Unavailable(outage.reason().to_owned()))
    }

    /// Finds out whether files that may be damaged are, by `check`.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] if they are, or that of `check`.
    pub(crate) fn settle_files(
        &self,
        check: impl FnOnce() -> Result<bool, StoreError>,
    ) -> Result<(), StoreError> {
        let Some(files) = self.files.as_ref().filter(|files| files.is_suspect()) else { return Ok(()) };
        if check()? {
            files.are_whole();
        } else {
            files.are_malformed();
        }
        self.check_files(Access::Write)
    }

    /// Looks whether the database to which this connection leads has what was committed before.
    ///
    /// # Errors
    /// [`StoreError`] if it cannot be read.
    pub(crate) fn check_history(&self, connection: &mut AnyConnection) -> Result<(), StoreError> {
        if !self.history.check(connection)? {
            self.failed(Access::Write, Outage::Rewound);
        }
        Ok(())
    }

    /// Milliseconds since it was opened.
    fn now(&self) -> u64 {
        u64::try_from(self.opened.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// Looks after the files, as often as it is time to.
    pub(crate) fn look_after_files(&self) {
        let Some(files) = &self.files else { return };
        let now = self.now();
        let before = self.looked_at.fetch_max(now, Ordering::Relaxed);
        let is_turn = |period: u64| now / period > before / period;
        if is_turn(BETWEEN_LOOKS) {
            files.look();
        }
        if is_turn(BETWEEN_MEASURES) {
            files.measure();
        }
    }

    /// Whether changes are refused until a probe has settled what the database is.
    pub(crate) fn is_in_doubt(&self) -> bool {
        self.history.is_rewound() || self.files.as_ref().is_some_and(Files::is_suspect)
    }

    /// Whether a probe is to begin. The caller begins it.
    pub(crate) fn begin_probe(&self) -> bool {
        self.begin_probe_at(self.now())
    }

    fn begin_probe_at(&self, now: u64) -> bool {
        let mut state = self.lock();
        let begins = (state.latest.is_some() || self.is_in_doubt()) && !state.is_probing && now >= state.next;
        if begins {
            (state.is_probing, state.is_latest_new, state.next) = (true, false, now + BETWEEN_PROBES);
        }
        begins
    }

    /// A probe has ended.
    pub(crate) fn end_probe(&self, outcome: &Result<(), StoreError>) {
        let is_cramped = outcome.is_ok() && self.files.as_ref().is_some_and(Files::are_cramped);
        self.judge_probe(outcome, is_cramped);
    }

    /// `is_cramped`: the disk has space for a probe and little else.
    fn judge_probe(&self, outcome: &Result<(), StoreError>, is_cramped: bool) {
        let mut state = self.lock();
        state.is_probing = false;
        let found = match outcome {
            Ok(()) => state.latest.filter(|latest| *latest == Outage::Full && is_cramped),
            Err(_) if state.is_latest_new => state.latest,
            // It had no turn, or no connection. The next one will.
            Err(StoreError::Busy | StoreError::Unavailable(_)) => return,
            Err(error) => {
                log::error!("the database refuses a probe: {error}");
                None
            }
        };
        state.latest = found;
        state.outage = found;
        drop(state);
        match found {
            // These have lines of their own.
            Some(Outage::FileGone | Outage::Malformed | Outage::Rewound) => {}
            Some(outage) => self.availability.lost(Part::Changes, outage.reason()),
            None => self.availability.back(Part::Changes),
        }
    }
}

impl ConnectionWatch for Condition {
    fn look_at_files(&self, access: Access) -> Result<(), StoreError> {
        Self::look_at_files(self, access)
    }

    fn check_history(&self, connection: &mut AnyConnection) -> Result<(), StoreError> {
        Self::check_history(self, connection)
    }

    fn connected(&self, access: Access, error: Option<&OpenError>) {
        match error {
            None => self.availability.back(Part::Connections),
            Some(error) if error.is_malformed() => self.failed(access, Outage::Malformed),
            // The files have told.
            Some(_) if self.refusal(Access::Read).is_some() => {}
            Some(error) => self.availability.lost(Part::Connections, &error.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use kopeck_port_system::fake::FakeClock;

    use super::*;
    use kopeck_port_store::NoopObserver;

    fn condition() -> Condition {
        let clock = Arc::new(FakeClock::starting_at(time::OffsetDateTime::UNIX_EPOCH));
        Condition::new(Arc::new(NoopObserver), None, History::new(clock))
    }

    fn unavailable() -> Result<(), StoreError> {
        Err(StoreError::Unavailable(String::new()))
    }

    #[test]
    fn a_probe_decides_and_is_repeated_until_it_succeeds() {
        let condition = condition();
        assert!(!condition.begin_probe_at(1), "nothing has failed");
        condition.failed(Access::Read, Outage::Io);
        assert!(!condition.begin_probe_at(1), "readers are no reason to write");
        condition.failed(Access::Write, Outage::Full);
        assert_eq!(condition.outage(), None, "that may have been one row");
        assert!(condition.begin_probe_at(1) && !condition.begin_probe_at(1), "one at a time");
        condition.failed(Access::Write, Outage::Full);
        condition.end_probe(&unavailable());
        assert_eq!(condition.outage(), Some(Outage::Full));
        assert!(!condition.begin_probe_at(BETWEEN_PROBES) && condition.begin_probe_at(BETWEEN_PROBES + 1));
        condition.end_probe(&Ok(()));
        assert_eq!(condition.outage(), None);
        assert!(!condition.begin_probe_at(1_000));
    }

    /// A page or two find room on a disk where changes do not.
    #[test]
    fn a_full_disk_is_full_until_there_is_space() {
        let condition = condition();
        for (outage, found) in [(Outage::Full, Some(Outage::Full)), (Outage::Locked, None)] {
            condition.failed(Access::Write, outage);
            assert!(condition.begin_probe_at(1_000));
            condition.judge_probe(&Ok(()), true);
            assert_eq!(condition.outage(), found);
            condition.lock().next = 0;
        }
        condition.failed(Access::Write, Outage::Full);
        assert!(condition.begin_probe_at(1_000));
        condition.judge_probe(&Ok(()), true);
        assert!(condition.begin_probe_at(2_000), "it is repeated");
        condition.judge_probe(&Ok(()), false);
        assert_eq!(condition.outage(), None);
    }

    #[test]
    fn a_probe_that_had_no_turn_decides_nothing() {
        let condition = condition();
        for outcome in [unavailable(), Err(StoreError::Busy)] {
            condition.failed(Access::Write, Outage::Locked);
            assert!(condition.begin_probe_at(1_000));
            condition.end_probe(&outcome);
            assert_eq!(condition.outage(), None);
            assert!(condition.begin_probe_at(2_000), "it is repeated");
            condition.end_probe(&Ok(()));
            condition.lock().next = 0;
        }
    }
}
