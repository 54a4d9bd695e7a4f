//! The delivery of events to webhooks: takes leases of webhooks that have something to do, and makes their attempts.
//!
//! One task per webhook with up to four concurrent attempts, so a slow receiver delays only itself.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use kopeck_api as api;
use kopeck_domain::ids::{DeliveryId, PartnerId, WebhookId};
use kopeck_port_store::webhook::{ATTEMPTS_AT_ONCE, AttemptOutcome, Delivery, excerpt};
use kopeck_port_store::{
    Access, FeedEvent, SecretBytes, Store, StoreError, UnitOfWork, WebhookRecord, submit,
};
use kopeck_port_system::Clock;
use kopeck_port_webhook::{Attempt, WebhookRequest, WebhookSender};
use kopeck_sealing::{EventContext, KeyId, SealingKey, SigningSecret, seal_event};
use kopeck_service::Env;
use kopeck_service::tokens::TokenService;
use kopeck_service::webhooks::delivery::{self, AttemptReport, Next};
use secrecy::ExposeSecret as _;
use tokio::sync::{oneshot, watch};
use tokio::task::{AbortHandle, Id, JoinSet};
use uuid::Uuid;

use crate::failures::Failures;
use crate::liveness::Heartbeat;
use crate::stop::Stop;

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
    /// The store of webhooks and events.
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

/// State shared by all deliveries.
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

/// The outcome of an attempt; `None` if it was not made.
type Ended = Option<(Delivery, AttemptReport)>;

/// The attempts to one webhook that are on their way.
#[derive(Default)]
struct AttemptsInFlight {
    attempts: JoinSet<Ended>,
    deliveries: HashMap<Id, DeliveryId>,
}

impl AttemptsInFlight {
    fn start(&mut self, delivery: DeliveryId, attempt: impl Future<Output = Ended> + Send + 'static) {
        self.deliveries.insert(self.attempts.spawn(attempt).id(), delivery);
    }

    fn ids(&self) -> Vec<DeliveryId> {
        self.deliveries.values().copied().collect()
    }

    fn is_full(&self) -> bool {
        self.deliveries.len() >= ATTEMPTS_AT_ONCE as usize
    }

    /// Waits for the end of an attempt, and takes what has ended by then. Returns whether one ended in this time.
    async fn ended_within(&mut self, time: Duration, outcomes: &mut Vec<(Delivery, AttemptReport)>) -> bool {
        let mut ended = tokio::time::timeout(time, self.attempts.join_next_with_id()).await.ok().flatten();
        let is_any = ended.is_some();
        while let Some(one) = ended {
            let (id, outcome) = one.unwrap_or_else(|failed| (failed.id(), None));
            self.deliveries.remove(&id);
            outcomes.extend(outcome);
            ended = self.attempts.try_join_next_with_id();
        }
        is_any
    }

    async fn end(&mut self, outcomes: &mut Vec<(Delivery, AttemptReport)>) {
        while let Some(ended) = self.attempts.join_next().await {
            outcomes.extend(ended.ok().flatten());
        }
        self.deliveries.clear();
    }
}

