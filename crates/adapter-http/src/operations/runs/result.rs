//! Shows what became of each item of a run.

use kopeck_port_store::UnitOfWork;
use kopeck_service::runs;

use super::{NO_RUN, body, read_id};
use crate::list_stream::{self, ListSource, NoFields, PAGE};
use crate::operations::prelude::*;

pub(super) static OPERATION: Operation =
    Operation::of(&operations::RUN_RESULT, Needs::One(Scope::RunsRead), handler!(result))
        .reads(reads!(read_id))
        .responds::<api::Data<Vec<api::RunItem>>>(200)
        .refuses(NO_RUN);

async fn result(mut ctx: HandlerContext) -> HandlerResult {
    let id = ctx.values(read_id)?;
    let (view, first) = ctx
        .read(Ok(id), |unit, _env, partner, id| {
            let view = runs::get(unit, partner, *id)?;
            Ok::<_, ApiError>((view, runs::items(unit, partner, *id, 0, PAGE)?))
        })
        .await?;
    let listing = ListSource {
        read: move |unit: &mut dyn UnitOfWork, partner, from| unit.runs().items(partner, id, from, PAGE),
        show: |item, out| serde_json::to_writer(out, &body::of_item(item)),
    };
    list_stream::response(&ctx, &NoFields {}, view.run.totals().number, &first, listing)
}
