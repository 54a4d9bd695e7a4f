//! Partners' endpoints, and the part of a process that delivers events to them. It vanishes with its process, also
//! between the receipt of an event and the note of it.

use std::collections::BTreeSet;
use std::sync::Arc;

use kopeck_domain::event::EventType;
use kopeck_domain::ids::{EventId, PartnerId, WebhookId};
use kopeck_port_store::webhook::{AttemptOutcome, Delivery, WebhookUrl};
use kopeck_port_store::{Access, FeedEvent, StoreError, transact};
use kopeck_service::webhooks::delivery::{self, AttemptReport, Next};
use kopeck_service::webhooks::{self, NewWebhook, Redelivery, WebhookChange, WebhookError};
use time::Duration;
use uuid::Uuid;

use crate::chaos::survive;
use crate::violation::Violation;
use crate::world::World;

/// The endpoint of a partner's webhook.
pub(crate) struct Endpoint {
    partner: PartnerId,
    webhook: WebhookId,
    /// The last event before the webhook was created.
    start: i64,
    is_down: bool,
    /// Events that arrived.
    got: BTreeSet<EventId>,
}

impl Endpoint {
    /// A webhook of the partner, for all types of events.
    pub(crate) fn open(world: &World, partner: PartnerId) -> Result<Self, WebhookError> {
        let env = Arc::clone(&world.env);
        let url = WebhookUrl::parse("https://example.com/")
            .map_err(|invalid| WebhookError::Store(StoreError::Failed(invalid.detail().to_owned())))?;
        let (webhook, start) = transact(&*world.stored, Access::Write, move |unit| {
            let new =
                NewWebhook { url: url.clone(), types: None, description: String::new(), sealed: Some(false) };
            let (view, _) = webhooks::create(unit, &env, partner, new)?;
            Ok::<_, WebhookError>((view.webhook.id, unit.events().last(partner)?))
        })?;
        Ok(Self { partner, webhook, start, is_down: false, got: BTreeSet::new() })
    }

    /// An attempt: the event arrives or not, and the answer does or not.
    fn receive(&mut self, world: &World, event: &FeedEvent) -> AttemptReport {
        if world.dice.chance(60) {
            self.is_down = !self.is_down;
        }
        let arrives = !self.is_down;
        if arrives {
            self.got.insert(event.event.id);
        }
        let is_answered = arrives && !world.dice.chance(150);
        let outcome = if is_answered {
            AttemptOutcome::Delivered
        } else {
            AttemptOutcome::Failed { retry_after: None }
        };
        AttemptReport { outcome, status_code: None, error: None }
    }

    /// Checks that it got every event of the feed since the webhook was created, and no other.
    fn check(&self, world: &World) -> Result<(), Violation> {
        let wrong =
            |what: String| Violation { rule: "each event reaches an endpoint that is up in the end", what };
        let (partner, start) = (self.partner, self.start);
        let feed = world.look(move |unit| unit.events().after(partner, start, &[], u32::MAX));
        let feed = feed.map_err(|error| wrong(error.to_string()))?;
        let told: BTreeSet<EventId> = feed.iter().map(|event| event.event.id).collect();
        // What it was disabled for it need not hear of.
        let is_due = |event: &&FeedEvent| event.event.data.event_type() != EventType::WebhookDisabled;
        if let Some(missed) = feed.iter().filter(is_due).find(|event| !self.got.contains(&event.event.id)) {
            return Err(wrong(format!("event {} did not arrive", missed.seq)));
        }
        match self.got.difference(&told).next() {
            Some(other) => Err(wrong(format!("event {other} is not in the feed"))),
            None => Ok(()),
        }
    }
}

/// What delivers, in one process.
pub(crate) struct Deliverer {
    /// Names the process in leases.
    process: Uuid,
    /// Attempts that are to be made, and to which endpoint.
    in_hand: Option<(usize, Vec<(Delivery, FeedEvent)>)>,
}

impl Deliverer {
    pub(crate) fn new(world: &World) -> Self {
        Self { process: world.env.ids.next_id(), in_hand: None }
    }

