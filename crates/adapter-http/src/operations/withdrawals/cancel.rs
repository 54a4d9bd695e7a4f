//! Cancels a withdrawal that is not being processed.

use kopeck_domain::withdrawal::Withdrawals;
use kopeck_service::card_batches;

use super::{read_id, state};
use crate::operations::card_batches::NOT_CANCELLABLE;
use crate::operations::prelude::*;

pub(super) static OPERATION: Operation =
    Operation::of(&operations::WITHDRAWAL_CANCEL, Needs::One(Scope::WithdrawalsWrite), handler!(cancel))
        .reads(reads!(read_id))
        .responds::<api::WithdrawalState>(200)
        .refuses(NOT_CANCELLABLE);

async fn cancel(mut ctx: HandlerContext) -> HandlerResult {
    let id = ctx.values(read_id);
    ctx.mutate(id, |unit, env, partner, id| {
        card_batches::cancel::<Withdrawals>(unit, env, partner, *id).map(state)
    })
    .await
}
