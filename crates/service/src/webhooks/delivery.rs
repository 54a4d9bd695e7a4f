//! The way of events to a webhook. One process at a time has the lease of a webhook; it queues deliveries from the feed, makes
//! attempts, and records what they came to. An attempt whose outcome was not recorded is made again, with the same event.

use kopeck_domain::ids::{DeliveryId, PartnerId, WebhookId};
use kopeck_domain::partner::PartnerStatus;
use kopeck_domain::webhook::{AttemptOutcome, Delivery, Spread};
use kopeck_port_store::{ATTEMPT_HORIZON, FeedEvent, Lease, StoreError, UnitOfWork, WebhookRecord};
use uuid::Uuid;

use super::{disable_record, event_at, queue};
use crate::Env;

/// Events that are read from the feed at a time.
pub(super) const PAGE: u32 = 500;

/// Attempts to one webhook that are made at once.
pub const AT_ONCE: u32 = 4;

/// What a process that has the lease of a webhook does next.
#[derive(Debug)]
pub enum Next {
    /// Make these attempts, record what each came to, and ask again. There may be none, where a page of the feed had none.
    Attempts(Box<WebhookRecord>, Vec<(Delivery, FeedEvent)>),
    /// Nothing else is due. The lease is kept for the attempts that are being made.
    Wait,
    /// Nothing is due: the lease is given back.
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
    /// Why it failed, in the service's own words.
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
    let mut due = due_beside(unit, env, partner, id, in_flight)?;
    let mut may_be_behind = true;
    // New events are queued only when little else is due, so that the queue of a dead receiver stays short: a page at a time,
    // so that a long feed of other types does not make a long transaction.
    if due.len() < free_places(in_flight) {
        let more = unit.events().after(partner, record.cursor, &[], PAGE)?;
        may_be_behind = more.len() == PAGE as usize;
        if let Some(last) = more.last() {
            record.cursor = last.seq;
            let wanted = |event: &FeedEvent| record.webhook.wants(event.event.data.event_type());
            let wanted: Vec<FeedEvent> = more.into_iter().filter(wanted).collect();
            queue(unit, env, partner, &mut record, &wanted)?;
            due = due_beside(unit, env, partner, id, in_flight)?;
        }
    }
    let is_all = due.is_empty() && !may_be_behind;
    let is_done = is_all && in_flight.is_empty();
    if is_done {
        record.due_at = unit.webhooks().next_due(partner, id)?;
        record.lease = None;
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

/// How many attempts can be begun beside those in flight.
const fn free_places(in_flight: &[DeliveryId]) -> usize {
    (AT_ONCE as usize).saturating_sub(in_flight.len())
}

/// Deliveries that are due and not in flight, as many as can be attempted beside those that are.
fn due_beside(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    partner: PartnerId,
    id: WebhookId,
    in_flight: &[DeliveryId],
) -> Result<Vec<Delivery>, StoreError> {
    let mut due = unit.webhooks().due(partner, id, env.now(), AT_ONCE)?;
    due.retain(|delivery| !in_flight.contains(&delivery.id));
    due.truncate(free_places(in_flight));
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
    Ok(unit.events().last(partner)? > record.cursor
        || !due_beside(unit, env, partner, id, in_flight)?.is_empty())
}

/// Gives the lease of a webhook back.
///
/// # Errors
/// [`StoreError`] if the store fails.
pub fn release(
    unit: &mut dyn UnitOfWork,
    partner: PartnerId,
    id: WebhookId,
    process: Uuid,
) -> Result<(), StoreError> {
    let Some(mut record) = unit.webhooks().get(partner, id)? else { return Ok(()) };
    if record.lease.is_some_and(|lease| lease.owner == process) {
        record.lease = None;
        record.due_at = unit.webhooks().next_due(partner, id)?;
        unit.webhooks().update(partner, &record)?;
    }
    Ok(())
}

/// Records what an attempt came to. The webhook may be disabled by it; deliveries that its partner gave up meanwhile stay so.
///
/// # Errors
/// [`StoreError`] if the store fails.
pub fn record(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    partner: PartnerId,
    id: WebhookId,
    delivery: &Delivery,
    report: &AttemptReport,
) -> Result<(), StoreError> {
    let now = env.now();
    let Some(mut record) = unit.webhooks().get(partner, id)? else { return Ok(()) };
    let mut random = [0];
    env.entropy.fill(&mut random);
    let mut delivery = delivery.clone();
    delivery.record(report.outcome, now, Spread(random[0]));
    delivery.last_status_code = report.status_code;
    delivery.last_error.clone_from(&report.error);
    if !record.webhook.enabled && delivery.next_attempt_at.is_some() {
        delivery.give_up(super::DISABLED);
    }
    unit.webhooks().update_delivery(partner, id, &delivery)?;
    let was_enabled = record.webhook.enabled;
    match record.webhook.record(report.outcome, now) {
        Some(reason) if was_enabled => disable_record(unit, env, partner, record, reason),
        _ => unit.webhooks().update(partner, &record),
    }
}
