//! The webhooks of a partner, all of which lead to the receiver.

use anyhow::Context as _;
use kopeck_client::{
    Event, EventQuery, EventType, NewWebhook, SealingKey, SigningSecret, Uuid, WebhookHeaders,
    WebhookVerifier,
};

use super::partner::Partner;
use crate::receiver::{Arrival, Receiver, SILENT};

/// A webhook of a partner.
pub(crate) struct Endpoint {
    pub(crate) id: Uuid,
    /// Its path at the receiver.
    pub(crate) path: String,
    /// The last event before the webhook was created.
    after: i64,
    /// All types if absent.
    types: Option<Vec<EventType>>,
    verifier: WebhookVerifier,
}

impl Endpoint {
    /// Whether it never responds.
    pub(crate) fn is_silent(&self) -> bool {
        self.path.ends_with(SILENT)
    }

    /// Whether an event has to be delivered to it.
    pub(crate) fn wants(&self, event: &Event) -> bool {
        let is_of_type = self.types.as_ref().is_none_or(|types| types.contains(&event.data.event_type()));
        event.seq > self.after && is_of_type
    }

    /// The event of a delivery.
    pub(crate) fn verify(&self, arrival: &Arrival) -> anyhow::Result<Event> {
        let headers = WebhookHeaders::find(|name| arrival.headers.get(name).map(String::as_str))?;
        let event = self.verifier.verify_at(headers, &arrival.body, arrival.at)?;
        anyhow::ensure!(event.id.to_string() == headers.id, "{} has the webhook-id {}", event.id, headers.id);
        Ok(event)
    }
}

/// Creates three webhooks: sealed with all events, plain with some, and one whose endpoint never responds.
pub(crate) async fn create_endpoints(
    partner: &Partner,
    sealing_key: &SealingKey,
    receiver: &Receiver,
) -> anyhow::Result<Vec<Endpoint>> {
    let some = [EventType::CardTransaction, EventType::ReplenishmentStatus, EventType::EmployeeCreated];
    let wanted = [("/sealed", None, true), ("/plain", Some(some.to_vec()), false), (SILENT, None, true)];
    let (client, _) = partner.client(0).context("no client")?;
    let after = client.events().list(&EventQuery::default()).await?.next;
    let mut endpoints = Vec::new();
    for (path, types, sealed) in wanted {
        let path = format!("/{}{path}", partner.name);
        let new = NewWebhook {
            url: receiver.url(&path),
            types: types.clone(),
            sealed: Some(sealed),
            ..NewWebhook::default()
        };
        let created = client.webhooks().create(&new).await?;
        let secret = SigningSecret::parse(&created.secret.0).context("the secret of a webhook")?;
        let plain = WebhookVerifier::new(vec![secret]);
        // With a key it takes sealed events only.
        let verifier = if sealed { plain.sealing_key(sealing_key.clone()) } else { plain };
        endpoints.push(Endpoint { id: created.webhook.id_webhook, path, after, types, verifier });
    }
    Ok(endpoints)
}
