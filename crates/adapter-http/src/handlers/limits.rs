//! Limit changes.

use std::collections::HashSet;

use actix_web::http::StatusCode;
use kopeck_domain::card_batch::MAX_CARDS;
use kopeck_domain::ids::{CardId, LimitChangeId};
use kopeck_domain::limit::{Limit, LimitConflict};
use kopeck_domain::limit_change::LimitChanges;
use kopeck_port_store::UnitOfWork;
use kopeck_service::{card_batches, limits};

use crate::dto::{
    LimitChangeAcceptedDto, LimitChangeItemDto, LimitChangeListDto, LimitChangeStateDto, PageDto,
};
use crate::handler_context::{HandlerContext, Response};
use crate::input::field_types::id;
use crate::input::limit;
use crate::input::reader::Reader;
use crate::list_stream::{self, ListSource, NoFields, PAGE};
use crate::route::HandlerResult;

/// The name of the identifier in paths and bodies.
const ID: &str = "setLimitsCardsId";

pub(crate) async fn set(mut ctx: HandlerContext) -> HandlerResult {
    let values = ctx.values_of_list(read_change).await?;
    ctx.mutate(StatusCode::ACCEPTED, values, |unit, env, partner, (cards, limit)| {
        limits::set(unit, env, partner, cards, limit).map(LimitChangeAcceptedDto::from)
    })
    .await
}

pub(crate) async fn status(ctx: HandlerContext) -> HandlerResult {
    let id = ctx.input.values(read_asked);
    let request =
        ctx.read(id, |unit, _env, partner, id| card_batches::get::<LimitChanges>(unit, partner, *id)).await?;
    Response::json(StatusCode::OK, &LimitChangeStateDto::from(request))
}

pub(crate) async fn cancel(ctx: HandlerContext) -> HandlerResult {
    let id = ctx.input.values(read_cancelled);
    ctx.mutate(StatusCode::OK, id, |unit, env, partner, id| {
        card_batches::cancel::<LimitChanges>(unit, env, partner, *id).map(LimitChangeStateDto::from)
    })
    .await
}

pub(crate) async fn result(ctx: HandlerContext) -> HandlerResult {
    let id = ctx.input.values(read_id);
    let result = ctx
        .read(id, |unit, _env, partner, id| card_batches::result::<LimitChanges>(unit, partner, *id, PAGE));
    let (request, items) = result.await?;
    let id = request.id;
    let listing = ListSource {
        read: move |unit: &mut dyn UnitOfWork, partner, from| {
            card_batches::more_of_result::<LimitChanges>(unit, partner, id, from, PAGE)
        },
        show: |row, out| serde_json::to_writer(out, &LimitChangeItemDto::from(row)),
    };
    list_stream::response(&ctx, &NoFields {}, request.cards, &items, listing)
}

pub(crate) async fn list(ctx: HandlerContext) -> HandlerResult {
    let (page, status) = ctx.input.values(super::read_list_of_requests)?;
    let listed = ctx
        .read(Ok(page), move |unit, _env, partner, page| {
            card_batches::list::<LimitChanges>(unit, partner, status, *page)
        })
        .await?;
    let zone = ctx.zone();
    let show = |request| LimitChangeListDto::new(request, zone);
    Response::json(StatusCode::OK, &PageDto::new(&listed, page, &ctx.input.path, show))
}

/// The cards and the limit of a new change.
pub(crate) fn read_change(r: &mut Reader<'_>) -> Option<(Vec<CardId>, Result<Limit, LimitConflict>)> {
    let mut body = r.body();
    let mut seen = HashSet::new();
    let cards = body.items("data", 1..=MAX_CARDS, |item| item.distinct("idCard", &mut seen));
    let limit = body
        .object("limit", limit::schema, |limit, faults| Limit::read(&limit::draft(limit), "limit", faults));
    Some((cards?, limit?))
}

pub(crate) fn read_asked(r: &mut Reader<'_>) -> Option<LimitChangeId> {
    r.needed(ID, id::<LimitChangeId>())
}

pub(crate) fn read_cancelled(r: &mut Reader<'_>) -> Option<LimitChangeId> {
    r.body().required(ID, id::<LimitChangeId>().about("A limit change in `NEW`."))
}

pub(crate) fn read_id(r: &mut Reader<'_>) -> Option<LimitChangeId> {
    r.id(ID)
}
