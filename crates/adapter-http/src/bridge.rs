//! The bridge from async handlers to synchronous use cases: the store's threads run units of work, a bounded number of
//! blocking threads runs long computations and calls to the bank.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use kopeck_fair_queue::{FairQueue, Limits, NoPermit, Permit, Rank};
use kopeck_port_store::{Access, Store, StoreError, UnitOfWork, submit};
use tokio::sync::oneshot;

use crate::error::ApiError;
use crate::request_source::RequestSource;

/// The latest start of a request's work.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Deadline(Instant);

impl Deadline {
    /// The time `time` from now.
    pub(crate) fn within(time: Duration) -> Self {
        Self(Instant::now() + time)
    }

    fn is_over(self) -> bool {
        Instant::now() >= self.0
    }
}

/// Cancels submitted work when its waiting future is dropped.
#[derive(Default)]
struct CancelOnDrop(Arc<AtomicBool>);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Runs `body` in a unit of work and awaits its result without blocking a thread. The store responds in time even if
/// its database is silent.
///
/// Work does not start after the deadline or after the client has disconnected. Started work runs to its commit or
/// rollback in any case.
pub(crate) async fn in_store<T, E>(
    store: &dyn Store,
    access: Access,
    deadline: Deadline,
    body: impl FnMut(&mut dyn UnitOfWork) -> Result<T, E> + Send + 'static,
) -> Result<T, E>
where
    T: Send + 'static,
    E: From<StoreError> + Send + 'static,
{
    in_store_keeping((), store, access, deadline, body).await
}

/// Like [`in_store`]. Keeps `kept` until the store responds, even if the client disconnects earlier.
pub(crate) async fn in_store_keeping<T, E>(
    kept: impl Send + 'static,
    store: &dyn Store,
    access: Access,
    deadline: Deadline,
    mut body: impl FnMut(&mut dyn UnitOfWork) -> Result<T, E> + Send + 'static,
) -> Result<T, E>
where
    T: Send + 'static,
    E: From<StoreError> + Send + 'static,
{
    let (sender, receiver) = oneshot::channel();
    let cancel = CancelOnDrop::default();
    let gone = Arc::clone(&cancel.0);
    let body = move |unit: &mut dyn UnitOfWork| {
        if gone.load(Ordering::Relaxed) || deadline.is_over() {
            return Err(StoreError::Cancelled.into());
        }
        body(unit)
    };
    submit(store, access, body, move |result| {
        drop(kept);
        // The receiver is gone if the client has disconnected.
        let _ = sender.send(result);
    });
    receiver.await.unwrap_or_else(|_| Err(StoreError::Failed("the store dropped the work".to_owned()).into()))
}

/// Bounds blocking work, with a fair share for each source of requests.
pub(crate) struct ConcurrencyLimit {
    name: &'static str,
    queue: FairQueue<RequestSource>,
}

impl ConcurrencyLimit {
    /// A limit of this name, for the log.
    pub(crate) fn new(name: &'static str, limits: Limits) -> Self {
        Self { name, queue: FairQueue::new(limits) }
    }

    /// Waits for a permit of `source`.
    ///
    /// # Errors
    /// 503 after a timeout, or at once if too many requests of the source wait.
    pub(crate) async fn acquire(
        &self,
        source: RequestSource,
        rank: Rank,
    ) -> Result<ConcurrencyPermit, ApiError> {
        self.queue.acquire(source, rank).await.map_err(|refusal| {
            let reason = match refusal {
                NoPermit::Full => "too many of the source wait",
                NoPermit::TimedOut => "no permit in time",
            };
            ApiError::busy(format!("{}: {reason}", self.name))
        })
    }

    /// Runs `work` on a blocking thread under a permit of `source`.
    ///
    /// # Errors
    /// 503 if no permit is free in time, 500 if `work` panics.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        source: RequestSource,
        rank: Rank,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, ApiError> {
        let permit = self.acquire(source, rank).await?;
        Ok(self.run_with_permit(permit, work).await?.0)
    }

    /// Runs `work` on a blocking thread under `permit`, and returns the permit.
    ///
    /// # Errors
    /// 500 if `work` panics.
    pub(crate) async fn run_with_permit<T: Send + 'static>(
        &self,
        permit: ConcurrencyPermit,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<(T, ConcurrencyPermit), ApiError> {
        run_keeping(self.name, permit, work).await
    }
}

