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

use crate::input::faults::Faults;
use kopeck_domain::Invalid;
use kopeck_domain::event::EventType;
use kopeck_domain::ids::{PartnerId, WebhookId};
use kopeck_port_store::webhook::{WebhookUrl, parse_description};
use kopeck_port_store::{SecretBytes, UnitOfWork};
use kopeck_port_webhook::CheckError;
use kopeck_sealing::SigningSecret;
use kopeck_service::Env;
use kopeck_service::webhooks::{WebhookError, WebhookView};
use serde::Serialize;

use crate::dto::to_the_second;
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
        "Where events are posted: `https`, without user information and fragment. No name that leads into a private network. Shown as it is understood: `https://example.com` is `https://example.com/`.",
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

/// Seconds after which a refused look-up may be repeated: most have ended by then.
const RETRY_LOOKUP: u64 = 4;

/// Carries out a change that may set an address. If `may_change` allows the change, the address is checked, and stored as it
/// is understood. A retry gets the recorded response without another look-up.
async fn change_url<V: Clone + Send + 'static, T: Serialize + 'static>(
    ctx: HandlerContext,
    values: Result<V, Faults>,
    may_change: fn(&mut dyn UnitOfWork, PartnerId, &V) -> Result<(), WebhookError>,
    url: fn(&mut V) -> Option<&mut WebhookUrl>,
    work: fn(&mut dyn UnitOfWork, &Env, PartnerId, &V) -> Result<T, WebhookError>,
) -> HandlerResult {
    let mut mutation = ctx.begin_mutation().await?;
    if let Some(recorded) = mutation.replay().await? {
        return Ok(recorded);
    }
    let mut values = values?;
    let wanted = values.clone();
    if let Some(url) = url(&mut values) {
        let may_change =
            move |unit: &mut dyn UnitOfWork, _: &Env, partner, wanted: &V| may_change(unit, partner, wanted);
        mutation.context().read(Ok(wanted), may_change).await?;
        *url = understood(mutation.context(), url).await?;
        mutation.renew_deadline();
    }
    mutation.once(values, work).await
}

/// The address as it is understood, if deliveries may go to it.
async fn understood(ctx: &HandlerContext, url: &WebhookUrl) -> Result<WebhookUrl, ApiError> {
    let checked = ctx.shared.parts.webhooks.check(ctx.partner().uuid(), url.as_str()).await;
    let understood = checked.map_err(|error| match error {
        CheckError::Refused(refused) => ApiError::field("url", refused.to_string()),
        CheckError::Busy => ApiError::new(Code::TooManyRequests, error.to_string()).retry_after(RETRY_LOOKUP),
    })?;
    // It is longer than what was sent where that had other letters than those of ASCII.
    WebhookUrl::parse(&understood).map_err(|invalid| ApiError::field("url", invalid.detail()))
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
            WebhookError::Pending | WebhookError::TooManyPending => {
                Self::new(Code::RequestNotProcessed, error.to_string())
            }
            WebhookError::NoSuchEvent => Self::new(Code::NotFound, error.to_string()),
            WebhookError::Expired => Self::new(Code::EventsExpired, error.to_string()),
            WebhookError::Store(error) => error.into(),
        }
    }
}
