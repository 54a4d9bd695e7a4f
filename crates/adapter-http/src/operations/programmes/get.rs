//! Shows a programme.

use kopeck_service::programmes;

use super::{NO_PROGRAMME, body, read_id};
use crate::operations::prelude::*;

pub(super) static OPERATION: Operation =
    Operation::of(&operations::PROGRAMME_GET, Needs::One(Scope::ProgrammesRead), handler!(get))
        .reads(reads!(read_id))
        .responds::<api::Programme>(200)
        .refuses(NO_PROGRAMME);

async fn get(mut ctx: HandlerContext) -> HandlerResult {
    let (id, zone) = (ctx.values(read_id), ctx.zone());
    let view = ctx.read(id, |unit, env, partner, id| programmes::get(unit, env, partner, *id)).await?;
    ctx.respond(&body::of_programme(&view, zone))
}