/// Why an attempt is not made.
#[derive(Debug, thiserror::Error)]
enum NoAttempt {
    #[error("there is no sealing key to encrypt it under")]
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
        let mut in_flight = AttemptsInFlight::default();
        let mut outcomes = Vec::new();
        let mut gives_way = false;
        while !gives_way {
            // Without an attempt a page of the feed was passed, and the next one follows.
            let mut waits = true;
            match self.next(partner, id, in_flight.ids(), std::mem::take(&mut outcomes)).await {
                Ok(Next::Attempts(record, attempts)) => {
                    waits = !attempts.is_empty();
                    let record: Arc<WebhookRecord> = Arc::from(record);
                    for (delivery, event) in attempts {
                        let (deliverer, record) = (self.clone(), Arc::clone(&record));
                        in_flight.start(delivery.id, async move {
                            deliverer.attempt(partner, &record, delivery, &event).await
                        });
                    }
                }
                Ok(Next::Wait) => {}
                Ok(Next::Nothing | Next::Lost) => break,
                Err(error) => {
                    log::debug!(webhook:% = id, error:% = error; "deliveries wait for the store");
                    break;
                }
            }
            while waits && !in_flight.deliveries.is_empty() && !signals.give_way() {
                let has_ended = in_flight.ended_within(LOOK, &mut outcomes).await;
                let may_begin = has_ended || !in_flight.is_full();
                if may_begin && (has_ended || self.has_more(partner, id, in_flight.ids()).await) {
                    break;
                }
            }
            gives_way = signals.give_way();
        }
        in_flight.end(&mut outcomes).await;
        self.leave(partner, id, outcomes, gives_way).await;
    }

    /// Records what attempts came to and says what is next, in one transaction: of a webhook with a long queue there are many.
    async fn next(
        &self,
        partner: PartnerId,
        id: WebhookId,
        in_flight: Vec<DeliveryId>,
        outcomes: Vec<(Delivery, AttemptReport)>,
    ) -> Result<Next, StoreError> {
        let (env, process, attempts) = (Arc::clone(&self.env), self.process, outcomes.len());
        let step = move |unit: &mut dyn UnitOfWork| {
            if !outcomes.is_empty() {
                delivery::record(unit, &env, partner, id, &outcomes)?;
            }
            delivery::next(unit, &env, partner, id, process, &in_flight)
        };
        self.in_store(Access::Write, step).await.inspect_err(|error| not_recorded(id, attempts, error))
    }

    /// Records what attempts came to, and gives the lease back if it was kept.
    async fn leave(
        &self,
        partner: PartnerId,
        id: WebhookId,
        outcomes: Vec<(Delivery, AttemptReport)>,
        has_lease: bool,
    ) {
        if outcomes.is_empty() && !has_lease {
            return;
        }
        let (env, process, attempts) = (Arc::clone(&self.env), self.process, outcomes.len());
        let step = move |unit: &mut dyn UnitOfWork| {
            if !outcomes.is_empty() {
                delivery::record(unit, &env, partner, id, &outcomes)?;
            }
            if has_lease { delivery::release(unit, &env, partner, id, process) } else { Ok(()) }
        };
        if let Err(error) = self.in_store(Access::Write, step).await {
            log::debug!(webhook:% = id, error:% = error; "the lease of a webhook expires");
            not_recorded(id, attempts, &error);
        }
    }

    async fn has_more(&self, partner: PartnerId, id: WebhookId, in_flight: Vec<DeliveryId>) -> bool {
        let env = Arc::clone(&self.env);
        let has_more =
            move |unit: &mut dyn UnitOfWork| delivery::has_more(unit, &env, partner, id, &in_flight);
        // Deliveries that are missed while the store fails are found at the next look.
        self.in_store(Access::Read, has_more).await.is_ok_and(|has_more| has_more)
    }

    /// Makes an attempt. If what it came to cannot be recorded it is made again once the lease has ended.
    async fn attempt(
        &self,
        partner: PartnerId,
        record: &WebhookRecord,
        delivery: Delivery,
        event: &FeedEvent,
    ) -> Ended {
        let report = match self.body(partner, record, event).await {
            Ok(body) => report(self.sender.send(self.request(partner, record, event, body)).await),
            Err(NoAttempt::Store(error)) => {
                log::debug!(delivery:% = delivery.id, error:% = error; "a delivery waits for the store");
                return None;
            }
            Err(error @ NoAttempt::NoSealingKey) => AttemptReport {
                outcome: AttemptOutcome::Failed { retry_after: None },
                status_code: None,
                error: Some(error.to_string()),
            },
        };
        self.observer.attempted(report.outcome);
        log::debug!(webhook:% = record.webhook.id, delivery:% = delivery.id, status:? = report.status_code; "attempt of a delivery");
        Some((delivery, report))
    }

    fn request(
        &self,
        partner: PartnerId,
        record: &WebhookRecord,
        event: &FeedEvent,
        body: Vec<u8>,
    ) -> WebhookRequest {
        let at = self.wall.now();
        let id = event.event.id.to_string();
        let sign = |secret: &SecretBytes| SigningSecret::new(*secret).sign(&id, at.unix_timestamp(), &body);
        let former = record.former_secret.as_ref().filter(|(_, until)| *until > self.env.now());
        let secrets = std::iter::once(&record.secret).chain(former.map(|(secret, _)| secret));
        let signature = secrets.map(sign).collect::<Vec<_>>().join(" ");
        let url = record.webhook.url.as_str().to_owned();
        WebhookRequest { partner: partner.uuid(), url, id, at, signature, body }
    }

    /// The event as it is sent. An encrypted one is encrypted again at each attempt, under a key that the partner has used.
    async fn body(
        &self,
        partner: PartnerId,
        record: &WebhookRecord,
        event: &FeedEvent,
    ) -> Result<Vec<u8>, NoAttempt> {
        let body = api::Event::of(event.seq, &event.event, self.env.settings.zone);
        if !record.webhook.sealed {
            return Ok(body.to_delivery(None::<fn(&[u8]) -> String>));
        }
        let tokens = Arc::clone(&self.tokens);
        let key = move |unit: &mut dyn UnitOfWork| {
            let key = tokens.default_key(unit, partner);
            key.map_err(|error| StoreError::Failed(error.to_string()))
        };
        let key = self.in_store(Access::Read, key).await?.ok_or(NoAttempt::NoSealingKey)?;
        let secret = key.secret.expose_secret().try_into().map_err(|_| NoAttempt::NoSealingKey)?;
        let key = SealingKey::new(KeyId::from_bytes(key.id), secret);
        let now = self.wall.now().unix_timestamp().try_into().unwrap_or(0);
        let id = event.event.id.to_string();
        let mut salt = [0; 16];
        self.env.entropy.fill(&mut salt);
        let seal = |data: &[u8]| seal_event(&key, &EventContext { id: &id }, now, salt, data);
        Ok(body.to_delivery(Some(seal)))
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

fn not_recorded(id: WebhookId, attempts: usize, error: &StoreError) {
    if attempts > 0 {
        log::warn!(webhook:% = id, attempts:% = attempts, error:% = error; "attempts were made and are not recorded");
    }
}

/// The report of an attempt, by the rules of delivery.
fn report(attempt: Attempt) -> AttemptReport {
    match attempt {
        Attempt::Answered { status: status @ 200..=299, .. } => {
            AttemptReport { outcome: AttemptOutcome::Delivered, status_code: Some(status), error: None }
        }
        Attempt::Answered { status, retry_after, body } => {
            let outcome =
                if status == 410 { AttemptOutcome::Gone } else { AttemptOutcome::Failed { retry_after } };
            let mut error = format!("the endpoint answered with status {status}");
            if let Some(excerpt) = excerpt(&body) {
                error.push_str(": ");
                error.push_str(&excerpt);
            }
            AttemptReport { outcome, status_code: Some(status), error: Some(error) }
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
