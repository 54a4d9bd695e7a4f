//! Heartbeats of worker threads.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A thread without a heartbeat for this long counts as hanging. An idle thread has one a second, a busy one between
/// two jobs.
pub const HANG_TIMEOUT: Duration = Duration::from_secs(180);

/// The worker threads of a process.
pub struct LivenessRegistry {
    start: Instant,
    threads: Mutex<Vec<Arc<ThreadState>>>,
}

/// The state of one thread.
struct ThreadState {
    /// Milliseconds after the start.
    latest: AtomicU64,
    ended: AtomicBool,
}

/// The heartbeat handle of a thread. Dropping it, also by a panic, marks the thread as ended.
pub struct Heartbeat {
    start: Instant,
    state: Arc<ThreadState>,
}

/// The state of all threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LivenessReport {
    /// The number of threads.
    pub threads: usize,
    /// The number of ended threads.
    pub ended: usize,
    /// The longest time since a heartbeat.
    pub longest_silence: Duration,
}

impl LivenessReport {
    /// Whether no thread has ended or hangs.
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
    /// Registers a thread.
    #[must_use]
    pub fn register(&self) -> Heartbeat {
        let state = Arc::new(ThreadState { latest: AtomicU64::new(0), ended: AtomicBool::new(false) });
        self.threads.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::clone(&state));
        let heartbeat = Heartbeat { start: self.start, state };
        heartbeat.beat();
        heartbeat
    }

    /// The present state.
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
    /// Records a heartbeat.
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
    fn ended_and_hanging_threads_are_reported() {
        let liveness = LivenessRegistry::default();
        assert!(liveness.report().is_healthy(), "no thread is registered");
        let (first, second) = (liveness.register(), liveness.register());
        assert_eq!((liveness.report().threads, liveness.report().is_healthy()), (2, true));
        assert!(!liveness.report_after(liveness.start.elapsed() + HANG_TIMEOUT).is_healthy());
        first.beat();
        drop(second);
        let report = liveness.report();
        assert_eq!((report.ended, report.is_healthy()), (1, false));
    }
}
