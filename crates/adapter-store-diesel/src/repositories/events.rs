//! Events. A row's `data` is JSON, as the domain's `serde` form has it: what a type holds is renamed by a migration alone.

use diesel::prelude::*;
use kopeck_domain::event::{Event, EventData, EventType};
use kopeck_domain::ids::{EmployeeId, EventId, PartnerId};
use kopeck_port_store::{EventRepository, FeedEvent, StoreError};
use time::OffsetDateTime;

use crate::convert::{AsKey, corrupt};
use crate::counters::List;
use crate::error::Stored;
use crate::schema::{counters, events};
use crate::sql_types::{Id, UtcTimestamp};
use crate::statements::{self, INSERT_CHUNK, binds, row};
use crate::transaction::DieselTransaction;
use crate::transaction::locks::Lock;

/// An event as its table has it.
#[derive(Queryable, Selectable)]
#[diesel(table_name = events)]
struct EventRow {
    partner_id: Id,
    seq: i64,
    id: Id,
    kind: String,
    data: String,
    created_at: UtcTimestamp,
    /// The employee whose `customId` is in the data.
    employee_id: Option<Id>,
}

/// The types whose data can hold the `customId` of an employee.
const NAMING: [EventType; 2] = [EventType::EmployeeCreated, EventType::EmployeeUpdated];

/// The JSON of an event's data, with its type.
fn stored(data: &EventData) -> Result<String, StoreError> {
    serde_json::to_string(data).map_err(|error| StoreError::Failed(error.to_string()))
}

impl EventRow {
    fn new(partner: PartnerId, seq: i64, event: &Event) -> Result<Self, StoreError> {
        let (event_type, employee) = (event.data.event_type(), event.data.names());
        debug_assert!(employee.is_none() || NAMING.contains(&event_type), "{event_type}");
        Ok(Self {
            partner_id: partner.key(),
            seq,
            id: event.id.key(),
            kind: event_type.as_str().to_owned(),
            data: stored(&event.data)?,
            created_at: UtcTimestamp::of(event.created_at),
            employee_id: employee.map(|employee| employee.key()),
        })
    }

    fn event(self) -> Result<FeedEvent, StoreError> {
        let data: EventData = serde_json::from_str(&self.data).map_err(|_| corrupt("events.data"))?;
        let created_at = self.created_at.time("events.created_at")?;
        Ok(FeedEvent { seq: self.seq, event: Event { id: self.id.to(), created_at, data } })
    }
}

row!(EventRow, events: partner_id, seq, id, kind, data, created_at, employee_id);

impl DieselTransaction {
    /// The rows of one type, or of all.
    fn feed(
        &mut self,
        partner: PartnerId,
        after: i64,
        of: Option<EventType>,
        limit: u32,
    ) -> Result<Vec<EventRow>, StoreError> {
        let mut query = events::table
            .filter(events::partner_id.eq(partner.key()))
            .filter(events::seq.gt(after))
            .order(events::seq)
            .limit(i64::from(limit))
            .select(EventRow::as_select())
            .into_boxed();
        if let Some(event_type) = of {
            query = query.filter(events::kind.eq(event_type.as_str()));
        }
        query.load(self.of(partner)?).stored()
    }
}

impl EventRepository for DieselTransaction {
    fn append(&mut self, partner: PartnerId, events: &[Event]) -> Result<(), StoreError> {
        let next = self.next_number(partner, List::Events)?;
        let rows = (next..).zip(events).map(|(seq, event)| EventRow::new(partner, seq, event));
        let rows: Vec<EventRow> = rows.collect::<Result<_, _>>()?;
        let Some(last) = rows.last().map(|row| row.seq) else { return Ok(()) };
        if let Some(pending) = self.pending(partner)? {
            rows.into_iter().for_each(|row| pending.add(row));
        } else {
            for rows in rows.chunks(INSERT_CHUNK) {
                statements::insert(self.of(partner)?, rows).stored()?;
            }
        }
        self.appended.insert(partner);
        self.give_out(partner, List::Events, last)
    }

    fn after(
        &mut self,
        partner: PartnerId,
        after: i64,
        types: &[EventType],
        limit: u32,
    ) -> Result<Vec<FeedEvent>, StoreError> {
        let mut rows = Vec::new();
        if types.is_empty() {
            rows = self.feed(partner, after, None, limit)?;
        }
        // One look at an index for each type: a type that is rare is not searched for among all others.
        for event_type in types {
            rows.append(&mut self.feed(partner, after, Some(*event_type), limit)?);
        }
        rows.sort_unstable_by_key(|row| row.seq);
        rows.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
        rows.into_iter().map(EventRow::event).collect()
    }

