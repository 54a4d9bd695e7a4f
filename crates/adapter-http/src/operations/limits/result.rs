//! Shows what became of each card of a limit change.

use kopeck_domain::card_batch::ItemState;
use kopeck_domain::ids::LimitChangeId;
use kopeck_domain::limit_change::LimitChangeItem;

use super::ID;
use crate::operations::card_batches::{self, NO_RESULT};
use crate::operations::prelude::*;

pub(super) static OPERATION: Operation =
    Operation::of(&operations::LIMITS_RESULT, Needs::One(Scope::LimitsRead), handler!(result))
        .reads(reads!(read))
        .responds::<api::Data<Vec<api::LimitResult>>>(200)
        .refuses(NO_RESULT);

fn read(r: &mut Reader<'_>) -> Option<LimitChangeId> {
    r.id(ID)
}

async fn result(mut ctx: HandlerContext) -> HandlerResult {
    let id = ctx.values(read);
    card_batches::result(ctx, id, |item, out| serde_json::to_writer(out, &body(item))).await
}

fn body(item: &LimitChangeItem) -> api::LimitResult {
    api::LimitResult {
        id_card: item.card.uuid(),
        result_limit: item.state == ItemState::Done,
        error_limit: item.state.refusal().map(|refusal| refusal.text().to_owned()),
    }
}
