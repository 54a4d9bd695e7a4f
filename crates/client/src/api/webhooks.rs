//! Webhooks.

use kopeck_api::{
    DeliveryStatus, Page, Paging, Redelivery, Webhook, WebhookCreated, WebhookDelivery, WebhookPinged,
    WebhookSecretRotated, operations,
};
use uuid::Uuid;

use crate::client::Client;
use crate::error::Error;
use crate::model::webhook::{NewWebhook, RedeliveryOf, WebhookUpdate};
use crate::records::Records;
use crate::request::Request;
use crate::write::Write;

/// Operations on webhooks; see [`Client::webhooks`]. [`WebhookVerifier`](crate::WebhookVerifier) checks what they deliver.
#[derive(Debug, Clone, Copy)]
pub struct Webhooks<'a> {
    client: &'a Client,
}

impl<'a> Webhooks<'a> {
    pub(crate) const fn new(client: &'a Client) -> Self {
        Self { client }
    }

    /// Creates a webhook. Its secret is in this response alone.
    pub fn create(&self, webhook: &NewWebhook) -> Write<WebhookCreated> {
        self.client.write(Request::of(&operations::WEBHOOK_CREATE).body(webhook))
    }

    /// Lists webhooks, the first created first; there are ten at most.
    ///
    /// # Errors
    ///
    /// See [`Error`].
    pub async fn list(&self, paging: Paging) -> Result<Page<Webhook>, Error> {
        self.all().page(paging).await
    }

    /// All webhooks, the first created first.
    pub fn all(&self) -> Records<Webhook> {
        let request = Request::of(&operations::WEBHOOK_LIST);
        Records::new(self.client, request, |one| one.id_webhook.as_u128())
    }

    /// The webhook with this identifier.
    ///
    /// # Errors
    ///
    /// See [`Error`].
    pub async fn get(&self, id_webhook: Uuid) -> Result<Webhook, Error> {
        self.client.read(Request::of(&operations::WEBHOOK_GET).id(id_webhook)).await
    }

    /// Changes a webhook.
    pub fn update(&self, id_webhook: Uuid, update: &WebhookUpdate) -> Write<Webhook> {
        self.client.write(Request::of(&operations::WEBHOOK_UPDATE).id(id_webhook).body(update))
    }

    /// Deletes a webhook with its deliveries, and returns what it was.
    pub fn delete(&self, id_webhook: Uuid) -> Write<Webhook> {
        self.client.write(Request::of(&operations::WEBHOOK_DELETE).id(id_webhook))
    }

    /// Gives a webhook another secret. For 24 hours the one before signs too.
    pub fn rotate_secret(&self, id_webhook: Uuid) -> Write<WebhookSecretRotated> {
        self.client.write(Request::of(&operations::WEBHOOK_ROTATE_SECRET).id(id_webhook))
    }

    /// Sends a test event to a webhook.
    pub fn ping(&self, id_webhook: Uuid) -> Write<WebhookPinged> {
        self.client.write(Request::of(&operations::WEBHOOK_PING).id(id_webhook))
    }

    /// The deliveries of a webhook, of one status or of all, newest first, page by page on demand.
    pub fn deliveries(&self, id_webhook: Uuid, status: Option<DeliveryStatus>) -> Records<WebhookDelivery> {
        let status = status.as_ref().map(DeliveryStatus::as_str).map(str::to_owned);
        let request = Request::of(&operations::WEBHOOK_DELIVERIES).id(id_webhook).query("status", status);
        Records::new(self.client, request, |one| one.id_delivery.as_u128())
    }

    /// Delivers events once more.
    pub fn redeliver(&self, id_webhook: Uuid, which: RedeliveryOf) -> Write<Redelivery> {
        self.client.write(Request::of(&operations::WEBHOOK_REDELIVER).id(id_webhook).body(&which))
    }
}
