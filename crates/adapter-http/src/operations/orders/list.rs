//! Lists orders.

use kopeck_domain::Kopecks;
use kopeck_domain::calendar::Zone;
use kopeck_domain::card::CardType;
use kopeck_domain::ids::OrderId;
use kopeck_domain::order::{Order, OrderKind};
use kopeck_domain::request::RequestState;
use kopeck_service::orders;

use crate::dto::{PageDto, TimestampText};
use crate::operations::prelude::*;
use crate::operations::requests::read_list;

pub(super) static OPERATION: Operation = Operation::of(&operations::ORDER_LIST, handler!(list))
    .reads(reads!(read_list))
    .responds::<PageDto<'_, OrderListDto>>(200);

async fn list(ctx: HandlerContext) -> HandlerResult {
    let (page, status) = ctx.input.values(read_list)?;
    let listed = ctx
        .read(Ok(page), move |unit, _env, partner, page| orders::list(unit, partner, status, *page))
        .await?;
    let zone = ctx.zone();
    let show = |order| OrderListDto::new(order, zone);
    ctx.respond_page(&listed, page, show)
}

api_type! {
    /// An order in a list.
    struct OrderListDto as "Order" {
        /// The order.
        order_id: OrderId,
        /// Its state.
        status: RequestState,
        /// What was ordered.
        kind: OrderKind,
        /// The type of the first item.
        type_card: CardType,
        /// How many cards it has.
        number_cards: u32,
        /// The whole cost, kopecks; 0 for plastic.
        amount: Kopecks,
        /// When it was accepted.
        created_at: TimestampText,
        /// When its state changed last.
        status_updated_at: TimestampText,
    }
}

impl OrderListDto {
    fn new(order: &Order, zone: Zone) -> Self {
        Self {
            order_id: order.id,
            status: order.state.into(),
            kind: order.kind,
            type_card: order.card_type,
            number_cards: order.cards,
            amount: order.cost,
            created_at: TimestampText::new(order.created_at, zone),
            status_updated_at: TimestampText::new(order.state_since, zone),
        }
    }
}

#[cfg(test)]
mod tests {
    use kopeck_domain::order::OrderState;
    use kopeck_domain::order::StoredOrder;
    use serde_json::json;
    use time::OffsetDateTime;
    use uuid::Uuid;

    use super::*;

    #[test]
    fn a_listed_order_has_times_in_the_zone() {
        let zone = Zone::parse("+03:00").unwrap();
        let order = Order::from_stored(StoredOrder {
            id: OrderId::new(Uuid::nil()),
            kind: OrderKind::Virtual,
            card_type: CardType::Mlz,
            cards: 1,
            cost: Kopecks::new(5_000),
            state: OrderState::Success,
            created_at: OffsetDateTime::UNIX_EPOCH,
            state_since: OffsetDateTime::UNIX_EPOCH,
        });
        let shown = OrderListDto::new(&order, zone);
        assert_eq!(
            serde_json::to_value(shown).unwrap(),
            json!({"orderId": Uuid::nil(), "status": "SUCCESS", "kind": "VIRTUAL", "typeCard": "MLZ",
                "numberCards": 1, "amount": 5_000, "createdAt": "01.01.1970 03:00",
                "statusUpdatedAt": "01.01.1970 03:00"})
        );
    }
}
