//! Calls that are being carried out: a second one under the same key waits for the first.
//!
//! This spares work and gives the second call the first one's answer; that an effect happens once is made sure by the
//! recorded answer in the store, also between instances.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use kopeck_domain::ids::PartnerId;
use tokio::sync::watch;

/// How long the second call waits.
const TIMEOUT: Duration = Duration::from_secs(2);

type Key = (PartnerId, String);

/// The calls of this process that are being carried out.
#[derive(Clone)]
pub(crate) struct InFlight {
    running: Arc<Mutex<HashMap<Key, watch::Receiver<()>>>>,
    /// How long the second call waits.
    timeout: Duration,
}

impl Default for InFlight {
    fn default() -> Self {
        Self { running: Arc::default(), timeout: TIMEOUT }
    }
}

/// The right to carry out the calls under a key; ends when it is dropped.
pub(crate) struct InFlightGuard {
    calls: InFlight,
    key: Key,
    /// Dropped with the guard, which wakes whoever waits.
    _ended: watch::Sender<()>,
}

impl InFlight {
    /// The guard of a call, as soon as no other has it; `None` if that takes too long.
    pub(crate) async fn acquire(&self, partner: PartnerId, key: &str) -> Option<InFlightGuard> {
        tokio::time::timeout(self.timeout, async {
            loop {
                match self.try_acquire((partner, key.to_owned())) {
                    Ok(guard) => return guard,
                    // Answers with an error when the sender is dropped: that is the end we wait for.
                    Err(mut running) => while running.changed().await.is_ok() {},
                }
            }
        })
        .await
        .ok()
    }

    fn try_acquire(&self, key: Key) -> Result<InFlightGuard, watch::Receiver<()>> {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(other) = running.get(&key) {
            return Err(other.clone());
        }
        let (ended, watched) = watch::channel(());
        running.insert(key.clone(), watched);
        Ok(InFlightGuard { calls: self.clone(), key, _ended: ended })
    }
}

impl Drop for InFlightGuard {
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
        let calls = InFlight::default();
        let first = calls.acquire(partner(1), "key").await;
        let second = calls.acquire(partner(2), "key").await;
        assert!(first.is_some() && second.is_some());
    }

    #[actix_web::test]
    async fn the_second_waits_for_the_first() {
        let calls = InFlight::default();
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
        let calls = InFlight { timeout: Duration::ZERO, ..InFlight::default() };
        let _first = calls.acquire(partner(1), "key").await;
        assert!(calls.acquire(partner(1), "key").await.is_none());
        assert!(calls.acquire(partner(2), "key").await.is_some());
    }
}
