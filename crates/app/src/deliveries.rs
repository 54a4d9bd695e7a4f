//! The delivery of events to webhooks: takes leases of webhooks that have something to do, and makes their attempts.
//!
//! A task a webhook, four attempts at once: one that takes long holds up no other webhook, and no newer event of its own as
//! long as a place is free.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use kopeck_adapter_http::event_json;
use kopeck_domain::ids::{DeliveryId, PartnerId, WebhookId};
use kopeck_domain::webhook::{AttemptOutcome, Delivery};
use kopeck_port_store::{
    Access, FeedEvent, SecretBytes, Store, StoreError, UnitOfWork, WebhookRecord, submit,
};
use kopeck_port_system::Clock;
use kopeck_port_webhook::{Attempt, WebhookRequest, WebhookSender};
use kopeck_sealing::{EventContext, KeyId, SealingKey, SigningSecret, seal_event};
use kopeck_service::Env;
use kopeck_service::tokens::TokenService;
use kopeck_service::webhooks::delivery::{self, AT_ONCE, AttemptReport, Next};
use secrecy::ExposeSecret as _;
use tokio::sync::{oneshot, watch};
use tokio::task::{AbortHandle, Id, JoinSet};
use uuid::Uuid;

use crate::liveness::Heartbeat;
use crate::stop::Stop;
use crate::workers::Failures;

/// How often webhooks are polled: retries become due, and word of an event may be lost with a process.
const POLL: Duration = Duration::from_millis(100);
/// The least time between two polls, however many events are appended.
const PAUSE: Duration = Duration::from_millis(10);
/// Webhooks that are delivered to at a time.
const MOST_WEBHOOKS: usize = 1_000;
/// How often newer events are looked for while attempts to the same webhook are on their way.
const LOOK: Duration = Duration::from_millis(500);

/// Counts attempts by their outcome.
pub trait DeliveryObserver: Send + Sync {
    /// An attempt was made.
    fn attempted(&self, outcome: AttemptOutcome);
}

/// Delivers events.
#[derive(Clone)]
pub struct Deliverer {
    /// Where webhooks and events are.
    pub store: Arc<dyn Store>,
    /// The service's clock, and random bytes.
    pub env: Arc<Env>,
    /// The real time, which stands in signatures.
    pub wall: Arc<dyn Clock>,
    /// Has the keys of encrypted events.
    pub tokens: Arc<TokenService>,
    /// Sends.
    pub sender: Arc<dyn WebhookSender>,
    /// Counts.
    pub observer: Arc<dyn DeliveryObserver>,
    /// Names this process in leases.
    pub process: Uuid,
    /// Changes when events are appended.
    pub appended: watch::Receiver<()>,
}

/// The tasks of a process, one for each webhook at most: two would share its lease, and deliver each event twice.
#[derive(Default)]
struct WebhookTasks {
    tasks: JoinSet<()>,
    by_webhook: HashMap<WebhookId, AbortHandle>,
}

impl WebhookTasks {
    /// Starts the task of a webhook, unless one runs.
    fn start(&mut self, id: WebhookId, task: impl Future<Output = ()> + Send + 'static) {
        if self.by_webhook.get(&id).is_none_or(AbortHandle::is_finished) {
            self.by_webhook.insert(id, self.tasks.spawn(task));
        }
    }

    /// How many tasks run.
    fn running(&mut self) -> usize {
        while self.tasks.try_join_next().is_some() {}
        self.by_webhook.retain(|_, task| !task.is_finished());
        self.tasks.len()
    }
}

/// What all deliveries heed.
#[derive(Default)]
struct Signals {
    /// No further attempt is begun.
    is_stopping: AtomicBool,
    /// Other webhooks wait for their turn.
    is_full: AtomicBool,
}

impl Signals {
    fn give_way(&self) -> bool {
        self.is_stopping.load(Ordering::Relaxed) || self.is_full.load(Ordering::Relaxed)
    }
}

/// The attempts to one webhook that are on their way.
#[derive(Default)]
struct InFlight {
    attempts: JoinSet<()>,
    deliveries: HashMap<Id, DeliveryId>,
}

