//! Turns at work for the workers of one process.
//!
//! On a server with few processors two workers that are busy at once, one in the database and one with what the bank is
//! told and answers, leave no processor to the calls that come meanwhile: the slowest of these wait for milliseconds. So
//! only some workers have a place at once, in the order in which they came. Where somebody mostly waits, for a slow bank or
//! for a lock, no processor is busy: then their place is taken over by whoever is next. Who comes back from the bank to
//! find that is the next to have a place, since what the bank said is to be booked before the lease ends.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long a place is kept for somebody at work. A chunk is taken or booked in a fifth of it, unless a lock is waited for.
pub(super) const AT_WORK: Duration = Duration::from_millis(250);
/// How long a place is kept for somebody at the bank, for each card that it is told of. One that answers at once, on the
/// same machine, takes a quarter of it; one across a network takes tens of milliseconds at least.
pub(super) const AT_THE_BANK: Duration = Duration::from_micros(25);

/// The places at which workers have their turns.
#[derive(Debug)]
pub(super) struct Turns {
    places: usize,
    at_work: Duration,
    state: Mutex<State>,
    changed: Condvar,
}

/// A place to work at; given up when it is dropped.
#[derive(Debug)]
pub(super) struct Turn<'a> {
    turns: &'a Turns,
    number: u64,
}

/// Workers by the numbers of their turns, of which the lowest is the first.
#[derive(Debug, Default)]
struct State {
    last: u64,
    waiting: BTreeSet<u64>,
    /// Those who have a place, and until when it is not taken over.
    placed: BTreeMap<u64, Instant>,
}

impl Turns {
    /// So many places, each of which is kept for somebody at work for so long.
    pub(super) fn new(places: NonZeroUsize, at_work: Duration) -> Self {
        Self { places: places.get(), at_work, state: Mutex::default(), changed: Condvar::new() }
    }

