//! Retries and their delays.

use std::time::Duration;

use backon::{ExponentialBuilder, Retryable as _, Sleeper};

use crate::error::Error;

/// How often to retry after a network error, a timeout, a status code of 408, 429, 500, 502, 503 or
/// 504, or a 409 while the first try is in flight.
///
/// The delay doubles from try to try, with jitter, so that clients that failed together do not return
/// together. A retry has no second effect: it has the idempotency key of its request.
///
/// ```
/// use std::time::Duration;
///
/// use kopeck_client::RetryPolicy;
///
/// let impatient = RetryPolicy::default().max_retries(1).delays(Duration::ZERO, Duration::from_millis(100));
/// assert_eq!(impatient.max_retry_after, Duration::from_secs(60));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RetryPolicy {
    /// The most retries after the first try.
    pub max_retries: usize,
    /// The delay before the first retry, without its random part.
    pub min_delay: Duration,
    /// The longest delay, without its random part.
    pub max_delay: Duration,
    /// The longest `Retry-After` to wait for. Beyond it the request fails at once.
    pub max_retry_after: Duration,
}

impl RetryPolicy {
    /// No retries.
    #[must_use]
    pub fn none() -> Self {
        Self { max_retries: 0, ..Self::default() }
    }

    /// Sets the number of retries.
    #[must_use]
    pub const fn max_retries(mut self, retries: usize) -> Self {
        self.max_retries = retries;
        self
    }

    /// Sets the delays.
    #[must_use]
    pub const fn delays(mut self, min: Duration, max: Duration) -> Self {
        self.min_delay = min;
        self.max_delay = max;
        self
    }

    /// Sets the longest accepted `Retry-After`.
    #[must_use]
    pub const fn max_retry_after(mut self, max: Duration) -> Self {
        self.max_retry_after = max;
        self
    }

    /// Retries until it succeeds, fails finally, or the retries are used up.
    pub(crate) async fn run<T, F, Fut>(&self, attempt: F, may_retry: fn(&Error) -> bool) -> Result<T, Error>
    where
        F: FnMut() -> Fut,
        Fut: Future<Output = Result<T, AttemptError>>,
    {
        self.run_sleeping(attempt, may_retry, tokio::time::sleep).await
    }

    /// The same; `sleep` waits between two tries.
    async fn run_sleeping<T, F, Fut, S>(
        &self,
        attempt: F,
        may_retry: fn(&Error) -> bool,
        sleep: S,
    ) -> Result<T, Error>
    where
        F: FnMut() -> Fut,
        Fut: Future<Output = Result<T, AttemptError>>,
        S: Sleeper,
    {
        let backoff = ExponentialBuilder::new()
            .with_jitter()
            .with_min_delay(self.min_delay)
            .with_max_delay(self.max_delay)
            .with_max_times(self.max_retries);
        attempt
            .retry(backoff)
            .sleep(sleep)
            .when(|failure| matches!(failure, AttemptError::Open(error) if may_retry(error)))
            .adjust(|failure, delay| self.delay(failure.error().retry_after(), delay))
            .await
            .map_err(AttemptError::into_error)
    }

    /// The delay before the next try: never less than `Retry-After`. `None` gives up.
    fn delay(&self, asked: Option<Duration>, backoff: Option<Duration>) -> Option<Duration> {
        let backoff = backoff?;
        match asked {
            Some(asked) if asked > self.max_retry_after => None,
            Some(asked) => Some(asked.max(backoff)),
            None => Some(backoff),
        }
    }
}

impl Default for RetryPolicy {
    /// Four retries, 200 ms to 5 s apart; a `Retry-After` of up to a minute.
    fn default() -> Self {
        Self {
            max_retries: 4,
            min_delay: Duration::from_millis(200),
            max_delay: Duration::from_secs(5),
            max_retry_after: Duration::from_secs(60),
        }
    }
}

/// A failed try.
pub(crate) enum AttemptError {
    /// Retried if the error is transient.
    Open(Error),
    /// Not retried here: the operation inside has retried.
    Final(Error),
}

impl AttemptError {
    fn error(&self) -> &Error {
        match self {
            Self::Open(error) | Self::Final(error) => error,
        }
    }

    fn into_error(self) -> Error {
        match self {
            Self::Open(error) | Self::Final(error) => error,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::rc::Rc;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn retry_after_overrides_the_delay() {
        let policy = RetryPolicy::default().max_retry_after(30 * SECOND);
        assert_eq!(policy.delay(None, Some(SECOND)), Some(SECOND));
        assert_eq!(policy.delay(Some(7 * SECOND), Some(SECOND)), Some(7 * SECOND));
        assert_eq!(policy.delay(Some(Duration::ZERO), Some(SECOND)), Some(SECOND));
        assert_eq!(policy.delay(Some(31 * SECOND), Some(SECOND)), None);
        assert_eq!(policy.delay(Some(SECOND), None), None, "no retries are left");
    }

    #[tokio::test]
    async fn tries_are_bounded() {
        let policy = RetryPolicy::default().max_retries(3).delays(Duration::ZERO, Duration::ZERO);
        let mut tries = 0;
        let result: Result<(), _> = policy
            .run(
                || {
                    tries += 1;
                    std::future::ready(Err(AttemptError::Open(Error::Timeout)))
                },
                Error::is_transient,
            )
            .await;
        assert!(matches!(result, Err(Error::Timeout)));
        assert_eq!(tries, 4);
    }

    /// With a sleep that takes no time and records its duration.
    async fn pauses(policy: RetryPolicy, asked: &[Option<u64>]) -> Vec<Duration> {
        let pauses = Rc::<RefCell<Vec<Duration>>>::default();
        let log = Rc::clone(&pauses);
        let sleep = move |pause| {
            log.borrow_mut().push(pause);
            std::future::ready(())
        };
        let mut answers = asked.iter().map(|seconds| {
            Err(AttemptError::Open(Error::Api {
                status: 429,
                code: None,
                message: String::new(),
                request_id: None,
                retry_after: seconds.map(Duration::from_secs),
            }))
        });
        let attempt = || std::future::ready(answers.next().unwrap_or(Ok(())));
        let _ = policy.run_sleeping(attempt, Error::is_transient, sleep).await;
        pauses.take()
    }

    #[tokio::test]
    async fn retry_after_is_waited_for() {
        let policy = RetryPolicy::default().delays(Duration::ZERO, Duration::ZERO);
        assert_eq!(pauses(policy.clone(), &[Some(7)]).await, [7 * SECOND]);
        assert_eq!(pauses(policy.clone(), &[None, Some(1)]).await, [Duration::ZERO, SECOND]);
        assert_eq!(pauses(policy, &[Some(1), Some(61)]).await, [SECOND], "beyond the limit");
    }

    #[tokio::test]
    async fn permanent_errors_are_not_retried() {
        for failure in
            [AttemptError::Open(Error::Sealing(String::new())), AttemptError::Final(Error::Timeout)]
        {
            let mut failure = Some(failure);
            let result: Result<(), _> = RetryPolicy::default()
                .run(|| std::future::ready(Err(failure.take().unwrap())), Error::is_transient)
                .await;
            assert!(result.is_err());
        }
    }
}