impl InFlight {
    fn start(&mut self, delivery: DeliveryId, attempt: impl Future<Output = ()> + Send + 'static) {
        self.deliveries.insert(self.attempts.spawn(attempt).id(), delivery);
    }

    fn ids(&self) -> Vec<DeliveryId> {
        self.deliveries.values().copied().collect()
    }

    fn is_full(&self) -> bool {
        self.deliveries.len() >= AT_ONCE as usize
    }

    /// Waits for the end of an attempt. Returns whether one ended in this time.
    async fn ended_within(&mut self, time: Duration) -> bool {
        let ended = tokio::time::timeout(time, self.attempts.join_next_with_id()).await;
        let Ok(Some(ended)) = ended else { return false };
        let id = ended.map_or_else(|failed| failed.id(), |(id, ())| id);
        self.deliveries.remove(&id).is_some()
    }

    async fn end(&mut self) {
        while self.attempts.join_next().await.is_some() {}
        self.deliveries.clear();
    }
}

/// Why an attempt is not made.
#[derive(Debug, thiserror::Error)]
enum NoAttempt {
    #[error("there is no active sealing key to encrypt it under")]
    NoSealingKey,
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Deliverer {
    /// Delivers until it has to stop; attempts that are on their way then are waited for.
    pub(crate) fn run(&self, stop: &Stop, heartbeat: &Heartbeat) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        match runtime {
            Ok(runtime) => runtime.block_on(self.deliver_all(stop, heartbeat)),
            Err(error) => log::error!(error:% = error; "events are not delivered to webhooks"),
        }
    }

    async fn deliver_all(&self, stop: &Stop, heartbeat: &Heartbeat) {
        let signals = Arc::new(Signals::default());
        let mut appended = self.appended.clone();
        let mut tasks = WebhookTasks::default();
        let mut failures = Failures::default();
        while !stop.is_requested() {
            heartbeat.beat();
            let polled_at = Instant::now();
            let running = tasks.running();
            signals.is_full.store(running >= MOST_WEBHOOKS, Ordering::Relaxed);
            let ready = self.ready(MOST_WEBHOOKS - running).await;
            failures.follow("webhooks", &ready);
            for (partner, id) in ready.unwrap_or_default() {
                let (deliverer, signals) = (self.clone(), Arc::clone(&signals));
                tasks.start(id, async move { deliverer.deliver(partner, id, &signals).await });
            }
            // So that a stream of events does not keep the store busy with polls.
            let pause = PAUSE.max(polled_at.elapsed()).min(POLL);
            tokio::time::sleep(pause).await;
            wait_for_event(&mut appended, POLL.saturating_sub(pause)).await;
        }
        signals.is_stopping.store(true, Ordering::Relaxed);
        while tasks.tasks.join_next().await.is_some() {
            heartbeat.beat();
        }
    }

    async fn ready(&self, most: usize) -> Result<Vec<(PartnerId, WebhookId)>, StoreError> {
        let (now, most) = (self.env.now(), u32::try_from(most).unwrap_or(u32::MAX));
        self.in_store(Access::Read, move |unit| unit.webhooks().ready(now, most)).await
    }

