//! Creates a webhook.

use kopeck_service::webhooks::{self, NewWebhook};

use super::{body, check_url, description, secret, types, url};
use crate::input::field_types::boolean;
use crate::operations::prelude::*;

pub(super) static OPERATION: Operation = Operation::of(&operations::WEBHOOK_CREATE, handler!(create))
    .reads(reads!(read))
    .responds::<api::WebhookCreated>(201)
    .refuses(&[Code::TooManyWebhooks]);

fn read(r: &mut Reader<'_>) -> Option<NewWebhook> {
    let mut body = r.body();
    let url = body.required("url", url());
    let types = body.optional("types", types());
    let description = body.optional("description", description()).unwrap_or_default();
    let about = "Encrypt the data of events; by default if your sealing policy is `required`.";
    let sealed = body.optional("sealed", boolean().about(about));
    Some(NewWebhook { url: url?, types, description, sealed })
}

async fn create(mut ctx: HandlerContext) -> HandlerResult {
    let values = ctx.values(read);
    let values = check_url(&ctx, values, |new| Some(&new.url)).await;
    ctx.mutate(values, |unit, env, partner, new| {
        webhooks::create(unit, env, partner, new.clone())
            .map(|(view, bytes)| api::WebhookCreated { webhook: body(&view), secret: secret(&bytes) })
    })
    .await
}
