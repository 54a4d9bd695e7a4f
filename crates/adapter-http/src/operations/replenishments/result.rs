//! Shows what became of each card of a replenishment; the interface has two paths for it.

use kopeck_domain::card_batch::ItemState;
use kopeck_domain::replenishment::ReplenishmentItem;

use super::{read_id, read_parameter};
use crate::operations::card_batches::{self, NO_RESULT};
use crate::operations::prelude::*;

pub(super) static BY_QUERY: Operation = Operation::of(
    &operations::REPLENISHMENT_RESULT,
    Needs::One(Scope::ReplenishmentsRead),
    handler!(by_query),
)
.reads(reads!(read_parameter))
.responds::<api::Data<Vec<api::ReplenishmentResult>>>(200)
.refuses(NO_RESULT);

pub(super) static BY_PATH: Operation = Operation::of(
    &operations::REPLENISHMENT_RESULT_BY_PATH,
    Needs::One(Scope::ReplenishmentsRead),
    handler!(by_path),
)
.reads(reads!(read_id))
.responds::<api::Data<Vec<api::ReplenishmentResult>>>(200)
.refuses(NO_RESULT);

async fn by_query(mut ctx: HandlerContext) -> HandlerResult {
    let id = ctx.values(read_parameter);
    card_batches::result(ctx, id, |item, out| serde_json::to_writer(out, &body(item))).await
}

async fn by_path(mut ctx: HandlerContext) -> HandlerResult {
    let id = ctx.values(read_id);
    card_batches::result(ctx, id, |item, out| serde_json::to_writer(out, &body(item))).await
}

fn body(item: &ReplenishmentItem) -> api::ReplenishmentResult {
    api::ReplenishmentResult {
        id_card: item.card.uuid(),
        result_replenishment: item.state == ItemState::Done,
        amount_replenishment: item.amount().get(),
        error_replenishment: item.state.refusal().map(|refusal| refusal.text().to_owned()),
    }
}
