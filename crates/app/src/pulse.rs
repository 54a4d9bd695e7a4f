//! Signs of life of the threads that work.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// After so long without a sign a thread is taken to hang. A thread that only waits gives one a second; one that works
/// gives one between two pieces of work.
pub const SILENT: Duration = Duration::from_secs(180);

/// The threads of a process that work.
pub struct Pulse {
    start: Instant,
    threads: Mutex<Vec<Arc<Signs>>>,
}

/// What one thread showed of itself.
struct Signs {
    /// Milliseconds after the start.
    latest: AtomicU64,
    ended: AtomicBool,
}

/// By which one thread shows that it lives; dropping it shows that it has ended, also by a panic.
pub(crate) struct Heart {
    start: Instant,
    signs: Arc<Signs>,
}

/// How the threads are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Vitals {
    /// How many there are.
    pub threads: usize,
    /// How many of them have ended.
    pub ended: usize,
    /// How long ago the one that was silent longest gave a sign.
    pub longest_silence: Duration,
}

impl Vitals {
    /// Whether all of them work.
    #[must_use]
    pub fn are_good(&self) -> bool {
        self.ended == 0 && self.longest_silence < SILENT
    }
}

impl Default for Pulse {
    fn default() -> Self {
        Self { start: Instant::now(), threads: Mutex::default() }
    }
}

impl Pulse {
    /// One more thread, which lives at this moment.
    pub(crate) fn heart(&self) -> Heart {
        let signs = Arc::new(Signs { latest: AtomicU64::new(0), ended: AtomicBool::new(false) });
        self.threads.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::clone(&signs));
        let heart = Heart { start: self.start, signs };
        heart.beat();
        heart
    }

    /// How the threads are at this moment.
    #[must_use]
    pub fn vitals(&self) -> Vitals {
        self.vitals_after(self.start.elapsed())
    }

    fn vitals_after(&self, elapsed: Duration) -> Vitals {
        let threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        let latest = |signs: &Arc<Signs>| Duration::from_millis(signs.latest.load(Ordering::Relaxed));
        Vitals {
            threads: threads.len(),
            ended: threads.iter().filter(|signs| signs.ended.load(Ordering::Relaxed)).count(),
            longest_silence: threads
                .iter()
                .map(|signs| elapsed.saturating_sub(latest(signs)))
                .max()
                .unwrap_or_default(),
        }
    }
}

impl Heart {
    /// The thread lives at this moment.
    pub(crate) fn beat(&self) {
        let millis = u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.signs.latest.store(millis, Ordering::Relaxed);
    }
}

impl Drop for Heart {
    fn drop(&mut self) {
        self.signs.ended.store(true, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_ends_or_falls_silent_shows() {
        let pulse = Pulse::default();
        assert!(pulse.vitals().are_good(), "nobody is expected");
        let (first, second) = (pulse.heart(), pulse.heart());
        assert_eq!((pulse.vitals().threads, pulse.vitals().are_good()), (2, true));
        assert!(!pulse.vitals_after(pulse.start.elapsed() + SILENT).are_good());
        first.beat();
        drop(second);
        let vitals = pulse.vitals();
        assert_eq!((vitals.ended, vitals.are_good()), (1, false));
    }
}
