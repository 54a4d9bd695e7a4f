//! Look-ups of names, bounded for each partner and for all.
//!
//! A look-up holds a thread until the name server answers or the resolver gives up, also beyond the time limit of its caller.
//! A partner chooses its names and may run their servers. So each has a share, and partners with look-ups wait for a
//! thread in turn: no partner has more than its share before another in the queue.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use kopeck_port_webhook::{BoxFuture, CheckError};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use uuid::Uuid;

/// Look-ups of one partner at a time.
const SHARE: usize = 2;

/// Look-ups of all partners at a time.
const MOST: usize = 64;

/// Looks up the addresses of a name.
pub(crate) type Resolver = Arc<dyn Fn(String) -> BoxFuture<'static, Vec<IpAddr>> + Send + Sync>;

/// The resolver of the machine.
pub(crate) fn system_resolver() -> Resolver {
    Arc::new(|host| {
        Box::pin(async move {
            let found = tokio::net::lookup_host((host.as_str(), 0)).await;
            found.map(|addresses| addresses.map(|address| address.ip()).collect()).unwrap_or_default()
        })
    })
}

/// The treatment of a look-up beyond its partner's share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Beyond {
    /// It is refused.
    Refused,
    /// It waits.
    Waits,
}

/// Looks names up.
pub(crate) struct Lookups {
    resolver: Resolver,
    beyond: Beyond,
    /// How long a look-up waits for a thread, and for its addresses.
    timeout: Duration,
    all: Arc<Semaphore>,
    /// Of partners for which something is being looked up.
    shares: Mutex<HashMap<Uuid, Weak<Semaphore>>>,
}

impl Lookups {
    pub(crate) fn new(resolver: Resolver, beyond: Beyond, timeout: Duration) -> Self {
        Self { resolver, beyond, timeout, all: Arc::new(Semaphore::new(MOST)), shares: Mutex::default() }
    }

    /// The addresses of a name; empty if none arrive within the time limit.
    ///
    /// # Errors
    /// [`CheckError::Busy`] if it is not looked up.
    pub(crate) async fn addresses(&self, partner: Uuid, host: String) -> Result<Vec<IpAddr>, CheckError> {
        let permits = tokio::time::timeout(self.timeout, self.permits(partner)).await;
        let permits = permits.unwrap_or(Err(CheckError::Busy))?;
        let resolver = Arc::clone(&self.resolver);
        // A separate task keeps the permits as long as the look-up takes.
        let lookup = tokio::spawn(async move {
            let _permits = permits;
            resolver(host).await
        });
        let found = tokio::time::timeout(self.timeout, lookup).await;
        Ok(found.ok().and_then(Result::ok).unwrap_or_default())
    }

    async fn permits(&self, partner: Uuid) -> Result<[OwnedSemaphorePermit; 2], CheckError> {
        let share = self.share(partner);
        let own = match self.beyond {
            Beyond::Refused => share.try_acquire_owned().map_err(|_| CheckError::Busy)?,
            Beyond::Waits => share.acquire_owned().await.map_err(|_| CheckError::Busy)?,
        };
        let thread = Arc::clone(&self.all).acquire_owned().await.map_err(|_| CheckError::Busy)?;
        Ok([own, thread])
    }

    fn share(&self, partner: Uuid) -> Arc<Semaphore> {
        let mut shares = self.shares.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(share) = shares.get(&partner).and_then(Weak::upgrade) {
            return share;
        }
        shares.retain(|_, share| share.strong_count() > 0);
        let share = Arc::new(Semaphore::new(SHARE));
        shares.insert(partner, Arc::downgrade(&share));
        share
    }
}

#[cfg(test)]
mod tests {
    use std::pin::Pin;

    use futures_util::FutureExt as _;
    use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
    use tokio::sync::oneshot;

    use super::*;

    const LONG: Duration = Duration::from_hours(1);
    const SLOW: Uuid = Uuid::from_u128(1);
    const OTHER: Uuid = Uuid::from_u128(2);

    /// A look-up that has begun, and its answer.
    type Begun = (String, oneshot::Sender<()>);
    type Lookup<'a> = Pin<Box<dyn Future<Output = Result<Vec<IpAddr>, CheckError>> + 'a>>;