/// A permit of a [`ConcurrencyLimit`].
pub(crate) type ConcurrencyPermit = Permit<RequestSource>;

/// Runs `work` on a blocking thread, which keeps `kept` even if the client disconnects, and returns both.
///
/// # Errors
/// 500 if `work` panics.
pub(crate) async fn run_keeping<T: Send + 'static, K: Send + 'static>(
    name: &'static str,
    kept: K,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<(T, K), ApiError> {
    let (sender, receiver) = oneshot::channel();
    start(Box::new(move || {
        let done = work();
        // The receiver is gone if the client has disconnected.
        let _ = sender.send((done, kept));
    }));
    receiver.await.map_err(|_| ApiError::internal(format!("{name}: panicked")))
}

/// Boxed, so that the binary has one copy of the runtime's code.
fn start(work: Box<dyn FnOnce() + Send>) {
    tokio::task::spawn_blocking(work);
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::sync::atomic::AtomicUsize;

    use futures_util::FutureExt as _;
    use kopeck_api::Code;
    use kopeck_port_store::mock::{InPlaceStore, MockUnit};
    use kopeck_port_store::{Done, Work};

    use super::*;

    fn soon() -> Deadline {
        Deadline::within(Duration::from_secs(60))
    }

    /// Keeps submitted work until `run`.
    #[derive(Default)]
    struct PatientStore(Mutex<Vec<(Work, Done)>>);

    impl PatientStore {
        fn run(&self) {
            for (mut work, done) in self.0.lock().unwrap().drain(..) {
                work(&mut MockUnit::default());
                done(Ok(()));
            }
        }
    }

    impl Store for PatientStore {
        fn submit(&self, _access: Access, work: Work, done: Done) {
            self.0.lock().unwrap().push((work, done));
        }
    }

    #[actix_web::test]
    async fn cancelled_or_late_work_does_not_start() {
        let (store, begun) = (PatientStore::default(), Arc::new(AtomicUsize::new(0)));
        let count = |begun: &Arc<AtomicUsize>| {
            let begun = Arc::clone(begun);
            move |_: &mut dyn UnitOfWork| Ok::<_, ApiError>(begun.fetch_add(1, Ordering::Relaxed))
        };
        let mut stays = Box::pin(in_store(&store, Access::Write, soon(), count(&begun)));
        let mut goes = Box::pin(in_store(&store, Access::Write, soon(), count(&begun)));
        let mut late =
            Box::pin(in_store(&store, Access::Write, Deadline::within(Duration::ZERO), count(&begun)));
        for call in [&mut stays, &mut goes, &mut late] {
            assert!(call.now_or_never().is_none());
        }
        drop(goes);
        store.run();
        assert_eq!(stays.await.unwrap(), 0);
        assert_eq!(late.await.unwrap_err().status(), 503);
        assert_eq!(begun.load(Ordering::Relaxed), 1);
    }

    #[actix_web::test]
    async fn a_unit_of_work_returns_the_result_of_its_body() {
        let store = InPlaceStore::new(MockUnit::default());
        let answer = in_store(&store, Access::Read, soon(), |_unit| Ok::<_, ApiError>(7)).await;
        assert_eq!(answer.unwrap(), 7);
        let refused =
            in_store(&store, Access::Write, soon(), |_unit| Err::<(), ApiError>(Code::Unauthorized.into()))
                .await;
        assert_eq!(refused.unwrap_err().status(), 401);
    }

    fn limit(timeout: Duration) -> ConcurrencyLimit {
        ConcurrencyLimit::new("test", Limits { permits: 1, share: 1, waiters: 1, timeout })
    }

    const SOURCE: RequestSource = RequestSource::Network(None);

    #[actix_web::test]
    async fn a_panic_is_a_500_and_returns_its_permit() {
        let limit = limit(Duration::from_secs(60));
        let error = limit.run(SOURCE, Rank::First, || panic!("boom")).await.unwrap_err();
        assert_eq!(error.status(), 500);
        assert_eq!(limit.run(SOURCE, Rank::First, || 1).await.unwrap(), 1);
    }

    #[actix_web::test]
    async fn without_a_permit_there_is_a_503() {
        let limit = limit(Duration::ZERO);
        let _permit = limit.acquire(SOURCE, Rank::First).await.unwrap();
        let refused = limit.run(SOURCE, Rank::First, || ()).await.unwrap_err();
        assert_eq!((refused.status().as_u16(), refused.retry_seconds()), (503, Some(1)));
    }
}
