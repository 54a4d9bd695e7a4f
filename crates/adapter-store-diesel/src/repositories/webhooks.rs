//! Webhooks and their deliveries. They go by plain statements: their volume is that of deliveries over a network. A delivery
//! is pending if it has a next attempt, which the index of pending ones goes by.

mod rows;

use diesel::dsl::{exists, max, min, not};
use diesel::prelude::*;
use kopeck_domain::event::EventType;
use kopeck_domain::ids::{EventId, PartnerId, WebhookId};
use kopeck_domain::partner::PartnerStatus;
use kopeck_port_store::page::{Listed, Page};
use kopeck_port_store::webhook::{Delivery, DeliveryStatus, Webhook};
use kopeck_port_store::{
    ATTEMPT_HORIZON, DeliveryBacklog, EventRef, Lease, StoreError, WebhookRecord, WebhookRepository,
};
use time::OffsetDateTime;

use self::rows::{DeliveryRow, WebhookRow, stamp};
use super::{listed, window};
use crate::convert::{AsKey, natural, word};
use crate::counters::List;
use crate::error::{Stored, StoredRows};
use crate::schema::{counters, events, partners, webhook_deliveries, webhooks};
use crate::sql_types::{Id, UtcTimestamp};
use crate::statements::{self, INSERT_CHUNK, InsertRow as _, binds};
use crate::transaction::DieselTransaction;

const UPDATE_WEBHOOK: &str = "
    UPDATE webhooks SET url = ?, types = ?, description = ?, sealed = ?, enabled = ?, created_at = ?, last_success_at = ?,
        last_failure_at = ?, failing_since = ?, secret = ?, former_secret = ?, former_until = ?, cursor = ?, due_at = ?,
        lease_owner = ?, leased_until = ?, failures = ?, paused_until = ?, redelivery_after = ?, redelivery_until = ?,
        redelivery_left = ?
    WHERE partner_id = ? AND id = ?";

/// The deliveries of one webhook.
macro_rules! deliveries_of {
    ($partner:expr, $id:expr) => {
        webhook_deliveries::table
            .filter(webhook_deliveries::partner_id.eq($partner.key()))
            .filter(webhook_deliveries::webhook_id.eq($id.key()))
    };
}

impl WebhookRepository for DieselTransaction {
    fn insert(&mut self, partner: PartnerId, record: &WebhookRecord) -> Result<(), StoreError> {
        let row = WebhookRow::new(partner, record, &*self.cipher)?;
        statements::insert(self.of(partner)?, &[row]).stored()
    }

    fn get(&mut self, partner: PartnerId, id: WebhookId) -> Result<Option<WebhookRecord>, StoreError> {
        webhooks::table
            .find((partner.key(), id.key()))
            .select(WebhookRow::as_select())
            .get_result(self.of(partner)?)
            .found(|row| row.record(&*self.cipher))
    }

    fn update(&mut self, partner: PartnerId, record: &WebhookRecord) -> Result<(), StoreError> {
        let row = WebhookRow::new(partner, record, &*self.cipher)?;
        let mut values = row.values();
        // The key, which comes first in the row, comes last in the statement.
        values.rotate_left(2);
        self.change(partner, UPDATE_WEBHOOK, values)
    }

    fn delete(&mut self, partner: PartnerId, id: WebhookId) -> Result<(), StoreError> {
        let text = "DELETE FROM webhook_deliveries WHERE partner_id = ? AND webhook_id = ?";
        self.change(partner, text, binds![partner.key(), id.key()])?;
        let text = "DELETE FROM webhooks WHERE partner_id = ? AND id = ?";
        self.change(partner, text, binds![partner.key(), id.key()])
    }

    fn list(&mut self, partner: PartnerId, page: Page) -> Result<Listed<WebhookRecord>, StoreError> {
        let own = webhooks::table.filter(webhooks::partner_id.eq(partner.key()));
        let total: i64 = own.count().get_result(self.of(partner)?).stored()?;
        let (limit, offset) = window(page);
        // Identifiers ascend with time.
        let rows = own.order(webhooks::id).limit(limit).offset(offset).select(WebhookRow::as_select());
        listed(total, rows.load(self.of(partner)?), |row| row.record(&*self.cipher))
    }

