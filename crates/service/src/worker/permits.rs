//! A fair semaphore for the workers of one process, whose permits can be taken over.
//!
//! On a server with few processors two workers that are busy at once, one in the database and one with the bank's
//! request and response, leave no processor to the requests of partners: the slowest of these wait for milliseconds. So
//! only some workers have a permit at once, first come, first served. A worker that waits, for a slow bank or for a lock,
//! uses no processor: after a while the next worker takes its permit over. A worker that comes back from the bank to a
//! permit that was taken over is the next to have one, since the bank's answer is to be booked before the lease ends.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long a permit is safe while its worker works. A chunk is taken or booked in a fifth of it, unless a lock is waited
/// for.
pub(super) const WORK_TIME: Duration = Duration::from_millis(250);
/// How long a permit is safe during a call to the bank, for each card of the call. A bank that answers at once, on the
/// same machine, takes a quarter of it; one across a network takes tens of milliseconds at least.
pub(super) const BANK_TIME_PER_CARD: Duration = Duration::from_micros(25);

/// The permits.
#[derive(Debug)]
pub(super) struct Permits {
    count: usize,
    work_time: Duration,
    state: Mutex<State>,
    changed: Condvar,
}

/// A permit to work; released when it is dropped.
#[derive(Debug)]
pub(super) struct Permit<'a> {
    permits: &'a Permits,
    number: u64,
}

/// Workers by numbers in the order of their arrival.
#[derive(Debug, Default)]
struct State {
    last: u64,
    waiting: BTreeSet<u64>,
    /// The workers with a permit, and until when it is safe from a takeover.
    holding: BTreeMap<u64, Instant>,
}

impl Permits {
    /// So many permits, each safe for so long while its worker works.
    pub(super) fn new(count: NonZeroUsize, work_time: Duration) -> Self {
        Self { count: count.get(), work_time, state: Mutex::default(), changed: Condvar::new() }
    }

