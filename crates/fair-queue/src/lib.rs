#![doc = include_str!("../README.md")]

use std::collections::{HashMap, VecDeque};
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::oneshot;

/// The bounds of a queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The most permits in use, at least one.
    pub permits: usize,
    /// The most permits of one source, at least one.
    pub share: usize,
    /// The most waiters of one source.
    pub waiters: usize,
    /// How long a waiter waits.
    pub timeout: Duration,
}

/// Which sources are served first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rank {
    /// Before all others.
    First,
    /// When no source of the first rank waits for a permit that it may have.
    Last,
}

/// There is no permit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoPermit {
    /// Too many waiters of the source.
    Full,
    /// No permit was free in time.
    TimedOut,
}

/// Permits, and the queues of their waiters.
#[derive(Debug)]
pub struct FairQueue<S: Source> {
    state: Arc<Mutex<QueueState<S>>>,
    timeout: Duration,
}

/// The key by which shares are counted.
pub trait Source: Copy + Eq + Hash {}

impl<S: Copy + Eq + Hash> Source for S {}

/// The right to work, until it is dropped.
#[derive(Debug)]
pub struct Permit<S: Source> {
    source: S,
    state: Arc<Mutex<QueueState<S>>>,
}

#[derive(Debug)]
struct QueueState<S: Source> {
    free: usize,
    share: usize,
    waiters: usize,
    /// Permits in use, of sources that have any.
    in_use: HashMap<S, usize>,
    /// Waiters by rank.
    ranks: [Turns<S>; 2],
}

/// Sources in the order of their turns, each with its waiters in order of arrival.
#[derive(Debug)]
struct Turns<S: Source>(VecDeque<(S, VecDeque<oneshot::Sender<Permit<S>>>)>);

impl<S: Source> FairQueue<S> {
    /// A queue with these bounds.
    #[must_use]
    pub fn new(limits: Limits) -> Self {
        let state = QueueState {
            free: limits.permits.max(1),
            share: limits.share.max(1),
            waiters: limits.waiters,
            in_use: HashMap::new(),
            ranks: [Turns(VecDeque::new()), Turns(VecDeque::new())],
        };
        Self { state: Arc::new(Mutex::new(state)), timeout: limits.timeout }
    }

    /// Waits for a permit of `source`.
    ///
    /// # Errors
    /// [`NoPermit`]: at once if too many of its waiters wait, else after the timeout.
    pub async fn acquire(&self, source: S, rank: Rank) -> Result<Permit<S>, NoPermit> {
        let receiver = {
            let mut state = lock(&self.state);
            // A source that waits while a permit is free has its whole share in use already.
            if state.may_have(source) {
                state.take(source);
                return Ok(Permit { source, state: Arc::clone(&self.state) });
            }
            state.enqueue(source, rank)?
        };
        let permit = tokio::time::timeout(self.timeout, receiver).await;
        // The sender is dropped with the queue alone.
        permit.map_err(|_| NoPermit::TimedOut)?.map_err(|_| NoPermit::TimedOut)
    }
}

impl<S: Source> QueueState<S> {
    fn may_have(&self, source: S) -> bool {
        self.free > 0 && self.in_use.get(&source).is_none_or(|used| *used < self.share)
    }

    fn take(&mut self, source: S) {
        self.free -= 1;
        *self.in_use.entry(source).or_default() += 1;
    }

    fn release(&mut self, source: S) {
        self.free += 1;
        if let Some(used) = self.in_use.get_mut(&source) {
            *used -= 1;
            if *used == 0 {
                self.in_use.remove(&source);
            }
        }
    }

    fn enqueue(&mut self, source: S, rank: Rank) -> Result<oneshot::Receiver<Permit<S>>, NoPermit> {
        let Turns(turns) = match (&mut self.ranks, rank) {
            ([first, _], Rank::First) => first,
            ([_, last], Rank::Last) => last,
        };
        let (sender, receiver) = oneshot::channel();
        if let Some((_, queue)) = turns.iter_mut().find(|(other, _)| *other == source) {
            queue.retain(|waiter| !waiter.is_closed());
            if queue.len() >= self.waiters {
                return Err(NoPermit::Full);
            }
            queue.push_back(sender);
        } else if self.waiters == 0 {
            return Err(NoPermit::Full);
        } else {
            turns.push_back((source, VecDeque::from([sender])));
        }
        Ok(receiver)
    }

    /// The waiter whose turn it is, with its source.
    fn next(&mut self) -> Option<(S, oneshot::Sender<Permit<S>>)> {
        for rank in 0..self.ranks.len() {
            let turns = self.ranks.get(rank).map_or(0, |Turns(turns)| turns.len());
            for _ in 0..turns {
                let (source, mut queue) = self.ranks.get_mut(rank)?.0.pop_front()?;
                let waiter = if self.may_have(source) {
                    std::iter::from_fn(|| queue.pop_front()).find(|waiter| !waiter.is_closed())
                } else {
                    None
                };
                if !queue.is_empty() {
                    self.ranks.get_mut(rank)?.0.push_back((source, queue));
                }
                if let Some(waiter) = waiter {
                    return Some((source, waiter));
                }
            }
        }
        None
    }
}

impl<S: Source> Drop for Permit<S> {
    fn drop(&mut self) {
        let next = {
            let mut state = lock(&self.state);
            state.release(self.source);
            let next = state.next();
            if let Some((source, _)) = &next {
                state.take(*source);
            }
            next
        };
        if let Some((source, waiter)) = next {
            // If the waiter goes away at this moment, dropping the permit serves the next one.
            let _ = waiter.send(Self { source, state: Arc::clone(&self.state) });
        }
    }
}

fn lock<S: Source>(state: &Mutex<QueueState<S>>) -> MutexGuard<'_, QueueState<S>> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