    fn ready(&mut self, now: OffsetDateTime, limit: u32) -> Result<Vec<(PartnerId, WebhookId)>, StoreError> {
        let (lease_horizon, horizon) = (now + Lease::HORIZON, now + ATTEMPT_HORIZON);
        let (lease_horizon, horizon) = (UtcTimestamp::of(lease_horizon), UtcTimestamp::of(horizon));
        let now = UtcTimestamp::of(now);
        let behind = counters::table
            .filter(counters::partner_id.eq(webhooks::partner_id))
            .filter(counters::list.eq(List::Events.as_str()))
            .filter(counters::last.gt(webhooks::cursor));
        let has_ended = webhooks::leased_until.le(now).or(webhooks::leased_until.gt(lease_horizon));
        let is_free = webhooks::leased_until.is_null().or(has_ended.assume_not_null());
        let is_over = webhooks::paused_until.le(now).or(webhooks::paused_until.gt(horizon));
        let is_awake = webhooks::paused_until.is_null().or(is_over.assume_not_null());
        let is_due = webhooks::due_at.le(now).or(webhooks::due_at.gt(horizon));
        let is_due = webhooks::due_at.is_not_null().and(is_due.assume_not_null());
        let mut rows: Vec<(Option<UtcTimestamp>, Id, Id)> = webhooks::table
            .inner_join(partners::table.on(partners::id.eq(webhooks::partner_id)))
            .filter(webhooks::enabled)
            .filter(partners::status.eq(PartnerStatus::Active.as_str()))
            .filter(is_free)
            .filter(is_awake)
            .filter(is_due.or(exists(behind)))
            // So SQLite walks the webhooks, and not all partners.
            .order((webhooks::partner_id, webhooks::id))
            .select((webhooks::last_failure_at, webhooks::partner_id, webhooks::id))
            .load(self.unlocked()?)
            .stored()?;
        // Few at a time are ready, so that no index has to have them in this order.
        rows.sort_by_key(|(failed_at, ..)| failed_at.map(|at| at.0));
        let first = rows.into_iter().take(usize::try_from(limit).unwrap_or(usize::MAX));
        Ok(first.map(|(_, partner, id)| (partner.to(), id.to())).collect())
    }

    fn enqueue(
        &mut self,
        partner: PartnerId,
        id: WebhookId,
        deliveries: &[Delivery],
        at: OffsetDateTime,
    ) -> Result<(), StoreError> {
        let last: Option<i64> = deliveries_of!(partner, id)
            .select(max(webhook_deliveries::position))
            .get_result(self.of(partner)?)
            .stored()?;
        let first = last.map_or(1, |last| last + 1);
        let rows = (first..).zip(deliveries);
        let rows: Vec<DeliveryRow> =
            rows.map(|(position, delivery)| DeliveryRow::new(partner, id, position, delivery, at)).collect();
        for rows in rows.chunks(INSERT_CHUNK) {
            statements::insert(self.of(partner)?, rows).stored()?;
        }
        Ok(())
    }

    fn due(
        &mut self,
        partner: PartnerId,
        id: WebhookId,
        now: OffsetDateTime,
        limit: u32,
    ) -> Result<Vec<Delivery>, StoreError> {
        deliveries_of!(partner, id)
            .filter(webhook_deliveries::next_attempt_at.le(UtcTimestamp::of(now)))
            .order((webhook_deliveries::next_attempt_at, webhook_deliveries::position))
            .limit(i64::from(limit))
            .select(DeliveryRow::as_select())
            .load(self.of(partner)?)
            .all(DeliveryRow::delivery)
    }

