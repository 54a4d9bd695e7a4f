//! Lists the runs of a programme.

use kopeck_domain::ids::ProgrammeId;
use kopeck_port_store::page::Page;
use kopeck_service::programmes;

use super::{NO_PROGRAMME, read_id};
use crate::operations::prelude::*;
use crate::operations::runs::body;

pub(super) static OPERATION: Operation = Operation::of(
    &operations::PROGRAMME_RUNS,
    Needs::Both(Scope::ProgrammesRead, Scope::RunsRead),
    handler!(runs),
)
.reads(reads!(read))
.responds::<api::Page<api::Run>>(200)
.refuses(NO_PROGRAMME);

fn read(r: &mut Reader<'_>) -> Option<(ProgrammeId, Page)> {
    let id = read_id(r);
    let page = r.page();
    Some((id?, page?))
}

async fn runs(mut ctx: HandlerContext) -> HandlerResult {
    let (zone, (id, page)) = (ctx.zone(), ctx.values(read)?);
    let listed = ctx
        .read(Ok(page), move |unit, _env, partner, page| programmes::runs(unit, partner, id, *page))
        .await?;
    ctx.respond_page(&listed, page, |view| body::of_run(view, zone))
}
