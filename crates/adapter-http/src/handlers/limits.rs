//! Limit changes.

use std::collections::HashSet;

use actix_web::http::StatusCode;
use kopeck_domain::ids::{CardId, LimitChangeId};
use kopeck_domain::limit::{Limit, LimitConflict};
use kopeck_domain::limit_change::MAX_CARDS;
use kopeck_port_store::UnitOfWork;
use kopeck_service::limits;

use crate::dto::{
    LimitChangeAcceptedDto, LimitChangeItemDto, LimitChangeListDto, LimitChangeStateDto, PageDto,
};
use crate::exchange::{Answer, Exchange};
use crate::input::kinds::id;
use crate::input::limit;
use crate::input::reader::Reader;
use crate::pages::{self, Listing, NoHead, PAGE};
use crate::route::Outcome;

/// The name of a limit change, in paths and in bodies.
const ID: &str = "setLimitsCardsId";

pub(crate) async fn set(mut x: Exchange) -> Outcome {
    let values = x.values_of_list(read_change).await?;
    x.mutate(StatusCode::ACCEPTED, values, |unit, env, partner, (cards, limit)| {
        limits::set(unit, env, partner, cards, limit).map(LimitChangeAcceptedDto::from)
    })
    .await
}

pub(crate) async fn status(x: Exchange) -> Outcome {
    let id = x.call.values(read_asked);
    let request = x.read(id, |unit, _env, partner, id| limits::status(unit, partner, *id)).await?;
    Answer::json(StatusCode::OK, &LimitChangeStateDto::from(request))
}

pub(crate) async fn cancel(x: Exchange) -> Outcome {
    let id = x.call.values(read_cancelled);
    x.mutate(StatusCode::OK, id, |unit, env, partner, id| {
        limits::cancel(unit, env, partner, *id).map(LimitChangeStateDto::from)
    })
    .await
}

pub(crate) async fn result(x: Exchange) -> Outcome {
    let id = x.call.values(read_id);
    let result = x.read(id, |unit, _env, partner, id| limits::result(unit, partner, *id, PAGE));
    let (request, items) = result.await?;
    let id = request.id;
    let listing = Listing {
        read: move |unit: &mut dyn UnitOfWork, partner, from| {
            limits::more_of_result(unit, partner, id, from, PAGE)
        },
        show: |row, out| serde_json::to_writer(out, &LimitChangeItemDto::from(row)),
    };
    pages::answer(&x, &NoHead {}, request.cards, &items, listing)
}

pub(crate) async fn list(x: Exchange) -> Outcome {
    let (page, status) = x.call.values(super::read_list_of_requests)?;
    let listed =
        x.read(Ok(page), move |unit, _env, partner, page| limits::list(unit, partner, status, *page)).await?;
    let zone = x.zone();
    let show = |request| LimitChangeListDto::new(request, zone);
    Answer::json(StatusCode::OK, &PageDto::new(&listed, page, &x.call.path, show))
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
