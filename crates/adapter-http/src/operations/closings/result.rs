//! Shows what became of each card of a closing.

use kopeck_domain::closing::ClosingItem;

use super::read_id;
use crate::operations::card_batches::{self, NO_RESULT};
use crate::operations::prelude::*;

pub(super) static OPERATION: Operation =
    Operation::of(&operations::CLOSING_RESULT, Needs::One(Scope::ClosingsRead), handler!(result))
        .reads(reads!(read_id))
        .responds::<api::Data<Vec<api::ClosingResult>>>(200)
        .refuses(NO_RESULT);

async fn result(mut ctx: HandlerContext) -> HandlerResult {
    let id = ctx.values(read_id);
    card_batches::result(ctx, id, |item, out| serde_json::to_writer(out, &body(item))).await
}

fn body(item: &ClosingItem) -> api::ClosingResult {
    let returned = item.state.returned();
    api::ClosingResult {
        id_card: item.card.uuid(),
        result_closing: returned.is_some(),
        amount_returned: returned.unwrap_or_default().get(),
        error_closing: item.state.refusal().map(|refusal| refusal.text().to_owned()),
    }
}
