//! Cancels a limit change that is not being processed.

use kopeck_domain::ids::LimitChangeId;
use kopeck_domain::limit_change::LimitChanges;
use kopeck_service::card_batches;

use super::{BODY, ID, state};
use crate::input::field_types::id;
use crate::operations::card_batches::NOT_CANCELLABLE;
use crate::operations::prelude::*;

pub(super) static OPERATION: Operation =
    Operation::of(&operations::LIMITS_CANCEL, Needs::One(Scope::LimitsWrite), handler!(cancel))
        .reads(reads!(read))
        .shares_body(BODY)
        .responds::<api::LimitChangeState>(200)
        .refuses(NOT_CANCELLABLE);

fn read(r: &mut Reader<'_>) -> Option<LimitChangeId> {
    r.body().required(ID, id::<LimitChangeId>())
}

async fn cancel(mut ctx: HandlerContext) -> HandlerResult {
    let id = ctx.values(read);
    ctx.mutate(id, |unit, env, partner, id| {
        card_batches::cancel::<LimitChanges>(unit, env, partner, *id).map(state)
    })
    .await
}
