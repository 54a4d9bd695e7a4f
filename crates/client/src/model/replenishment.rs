//! Cards to top up.

use serde::Serialize;
use uuid::Uuid;

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
