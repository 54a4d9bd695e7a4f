//! Shows what became of each card of a replenishment; the interface has two paths for it.

use kopeck_domain::card_batch::ItemState;
use kopeck_domain::ids::{CardId, ReplenishmentId};
use kopeck_domain::replenishment::{ReplenishmentItem, TopUpRefusal, TopUps};
use kopeck_domain::{Faults, Kopecks};
use kopeck_port_store::UnitOfWork;
use kopeck_service::card_batches;

use super::{read_id, read_parameter};
use crate::dto::Data;
use crate::list_stream::{self, ListSource, NoFields, PAGE};
use crate::operations::card_batches::NO_RESULT;
use crate::operations::prelude::*;

pub(super) static BY_QUERY: Operation =
    Operation::get("replenishment.result", "/v1/replenishment/result", handler!(by_query))
        .reads(reads!(read_parameter))
        .responds::<Data<Vec<ReplenishmentItemDto>>>(200)
        .refuses(NO_RESULT);

pub(super) static BY_PATH: Operation = Operation::get(
    "replenishment.result_by_path",
    "/v1/replenishment/{replenishmentId}/result",
    handler!(by_path),
)
.reads(reads!(read_id))
.responds::<Data<Vec<ReplenishmentItemDto>>>(200)
.refuses(NO_RESULT);

async fn by_query(ctx: HandlerContext) -> HandlerResult {
    let id = ctx.input.values(read_parameter);
    result(ctx, id).await
}

async fn by_path(ctx: HandlerContext) -> HandlerResult {
    let id = ctx.input.values(read_id);
    result(ctx, id).await
}

async fn result(ctx: HandlerContext, id: Result<ReplenishmentId, Faults>) -> HandlerResult {
    let result =
        ctx.read(id, |unit, _env, partner, id| card_batches::result::<TopUps>(unit, partner, *id, PAGE));
    let (request, items) = result.await?;
    let id = request.id;
    let listing = ListSource {
        read: move |unit: &mut dyn UnitOfWork, partner, from| {
            card_batches::more_of_result::<TopUps>(unit, partner, id, from, PAGE)
        },
        show: |row, out| serde_json::to_writer(out, &ReplenishmentItemDto::from(row)),
    };
    list_stream::response(&ctx, &NoFields {}, request.cards, &items, listing)
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
