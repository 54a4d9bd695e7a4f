//! Cancels a replenishment that is not being processed.

use kopeck_domain::replenishment::TopUps;
use kopeck_service::card_batches;

use super::{read_id, state};
use crate::operations::card_batches::NOT_CANCELLABLE;
use crate::operations::prelude::*;

pub(super) static OPERATION: Operation = Operation::of(
    &operations::REPLENISHMENT_CANCEL,
    Needs::One(Scope::ReplenishmentsWrite),
    handler!(cancel),
)
.reads(reads!(read_id))
.responds::<api::ReplenishmentState>(200)
.refuses(NOT_CANCELLABLE);

async fn cancel(mut ctx: HandlerContext) -> HandlerResult {
    let id = ctx.values(read_id);
    ctx.mutate(id, |unit, env, partner, id| {
        card_batches::cancel::<TopUps>(unit, env, partner, *id).map(state)
    })
    .await
}
