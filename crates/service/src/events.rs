//! Events: what use cases and workers append to a partner's feed, in the transaction of the change, and how the feed is
//! read.

use kopeck_domain::event::{Event, EventData, EventType};
use kopeck_domain::ids::{EventId, PartnerId};
use kopeck_port_store::{FeedEvent, StoreError, UnitOfWork};

use crate::Env;

/// What a reader of the feed wants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeedQuery {
    /// The number after which to begin; 0 for the oldest event that is kept, `None` for the newest: from now on.
    pub after: Option<i64>,
    /// These types alone; all if there are none.
    pub types: Vec<EventType>,
    /// The most events.
    pub limit: u32,
}

/// A piece of the feed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeedPage {
    /// Events in the order of their numbers.
    pub events: Vec<FeedEvent>,
    /// After which number the next piece begins.
    pub next: i64,
    /// The least number that is kept, or that of the next event if there is none.
    pub oldest: i64,
    /// The greatest number that was given, or one less than `oldest` if there is no event.
    pub newest: i64,
}

/// Why the feed was not shown.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FeedError {
    /// Events after the number asked for are no longer kept.
    #[error("events after this number have expired; the oldest that is kept has number {oldest}")]
    Expired {
        /// The least number that is kept.
        oldest: i64,
    },
    /// The number asked for was never given: a restore or a new sandbox has begun the feed anew since.
    #[error(
        "there is no event with this number yet, the newest has number {newest}: the feed is not the one that you read \
         before"
    )]
    Ahead {
        /// The greatest number that was given.
        newest: i64,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A piece of the partner's feed.
///
/// # Errors
/// [`FeedError`].
pub fn feed(unit: &mut dyn UnitOfWork, partner: PartnerId, query: &FeedQuery) -> Result<FeedPage, FeedError> {
    let expired = unit.events().expired_up_to(partner)?;
    let oldest = expired.saturating_add(1);
    let last = unit.events().last(partner)?;
    let after = query.after.unwrap_or(last);
    // The very beginning is wherever the feed begins.
    if (1..expired).contains(&after) {
        return Err(FeedError::Expired { oldest });
    }
    if after > last {
        return Err(FeedError::Ahead { newest: last });
    }
    let events = unit.events().after(partner, after, &query.types, query.limit)?;
    let next = events.last().map_or(after, |last| last.seq);
    // Some may have been appended since the last number was read.
    Ok(FeedPage { events, next, oldest, newest: last.max(next) })
}

/// Appends what has happened just now to the partner's feed.
pub(crate) fn append(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    partner: PartnerId,
    happened: impl IntoIterator<Item: Into<EventData>>,
) -> Result<(), StoreError> {
    let created_at = env.now();
    let event = |data| Event { id: EventId::new(env.ids.next_id()), created_at, data };
    let events: Vec<Event> = happened.into_iter().map(Into::into).map(event).collect();
    if events.is_empty() {
        return Ok(());
    }
    unit.events().append(partner, &events)
}

#[cfg(test)]
mod tests;
