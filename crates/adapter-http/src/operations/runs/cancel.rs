//! Cancels a run that has not begun.

use kopeck_service::runs;

use super::{body, read_id};
use crate::operations::prelude::*;

pub(super) static OPERATION: Operation =
    Operation::of(&operations::RUN_CANCEL, Needs::One(Scope::RunsWrite), handler!(cancel))
        .reads(reads!(read_id))
        .responds::<api::Run>(200)
        .refuses(&[Code::RunNotFound, Code::RunNotCancellable])
        .body_optional();

async fn cancel(mut ctx: HandlerContext) -> HandlerResult {
    let (zone, id) = (ctx.zone(), ctx.values(read_id));
    ctx.mutate(id, move |unit, env, partner, id| {
        Ok::<_, ApiError>(body::of_run(&runs::cancel(unit, env, partner, *id)?, zone))
    })
    .await
}
