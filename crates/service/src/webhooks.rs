//! Webhooks: what partners and operators do with them. [`delivery`] is the way of events to them.

pub mod delivery;

use kopeck_domain::event::{EventData, EventType, Ping, WebhookDisabled};
use kopeck_domain::ids::{DeliveryId, EventId, PartnerId, WebhookId};
use kopeck_domain::partner::SealingPolicy;
use kopeck_domain::webhook::{
    Delivery, DeliveryStatus, DisableReason, MAX_WEBHOOKS, SECRET_OVERLAP, Webhook, WebhookUrl,
};
use kopeck_port_store::page::{Listed, Page};
use kopeck_port_store::{FeedEvent, SecretBytes, StoreError, UnitOfWork, WebhookRecord};

use crate::{Env, events};

/// The most events that one redelivery queues.
pub const MOST_REDELIVERED: usize = 10_000;

/// Why a pending delivery of a disabled webhook failed.
const DISABLED: &str = "the webhook was disabled";

/// A webhook that is to be created.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewWebhook {
    /// Where events are posted.
    pub url: WebhookUrl,
    /// These types alone; `None` for all.
    pub types: Option<Vec<EventType>>,
    /// The partner's own words.
    pub description: String,
    /// Whether data are encrypted; by default if the partner's policy is `required`.
    pub sealed: Option<bool>,
}

/// What is to be changed of a webhook; `None` leaves a field as it is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WebhookChange {
    /// Another address.
    pub url: Option<WebhookUrl>,
    /// Other types, or all of them.
    pub types: Option<Option<Vec<EventType>>>,
    /// Another description.
    pub description: Option<String>,
    /// Enable or disable.
    pub enabled: Option<bool>,
    /// Encrypt data or not.
    pub sealed: Option<bool>,
}

/// A webhook and how many deliveries have not ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebhookView {
    /// The webhook.
    pub webhook: Webhook,
    /// Deliveries that are pending, and events that are not queued yet.
    pub pending: u64,
}

/// Which events are delivered once more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Redelivery {
    /// One event.
    Event(EventId),
    /// Those behind this number of the feed that were not delivered.
    After(i64),
}

/// Why nothing was done with a webhook.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WebhookError {
    /// The partner has as many as it can have.
    #[error("there can be {MAX_WEBHOOKS} webhooks at most")]
    TooMany,
    /// The partner has no such webhook.
    #[error("no such webhook")]
    NotFound,
    /// Nothing is delivered to it.
    #[error("the webhook is disabled")]
    Disabled,
    /// The partner's feed has no such event.
    #[error("no such event")]
    NoSuchEvent,
    /// The event was there once.
    #[error("the event has expired")]
    Expired,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

fn found(
    unit: &mut dyn UnitOfWork,
    partner: PartnerId,
    id: WebhookId,
) -> Result<WebhookRecord, WebhookError> {
    unit.webhooks().get(partner, id)?.ok_or(WebhookError::NotFound)
}

fn enabled(
    unit: &mut dyn UnitOfWork,
    partner: PartnerId,
    id: WebhookId,
) -> Result<WebhookRecord, WebhookError> {
    let record = found(unit, partner, id)?;
    if record.webhook.enabled { Ok(record) } else { Err(WebhookError::Disabled) }
}

fn view(
    unit: &mut dyn UnitOfWork,
    partner: PartnerId,
    record: WebhookRecord,
) -> Result<WebhookView, WebhookError> {
    let pending = unit.webhooks().pending(partner, &record)?;
    Ok(WebhookView { webhook: record.webhook, pending })
}

fn fresh_secret(env: &Env) -> SecretBytes {
    let mut secret = SecretBytes::default();
    env.entropy.fill(&mut secret);
    secret
}

/// Creates a webhook. Events from now on are delivered to it. Returns its secret too, which is shown only here.
///
/// # Errors
/// [`WebhookError::TooMany`], or the store's failure.
pub fn create(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    partner: PartnerId,
    new: NewWebhook,
) -> Result<(WebhookView, SecretBytes), WebhookError> {
    let policy = unit.partners().get(partner)?.map(|partner| partner.sealing);
    // Any page says how many there are.
    let first = Page::new(1, 1).map_err(|error| StoreError::Failed(error.to_string()))?;
    if unit.webhooks().list(partner, first)?.total >= MAX_WEBHOOKS {
        return Err(WebhookError::TooMany);
    }
    let webhook = Webhook {
        id: WebhookId::new(env.ids.next_id()),
        url: new.url,
        types: new.types,
        description: new.description,
        sealed: new.sealed.unwrap_or(policy == Some(SealingPolicy::Required)),
        enabled: true,
        created_at: env.now(),
        last_success_at: None,
        last_failure_at: None,
        failing_since: None,
    };
    let secret = fresh_secret(env);
    let cursor = unit.events().last(partner)?;
    let record = WebhookRecord { webhook, secret, former_secret: None, cursor, due_at: None, lease: None };
    unit.webhooks().insert(partner, &record)?;
    Ok((WebhookView { webhook: record.webhook, pending: 0 }, secret))
}

