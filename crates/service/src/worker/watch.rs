//! Keeps work going when the clock that it is scheduled by is set.
//!
//! That clock is the store's: of a database server, or of this machine. Work that was put off while it stood ahead would
//! wait until it has caught up. Nothing is ever put off or leased for long, so times far ahead tell by themselves that the
//! clock was set back since, whichever process noticed it and whatever was restarted meanwhile. See ADR 35.

use std::sync::Arc;

use kopeck_port_store::{Access, Horizon, JobClock, Store, StoreError, transact};
use time::Duration;

use super::WorkerSettings;
use super::next::LONGEST_PAUSE;
use crate::Env;

/// The least change of the store's clock against the steady time that counts as a step.
const LEAST_STEP: Duration = Duration::seconds(3);

/// How long new work may be put off at least without a doubt, as long as no step was noticed: another process may have
/// been given a longer processing delay than this one.
const BENEFIT_OF_DOUBT: Duration = Duration::minutes(10);

/// Watches the store's clock, and makes jobs due again that it has left in the future. To be called every second.
pub struct ClockWatch {
    store: Arc<dyn Store>,
    env: Arc<Env>,
    lease: Duration,
    /// How far the store's clock was ahead of the steady time: the bounds between which it was.
    latest: Option<[Duration; 2]>,
}

/// What a look at the store's clock has shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClockCheck {
    /// By how much the store's clock was set since the last look: ahead, or back if negative.
    pub step: Option<Duration>,
    /// How far the store's clock is ahead of the service's.
    pub ahead_of_service: Duration,
    /// The number of jobs that were brought back from the future.
    pub brought_back: u64,
}

impl ClockWatch {
    /// A watch over the work of workers with these settings.
    #[must_use]
    pub fn new(store: Arc<dyn Store>, env: Arc<Env>, settings: WorkerSettings) -> Self {
        Self { store, env, lease: settings.lease, latest: None }
    }

    /// Looks at the store's clock.
    ///
    /// # Errors
    /// [`StoreError`]; then nothing was brought back, and a step will be noticed at the next look.
    pub fn check(&mut self) -> Result<ClockCheck, StoreError> {
        let delay = self.env.settings.processing_delay;
        let before = self.env.clock.steady();
        let mut horizon =
            Horizon { first: delay.max(BENEFIT_OF_DOUBT), again: LONGEST_PAUSE, lease: self.lease };
        let JobClock { now, mut is_exceeded } = self.look(horizon)?;
        let after = self.env.clock.steady();
        let since_epoch = now - time::OffsetDateTime::UNIX_EPOCH;
        // The clock was read some time between the two.
        let bounds = [since_epoch - after, since_epoch - before];
        let step = self.latest.and_then(|latest| step_between(latest, bounds));
        if step.is_some_and(Duration::is_negative) {
            horizon.first = delay;
            is_exceeded = true;
        }
        let brought_back = if is_exceeded { self.bring_within(horizon)? } else { 0 };
        self.latest = Some(bounds);
        Ok(ClockCheck { step, ahead_of_service: now - self.env.now(), brought_back })
    }

    fn look(&self, horizon: Horizon) -> Result<JobClock, StoreError> {
        transact(&*self.store, Access::Read, move |unit| unit.jobs().clock(horizon))
    }

    fn bring_within(&self, horizon: Horizon) -> Result<u64, StoreError> {
        transact(&*self.store, Access::Write, move |unit| unit.jobs().bring_within(horizon))
    }
}

