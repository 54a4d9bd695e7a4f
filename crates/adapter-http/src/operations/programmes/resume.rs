//! Resumes a programme.

use kopeck_service::programmes;

use super::{NOT_IN_STATE, body, read_id};
use crate::operations::prelude::*;

pub(super) static OPERATION: Operation =
    Operation::of(&operations::PROGRAMME_RESUME, Needs::One(Scope::ProgrammesWrite), handler!(resume))
        .reads(reads!(read_id))
        .responds::<api::Programme>(200)
        .refuses(NOT_IN_STATE)
        .body_optional();

async fn resume(mut ctx: HandlerContext) -> HandlerResult {
    let (zone, id) = (ctx.zone(), ctx.values(read_id));
    ctx.mutate(id, move |unit, env, partner, id| {
        Ok::<_, ApiError>(body::of_programme(&programmes::resume(unit, env, partner, *id)?, zone))
    })
    .await
}
