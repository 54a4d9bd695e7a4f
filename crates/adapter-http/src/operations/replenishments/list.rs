//! Lists replenishments.

use kopeck_domain::Kopecks;
use kopeck_domain::calendar::Zone;
use kopeck_domain::ids::ReplenishmentId;
use kopeck_domain::replenishment::{Replenishment, TopUps};
use kopeck_domain::request::RequestState;
use kopeck_service::card_batches;

use crate::dto::{PageDto, TimestampText};
use crate::operations::prelude::*;
use crate::operations::requests::read_list;

pub(super) static OPERATION: Operation = Operation::of(&operations::REPLENISHMENT_LIST, handler!(list))
    .reads(reads!(read_list))
    .responds::<PageDto<'_, ReplenishmentListDto>>(200);

async fn list(ctx: HandlerContext) -> HandlerResult {
    let (page, status) = ctx.input.values(read_list)?;
    let listed = ctx
        .read(Ok(page), move |unit, _env, partner, page| {
            card_batches::list::<TopUps>(unit, partner, status, *page)
        })
        .await?;
    let zone = ctx.zone();
    let show = |request| ReplenishmentListDto::new(request, zone);
    ctx.respond_page(&listed, page, show)
}

api_type! {
    /// A replenishment in a list.
    struct ReplenishmentListDto as "Replenishment" {
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
    fn new(request: &Replenishment, zone: Zone) -> Self {
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
