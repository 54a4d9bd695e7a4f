//! Creates a webhook.

use kopeck_port_store::UnitOfWork;
use kopeck_service::webhooks::{self, NewWebhook};

use super::{body, change_url, description, secret, types, url};
use crate::input::field_types::boolean;
use crate::operations::prelude::*;

pub(super) static OPERATION: Operation = Operation::of(
    &operations::WEBHOOK_CREATE,
    Needs::Both(Scope::WebhooksWrite, Scope::EventsRead),
    handler!(create),
)
.reads(reads!(read))
.responds::<api::WebhookCreated>(201)
.refuses(&[Code::TooManyWebhooks])
.discloses();

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
    let has_room = |unit: &mut dyn UnitOfWork, partner, _: &NewWebhook| webhooks::check_room(unit, partner);
    change_url(
        ctx,
        values,
        has_room,
        |new| Some(&mut new.url),
        |unit, env, partner, new| {
            webhooks::create(unit, env, partner, new.clone())
                .map(|(view, bytes)| api::WebhookCreated { webhook: body(&view), secret: secret(&bytes) })
        },
    )
    .await
}
