//! Delivers events to a webhook once more.

use kopeck_domain::Invalid;
use kopeck_domain::ids::{EventId, WebhookId};
use kopeck_service::webhooks::{self, Redelivery};

use super::read_id;
use crate::input::field_types::{id, integer};
use crate::operations::prelude::*;

pub(super) static OPERATION: Operation = Operation::of(
    &operations::WEBHOOK_REDELIVER,
    Needs::Both(Scope::WebhooksWrite, Scope::EventsRead),
    handler!(redeliver),
)
.reads(reads!(read))
.responds::<api::Redelivery>(202)
.refuses(&[
    Code::WebhookNotFound,
    Code::WebhookDisabled,
    Code::RequestNotProcessed,
    Code::NotFound,
    Code::EventsExpired,
]);

fn read(r: &mut Reader<'_>) -> Option<(WebhookId, Redelivery)> {
    let webhook = read_id(r);
    let mut body = r.body();
    let about = "This event. Either this or `after`.";
    let event = body.optional("eventId", id::<EventId>().about(about));
    let natural =
        |number: i64| (number >= 0).then_some(number).ok_or_else(|| Invalid::new("must not be negative"));
    let about = "Events behind this number of the feed that were not delivered, 10,000 at most.";
    let after = body.optional("after", integer(natural).between(0, i64::MAX).about(about));
    let which = match (event, after) {
        (Some(event), None) => Redelivery::Event(event),
        (None, Some(after)) => Redelivery::After(after),
        _ if body.has("eventId") != body.has("after") => return None,
        _ => {
            body.fault("body", "must have either eventId or after");
            return None;
        }
    };
    Some((webhook?, which))
}

async fn redeliver(mut ctx: HandlerContext) -> HandlerResult {
    let values = ctx.values(read);
    let mutation = ctx.begin_mutation().await?;
    if let Some(recorded) = mutation.replay().await? {
        return Ok(recorded);
    }
    // In a long feed this takes a while, in which others may write.
    let missed = mutation.context().read(values, |unit, _env, partner, (id, which)| {
        webhooks::missed(unit, partner, *id, *which).map(|missed| (*id, missed))
    });
    let values = missed.await?;
    mutation
        .once(values, |unit, env, partner, (id, missed)| {
            webhooks::redeliver(unit, env, partner, *id, *missed)
                .map(|deliveries| api::Redelivery { deliveries })
        })
        .await
}
