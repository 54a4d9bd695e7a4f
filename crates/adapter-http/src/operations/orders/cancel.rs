//! Cancels an order that is not being processed.

use kopeck_service::orders;

use super::{change_refused, read_order, state};
use crate::operations::prelude::*;

pub(super) static OPERATION: Operation =
    Operation::of(&operations::ORDER_CANCEL, Needs::One(Scope::OrdersWrite), handler!(cancel))
        .reads(reads!(read_order))
        .shares_body("OrderIdentifier")
        .responds::<api::OrderState>(200)
        .refuses(&[Code::OrderNotFound, Code::OrderNotCancellable]);

async fn cancel(mut ctx: HandlerContext) -> HandlerResult {
    let id = ctx.values(read_order);
    ctx.mutate(id, |unit, env, partner, id| {
        let order = orders::cancel(unit, env, partner, *id);
        order.map(state).map_err(|error| change_refused(error, Code::OrderNotCancellable, "cancelled"))
    })
    .await
}
