//! A bounded queue between those who submit work and the threads that do it.

use std::collections::{HashMap, VecDeque};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use kopeck_domain::ids::PartnerId;

/// Why a queue did not take something; it hands it back.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Refused<T> {
    /// It holds as much as it may.
    Full(T),
    /// It was closed.
    Closed(T),
}

/// How soon one who takes does so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Taker {
    /// At once.
    First,
    /// At once too what is known to concern a partner; everything else when something has waited so long that those who
    /// come first must be held up.
    Spare(Duration),
}

/// One of those who take. Each has a number of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place(pub(crate) usize);

/// First in, first out; but what concerns a partner whom somebody has in hand is left for the one who has. Closing it
/// lets what is in it still be taken.
pub(crate) struct Queue<T> {
    capacity: usize,
    state: Mutex<State<T>>,
    /// For those who take at once.
    filled: Condvar,
    /// For the others.
    spare: Condvar,
}

struct State<T> {
    waiting: VecDeque<Waiting<T>>,
    /// Which partners are in whose hands.
    in_hand: HashMap<PartnerId, Place>,
    closed: bool,
    /// How many wait who take at once.
    idle: usize,
    /// Whether one of the others looks by itself, in a moment, what is overdue, or was told to.
    is_watched: bool,
}

struct Waiting<T> {
    since: Instant,
    whose: Option<PartnerId>,
    item: T,
}

impl<T> State<T> {
    /// Whether nobody has this partner in hand. A queue that is closed is emptied by whoever comes.
    fn is_free(&self, whose: Option<PartnerId>) -> bool {
        self.closed || whose.is_none_or(|partner| !self.in_hand.contains_key(&partner))
    }

    /// This one no longer has anybody in hand.
    fn put_down(&mut self, place: Place) {
        self.in_hand.retain(|_, holder| *holder != place);
    }

    /// How long one who takes has to wait, as things stand; nothing if that depends on what comes.
    fn wait_of(&self, taker: Taker) -> Option<Duration> {
        let mut free = self.waiting.iter().filter(|waiting| self.is_free(waiting.whose));
        let first = free.next()?;
        match taker {
            Taker::First => Some(Duration::ZERO),
            Taker::Spare(_) if first.whose.is_some() || free.any(|other| other.whose.is_some()) => {
                Some(Duration::ZERO)
            }
            Taker::Spare(patience) => Some(patience.saturating_sub(first.since.elapsed())),
        }
    }

    /// Takes what is for this taker, in its order, with the partners whom it concerns.
    fn take(&mut self, place: Place, taker: Taker, most: usize) -> Vec<T> {
        let is_for_anybody = match taker {
            Taker::First => true,
            Taker::Spare(patience) => {
                let mut of_nobody = self.waiting.iter().filter(|waiting| waiting.whose.is_none());
                self.closed || of_nobody.next().is_some_and(|first| first.since.elapsed() >= patience)
            }
        };
        let (mut taken, mut partners, mut has_left) = (Vec::new(), Vec::new(), false);
        for _ in 0..self.waiting.len() {
            if taken.len() == most && !has_left {
                break;
            }
            let Some(waiting) = self.waiting.pop_front() else { break };
            let is_meant = self.is_free(waiting.whose) && (is_for_anybody || waiting.whose.is_some());
            if taken.len() < most && is_meant {
                partners.extend(waiting.whose);
                taken.push(waiting.item);
            } else {
                // Once round, so that it keeps its place among those that are left.
                self.waiting.push_back(waiting);
                has_left = true;
            }
        }
        self.in_hand.extend(partners.into_iter().map(|partner| (partner, place)));
        taken
    }
}

impl<T> Queue<T> {
    pub(crate) fn new(capacity: usize) -> Self {
        let state = State {
            waiting: VecDeque::new(),
            in_hand: HashMap::new(),
            closed: false,
            idle: 0,
            is_watched: false,
        };
        Self { capacity, state: Mutex::new(state), filled: Condvar::new(), spare: Condvar::new() }
    }

    /// Nothing that runs under the lock can panic half-way, so a poisoned one is as good as another.
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds `item` without waiting. `whose`: the partner whom it concerns, if that is known.
    pub(crate) fn push(&self, item: T, whose: Option<PartnerId>) -> Result<(), Refused<T>> {
        let mut state = self.lock();
        if state.closed {
            return Err(Refused::Closed(item));
        }
        if state.waiting.len() >= self.capacity {
            return Err(Refused::Full(item));
        }
        state.waiting.push_back(Waiting { since: Instant::now(), whose, item });
        self.call_for(state, whose);
        Ok(())
    }

