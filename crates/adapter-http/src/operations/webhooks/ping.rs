//! Sends a test event to a webhook.

use kopeck_service::webhooks;

use super::read_id;
use crate::operations::prelude::*;

pub(super) static OPERATION: Operation =
    Operation::of(&operations::WEBHOOK_PING, Needs::One(Scope::WebhooksWrite), handler!(ping))
        .body_optional()
        .reads(reads!(read_id))
        .responds::<api::WebhookPinged>(202)
        .refuses(&[Code::WebhookNotFound, Code::WebhookDisabled, Code::RequestNotProcessed]);

async fn ping(mut ctx: HandlerContext) -> HandlerResult {
    let id = ctx.values(read_id);
    ctx.mutate(id, |unit, env, partner, id| {
        webhooks::ping(unit, env, partner, *id).map(|event| api::WebhookPinged { event_id: event.uuid() })
    })
    .await
}