    /// Delivers to one webhook until nothing is due, or others wait for their turn. Attempts that are on their way then are
    /// waited for.
    async fn deliver(&self, partner: PartnerId, id: WebhookId, signals: &Signals) {
        let mut in_flight = InFlight::default();
        loop {
            let (env, process, ids) = (Arc::clone(&self.env), self.process, in_flight.ids());
            let next =
                move |unit: &mut dyn UnitOfWork| delivery::next(unit, &env, partner, id, process, &ids);
            // Without an attempt a page of the feed was passed, and the next one follows.
            let mut waits = true;
            match self.in_store(Access::Write, next).await {
                Ok(Next::Attempts(record, attempts)) => {
                    waits = !attempts.is_empty();
                    let record: Arc<WebhookRecord> = Arc::from(record);
                    for (delivery, event) in attempts {
                        let (deliverer, record, delivery_id) =
                            (self.clone(), Arc::clone(&record), delivery.id);
                        let attempt =
                            async move { deliverer.attempt(partner, &record, &delivery, &event).await };
                        in_flight.start(delivery_id, attempt);
                    }
                }
                Ok(Next::Wait) => {}
                Ok(Next::Nothing | Next::Lost) => return in_flight.end().await,
                Err(error) => {
                    log::debug!(webhook:% = id, error:% = error; "deliveries wait for the store");
                    return in_flight.end().await;
                }
            }
            while waits && !in_flight.deliveries.is_empty() && !signals.give_way() {
                let has_ended = in_flight.ended_within(LOOK).await;
                if !in_flight.is_full() && (has_ended || self.has_more(partner, id, in_flight.ids()).await) {
                    break;
                }
            }
            if signals.give_way() {
                break;
            }
        }
        in_flight.end().await;
        let process = self.process;
        let release = move |unit: &mut dyn UnitOfWork| delivery::release(unit, partner, id, process);
        if let Err(error) = self.in_store(Access::Write, release).await {
            log::debug!(webhook:% = id, error:% = error; "the lease of a webhook ends by itself");
        }
    }

    async fn has_more(&self, partner: PartnerId, id: WebhookId, in_flight: Vec<DeliveryId>) -> bool {
        let env = Arc::clone(&self.env);
        let has_more =
            move |unit: &mut dyn UnitOfWork| delivery::has_more(unit, &env, partner, id, &in_flight);
        // What is there while the store fails is found at the next look.
        self.in_store(Access::Read, has_more).await.is_ok_and(|has_more| has_more)
    }

    /// Makes an attempt and records what it came to. If it cannot be recorded it is made again once the lease has ended.
    async fn attempt(
        &self,
        partner: PartnerId,
        record: &WebhookRecord,
        delivery: &Delivery,
        event: &FeedEvent,
    ) {
        let report = match self.body(partner, record, event).await {
            Ok(body) => report(self.sender.send(self.request(record, event, body)).await),
            Err(NoAttempt::Store(error)) => {
                log::debug!(delivery:% = delivery.id, error:% = error; "a delivery waits for the store");
                return;
            }
            Err(error @ NoAttempt::NoSealingKey) => AttemptReport {
                outcome: AttemptOutcome::Failed { retry_after: None },
                status_code: None,
                error: Some(error.to_string()),
            },
        };
        self.observer.attempted(report.outcome);
        let (env, id, delivery) = (Arc::clone(&self.env), record.webhook.id, delivery.clone());
        log::debug!(webhook:% = id, delivery:% = delivery.id, status:? = report.status_code; "attempt of a delivery");
        let note =
            move |unit: &mut dyn UnitOfWork| delivery::record(unit, &env, partner, id, &delivery, &report);
        if let Err(error) = self.in_store(Access::Write, note).await {
            log::warn!(webhook:% = id, error:% = error; "an attempt was made and is not recorded");
        }
    }

    fn request(&self, record: &WebhookRecord, event: &FeedEvent, body: Vec<u8>) -> WebhookRequest {
        let at = self.wall.now();
        let id = event.event.id.to_string();
        let sign = |secret: &SecretBytes| SigningSecret::new(*secret).sign(&id, at.unix_timestamp(), &body);
        let former = record.former_secret.as_ref().filter(|(_, until)| *until > self.env.now());
        let secrets = std::iter::once(&record.secret).chain(former.map(|(secret, _)| secret));
        let signature = secrets.map(sign).collect::<Vec<_>>().join(" ");
        WebhookRequest { url: record.webhook.url.as_str().to_owned(), id, at, signature, body }
    }

