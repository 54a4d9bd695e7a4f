//! Webhooks and their deliveries.

use std::collections::BTreeSet;

use kopeck_domain::ids::{EventId, PartnerId, WebhookId};
use kopeck_domain::partner::PartnerStatus;
use kopeck_port_store::page::{Listed, Page};
use kopeck_port_store::webhook::{Delivery, DeliveryStatus, Webhook};
use kopeck_port_store::{
    ATTEMPT_HORIZON, DeliveryBacklog, EventRef, StoreError, WebhookRecord, WebhookRepository,
};
use time::OffsetDateTime;

use super::{Unit, amount, page_of};

#[derive(Clone)]
pub(super) struct WebhookRow {
    partner: PartnerId,
    record: WebhookRecord,
}

#[derive(Clone)]
pub(super) struct DeliveryRow {
    partner: PartnerId,
    webhook: WebhookId,
    delivery: Delivery,
    created_at: OffsetDateTime,
}

impl DeliveryRow {
    /// If it is one of this event.
    pub(super) fn forget_error(&mut self, partner: PartnerId, seq: i64) {
        if (self.partner, self.delivery.seq) == (partner, seq) {
            self.delivery.last_error = None;
        }
    }

    fn is_pending(&self) -> bool {
        self.delivery.status == DeliveryStatus::Pending
    }
}

impl Unit {
    /// The deliveries of a webhook, oldest first.
    fn of_webhook(&self, partner: PartnerId, id: WebhookId) -> impl DoubleEndedIterator<Item = &DeliveryRow> {
        self.state.deliveries.iter().filter(move |row| (row.partner, row.webhook) == (partner, id))
    }

    /// The number of the partner's last event.
    pub(super) fn last_event(&self, partner: PartnerId) -> i64 {
        let own = self.state.events.iter().filter(|row| row.partner == partner);
        own.map(|row| row.event.seq).max().unwrap_or(0)
    }
}

impl WebhookRepository for Unit {
    fn insert(&mut self, partner: PartnerId, record: &WebhookRecord) -> Result<(), StoreError> {
        let state = self.writing()?;
        state.known_partner(partner)?;
        state.webhooks.push(WebhookRow { partner, record: record.clone() });
        Ok(())
    }

    fn get(&mut self, partner: PartnerId, id: WebhookId) -> Result<Option<WebhookRecord>, StoreError> {
        let mut rows = self.state.webhooks.iter();
        let row = rows.find(|row| row.partner == partner && row.record.webhook.id == id);
        Ok(row.map(|row| row.record.clone()))
    }

    fn update(&mut self, partner: PartnerId, record: &WebhookRecord) -> Result<(), StoreError> {
        let id = record.webhook.id;
        let mut rows = self.writing()?.webhooks.iter_mut();
        if let Some(row) = rows.find(|row| row.partner == partner && row.record.webhook.id == id) {
            row.record = record.clone();
        }
        Ok(())
    }

    fn delete(&mut self, partner: PartnerId, id: WebhookId) -> Result<(), StoreError> {
        let state = self.writing()?;
        state.deliveries.retain(|row| (row.partner, row.webhook) != (partner, id));
        state.webhooks.retain(|row| (row.partner, row.record.webhook.id) != (partner, id));
        Ok(())
    }

    fn list(&mut self, partner: PartnerId, page: Page) -> Result<Listed<WebhookRecord>, StoreError> {
        let own = self.state.webhooks.iter().filter(|row| row.partner == partner);
        let mut records: Vec<_> = own.map(|row| row.record.clone()).collect();
        records.sort_by_key(|record| record.webhook.id);
        Ok(page_of(records, page))
    }

    fn ready(&mut self, now: OffsetDateTime, limit: u32) -> Result<Vec<(PartnerId, WebhookId)>, StoreError> {
        let is_active = |partner| {
            let mut partners = self.state.partners.iter().map(|row| &row.credentials.partner);
            partners.any(|one| one.id == partner && one.status == PartnerStatus::Active)
        };
        let is_ready = |row: &&WebhookRow| {
            let record = &row.record;
            let is_free = !record.lease.is_some_and(|lease| lease.holds(now));
            let is_due = record.due_at.is_some_and(|at| at <= now || at > now + ATTEMPT_HORIZON);
            record.webhook.enabled
                && is_active(row.partner)
                && is_free
                && !record.is_paused(now)
                && (is_due || self.last_event(row.partner) > record.cursor)
        };
        let mut ready: Vec<&WebhookRow> = self.state.webhooks.iter().filter(is_ready).collect();
        ready.sort_by_key(|row| row.record.webhook.last_failure_at);
        Ok(ready.into_iter().map(|row| (row.partner, row.record.webhook.id)).take(amount(limit)).collect())
    }

