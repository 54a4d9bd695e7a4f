//! Deletes a programme. Its runs stay.

use kopeck_service::programmes;

use super::{NO_PROGRAMME, body, read_id};
use crate::operations::prelude::*;

pub(super) static OPERATION: Operation =
    Operation::of(&operations::PROGRAMME_DELETE, Needs::One(Scope::ProgrammesWrite), handler!(delete))
        .reads(reads!(read_id))
        .responds::<api::Programme>(200)
        .refuses(NO_PROGRAMME);

async fn delete(mut ctx: HandlerContext) -> HandlerResult {
    let (zone, id) = (ctx.zone(), ctx.values(read_id));
    ctx.mutate(id, move |unit, env, partner, id| {
        Ok::<_, ApiError>(body::of_programme(&programmes::delete(unit, env, partner, *id)?, zone))
    })
    .await
}