    fn by_id(&mut self, partner: PartnerId, id: EventId) -> Result<Option<FeedEvent>, StoreError> {
        events::table
            .filter(events::partner_id.eq(partner.key()))
            .filter(events::id.eq(id.key()))
            .select(EventRow::as_select())
            .get_result(self.of(partner)?)
            .found(EventRow::event)
    }

    fn last(&mut self, partner: PartnerId) -> Result<i64, StoreError> {
        Ok(self.last_number(partner, List::Events)?.unwrap_or(0))
    }

    fn expired_up_to(&mut self, partner: PartnerId) -> Result<i64, StoreError> {
        Ok(self.last_number(partner, List::ExpiredEvents)?.unwrap_or(0))
    }

    /// Numbers are dense, so the oldest event of a feed is behind the last one that was deleted: no index by age is needed.
    fn forget_before(&mut self, moment: OffsetDateTime, limit: u32) -> Result<u64, StoreError> {
        let moment = UtcTimestamp::of(moment);
        let oldest = events::partner_id.eq(counters::partner_id).and(events::seq.eq(counters::last + 1));
        let feeds: Vec<(Id, i64)> = counters::table
            .inner_join(events::table.on(oldest))
            .filter(counters::list.eq(List::ExpiredEvents.as_str()))
            .filter(events::created_at.lt(moment))
            .limit(i64::from(limit))
            .select((counters::partner_id, counters::last))
            .load(self.owning(Lock::Sweep)?)
            .stored()?;
        let mut left = i64::from(limit);
        for (partner, last) in feeds {
            left -= self.forget_events_of(partner, last, moment, left)?;
        }
        Ok((i64::from(limit) - left).unsigned_abs())
    }
}

impl DieselTransaction {
    /// Takes the `customId` of an employee out of the events that hold it, and what receivers said of those events.
    pub(super) fn erase_name_in_events(
        &mut self,
        partner: PartnerId,
        employee: EmployeeId,
    ) -> Result<(), StoreError> {
        let rows: Vec<EventRow> = events::table
            .filter(events::partner_id.eq(partner.key()))
            .filter(events::kind.eq_any(NAMING.map(EventType::as_str)))
            .filter(events::employee_id.eq(employee.key()))
            .select(EventRow::as_select())
            .load(self.of(partner)?)
            .stored()?;
        let text = "UPDATE events SET data = ?, employee_id = NULL WHERE partner_id = ? AND seq = ?";
        // By the webhooks of the partner, of which there are few, since the index of deliveries has them before the number.
        let errors = "UPDATE webhook_deliveries SET last_error = NULL WHERE partner_id = ? AND seq = ?
            AND webhook_id IN (SELECT id FROM webhooks WHERE partner_id = ?)";
        for row in rows {
            let seq = row.seq;
            let data = stored(&row.event()?.event.data.without_name())?;
            self.change(partner, text, binds![&data, partner.key(), seq])?;
            self.change(partner, errors, binds![partner.key(), seq, partner.key()])?;
        }
        Ok(())
    }

    /// Deletes events of one feed behind number `last`, `limit` at most, up to the first that is not older than `moment`.
    fn forget_events_of(
        &mut self,
        partner: Id,
        last: i64,
        moment: UtcTimestamp,
        limit: i64,
    ) -> Result<i64, StoreError> {
        let connection = self.owning(Lock::Sweep)?;
        let of_feed = || events::table.filter(events::partner_id.eq(partner)).filter(events::seq.gt(last));
        let ages: Vec<UtcTimestamp> = of_feed()
            .filter(events::seq.le(last + limit))
            .order(events::seq)
            .select(events::created_at)
            .load(connection)
            .stored()?;
        let old = ages.iter().take_while(|created_at| **created_at < moment).count();
        let old = i64::try_from(old).unwrap_or(limit);
        let until = last + old;
        let text = "DELETE FROM events WHERE partner_id = ? AND seq <= ?";
        statements::execute(connection, text, binds![partner, until]).stored()?;
        let text = "UPDATE counters SET last = ? WHERE partner_id = ? AND list = ?";
        statements::execute(connection, text, binds![until, partner, List::ExpiredEvents.as_str()])
            .stored()?;
        Ok(old)
    }
}
