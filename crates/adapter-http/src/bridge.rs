//! From the asynchronous front door to the synchronous use cases: the store's own threads for units of work, a bounded
//! number of the runtime's blocking threads for what thinks long or asks the bank.

use std::sync::Arc;
use std::time::Duration;

use kopeck_port_store::{Access, Store, StoreError, UnitOfWork, submit};
use tokio::sync::{Semaphore, oneshot};

use crate::error::ApiError;

/// How long a call waits for its turn behind a [`Gate`] before it is sent away.
const PATIENCE: Duration = Duration::from_secs(5);

/// Runs `body` as a unit of work and waits for its result without holding a thread. There is no deadline here: the
/// store answers in time, whatever its database does.
///
/// A caller that goes away does not stop the work: it is carried out and committed, or refused, all the same.
pub(crate) async fn in_store<T, E>(
    store: &dyn Store,
    access: Access,
    body: impl FnMut(&mut dyn UnitOfWork) -> Result<T, E> + Send + 'static,
) -> Result<T, E>
where
    T: Send + 'static,
    E: From<StoreError> + Send + 'static,
{
    in_store_keeping((), store, access, body).await
}

/// The same; keeps `kept` until the store has answered, also if the caller goes away before.
pub(crate) async fn in_store_keeping<T, E>(
    kept: impl Send + 'static,
    store: &dyn Store,
    access: Access,
    body: impl FnMut(&mut dyn UnitOfWork) -> Result<T, E> + Send + 'static,
) -> Result<T, E>
where
    T: Send + 'static,
    E: From<StoreError> + Send + 'static,
{
    let (sender, receiver) = oneshot::channel();
    submit(store, access, body, move |result| {
        drop(kept);
        // The receiver is gone if the caller went away; nobody wants the result then.
        let _ = sender.send(result);
    });
    receiver.await.unwrap_or_else(|_| Err(StoreError::Failed("the store dropped the work".to_owned()).into()))
}

/// Lets a bounded number of blocking calls run at once.
pub(crate) struct Gate {
    name: &'static str,
    permits: Arc<Semaphore>,
    patience: Duration,
}

impl Gate {
    /// A gate that lets `at_once` calls through, at least one.
    pub(crate) fn new(name: &'static str, at_once: usize) -> Self {
        Self { name, permits: Arc::new(Semaphore::new(at_once.max(1))), patience: PATIENCE }
    }

    /// Runs `work` on a blocking thread when its turn comes.
    ///
    /// # Errors
    /// A 503 if its turn does not come in time, a 500 if it panics.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, ApiError> {
        let permit = tokio::time::timeout(self.patience, Arc::clone(&self.permits).acquire_owned())
            .await
            .map_err(|_| ApiError::busy(format!("{}: too many wait", self.name)))?
            .map_err(|_| ApiError::internal(format!("{}: the gate is closed", self.name)))?;
        // The permit goes with the work: a caller that goes away does not make room for another.
        let task = tokio::task::spawn_blocking(move || {
            let result = work();
            drop(permit);
            result
        });
        task.await.map_err(|error| ApiError::internal(format!("{}: {error}", self.name)))
    }
}

#[cfg(test)]
mod tests {
    use kopeck_port_store::mock::{InPlaceStore, MockUnit};

    use super::*;

    #[actix_web::test]
    async fn a_unit_of_work_answers_what_its_body_answers() {
        let store = InPlaceStore::new(MockUnit::default());
        let answer = in_store(&store, Access::Read, |_unit| Ok::<_, ApiError>(7)).await;
        assert_eq!(answer.unwrap(), 7);
        let refused = in_store(&store, Access::Write, |_unit| Err::<(), _>(ApiError::unauthorized())).await;
        assert_eq!(refused.unwrap_err().status(), 401);
    }

    #[actix_web::test]
    async fn a_panic_behind_the_gate_is_a_500_and_the_gate_opens_again() {
        let gate = Gate::new("test", 1);
        let error = gate.run(|| panic!("boom")).await.unwrap_err();
        assert_eq!(error.status(), 500);
        assert_eq!(gate.run(|| 1).await.unwrap(), 1);
    }

    #[actix_web::test]
    async fn who_waits_too_long_is_sent_away() {
        let gate = Gate { patience: Duration::from_millis(20), ..Gate::new("test", 1) };
        let (release, wait) = std::sync::mpsc::channel::<()>();
        let slow = gate.run(move || {
            let _ = wait.recv();
        });
        let second = async {
            tokio::task::yield_now().await;
            let refused = gate.run(|| ()).await.unwrap_err();
            drop(release);
            refused
        };
        let (first, second) = futures_util::future::join(slow, second).await;
        assert!(first.is_ok());
        assert_eq!((second.status().as_u16(), second.retry_seconds()), (503, Some(1)));
    }
}
