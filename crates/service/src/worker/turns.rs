//! Turns at work for the workers of one process.
//!
//! On a server with few processors two workers that are busy at once, one in the database and one with the bank, leave
//! no processor to the calls that come meanwhile: the slowest of these wait for milliseconds. So only some workers have
//! a turn at once, in the order in which they came. A slow bank is waited for, though, and that takes no processor: who
//! is there for longer than the others' patience has their place taken, and is the next to have one on coming back,
//! since what the bank said is to be booked before the lease ends.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A few times as long as a bank on the same machine takes for a chunk, a few times less than one across a network.
pub(super) const PATIENCE: Duration = Duration::from_millis(25);

/// The places at which workers have their turns.
#[derive(Debug)]
pub(super) struct Turns {
    places: usize,
    patience: Duration,
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
    /// Those who have a place, and since when they are away.
    placed: BTreeMap<u64, Option<Instant>>,
}

impl Turns {
    /// So many places, of which one is taken over when its worker was away for longer than `patience`.
    pub(super) fn new(places: NonZeroUsize, patience: Duration) -> Self {
        Self { places: places.get(), patience, state: Mutex::default(), changed: Condvar::new() }
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
            state = match state.longest_away().filter(|_| is_next) {
                None => self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
                Some((absent, since)) => {
                    let left = self.patience.saturating_sub(since.elapsed());
                    if left.is_zero() {
                        state.placed.remove(&absent);
                        break;
                    }
                    self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
        state.waiting.remove(&number);
        state.placed.insert(number, None);
        drop(state);
        self.changed.notify_all();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn longest_away(&self) -> Option<(u64, Instant)> {
        let away = self.placed.iter().filter_map(|(number, since)| Some((*number, (*since)?)));
        away.min_by_key(|(_, since)| *since)
    }
}

impl Turn<'_> {
    /// Does something that mostly waits, for which the place is lost if it takes long and others want it. Then comes
    /// back to work, and waits for a place again if it was lost.
    pub(super) fn away<R>(&self, wait: impl FnOnce() -> R) -> R {
        self.turns.state().placed.insert(self.number, Some(Instant::now()));
        self.turns.changed.notify_all();
        let result = wait();
        let mut state = self.turns.state();
        match state.placed.get_mut(&self.number) {
            Some(away_since) => *away_since = None,
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

    fn turns(places: usize, patience: Duration) -> Turns {
        Turns::new(NonZeroUsize::new(places).unwrap(), patience)
    }

    impl Turns {
        /// Waits until so many wait for a turn.
        pub(in super::super) fn until_waiting(&self, count: usize) {
            while self.state().waiting.len() != count {
                thread::yield_now();
            }
        }

        fn placed(&self) -> usize {
            self.state().placed.len()
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
    fn who_is_away_for_less_than_the_patience_keeps_the_turn() {
        let turns = turns(1, FOR_EVER);
        thread::scope(|scope| {
            let turn = turns.wait();
            let other = turn.away(|| {
                let other = scope.spawn(|| drop(turns.wait()));
                turns.until_waiting(1);
                other
            });
            assert_eq!((turns.placed(), turns.state().waiting.len()), (1, 1));
            drop(turn);
            other.join().unwrap();
        });
        assert_eq!(turns.placed(), 0);
    }

    #[test]
    fn who_is_away_for_longer_loses_it_and_is_the_next_on_coming_back() {
        let turns = turns(1, Duration::ZERO);
        let order = Mutex::new(Vec::new());
        thread::scope(|scope| {
            let turn = turns.wait();
            let (leave, leaves) = mpsc::channel::<()>();
            turn.away(|| {
                let (entered, enters) = mpsc::channel();
                let (turns, order) = (&turns, &order);
                scope.spawn(move || {
                    let _turn = turns.wait();
                    entered.send(()).unwrap();
                    leaves.recv().unwrap();
                    order.lock().unwrap().push("who took it over");
                });
                enters.recv().unwrap();
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
    fn who_panics_gives_the_turn_up() {
        let turns = turns(1, Duration::ZERO);
        thread::scope(|scope| {
            let panics = scope.spawn(|| turns.wait().away(|| panic!("the bank's client panics")));
            assert!(panics.join().is_err());
        });
        assert_eq!(turns.placed(), 0);
        drop(turns.wait());
    }
}
