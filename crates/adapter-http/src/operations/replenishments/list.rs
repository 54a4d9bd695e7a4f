//! Lists replenishments.

use kopeck_domain::calendar::Zone;
use kopeck_domain::replenishment::{Replenishment, TopUps};
use kopeck_domain::request::RequestState;
use kopeck_service::card_batches;

use crate::dto::local;
use crate::operations::cards::ANY_ZONE;
use crate::operations::prelude::*;
use crate::operations::requests::{read_list, shown};

pub(super) static OPERATION: Operation =
    Operation::of(&operations::REPLENISHMENT_LIST, Needs::One(Scope::ReplenishmentsRead), handler!(list))
        .reads(reads!(read_list, ANY_ZONE))
        .responds::<api::Page<api::Replenishment>>(200);

async fn list(mut ctx: HandlerContext) -> HandlerResult {
    let zone = ctx.zone();
    let (page, filter) = ctx.values(|r| read_list(r, zone))?;
    let listed = ctx
        .read(Ok(page), move |unit, _env, partner, page| {
            card_batches::list::<TopUps>(unit, partner, &filter, *page)
        })
        .await?;
    ctx.respond_page(&listed, page, |request| body(request, zone))
}

fn body(request: &Replenishment, zone: Zone) -> api::Replenishment {
    api::Replenishment {
        replenishment_id: request.id().uuid(),
        state: RequestState::from(request.state()).as_str().into(),
        number_cards: request.cards().into(),
        amount: request.amount().get(),
        created_at: local(request.created_at(), zone),
        status_updated_at: local(request.state_since(), zone),
        reference: shown(request.reference()),
    }
}
