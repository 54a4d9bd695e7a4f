//! Changes a webhook.

use kopeck_domain::employee::Change;
use kopeck_domain::ids::WebhookId;
use kopeck_port_store::UnitOfWork;
use kopeck_service::webhooks::{self, WebhookChange};

use super::{NO_WEBHOOK, body, change_url, description, read_id, types, url};
use crate::input::field_types::boolean;
use crate::operations::prelude::*;

pub(super) static OPERATION: Operation = Operation::of(
    &operations::WEBHOOK_UPDATE,
    Needs::Both(Scope::WebhooksWrite, Scope::EventsRead),
    handler!(update),
)
.reads(reads!(read))
.responds::<api::Webhook>(200)
.refuses(NO_WEBHOOK);

fn read(r: &mut Reader<'_>) -> Option<(WebhookId, WebhookChange)> {
    let id = read_id(r);
    let mut body = r.body();
    let url = body.replacement("url", url());
    let types = match body.change("types", types()) {
        Change::Keep => None,
        Change::Clear => Some(None),
        Change::Set(types) => Some(Some(types)),
    };
    let description = body.replacement("description", description());
    let about = "`false` cancels pending deliveries; `true` does not send missed events.";
    let enabled = body.replacement("enabled", boolean().about(about));
    let sealed = body.replacement("sealed", boolean().about("Encrypt the data of events."));
    Some((id?, WebhookChange { url, types, description, enabled, sealed }))
}

async fn update(mut ctx: HandlerContext) -> HandlerResult {
    let values = ctx.values(read);
    let exists = |unit: &mut dyn UnitOfWork, partner, (id, _): &(WebhookId, WebhookChange)| {
        webhooks::get(unit, partner, *id).map(drop)
    };
    change_url(
        ctx,
        values,
        exists,
        |(_, change)| change.url.as_mut(),
        |unit, _env, partner, (id, change)| {
            webhooks::update(unit, partner, *id, change.clone()).map(|view| body(&view))
        },
    )
    .await
}
