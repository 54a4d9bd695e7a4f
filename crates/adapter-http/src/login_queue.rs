//! Bounds concurrent password checks: a semaphore with a priority queue.
//!
//! A flood of logins from unknown sources must not delay partners. Requests with a valid API key, and those from an
//! address with a recent login, are served first. Each of these sources has a bounded queue, and all unknown sources
//! share one, so that no source starves another. ADR 26 explains what the waiting time tells an attacker.

mod known_addresses;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::oneshot;

use crate::bridge::run_keeping;
use crate::error::ApiError;
use crate::request_source::RequestSource;

pub(crate) use known_addresses::KnownAddresses;

/// The timeout of a permit.
const TIMEOUT: Duration = Duration::from_secs(5);

/// The most waiting logins per permit, of one known source and of all unknown sources: their checks take less than
/// half a second.
const WAITERS_PER_PERMIT: usize = 8;

const NAME: &str = "logins";

/// The priority of a login.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Priority {
    /// A client with a valid API key, or from a network with a recent login. Its source bounds its waiters.
    Known(RequestSource),
    /// Any other client.
    Unknown,
}

/// The permits for password checks, and their waiters.
pub(crate) struct LoginQueue {
    waiters: Arc<Mutex<Waiters>>,
    timeout: Duration,
}

struct Waiters {
    free: usize,
    known: VecDeque<(RequestSource, oneshot::Sender<Permit>)>,
    unknown: VecDeque<oneshot::Sender<Permit>>,
    /// The most waiters of one known source, and of all unknown sources.
    capacity: usize,
}

/// The right to check a password until it is dropped.
pub(crate) struct Permit(Arc<Mutex<Waiters>>);

impl LoginQueue {
    /// A queue for `at_once` permits, at least one.
    pub(crate) fn new(at_once: usize) -> Self {
        let free = at_once.max(1);
        let (known, unknown) = (VecDeque::new(), VecDeque::new());
        let capacity = free.saturating_mul(WAITERS_PER_PERMIT);
        let waiters = Waiters { free, known, unknown, capacity };
        Self { waiters: Arc::new(Mutex::new(waiters)), timeout: TIMEOUT }
    }

    /// Runs `work` on a blocking thread once there is a permit.
    ///
    /// # Errors
    /// 503 without a permit in time, or if too many logins of the source wait; 500 if `work` panics.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        priority: Priority,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, ApiError> {
        let permit = self.permit(priority).await?;
        Ok(run_keeping(NAME, permit, work).await?.0)
    }

    async fn permit(&self, priority: Priority) -> Result<Permit, ApiError> {
        let busy = || ApiError::busy(format!("{NAME}: too many wait"));
        let receiver = {
            let mut waiters = lock(&self.waiters);
            if waiters.free > 0 {
                waiters.free -= 1;
                return Ok(Permit(Arc::clone(&self.waiters)));
            }
            waiters.enqueue(priority).ok_or_else(busy)?
        };
        let permit = tokio::time::timeout(self.timeout, receiver).await.map_err(|_| busy())?;
        permit.map_err(|_| ApiError::internal(format!("{NAME}: the queue is closed")))
    }
}

impl Waiters {
    fn enqueue(&mut self, priority: Priority) -> Option<oneshot::Receiver<Permit>> {
        let (sender, receiver) = oneshot::channel();
        match priority {
            Priority::Known(source) => {
                self.known.retain(|(_, waiter)| !waiter.is_closed());
                if self.known.iter().filter(|(other, _)| *other == source).count() >= self.capacity {
                    return None;
                }
                self.known.push_back((source, sender));
            }
            Priority::Unknown => {
                self.unknown.retain(|waiter| !waiter.is_closed());
                if self.unknown.len() >= self.capacity {
                    return None;
                }
                self.unknown.push_back(sender);
            }
        }
        Some(receiver)
    }

    /// The next waiter whose client is still connected.
    fn next(&mut self) -> Option<oneshot::Sender<Permit>> {
        let mut waiters = std::iter::from_fn(|| {
            let known = self.known.pop_front().map(|(_, waiter)| waiter);
            known.or_else(|| self.unknown.pop_front())
        });
        waiters.find(|waiter| !waiter.is_closed())
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let next = {
            let mut waiters = lock(&self.0);
            let next = waiters.next();
            if next.is_none() {
                waiters.free += 1;
            }
            next
        };
        if let Some(next) = next {
            // If the waiter disconnects at this moment, dropping the permit serves the next one.
            let _ = next.send(Self(Arc::clone(&self.0)));
        }
    }
}

