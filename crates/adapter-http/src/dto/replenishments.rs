//! Replenishments.

use kopeck_domain::Kopecks;
use kopeck_domain::calendar::Zone;
use kopeck_domain::ids::{CardId, ReplenishmentId};
use kopeck_domain::replenishment::{ItemState, Replenishment, ReplenishmentItem, TopUpRefusal};
use kopeck_domain::request::RequestState;
use serde::Serialize;

/// A request that was accepted.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AcceptedDto {
    message: &'static str,
    replenishment_id: ReplenishmentId,
}

impl From<Replenishment> for AcceptedDto {
    fn from(request: Replenishment) -> Self {
        Self { message: super::ACCEPTED, replenishment_id: request.id }
    }
}

/// Where a request stands.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ReplenishmentStateDto {
    message: RequestState,
    replenishment_id: ReplenishmentId,
}

impl From<Replenishment> for ReplenishmentStateDto {
    fn from(request: Replenishment) -> Self {
        Self { message: request.state, replenishment_id: request.id }
    }
}

/// What became of one card of a request.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ReplenishmentItemDto {
    id_card: CardId,
    result_replenishment: bool,
    amount_replenishment: Kopecks,
    error_replenishment: Option<&'static str>,
}

impl From<&ReplenishmentItem> for ReplenishmentItemDto {
    fn from(item: &ReplenishmentItem) -> Self {
        let (topped_up, refusal) = match item.state {
            ItemState::ToppedUp => (true, None),
            ItemState::Refused(refusal) => (false, Some(refusal)),
            // Not seen from here: a result is shown once every card of it is decided.
            ItemState::Open => (false, None),
        };
        Self {
            id_card: item.card,
            result_replenishment: topped_up,
            amount_replenishment: item.amount,
            error_replenishment: refusal.map(TopUpRefusal::text),
        }
    }
}

/// A request in a list.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ReplenishmentListDto {
    replenishment_id: ReplenishmentId,
    status: RequestState,
    number_cards: u32,
    amount: Kopecks,
    created_at: String,
    status_updated_at: String,
}

impl ReplenishmentListDto {
    pub(crate) fn new(request: &Replenishment, zone: Zone) -> Self {
        Self {
            replenishment_id: request.id,
            status: request.state,
            number_cards: request.cards,
            amount: request.amount,
            created_at: zone.moment_text(request.created_at),
            status_updated_at: zone.moment_text(request.state_since),
        }
    }
}
