//! Items of card batches.

use kopeck_api::ClosingReason;
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

/// A card to close.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CardClosing {
    /// The card.
    pub id_card: Uuid,
    /// Why; a lost or stolen one is blocked at once.
    pub reason: ClosingReason,
}

impl CardClosing {
    /// Closes `id_card` for this reason.
    #[must_use]
    pub const fn new(id_card: Uuid, reason: ClosingReason) -> Self {
        Self { id_card, reason }
    }
}

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