/// The webhook with this identifier.
///
/// # Errors
/// [`WebhookError::NotFound`], or the store's failure.
pub fn get(
    unit: &mut dyn UnitOfWork,
    partner: PartnerId,
    id: WebhookId,
) -> Result<WebhookView, WebhookError> {
    let record = found(unit, partner, id)?;
    view(unit, partner, record)
}

/// A page of the partner's webhooks, in order of creation.
///
/// # Errors
/// The store's failure.
pub fn list(
    unit: &mut dyn UnitOfWork,
    partner: PartnerId,
    page: Page,
) -> Result<Listed<WebhookView>, WebhookError> {
    let Listed { items, total } = unit.webhooks().list(partner, page)?;
    let items = items.into_iter().map(|record| view(unit, partner, record)).collect::<Result<_, _>>()?;
    Ok(Listed { items, total })
}

/// Changes a webhook. Disabling it gives up its pending deliveries; enabling it sends nothing of what was missed.
///
/// # Errors
/// [`WebhookError::NotFound`], or the store's failure.
pub fn update(
    unit: &mut dyn UnitOfWork,
    partner: PartnerId,
    id: WebhookId,
    change: WebhookChange,
) -> Result<WebhookView, WebhookError> {
    let mut record = found(unit, partner, id)?;
    let webhook = &mut record.webhook;
    if let Some(url) = change.url {
        webhook.url = url;
    }
    if let Some(types) = change.types {
        webhook.types = types;
    }
    if let Some(description) = change.description {
        webhook.description = description;
    }
    if let Some(sealed) = change.sealed {
        webhook.sealed = sealed;
    }
    match change.enabled {
        Some(true) if !webhook.enabled => {
            webhook.set_enabled(true);
            record.cursor = unit.events().last(partner)?;
        }
        Some(false) if webhook.enabled => stop(unit, partner, &mut record)?,
        _ => {}
    }
    unit.webhooks().update(partner, &record)?;
    view(unit, partner, record)
}

/// Disables the webhook of this record, which is stored afterwards, and gives up its pending deliveries.
fn stop(unit: &mut dyn UnitOfWork, partner: PartnerId, record: &mut WebhookRecord) -> Result<(), StoreError> {
    record.webhook.set_enabled(false);
    record.due_at = None;
    record.lease = None;
    unit.webhooks().fail_pending(partner, record.webhook.id, DISABLED)
}

/// Disables a webhook, and says so by an event, for the operator or because of its receiver.
///
/// # Errors
/// [`WebhookError::NotFound`], [`WebhookError::Disabled`] if it is already, or the store's failure.
pub fn disable(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    partner: PartnerId,
    id: WebhookId,
    reason: DisableReason,
) -> Result<(), WebhookError> {
    let record = enabled(unit, partner, id)?;
    Ok(disable_record(unit, env, partner, record, reason)?)
}

fn disable_record(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    partner: PartnerId,
    mut record: WebhookRecord,
    reason: DisableReason,
) -> Result<(), StoreError> {
    stop(unit, partner, &mut record)?;
    unit.webhooks().update(partner, &record)?;
    let disabled = WebhookDisabled { webhook: record.webhook.id, reason };
    events::append(unit, env, partner, [EventData::WebhookDisabled(disabled)])
}

/// Removes a webhook with its deliveries.
///
/// # Errors
/// [`WebhookError::NotFound`], or the store's failure.
pub fn delete(
    unit: &mut dyn UnitOfWork,
    partner: PartnerId,
    id: WebhookId,
) -> Result<WebhookView, WebhookError> {
    let view = get(unit, partner, id)?;
    unit.webhooks().delete(partner, id)?;
    Ok(view)
}

/// Gives a webhook another secret. For [`SECRET_OVERLAP`] the present one signs too; one before that ends.
///
/// # Errors
/// [`WebhookError::NotFound`], or the store's failure.
pub fn rotate_secret(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    partner: PartnerId,
    id: WebhookId,
) -> Result<SecretBytes, WebhookError> {
    let mut record = found(unit, partner, id)?;
    let secret = fresh_secret(env);
    record.former_secret = Some((record.secret, env.now() + SECRET_OVERLAP));
    record.secret = secret;
    unit.webhooks().update(partner, &record)?;
    Ok(secret)
}

