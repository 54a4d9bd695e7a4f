//! Webhooks and their deliveries.
#![expect(clippy::missing_errors_doc, reason = "every method fails with a `StoreError` if the database does")]

use crate::webhook::{Delivery, DeliveryStatus, Webhook};
use kopeck_domain::calendar::CLOCK_SKEW;
use kopeck_domain::event::EventType;
use kopeck_domain::ids::{EventId, PartnerId, WebhookId};
use time::{Duration, OffsetDateTime};
use uuid::Uuid;

use crate::StoreError;
use crate::page::{Listed, Page};

/// The bytes of a secret that signs deliveries.
pub type SecretBytes = [u8; 32];

/// The next attempt of a delivery is due after a day and a fifth at most. One that is due later than so long from now was put
/// off by a clock that was set back since.
pub const ATTEMPT_HORIZON: Duration = Duration::hours(29).saturating_add(CLOCK_SKEW);

/// A webhook as it is stored.
#[derive(Clone, PartialEq, Eq)]
pub struct WebhookRecord {
    /// The webhook.
    pub webhook: Webhook,
    /// What signs its deliveries. The store encrypts it.
    pub secret: SecretBytes,
    /// The secret before that, and until when it signs too.
    pub former_secret: Option<(SecretBytes, OffsetDateTime)>,
    /// The number of the last event of the feed for which a delivery was made, if the webhook wanted one.
    pub cursor: i64,
    /// When a delivery is due next, of those there are, or there is something to queue.
    pub due_at: Option<OffsetDateTime>,
    /// Events that are to be delivered once more.
    pub redelivery: Option<RedeliveryRange>,
    /// The process that makes its deliveries.
    pub lease: Option<Lease>,
}

/// A part of the feed from which what was missed is being queued, page by page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RedeliveryRange {
    /// What is queued already is up to this number.
    pub after: i64,
    /// The number of the last event.
    pub until: i64,
    /// How many deliveries are still to be queued.
    pub left: u64,
}

impl WebhookRecord {
    /// Whether its endpoint is left alone at `now`. A pause that ends beyond [`ATTEMPT_HORIZON`] is one of a clock that was set
    /// back since, and counts as over.
    #[must_use]
    pub fn is_paused(&self, now: OffsetDateTime) -> bool {
        self.webhook.paused_until.is_some_and(|until| now < until && until <= now + ATTEMPT_HORIZON)
    }
}

/// An event that is to be delivered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventRef {
    /// Its number in the feed.
    pub seq: i64,
    /// Its identifier.
    pub event: EventId,
    /// Its type.
    pub event_type: EventType,
}

/// Secrets stay out of logs.
impl std::fmt::Debug for WebhookRecord {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WebhookRecord").field("webhook", &self.webhook.id).finish_non_exhaustive()
    }
}

/// The right of one process to deliver to a webhook, for a while.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lease {
    /// The process.
    pub owner: Uuid,
    /// When it ends, unless it is renewed.
    pub until: OffsetDateTime,
}

impl Lease {
    /// The longest time for which a lease is taken.
    pub const LONGEST: Duration = Duration::minutes(1);
    /// A lease that ends later than so long from now is one of a clock that was set back since, and counts as ended.
    pub const HORIZON: Duration = Self::LONGEST.saturating_add(CLOCK_SKEW);

    /// Whether it holds at `now`.
    #[must_use]
    pub fn holds(self, now: OffsetDateTime) -> bool {
        now < self.until && self.until <= now + Self::HORIZON
    }
}

/// How deliveries of all partners stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DeliveryBacklog {
    /// Deliveries that wait for their first or next attempt.
    pub pending: u64,
    /// When the oldest of them was made.
    pub oldest: Option<OffsetDateTime>,
    /// Enabled webhooks whose last attempt failed.
    pub failing: u64,
    /// The first failure of the longest series without success, of enabled webhooks.
    pub failing_since: Option<OffsetDateTime>,
}

