//! Orders of cards.

use time::{Date, PrimitiveDateTime};
use uuid::Uuid;

use crate::card::CardType;
use crate::open_enum::open_enum;
use crate::request::RequestState;
use crate::shape::{Flat, OrAbsent, Reference, SecretText, body};
use crate::wire;

open_enum! {
    /// The kind of cards.
    pub enum OrderKind as "OrderKind",
        "PLASTIC: cards that a courier delivers. VIRTUAL: cards without a physical form."
    {
        /// Plastic cards.
        Plastic = "PLASTIC",
        /// Virtual cards.
        Virtual = "VIRTUAL",
    }
}

body! {
    /// An order that was accepted.
    #[derive(Copy)]
    pub struct OrderCreated as "OrderAccepted" {
        /// The identifier of the order.
        order_id: Uuid,
    }
}

body! {
    /// An order in a list.
    pub struct Order as "Order" {
        /// The order.
        order_id: Uuid,
        /// Its state.
        state: RequestState = "status",
        /// The kind of cards.
        kind: OrderKind,
        /// The type of the first item.
        type_card: CardType,
        /// How many cards it has.
        number_cards: u64,
        /// The whole cost, kopecks; 0 for plastic.
        amount: i64,
        /// When it was accepted.
        #[serde(with = "wire::text")]
        created_at: PrimitiveDateTime,
        /// When its state changed last.
        #[serde(alias = "statusUpdateAt", with = "wire::text")]
        status_updated_at: PrimitiveDateTime,
        /// Your own name for it; `null` if you gave none.
        #[serde(default)]
        reference: Option<String>,
    }
}

body! {
    /// The state of an order.
    pub struct OrderState as "OrderState" {
        /// Its state.
        message: RequestState,
        /// The order.
        order_id: Uuid,
        /// Your own name for it; absent if you gave none.
        #[serde(skip_serializing_if = "Option::is_none")]
        reference: Option<String> as OrAbsent<Reference>,
    }
}

body! {
    /// The cards of an order.
    pub struct OrderResult as "OrderResult" {
        /// The order.
        order_id: Uuid,
        /// The type of the first item.
        type_card: CardType,
        /// Its cards.
        data: Vec<OrderedCard>,
    }
}

body! {
    /// One card of an order; a plastic one has its type and number alone.
    pub struct OrderedCard as "OrderedCard" {
        /// The type of this card.
        type_card: CardType,
        /// The bank's number of the card: 13 digits (EAN) for plastic, 10 for virtual; you link it by this number.
        custom_id_card: String,
        /// What only virtual cards have.
        #[serde(flatten)]
        activation: Option<Activation> as Flat<Activation>,
    }
}

body! {
    /// What only virtual cards have.
    pub struct Activation as "Activation" {
        /// Virtual cards: the code that activates the card; `null` once the card is activated or the code has expired. Keep
        /// it secret.
        activation_code: Option<SecretText> as OrAbsent<Option<SecretText>>,
        /// Virtual cards: the last day of the code.
        #[serde(with = "wire::text")]
        validity_period: Date as OrAbsent<Date>,
        /// Virtual cards: the first top-up, kopecks.
        amount: i64 as OrAbsent<i64>,
    }
}