    /// Waits for a turn.
    pub(super) fn wait(&self) -> Turn<'_> {
        let mut state = self.state();
        state.last += 1;
        let number = state.last;
        self.enter(state, number);
        Turn { turns: self, number }
    }

    fn enter(&self, mut state: MutexGuard<'_, State>, number: u64) {
        state.waiting.insert(number);
        loop {
            let is_next = state.waiting.first() == Some(&number);
            if is_next && state.placed.len() < self.places {
                break;
            }
            state = match state.kept_least().filter(|_| is_next) {
                None => self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
                Some((other, until)) => {
                    let left = until.saturating_duration_since(Instant::now());
                    if left.is_zero() {
                        state.placed.remove(&other);
                        break;
                    }
                    self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
        state.waiting.remove(&number);
        state.placed.insert(number, Instant::now() + self.at_work);
        drop(state);
        self.changed.notify_all();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Whose place is the first to be taken over, and when.
    fn kept_least(&self) -> Option<(u64, Instant)> {
        self.placed.iter().map(|(number, until)| (*number, *until)).min_by_key(|(_, until)| *until)
    }
}

impl Turn<'_> {
    /// Does something that mostly waits, for which the place is kept for so long. Then comes back to work, and waits for
    /// a place again if somebody took it over.
    pub(super) fn away<R>(&mut self, kept: Duration, wait: impl FnOnce() -> R) -> R {
        if let Some(until) = self.turns.state().placed.get_mut(&self.number) {
            *until = Instant::now() + kept;
        }
        self.turns.changed.notify_all();
        let result = wait();
        let mut state = self.turns.state();
        match state.placed.get_mut(&self.number) {
            Some(until) => *until = Instant::now() + self.turns.at_work,
            None => self.turns.enter(state, self.number),
        }
        result
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.turns.state().placed.remove(&self.number);
        self.turns.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::thread;

    use super::*;

    const FOR_EVER: Duration = Duration::from_secs(3_600);
    /// Longer than anything takes that does not hang.
    const PATIENCE: Duration = Duration::from_secs(20);

    fn turns(places: usize, at_work: Duration) -> Turns {
        Turns::new(NonZeroUsize::new(places).unwrap(), at_work)
    }

    impl Turns {
        /// Waits until so many wait for a turn.
        pub(in super::super) fn until_waiting(&self, count: usize) {
            let begun = Instant::now();
            while self.state().waiting.len() != count {
                assert!(begun.elapsed() < PATIENCE, "there are never {count} who wait");
                thread::yield_now();
            }
        }

        pub(in super::super) fn placed(&self) -> usize {
            self.state().placed.len()
        }
    }

    impl Turn<'_> {
        /// For how long the place is kept yet; `None` if it was taken over.
        fn is_kept_for(&self) -> Option<Duration> {
            let until = *self.turns.state().placed.get(&self.number)?;
            Some(until.saturating_duration_since(Instant::now()))
        }
    }

    #[test]
    fn no_more_have_a_turn_at_once_than_there_are_places() {
        let turns = turns(2, FOR_EVER);
        thread::scope(|scope| {
            let (first, second) = (turns.wait(), turns.wait());
            let (entered, enters) = mpsc::channel();
            let turns = &turns;
            let worker = scope.spawn(move || {
                let _turn = turns.wait();
                entered.send(()).unwrap();
            });
            turns.until_waiting(1);
            assert_eq!((turns.placed(), enters.try_recv()), (2, Err(mpsc::TryRecvError::Empty)));
            drop(first);
            worker.join().unwrap();
            assert_eq!(enters.try_recv(), Ok(()));
            drop(second);
        });
        assert_eq!(turns.placed(), 0);
    }

    #[test]
    fn turns_come_in_the_order_in_which_they_were_asked_for() {
        let turns = turns(1, FOR_EVER);
        let order = Mutex::new(Vec::new());
        thread::scope(|scope| {
            let turn = turns.wait();
            for number in 0..4 {
                let (turns, order) = (&turns, &order);
                scope.spawn(move || {
                    let _turn = turns.wait();
                    order.lock().unwrap().push(number);
                });
                turns.until_waiting(usize::try_from(number).unwrap() + 1);
            }
            drop(turn);
        });
        assert_eq!(order.into_inner().unwrap(), [0, 1, 2, 3]);
    }

    #[test]
    fn a_place_is_kept_for_who_is_away_for_a_while() {
        let turns = turns(1, FOR_EVER);
        thread::scope(|scope| {
            let mut turn = turns.wait();
            let other = turn.away(FOR_EVER, || {
                let other = scope.spawn(|| drop(turns.wait()));
                turns.until_waiting(1);
                other
            });
            assert!(turn.is_kept_for().is_some());
            drop(turn);
            other.join().unwrap();
        });
        assert_eq!(turns.placed(), 0);
    }

    #[test]
    fn a_place_is_kept_again_for_who_came_back_to_it() {
        let turns = turns(1, FOR_EVER);
        let mut turn = turns.wait();
        turn.away(Duration::ZERO, || {});
        assert!(turn.is_kept_for() > Some(FOR_EVER / 2));
    }

    #[test]
    fn who_is_away_for_longer_loses_it_and_is_the_next_on_coming_back() {
        let turns = turns(1, FOR_EVER);
        let order = Mutex::new(Vec::new());
        thread::scope(|scope| {
            let mut turn = turns.wait();
            let (leave, leaves) = mpsc::channel::<()>();
            let (entered, enters) = mpsc::channel();
            let (turns, order) = (&turns, &order);
            scope.spawn(move || {
                let _turn = turns.wait();
                entered.send(()).unwrap();
                leaves.recv_timeout(PATIENCE).unwrap();
                order.lock().unwrap().push("who took it over");
            });
            // It waits already, and has to be told.
            turns.until_waiting(1);
            turn.away(Duration::ZERO, || {
                enters.recv_timeout(PATIENCE).unwrap();
                scope.spawn(|| {
                    let _turn = turns.wait();
                    order.lock().unwrap().push("who waited already");
                });
                turns.until_waiting(1);
                scope.spawn(move || {
                    turns.until_waiting(2);
                    leave.send(()).unwrap();
                });
            });
            order.lock().unwrap().push("who was away");
            drop(turn);
        });
        let order = order.into_inner().unwrap();
        assert_eq!(order, ["who took it over", "who was away", "who waited already"]);
        assert_eq!(turns.placed(), 0);
    }

    #[test]
    fn of_two_who_are_away_the_one_whose_time_is_over_loses_the_place() {
        for times in [[FOR_EVER, Duration::ZERO], [Duration::ZERO, FOR_EVER]] {
            let turns = turns(2, FOR_EVER);
            let [mut first, mut second] = [turns.wait(), turns.wait()];
            let kept = first.away(times[0], || {
                second.away(times[1], || {
                    let _third = turns.wait();
                    let state = turns.state();
                    [1, 2].map(|number| state.placed.contains_key(&number))
                })
            });
            assert_eq!(kept, times.map(|time| time == FOR_EVER));
        }
    }

    /// Whoever waits for a lock for so long uses no processor.
    #[test]
    fn who_is_at_work_for_too_long_loses_the_place_and_works_on() {
        let turns = turns(1, Duration::ZERO);
        let mut first = turns.wait();
        let second = turns.wait();
        assert_eq!((first.is_kept_for(), turns.placed()), (None, 1));
        drop(second);
        assert_eq!(first.away(Duration::ZERO, || turns.placed()), 0);
        assert_eq!((first.is_kept_for(), turns.placed()), (Some(Duration::ZERO), 1));
    }

    #[test]
    fn who_panics_gives_the_turn_up() {
        let turns = turns(1, FOR_EVER);
        thread::scope(|scope| {
            let panics = scope.spawn(|| turns.wait().away(FOR_EVER, || panic!("the bank's client panics")));
            assert!(panics.join().is_err());
        });
        assert_eq!(turns.placed(), 0);
    }
}
