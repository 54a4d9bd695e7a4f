//! Shows the state of a withdrawal.

use kopeck_domain::withdrawal::Withdrawals;

use super::{read_id, state};
use crate::operations::card_batches;
use crate::operations::prelude::*;

pub(super) static OPERATION: Operation =
    Operation::of(&operations::WITHDRAWAL_STATUS, Needs::One(Scope::WithdrawalsRead), handler!(status))
        .reads(reads!(read_id))
        .responds::<api::WithdrawalState>(200)
        .refuses(&[Code::RequestNotFound]);

async fn status(mut ctx: HandlerContext) -> HandlerResult {
    let id = ctx.values(read_id);
    card_batches::status::<Withdrawals, _>(ctx, id, state).await
}
