//! The partners' feeds of events.

use kopeck_domain::event::{Event, EventType};
use kopeck_domain::ids::{EmployeeId, EventId, PartnerId};
use kopeck_port_store::{EventRepository, FeedEvent, StoreError};
use time::OffsetDateTime;

use super::{State, Unit, amount};

#[derive(Clone)]
pub(super) struct EventRow {
    pub(super) partner: PartnerId,
    pub(super) event: FeedEvent,
    /// An expired one keeps its place, so that numbers go on behind it.
    pub(super) expired: bool,
}

impl State {
    /// Takes the `customId` of an employee out of the events that hold it.
    pub(super) fn erase_name_in_events(&mut self, partner: PartnerId, employee: EmployeeId) {
        for row in self.events.iter_mut().filter(|row| row.partner == partner) {
            let data = &mut row.event.event.data;
            if data.names() == Some(employee) {
                *data = data.clone().without_name();
                let seq = row.event.seq;
                self.deliveries.iter_mut().for_each(|delivery| delivery.forget_error(partner, seq));
            }
        }
    }
}

impl EventRepository for Unit {
    fn append(&mut self, partner: PartnerId, events: &[Event]) -> Result<(), StoreError> {
        let state = self.writing()?;
        state.known_partner(partner)?;
        let mut seq = 0;
        for row in state.events.iter().filter(|row| row.partner == partner) {
            seq = row.event.seq;
        }
        for event in events {
            seq += 1;
            let event = FeedEvent { seq, event: event.clone() };
            state.events.push(EventRow { partner, event, expired: false });
        }
        Ok(())
    }

    fn after(
        &mut self,
        partner: PartnerId,
        after: i64,
        types: &[EventType],
        limit: u32,
    ) -> Result<Vec<FeedEvent>, StoreError> {
        let own = self.state.events.iter().filter(|row| row.partner == partner && !row.expired);
        let behind = own.map(|row| &row.event).filter(|event| event.seq > after);
        let wanted =
            behind.filter(|event| types.is_empty() || types.contains(&event.event.data.event_type()));
        Ok(wanted.take(amount(limit)).cloned().collect())
    }

    fn by_id(&mut self, partner: PartnerId, id: EventId) -> Result<Option<FeedEvent>, StoreError> {
        let mut own = self.state.events.iter().filter(|row| row.partner == partner && !row.expired);
        Ok(own.find(|row| row.event.event.id == id).map(|row| row.event.clone()))
    }

    fn last(&mut self, partner: PartnerId) -> Result<i64, StoreError> {
        Ok(self.last_event(partner))
    }

    fn expired_up_to(&mut self, partner: PartnerId) -> Result<i64, StoreError> {
        let expired = self.state.events.iter().filter(|row| row.partner == partner && row.expired);
        Ok(expired.map(|row| row.event.seq).max().unwrap_or(0))
    }

    fn forget_before(&mut self, moment: OffsetDateTime, limit: u32) -> Result<u64, StoreError> {
        let rows = self.writing()?.events.iter_mut();
        let mut old: Vec<_> =
            rows.filter(|row| !row.expired && row.event.event.created_at < moment).collect();
        old.sort_by_key(|row| row.event.event.created_at);
        old.truncate(amount(limit));
        old.iter_mut().for_each(|row| row.expired = true);
        Ok(old.len() as u64)
    }
}
