//! The rows of webhooks and deliveries, and their way to and from the domain.

use diesel::prelude::*;
use kopeck_domain::event::EventType;
use kopeck_domain::ids::{PartnerId, WebhookId};
use kopeck_port_store::webhook::{Delivery, Webhook, WebhookUrl};
use kopeck_port_store::{ColumnCipher, Lease, RedeliveryRange, SecretBytes, StoreError, WebhookRecord};
use time::OffsetDateTime;

use crate::convert::{AsKey, corrupt, fixed, natural, word};
use crate::encryption::RowCipher;
use crate::schema::{webhook_deliveries, webhooks};
use crate::sql_types::{Id, UtcTimestamp};
use crate::statements::row;

/// A webhook as its table has it.
#[derive(Queryable, Selectable)]
#[diesel(table_name = webhooks)]
pub(super) struct WebhookRow {
    partner_id: Id,
    id: Id,
    url: String,
    types: Option<String>,
    description: String,
    sealed: bool,
    enabled: bool,
    created_at: UtcTimestamp,
    last_success_at: Option<UtcTimestamp>,
    last_failure_at: Option<UtcTimestamp>,
    failing_since: Option<UtcTimestamp>,
    secret: Vec<u8>,
    former_secret: Option<Vec<u8>>,
    former_until: Option<UtcTimestamp>,
    cursor: i64,
    due_at: Option<UtcTimestamp>,
    lease_owner: Option<Id>,
    leased_until: Option<UtcTimestamp>,
    failures: i64,
    paused_until: Option<UtcTimestamp>,
    redelivery_after: Option<i64>,
    redelivery_until: Option<i64>,
    redelivery_left: Option<i64>,
}

row!(
    WebhookRow,
    webhooks: partner_id, id, url, types, description, sealed, enabled, created_at, last_success_at, last_failure_at,
    failing_since, secret, former_secret, former_until, cursor, due_at, lease_owner, leased_until, failures,
    paused_until, redelivery_after, redelivery_until, redelivery_left
);

pub(super) fn stamp(at: Option<OffsetDateTime>) -> Option<UtcTimestamp> {
    at.map(UtcTimestamp::of)
}

fn row_cipher<'a>(cipher: &'a dyn ColumnCipher, partner: PartnerId, row: &'a [u8]) -> RowCipher<'a> {
    RowCipher { cipher, table: "webhooks", partner, row }
}

impl WebhookRow {
    pub(super) fn new(
        partner: PartnerId,
        record: &WebhookRecord,
        cipher: &dyn ColumnCipher,
    ) -> Result<Self, StoreError> {
        let webhook = &record.webhook;
        let key = webhook.id.key();
        let cipher = row_cipher(cipher, partner, key.bytes());
        let former = record.former_secret.as_ref();
        let former_secret = former.map(|(secret, _)| cipher.encrypt("former_secret", secret)).transpose()?;
        let types = |types: &Vec<EventType>| {
            types.iter().map(|event_type| event_type.as_str()).collect::<Vec<_>>().join(",")
        };
        Ok(Self {
            partner_id: partner.key(),
            id: key,
            url: webhook.url.as_str().to_owned(),
            types: webhook.types.as_ref().map(types),
            description: webhook.description.clone(),
            sealed: webhook.sealed,
            enabled: webhook.enabled,
            created_at: UtcTimestamp::of(webhook.created_at),
            last_success_at: stamp(webhook.last_success_at),
            last_failure_at: stamp(webhook.last_failure_at),
            failing_since: stamp(webhook.failing_since),
            secret: cipher.encrypt("secret", &record.secret)?,
            former_secret,
            former_until: stamp(former.map(|(_, until)| *until)),
            cursor: record.cursor,
            due_at: stamp(record.due_at),
            lease_owner: record.lease.map(|lease| Id(lease.owner)),
            leased_until: stamp(record.lease.map(|lease| lease.until)),
            failures: webhook.failures.into(),
            paused_until: stamp(webhook.paused_until),
            redelivery_after: record.redelivery.map(|range| range.after),
            redelivery_until: record.redelivery.map(|range| range.until),
            redelivery_left: record.redelivery.map(|range| range.left.cast_signed()),
        })
    }

