//! Cancels a closing that is not being processed and not urgent.

use kopeck_domain::closing::Closings;
use kopeck_service::card_batches;

use super::{read_id, state};
use crate::operations::card_batches::NOT_CANCELLABLE;
use crate::operations::prelude::*;

pub(super) static OPERATION: Operation =
    Operation::of(&operations::CLOSING_CANCEL, Needs::One(Scope::ClosingsWrite), handler!(cancel))
        .reads(reads!(read_id))
        .responds::<api::ClosingState>(200)
        .refuses(NOT_CANCELLABLE);

async fn cancel(mut ctx: HandlerContext) -> HandlerResult {
    let id = ctx.values(read_id);
    ctx.mutate(id, |unit, env, partner, id| {
        card_batches::cancel::<Closings>(unit, env, partner, *id).map(state)
    })
    .await
}