    fn bring_within_horizon(
        &mut self,
        partner: PartnerId,
        id: WebhookId,
        now: OffsetDateTime,
    ) -> Result<(), StoreError> {
        let text = "UPDATE webhook_deliveries SET next_attempt_at = ?
            WHERE partner_id = ? AND webhook_id = ? AND next_attempt_at > ?";
        let (now, horizon) = (UtcTimestamp::of(now), UtcTimestamp::of(now + ATTEMPT_HORIZON));
        self.change(partner, text, binds![now, partner.key(), id.key(), horizon])
    }

    fn next_due(&mut self, partner: PartnerId, id: WebhookId) -> Result<Option<OffsetDateTime>, StoreError> {
        let next: Option<UtcTimestamp> = deliveries_of!(partner, id)
            .filter(webhook_deliveries::next_attempt_at.is_not_null())
            .select(min(webhook_deliveries::next_attempt_at))
            .get_result(self.of(partner)?)
            .stored()?;
        UtcTimestamp::optional(next, "webhook_deliveries.next_attempt_at")
    }

    fn update_delivery(
        &mut self,
        partner: PartnerId,
        id: WebhookId,
        delivery: &Delivery,
    ) -> Result<(), StoreError> {
        let text = "UPDATE webhook_deliveries SET status = ?, attempts = ?, last_attempt_at = ?, last_status_code = ?,
                last_error = ?, next_attempt_at = ?
            WHERE partner_id = ? AND webhook_id = ? AND id = ? AND (next_attempt_at IS NOT NULL OR ? <> 'PENDING')";
        let values = binds![
            delivery.status.as_str(),
            i64::from(delivery.attempts),
            stamp(delivery.last_attempt_at),
            delivery.last_status_code.map(i64::from),
            &delivery.last_error,
            stamp(delivery.next_attempt_at),
            partner.key(),
            id.key(),
            delivery.id.key(),
            delivery.status.as_str(),
        ];
        self.change(partner, text, values)
    }

    fn fail_pending(&mut self, partner: PartnerId, id: WebhookId, error: &str) -> Result<(), StoreError> {
        let text = "UPDATE webhook_deliveries SET status = 'FAILED', next_attempt_at = NULL, last_error = ?
            WHERE partner_id = ? AND webhook_id = ? AND next_attempt_at IS NOT NULL";
        self.change(partner, text, binds![error, partner.key(), id.key()])
    }

    fn queued(&mut self, partner: PartnerId, id: WebhookId) -> Result<u64, StoreError> {
        let queued: i64 = deliveries_of!(partner, id)
            .filter(webhook_deliveries::next_attempt_at.is_not_null())
            .count()
            .get_result(self.of(partner)?)
            .stored()?;
        natural(queued, "webhook_deliveries")
    }

    fn pending(&mut self, partner: PartnerId, record: &WebhookRecord) -> Result<u64, StoreError> {
        let webhook = &record.webhook;
        let queued = self.queued(partner, webhook.id)?;
        if !webhook.enabled {
            return Ok(queued);
        }
        let wanted = EventType::ALL.iter().filter(|event_type| webhook.wants(**event_type));
        let behind: i64 = events::table
            .filter(events::partner_id.eq(partner.key()))
            .filter(events::kind.eq_any(wanted.map(|event_type| event_type.as_str())))
            .filter(events::seq.gt(record.cursor))
            .count()
            .get_result(self.of(partner)?)
            .stored()?;
        Ok(queued + natural::<u64>(behind, "events")?)
    }

    fn deliveries(
        &mut self,
        partner: PartnerId,
        id: WebhookId,
        after: i64,
        status: Option<DeliveryStatus>,
        page: Page,
    ) -> Result<Listed<Delivery>, StoreError> {
        let any: Vec<&str> = status
            .map_or_else(|| DeliveryStatus::ALL.to_vec(), |one| vec![one])
            .iter()
            .map(|one| one.as_str())
            .collect();
        // The sum keeps SQLite from the index of `seq`, whose rows it would have to sort for the page.
        let own = || {
            deliveries_of!(partner, id)
                .filter((webhook_deliveries::seq + 0).gt(after))
                .filter(webhook_deliveries::status.eq_any(any.clone()))
        };
        let total: i64 = own().count().get_result(self.of(partner)?).stored()?;
        let (limit, offset) = window(page);
        let rows = own()
            .order(webhook_deliveries::position.desc())
            .limit(limit)
            .offset(offset)
            .select(DeliveryRow::as_select());
        listed(total, rows.load(self.of(partner)?), DeliveryRow::delivery)
    }

