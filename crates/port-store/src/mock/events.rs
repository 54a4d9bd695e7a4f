//! Feeds of events in memory. Use cases append to them in passing, so tests look at what is there afterwards.

use kopeck_domain::event::{Event, EventData, EventType};
use kopeck_domain::ids::{EventId, PartnerId};
use time::OffsetDateTime;

use crate::{EventRepository, FeedEvent, StoreError};

/// Feeds of events in memory.
#[derive(Debug, Default)]
pub struct FakeEvents {
    /// The events of all partners, also those that were forgotten.
    pub appended: Vec<(PartnerId, FeedEvent)>,
    /// Events before this time are forgotten.
    pub forgotten_before: Option<OffsetDateTime>,
}

impl FakeEvents {
    /// What the events of all partners tell, in the order of appending.
    #[must_use]
    pub fn data(&self) -> Vec<&EventData> {
        self.appended.iter().map(|(_, event)| &event.event.data).collect()
    }

    fn of(&self, partner: PartnerId) -> impl DoubleEndedIterator<Item = &FeedEvent> {
        self.appended.iter().filter(move |(of, _)| *of == partner).map(|(_, event)| event)
    }

    fn is_forgotten(&self, event: &Event) -> bool {
        self.forgotten_before.is_some_and(|moment| event.created_at < moment)
    }
}

impl EventRepository for FakeEvents {
    fn append(&mut self, partner: PartnerId, events: &[Event]) -> Result<(), StoreError> {
        let last = self.last(partner)?;
        let numbered = (last + 1..).zip(events).map(|(seq, event)| FeedEvent { seq, event: event.clone() });
        self.appended.extend(numbered.map(|event| (partner, event)));
        Ok(())
    }

    fn after(
        &mut self,
        partner: PartnerId,
        after: i64,
        types: &[EventType],
        limit: u32,
    ) -> Result<Vec<FeedEvent>, StoreError> {
        let kept = self.of(partner).filter(|event| event.seq > after && !self.is_forgotten(&event.event));
        let wanted = kept.filter(|event| types.is_empty() || types.contains(&event.event.data.event_type()));
        Ok(wanted.take(limit as usize).cloned().collect())
    }

    fn by_id(&mut self, partner: PartnerId, id: EventId) -> Result<Option<FeedEvent>, StoreError> {
        let kept = self.of(partner).filter(|event| !self.is_forgotten(&event.event));
        Ok(kept.into_iter().find(|event| event.event.id == id).cloned())
    }

    fn last(&mut self, partner: PartnerId) -> Result<i64, StoreError> {
        Ok(self.of(partner).next_back().map_or(0, |event| event.seq))
    }

    fn expired_up_to(&mut self, partner: PartnerId) -> Result<i64, StoreError> {
        let forgotten = self.of(partner).filter(|event| self.is_forgotten(&event.event));
        Ok(forgotten.map(|event| event.seq).max().unwrap_or(0))
    }

    fn forget_before(&mut self, moment: OffsetDateTime, _: u32) -> Result<u64, StoreError> {
        let before = self.appended.iter().filter(|(_, event)| self.is_forgotten(&event.event)).count();
        self.forgotten_before = self.forgotten_before.max(Some(moment));
        let after = self.appended.iter().filter(|(_, event)| self.is_forgotten(&event.event)).count();
        Ok((after - before) as u64)
    }
}
