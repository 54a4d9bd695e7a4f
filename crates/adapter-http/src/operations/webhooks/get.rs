//! Shows a webhook.

use kopeck_service::webhooks;

use super::{NO_WEBHOOK, body, read_id};
use crate::operations::prelude::*;

pub(super) static OPERATION: Operation =
    Operation::of(&operations::WEBHOOK_GET, Needs::One(Scope::WebhooksRead), handler!(get))
        .reads(reads!(read_id))
        .responds::<api::Webhook>(200)
        .refuses(NO_WEBHOOK);

async fn get(mut ctx: HandlerContext) -> HandlerResult {
    let id = ctx.values(read_id);
    let view = ctx.read(id, |unit, _env, partner, id| webhooks::get(unit, partner, *id)).await?;
    ctx.respond(&body(&view))
}
