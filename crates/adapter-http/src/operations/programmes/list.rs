//! Lists programmes.

use kopeck_port_store::page::Page;
use kopeck_service::programmes;

use super::body;
use crate::operations::prelude::*;

pub(super) static OPERATION: Operation =
    Operation::of(&operations::PROGRAMME_LIST, Needs::One(Scope::ProgrammesRead), handler!(list))
        .reads(reads!(read))
        .responds::<api::Page<api::Programme>>(200);

fn read(r: &mut Reader<'_>) -> Option<Page> {
    r.page()
}

async fn list(mut ctx: HandlerContext) -> HandlerResult {
    let (zone, page) = (ctx.zone(), ctx.values(read)?);
    let listed =
        ctx.read(Ok(page), |unit, env, partner, page| programmes::list(unit, env, partner, *page)).await?;
    ctx.respond_page(&listed, page, |view| body::of_programme(view, zone))
}
