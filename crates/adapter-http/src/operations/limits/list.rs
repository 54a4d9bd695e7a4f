//! Lists limit changes.

use kopeck_domain::calendar::Zone;
use kopeck_domain::ids::LimitChangeId;
use kopeck_domain::limit_change::{LimitChange, LimitChanges};
use kopeck_domain::request::RequestState;
use kopeck_service::card_batches;

use crate::dto::{PageDto, TimestampText};
use crate::operations::prelude::*;
use crate::operations::requests::read_list;

pub(super) static OPERATION: Operation = Operation::of(&operations::LIMITS_LIST, handler!(list))
    .reads(reads!(read_list))
    .responds::<PageDto<'_, LimitChangeListDto>>(200);

async fn list(ctx: HandlerContext) -> HandlerResult {
    let (page, status) = ctx.input.values(read_list)?;
    let listed = ctx
        .read(Ok(page), move |unit, _env, partner, page| {
            card_batches::list::<LimitChanges>(unit, partner, status, *page)
        })
        .await?;
    let zone = ctx.zone();
    let show = |request| LimitChangeListDto::new(request, zone);
    ctx.respond_page(&listed, page, show)
}

api_type! {
    /// A limit change in a list.
    struct LimitChangeListDto as "LimitChange" {
        /// The change.
        set_limits_cards_id: LimitChangeId,
        /// Its state.
        status: RequestState,
        /// How many cards it is about.
        number_cards: u32,
        /// When it was accepted.
        created_at: TimestampText,
        /// When its state changed last.
        status_updated_at: TimestampText,
    }
}

impl LimitChangeListDto {
    fn new(request: &LimitChange, zone: Zone) -> Self {
        Self {
            set_limits_cards_id: request.id,
            status: request.state.into(),
            number_cards: request.cards,
            created_at: TimestampText::new(request.created_at, zone),
            status_updated_at: TimestampText::new(request.state_since, zone),
        }
    }
}
