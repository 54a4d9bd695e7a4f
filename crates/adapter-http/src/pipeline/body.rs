//! Reads a body, with a limit, a deadline and a share of the memory for bodies.

use std::sync::Arc;
use std::time::Duration;

use actix_web::http::StatusCode;
use actix_web::web::Bytes;
use futures_util::{Stream, StreamExt as _};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::head::too_large;
use crate::code::Code;
use crate::error::ApiError;

/// The memory for bodies: a budget of bytes for all bodies that are being read or wait to be opened.
pub(crate) struct BodyMemory {
    /// For calls of partners that are authenticated.
    pub(crate) partners: Budget,
    /// For token calls, whose bodies are read before anybody is authenticated: they cannot use up what partners need.
    pub(crate) token_calls: Budget,
}

impl BodyMemory {
    /// A quarter of `bytes` is for token calls, the rest for partners.
    pub(crate) fn new(bytes: usize) -> Self {
        let token_calls = bytes / 4;
        Self { partners: Budget::new(bytes - token_calls), token_calls: Budget::new(token_calls) }
    }
}

/// A budget of bytes.
#[derive(Clone)]
pub(crate) struct Budget(Arc<Semaphore>);

impl Budget {
    pub(crate) fn new(bytes: usize) -> Self {
        Self(Arc::new(Semaphore::new(bytes.min(Semaphore::MAX_PERMITS))))
    }

    /// Takes so many bytes out of the budget, until the permit is dropped.
    fn reserve(&self, bytes: usize) -> Result<OwnedSemaphorePermit, ApiError> {
        let used_up = || ApiError::busy("the memory for request bodies is used up");
        let permits = u32::try_from(bytes).map_err(|_| used_up())?;
        Arc::clone(&self.0).try_acquire_many_owned(permits).map_err(|_| used_up())
    }
}

/// How a body is read.
pub(crate) struct Terms {
    /// The length that the head announces; 0 if it announces none.
    pub(crate) announced: usize,
    /// The most bytes.
    pub(crate) limit: usize,
    /// What its memory is taken from.
    pub(crate) budget: Budget,
    /// How long it may take to arrive.
    pub(crate) deadline: Duration,
}

/// A body with the memory that is reserved for it.
struct Reserved {
    bytes: Vec<u8>,
    memory: OwnedSemaphorePermit,
}

impl AsRef<[u8]> for Reserved {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Reserved {
    /// Reserves the announced length at once: a body that was begun can come to its end.
    fn new(terms: &Terms) -> Result<Self, ApiError> {
        let memory = terms.budget.reserve(terms.announced)?;
        Ok(Self { bytes: Vec::with_capacity(terms.announced), memory })
    }

    fn push(&mut self, chunk: &[u8], terms: &Terms) -> Result<(), ApiError> {
        let needed = self.bytes.len() + chunk.len();
        if needed > terms.limit {
            return Err(too_large(terms.limit));
        }
        let reserved = self.memory.num_permits();
        if needed > reserved {
            let grown = needed.max(reserved * 2).min(terms.limit);
            self.memory.merge(terms.budget.reserve(grown - reserved)?);
            self.bytes.reserve_exact(grown - self.bytes.len());
        }
        self.bytes.extend_from_slice(chunk);
        Ok(())
    }
}

/// Reads the whole of `payload`. Its memory is given back to the budget when the answer is dropped.
///
/// # Errors
/// 413 if there is more than the limit, 503 if the budget is used up, 408 if it takes longer than the deadline, 422 if it
/// breaks off.
pub(crate) async fn read<E>(
    mut payload: impl Stream<Item = Result<Bytes, E>> + Unpin,
    terms: Terms,
) -> Result<Bytes, ApiError> {
    let mut body = Reserved::new(&terms)?;
    let whole = async {
        while let Some(chunk) = payload.next().await {
            let chunk = chunk.map_err(|_| ApiError::field("body", "broke off"))?;
            body.push(&chunk, &terms)?;
        }
        Ok(if body.bytes.is_empty() { Bytes::new() } else { Bytes::from_owner(body) })
    };
    tokio::time::timeout(terms.deadline, whole).await.unwrap_or_else(|_| {
        let message = "the body did not arrive in time";
        Err(ApiError::new(StatusCode::REQUEST_TIMEOUT, Code::RequestTimeout, message))
    })
}

#[cfg(test)]
mod tests {
    use futures_util::stream;

    use super::*;

    const SOON: Duration = Duration::from_millis(20);

    fn chunks(chunks: &[&'static str]) -> impl Stream<Item = Result<Bytes, ()>> + Unpin {
        stream::iter(chunks.iter().map(|chunk| Ok(Bytes::from_static(chunk.as_bytes()))).collect::<Vec<_>>())
    }

    fn terms(announced: usize, limit: usize, budget: &Budget) -> Terms {
        Terms { announced, limit, budget: budget.clone(), deadline: SOON }
    }

    #[actix_web::test]
    async fn a_body_is_put_together() {
        let budget = Budget::new(3);
        for announced in [0, 3] {
            assert_eq!(read(chunks(&["ab", "", "c"]), terms(announced, 3, &budget)).await.unwrap(), "abc");
        }
        assert_eq!(read(chunks(&[]), terms(0, 3, &budget)).await.unwrap(), "");
    }

    #[actix_web::test]
    async fn a_body_has_a_limit_a_deadline_and_an_end() {
        let budget = Budget::new(100);
        let three = || terms(0, 3, &budget);
        assert_eq!(read(chunks(&["ab", "cd"]), three()).await.unwrap_err().status(), 413);
        let slow = stream::pending::<Result<Bytes, ()>>();
        assert_eq!(read(slow, three()).await.unwrap_err().status(), 408);
        let broken = stream::iter([Err::<Bytes, _>(())]);
        assert_eq!(read(broken, three()).await.unwrap_err().status(), 422);
    }

    #[actix_web::test]
    async fn bodies_share_a_budget_until_they_are_dropped() {
        let budget = Budget::new(8);
        let refused = |error: ApiError| (error.status().as_u16(), error.retry_seconds());
        let first = read(chunks(&["abcde"]), terms(5, 100, &budget)).await.unwrap();
        // What the head announces is reserved before anything has arrived.
        let waiting = stream::pending::<Result<Bytes, ()>>();
        assert_eq!(read(waiting, terms(4, 100, &budget)).await.map_err(refused), Err((503, Some(1))));
        // What it does not announce is, as it arrives.
        let unannounced = read(chunks(&["ab", "cd"]), terms(0, 100, &budget)).await;
        assert_eq!(unannounced.map_err(refused), Err((503, Some(1))));
        let second = read(chunks(&["ab", "c"]), terms(3, 100, &budget)).await.unwrap();
        assert_eq!(budget.0.available_permits(), 0);
        let part = first.slice(1..2);
        drop(first);
        assert_eq!(budget.0.available_permits(), 0, "a part of it is still there");
        drop((part, second));
        assert_eq!(budget.0.available_permits(), 8);
    }

    #[test]
    fn token_calls_cannot_use_up_what_partners_need() {
        let memory = BodyMemory::new(64);
        let all = memory.token_calls.reserve(16).unwrap();
        assert!(memory.token_calls.reserve(1).is_err());
        assert!(memory.partners.reserve(48).is_ok());
        drop(all);
    }
}
