//! Confirms the receipt of an order.

use kopeck_service::orders;

use super::{change_refused, read_order, state};
use crate::operations::prelude::*;

pub(super) static OPERATION: Operation =
    Operation::of(&operations::ORDER_CONFIRM, Needs::One(Scope::OrdersWrite), handler!(confirm))
        .reads(reads!(read_order))
        .shares_body("OrderIdentifier")
        .responds::<api::OrderState>(200)
        .refuses(&[Code::OrderNotFound, Code::OrderNotConfirmable]);

async fn confirm(mut ctx: HandlerContext) -> HandlerResult {
    let id = ctx.values(read_order);
    ctx.mutate(id, |unit, env, partner, id| {
        let order = orders::confirm(unit, env, partner, *id);
        order.map(state).map_err(|error| change_refused(error, Code::OrderNotConfirmable, "confirmed"))
    })
    .await
}