    fn missed(
        &mut self,
        partner: PartnerId,
        webhook: &Webhook,
        after: i64,
        until: i64,
        limit: u32,
    ) -> Result<Vec<EventRef>, StoreError> {
        let wanted = EventType::ALL.iter().filter(|event_type| webhook.wants(**event_type));
        let known = deliveries_of!(partner, webhook.id)
            .filter(webhook_deliveries::seq.eq(events::seq))
            .filter(webhook_deliveries::status.ne(DeliveryStatus::Failed.as_str()));
        let rows: Vec<(i64, Id, String)> = events::table
            .filter(events::partner_id.eq(partner.key()))
            .filter(events::seq.gt(after))
            .filter(events::seq.le(until))
            .filter(events::kind.eq_any(wanted.map(|event_type| event_type.as_str())))
            .filter(not(exists(known)))
            .order(events::seq)
            .limit(i64::from(limit))
            .select((events::seq, events::id, events::kind))
            .load(self.of(partner)?)
            .stored()?;
        let reference = |(seq, id, kind): (i64, Id, String)| {
            Ok(EventRef { seq, event: id.to(), event_type: word(&kind, "events.kind")? })
        };
        rows.into_iter().map(reference).collect()
    }

    fn is_pending(&mut self, partner: PartnerId, id: WebhookId, seq: i64) -> Result<bool, StoreError> {
        let text = "SELECT EXISTS (SELECT 1 FROM webhook_deliveries
            WHERE partner_id = ? AND webhook_id = ? AND seq = ? AND next_attempt_at IS NOT NULL) AS answer";
        statements::is_any(self.of(partner)?, text, binds![partner.key(), id.key(), seq]).stored()
    }

    fn has_delivery_of(
        &mut self,
        partner: PartnerId,
        id: WebhookId,
        event: EventId,
    ) -> Result<bool, StoreError> {
        let text = "SELECT EXISTS (SELECT 1 FROM webhook_deliveries
            WHERE partner_id = ? AND webhook_id = ? AND event_id = ?) AS answer";
        let values = binds![partner.key(), id.key(), event.key()];
        statements::is_any(self.of(partner)?, text, values).stored()
    }

    fn backlog(&mut self) -> Result<DeliveryBacklog, StoreError> {
        let connection = self.unlocked()?;
        let pending = webhook_deliveries::table.filter(webhook_deliveries::next_attempt_at.is_not_null());
        let count: i64 = pending.count().get_result(connection).stored()?;
        let oldest: Option<UtcTimestamp> =
            pending.select(min(webhook_deliveries::created_at)).get_result(connection).stored()?;
        let failing = webhooks::table.filter(webhooks::enabled).filter(webhooks::failing_since.is_not_null());
        let number: i64 = failing.count().get_result(connection).stored()?;
        let since: Option<UtcTimestamp> =
            failing.select(min(webhooks::failing_since)).get_result(connection).stored()?;
        Ok(DeliveryBacklog {
            pending: natural(count, "webhook_deliveries")?,
            oldest: UtcTimestamp::optional(oldest, "webhook_deliveries.created_at")?,
            failing: natural(number, "webhooks")?,
            failing_since: UtcTimestamp::optional(since, "webhooks.failing_since")?,
        })
    }

    fn forget_before(&mut self, moment: OffsetDateTime, limit: u32) -> Result<u64, StoreError> {
        let old = "webhook_deliveries WHERE created_at < ? ORDER BY created_at";
        let key = "partner_id, webhook_id, position";
        self.sweep("DELETE FROM webhook_deliveries", key, old, UtcTimestamp::of(moment), limit).map(u64::from)
    }
}
