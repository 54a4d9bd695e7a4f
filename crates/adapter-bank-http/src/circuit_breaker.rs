//! A circuit breaker.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use kopeck_port_system::Clock;
use time::Duration;

/// Opens after several failures in a row; after a pause it admits one request, which decides how to go on.
pub(crate) struct CircuitBreaker {
    clock: Arc<dyn Clock>,
    failures: u32,
    pause: Duration,
    state: Mutex<CircuitState>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CircuitState {
    /// Admits requests. Counts the failures in a row.
    Closed { failed: u32 },
    /// Admits none before this time on the steady clock.
    Open { until: Duration },
    /// One request is in flight to probe the bank.
    Probing,
}

/// Permission for one request. Dropped without [`Self::finish`], the request counts as failed.
pub(crate) struct AttemptPermit<'a> {
    breaker: &'a CircuitBreaker,
    is_probe: bool,
    ended: bool,
}

impl CircuitBreaker {
    /// Opens after `failures` in a row, for `pause`.
    pub(crate) fn new(clock: Arc<dyn Clock>, failures: u32, pause: Duration) -> Self {
        Self {
            clock,
            failures: failures.max(1),
            pause,
            state: Mutex::new(CircuitState::Closed { failed: 0 }),
        }
    }

    /// `None` while no request is admitted.
    pub(crate) fn try_acquire(&self) -> Option<AttemptPermit<'_>> {
        let mut state = self.lock();
        let is_probe = match *state {
            CircuitState::Closed { .. } => false,
            CircuitState::Open { until } if self.clock.steady() >= until => {
                *state = CircuitState::Probing;
                true
            }
            CircuitState::Open { .. } | CircuitState::Probing => return None,
        };
        Some(AttemptPermit { breaker: self, is_probe, ended: false })
    }

    fn note(&self, is_probe: bool, succeeded: bool) {
        let mut state = self.lock();
        let before = *state;
        *state = match before {
            CircuitState::Closed { .. } if succeeded => CircuitState::Closed { failed: 0 },
            CircuitState::Closed { failed } if failed + 1 < self.failures => {
                CircuitState::Closed { failed: failed + 1 }
            }
            CircuitState::Closed { .. } => self.open(),
            CircuitState::Probing if is_probe && succeeded => CircuitState::Closed { failed: 0 },
            CircuitState::Probing if is_probe => self.open(),
            // Late results of requests sent before it opened.
            CircuitState::Open { .. } | CircuitState::Probing => before,
        };
        match (before, *state) {
            (CircuitState::Closed { .. }, CircuitState::Open { .. }) => {
                log::warn!(failures = self.failures; "the circuit breaker is open: no bank requests for a while");
            }
            (CircuitState::Probing, CircuitState::Closed { .. }) => {
                log::info!("the circuit breaker is closed: the bank responds again");
            }
            (CircuitState::Closed { .. } | CircuitState::Open { .. } | CircuitState::Probing, _) => {}
        }
    }

    fn open(&self) -> CircuitState {
        CircuitState::Open { until: self.clock.steady().saturating_add(self.pause) }
    }

    fn lock(&self) -> MutexGuard<'_, CircuitState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl AttemptPermit<'_> {
    /// Records the result of the request.
    pub(crate) fn finish(mut self, succeeded: bool) {
        self.ended = true;
        self.breaker.note(self.is_probe, succeeded);
    }
}

impl Drop for AttemptPermit<'_> {
    fn drop(&mut self) {
        if !self.ended {
            self.breaker.note(self.is_probe, false);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kopeck_port_system::fake::FakeClock;
    use time::OffsetDateTime;

    const PAUSE: Duration = Duration::seconds(5);

    fn breaker() -> (CircuitBreaker, Arc<FakeClock>) {
        let clock = Arc::new(FakeClock::starting_at(OffsetDateTime::UNIX_EPOCH));
        (CircuitBreaker::new(Arc::clone(&clock) as _, 3, PAUSE), clock)
    }

    fn calls(breaker: &CircuitBreaker, outcomes: &[bool]) {
        outcomes.iter().for_each(|succeeded| breaker.try_acquire().unwrap().finish(*succeeded));
    }

    #[test]
    fn it_opens_after_failures_in_a_row() {
        let (breaker, _) = breaker();
        calls(&breaker, &[false, false, true, false, false, true]);
        calls(&breaker, &[false, false, false]);
        assert!(breaker.try_acquire().is_none());
    }

    #[test]
    fn after_the_pause_one_request_probes() {
        let (breaker, clock) = breaker();
        calls(&breaker, &[false; 3]);
        clock.advance(PAUSE - Duration::MICROSECOND);
        assert!(breaker.try_acquire().is_none());
        clock.advance(Duration::MICROSECOND);
        let probe = breaker.try_acquire().unwrap();
        assert!(breaker.try_acquire().is_none(), "one call alone");
        probe.finish(false);
        assert!(breaker.try_acquire().is_none(), "another pause");
        clock.advance(PAUSE);
        breaker.try_acquire().unwrap().finish(true);
        calls(&breaker, &[false, false, true]);
    }

    #[test]
    fn the_pause_does_not_depend_on_the_time_of_day() {
        for step in [Duration::days(1_100), Duration::hours(-5)] {
            let (breaker, clock) = breaker();
            calls(&breaker, &[false; 3]);
            clock.step(step);
            clock.advance(PAUSE - Duration::MICROSECOND);
            assert!(breaker.try_acquire().is_none(), "{step}");
            clock.advance(Duration::MICROSECOND);
            assert!(breaker.try_acquire().is_some(), "{step}");
        }
    }

    #[test]
    fn a_dropped_probe_counts_as_failed() {
        let (breaker, clock) = breaker();
        calls(&breaker, &[false; 3]);
        clock.advance(PAUSE);
        drop(breaker.try_acquire());
        assert!(breaker.try_acquire().is_none());
        clock.advance(PAUSE);
        assert!(breaker.try_acquire().is_some());
    }

    #[test]
    fn late_results_do_not_change_the_state() {
        let (breaker, clock) = breaker();
        let (late_success, late_failure) = (breaker.try_acquire().unwrap(), breaker.try_acquire().unwrap());
        calls(&breaker, &[false; 3]);
        late_success.finish(true);
        assert!(breaker.try_acquire().is_none());
        clock.advance(PAUSE);
        let probe = breaker.try_acquire().unwrap();
        late_failure.finish(false);
        probe.finish(true);
        assert!(breaker.try_acquire().is_some());
    }
}
