//! Lists closings.

use kopeck_domain::calendar::Zone;
use kopeck_domain::closing::{Closing, Closings};
use kopeck_domain::request::RequestState;
use kopeck_service::card_batches;

use crate::dto::local;
use crate::operations::cards::ANY_ZONE;
use crate::operations::prelude::*;
use crate::operations::requests::{read_list, shown};

pub(super) static OPERATION: Operation =
    Operation::of(&operations::CLOSING_LIST, Needs::One(Scope::ClosingsRead), handler!(list))
        .reads(reads!(read_list, ANY_ZONE))
        .responds::<api::Page<api::Closing>>(200);

async fn list(mut ctx: HandlerContext) -> HandlerResult {
    let zone = ctx.zone();
    let (page, filter) = ctx.values(|r| read_list(r, zone))?;
    let listed = ctx
        .read(Ok(page), move |unit, _env, partner, page| {
            card_batches::list::<Closings>(unit, partner, &filter, *page)
        })
        .await?;
    ctx.respond_page(&listed, page, |request| body(request, zone))
}

fn body(request: &Closing, zone: Zone) -> api::Closing {
    api::Closing {
        closing_id: request.id().uuid(),
        state: RequestState::from(request.state()).as_str().into(),
        number_cards: request.cards().into(),
        amount: None,
        amount_moved: request.returned().get(),
        created_at: local(request.created_at(), zone),
        status_updated_at: local(request.state_since(), zone),
        reference: shown(request.reference()),
    }
}
