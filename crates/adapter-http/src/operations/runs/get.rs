//! Shows a run.

use kopeck_service::runs;

use super::{NO_RUN, body, read_id};
use crate::operations::prelude::*;

pub(super) static OPERATION: Operation =
    Operation::of(&operations::RUN_GET, Needs::One(Scope::RunsRead), handler!(get))
        .reads(reads!(read_id))
        .responds::<api::Run>(200)
        .refuses(NO_RUN);

async fn get(mut ctx: HandlerContext) -> HandlerResult {
    let (id, zone) = (ctx.values(read_id), ctx.zone());
    let view = ctx.read(id, |unit, _env, partner, id| runs::get(unit, partner, *id)).await?;
    ctx.respond(&body::of_run(&view, zone))
}
