//! Requests that wait for an event, and the delivery to webhooks. They hold no thread and no connection of the database.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use kopeck_domain::ids::PartnerId;
use kopeck_port_store::FeedListener;
use tokio::sync::watch;

/// Wakes requests that wait for an event of a partner, and the delivery to webhooks. The store is given this as its
/// [`FeedListener`].
#[derive(Default)]
pub struct FeedWaiters {
    feeds: Mutex<HashMap<PartnerId, watch::Sender<()>>>,
    any: watch::Sender<()>,
}

impl FeedWaiters {
    /// Changes with each event that is appended to the partner's feed from now on. `None` if `most` requests of the
    /// partner wait already.
    pub(crate) fn subscribe(&self, partner: PartnerId, most: usize) -> Option<watch::Receiver<()>> {
        let mut feeds = self.feeds.lock().unwrap_or_else(PoisonError::into_inner);
        let feed = feeds.entry(partner).or_default();
        (feed.receiver_count() < most).then(|| feed.subscribe())
    }

    /// Changes with each event that is appended to any feed from now on.
    pub fn subscribe_to_all(&self) -> watch::Receiver<()> {
        self.any.subscribe()
    }
}

impl FeedListener for FeedWaiters {
    fn appended(&self, partner: PartnerId) {
        self.any.send_replace(());
        let mut feeds = self.feeds.lock().unwrap_or_else(PoisonError::into_inner);
        // Without a receiver the request is answered, or its client is gone.
        if feeds.get(&partner).is_some_and(|feed| feed.send(()).is_err()) {
            feeds.remove(&partner);
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;
    use uuid::Uuid;

    use super::*;

    #[test]
    fn an_event_wakes_all_who_wait_for_this_partner() {
        let waiters = FeedWaiters::default();
        let [own, other] = [1, 2].map(|id| PartnerId::new(Uuid::from_u128(id)));
        waiters.appended(own);
        let (mut first, mut second) =
            (waiters.subscribe(own, 2).unwrap(), waiters.subscribe(own, 2).unwrap());
        let mut of_other = waiters.subscribe(other, 1).unwrap();
        assert!(first.changed().now_or_never().is_none(), "an earlier event wakes no waiter");
        waiters.appended(own);
        assert!(first.changed().now_or_never().is_some() && second.changed().now_or_never().is_some());
        assert!(of_other.changed().now_or_never().is_none());
    }

    #[test]
    fn an_event_of_any_partner_wakes_the_delivery() {
        let waiters = FeedWaiters::default();
        let mut all = waiters.subscribe_to_all();
        assert!(all.changed().now_or_never().is_none());
        waiters.appended(PartnerId::new(Uuid::from_u128(1)));
        waiters.appended(PartnerId::new(Uuid::from_u128(2)));
        assert!(all.changed().now_or_never().is_some());
        assert!(all.changed().now_or_never().is_none(), "events before a look are one");
    }

    #[test]
    fn a_partner_has_so_many_waiters_and_no_more() {
        let waiters = FeedWaiters::default();
        let [own, other] = [1, 2].map(|id| PartnerId::new(Uuid::from_u128(id)));
        let first = waiters.subscribe(own, 2);
        let second = waiters.subscribe(own, 2);
        assert!(first.is_some() && second.is_some() && waiters.subscribe(own, 2).is_none());
        assert!(waiters.subscribe(other, 2).is_some());
        drop(first);
        assert!(waiters.subscribe(own, 2).is_some());
    }

    #[test]
    fn partners_without_waiters_are_forgotten() {
        let waiters = FeedWaiters::default();
        let partner = PartnerId::new(Uuid::from_u128(1));
        drop(waiters.subscribe(partner, 1));
        waiters.appended(partner);
        assert!(waiters.feeds.lock().unwrap().is_empty());
    }
}
