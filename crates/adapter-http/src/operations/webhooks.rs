//! Webhooks.

mod create;
mod delete;
mod deliveries;
mod get;
mod list;
mod ping;
mod redeliver;
mod rotate_secret;
mod update;

use kopeck_domain::Faults;
use kopeck_domain::draft::Invalid;
use kopeck_domain::event::EventType;
use kopeck_domain::ids::WebhookId;
use kopeck_domain::webhook::{WebhookUrl, parse_description};
use kopeck_port_store::SecretBytes;
use kopeck_sealing::SigningSecret;
use kopeck_service::webhooks::{WebhookError, WebhookView};

use crate::dto::event::to_the_second;
use crate::input::field_types::{FieldType, InputValue, text, texts};
use crate::json::{Json, object};
use crate::operations::events::event_type;
use crate::operations::prelude::*;
use crate::schema::{Components, HasSchema};

pub(super) static OPERATIONS: [&Operation; 9] = [
    &create::OPERATION,
    &list::OPERATION,
    &get::OPERATION,
    &update::OPERATION,
    &delete::OPERATION,
    &rotate_secret::OPERATION,
    &ping::OPERATION,
    &deliveries::OPERATION,
    &redeliver::OPERATION,
];

const NO_WEBHOOK: &[Code] = &[Code::WebhookNotFound];

fn read_id(r: &mut Reader<'_>) -> Option<WebhookId> {
    r.id("idWebhook")
}

impl HasSchema for WebhookUrl {
    fn schema(_: &mut Components) -> Json {
        object! {"type": "string", "format": "uri", "minLength": 1, "maxLength": 2048}
    }
}

fn url() -> FieldType<impl Fn(InputValue<'_>) -> Result<WebhookUrl, Invalid>> {
    text(WebhookUrl::parse).about(
        "Where events are posted: `https`, without user information and fragment. No name that leads into a private network.",
    )
}

fn types() -> FieldType<impl Fn(InputValue<'_>) -> Result<Vec<EventType>, Invalid>> {
    texts(event_type).about("Only these types of events; all if absent or `null`.")
}

fn description() -> FieldType<impl Fn(InputValue<'_>) -> Result<String, Invalid>> {
    text(parse_description)
        .looks_like(|_| object! {"type": "string", "maxLength": 256})
        .about("Your own description, up to 256 characters.")
}

/// Whether deliveries may go to this address. A refusal is a fault of the field.
async fn check_url<V>(
    ctx: &HandlerContext,
    values: Result<V, Faults>,
    url: impl Fn(&V) -> Option<&WebhookUrl>,
) -> Result<V, Faults> {
    let values = values?;
    if let Some(url) = url(&values)
        && let Err(refused) = ctx.shared.parts.webhooks.check(url.as_str()).await
    {
        return Err(Faults::of("url", refused.to_string()));
    }
    Ok(values)
}

/// The text of a secret.
fn secret(bytes: &SecretBytes) -> api::WebhookSecret {
    api::WebhookSecret(SigningSecret::new(*bytes).to_text())
}

/// The body of a webhook.
fn body(view: &WebhookView) -> api::Webhook {
    let webhook = &view.webhook;
    let types = |types: &Vec<EventType>| types.iter().map(|one| one.as_str().into()).collect();
    api::Webhook {
        id_webhook: webhook.id.uuid(),
        url: webhook.url.as_str().to_owned(),
        types: webhook.types.as_ref().map(types),
        description: webhook.description.clone(),
        sealed: webhook.sealed,
        enabled: webhook.enabled,
        created_at: to_the_second(webhook.created_at),
        last_success_at: webhook.last_success_at.map(to_the_second),
        last_failure_at: webhook.last_failure_at.map(to_the_second),
        failing_since: webhook.failing_since.map(to_the_second),
        pending: view.pending,
    }
}

impl From<WebhookError> for ApiError {
    fn from(error: WebhookError) -> Self {
        match error {
            WebhookError::TooMany => Code::TooManyWebhooks.into(),
            WebhookError::NotFound => Code::WebhookNotFound.into(),
            WebhookError::Disabled => Code::WebhookDisabled.into(),
            WebhookError::NoSuchEvent => Self::new(Code::NotFound, error.to_string()),
            WebhookError::Expired => Self::new(Code::EventsExpired, error.to_string()),
            WebhookError::Store(error) => error.into(),
        }
    }
}