    fn enqueue(
        &mut self,
        partner: PartnerId,
        id: WebhookId,
        deliveries: &[Delivery],
        at: OffsetDateTime,
    ) -> Result<(), StoreError> {
        let rows = &mut self.writing()?.deliveries;
        for delivery in deliveries {
            rows.push(DeliveryRow { partner, webhook: id, delivery: delivery.clone(), created_at: at });
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
        let due = self.of_webhook(partner, id).map(|row| &row.delivery);
        let mut due: Vec<_> =
            due.filter(|one| one.next_attempt_at.is_some_and(|at| at <= now)).cloned().collect();
        due.sort_by_key(|one| one.next_attempt_at);
        due.truncate(amount(limit));
        Ok(due)
    }

    fn bring_within_horizon(
        &mut self,
        partner: PartnerId,
        id: WebhookId,
        now: OffsetDateTime,
    ) -> Result<(), StoreError> {
        let rows = self.writing()?.deliveries.iter_mut();
        for row in rows.filter(|row| (row.partner, row.webhook) == (partner, id)) {
            let next =
                row.delivery.next_attempt_at.map(|at| if at > now + ATTEMPT_HORIZON { now } else { at });
            row.delivery.next_attempt_at = next;
        }
        Ok(())
    }

    fn next_due(&mut self, partner: PartnerId, id: WebhookId) -> Result<Option<OffsetDateTime>, StoreError> {
        Ok(self.of_webhook(partner, id).filter_map(|row| row.delivery.next_attempt_at).min())
    }

    fn update_delivery(
        &mut self,
        partner: PartnerId,
        id: WebhookId,
        delivery: &Delivery,
    ) -> Result<(), StoreError> {
        let mut rows = self.writing()?.deliveries.iter_mut();
        let found =
            rows.find(|row| (row.partner, row.webhook, row.delivery.id) == (partner, id, delivery.id));
        if let Some(row) = found
            && (row.is_pending() || delivery.status != DeliveryStatus::Pending)
        {
            row.delivery = delivery.clone();
        }
        Ok(())
    }

    fn fail_pending(&mut self, partner: PartnerId, id: WebhookId, error: &str) -> Result<(), StoreError> {
        let rows = self.writing()?.deliveries.iter_mut();
        let own = rows.filter(|row| (row.partner, row.webhook) == (partner, id) && row.is_pending());
        own.for_each(|row| row.delivery.give_up(error));
        Ok(())
    }

    fn queued(&mut self, partner: PartnerId, id: WebhookId) -> Result<u64, StoreError> {
        Ok(self.of_webhook(partner, id).filter(|row| row.is_pending()).count() as u64)
    }

    fn pending(&mut self, partner: PartnerId, record: &WebhookRecord) -> Result<u64, StoreError> {
        let webhook = &record.webhook;
        let queued = self.queued(partner, webhook.id)?;
        let behind = self.state.events.iter().filter(|row| {
            let is_behind = row.partner == partner && !row.expired && row.event.seq > record.cursor;
            is_behind && webhook.enabled && webhook.wants(row.event.event.data.event_type())
        });
        Ok(queued + behind.count() as u64)
    }

    fn deliveries(
        &mut self,
        partner: PartnerId,
        id: WebhookId,
        after: i64,
        status: Option<DeliveryStatus>,
        page: Page,
    ) -> Result<Listed<Delivery>, StoreError> {
        let own = self.of_webhook(partner, id).rev().map(|row| &row.delivery);
        let wanted = own.filter(|one| one.seq > after && status.is_none_or(|status| one.status == status));
        Ok(page_of(wanted.cloned().collect(), page))
    }

    fn missed(
        &mut self,
        partner: PartnerId,
        webhook: &Webhook,
        after: i64,
        until: i64,
        limit: u32,
    ) -> Result<Vec<EventRef>, StoreError> {
        let own = self.of_webhook(partner, webhook.id).map(|row| &row.delivery);
        let known: BTreeSet<i64> =
            own.filter(|one| one.status != DeliveryStatus::Failed).map(|one| one.seq).collect();
        let missed = self.state.events.iter().filter(|row| row.partner == partner && !row.expired);
        let missed = missed.map(|row| EventRef {
            seq: row.event.seq,
            event: row.event.event.id,
            event_type: row.event.event.data.event_type(),
        });
        let is_missed = |one: &EventRef| {
            (after + 1..=until).contains(&one.seq)
                && webhook.wants(one.event_type)
                && !known.contains(&one.seq)
        };
        Ok(missed.filter(is_missed).take(amount(limit)).collect())
    }

    fn is_pending(&mut self, partner: PartnerId, id: WebhookId, seq: i64) -> Result<bool, StoreError> {
        Ok(self.of_webhook(partner, id).any(|row| row.is_pending() && row.delivery.seq == seq))
    }

    fn has_delivery_of(
        &mut self,
        partner: PartnerId,
        id: WebhookId,
        event: EventId,
    ) -> Result<bool, StoreError> {
        Ok(self.of_webhook(partner, id).any(|row| row.delivery.event == event))
    }

    fn backlog(&mut self) -> Result<DeliveryBacklog, StoreError> {
        let pending: Vec<_> = self.state.deliveries.iter().filter(|row| row.is_pending()).collect();
        let webhooks = self.state.webhooks.iter().map(|row| &row.record.webhook);
        let failing: Vec<_> =
            webhooks.filter(|webhook| webhook.enabled).filter_map(|webhook| webhook.failing_since).collect();
        Ok(DeliveryBacklog {
            pending: pending.len() as u64,
            oldest: pending.iter().map(|row| row.created_at).min(),
            failing: failing.len() as u64,
            failing_since: failing.into_iter().min(),
        })
    }

    fn forget_before(&mut self, moment: OffsetDateTime, limit: u32) -> Result<u64, StoreError> {
        let rows = &mut self.writing()?.deliveries;
        let before = rows.len();
        let mut left = amount(limit);
        rows.retain(|row| {
            let is_forgotten = left > 0 && row.created_at < moment;
            left -= usize::from(is_forgotten);
            !is_forgotten
        });
        Ok((before - rows.len()) as u64)
    }
}