    /// Takes the lease of a webhook, or makes an attempt.
    pub(crate) fn step(&mut self, world: &World, endpoints: &mut [Endpoint]) -> Result<(), Violation> {
        match survive(|| self.work(world, endpoints)) {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(error)) => {
                self.in_hand = None;
                Violation::judge(&error)
            }
            Err(_crashed) => {
                *self = Self::new(world);
                Ok(())
            }
        }
    }

    /// Returns whether there was something to do.
    fn work(&mut self, world: &World, endpoints: &mut [Endpoint]) -> Result<bool, StoreError> {
        let Some((at, mut attempts)) = self.in_hand.take() else {
            return self.take(world, endpoints);
        };
        let (Some(endpoint), Some((delivery, event))) = (endpoints.get_mut(at), attempts.pop()) else {
            return self.take(world, endpoints);
        };
        let report = endpoint.receive(world, &event);
        let (env, partner, webhook) = (Arc::clone(&world.env), endpoint.partner, endpoint.webhook);
        let attempt = [(delivery, report)];
        transact(&*world.store, Access::Write, move |unit| {
            delivery::record(unit, &env, partner, webhook, &attempt)
        })?;
        self.in_hand = Some((at, attempts));
        Ok(true)
    }

    fn take(&mut self, world: &World, endpoints: &[Endpoint]) -> Result<bool, StoreError> {
        let at = world.dice.place(endpoints.len());
        let Some(Endpoint { partner, webhook, .. }) = endpoints.get(at) else { return Ok(false) };
        let (env, partner, webhook) = (Arc::clone(&world.env), *partner, *webhook);
        let process = self.process;
        let next = transact(&*world.store, Access::Write, move |unit| {
            delivery::next(unit, &env, partner, webhook, process, &[])
        })?;
        match next {
            Next::Attempts(_, attempts) => self.in_hand = Some((at, attempts)),
            Next::Wait | Next::Nothing | Next::Lost => return Ok(false),
        }
        Ok(true)
    }

    /// Every endpoint is up from now on. Delivers all that is left, and checks what arrived.
    pub(crate) fn conclude(&mut self, world: &World, endpoints: &mut [Endpoint]) -> Result<(), Violation> {
        *self = Self::new(world);
        for endpoint in &mut *endpoints {
            // A process that crashed may have left its lease behind.
            world.clock.advance(Duration::minutes(2));
            let (env, partner, webhook) = (Arc::clone(&world.env), endpoint.partner, endpoint.webhook);
            let enable = WebhookChange { enabled: Some(true), ..WebhookChange::default() };
            transact(&*world.stored, Access::Write, move |unit| {
                webhooks::update(unit, partner, webhook, enable.clone())?;
                let missed = webhooks::missed(unit, partner, webhook, Redelivery::After(0))?;
                webhooks::redeliver(unit, &env, partner, webhook, missed)
            })
            .map_err(|error| Violation::failed(&error))?;
            loop {
                let (env, process) = (Arc::clone(&world.env), self.process);
                let next = transact(&*world.stored, Access::Write, move |unit| {
                    delivery::next(unit, &env, partner, webhook, process, &[])
                });
                let Next::Attempts(_, attempts) = next.map_err(|error| Violation::failed(&error))? else {
                    let later = world.look(move |unit| unit.webhooks().next_due(partner, webhook));
                    let Some(at) = later.map_err(|error| Violation::failed(&error))? else { break };
                    world.clock.advance(at - world.env.now());
                    continue;
                };
                endpoint.got.extend(attempts.iter().map(|(_, event)| event.event.id));
                let delivered =
                    || AttemptReport { outcome: AttemptOutcome::Delivered, status_code: None, error: None };
                let made: Vec<_> =
                    attempts.into_iter().map(|(delivery, _)| (delivery, delivered())).collect();
                let env = Arc::clone(&world.env);
                transact(&*world.stored, Access::Write, move |unit| {
                    delivery::record(unit, &env, partner, webhook, &made)
                })
                .map_err(|error| Violation::failed(&error))?;
            }
            endpoint.check(world)?;
        }
        Ok(())
    }
}
