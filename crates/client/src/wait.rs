//! Waiting for a request to be processed.

use std::time::Duration;

use kopeck_api::RequestState;

use crate::error::Error;

/// The timeout and the poll interval of a wait.
///
/// The interval doubles from the first to the longest.
///
/// ```no_run
/// use std::time::Duration;
///
/// use kopeck_client::{Client, Error, RequestState, Uuid, Wait};
///
/// async fn topped_up(client: &Client, request: Uuid) -> Result<bool, Error> {
///     let wait = Wait::up_to(Duration::from_secs(60));
///     let state = client.replenishments().wait(request, wait, |state| println!("{state}")).await?;
///     Ok(state == RequestState::Success)
/// }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Wait {
    /// The timeout, all polls included.
    pub timeout: Duration,
    /// The first interval.
    pub min_interval: Duration,
    /// The longest interval.
    pub max_interval: Duration,
}

impl Wait {
    /// Waits for at most `timeout`.
    #[must_use]
    pub fn up_to(timeout: Duration) -> Self {
        Self { timeout, ..Self::default() }
    }

    /// Sets the intervals.
    #[must_use]
    pub const fn intervals(mut self, min: Duration, max: Duration) -> Self {
        self.min_interval = min;
        self.max_interval = max;
        self
    }

    /// Polls until the state is final, and reports each state to `on_progress`.
    pub(crate) async fn until_final<Fut>(
        &self,
        mut poll: impl FnMut() -> Fut,
        mut on_progress: impl FnMut(&RequestState),
    ) -> Result<RequestState, Error>
    where
        Fut: Future<Output = Result<RequestState, Error>>,
    {
        let mut last = None;
        let finished = async {
            let mut interval = self.min_interval;
            loop {
                let state = poll().await?;
                on_progress(&state);
                if state.is_final() {
                    return Ok(state);
                }
                last = Some(state);
                tokio::time::sleep(interval).await;
                interval = (interval * 2).min(self.max_interval);
            }
        };
        let finished = tokio::time::timeout(self.timeout, finished).await;
        finished.unwrap_or(Err(Error::Unfinished { last }))
    }
}

impl Default for Wait {
    /// Two minutes; intervals from 250 ms to 5 s.
    fn default() -> Self {
        Self {
            timeout: Duration::from_secs(120),
            min_interval: Duration::from_millis(250),
            max_interval: Duration::from_secs(5),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::future::ready;

    use super::*;

    fn quick(timeout: Duration) -> Wait {
        Wait::up_to(timeout).intervals(Duration::ZERO, Duration::ZERO)
    }

    #[tokio::test]
    async fn asks_until_the_state_is_final() {
        let mut states = [RequestState::New, RequestState::InProcess, RequestState::PartSuccess].into_iter();
        let seen = RefCell::new(Vec::new());
        let last = quick(Duration::from_mins(1))
            .until_final(
                || ready(Ok(states.next().unwrap())),
                |state| seen.borrow_mut().push(state.to_string()),
            )
            .await
            .unwrap();
        assert_eq!(last, RequestState::PartSuccess);
        assert_eq!(seen.into_inner(), ["NEW", "IN_PROCESS", "PART_SUCCESS"]);
    }

    #[tokio::test]
    async fn gives_up_with_the_state_seen_last() {
        let result = Wait::up_to(Duration::from_millis(1))
            .intervals(Duration::from_hours(1), Duration::from_hours(1))
            .until_final(|| ready(Ok(RequestState::New)), |_| {})
            .await;
        assert!(matches!(result, Err(Error::Unfinished { last: Some(RequestState::New) })));
    }

    #[tokio::test]
    async fn an_error_ends_the_wait() {
        let result = quick(Duration::from_mins(1)).until_final(|| ready(Err(Error::Timeout)), |_| {}).await;
        assert!(matches!(result, Err(Error::Timeout)));
    }
}
