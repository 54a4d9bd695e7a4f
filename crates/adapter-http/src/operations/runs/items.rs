//! Lists the items of a run.

use kopeck_domain::ids::RunId;
use kopeck_domain::run::Outcome;
use kopeck_port_store::RunItemFilter;
use kopeck_port_store::page::Page;
use kopeck_service::runs;

use super::{NO_RUN, body, read_id};
use crate::input::field_types::{boolean, string_enum};
use crate::operations::prelude::*;

pub(super) static OPERATION: Operation =
    Operation::of(&operations::RUN_ITEMS, Needs::One(Scope::RunsRead), handler!(list))
        .reads(reads!(read))
        .responds::<api::Page<api::RunItem>>(200)
        .refuses(NO_RUN);

fn read(r: &mut Reader<'_>) -> Option<(RunId, RunItemFilter, Page)> {
    let id = read_id(r);
    let page = r.page();
    let faulty = r.param("faulty", boolean().about("Only those with a fault, or without."));
    let outcome = r.param("outcome", string_enum::<Outcome>().about("Only those with this outcome."));
    Some((id?, RunItemFilter { faulty, outcome }, page?))
}

async fn list(mut ctx: HandlerContext) -> HandlerResult {
    let (id, filter, page) = ctx.values(read)?;
    let listed = ctx
        .read(Ok(page), move |unit, _env, partner, page| runs::list_items(unit, partner, id, filter, *page))
        .await?;
    ctx.respond_page(&listed, page, body::of_item)
}
