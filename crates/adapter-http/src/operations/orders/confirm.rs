//! Confirms the receipt of an order.

use kopeck_domain::ids::OrderId;
use kopeck_service::orders;

use super::{OrderStateDto, change_refused};
use crate::input::field_types::id;
use crate::operations::prelude::*;

pub(super) static OPERATION: Operation = Operation::of(&operations::ORDER_CONFIRM, handler!(confirm))
    .reads(reads!(read))
    .responds::<OrderStateDto>(200)
    .refuses(&[Code::OrderNotFound, Code::OrderNotConfirmable]);

fn read(r: &mut Reader<'_>) -> Option<OrderId> {
    r.body().required("orderId", id::<OrderId>().about("An order in `SUCCESS`."))
}

async fn confirm(ctx: HandlerContext) -> HandlerResult {
    let id = ctx.input.values(read);
    ctx.mutate(id, |unit, env, partner, id| {
        let order = orders::confirm(unit, env, partner, *id);
        order
            .map(OrderStateDto::from)
            .map_err(|error| change_refused(error, Code::OrderNotConfirmable, "confirmed"))
    })
    .await
}
