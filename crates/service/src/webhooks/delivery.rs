//! The way of events to a webhook. One process at a time has the lease of a webhook; it queues deliveries from the feed, makes
//! attempts, and records what they came to. An attempt whose outcome was not recorded is made again, with the same event.

use kopeck_domain::ids::{DeliveryId, PartnerId, WebhookId};
use kopeck_domain::partner::PartnerStatus;
use kopeck_port_store::webhook::{ATTEMPTS_AT_ONCE, AttemptOutcome, Delivery, Spread};
use kopeck_port_store::{ATTEMPT_HORIZON, FeedEvent, Lease, StoreError, UnitOfWork, WebhookRecord};
use uuid::Uuid;

use super::{disable_record, event_at, queue, redelivery, reference};
use crate::Env;

/// Events that are read from the feed at a time.
pub(super) const PAGE: u32 = 500;

/// What a process that has the lease of a webhook does next.
#[derive(Debug)]
pub enum Next {
    /// Make these attempts, record what each came to, and ask again. There may be none, where a page of the feed had none.
    Attempts(Box<WebhookRecord>, Vec<(Delivery, FeedEvent)>),
    /// Nothing else is due. The lease is kept for the attempts that are being made.
    Wait,
    /// Nothing is due, or the endpoint is left alone for a while: the lease is given back.
    Nothing,
    /// The webhook is gone or disabled, its partner is suspended, or another process has the lease.
    Lost,
}

/// What an attempt came to, as the receiver or the connection to it says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttemptReport {
    /// As far as the rules go.
    pub outcome: AttemptOutcome,
    /// The status code, if there was a response.
    pub status_code: Option<u16>,
    /// Why it failed, in the service's own words, and the beginning of the receiver's response.
    pub error: Option<String>,
}

/// Takes the lease of a webhook, or renews it, and says what is to be done beside the attempts `in_flight`, which this process
/// is making.
///
/// # Errors
/// [`StoreError`] if the store fails.
pub fn next(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    partner: PartnerId,
    id: WebhookId,
    process: Uuid,
    in_flight: &[DeliveryId],
) -> Result<Next, StoreError> {
    let now = env.now();
    let Some(mut record) = unit.webhooks().get(partner, id)? else { return Ok(Next::Lost) };
    let is_others = record.lease.is_some_and(|lease| lease.owner != process && lease.holds(now));
    let is_active =
        unit.partners().get(partner)?.is_some_and(|partner| partner.status == PartnerStatus::Active);
    if !record.webhook.enabled || !is_active || is_others {
        return Ok(Next::Lost);
    }
    record.lease = Some(Lease { owner: process, until: now + Lease::LONGEST });
    if record.due_at.is_some_and(|at| at > now + ATTEMPT_HORIZON) {
        unit.webhooks().bring_within_horizon(partner, id, now)?;
    }
    let free = free_places(&record, in_flight);
    let mut due = Vec::new();
    let mut may_be_behind = false;
    if free > 0 && !record.is_paused(now) {
        due = due_beside(unit, env, partner, &record, in_flight)?;
        may_be_behind = true;
        // More is queued only when little else is due, so that the queue of a dead receiver stays short.
        if due.len() < free {
            may_be_behind = queue_more(unit, env, partner, &mut record)?;
            due = due_beside(unit, env, partner, &record, in_flight)?;
        }
    }
    let is_all = due.is_empty() && !may_be_behind;
    let is_done = is_all && in_flight.is_empty();
    if is_done {
        give_back(unit, env, partner, &mut record)?;
    }
    unit.webhooks().update(partner, &record)?;
    if is_all {
        return Ok(if is_done { Next::Nothing } else { Next::Wait });
    }
    let mut attempts = Vec::new();
    for mut delivery in due {
        if let Some(event) = event_at(unit, partner, delivery.seq)? {
            attempts.push((delivery, event));
        } else {
            delivery.give_up("the event has expired");
            unit.webhooks().update_delivery(partner, id, &delivery)?;
        }
    }
    Ok(Next::Attempts(Box::new(record), attempts))
}