    /// Names are looked up for as long as a test wants.
    fn lookups(beyond: Beyond, timeout: Duration) -> (Lookups, UnboundedReceiver<Begun>) {
        let (sender, begun): (UnboundedSender<Begun>, _) = unbounded_channel();
        let resolver: Resolver = Arc::new(move |host| {
            let (answer, answered) = oneshot::channel();
            sender.send((host, answer)).unwrap();
            Box::pin(async move {
                let _ = answered.await;
                vec![IpAddr::from([8, 8, 8, 8])]
            })
        });
        (Lookups::new(resolver, beyond, timeout), begun)
    }

    async fn begin<'a>(lookups: &'a Lookups, partner: Uuid, host: &str) -> Lookup<'a> {
        let mut lookup: Lookup<'_> = Box::pin(lookups.addresses(partner, host.to_owned()));
        assert!((&mut lookup).now_or_never().is_none());
        tokio::task::yield_now().await;
        lookup
    }

    #[tokio::test]
    async fn a_partner_with_slow_names_is_refused_beyond_its_share_and_delays_no_other() {
        let (lookups, mut begun) = lookups(Beyond::Refused, LONG);
        let slow = [begin(&lookups, SLOW, "a").await, begin(&lookups, SLOW, "b").await];
        for _ in 0..40 {
            assert_eq!(lookups.addresses(SLOW, "c".to_owned()).await, Err(CheckError::Busy));
        }
        let other = begin(&lookups, OTHER, "d").await;
        let mut answers: Vec<Begun> = std::iter::from_fn(|| begun.try_recv().ok()).collect();
        assert_eq!(answers.iter().map(|(host, _)| host.as_str()).collect::<Vec<_>>(), ["a", "b", "d"]);
        answers.drain(..).for_each(|(_, answer)| answer.send(()).unwrap());
        assert_eq!(other.await.unwrap().len(), 1);
        for lookup in slow {
            assert!(lookup.await.is_ok());
        }
        assert!(begin(&lookups, SLOW, "e").await.now_or_never().is_none(), "the share is free again");
    }

    #[tokio::test]
    async fn deliveries_wait_for_the_share_of_their_own_partner() {
        let (lookups, mut begun) = lookups(Beyond::Waits, LONG);
        let mut slow = Vec::new();
        for number in 0..40 {
            slow.push(begin(&lookups, SLOW, &number.to_string()).await);
        }
        let other = begin(&lookups, OTHER, "other").await;
        let mut answers: Vec<Begun> = std::iter::from_fn(|| begun.try_recv().ok()).collect();
        assert_eq!(answers.iter().map(|(host, _)| host.as_str()).collect::<Vec<_>>(), ["0", "1", "other"]);
        answers.remove(2).1.send(()).unwrap();
        assert!(other.await.is_ok());
        answers.remove(0).1.send(()).unwrap();
        assert!(slow.remove(0).await.is_ok());
        assert!((&mut slow[1]).now_or_never().is_none());
        tokio::task::yield_now().await;
        assert_eq!(begun.try_recv().unwrap().0, "2", "in the order in which they came");
    }

    #[tokio::test]
    async fn all_partners_together_have_so_many_threads_and_are_served_in_turn() {
        let (lookups, mut begun) = lookups(Beyond::Waits, LONG);
        let mut waiting = Vec::new();
        for number in 0..MOST as u128 / 2 {
            for _ in 0..3 {
                waiting.push(begin(&lookups, Uuid::from_u128(number), "slow").await);
            }
        }
        let mut other = begin(&lookups, Uuid::max(), "other").await;
        let mut answers: Vec<Begun> = std::iter::from_fn(|| begun.try_recv().ok()).collect();
        assert_eq!(answers.len(), MOST);
        answers.remove(0).1.send(()).unwrap();
        assert!(waiting.remove(0).await.is_ok());
        assert!((&mut other).now_or_never().is_none());
        tokio::task::yield_now().await;
        assert_eq!(begun.try_recv().unwrap().0, "other", "before the third name of the first partner");
    }

    #[tokio::test]
    async fn a_look_up_that_takes_too_long_keeps_its_permit_until_it_ends() {
        let (lookups, mut begun) = lookups(Beyond::Refused, Duration::ZERO);
        for host in ["a", "b"] {
            assert_eq!(lookups.addresses(SLOW, host.to_owned()).await, Ok(Vec::new()));
        }
        assert_eq!(lookups.addresses(SLOW, "c".to_owned()).await, Err(CheckError::Busy));
        tokio::task::yield_now().await;
        begun.recv().await.unwrap().1.send(()).unwrap();
        tokio::task::yield_now().await;
        tokio::task::yield_now().await;
        assert_eq!(lookups.addresses(SLOW, "c".to_owned()).await, Ok(Vec::new()));
    }
}
