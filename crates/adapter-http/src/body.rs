//! Reads a body, with a size limit, a deadline and a memory budget.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::error::ApiError;
use crate::request_source::RequestSource;
use actix_web::web::Bytes;
use futures_util::{Stream, StreamExt as _};
use kopeck_api::Code;

/// The memory budget for all bodies that are being received or decoded.
pub(crate) struct BodyMemory {
    /// For authenticated requests.
    pub(crate) partners: Budget,
    /// For token requests, which are not authenticated yet.
    pub(crate) token_calls: Budget,
}

impl BodyMemory {
    /// A quarter of `bytes` is for token requests, the rest for partners. A partner may hold half of its budget, a
    /// network an eighth of it, and each at least one body of the greatest length, `limit`.
    pub(crate) fn new(bytes: usize, limit: usize) -> Self {
        let token_calls = bytes / 4;
        let partners = bytes - token_calls;
        Self {
            partners: Budget::new(partners, limit.max(partners / 2)),
            token_calls: Budget::new(token_calls, limit.max(token_calls / 8)),
        }
    }
}

/// A budget of bytes with a maximum share per source.
#[derive(Clone)]
pub(crate) struct Budget {
    bytes: usize,
    share: usize,
    usage: Arc<Mutex<Usage>>,
}

/// The reserved bytes of a budget.
#[derive(Default)]
struct Usage {
    total: usize,
    /// Only sources that hold bytes, so that the budget bounds it.
    by_source: HashMap<RequestSource, usize>,
}

/// Bytes of a budget, reserved until this is dropped.
struct Reservation {
    bytes: usize,
    source: RequestSource,
    budget: Budget,
}

impl Budget {
    fn new(bytes: usize, share: usize) -> Self {
        Self { bytes, share, usage: Arc::default() }
    }

    fn usage(&self) -> MutexGuard<'_, Usage> {
        self.usage.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn reserve(&self, source: RequestSource, bytes: usize) -> Result<Reservation, ApiError> {
        let mut reservation = Reservation { bytes: 0, source, budget: self.clone() };
        reservation.grow(bytes)?;
        Ok(reservation)
    }
}

impl Reservation {
    /// Reserves more bytes.
    fn grow(&mut self, bytes: usize) -> Result<(), ApiError> {
        if bytes == 0 {
            return Ok(());
        }
        let mut usage = self.budget.usage();
        let total = usage.total.saturating_add(bytes);
        if total > self.budget.bytes {
            return Err(ApiError::busy("the service reads too many request bodies at once; try again later"));
        }
        let held = usage.by_source.get(&self.source).copied().unwrap_or(0).saturating_add(bytes);
        if held > self.budget.share {
            return Err(ApiError::busy(
                "you send too many large bodies at once; send fewer requests in parallel",
            ));
        }
        usage.total = total;
        usage.by_source.insert(self.source, held);
        self.bytes += bytes;
        Ok(())
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        let mut usage = self.budget.usage();
        usage.total = usage.total.saturating_sub(self.bytes);
        if let Some(held) = usage.by_source.get_mut(&self.source) {
            *held = held.saturating_sub(self.bytes);
            if *held == 0 {
                usage.by_source.remove(&self.source);
            }
        }
    }
}

pub(crate) struct BodyLimits {
    /// `Content-Length`; 0 without one.
    pub(crate) announced: usize,
    /// The most bytes.
    pub(crate) limit: usize,
    /// The budget of its memory.
    pub(crate) budget: Budget,
    /// The source whose share it uses.
    pub(crate) source: RequestSource,
    /// The time for it to arrive.
    pub(crate) deadline: Duration,
}

/// A body with its reserved memory.
struct BodyBuffer {
    bytes: Vec<u8>,
    memory: Reservation,
}

impl AsRef<[u8]> for BodyBuffer {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl BodyBuffer {
    /// Reserves the announced length at once, so that a body that has begun can be read to its end.
    fn new(limits: &BodyLimits) -> Result<Self, ApiError> {
        let memory = limits.budget.reserve(limits.source, limits.announced)?;
        Ok(Self { bytes: Vec::with_capacity(limits.announced), memory })
    }

    fn push(&mut self, chunk: &[u8], limits: &BodyLimits) -> Result<(), ApiError> {
        let needed = self.bytes.len() + chunk.len();
        if needed > limits.limit {
            return Err(too_large(limits.limit));
        }
        let reserved = self.memory.bytes;
        if needed > reserved {
            let grown = needed.max(reserved * 2).min(limits.limit);
            self.memory.grow(grown - reserved)?;
            self.bytes.reserve_exact(grown - self.bytes.len());
        }
        self.bytes.extend_from_slice(chunk);
        Ok(())
    }
}

/// Reads all of `payload`. Dropping the result returns its memory to the budget.
///
/// # Errors
/// 413 beyond the limit, 503 beyond the budget, 408 after the deadline, 422 if the body breaks off.
pub(crate) async fn read<E>(
    mut payload: impl Stream<Item = Result<Bytes, E>> + Unpin,
    limits: BodyLimits,
) -> Result<Bytes, ApiError> {
    let mut body = BodyBuffer::new(&limits)?;
    let whole = async {
        while let Some(chunk) = payload.next().await {
            let chunk = chunk.map_err(|_| ApiError::field("body", "is incomplete"))?;
            body.push(&chunk, &limits)?;
        }
        Ok(if body.bytes.is_empty() { Bytes::new() } else { Bytes::from_owner(body) })
    };
    tokio::time::timeout(limits.deadline, whole).await.unwrap_or_else(|_| Err(Code::RequestTimeout.into()))
}

/// 413.
pub(crate) fn too_large(limit: usize) -> ApiError {
    let message = format!("a body has at most {limit} bytes");
    ApiError::new(Code::PayloadTooLarge, message)
}

#[cfg(test)]
mod tests {
    use futures_util::stream;
    use kopeck_domain::ids::PartnerId;

