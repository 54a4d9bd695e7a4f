//! Shows what became of each card of a replenishment; the interface has two paths for it.

use kopeck_domain::Kopecks;
use kopeck_domain::card_batch::ItemState;
use kopeck_domain::ids::CardId;
use kopeck_domain::replenishment::{ReplenishmentItem, TopUpRefusal, TopUps};

use super::{read_id, read_parameter};
use crate::dto::Data;
use crate::operations::card_batches::{self, NO_RESULT};
use crate::operations::prelude::*;

pub(super) static BY_QUERY: Operation = Operation::of(&operations::REPLENISHMENT_RESULT, handler!(by_query))
    .reads(reads!(read_parameter))
    .responds::<Data<Vec<ReplenishmentItemDto>>>(200)
    .refuses(NO_RESULT);

pub(super) static BY_PATH: Operation =
    Operation::of(&operations::REPLENISHMENT_RESULT_BY_PATH, handler!(by_path))
        .reads(reads!(read_id))
        .responds::<Data<Vec<ReplenishmentItemDto>>>(200)
        .refuses(NO_RESULT);

async fn by_query(ctx: HandlerContext) -> HandlerResult {
    let id = ctx.input.values(read_parameter);
    card_batches::result::<TopUps, ReplenishmentItemDto>(ctx, id).await
}

async fn by_path(ctx: HandlerContext) -> HandlerResult {
    let id = ctx.input.values(read_id);
    card_batches::result::<TopUps, ReplenishmentItemDto>(ctx, id).await
}

api_type! {
    /// What became of one card of a replenishment.
    struct ReplenishmentItemDto as "ReplenishmentResult" {
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