/// Queues a page of the feed, and one of a redelivery. A page at a time, so that a long feed makes no long transaction. Returns
/// whether there may be more.
fn queue_more(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    partner: PartnerId,
    record: &mut WebhookRecord,
) -> Result<bool, StoreError> {
    let more = unit.events().after(partner, record.cursor, &[], PAGE)?;
    if let Some(last) = more.last() {
        record.cursor = last.seq;
        let wanted = more.iter().filter(|event| record.webhook.wants(event.event.data.event_type()));
        let wanted: Vec<_> = wanted.map(reference).collect();
        queue(unit, env, partner, record, &wanted)?;
    }
    // A redelivery does not wait for the end of a busy feed.
    let has_redelivery = redelivery::queue_page(unit, env, partner, record)?;
    Ok(more.len() == PAGE as usize || has_redelivery)
}

/// Leaves the webhook to whichever process finds it ready. The caller stores the record.
fn give_back(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    partner: PartnerId,
    record: &mut WebhookRecord,
) -> Result<(), StoreError> {
    record.lease = None;
    record.due_at = match record.redelivery {
        Some(_) => Some(env.now()),
        None => unit.webhooks().next_due(partner, record.webhook.id)?,
    };
    Ok(())
}

/// How many attempts can be begun beside those in flight.
const fn free_places(record: &WebhookRecord, in_flight: &[DeliveryId]) -> usize {
    (record.webhook.attempts_at_once() as usize).saturating_sub(in_flight.len())
}

/// Deliveries that are due and not in flight, as many as can be attempted beside those that are.
fn due_beside(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    partner: PartnerId,
    record: &WebhookRecord,
    in_flight: &[DeliveryId],
) -> Result<Vec<Delivery>, StoreError> {
    let mut due = unit.webhooks().due(partner, record.webhook.id, env.now(), ATTEMPTS_AT_ONCE)?;
    due.retain(|delivery| !in_flight.contains(&delivery.id));
    due.truncate(free_places(record, in_flight));
    Ok(due)
}

/// Whether there is something to deliver to a webhook beside the attempts `in_flight`.
///
/// # Errors
/// [`StoreError`] if the store fails.
pub fn has_more(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    partner: PartnerId,
    id: WebhookId,
    in_flight: &[DeliveryId],
) -> Result<bool, StoreError> {
    let Some(record) = unit.webhooks().get(partner, id)? else { return Ok(false) };
    if record.is_paused(env.now()) || free_places(&record, in_flight) == 0 {
        return Ok(false);
    }
    Ok(record.redelivery.is_some()
        || unit.events().last(partner)? > record.cursor
        || !due_beside(unit, env, partner, &record, in_flight)?.is_empty())
}

/// Gives the lease of a webhook back.
///
/// # Errors
/// [`StoreError`] if the store fails.
pub fn release(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    partner: PartnerId,
    id: WebhookId,
    process: Uuid,
) -> Result<(), StoreError> {
    let Some(mut record) = unit.webhooks().get(partner, id)? else { return Ok(()) };
    if record.lease.is_some_and(|lease| lease.owner == process) {
        give_back(unit, env, partner, &mut record)?;
        unit.webhooks().update(partner, &record)?;
    }
    Ok(())
}

/// Records what attempts came to. The webhook may be disabled by it; deliveries that its partner gave up meanwhile stay so.
///
/// # Errors
/// [`StoreError`] if the store fails.
pub fn record(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    partner: PartnerId,
    id: WebhookId,
    attempts: &[(Delivery, AttemptReport)],
) -> Result<(), StoreError> {
    let now = env.now();
    let Some(mut record) = unit.webhooks().get(partner, id)? else { return Ok(()) };
    let was_enabled = record.webhook.enabled;
    let mut disabled = None;
    for (delivery, report) in attempts {
        let mut random = [0];
        env.entropy.fill(&mut random);
        let mut delivery = delivery.clone();
        delivery.record(report.outcome, now, Spread(random[0]));
        delivery.last_status_code = report.status_code;
        delivery.last_error.clone_from(&report.error);
        if !was_enabled && delivery.next_attempt_at.is_some() {
            delivery.give_up(super::DISABLED);
        }
        unit.webhooks().update_delivery(partner, id, &delivery)?;
        disabled = disabled.or(record.webhook.record(report.outcome, now));
    }
    match disabled {
        Some(reason) if was_enabled => disable_record(unit, env, partner, record, reason),
        _ => unit.webhooks().update(partner, &record),
    }
}