    use super::*;

    const SOON: Duration = Duration::from_millis(20);

    fn chunks(chunks: &[&'static str]) -> impl Stream<Item = Result<Bytes, ()>> + Unpin {
        stream::iter(chunks.iter().map(|chunk| Ok(Bytes::from_static(chunk.as_bytes()))).collect::<Vec<_>>())
    }

    const STRANGERS: RequestSource = RequestSource::Network(None);

    fn free(budget: &Budget) -> usize {
        budget.bytes - budget.usage().total
    }

    fn budget(bytes: usize) -> Budget {
        Budget::new(bytes, bytes)
    }

    fn limits(announced: usize, limit: usize, budget: &Budget) -> BodyLimits {
        BodyLimits { announced, limit, budget: budget.clone(), source: STRANGERS, deadline: SOON }
    }

    #[actix_web::test]
    async fn a_body_is_put_together() {
        let budget = budget(3);
        for announced in [0, 3] {
            assert_eq!(read(chunks(&["ab", "", "c"]), limits(announced, 3, &budget)).await.unwrap(), "abc");
        }
        assert_eq!(read(chunks(&[]), limits(0, 3, &budget)).await.unwrap(), "");
    }

    #[actix_web::test]
    async fn a_body_has_a_limit_a_deadline_and_an_end() {
        let budget = budget(100);
        let three = || limits(0, 3, &budget);
        assert_eq!(read(chunks(&["ab", "cd"]), three()).await.unwrap_err().status(), 413);
        let slow = stream::pending::<Result<Bytes, ()>>();
        assert_eq!(read(slow, three()).await.unwrap_err().status(), 408);
        let broken = stream::iter([Err::<Bytes, _>(())]);
        assert_eq!(read(broken, three()).await.unwrap_err().status(), 422);
    }

    #[actix_web::test]
    async fn bodies_share_a_budget_until_they_are_dropped() {
        let budget = budget(8);
        let refused = |error: ApiError| (error.status().as_u16(), error.retry_seconds());
        let first = read(chunks(&["abcde"]), limits(5, 100, &budget)).await.unwrap();
        // The announced length is reserved before anything has arrived.
        let waiting = stream::pending::<Result<Bytes, ()>>();
        assert_eq!(read(waiting, limits(4, 100, &budget)).await.map_err(refused), Err((503, Some(1))));
        // Without an announced length, bytes are reserved as they arrive.
        let unannounced = read(chunks(&["ab", "cd"]), limits(0, 100, &budget)).await;
        assert_eq!(unannounced.map_err(refused), Err((503, Some(1))));
        let second = read(chunks(&["ab", "c"]), limits(3, 100, &budget)).await.unwrap();
        assert_eq!(free(&budget), 0);
        let part = first.slice(1..2);
        drop(first);
        assert_eq!(free(&budget), 0, "a part of it is still there");
        drop((part, second));
        assert_eq!(free(&budget), 8);
    }

    #[test]
    fn token_calls_cannot_use_up_what_partners_need() {
        let memory = BodyMemory::new(64, 100);
        let all = memory.token_calls.reserve(STRANGERS, 16).unwrap();
        assert!(memory.token_calls.reserve(STRANGERS, 1).is_err());
        assert!(memory.partners.reserve(STRANGERS, 48).is_ok());
        drop(all);
    }

    #[test]
    fn no_source_exceeds_its_share() {
        let partners = [1, 2].map(|id| RequestSource::Partner(PartnerId::new(uuid::Uuid::from_u128(id))));
        let BodyMemory { partners: budget, token_calls } = BodyMemory::new(640, 8);
        let mut half = budget.reserve(partners[0], 200).unwrap();
        half.grow(40).unwrap();
        assert!(half.grow(1).is_err());
        assert!(budget.reserve(partners[0], 1).is_err());
        let other = budget.reserve(partners[1], 240).unwrap();
        drop(half);
        assert_eq!(free(&budget), 240, "what could not grow has given nothing up");
        assert!(budget.reserve(partners[0], 240).is_ok());
        drop(other);
        assert!(budget.usage().by_source.is_empty());
        assert!(token_calls.reserve(STRANGERS, 20).is_ok());
        assert!(token_calls.reserve(STRANGERS, 21).is_err());
        assert_eq!(free(&token_calls), 160, "a refusal holds nothing");
        // One body of the greatest length is always possible.
        assert!(BodyMemory::new(64, 30).partners.reserve(partners[0], 30).is_ok());
    }
}
