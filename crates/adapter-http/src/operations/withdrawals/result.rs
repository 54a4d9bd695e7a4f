//! Shows what became of each card of a withdrawal.

use kopeck_domain::withdrawal::WithdrawalItem;

use super::read_id;
use crate::operations::card_batches::{self, NO_RESULT};
use crate::operations::prelude::*;

pub(super) static OPERATION: Operation =
    Operation::of(&operations::WITHDRAWAL_RESULT, Needs::One(Scope::WithdrawalsRead), handler!(result))
        .reads(reads!(read_id))
        .responds::<api::Data<Vec<api::WithdrawalResult>>>(200)
        .refuses(NO_RESULT);

async fn result(mut ctx: HandlerContext) -> HandlerResult {
    let id = ctx.values(read_id);
    card_batches::result(ctx, id, |item, out| serde_json::to_writer(out, &body(item))).await
}

fn body(item: &WithdrawalItem) -> api::WithdrawalResult {
    let returned = item.state.returned();
    api::WithdrawalResult {
        id_card: item.card.uuid(),
        result_withdrawal: returned.is_some(),
        amount_withdrawn: returned.unwrap_or_default().get(),
        error_withdrawal: item.state.refusal().map(|refusal| refusal.text().to_owned()),
    }
}
