//! Top-ups of cards.

use time::PrimitiveDateTime;
use uuid::Uuid;

use crate::request::RequestState;
use crate::shape::{OrAbsent, Reference, body};
use crate::wire;

body! {
    /// A replenishment that was accepted.
    pub struct ReplenishmentCreated as "ReplenishmentAccepted" {
        /// A message for people.
        message: String,
        /// The identifier of the replenishment.
        replenishment_id: Uuid,
    }
}

body! {
    /// The outcome of one card of a replenishment.
    pub struct ReplenishmentResult as "ReplenishmentResult" {
        /// The card.
        id_card: Uuid,
        /// Whether it was topped up.
        result_replenishment: bool,
        /// The requested amount, kopecks.
        amount_replenishment: i64,
        /// Why it was not topped up: `not enough partner balance`, `over the amount by which the card can
        /// be topped up`,
        /// `the card is blocked by the bank`, `the card has expired`, `the card is not activated`, `refused
        /// by the bank`.
        error_replenishment: Option<String>,
    }
}

body! {
    /// A replenishment in a list.
    pub struct Replenishment as "Replenishment" {
        /// The replenishment.
        replenishment_id: Uuid,
        /// Its state.
        state: RequestState = "status",
        /// How many cards it is about.
        number_cards: u64,
        /// The requested total, kopecks.
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
    /// The state of a replenishment.
    pub struct ReplenishmentState as "ReplenishmentState" {
        /// Its state.
        message: RequestState,
        /// The replenishment.
        replenishment_id: Uuid,
        /// Your own name for it; absent if you gave none.
        #[serde(skip_serializing_if = "Option::is_none")]
        reference: Option<String> as OrAbsent<Reference>,
    }
}
