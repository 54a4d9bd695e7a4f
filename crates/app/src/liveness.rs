//! ThreadState of life of the threads that work.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// After so long without a sign a thread is taken to hang. A thread that only waits gives one a second; one that works
/// gives one between two pieces of work.
pub const HANG_TIMEOUT: Duration = Duration::from_secs(180);

/// The threads of a process that work.
pub struct LivenessRegistry {
    start: Instant,
    threads: Mutex<Vec<Arc<ThreadState>>>,
}

/// What one thread showed of itself.
struct ThreadState {
    /// Milliseconds after the start.
    latest: AtomicU64,
    ended: AtomicBool,
}

/// By which one thread shows that it lives; dropping it shows that it has ended, also by a panic.
pub(crate) struct Heartbeat {
    start: Instant,
    state: Arc<ThreadState>,
}

/// How the threads are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LivenessReport {
    /// How many there are.
    pub threads: usize,
    /// How many of them have ended.
    pub ended: usize,
    /// How long ago the one that was silent longest gave a sign.
    pub longest_silence: Duration,
}

impl LivenessReport {
    /// Whether all of them work.
    #[must_use]
    pub fn is_healthy(&self) -> bool {
        self.ended == 0 && self.longest_silence < HANG_TIMEOUT
    }
}

impl Default for LivenessRegistry {
    fn default() -> Self {
        Self { start: Instant::now(), threads: Mutex::default() }
    }
}

impl LivenessRegistry {
    /// One more thread, which lives at this moment.
    pub(crate) fn register(&self) -> Heartbeat {
        let state = Arc::new(ThreadState { latest: AtomicU64::new(0), ended: AtomicBool::new(false) });
        self.threads.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::clone(&state));
        let heartbeat = Heartbeat { start: self.start, state };
        heartbeat.beat();
        heartbeat
    }

    /// How the threads are at this moment.
    #[must_use]
    pub fn report(&self) -> LivenessReport {
        self.report_after(self.start.elapsed())
    }

    fn report_after(&self, elapsed: Duration) -> LivenessReport {
        let threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        let latest = |state: &Arc<ThreadState>| Duration::from_millis(state.latest.load(Ordering::Relaxed));
        LivenessReport {
            threads: threads.len(),
            ended: threads.iter().filter(|state| state.ended.load(Ordering::Relaxed)).count(),
            longest_silence: threads
                .iter()
                .map(|state| elapsed.saturating_sub(latest(state)))
                .max()
                .unwrap_or_default(),
        }
    }
}

impl Heartbeat {
    /// The thread lives at this moment.
    pub(crate) fn beat(&self) {
        let millis = u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.state.latest.store(millis, Ordering::Relaxed);
    }
}

impl Drop for Heartbeat {
    fn drop(&mut self) {
        self.state.ended.store(true, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_ends_or_falls_silent_shows() {
        let liveness = LivenessRegistry::default();
        assert!(liveness.report().is_healthy(), "nobody is expected");
        let (first, second) = (liveness.register(), liveness.register());
        assert_eq!((liveness.report().threads, liveness.report().is_healthy()), (2, true));
        assert!(!liveness.report_after(liveness.start.elapsed() + HANG_TIMEOUT).is_healthy());
        first.beat();
        drop(second);
        let report = liveness.report();
        assert_eq!((report.ended, report.is_healthy()), (1, false));
    }
}
