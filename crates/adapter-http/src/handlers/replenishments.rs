//! Replenishments.

use std::collections::HashSet;

use actix_web::http::StatusCode;
use kopeck_domain::Faults;
use kopeck_domain::card_batch::MAX_CARDS;
use kopeck_domain::ids::ReplenishmentId;
use kopeck_domain::replenishment::{MAX_AMOUNT, TopUps, top_up_amount};
use kopeck_port_store::UnitOfWork;
use kopeck_service::card_batches;
use kopeck_service::replenishments::{self, TopUp};

use crate::dto::{
    PageDto, ReplenishmentAcceptedDto, ReplenishmentItemDto, ReplenishmentListDto, ReplenishmentStateDto,
};
use crate::handler_context::{HandlerContext, Response};
use crate::input::field_types::{id, integer};
use crate::input::reader::Reader;
use crate::list_stream::{self, ListSource, NoFields, PAGE};
use crate::route::HandlerResult;

/// The names of the identifier in queries.
const IN_QUERY: [&str; 2] = ["idReplenishment", "replenishmentId"];
/// The name of the identifier in paths.
const IN_PATH: &str = "replenishmentId";

pub(crate) async fn create(mut ctx: HandlerContext) -> HandlerResult {
    let top_ups = ctx.values_of_list(read_top_ups).await?;
    ctx.mutate(StatusCode::ACCEPTED, top_ups, |unit, env, partner, top_ups| {
        replenishments::create(unit, env, partner, top_ups).map(ReplenishmentAcceptedDto::from)
    })
    .await
}

pub(crate) async fn status_by_query(ctx: HandlerContext) -> HandlerResult {
    let id = ctx.input.values(read_asked);
    status(ctx, id).await
}

pub(crate) async fn status_by_path(ctx: HandlerContext) -> HandlerResult {
    let id = ctx.input.values(read_id);
    status(ctx, id).await
}

pub(crate) async fn result_by_query(ctx: HandlerContext) -> HandlerResult {
    let id = ctx.input.values(read_asked);
    result(ctx, id).await
}

pub(crate) async fn result_by_path(ctx: HandlerContext) -> HandlerResult {
    let id = ctx.input.values(read_id);
    result(ctx, id).await
}

pub(crate) async fn cancel(ctx: HandlerContext) -> HandlerResult {
    let id = ctx.input.values(read_id);
    ctx.mutate(StatusCode::OK, id, |unit, env, partner, id| {
        card_batches::cancel::<TopUps>(unit, env, partner, *id).map(ReplenishmentStateDto::from)
    })
    .await
}

pub(crate) async fn list(ctx: HandlerContext) -> HandlerResult {
    let (page, status) = ctx.input.values(super::read_list_of_requests)?;
    let listed = ctx
        .read(Ok(page), move |unit, _env, partner, page| {
            card_batches::list::<TopUps>(unit, partner, status, *page)
        })
        .await?;
    let zone = ctx.zone();
    let show = |request| ReplenishmentListDto::new(request, zone);
    Response::json(StatusCode::OK, &PageDto::new(&listed, page, &ctx.input.path, show))
}

async fn status(ctx: HandlerContext, id: Result<ReplenishmentId, Faults>) -> HandlerResult {
    let request =
        ctx.read(id, |unit, _env, partner, id| card_batches::get::<TopUps>(unit, partner, *id)).await?;
    Response::json(StatusCode::OK, &ReplenishmentStateDto::from(request))
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

/// The cards of a request.
pub(crate) fn read_top_ups(r: &mut Reader<'_>) -> Option<Vec<TopUp>> {
    let mut seen = HashSet::new();
    r.body().items("cards", 1..=MAX_CARDS, |item| {
        let card = item.distinct("idCard", &mut seen);
        let amount = item
            .required("amountReplenishment", integer(top_up_amount).between(1, MAX_AMOUNT).about("Kopecks."));
        Some(TopUp { card: card?, amount: amount? })
    })
}

pub(crate) fn read_asked(r: &mut Reader<'_>) -> Option<ReplenishmentId> {
    r.required_param(IN_QUERY, id::<ReplenishmentId>())
}

pub(crate) fn read_id(r: &mut Reader<'_>) -> Option<ReplenishmentId> {
    r.id(IN_PATH)
}
