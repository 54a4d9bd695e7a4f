//! Gives a webhook another secret.

use kopeck_service::webhooks;

use super::{NO_WEBHOOK, read_id, secret};
use crate::operations::prelude::*;

pub(super) static OPERATION: Operation =
    Operation::of(&operations::WEBHOOK_ROTATE_SECRET, Needs::One(Scope::WebhooksWrite), handler!(rotate))
        .body_optional()
        .reads(reads!(read_id))
        .responds::<api::WebhookSecretRotated>(200)
        .refuses(NO_WEBHOOK)
        .discloses();

async fn rotate(mut ctx: HandlerContext) -> HandlerResult {
    let id = ctx.values(read_id);
    ctx.mutate(id, |unit, env, partner, id| {
        webhooks::rotate_secret(unit, env, partner, *id)
            .map(|bytes| api::WebhookSecretRotated { secret: secret(&bytes) })
    })
    .await
}
