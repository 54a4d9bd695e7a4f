//! Shows the cards of an order.

use kopeck_domain::order::Order;
use kopeck_port_store::{OrderResultItem, UnitOfWork};
use kopeck_service::orders::{self, OrderResult, OrderResultError};
use serde::Serialize;
use uuid::Uuid;

use super::read_id;
use crate::list_stream::{self, ListSource, PAGE};
use crate::operations::prelude::*;

pub(super) static OPERATION: Operation =
    Operation::of(&operations::ORDER_RESULT, Needs::One(Scope::OrdersWrite), handler!(result))
        .reads(reads!(read_id))
        .responds::<api::OrderResult>(200)
        .refuses(&[Code::OrderNotFound, Code::OrderNotProcessed, Code::OrderCancelled, Code::OrderDeclined])
        .discloses();

async fn result(mut ctx: HandlerContext) -> HandlerResult {
    let id = ctx.values(read_id);
    let result = ctx.read(id, |unit, _env, partner, id| orders::result(unit, partner, *id, PAGE)).await?;
    let OrderResult { order, items } = &result;
    let id = order.id();
    let listing = ListSource {
        read: move |unit: &mut dyn UnitOfWork, partner, from| {
            orders::more_of_result(unit, partner, id, from, PAGE)
        },
        show: |row, out| serde_json::to_writer(out, &card(row)),
    };
    list_stream::response(&ctx, &Head::from(order), order.cards(), items, listing)
}

/// [`api::OrderResult`] up to its list.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Head {
    order_id: Uuid,
    type_card: api::CardType,
}

impl From<&Order> for Head {
    fn from(order: &Order) -> Self {
        Self { order_id: order.id().uuid(), type_card: order.card_type().as_str().into() }
    }
}

fn card(item: &OrderResultItem) -> api::OrderedCard {
    api::OrderedCard {
        type_card: item.card_type.as_str().into(),
        custom_id_card: item.number.to_string(),
        activation: item.activation.as_ref().map(|activation| api::Activation {
            activation_code: activation.code.clone().map(api::SecretText),
            validity_period: activation.valid_until,
            amount: activation.first_top_up.get(),
        }),
    }
}

impl From<OrderResultError> for ApiError {
    fn from(error: OrderResultError) -> Self {
        match error {
            OrderResultError::NotFound => Code::OrderNotFound.into(),
            OrderResultError::Cancelled => Code::OrderCancelled.into(),
            OrderResultError::Declined => Code::OrderDeclined.into(),
            OrderResultError::NotProcessed => Code::OrderNotProcessed.into(),
            OrderResultError::Store(error) => error.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use kopeck_domain::Kopecks;
    use kopeck_domain::card::CardType;
    use kopeck_domain::card_number::CardNumber;
    use kopeck_domain::ids::OrderId;
    use kopeck_domain::order::{OrderFields, OrderKind};
    use kopeck_port_store::Activation;
    use serde_json::json;
    use time::OffsetDateTime;
    use time::macros::date;

    use super::*;

    fn order(kind: OrderKind, card_type: CardType) -> Order {
        Order::from_stored(OrderFields {
            id: OrderId::new(Uuid::nil()),
            kind,
            card_type,
            cards: 1,
            cost: Kopecks::new(5_000),
            state: kopeck_domain::order::OrderState::Success,
            created_at: OffsetDateTime::UNIX_EPOCH,
            state_since: OffsetDateTime::UNIX_EPOCH,
            reference: None,
        })
    }

    fn result(item: &OrderResultItem) -> serde_json::Value {
        serde_json::to_value(card(item)).unwrap()
    }

    #[test]
    fn the_type_of_the_order_stands_above_its_cards() {
        let shown = serde_json::to_value(Head::from(&order(OrderKind::Plastic, CardType::Kkl)));
        assert_eq!(shown.unwrap(), json!({"orderId": Uuid::nil(), "typeCard": "KKL"}));
    }

    #[test]
    fn a_virtual_card_comes_with_what_activates_it() {
        let activation = Activation {
            code: Some("123456".to_owned()),
            valid_until: date!(2026 - 03 - 01),
            first_top_up: Kopecks::new(5_000),
        };
        let number = CardNumber::parse("1234567890").unwrap();
        let item =
            OrderResultItem { ordinal: 0, card_type: CardType::Mlz, number, activation: Some(activation) };
        assert_eq!(
            result(&item),
            json!({
                "typeCard": "MLZ", "customIdCard": "1234567890", "activationCode": "123456",
                "validityPeriod": "01.03.2026", "amount": 5_000,
            })
        );
    }

    #[test]
    fn a_plastic_card_has_its_number_alone() {
        let number = CardNumber::parse("4006381333931").unwrap();
        let item = OrderResultItem { ordinal: 0, card_type: CardType::Kkl, number, activation: None };
        assert_eq!(result(&item), json!({"typeCard": "KKL", "customIdCard": "4006381333931"}));
    }
}