    /// The event as it is sent. An encrypted one is encrypted anew at each attempt, under the key that is active now.
    async fn body(
        &self,
        partner: PartnerId,
        record: &WebhookRecord,
        event: &FeedEvent,
    ) -> Result<Vec<u8>, NoAttempt> {
        if !record.webhook.sealed {
            return event_json(event, self.env.settings.zone, None::<fn(&[u8]) -> Result<String, NoAttempt>>);
        }
        let tokens = Arc::clone(&self.tokens);
        let key = move |unit: &mut dyn UnitOfWork| {
            let key = tokens.active_key(unit, partner);
            key.map_err(|error| StoreError::Failed(error.to_string()))
        };
        let key = self.in_store(Access::Read, key).await?.ok_or(NoAttempt::NoSealingKey)?;
        let secret = key.secret.expose_secret().try_into().map_err(|_| NoAttempt::NoSealingKey)?;
        let key = SealingKey::new(KeyId::from_bytes(key.id), secret);
        let now = self.wall.now().unix_timestamp().try_into().unwrap_or(0);
        let id = event.event.id.to_string();
        let mut salt = [0; 16];
        self.env.entropy.fill(&mut salt);
        let seal = |data: &[u8]| Ok(seal_event(&key, &EventContext { id: &id }, now, salt, data));
        event_json(event, self.env.settings.zone, Some(seal))
    }

    async fn in_store<T: Send + 'static>(
        &self,
        access: Access,
        work: impl FnMut(&mut dyn UnitOfWork) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (sender, receiver) = oneshot::channel();
        submit(&*self.store, access, work, move |result| drop(sender.send(result)));
        receiver.await.unwrap_or_else(|_| Err(StoreError::Failed("the store closed".to_owned())))
    }
}

/// Ends when an event is appended, or was since the last time; after `at_most` otherwise.
async fn wait_for_event(appended: &mut watch::Receiver<()>, at_most: Duration) {
    let event = async {
        if appended.changed().await.is_err() {
            // There is no sender any more, so there will be no word of events.
            std::future::pending::<()>().await;
        }
    };
    // Either end leads to the next poll.
    let _ = tokio::time::timeout(at_most, event).await;
}

/// What an attempt means by the rules of delivery.
fn report(attempt: Attempt) -> AttemptReport {
    match attempt {
        Attempt::Answered { status: status @ 200..=299, .. } => {
            AttemptReport { outcome: AttemptOutcome::Delivered, status_code: Some(status), error: None }
        }
        Attempt::Answered { status, retry_after } => {
            let outcome =
                if status == 410 { AttemptOutcome::Gone } else { AttemptOutcome::Failed { retry_after } };
            let error = Some(format!("the endpoint answered with status {status}"));
            AttemptReport { outcome, status_code: Some(status), error }
        }
        Attempt::Failed(error) => AttemptReport {
            outcome: AttemptOutcome::Failed { retry_after: None },
            status_code: None,
            error: Some(error.to_string()),
        },
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    #[tokio::test]
    async fn an_event_ends_the_wait_for_the_next_poll() {
        let long = Duration::from_hours(1);
        let (sender, mut appended) = watch::channel(());
        assert!(wait_for_event(&mut appended, long).now_or_never().is_none());
        sender.send_replace(());
        assert!(wait_for_event(&mut appended, long).now_or_never().is_some());
        assert!(wait_for_event(&mut appended, long).now_or_never().is_none(), "once for each event");
        drop(sender);
        assert!(wait_for_event(&mut appended, long).now_or_never().is_none(), "it does not spin");
    }

    #[tokio::test]
    async fn a_webhook_has_one_task_at_a_time() {
        let [first, second] = [1, 2].map(|id| WebhookId::new(Uuid::from_u128(id)));
        let mut tasks = WebhookTasks::default();
        let (end, ended) = oneshot::channel::<()>();
        tasks.start(first, async move { drop(ended.await) });
        tasks.start(first, async { panic!("a second task of the webhook") });
        tasks.start(second, std::future::pending());
        assert_eq!(tasks.running(), 2);
        drop(end);
        assert!(tasks.tasks.join_next().await.unwrap().is_ok());
        tasks.start(first, std::future::pending());
        assert_eq!(tasks.running(), 2);
    }

    #[tokio::test]
    async fn without_an_event_the_wait_ends_by_itself() {
        let (_sender, mut appended) = watch::channel(());
        wait_for_event(&mut appended, Duration::from_millis(1)).await;
    }
}
