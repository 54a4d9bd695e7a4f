//! Lists orders.

use kopeck_domain::calendar::Zone;
use kopeck_domain::order::Order;
use kopeck_domain::request::RequestState;
use kopeck_service::orders;

use crate::dto::local;
use crate::operations::cards::ANY_ZONE;
use crate::operations::prelude::*;
use crate::operations::requests::{read_list, shown};

pub(super) static OPERATION: Operation =
    Operation::of(&operations::ORDER_LIST, Needs::One(Scope::OrdersRead), handler!(list))
        .reads(reads!(read_list, ANY_ZONE))
        .responds::<api::Page<api::Order>>(200);

async fn list(mut ctx: HandlerContext) -> HandlerResult {
    let zone = ctx.zone();
    let (page, filter) = ctx.values(|r| read_list(r, zone))?;
    let listed = ctx
        .read(Ok(page), move |unit, _env, partner, page| orders::list(unit, partner, &filter, *page))
        .await?;
    ctx.respond_page(&listed, page, |order| body(order, zone))
}

fn body(order: &Order, zone: Zone) -> api::Order {
    api::Order {
        order_id: order.id().uuid(),
        state: RequestState::from(order.state()).as_str().into(),
        kind: order.kind().as_str().into(),
        type_card: order.card_type().as_str().into(),
        number_cards: order.cards().into(),
        amount: order.cost().get(),
        created_at: local(order.created_at(), zone),
        status_updated_at: local(order.state_since(), zone),
        reference: shown(order.reference()),
    }
}

#[cfg(test)]
mod tests {
    use kopeck_domain::Kopecks;
    use kopeck_domain::card::CardType;
    use kopeck_domain::ids::OrderId;
    use kopeck_domain::order::{OrderFields, OrderKind, OrderState};
    use serde_json::json;
    use time::OffsetDateTime;
    use uuid::Uuid;

    use super::*;

    #[test]
    fn a_listed_order_has_times_in_the_zone() {
        let zone = Zone::parse("+03:00").unwrap();
        let order = Order::from_stored(OrderFields {
            id: OrderId::new(Uuid::nil()),
            kind: OrderKind::Virtual,
            card_type: CardType::Mlz,
            cards: 1,
            cost: Kopecks::new(5_000),
            state: OrderState::Success,
            created_at: OffsetDateTime::UNIX_EPOCH,
            state_since: OffsetDateTime::UNIX_EPOCH,
            reference: None,
        });
        let shown = body(&order, zone);
        assert_eq!(
            serde_json::to_value(shown).unwrap(),
            json!({"orderId": Uuid::nil(), "status": "SUCCESS", "kind": "VIRTUAL", "typeCard": "MLZ",
                "numberCards": 1, "amount": 5_000, "createdAt": "01.01.1970 03:00",
                "statusUpdatedAt": "01.01.1970 03:00", "reference": null})
        );
    }
}
