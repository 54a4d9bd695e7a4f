//! Shows the state of a limit change.

use kopeck_domain::ids::LimitChangeId;
use kopeck_domain::limit_change::LimitChanges;
use kopeck_service::card_batches;

use super::{BODY, ID, state};
use crate::input::field_types::id;
use crate::operations::prelude::*;

pub(super) static OPERATION: Operation =
    Operation::of(&operations::LIMITS_STATUS, Needs::One(Scope::LimitsRead), handler!(status))
        .reads(reads!(read))
        .shares_body(BODY)
        .responds::<api::LimitChangeState>(200)
        .refuses(&[Code::RequestNotFound]);

fn read(r: &mut Reader<'_>) -> Option<LimitChangeId> {
    r.needed(ID, id::<LimitChangeId>())
}

async fn status(mut ctx: HandlerContext) -> HandlerResult {
    let id = ctx.values(read);
    let request =
        ctx.read(id, |unit, _env, partner, id| card_batches::get::<LimitChanges>(unit, partner, *id)).await?;
    ctx.respond(&state(request))
}
