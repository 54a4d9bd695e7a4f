//! Shows the state of a replenishment; the interface has two paths for it.

use crate::input::faults::Faults;
use kopeck_domain::ids::ReplenishmentId;
use kopeck_domain::replenishment::TopUps;
use kopeck_service::card_batches;

use super::{read_id, read_parameter, state};
use crate::operations::prelude::*;

pub(super) static BY_QUERY: Operation = Operation::of(
    &operations::REPLENISHMENT_STATUS,
    Needs::One(Scope::ReplenishmentsRead),
    handler!(by_query),
)
.reads(reads!(read_parameter))
.responds::<api::ReplenishmentState>(200)
.refuses(&[Code::RequestNotFound]);

pub(super) static BY_PATH: Operation = Operation::of(
    &operations::REPLENISHMENT_STATUS_BY_PATH,
    Needs::One(Scope::ReplenishmentsRead),
    handler!(by_path),
)
.reads(reads!(read_id))
.responds::<api::ReplenishmentState>(200)
.refuses(&[Code::RequestNotFound]);

async fn by_query(mut ctx: HandlerContext) -> HandlerResult {
    let id = ctx.values(read_parameter);
    status(ctx, id).await
}

async fn by_path(mut ctx: HandlerContext) -> HandlerResult {
    let id = ctx.values(read_id);
    status(ctx, id).await
}

async fn status(ctx: HandlerContext, id: Result<ReplenishmentId, Faults>) -> HandlerResult {
    let request =
        ctx.read(id, |unit, _env, partner, id| card_batches::get::<TopUps>(unit, partner, *id)).await?;
    ctx.respond(&state(request))
}
