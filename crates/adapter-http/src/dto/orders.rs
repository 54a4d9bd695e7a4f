//! Orders.

use kopeck_domain::Kopecks;
use kopeck_domain::calendar::Zone;
use kopeck_domain::card::CardType;
use kopeck_domain::ids::OrderId;
use kopeck_domain::order::{Order, OrderKind};
use kopeck_domain::request::RequestState;
use kopeck_port_store::OrderResultItem;

use super::{DateText, TimestampText};
use crate::openapi::schema::{Following, api_type};

api_type! {
    /// An order that was accepted.
    pub(crate) struct OrderIdDto as "OrderAccepted" {
        /// The identifier of the order.
        order_id: OrderId,
    }
}

impl From<Order> for OrderIdDto {
    fn from(order: Order) -> Self {
        Self { order_id: order.id }
    }
}

api_type! {
    /// Where an order stands.
    pub(crate) struct OrderStateDto as "OrderState" {
        /// Its state.
        message: RequestState,
        /// The order.
        order_id: OrderId,
    }
}

impl From<Order> for OrderStateDto {
    fn from(order: Order) -> Self {
        Self { message: order.state.into(), order_id: order.id }
    }
}

api_type! {
    /// The cards of an order.
    pub(crate) struct OrderResultDto as "OrderResult" {
        /// The order.
        order_id: OrderId,
        /// The type of the first item.
        type_card: CardType,
        /// Its cards.
        #[serde(skip_serializing_if = "Following::comes_later")]
        data: Following<OrderResultItemDto<'static>>,
    }
}

api_type! {
    /// One card of an order; a plastic one has its type and number alone.
    pub(crate) struct OrderResultItemDto<'a> as "OrderedCard" {
        /// The type of this card.
        type_card: CardType,
        /// The bank's number of the card: 13 digits (EAN) for plastic, 10 for virtual; you link it by this number.
        custom_id_card: String,
        /// What only virtual cards have.
        #[serde(flatten)]
        activation: Option<ActivationDto<'a>>,
    }
}

api_type! {
    /// What only virtual cards have.
    struct ActivationDto<'a> as "Activation" {
        /// Virtual cards: the code that activates the card; `null` once the card is activated or the code has expired. Keep
        /// it secret.
        activation_code: Option<&'a str>,
        /// Virtual cards: the last day of the code.
        validity_period: DateText,
        /// Virtual cards: the first top-up, kopecks.
        amount: Kopecks,
    }
}

impl From<&Order> for OrderResultDto {
    fn from(order: &Order) -> Self {
        Self { order_id: order.id, type_card: order.card_type, data: Following::default() }
    }
}

impl<'a> From<&'a OrderResultItem> for OrderResultItemDto<'a> {
    fn from(item: &'a OrderResultItem) -> Self {
        Self {
            type_card: item.card_type,
            custom_id_card: item.number.to_string(),
            activation: item.activation.as_ref().map(|activation| ActivationDto {
                activation_code: activation.code.as_deref(),
                validity_period: DateText::new(activation.valid_until),
                amount: activation.first_top_up,
            }),
        }
    }
}

api_type! {
    /// An order in a list.
    pub(crate) struct OrderListDto as "Order" {
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
    pub(crate) fn new(order: &Order, zone: Zone) -> Self {
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
    use kopeck_domain::card_number::CardNumber;
    use kopeck_port_store::Activation;
    use serde_json::json;
    use time::OffsetDateTime;
    use time::macros::date;
    use uuid::Uuid;

    use super::*;

    fn order(kind: OrderKind, card_type: CardType) -> Order {
        Order {
            id: OrderId::new(Uuid::nil()),
            kind,
            card_type,
            cards: 1,
            cost: Kopecks::new(5_000),
            state: kopeck_domain::order::OrderState::Success,
            created_at: OffsetDateTime::UNIX_EPOCH,
            state_since: OffsetDateTime::UNIX_EPOCH,
        }
    }

    fn result(item: &OrderResultItem) -> serde_json::Value {
        serde_json::to_value(OrderResultItemDto::from(item)).unwrap()
    }

    #[test]
    fn the_type_of_the_order_stands_above_its_cards() {
        let shown = serde_json::to_value(OrderResultDto::from(&order(OrderKind::Plastic, CardType::Kkl)));
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

    #[test]
    fn a_listed_order_has_times_in_the_zone() {
        let zone = Zone::parse("+03:00").unwrap();
        let shown = OrderListDto::new(&order(OrderKind::Virtual, CardType::Mlz), zone);
        assert_eq!(
            serde_json::to_value(shown).unwrap(),
            json!({"orderId": Uuid::nil(), "status": "SUCCESS", "kind": "VIRTUAL", "typeCard": "MLZ",
                "numberCards": 1, "amount": 5_000, "createdAt": "01.01.1970 03:00",
                "statusUpdatedAt": "01.01.1970 03:00"})
        );
    }
}
