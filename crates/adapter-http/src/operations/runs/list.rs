//! Lists runs.

use kopeck_domain::calendar::Zone;
use kopeck_domain::request::RequestReference;
use kopeck_domain::run::{RunKind, RunState};
use kopeck_port_store::RunFilter;
use kopeck_port_store::page::Page;
use kopeck_service::runs;

use super::body;
use crate::input::field_types::{id, string_enum, text};
use crate::input::period::{self, Period};
use crate::operations::cards::ANY_ZONE;
use crate::operations::prelude::*;

pub(super) static OPERATION: Operation =
    Operation::of(&operations::RUN_LIST, Needs::One(Scope::RunsRead), handler!(list))
        .reads(reads!(read, ANY_ZONE))
        .responds::<api::Page<api::Run>>(200);

fn read(r: &mut Reader<'_>, zone: Zone) -> Option<(Page, RunFilter)> {
    let page = r.page();
    let kind = r.param("kind", string_enum::<RunKind>().about("Only those of this kind."));
    let state = r.param("status", string_enum::<RunState>().about("Only those in this state."));
    let reference =
        r.param("reference", text(RequestReference::parse).about("Only those with exactly this reference."));
    let programme = r.param("idProgramme", id().about("Only those that this programme made."));
    let Period { from, before } = period::read(r, zone);
    Some((page?, RunFilter { kind, state, reference, programme, from, before }))
}

async fn list(mut ctx: HandlerContext) -> HandlerResult {
    let zone = ctx.zone();
    let (page, filter) = ctx.values(|r| read(r, zone))?;
    let listed = ctx
        .read(Ok(page), move |unit, _env, partner, page| runs::list(unit, partner, &filter, *page))
        .await?;
    ctx.respond_page(&listed, page, |view| body::of_run(view, zone))
}