/// Webhooks of partners, and what is on its way to them.
#[cfg_attr(feature = "mock", mockall::automock)]
pub trait WebhookRepository {
    /// Adds a webhook at the end of the partner's list.
    fn insert(&mut self, partner: PartnerId, record: &WebhookRecord) -> Result<(), StoreError>;
    /// The webhook with this identifier.
    fn get(&mut self, partner: PartnerId, id: WebhookId) -> Result<Option<WebhookRecord>, StoreError>;
    /// Stores a changed webhook.
    fn update(&mut self, partner: PartnerId, record: &WebhookRecord) -> Result<(), StoreError>;
    /// Removes a webhook with its deliveries.
    fn delete(&mut self, partner: PartnerId, id: WebhookId) -> Result<(), StoreError>;
    /// A page, in order of creation.
    fn list(&mut self, partner: PartnerId, page: Page) -> Result<Listed<WebhookRecord>, StoreError>;
    /// Enabled webhooks of active partners, `limit` at most, that no process has a lease of at `now`, that are not paused and that
    /// have something to do: a delivery that is due, or beyond [`ATTEMPT_HORIZON`], or events behind their cursor. First those that never failed, then those that did so the
    /// longest ago.
    fn ready(&mut self, now: OffsetDateTime, limit: u32) -> Result<Vec<(PartnerId, WebhookId)>, StoreError>;
    /// Adds deliveries to a webhook, made at `at`.
    fn enqueue(
        &mut self,
        partner: PartnerId,
        id: WebhookId,
        deliveries: &[Delivery],
        at: OffsetDateTime,
    ) -> Result<(), StoreError>;
    /// Pending deliveries whose next attempt is due at `now`, the longest due first, `limit` at most.
    fn due(
        &mut self,
        partner: PartnerId,
        id: WebhookId,
        now: OffsetDateTime,
        limit: u32,
    ) -> Result<Vec<Delivery>, StoreError>;
    /// Makes pending deliveries due at `now` that are beyond [`ATTEMPT_HORIZON`].
    fn bring_within_horizon(
        &mut self,
        partner: PartnerId,
        id: WebhookId,
        now: OffsetDateTime,
    ) -> Result<(), StoreError>;
    /// When the next attempt of any pending delivery is due.
    fn next_due(&mut self, partner: PartnerId, id: WebhookId) -> Result<Option<OffsetDateTime>, StoreError>;
    /// Stores a changed delivery. One that has ended does not become pending again.
    fn update_delivery(
        &mut self,
        partner: PartnerId,
        id: WebhookId,
        delivery: &Delivery,
    ) -> Result<(), StoreError>;
    /// Gives up all pending deliveries, for the reason `error`.
    fn fail_pending(&mut self, partner: PartnerId, id: WebhookId, error: &str) -> Result<(), StoreError>;
    /// Deliveries that are queued and have not ended.
    fn queued(&mut self, partner: PartnerId, id: WebhookId) -> Result<u64, StoreError>;
    /// Deliveries that have not ended: those that are queued, and events that the webhook wants behind its cursor.
    fn pending(&mut self, partner: PartnerId, record: &WebhookRecord) -> Result<u64, StoreError>;
    /// A page of the deliveries of events behind the number `after`, newest first, of one status or of all.
    fn deliveries(
        &mut self,
        partner: PartnerId,
        id: WebhookId,
        after: i64,
        status: Option<DeliveryStatus>,
        page: Page,
    ) -> Result<Listed<Delivery>, StoreError>;
    /// The events behind the number `after` up to `until` that the webhook wants and that were not delivered to it and are not
    /// pending, in their order, `limit` at most.
    fn missed(
        &mut self,
        partner: PartnerId,
        webhook: &Webhook,
        after: i64,
        until: i64,
        limit: u32,
    ) -> Result<Vec<EventRef>, StoreError>;
    /// Whether a delivery of the event with this number is queued and has not ended.
    fn is_pending(&mut self, partner: PartnerId, id: WebhookId, seq: i64) -> Result<bool, StoreError>;
    /// Whether there is a delivery of this event to the webhook.
    fn has_delivery_of(
        &mut self,
        partner: PartnerId,
        id: WebhookId,
        event: EventId,
    ) -> Result<bool, StoreError>;
    /// How deliveries of all partners stand.
    fn backlog(&mut self) -> Result<DeliveryBacklog, StoreError>;
    /// Removes deliveries of any partners that were made before `moment`, `limit` at most. Returns how many those were.
    fn forget_before(&mut self, moment: OffsetDateTime, limit: u32) -> Result<u64, StoreError>;
}