    /// Wakes one for what concerns this partner; if nobody takes it at once, one of the others looks how long that lasts.
    fn call_for(&self, mut state: MutexGuard<'_, State<T>>, whose: Option<PartnerId>) {
        if !state.is_free(whose) {
            return;
        }
        let is_first = state.idle > 0;
        let is_seen = !is_first && whose.is_none() && std::mem::replace(&mut state.is_watched, true);
        drop(state);
        if is_first {
            self.filled.notify_one();
        } else if !is_seen {
            self.spare.notify_one();
        }
    }

    /// The same for what is left, of which nobody may have heard.
    fn call_for_left(&self, state: MutexGuard<'_, State<T>>) {
        let mut free =
            state.waiting.iter().map(|waiting| waiting.whose).filter(|whose| state.is_free(*whose));
        if let Some(first) = free.next() {
            let whose = first.or_else(|| free.flatten().next());
            self.call_for(state, whose);
        }
    }

    /// Waits until there is something for this taker, and takes what is there, up to `most`; nothing once the queue is
    /// closed and empty. What it took before is no longer in its hands.
    pub(crate) fn take(&self, place: Place, taker: Taker, most: usize) -> Vec<T> {
        let mut state = self.lock();
        state.put_down(place);
        while !state.closed {
            state = match (state.wait_of(taker), taker) {
                (Some(Duration::ZERO), _) => break,
                (_, Taker::First) => {
                    state.idle += 1;
                    let mut state = self.filled.wait(state).unwrap_or_else(PoisonError::into_inner);
                    state.idle -= 1;
                    state
                }
                (None, Taker::Spare(_)) => {
                    state.is_watched = false;
                    self.spare.wait(state).unwrap_or_else(PoisonError::into_inner)
                }
                (Some(wait), Taker::Spare(_)) => {
                    state.is_watched = true;
                    let waited = self.spare.wait_timeout(state, wait);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
        let taken = state.take(place, taker, most);
        state.is_watched &= taker == Taker::First;
        self.call_for_left(state);
        taken
    }

    /// What this one took is no longer in its hands: it will not come back for what was left for it.
    pub(crate) fn leave(&self, place: Place) {
        let mut state = self.lock();
        state.put_down(place);
        self.call_for_left(state);
    }

    /// Takes all that is there, without waiting.
    pub(crate) fn take_waiting(&self) -> Vec<T> {
        self.lock().waiting.drain(..).map(|waiting| waiting.item).collect()
    }

    /// Takes from the front what `is_meant`, without waiting.
    pub(crate) fn take_first_while(&self, is_meant: impl Fn(&T) -> bool) -> Vec<T> {
        let mut state = self.lock();
        let count = state.waiting.iter().take_while(|waiting| is_meant(&waiting.item)).count();
        state.waiting.drain(..count).map(|waiting| waiting.item).collect()
    }

    /// How many wait.
    pub(crate) fn len(&self) -> usize {
        self.lock().waiting.len()
    }

    /// Takes nothing more in.
    pub(crate) fn close(&self) {
        self.lock().closed = true;
        self.filled.notify_all();
        self.spare.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use uuid::Uuid;

    use super::*;

    const FIRST: Place = Place(0);
    const OTHER: Place = Place(1);
    const SPARE: Taker = Taker::Spare(Duration::from_secs(600));

    fn partner(number: u128) -> Option<PartnerId> {
        Some(Uuid::from_u128(number).into())
    }

    /// A queue with an item of each of these partners, numbered from nothing.
    fn queue_of(partners: &[Option<PartnerId>]) -> Queue<usize> {
        let queue = Queue::new(partners.len());
        partners.iter().enumerate().for_each(|(item, whose)| assert_eq!(queue.push(item, *whose), Ok(())));
        queue
    }

    #[test]
    fn takes_what_waits_in_its_order() {
        let queue = Queue::new(3);
        assert_eq!(queue.push(1, None), Ok(()));
        assert_eq!(queue.push(2, None), Ok(()));
        assert_eq!(queue.push(3, None), Ok(()));
        assert_eq!((queue.push(4, None), queue.len()), (Err(Refused::Full(4)), 3));
        assert_eq!(queue.take(FIRST, Taker::First, 2), [1, 2]);
        assert_eq!(queue.push(4, None), Ok(()));
        assert_eq!(queue.take_first_while(|item| *item < 4), [3]);
        assert_eq!(queue.take(FIRST, Taker::First, 9), [4]);
        assert!(queue.take_waiting().is_empty());
        assert_eq!(queue.push(5, None), Ok(()));
        assert_eq!(queue.take_waiting(), [5]);
    }

    #[test]
    fn a_closed_queue_is_emptied_and_then_ends() {
        let queue = queue_of(&[partner(1), partner(1), None]);
        assert_eq!(queue.take(FIRST, Taker::First, 1), [0]);
        queue.close();
        assert_eq!(queue.push(3, None), Err(Refused::Closed(3)));
        assert_eq!(queue.take(OTHER, SPARE, 9), [1, 2]);
        assert!(queue.take(FIRST, Taker::First, 9).is_empty());
    }

    #[test]
    fn closing_wakes_those_who_wait() {
        let queue = Queue::<u8>::new(1);
        // Whoever is spare takes note, under the lock that it gives up by waiting.
        queue.lock().is_watched = true;
        std::thread::scope(|scope| {
            let takers = [(FIRST, Taker::First), (OTHER, SPARE)];
            let waiting = takers
                .map(|taker| (taker, &queue))
                .map(|((place, taker), queue)| scope.spawn(move || queue.take(place, taker, 1)));
            let both_wait = || {
                let state = queue.lock();
                state.idle == 1 && !state.is_watched
            };
            while !both_wait() {
                thread::yield_now();
            }
            assert!(waiting.iter().all(|taken| !taken.is_finished()));
            queue.close();
            waiting.into_iter().for_each(|taken| assert!(taken.join().unwrap().is_empty()));
        });
    }

    #[test]
    fn a_partner_is_in_one_hand_at_a_time() {
        let queue = queue_of(&[partner(1), partner(2), partner(1), partner(3), partner(2)]);
        assert_eq!(queue.take(FIRST, Taker::First, 2), [0, 1]);
        assert_eq!(queue.take(OTHER, SPARE, 9), [3], "the rest is of partners whom the first has");
        assert_eq!(queue.push(5, partner(3)), Ok(()));
        assert_eq!(queue.take(FIRST, Taker::First, 9), [2, 4], "in their order, but for the other one's");
        assert_eq!(queue.take(OTHER, SPARE, 9), [5]);
    }

    #[test]
    fn what_is_of_nobody_is_for_the_first() {
        let queue = queue_of(&[None, partner(1), None]);
        assert_eq!(queue.take(OTHER, SPARE, 9), [1]);
        assert_eq!(queue.take(FIRST, Taker::First, 9), [0, 2]);
    }

    #[test]
    fn who_does_not_come_back_leaves_what_it_has() {
        let queue = queue_of(&[partner(1), partner(1)]);
        assert_eq!(queue.take(OTHER, SPARE, 1), [0]);
        std::thread::scope(|scope| {
            let first = scope.spawn(|| queue.take(FIRST, Taker::First, 9));
            queue.leave(OTHER);
            assert_eq!(first.join().unwrap(), [1]);
        });
    }

    /// Whoever is busy with something long, what is of others goes on, and comes to whom it is for.
    #[test]
    fn each_who_waits_is_woken_for_what_it_may_take() {
        let queue = Queue::new(9);
        std::thread::scope(|scope| {
            assert_eq!(queue.push(0, partner(1)), Ok(()));
            assert_eq!(queue.take(FIRST, Taker::First, 9), [0]);
            let beside = scope.spawn(|| queue.take(OTHER, SPARE, 9));
            for (item, whose) in [(1, None), (2, partner(1)), (3, partner(2))] {
                assert_eq!(queue.push(item, whose), Ok(()));
            }
            assert_eq!(beside.join().unwrap(), [3]);
            assert_eq!(queue.take(FIRST, Taker::First, 9), [1, 2]);
            assert_eq!(queue.push(4, partner(3)), Ok(()));
            assert_eq!(queue.push(5, partner(2)), Ok(()));
            let (spare, patience) = (Place(2), Duration::from_millis(1));
            assert_eq!(
                queue.take(spare, Taker::Spare(patience), 9),
                [4],
                "the other one has the second partner"
            );
            assert_eq!(queue.push(6, partner(3)), Ok(()));
            queue.leave(FIRST);
            let first = scope.spawn(|| queue.take(FIRST, Taker::First, 1));
            queue.leave(spare);
            assert_eq!(first.join().unwrap(), [6]);
        });
    }

    /// Whether it was there before or comes while they wait; and the first are not kept from anything.
    #[test]
    fn the_spare_take_what_nobody_takes() {
        let queue = Queue::new(3);
        let soon = Taker::Spare(Duration::from_millis(1));
        assert_eq!(queue.push(1, None), Ok(()));
        assert_eq!(queue.take(OTHER, soon, 1), [1]);
        std::thread::scope(|scope| {
            let spare = scope.spawn(|| queue.take(OTHER, soon, 1));
            assert_eq!(queue.push(2, None), Ok(()));
            assert_eq!(spare.join().unwrap(), [2]);
            let spare = scope.spawn(|| queue.take(OTHER, SPARE, 1));
            assert_eq!(queue.push(3, None), Ok(()));
            assert_eq!(queue.take(FIRST, Taker::First, 1), [3]);
            queue.close();
            assert!(spare.join().unwrap().is_empty());
        });
    }
}
