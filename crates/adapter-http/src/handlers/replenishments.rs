//! Replenishments.

use std::collections::HashSet;

use actix_web::http::StatusCode;
use kopeck_domain::Faults;
use kopeck_domain::ids::ReplenishmentId;
use kopeck_domain::replenishment::{MAX_AMOUNT, MAX_CARDS, top_up_amount};
use kopeck_port_store::UnitOfWork;
use kopeck_service::replenishments::{self, TopUp};

use crate::dto::{AcceptedDto, PageDto, ReplenishmentItemDto, ReplenishmentListDto, ReplenishmentStateDto};
use crate::exchange::{Answer, Exchange};
use crate::input::kinds::{id, integer};
use crate::input::reader::Reader;
use crate::pages::{self, Listing, NoHead, PAGE};
use crate::route::Outcome;

/// The names that the query forms give the request.
const IN_QUERY: [&str; 2] = ["idReplenishment", "replenishmentId"];
/// The name that the path forms give it.
const IN_PATH: &str = "replenishmentId";

pub(crate) async fn create(mut x: Exchange) -> Outcome {
    let top_ups = x.values_of_list(read_top_ups).await?;
    x.mutate(StatusCode::ACCEPTED, top_ups, |unit, env, partner, top_ups| {
        replenishments::create(unit, env, partner, top_ups).map(AcceptedDto::from)
    })
    .await
}

pub(crate) async fn status_by_query(x: Exchange) -> Outcome {
    let id = x.call.values(read_asked);
    status(x, id).await
}

pub(crate) async fn status_by_path(x: Exchange) -> Outcome {
    let id = x.call.values(read_id);
    status(x, id).await
}

pub(crate) async fn result_by_query(x: Exchange) -> Outcome {
    let id = x.call.values(read_asked);
    result(x, id).await
}

pub(crate) async fn result_by_path(x: Exchange) -> Outcome {
    let id = x.call.values(read_id);
    result(x, id).await
}

pub(crate) async fn cancel(x: Exchange) -> Outcome {
    let id = x.call.values(read_id);
    x.mutate(StatusCode::OK, id, |unit, env, partner, id| {
        replenishments::cancel(unit, env, partner, *id).map(ReplenishmentStateDto::from)
    })
    .await
}

pub(crate) async fn list(x: Exchange) -> Outcome {
    let (page, status) = x.call.values(super::read_list_of_requests)?;
    let listed = x
        .read(Ok(page), move |unit, _env, partner, page| replenishments::list(unit, partner, status, *page))
        .await?;
    let zone = x.zone();
    let show = |request| ReplenishmentListDto::new(request, zone);
    Answer::json(StatusCode::OK, &PageDto::new(&listed, page, &x.call.path, show))
}

async fn status(x: Exchange, id: Result<ReplenishmentId, Faults>) -> Outcome {
    let request = x.read(id, |unit, _env, partner, id| replenishments::status(unit, partner, *id)).await?;
    Answer::json(StatusCode::OK, &ReplenishmentStateDto::from(request))
}

async fn result(x: Exchange, id: Result<ReplenishmentId, Faults>) -> Outcome {
    let result = x.read(id, |unit, _env, partner, id| replenishments::result(unit, partner, *id, PAGE));
    let (request, items) = result.await?;
    let id = request.id;
    let listing = Listing {
        read: move |unit: &mut dyn UnitOfWork, partner, from| {
            replenishments::more_of_result(unit, partner, id, from, PAGE)
        },
        show: |row, out| serde_json::to_writer(out, &ReplenishmentItemDto::from(row)),
    };
    pages::answer(&x, &NoHead {}, request.cards, &items, listing)
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
