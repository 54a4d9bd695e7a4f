//! Webhooks: addresses to which events are delivered.

use std::fmt;

use serde::{Deserialize, Serialize};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::event::EventType;
use crate::open_enum::open_enum;
use crate::shape::{Flat, HasShape, Shape, body};

open_enum! {
    /// The state of a delivery.
    pub enum DeliveryStatus as "DeliveryStatus", "`PENDING`: waits for its first or next attempt. `DELIVERED`: your endpoint accepted it. `FAILED`: no further attempts." {
        /// It waits for its first or next attempt.
        Pending = "PENDING",
        /// The receiver accepted it.
        Delivered = "DELIVERED",
        /// No further attempts.
        Failed = "FAILED",
    }
}

/// A secret that signs deliveries: `whsec_` and base64 of 32 bytes. Its `Debug` output does not show it.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct WebhookSecret(pub String);

impl fmt::Debug for WebhookSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WebhookSecret")
    }
}

impl HasShape for WebhookSecret {
    const SHAPE: Shape = Shape::Text;
}

body! {
    /// A URL to which events are delivered.
    pub struct Webhook as "Webhook" {
        /// Its identifier.
        id_webhook: Uuid,
        /// The URL to which events are posted.
        url: String,
        /// The types that are delivered; `null` for all.
        types: Option<Vec<EventType>>,
        /// Your own description.
        description: String,
        /// Whether the data of events are encrypted under your sealing key.
        sealed: bool,
        /// Whether events are delivered.
        enabled: bool,
        /// When it was created, UTC.
        #[serde(with = "time::serde::rfc3339")]
        created_at: OffsetDateTime,
        /// The last accepted delivery, UTC.
        #[serde(with = "time::serde::rfc3339::option")]
        last_success_at: Option<OffsetDateTime>,
        /// The last failed attempt, UTC.
        #[serde(with = "time::serde::rfc3339::option")]
        last_failure_at: Option<OffsetDateTime>,
        /// The first failed attempt since the last accepted delivery, UTC. Three days later the webhook is
        /// disabled.
        #[serde(with = "time::serde::rfc3339::option")]
        failing_since: Option<OffsetDateTime>,
        /// Deliveries that have not ended.
        pending: u64,
    }
}

body! {
    /// A webhook that was created.
    pub struct WebhookCreated as "WebhookCreated" {
        /// The webhook.
        #[serde(flatten)]
        webhook: Webhook as Flat<Webhook>,
        /// The secret that signs its deliveries: `whsec_` and base64 of 32 bytes. Only this response
        /// contains it.
        secret: WebhookSecret,
    }
}

body! {
    /// The new secret of a webhook.
    pub struct WebhookSecretRotated as "WebhookSecret" {
        /// The secret that signs deliveries from now on. For 24 hours the previous one also signs.
        secret: WebhookSecret,
    }
}

body! {
    /// A test event that was queued.
    pub struct WebhookPinged as "WebhookPinged" {
        /// Its identifier, which comes as the header `webhook-id`.
        event_id: Uuid,
    }
}

body! {
    /// A delivery of an event to a webhook.
    pub struct WebhookDelivery as "WebhookDelivery" {
        /// Its identifier.
        id_delivery: Uuid,
        /// The event.
        event_id: Uuid,
        /// The number of the event in your feed.
        seq: i64,
        /// The type of the event.
        event_type: EventType = "type",
        /// Its state.
        status: DeliveryStatus,
        /// The number of attempts with a known outcome.
        attempts: u64,
        /// The last attempt, UTC.
        #[serde(with = "time::serde::rfc3339::option")]
        last_attempt_at: Option<OffsetDateTime>,
        /// The last status code of your endpoint.
        last_status_code: Option<u64>,
        /// Why the last attempt failed.
        last_error: Option<String>,
        /// When the next attempt is due, UTC.
        #[serde(with = "time::serde::rfc3339::option")]
        next_attempt_at: Option<OffsetDateTime>,
    }
}

body! {
    /// The number of queued deliveries.
    pub struct Redelivery as "WebhookRedelivery" {
        /// How many deliveries were queued.
        deliveries: u64,
    }
}
