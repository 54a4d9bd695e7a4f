//! Cards to close.

use kopeck_api::ClosingReason;
use serde::Serialize;
use uuid::Uuid;

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
