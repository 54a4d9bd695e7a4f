//! Requests in flight by idempotency key: a second request under a key waits for the first.
//!
//! This saves work and returns the first response. The record in the store guarantees one effect, also between
//! instances.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use kopeck_domain::ids::PartnerId;
use tokio::sync::watch;

/// How long the second request waits.
const TIMEOUT: Duration = Duration::from_secs(2);

type Key = (PartnerId, String);

/// The keys in flight in this process.
#[derive(Clone)]
pub(crate) struct RequestsInFlight {
    running: Arc<Mutex<HashMap<Key, watch::Receiver<()>>>>,
    /// How long the second request waits.
    timeout: Duration,
}

impl Default for RequestsInFlight {
    fn default() -> Self {
        Self { running: Arc::default(), timeout: TIMEOUT }
    }
}

/// The exclusive right to a key until it is dropped.
pub(crate) struct RequestGuard {
    calls: RequestsInFlight,
    key: Key,
    /// Dropped with the guard, which wakes the waiting requests.
    _ended: watch::Sender<()>,
}

impl RequestsInFlight {
    /// The guard of a key once it is free; `None` after a timeout.
    pub(crate) async fn acquire(&self, partner: PartnerId, key: &str) -> Option<RequestGuard> {
        tokio::time::timeout(self.timeout, async {
            loop {
                match self.try_acquire((partner, key.to_owned())) {
                    Ok(guard) => return guard,
                    // `changed` fails once the sender is dropped: then the key is free.
                    Err(mut running) => while running.changed().await.is_ok() {},
                }
            }
        })
        .await
        .ok()
    }

    fn try_acquire(&self, key: Key) -> Result<RequestGuard, watch::Receiver<()>> {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(other) = running.get(&key) {
            return Err(other.clone());
        }
        let (ended, watched) = watch::channel(());
        running.insert(key.clone(), watched);
        Ok(RequestGuard { calls: self.clone(), key, _ended: ended })
    }
}

impl Drop for RequestGuard {
    fn drop(&mut self) {
        self.calls.running.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.key);
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;

    use futures_util::FutureExt as _;
    use uuid::Uuid;

    use super::*;

    fn partner(number: u128) -> PartnerId {
        PartnerId::new(Uuid::from_u128(number))
    }

    #[actix_web::test]
    async fn keys_are_the_partners_own() {
        let calls = RequestsInFlight::default();
        let first = calls.acquire(partner(1), "key").await;
        let second = calls.acquire(partner(2), "key").await;
        assert!(first.is_some() && second.is_some());
    }

    #[actix_web::test]
    async fn the_second_waits_for_the_first() {
        let calls = RequestsInFlight::default();
        let first = calls.acquire(partner(1), "key").await;
        let mut second = pin!(calls.acquire(partner(1), "key"));
        assert!(second.as_mut().now_or_never().is_none(), "the first is being carried out");
        drop(first);
        let second = second.await;
        assert!(second.is_some());
        drop(second);
        assert!(calls.running.lock().unwrap().is_empty());
    }

    #[actix_web::test]
    async fn the_second_does_not_wait_for_ever() {
        let calls = RequestsInFlight { timeout: Duration::ZERO, ..RequestsInFlight::default() };
        let _first = calls.acquire(partner(1), "key").await;
        assert!(calls.acquire(partner(1), "key").await.is_none());
        assert!(calls.acquire(partner(2), "key").await.is_some());
    }
}