/// By how much a clock was set that was ahead of the steady time between the bounds `earlier`, and is between `later` now;
/// `None` if it may be that it was not.
fn step_between(earlier: [Duration; 2], later: [Duration; 2]) -> Option<Duration> {
    let ([earlier_low, earlier_high], [low, high]) = (earlier, later);
    if high <= earlier_low - LEAST_STEP {
        Some(high - earlier_low)
    } else if low >= earlier_high + LEAST_STEP {
        Some(low - earlier_high)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use kopeck_port_store::mock::{InPlaceStore, MockUnit};
    use kopeck_port_system::Clock as _;

    use super::*;
    use crate::testing::*;

    const SETTINGS: WorkerSettings = WorkerSettings { lease: Duration::seconds(30), batch: 4, chunk: 1_000 };
    const USUAL: Horizon =
        Horizon { first: BENEFIT_OF_DOUBT, again: LONGEST_PAUSE, lease: Duration::seconds(30) };

    /// A watch over a store whose clock is the bench's, and the horizons that work was brought within. `is_exceeded` says
    /// what the store finds beyond the usual horizon.
    fn watch(bench: &Bench, is_exceeded: bool) -> (ClockWatch, Arc<Mutex<Vec<Horizon>>>) {
        let mut unit = MockUnit::default();
        let clock = Arc::clone(&bench.clock);
        unit.jobs.expect_clock().returning(move |horizon| {
            assert_eq!(horizon, USUAL);
            Ok(JobClock { now: clock.now(), is_exceeded })
        });
        let brought = Arc::<Mutex<Vec<Horizon>>>::default();
        let log = Arc::clone(&brought);
        unit.jobs.expect_bring_within().returning(move |horizon| {
            log.lock().unwrap().push(horizon);
            Ok(7)
        });
        (ClockWatch::new(Arc::new(InPlaceStore::new(unit)), bench.shared(), SETTINGS), brought)
    }

    #[test]
    fn a_step_is_noticed_once_and_time_that_passes_is_none() {
        let bench = Bench::new();
        let (mut watch, brought) = watch(&bench, false);
        let mut check = || watch.check().unwrap();
        assert_eq!(check().step, None);
        bench.clock.advance(Duration::hours(3));
        assert_eq!(check().step, None);
        bench.clock.step(LEAST_STEP - Duration::MICROSECOND);
        assert_eq!(check().step, None);
        bench.clock.step(Duration::days(1_100));
        let noticed = ClockCheck {
            step: Some(Duration::days(1_100)),
            ahead_of_service: Duration::ZERO,
            brought_back: 0,
        };
        assert_eq!([check(), check()], [noticed, ClockCheck { step: None, ..noticed }]);
        assert!(brought.lock().unwrap().is_empty());
        bench.clock.step(-Duration::days(1_100));
        let noticed = ClockCheck { step: Some(-Duration::days(1_100)), brought_back: 7, ..noticed };
        assert_eq!([check(), check()], [noticed, ClockCheck { step: None, brought_back: 0, ..noticed }]);
        let first = bench.settings.processing_delay;
        assert_eq!(*brought.lock().unwrap(), [Horizon { first, ..USUAL }]);
    }

    /// It was set while no process was running.
    #[test]
    fn work_in_the_future_is_brought_back_without_a_step_too() {
        let bench = Bench::new();
        let (mut watch, brought) = watch(&bench, true);
        assert_eq!(watch.check().unwrap().brought_back, 7);
        assert_eq!(*brought.lock().unwrap(), [USUAL]);
    }

    /// The store may take its time to answer.
    #[test]
    fn a_slow_answer_is_no_step() {
        let seconds = |low, high| [Duration::seconds(low), Duration::seconds(high)];
        assert_eq!(step_between(seconds(100, 100), seconds(40, 100)), None);
        assert_eq!(step_between(seconds(40, 100), seconds(98, 98)), None);
        assert_eq!(step_between(seconds(40, 100), seconds(103, 104)), Some(Duration::seconds(3)));
        assert_eq!(step_between(seconds(40, 100), seconds(30, 37)), Some(-Duration::seconds(3)));
    }

    #[test]
    fn a_step_that_could_not_be_acted_upon_is_noticed_again() {
        let bench = Bench::new();
        let (mut unit, clock) = (MockUnit::default(), Arc::clone(&bench.clock));
        unit.jobs.expect_clock().returning(move |_| Ok(JobClock { now: clock.now(), is_exceeded: false }));
        let mut outcomes = vec![Ok(2), Err(broken())];
        unit.jobs.expect_bring_within().times(2).returning(move |_| outcomes.pop().unwrap());
        let mut watch = ClockWatch::new(Arc::new(InPlaceStore::new(unit)), bench.shared(), SETTINGS);
        watch.check().unwrap();
        bench.clock.step(-Duration::HOUR);
        assert_eq!(watch.check(), Err(broken()));
        let check = watch.check().unwrap();
        assert_eq!((check.step, check.brought_back), (Some(-Duration::HOUR), 2));
    }
}
