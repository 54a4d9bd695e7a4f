//! Placing orders of both kinds.

use kopeck_domain::card::CardType;
use kopeck_domain::order::{MAX_CARDS, MAX_ITEMS, OrderKind, OrderLine};
use kopeck_domain::request::RequestReference;
use kopeck_service::orders::{self, PlaceOrderError};

use crate::input::reader::{Fields, Reader};
use crate::json::Json;
use crate::operations::prelude::*;
use crate::operations::requests::read_reference;
use crate::schema::{Components, HasSchema as _};

/// Reads an item, and adds its cards to the count.
pub(super) type ReadLine = fn(&mut Fields<'_>, &mut u32) -> Option<OrderLine>;

/// The items of an order, and its reference.
pub(super) fn read_lines(
    r: &mut Reader<'_>,
    line: ReadLine,
) -> Option<(Vec<OrderLine>, Option<RequestReference>)> {
    let (mut body, mut cards) = (r.body(), 0);
    let lines = body.items("data", 1..=MAX_ITEMS, |item| line(item, &mut cards));
    // The order has this rule too; here its fault is reported together with those of the items.
    if cards > MAX_CARDS {
        body.fault("data", format!("must order at most {MAX_CARDS} cards in all"));
    }
    let reference = read_reference(&mut body);
    Some((lines?, reference))
}

pub(super) async fn place(mut ctx: HandlerContext, kind: OrderKind, line: ReadLine) -> HandlerResult {
    let values = ctx.values_of_list(move |r| read_lines(r, line)).await?;
    ctx.mutate(values, move |unit, env, partner, (lines, reference)| {
        orders::place(unit, env, partner, kind, lines, reference.as_ref())
            .map(|order| api::OrderCreated { order_id: order.id().uuid() })
    })
    .await
}

pub(super) fn one_of(types: &[CardType], components: &mut Components) -> Json {
    CardType::schema(components).with("enum", Json::list(types.iter().map(|kind| kind.as_str())))
}

impl From<PlaceOrderError> for ApiError {
    fn from(error: PlaceOrderError) -> Self {
        match error {
            PlaceOrderError::Invalid(invalid) => Self::field("data", invalid.detail()),
            PlaceOrderError::InsufficientBalance => Code::InsufficientBalance.into(),
            PlaceOrderError::Store(error) => error.into(),
        }
    }
}
