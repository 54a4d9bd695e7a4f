//! Replenishments.

use kopeck_domain::Kopecks;
use kopeck_domain::calendar::Zone;
use kopeck_domain::card_batch::ItemState;
use kopeck_domain::ids::{CardId, ReplenishmentId};
use kopeck_domain::replenishment::{Replenishment, ReplenishmentItem, TopUpRefusal};
use kopeck_domain::request::RequestState;

use super::TimestampText;
use crate::openapi::schema::api_type;

api_type! {
    /// A replenishment that was accepted.
    pub(crate) struct ReplenishmentAcceptedDto as "ReplenishmentAccepted" {
        /// Says so in words.
        message: &'static str,
        /// The identifier of the replenishment.
        replenishment_id: ReplenishmentId,
    }
}

impl From<Replenishment> for ReplenishmentAcceptedDto {
    fn from(request: Replenishment) -> Self {
        Self { message: super::ACCEPTED, replenishment_id: request.id }
    }
}

api_type! {
    /// Where a replenishment stands.
    pub(crate) struct ReplenishmentStateDto as "ReplenishmentState" {
        /// Its state.
        message: RequestState,
        /// The replenishment.
        replenishment_id: ReplenishmentId,
    }
}

impl From<Replenishment> for ReplenishmentStateDto {
    fn from(request: Replenishment) -> Self {
        Self { message: request.state.into(), replenishment_id: request.id }
    }
}

api_type! {
    /// What became of one card of a replenishment.
    pub(crate) struct ReplenishmentItemDto as "ReplenishmentResult" {
        /// The card.
        id_card: CardId,
        /// Whether it was topped up.
        result_replenishment: bool,
        /// The amount asked for, kopecks.
        amount_replenishment: Kopecks,
        /// Why it was not topped up: `not enough partner balance`, `over the amount by which the card can be topped up`,
        /// `the card is blocked by the bank`, `the card has expired`, `the card is not activated`, `refused by the bank`.
        error_replenishment: Option<&'static str>,
    }
}

impl From<&ReplenishmentItem> for ReplenishmentItemDto {
    fn from(item: &ReplenishmentItem) -> Self {
        Self {
            id_card: item.card,
            result_replenishment: item.state == ItemState::Done,
            amount_replenishment: item.amount(),
            error_replenishment: item.state.refusal().map(TopUpRefusal::text),
        }
    }
}

api_type! {
    /// A replenishment in a list.
    pub(crate) struct ReplenishmentListDto as "Replenishment" {
        /// The replenishment.
        replenishment_id: ReplenishmentId,
        /// Its state.
        status: RequestState,
        /// How many cards it is about.
        number_cards: u32,
        /// The sum asked for, kopecks.
        amount: Kopecks,
        /// When it was accepted.
        created_at: TimestampText,
        /// When its state changed last.
        status_updated_at: TimestampText,
    }
}

impl ReplenishmentListDto {
    pub(crate) fn new(request: &Replenishment, zone: Zone) -> Self {
        Self {
            replenishment_id: request.id,
            status: request.state.into(),
            number_cards: request.cards,
            amount: request.amount(),
            created_at: TimestampText::new(request.created_at, zone),
            status_updated_at: TimestampText::new(request.state_since, zone),
        }
    }
}
