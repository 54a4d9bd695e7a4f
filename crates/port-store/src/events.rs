//! The partners' feeds of events.
#![expect(clippy::missing_errors_doc, reason = "every method fails with a `StoreError` if the database does")]

use kopeck_domain::event::{Event, EventType};
use kopeck_domain::ids::{EventId, PartnerId};
use time::OffsetDateTime;

use crate::StoreError;

/// An event with its place in the feed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeedEvent {
    /// Its number in the partner's feed, from 1 on.
    pub seq: i64,
    /// The event.
    pub event: Event,
}

/// Learns of events that were appended. It is called after their commit, on a thread of the store, so it must not block.
pub trait FeedListener: Send + Sync {
    /// Events were appended to the partner's feed, by this process or another; or perhaps none were.
    fn appended(&self, partner: PartnerId);
}

/// Events, one feed a partner.
///
/// An event is appended in the transaction of the change that it tells of. Transactions on one partner's data exclude each
/// other until they are committed, so an event that becomes visible later has a greater number.
pub trait EventRepository {
    /// Adds events at the end of the partner's feed, in this order. `Rule::Reference` if there is no such partner.
    fn append(&mut self, partner: PartnerId, events: &[Event]) -> Result<(), StoreError>;
    /// Events with numbers above `after`, in their order, `limit` at most: of these types, or of all if none is named.
    fn after(
        &mut self,
        partner: PartnerId,
        after: i64,
        types: &[EventType],
        limit: u32,
    ) -> Result<Vec<FeedEvent>, StoreError>;
    /// The event with this identifier. No index leads to it: this is for what partners ask for now and then.
    fn by_id(&mut self, partner: PartnerId, id: EventId) -> Result<Option<FeedEvent>, StoreError>;
    /// The number of the last event; 0 if there has been none.
    fn last(&mut self, partner: PartnerId) -> Result<i64, StoreError>;
    /// The number up to which events may be gone; 0 if all are there.
    fn expired_up_to(&mut self, partner: PartnerId) -> Result<i64, StoreError>;
    /// Removes events of any partners that were created before `moment`, `limit` at most. Returns how many those were.
    fn forget_before(&mut self, moment: OffsetDateTime, limit: u32) -> Result<u64, StoreError>;
}
