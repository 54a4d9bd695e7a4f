//! Events. A row's `data` is JSON, as the domain's `serde` form has it: what a type holds is renamed by a migration alone.

use diesel::prelude::*;
use kopeck_domain::event::{Event, EventData, EventType};
use kopeck_domain::ids::PartnerId;
use kopeck_port_store::{EventRepository, FeedEvent, StoreError};
use serde_json::{Value, json};
use time::OffsetDateTime;

use crate::convert::{AsKey, corrupt};
use crate::counters::List;
use crate::error::Stored;
use crate::schema::events;
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
}

impl EventRow {
    fn new(partner: PartnerId, seq: i64, event: &Event) -> Result<Self, StoreError> {
        let form =
            serde_json::to_value(&event.data).map_err(|error| StoreError::Failed(error.to_string()))?;
        Ok(Self {
            partner_id: partner.key(),
            seq,
            id: event.id.key(),
            kind: event.data.event_type().as_str().to_owned(),
            data: form.get("data").unwrap_or(&Value::Null).to_string(),
            created_at: UtcTimestamp::of(event.created_at),
        })
    }

    fn event(self) -> Result<FeedEvent, StoreError> {
        let data: Value = serde_json::from_str(&self.data).map_err(|_| corrupt("events.data"))?;
        let data: EventData = serde_json::from_value(json!({ "type": self.kind, "data": data }))
            .map_err(|_| corrupt("events.data"))?;
        let created_at = self.created_at.time("events.created_at")?;
        Ok(FeedEvent { seq: self.seq, event: Event { id: self.id.to(), created_at, data } })
    }
}

row!(EventRow, events: partner_id, seq, id, kind, data, created_at);

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

    fn expired_up_to(&mut self, partner: PartnerId) -> Result<i64, StoreError> {
        Ok(self.last_number(partner, List::ExpiredEvents)?.unwrap_or(0))
    }

    fn forget_before(&mut self, moment: OffsetDateTime, limit: u32) -> Result<u64, StoreError> {
        let old: Vec<(Id, i64)> = events::table
            .filter(events::created_at.lt(UtcTimestamp::of(moment)))
            .order(events::created_at)
            .limit(i64::from(limit))
            .select((events::partner_id, events::seq))
            .load(self.owning(Lock::Sweep)?)
            .stored()?;
        for (partner, seq) in &old {
            let connection = self.owning(Lock::Sweep)?;
            let text = "DELETE FROM events WHERE partner_id = ? AND seq = ?";
            statements::execute(connection, text, binds![partner, seq]).stored()?;
            let text = "UPDATE counters SET last = ? WHERE partner_id = ? AND list = ? AND last < ?";
            let values = binds![seq, partner, List::ExpiredEvents.as_str(), seq];
            statements::execute(connection, text, values).stored()?;
        }
        Ok(old.len() as u64)
    }
}
