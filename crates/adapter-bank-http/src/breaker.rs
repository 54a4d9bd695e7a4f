//! Takes a rest from a bank that fails.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use kopeck_port_system::Clock;
use time::Duration;

/// Opens after a number of failures in a row; after a pause one call is let through, and decides how to go on.
pub(crate) struct Breaker {
    clock: Arc<dyn Clock>,
    failures: u32,
    pause: Duration,
    state: Mutex<State>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Calls are made. So many have failed since the last that did not.
    Closed { failed: u32 },
    /// No call is made before this moment of the steady time.
    Open { until: Duration },
    /// One call is on its way to find out.
    Probing,
}

/// Leave to make one call. Dropped without [`Self::end`], the call counts as failed.
pub(crate) struct Leave<'a> {
    breaker: &'a Breaker,
    is_probe: bool,
    ended: bool,
}

impl Breaker {
    /// Opens after `failures` in a row, for `pause`.
    pub(crate) fn new(clock: Arc<dyn Clock>, failures: u32, pause: Duration) -> Self {
        Self { clock, failures: failures.max(1), pause, state: Mutex::new(State::Closed { failed: 0 }) }
    }

    /// `None` while no call is to be made.
    pub(crate) fn enter(&self) -> Option<Leave<'_>> {
        let mut state = self.lock();
        let is_probe = match *state {
            State::Closed { .. } => false,
            State::Open { until } if self.clock.steady() >= until => {
                *state = State::Probing;
                true
            }
            State::Open { .. } | State::Probing => return None,
        };
        Some(Leave { breaker: self, is_probe, ended: false })
    }

    fn note(&self, is_probe: bool, succeeded: bool) {
        let mut state = self.lock();
        let before = *state;
        *state = match before {
            State::Closed { .. } if succeeded => State::Closed { failed: 0 },
            State::Closed { failed } if failed + 1 < self.failures => State::Closed { failed: failed + 1 },
            State::Closed { .. } => self.open(),
            State::Probing if is_probe && succeeded => State::Closed { failed: 0 },
            State::Probing if is_probe => self.open(),
            // Of calls that were on their way when it opened: they tell of a time that is over.
            State::Open { .. } | State::Probing => before,
        };
        match (before, *state) {
            (State::Closed { .. }, State::Open { .. }) => {
                log::warn!(failures = self.failures; "the bank fails: no calls for a while");
            }
            (State::Probing, State::Closed { .. }) => log::info!("the bank answers again"),
            (State::Closed { .. } | State::Open { .. } | State::Probing, _) => {}
        }
    }

    fn open(&self) -> State {
        State::Open { until: self.clock.steady().saturating_add(self.pause) }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Leave<'_> {
    /// Tells how the call went.
    pub(crate) fn end(mut self, succeeded: bool) {
        self.ended = true;
        self.breaker.note(self.is_probe, succeeded);
    }
}

impl Drop for Leave<'_> {
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

    fn breaker() -> (Breaker, Arc<FakeClock>) {
        let clock = Arc::new(FakeClock::starting_at(OffsetDateTime::UNIX_EPOCH));
        (Breaker::new(Arc::clone(&clock) as _, 3, PAUSE), clock)
    }

    fn calls(breaker: &Breaker, outcomes: &[bool]) {
        outcomes.iter().for_each(|succeeded| breaker.enter().unwrap().end(*succeeded));
    }

    #[test]
    fn it_opens_after_failures_in_a_row() {
        let (breaker, _) = breaker();
        calls(&breaker, &[false, false, true, false, false, true]);
        calls(&breaker, &[false, false, false]);
        assert!(breaker.enter().is_none());
    }

    #[test]
    fn after_the_pause_one_call_finds_out() {
        let (breaker, clock) = breaker();
        calls(&breaker, &[false; 3]);
        clock.advance(PAUSE - Duration::MICROSECOND);
        assert!(breaker.enter().is_none());
        clock.advance(Duration::MICROSECOND);
        let probe = breaker.enter().unwrap();
        assert!(breaker.enter().is_none(), "one call alone");
        probe.end(false);
        assert!(breaker.enter().is_none(), "another pause");
        clock.advance(PAUSE);
        breaker.enter().unwrap().end(true);
        calls(&breaker, &[false, false, true]);
    }

    #[test]
    fn the_pause_does_not_depend_on_the_time_of_day() {
        for step in [Duration::days(1_100), Duration::hours(-5)] {
            let (breaker, clock) = breaker();
            calls(&breaker, &[false; 3]);
            clock.step(step);
            clock.advance(PAUSE - Duration::MICROSECOND);
            assert!(breaker.enter().is_none(), "{step}");
            clock.advance(Duration::MICROSECOND);
            assert!(breaker.enter().is_some(), "{step}");
        }
    }

    #[test]
    fn a_probe_that_ends_without_a_word_has_failed() {
        let (breaker, clock) = breaker();
        calls(&breaker, &[false; 3]);
        clock.advance(PAUSE);
        drop(breaker.enter());
        assert!(breaker.enter().is_none());
        clock.advance(PAUSE);
        assert!(breaker.enter().is_some());
    }

    #[test]
    fn calls_from_before_neither_close_nor_prolong_it() {
        let (breaker, clock) = breaker();
        let (late_success, late_failure) = (breaker.enter().unwrap(), breaker.enter().unwrap());
        calls(&breaker, &[false; 3]);
        late_success.end(true);
        assert!(breaker.enter().is_none());
        clock.advance(PAUSE);
        let probe = breaker.enter().unwrap();
        late_failure.end(false);
        probe.end(true);
        assert!(breaker.enter().is_some());
    }
}
