//! Top-ups of cards.

use serde::{Deserialize, Serialize};
use time::PrimitiveDateTime;
use uuid::Uuid;

use crate::model::request::RequestState;
use crate::model::wire;

/// A card to top up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TopUp {
    /// The card, a main one.
    pub id_card: Uuid,
    /// By how much, in kopecks.
    pub amount_replenishment: i64,
}

impl TopUp {
    /// Tops up `id_card` by `amount` kopecks.
    #[must_use]
    pub const fn new(id_card: Uuid, amount: i64) -> Self {
        Self { id_card, amount_replenishment: amount }
    }
}

/// The response to an accepted top-up request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReplenishmentCreated {
    /// A text that says that the request awaits execution.
    pub message: String,
    /// The identifier to ask for state and result by.
    pub replenishment_id: Uuid,
}

/// What became of one card of a top-up request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReplenishmentResult {
    /// The card.
    pub id_card: Uuid,
    /// Whether it was topped up.
    pub result_replenishment: bool,
    /// By how much; of a refused card, the amount asked for. In kopecks.
    pub amount_replenishment: i64,
    /// Why it was not topped up.
    #[serde(default)]
    pub error_replenishment: Option<String>,
}

/// A top-up request in the list of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Replenishment {
    /// The identifier.
    pub replenishment_id: Uuid,
    /// The state.
    pub status: RequestState,
    /// How many cards it is for.
    pub number_cards: u64,
    /// The sum asked for, in kopecks.
    pub amount: i64,
    /// When it was accepted, in the service's time zone.
    #[serde(with = "wire::text")]
    pub created_at: PrimitiveDateTime,
    /// When its state changed last.
    #[serde(alias = "statusUpdateAt", with = "wire::text")]
    pub status_updated_at: PrimitiveDateTime,
}
