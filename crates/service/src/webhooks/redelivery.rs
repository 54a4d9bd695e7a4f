//! The redelivery of events: of one, or of what was missed.
//!
//! What was missed may be much, and to queue it in one transaction would hold up the changes of others. So a request marks a part
//! of the feed, and the process that delivers queues it page by page ([`queue_page`]).

use kopeck_domain::ids::{EventId, PartnerId, WebhookId};
use kopeck_port_store::webhook::MAX_PENDING;
use kopeck_port_store::{FeedEvent, RedeliveryRange, StoreError, UnitOfWork, WebhookRecord};

use super::delivery::PAGE;
use super::{WebhookError, found, queue, reference};
use crate::Env;

/// Numbers of the feed that one page looks at, of which few may have been missed.
const NUMBERS: i64 = 10_000;

/// Which events are delivered once more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Redelivery {
    /// One event.
    Event(EventId),
    /// Those behind this number of the feed that were not delivered.
    After(i64),
}

/// What a redelivery comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Selection {
    /// One event.
    Event(EventId),
    /// What was missed in a part of the feed.
    Missed(RedeliveryRange),
}

/// What a redelivery comes to: of what was missed, no more than may be pending. It only reads.
///
/// # Errors
/// [`WebhookError`].
pub fn missed(
    unit: &mut dyn UnitOfWork,
    partner: PartnerId,
    id: WebhookId,
    which: Redelivery,
) -> Result<Selection, WebhookError> {
    let after = match which {
        Redelivery::Event(event) => return Ok(Selection::Event(event)),
        Redelivery::After(after) => after,
    };
    let record = redeliverable(unit, partner, id)?;
    let room = u32::try_from(room(unit, partner, &record)?).unwrap_or(u32::MAX);
    if room == 0 {
        return Err(WebhookError::TooManyPending);
    }
    let after = after.max(unit.events().expired_up_to(partner)?);
    let missed = unit.webhooks().missed(partner, &record.webhook, after, record.cursor, room)?;
    let until = missed.last().map_or(after, |last| last.seq);
    Ok(Selection::Missed(RedeliveryRange { after, until, left: missed.len() as u64 }))
}

/// Queues a new delivery, or marks what was missed to be queued. A pause of the endpoint ends. Returns how many deliveries those
/// are.
///
/// # Errors
/// [`WebhookError`].
pub fn redeliver(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    partner: PartnerId,
    id: WebhookId,
    selection: Selection,
) -> Result<u64, WebhookError> {
    let (mut record, number) = match selection {
        Selection::Event(event) => {
            let record = found(unit, partner, id)?;
            let feed = event_of(unit, partner, id, event)?;
            // Behind the 404 of an unknown event.
            let mut record =
                if record.webhook.enabled { record } else { return Err(WebhookError::Disabled) };
            if is_on_its_way(unit, partner, &record, &feed)? {
                return Err(WebhookError::Pending);
            }
            if room(unit, partner, &record)? == 0 {
                return Err(WebhookError::TooManyPending);
            }
            queue(unit, env, partner, &mut record, &[reference(&feed)])?;
            (record, 1)
        }
        Selection::Missed(range) => {
            let mut record = redeliverable(unit, partner, id)?;
            if range.left > room(unit, partner, &record)? {
                return Err(WebhookError::TooManyPending);
            }
            if range.left > 0 {
                record.redelivery = Some(range);
                record.due_at = Some(env.now());
            }
            (record, range.left)
        }
    };
    record.webhook.paused_until = None;
    unit.webhooks().update(partner, &record)?;
    Ok(number)
}

/// Queues the next page of what was missed, if there is some. Returns whether there may be more.
pub(super) fn queue_page(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    partner: PartnerId,
    record: &mut WebhookRecord,
) -> Result<bool, StoreError> {
    let Some(range) = record.redelivery else { return Ok(false) };
    let until = range.until.min(range.after.saturating_add(NUMBERS));
    let page = unit.webhooks().missed(partner, &record.webhook, range.after, until, PAGE)?;
    queue(unit, env, partner, record, &page)?;
    let is_full = page.len() == PAGE as usize;
    let after = page.last().filter(|_| is_full).map_or(until, |last| last.seq);
    let left = range.left.saturating_sub(page.len() as u64);
    record.redelivery = (after < range.until).then_some(RedeliveryRange { after, left, ..range });
    Ok(record.redelivery.is_some())
}

/// How many deliveries may be added to those that are pending.
pub(super) fn room(
    unit: &mut dyn UnitOfWork,
    partner: PartnerId,
    record: &WebhookRecord,
) -> Result<u64, StoreError> {
    let to_queue = record.redelivery.map_or(0, |range| range.left);
    let queued = unit.webhooks().queued(partner, record.webhook.id)?;
    Ok(MAX_PENDING.saturating_sub(queued + to_queue))
}

/// The webhook, if what was missed may be delivered to it.
fn redeliverable(
    unit: &mut dyn UnitOfWork,
    partner: PartnerId,
    id: WebhookId,
) -> Result<WebhookRecord, WebhookError> {
    let record = super::enabled(unit, partner, id)?;
    if record.redelivery.is_some() { Err(WebhookError::Pending) } else { Ok(record) }
}

/// Whether the event is queued, or will be.
fn is_on_its_way(
    unit: &mut dyn UnitOfWork,
    partner: PartnerId,
    record: &WebhookRecord,
    feed: &FeedEvent,
) -> Result<bool, StoreError> {
    let (webhook, seq) = (&record.webhook, feed.seq);
    if unit.webhooks().is_pending(partner, webhook.id, seq)? {
        return Ok(true);
    }
    if seq > record.cursor {
        return Ok(webhook.wants(feed.event.data.event_type()));
    }
    match record.redelivery {
        Some(range) if range.after < seq && seq <= range.until => {
            Ok(!unit.webhooks().missed(partner, webhook, seq - 1, seq, 1)?.is_empty())
        }
        _ => Ok(false),
    }
}

/// The event with this identifier. One that has expired is known by its deliveries, which are kept longer.
fn event_of(
    unit: &mut dyn UnitOfWork,
    partner: PartnerId,
    webhook: WebhookId,
    id: EventId,
) -> Result<FeedEvent, WebhookError> {
    if let Some(event) = unit.events().by_id(partner, id)? {
        return Ok(event);
    }
    let was_delivered = unit.webhooks().has_delivery_of(partner, webhook, id)?;
    Err(if was_delivered { WebhookError::Expired } else { WebhookError::NoSuchEvent })
}
