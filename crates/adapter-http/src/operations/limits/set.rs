//! Asks to give cards a limit.

use std::collections::HashSet;

use kopeck_domain::card_batch::MAX_CARDS;
use kopeck_domain::ids::CardId;
use kopeck_domain::limit::Limit;
use kopeck_domain::limit_change::LimitChange;
use kopeck_service::card_batches::CreateBatchError;
use kopeck_service::limits;
use kopeck_service::limits::LimitConflict;

use crate::input::limit;
use crate::operations::card_batches::not_created;
use crate::operations::prelude::*;
use crate::operations::requests::ACCEPTED;

pub(super) static OPERATION: Operation = Operation::of(&operations::LIMITS_SET, handler!(set))
    .reads(reads!(read))
    .responds::<api::LimitChangeCreated>(202)
    .refuses(&[Code::LimitConflict])
    .refuses_cards(&[Code::CardNotFound, Code::CardClosed, Code::CardInRequest, Code::CardExpired]);

/// The cards and the limit of a new change.
fn read(r: &mut Reader<'_>) -> Option<(Vec<CardId>, Result<Limit, LimitConflict>)> {
    let mut body = r.body();
    let mut seen = HashSet::new();
    let cards = body.items("data", 1..=MAX_CARDS, |item| item.distinct("idCard", &mut seen));
    let limit =
        body.object("limit", limit::schema, |limit, faults| limit::draft(limit).read("limit", faults));
    Some((cards?, limit?))
}

async fn set(mut ctx: HandlerContext) -> HandlerResult {
    let values = ctx.values_of_list(read).await?;
    ctx.mutate(values, |unit, env, partner, (cards, limit)| {
        limits::set(unit, env, partner, cards, limit).map(accepted)
    })
    .await
}

fn accepted(request: LimitChange) -> api::LimitChangeCreated {
    api::LimitChangeCreated { message: ACCEPTED.to_owned(), set_limits_cards_id: request.id.uuid() }
}

impl From<CreateBatchError<LimitConflict>> for ApiError {
    fn from(error: CreateBatchError<LimitConflict>) -> Self {
        not_created(error, |LimitConflict| Code::LimitConflict.into())
    }
}
