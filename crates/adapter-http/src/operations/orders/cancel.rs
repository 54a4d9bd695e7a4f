//! Cancels an order that is not being processed.

use kopeck_domain::ids::OrderId;
use kopeck_service::orders;

use super::{OrderStateDto, change_refused};
use crate::input::field_types::id;
use crate::operations::prelude::*;

pub(super) static OPERATION: Operation = Operation::of(&operations::ORDER_CANCEL, handler!(cancel))
    .reads(reads!(read))
    .responds::<OrderStateDto>(200)
    .refuses(&[Code::OrderNotFound, Code::OrderNotCancellable]);

fn read(r: &mut Reader<'_>) -> Option<OrderId> {
    r.body().required("orderId", id::<OrderId>().about("An order in `NEW`."))
}

async fn cancel(ctx: HandlerContext) -> HandlerResult {
    let id = ctx.input.values(read);
    ctx.mutate(id, |unit, env, partner, id| {
        let order = orders::cancel(unit, env, partner, *id);
        order
            .map(OrderStateDto::from)
            .map_err(|error| change_refused(error, Code::OrderNotCancellable, "cancelled"))
    })
    .await
}
