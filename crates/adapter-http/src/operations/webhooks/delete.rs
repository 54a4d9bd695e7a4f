//! Deletes a webhook with its deliveries.

use kopeck_service::webhooks;

use super::{NO_WEBHOOK, body, read_id};
use crate::operations::prelude::*;

pub(super) static OPERATION: Operation =
    Operation::of(&operations::WEBHOOK_DELETE, Needs::One(Scope::WebhooksWrite), handler!(delete))
        .reads(reads!(read_id))
        .responds::<api::Webhook>(200)
        .refuses(NO_WEBHOOK);

async fn delete(mut ctx: HandlerContext) -> HandlerResult {
    let id = ctx.values(read_id);
    ctx.mutate(id, |unit, _env, partner, id| webhooks::delete(unit, partner, *id).map(|view| body(&view)))
        .await
}
