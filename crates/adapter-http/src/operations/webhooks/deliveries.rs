//! Lists the deliveries of a webhook.

use kopeck_domain::ids::WebhookId;
use kopeck_port_store::page::Page;
use kopeck_port_store::webhook::{Delivery, DeliveryStatus};
use kopeck_service::webhooks;

use super::{NO_WEBHOOK, read_id};
use crate::dto::to_the_second;
use crate::input::field_types::string_enum;
use crate::operations::prelude::*;

pub(super) static OPERATION: Operation =
    Operation::of(&operations::WEBHOOK_DELIVERIES, Needs::One(Scope::WebhooksRead), handler!(deliveries))
        .reads(reads!(read))
        .responds::<api::Page<api::WebhookDelivery>>(200)
        .refuses(NO_WEBHOOK);

fn read(r: &mut Reader<'_>) -> Option<(WebhookId, Option<DeliveryStatus>, Page)> {
    let id = read_id(r);
    let status = r.param("status", string_enum::<DeliveryStatus>().about("Only those of this status."));
    Some((id?, status, r.page()?))
}

async fn deliveries(mut ctx: HandlerContext) -> HandlerResult {
    let (id, status, page) = ctx.values(read)?;
    let listed = ctx
        .read(Ok(page), move |unit, _env, partner, page| {
            webhooks::deliveries(unit, partner, id, status, *page)
        })
        .await?;
    ctx.respond_page(&listed, page, body)
}

fn body(delivery: &Delivery) -> api::WebhookDelivery {
    api::WebhookDelivery {
        id_delivery: delivery.id.uuid(),
        event_id: delivery.event.uuid(),
        seq: delivery.seq,
        event_type: delivery.event_type.as_str().into(),
        status: delivery.status.as_str().into(),
        attempts: delivery.attempts.into(),
        last_attempt_at: delivery.last_attempt_at.map(to_the_second),
        last_status_code: delivery.last_status_code.map(u64::from),
        last_error: delivery.last_error.clone(),
        next_attempt_at: delivery.next_attempt_at.map(to_the_second),
    }
}