fn lock(waiters: &Mutex<Waiters>) -> MutexGuard<'_, Waiters> {
    waiters.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::pin::Pin;

    use futures_util::FutureExt as _;
    use kopeck_domain::ids::PartnerId;

    use super::*;

    const KNOWN: Priority = Priority::Known(RequestSource::Partner(PartnerId::new(uuid::Uuid::from_u128(1))));
    const OTHER: Priority = Priority::Known(RequestSource::Partner(PartnerId::new(uuid::Uuid::from_u128(2))));

    type Waiting<'a> = Pin<Box<dyn Future<Output = Result<Permit, ApiError>> + 'a>>;

    /// A login that waits for a permit.
    fn ask(queue: &LoginQueue, priority: Priority) -> Waiting<'_> {
        let mut waiting: Waiting<'_> = Box::pin(queue.permit(priority));
        assert!((&mut waiting).now_or_never().is_none(), "no permit is free");
        waiting
    }

    fn served(waiting: &mut Waiting<'_>) -> Option<Permit> {
        waiting.now_or_never().map(|permit| permit.ok().unwrap())
    }

    #[actix_web::test]
    async fn a_known_login_is_served_before_strangers_that_came_earlier() {
        let queue = LoginQueue::new(1);
        let running = queue.permit(Priority::Unknown).await.ok().unwrap();
        let mut first_stranger = ask(&queue, Priority::Unknown);
        let mut second_stranger = ask(&queue, Priority::Unknown);
        let mut first_known = ask(&queue, KNOWN);
        let mut second_known = ask(&queue, KNOWN);
        let mut permit = running;
        for place in 0..4 {
            drop(permit);
            let order = [&mut first_known, &mut second_known, &mut first_stranger, &mut second_stranger];
            let mut rest = order.into_iter().skip(place);
            permit = served(rest.next().unwrap()).unwrap();
            assert!(rest.all(|waiting| served(waiting).is_none()), "one permit serves one");
        }
    }

    #[actix_web::test]
    async fn few_strangers_wait_and_the_others_are_refused_at_once() {
        let queue = LoginQueue::new(2);
        let permits = [KNOWN, Priority::Unknown].map(|priority| queue.permit(priority));
        let permits = futures_util::future::join_all(permits).await;
        let mut unknown: Vec<_> = (0..16).map(|_| ask(&queue, Priority::Unknown)).collect();
        let refused = queue.permit(Priority::Unknown).await.err().unwrap();
        assert_eq!((refused.status().as_u16(), refused.retry_seconds()), (503, Some(1)));
        let mut known: Vec<_> = (0..16).map(|_| ask(&queue, KNOWN)).collect();
        // Strangers that have gone away leave room.
        unknown.truncate(15);
        let mut late = ask(&queue, Priority::Unknown);
        drop(permits);
        assert!(served(known.first_mut().unwrap()).is_some());
        drop((unknown, known));
        assert!(served(&mut late).is_some(), "waiters that have gone away are left out");
    }

    #[actix_web::test]
    async fn a_flood_under_one_api_key_does_not_starve_other_partners() {
        let queue = LoginQueue::new(1);
        let mut permit = queue.permit(KNOWN).await.ok().unwrap();
        let mut flood: Vec<_> = (0..8).map(|_| ask(&queue, KNOWN)).collect();
        let refused = queue.permit(KNOWN).await.err().unwrap();
        assert_eq!((refused.status().as_u16(), refused.retry_seconds()), (503, Some(1)));
        // The waiters of the flood are bounded, and so is what the other sources wait for.
        let mut other = ask(&queue, OTHER);
        let network = RequestSource::Network("203.0.113.5/32".parse().ok());
        let mut network = ask(&queue, Priority::Known(network));
        for waiting in flood.iter_mut().chain([&mut other, &mut network]) {
            drop(permit);
            permit = served(waiting).unwrap();
        }
    }

    #[actix_web::test]
    async fn waiters_that_have_gone_away_leave_room_for_their_source() {
        let queue = LoginQueue::new(1);
        let _running = queue.permit(OTHER).await.ok().unwrap();
        let mut known: Vec<_> = (0..8).map(|_| ask(&queue, KNOWN)).collect();
        assert!(queue.permit(KNOWN).await.is_err());
        known.truncate(7);
        known.push(ask(&queue, KNOWN));
        assert!(queue.permit(KNOWN).await.is_err());
    }

    #[actix_web::test]
    async fn permits_come_back() {
        let queue = LoginQueue::new(1);
        assert_eq!(queue.run(Priority::Unknown, || panic!("boom")).await.unwrap_err().status(), 500);
        assert_eq!(queue.run(KNOWN, || 1).await.unwrap(), 1);
        // Of a login that went away with its permit on the way.
        let running = queue.permit(KNOWN).await.ok().unwrap();
        let waiting = ask(&queue, KNOWN);
        drop(running);
        drop(waiting);
        assert_eq!(queue.run(Priority::Unknown, || 2).await.unwrap(), 2);
    }

    #[actix_web::test]
    async fn a_login_does_not_wait_for_ever() {
        let queue = LoginQueue { timeout: Duration::ZERO, ..LoginQueue::new(1) };
        let _running = queue.permit(KNOWN).await.ok().unwrap();
        assert_eq!(queue.permit(KNOWN).await.err().unwrap().status(), 503);
    }
}
