//! Orders of cards.

use time::PrimitiveDateTime;
use uuid::Uuid;

use crate::card::CardType;
use crate::open_enum::open_enum;
use crate::request::RequestState;
use crate::shape::body;
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
