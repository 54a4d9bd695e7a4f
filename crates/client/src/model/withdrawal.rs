//! Cards to take money from.

use serde::Serialize;
use uuid::Uuid;

/// A card to take money from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CardWithdrawal {
    /// The card.
    pub id_card: Uuid,
    /// How much, in kopecks; `None` for all that is on it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub amount: Option<i64>,
}

impl CardWithdrawal {
    /// Takes `amount` kopecks from `id_card`.
    #[must_use]
    pub const fn new(id_card: Uuid, amount: i64) -> Self {
        Self { id_card, amount: Some(amount) }
    }

    /// Takes all that is on `id_card`.
    #[must_use]
    pub const fn all(id_card: Uuid) -> Self {
        Self { id_card, amount: None }
    }
}