    pub(super) fn record(self, cipher: &dyn ColumnCipher) -> Result<WebhookRecord, StoreError> {
        let cipher = row_cipher(cipher, self.partner_id.to(), self.id.bytes());
        let secret = |column, stored: &[u8]| -> Result<SecretBytes, StoreError> {
            fixed(cipher.decrypt(column, stored)?, "webhooks.secret")
        };
        let former =
            self.former_secret.as_deref().map(|stored| secret("former_secret", stored)).transpose()?;
        let until = UtcTimestamp::optional(self.former_until, "webhooks.former_until")?;
        let types = |types: String| types.split(',').map(|name| word(name, "webhooks.types")).collect();
        let lease = self.lease_owner.zip(UtcTimestamp::optional(self.leased_until, "webhooks.leased_until")?);
        let left = self.redelivery_left.map(|left| natural(left, "webhooks.redelivery_left")).transpose()?;
        let range = self.redelivery_after.zip(self.redelivery_until).zip(left);
        Ok(WebhookRecord {
            redelivery: range.map(|((after, until), left)| RedeliveryRange { after, until, left }),
            secret: secret("secret", &self.secret)?,
            former_secret: former.zip(until),
            cursor: self.cursor,
            due_at: UtcTimestamp::optional(self.due_at, "webhooks.due_at")?,
            lease: lease.map(|(owner, until)| Lease { owner: owner.0, until }),
            webhook: Webhook {
                id: self.id.to(),
                url: WebhookUrl::from_stored(self.url),
                types: self.types.map(types).transpose()?,
                description: self.description,
                sealed: self.sealed,
                enabled: self.enabled,
                created_at: self.created_at.time("webhooks.created_at")?,
                last_success_at: UtcTimestamp::optional(self.last_success_at, "webhooks.last_success_at")?,
                last_failure_at: UtcTimestamp::optional(self.last_failure_at, "webhooks.last_failure_at")?,
                failing_since: UtcTimestamp::optional(self.failing_since, "webhooks.failing_since")?,
                failures: natural(self.failures, "webhooks.failures")?,
                paused_until: UtcTimestamp::optional(self.paused_until, "webhooks.paused_until")?,
            },
        })
    }
}

/// A delivery as its table has it.
#[derive(Queryable, Selectable)]
#[diesel(table_name = webhook_deliveries)]
pub(super) struct DeliveryRow {
    partner_id: Id,
    webhook_id: Id,
    position: i64,
    id: Id,
    seq: i64,
    event_id: Id,
    kind: String,
    status: String,
    attempts: i64,
    last_attempt_at: Option<UtcTimestamp>,
    last_status_code: Option<i64>,
    last_error: Option<String>,
    next_attempt_at: Option<UtcTimestamp>,
    created_at: UtcTimestamp,
}

row!(
    DeliveryRow,
    webhook_deliveries: partner_id, webhook_id, position, id, seq, event_id, kind, status, attempts, last_attempt_at,
    last_status_code, last_error, next_attempt_at, created_at
);

impl DeliveryRow {
    pub(super) fn new(
        partner: PartnerId,
        webhook: WebhookId,
        position: i64,
        delivery: &Delivery,
        at: OffsetDateTime,
    ) -> Self {
        Self {
            partner_id: partner.key(),
            webhook_id: webhook.key(),
            position,
            id: delivery.id.key(),
            seq: delivery.seq,
            event_id: delivery.event.key(),
            kind: delivery.event_type.as_str().to_owned(),
            status: delivery.status.as_str().to_owned(),
            attempts: delivery.attempts.into(),
            last_attempt_at: stamp(delivery.last_attempt_at),
            last_status_code: delivery.last_status_code.map(i64::from),
            last_error: delivery.last_error.clone(),
            next_attempt_at: stamp(delivery.next_attempt_at),
            created_at: UtcTimestamp::of(at),
        }
    }

    pub(super) fn delivery(self) -> Result<Delivery, StoreError> {
        let code = |code: i64| code.try_into().map_err(|_| corrupt("webhook_deliveries.last_status_code"));
        Ok(Delivery {
            id: self.id.to(),
            seq: self.seq,
            event: self.event_id.to(),
            event_type: word(&self.kind, "webhook_deliveries.kind")?,
            status: word(&self.status, "webhook_deliveries.status")?,
            attempts: natural(self.attempts, "webhook_deliveries.attempts")?,
            last_attempt_at: UtcTimestamp::optional(
                self.last_attempt_at,
                "webhook_deliveries.last_attempt_at",
            )?,
            last_status_code: self.last_status_code.map(code).transpose()?,
            last_error: self.last_error,
            next_attempt_at: UtcTimestamp::optional(
                self.next_attempt_at,
                "webhook_deliveries.next_attempt_at",
            )?,
        })
    }
}
