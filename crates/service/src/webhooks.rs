//! Webhooks: what partners and operators do with them. [`delivery`] is the way of events to them.

pub mod delivery;
mod redelivery;

pub use redelivery::{Redelivery, Selection, missed, redeliver};

use kopeck_domain::event::{DisableReason, EventData, EventType, Ping, WebhookDisabled};
use kopeck_domain::ids::{DeliveryId, EventId, PartnerId, WebhookId};
use kopeck_domain::partner::SealingPolicy;
use kopeck_port_store::page::{Listed, Page};
use kopeck_port_store::webhook::{
    Delivery, DeliveryStatus, MAX_PENDING, MAX_WEBHOOKS, SECRET_OVERLAP, Webhook, WebhookUrl,
};
use kopeck_port_store::{EventRef, FeedEvent, SecretBytes, StoreError, UnitOfWork, WebhookRecord};

use crate::{Env, events};

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
    /// Deliveries that are pending, and events that are still to be queued.
    pub pending: u64,
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
    /// The event is on its way to it, or a redelivery is being queued.
    #[error("this is still being delivered to the webhook; wait until it has ended")]
    Pending,
    /// As many deliveries wait as a partner can have.
    #[error("{MAX_PENDING} deliveries to the webhook are pending; wait until some have ended")]
    TooManyPending,
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
    let to_queue = record.redelivery.map_or(0, |range| range.left);
    let pending = unit.webhooks().pending(partner, &record)? + to_queue;
    Ok(WebhookView { webhook: record.webhook, pending })
}

fn fresh_secret(env: &Env) -> SecretBytes {
    let mut secret = SecretBytes::default();
    env.entropy.fill(&mut secret);
    secret
}

/// Whether the partner can have another webhook.
///
/// # Errors
/// [`WebhookError::TooMany`], or the store's failure.
pub fn check_room(unit: &mut dyn UnitOfWork, partner: PartnerId) -> Result<(), WebhookError> {
    // Any page says how many there are.
    let first = Page::new(1, 1).map_err(|error| StoreError::Failed(error.to_string()))?;
    let total = unit.webhooks().list(partner, first)?.total;
    if total < MAX_WEBHOOKS { Ok(()) } else { Err(WebhookError::TooMany) }
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
    check_room(unit, partner)?;
    let webhook = Webhook {
        types: new.types,
        description: new.description,
        sealed: new.sealed.unwrap_or(policy == Some(SealingPolicy::Required)),
        ..Webhook::new(WebhookId::new(env.ids.next_id()), new.url, env.now())
    };
    let secret = fresh_secret(env);
    let cursor = unit.events().last(partner)?;
    let record = WebhookRecord {
        webhook,
        secret,
        former_secret: None,
        cursor,
        due_at: None,
        redelivery: None,
        lease: None,
    };
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
        webhook.set_url(url);
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
    record.redelivery = None;
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

/// Appends a test event to the feed and queues it for this webhook alone. A pause of the endpoint ends.
///
/// # Errors
/// [`WebhookError::NotFound`], [`WebhookError::Disabled`], [`WebhookError::TooManyPending`], or the store's failure.
pub fn ping(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    partner: PartnerId,
    id: WebhookId,
) -> Result<EventId, WebhookError> {
    let mut record = enabled(unit, partner, id)?;
    if redelivery::room(unit, partner, &record)? == 0 {
        return Err(WebhookError::TooManyPending);
    }
    events::append(unit, env, partner, [EventData::Ping(Ping {})])?;
    let seq = unit.events().last(partner)?;
    let appended = event_at(unit, partner, seq)?.ok_or(WebhookError::NoSuchEvent)?;
    record.webhook.paused_until = None;
    queue(unit, env, partner, &mut record, &[reference(&appended)])?;
    unit.webhooks().update(partner, &record)?;
    Ok(appended.event.id)
}

/// A page of a webhook's deliveries of events that are kept, newest first. Those that are pending wait for the end of a pause.
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
    let paused_until = found(unit, partner, id)?.webhook.paused_until;
    let expired = unit.events().expired_up_to(partner)?;
    let mut listed = unit.webhooks().deliveries(partner, id, expired, status, page)?;
    let waiting = listed.items.iter_mut().filter_map(|delivery| delivery.next_attempt_at.as_mut());
    waiting.for_each(|at| *at = paused_until.map_or(*at, |until| until.max(*at)));
    Ok(listed)
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

fn reference(feed: &FeedEvent) -> EventRef {
    EventRef { seq: feed.seq, event: feed.event.id, event_type: feed.event.data.event_type() }
}

/// Queues deliveries of events, due at once. The caller stores the record.
fn queue(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    partner: PartnerId,
    record: &mut WebhookRecord,
    queued: &[EventRef],
) -> Result<(), StoreError> {
    let now = env.now();
    let delivery = |one: &EventRef| {
        Delivery::new(DeliveryId::new(env.ids.next_id()), one.seq, one.event, one.event_type, now)
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