    /// Waits for a permit.
    pub(super) fn acquire(&self) -> Permit<'_> {
        let mut state = self.state();
        state.last += 1;
        let number = state.last;
        self.enter(state, number);
        Permit { permits: self, number }
    }

    fn enter(&self, mut state: MutexGuard<'_, State>, number: u64) {
        state.waiting.insert(number);
        loop {
            let is_next = state.waiting.first() == Some(&number);
            if is_next && state.holding.len() < self.count {
                break;
            }
            state = match state.safe_least().filter(|_| is_next) {
                None => self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
                Some((other, until)) => {
                    let left = until.saturating_duration_since(Instant::now());
                    if left.is_zero() {
                        state.holding.remove(&other);
                        break;
                    }
                    self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
        state.waiting.remove(&number);
        state.holding.insert(number, Instant::now() + self.work_time);
        drop(state);
        self.changed.notify_all();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// The permit that is the first to be taken over, and when.
    fn safe_least(&self) -> Option<(u64, Instant)> {
        self.holding.iter().map(|(number, until)| (*number, *until)).min_by_key(|(_, until)| *until)
    }
}

impl Permit<'_> {
    /// Does something that mostly waits, during which the permit is safe for so long. Then waits for a permit again if it
    /// was taken over.
    pub(super) fn release_while<R>(&mut self, kept: Duration, wait: impl FnOnce() -> R) -> R {
        if let Some(until) = self.permits.state().holding.get_mut(&self.number) {
            *until = Instant::now() + kept;
        }
        self.permits.changed.notify_all();
        let result = wait();
        let mut state = self.permits.state();
        match state.holding.get_mut(&self.number) {
            Some(until) => *until = Instant::now() + self.permits.work_time,
            None => self.permits.enter(state, self.number),
        }
        result
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        self.permits.state().holding.remove(&self.number);
        self.permits.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::thread;

    use super::*;

    const FOREVER: Duration = Duration::from_secs(3_600);
    /// The longest that a step of a test can take.
    const PATIENCE: Duration = Duration::from_secs(20);

    fn permits(count: usize, work_time: Duration) -> Permits {
        Permits::new(NonZeroUsize::new(count).unwrap(), work_time)
    }

    impl Permits {
        /// Waits until so many wait for a permit.
        pub(in super::super) fn until_waiting(&self, count: usize) {
            let begun = Instant::now();
            while self.state().waiting.len() != count {
                assert!(begun.elapsed() < PATIENCE, "never {count} waiting");
                thread::yield_now();
            }
        }

        pub(in super::super) fn holding(&self) -> usize {
            self.state().holding.len()
        }
    }

    impl Permit<'_> {
        /// For how long the permit is safe yet; `None` if it was taken over.
        fn is_safe_for(&self) -> Option<Duration> {
            let until = *self.permits.state().holding.get(&self.number)?;
            Some(until.saturating_duration_since(Instant::now()))
        }
    }

    #[test]
    fn no_more_workers_have_a_permit_than_there_are() {
        let permits = permits(2, FOREVER);
        thread::scope(|scope| {
            let (first, second) = (permits.acquire(), permits.acquire());
            let (entered, enters) = mpsc::channel();
            let permits = &permits;
            let worker = scope.spawn(move || {
                let _permit = permits.acquire();
                entered.send(()).unwrap();
            });
            permits.until_waiting(1);
            assert_eq!((permits.holding(), enters.try_recv()), (2, Err(mpsc::TryRecvError::Empty)));
            drop(first);
            worker.join().unwrap();
            assert_eq!(enters.try_recv(), Ok(()));
            drop(second);
        });
        assert_eq!(permits.holding(), 0);
    }

    #[test]
    fn permits_are_given_first_come_first_served() {
        let permits = permits(1, FOREVER);
        let order = Mutex::new(Vec::new());
        thread::scope(|scope| {
            let permit = permits.acquire();
            for number in 0..4 {
                let (permits, order) = (&permits, &order);
                scope.spawn(move || {
                    let _permit = permits.acquire();
                    order.lock().unwrap().push(number);
                });
                permits.until_waiting(usize::try_from(number).unwrap() + 1);
            }
            drop(permit);
        });
        assert_eq!(order.into_inner().unwrap(), [0, 1, 2, 3]);
    }

    #[test]
    fn a_permit_is_safe_during_a_short_wait() {
        let permits = permits(1, FOREVER);
        thread::scope(|scope| {
            let mut permit = permits.acquire();
            let other = permit.release_while(FOREVER, || {
                let other = scope.spawn(|| drop(permits.acquire()));
                permits.until_waiting(1);
                other
            });
            assert!(permit.is_safe_for().is_some());
            drop(permit);
            other.join().unwrap();
        });
        assert_eq!(permits.holding(), 0);
    }

    #[test]
    fn a_permit_is_safe_again_after_the_wait() {
        let permits = permits(1, FOREVER);
        let mut permit = permits.acquire();
        permit.release_while(Duration::ZERO, || {});
        assert!(permit.is_safe_for() > Some(FOREVER / 2));
    }

    #[test]
    fn after_a_takeover_the_worker_is_the_next_in_line() {
        let permits = permits(1, FOREVER);
        let order = Mutex::new(Vec::new());
        thread::scope(|scope| {
            let mut permit = permits.acquire();
            let (leave, leaves) = mpsc::channel::<()>();
            let (entered, enters) = mpsc::channel();
            let (permits, order) = (&permits, &order);
            scope.spawn(move || {
                let _permit = permits.acquire();
                entered.send(()).unwrap();
                leaves.recv_timeout(PATIENCE).unwrap();
                order.lock().unwrap().push("took over");
            });
            // It waits already, and has to be woken.
            permits.until_waiting(1);
            permit.release_while(Duration::ZERO, || {
                enters.recv_timeout(PATIENCE).unwrap();
                scope.spawn(|| {
                    let _permit = permits.acquire();
                    order.lock().unwrap().push("waited");
                });
                permits.until_waiting(1);
                scope.spawn(move || {
                    permits.until_waiting(2);
                    leave.send(()).unwrap();
                });
            });
            order.lock().unwrap().push("came back");
            drop(permit);
        });
        let order = order.into_inner().unwrap();
        assert_eq!(order, ["took over", "came back", "waited"]);
        assert_eq!(permits.holding(), 0);
    }

    #[test]
    fn the_permit_whose_time_is_over_is_taken_over() {
        for times in [[FOREVER, Duration::ZERO], [Duration::ZERO, FOREVER]] {
            let permits = permits(2, FOREVER);
            let [mut first, mut second] = [permits.acquire(), permits.acquire()];
            let kept = first.release_while(times[0], || {
                second.release_while(times[1], || {
                    let _third = permits.acquire();
                    let state = permits.state();
                    [1, 2].map(|number| state.holding.contains_key(&number))
                })
            });
            assert_eq!(kept, times.map(|time| time == FOREVER));
        }
    }

    /// A worker that waits for a lock for so long uses no processor.
    #[test]
    fn a_worker_thwork_times_too_long_loses_its_permit_and_works_on() {
        let permits = permits(1, Duration::ZERO);
        let mut first = permits.acquire();
        let second = permits.acquire();
        assert_eq!((first.is_safe_for(), permits.holding()), (None, 1));
        drop(second);
        assert_eq!(first.release_while(Duration::ZERO, || permits.holding()), 0);
        assert_eq!((first.is_safe_for(), permits.holding()), (Some(Duration::ZERO), 1));
    }

    #[test]
    fn a_panicking_worker_releases_its_permit() {
        let permits = permits(1, FOREVER);
        thread::scope(|scope| {
            let panics = scope
                .spawn(|| permits.acquire().release_while(FOREVER, || panic!("the bank's client panics")));
            assert!(panics.join().is_err());
        });
        assert_eq!(permits.holding(), 0);
    }
}