/// Appends a test event to the feed and queues it for this webhook alone.
///
/// # Errors
/// [`WebhookError::NotFound`], [`WebhookError::Disabled`], or the store's failure.
pub fn ping(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    partner: PartnerId,
    id: WebhookId,
) -> Result<EventId, WebhookError> {
    let mut record = enabled(unit, partner, id)?;
    events::append(unit, env, partner, [EventData::Ping(Ping {})])?;
    let seq = unit.events().last(partner)?;
    let appended = event_at(unit, partner, seq)?.ok_or(WebhookError::NoSuchEvent)?;
    queue(unit, env, partner, &mut record, std::slice::from_ref(&appended))?;
    unit.webhooks().update(partner, &record)?;
    Ok(appended.event.id)
}

/// A page of a webhook's deliveries of events that are kept, newest first.
///
/// # Errors
/// [`WebhookError::NotFound`], or the store's failure.
pub fn deliveries(
    unit: &mut dyn UnitOfWork,
    partner: PartnerId,
    id: WebhookId,
    status: Option<DeliveryStatus>,
    page: Page,
) -> Result<Listed<Delivery>, WebhookError> {
    found(unit, partner, id)?;
    let expired = unit.events().expired_up_to(partner)?;
    Ok(unit.webhooks().deliveries(partner, id, expired, status, page)?)
}

/// Queues new deliveries, [`MOST_REDELIVERED`] at most. Returns how many those are.
///
/// # Errors
/// [`WebhookError`].
pub fn redeliver(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    partner: PartnerId,
    id: WebhookId,
    which: Redelivery,
) -> Result<usize, WebhookError> {
    let mut record = found(unit, partner, id)?;
    let missed = match which {
        Redelivery::Event(event) => vec![event_of(unit, partner, id, event)?],
        Redelivery::After(_) if !record.webhook.enabled => Vec::new(),
        Redelivery::After(after) => missed_since(unit, partner, &record, after)?,
    };
    // Behind the 404 of an unknown event.
    if !record.webhook.enabled {
        return Err(WebhookError::Disabled);
    }
    queue(unit, env, partner, &mut record, &missed)?;
    unit.webhooks().update(partner, &record)?;
    Ok(missed.len())
}

/// The event with this number, unless it has expired.
fn event_at(
    unit: &mut dyn UnitOfWork,
    partner: PartnerId,
    seq: i64,
) -> Result<Option<FeedEvent>, StoreError> {
    let found = unit.events().after(partner, seq - 1, &[], 1)?;
    Ok(found.into_iter().find(|event| event.seq == seq))
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

/// Events of the webhook's types behind `after`, up to its cursor, that were not delivered and are not pending.
fn missed_since(
    unit: &mut dyn UnitOfWork,
    partner: PartnerId,
    record: &WebhookRecord,
    after: i64,
) -> Result<Vec<FeedEvent>, WebhookError> {
    let mut missed = Vec::new();
    let mut after = after.max(unit.events().expired_up_to(partner)?);
    while after < record.cursor && missed.len() < MOST_REDELIVERED {
        let mut page = unit.events().after(partner, after, &[], delivery::PAGE)?;
        page.retain(|event| event.seq <= record.cursor);
        let Some(last) = page.last().map(|event| event.seq) else { break };
        let known = unit.webhooks().delivered_or_pending(partner, record.webhook.id, after, last)?;
        page.retain(|event| {
            record.webhook.wants(event.event.data.event_type()) && !known.contains(&event.seq)
        });
        missed.append(&mut page);
        after = last;
    }
    missed.truncate(MOST_REDELIVERED);
    Ok(missed)
}

/// Queues deliveries of events, due at once. The caller stores the record.
fn queue(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    partner: PartnerId,
    record: &mut WebhookRecord,
    queued: &[FeedEvent],
) -> Result<(), StoreError> {
    let now = env.now();
    let delivery = |feed: &FeedEvent| {
        let id = DeliveryId::new(env.ids.next_id());
        Delivery::new(id, feed.seq, feed.event.id, feed.event.data.event_type(), now)
    };
    let deliveries: Vec<Delivery> = queued.iter().map(delivery).collect();
    if deliveries.is_empty() {
        return Ok(());
    }
    unit.webhooks().enqueue(partner, record.webhook.id, &deliveries, now)?;
    record.due_at = Some(record.due_at.map_or(now, |due| due.min(now)));
    Ok(())
}

#[cfg(test)]
mod tests;
