//! Shows the state of an order.

use kopeck_service::orders;

use super::{read_id, state};
use crate::operations::prelude::*;

pub(super) static OPERATION: Operation =
    Operation::of(&operations::ORDER_STATUS, Needs::One(Scope::OrdersRead), handler!(status))
        .reads(reads!(read_id))
        .responds::<api::OrderState>(200)
        .refuses(&[Code::OrderNotFound]);

async fn status(mut ctx: HandlerContext) -> HandlerResult {
    let id = ctx.values(read_id);
    let order = ctx.read(id, |unit, _env, partner, id| orders::status(unit, partner, *id)).await?;
    ctx.respond(&state(order))
}
