//! Lists webhooks.

use kopeck_port_store::page::Page;
use kopeck_service::webhooks;

use super::body;
use crate::operations::prelude::*;

pub(super) static OPERATION: Operation =
    Operation::of(&operations::WEBHOOK_LIST, Needs::One(Scope::WebhooksRead), handler!(list))
        .reads(reads!(read))
        .responds::<api::Page<api::Webhook>>(200);

fn read(r: &mut Reader<'_>) -> Option<Page> {
    r.page()
}

async fn list(mut ctx: HandlerContext) -> HandlerResult {
    let page = ctx.values(read)?;
    let listed = ctx.read(Ok(page), |unit, _env, partner, page| webhooks::list(unit, partner, *page)).await?;
    ctx.respond_page(&listed, page, body)
}
