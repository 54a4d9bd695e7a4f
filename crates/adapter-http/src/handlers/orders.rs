//! Orders.

use actix_web::http::StatusCode;
use kopeck_domain::card::CardType;
use kopeck_domain::ids::OrderId;
use kopeck_domain::order::{
    LineDetails, MAX_CARDS, MAX_FIRST_TOP_UP, MAX_ITEMS, MAX_PLASTIC_CARDS, MAX_VIRTUAL_CARDS,
    MIN_FIRST_TOP_UP, OrderKind, OrderLine, PLASTIC_TYPES, VIRTUAL_TYPES, first_top_up, plastic_count,
    plastic_type, virtual_count, virtual_type,
};
use kopeck_domain::person::{DeliveryAddress, Phone, Recipient};
use kopeck_port_store::UnitOfWork;
use kopeck_service::orders::{self, OrderResult};

use crate::dto::{OrderIdDto, OrderListDto, OrderResultDto, OrderResultItemDto, OrderStateDto, PageDto};
use crate::errors::orders::OrderChange;
use crate::handler_context::{HandlerContext, Response};
use crate::input::field_types::{id, integer, integer_or_digits, text};
use crate::input::reader::{Fields, Reader};
use crate::list_stream::{self, ListSource, PAGE};
use crate::openapi::json::Json;
use crate::openapi::schema::words;
use crate::route::HandlerResult;

pub(crate) async fn plastic(ctx: HandlerContext) -> HandlerResult {
    place(ctx, OrderKind::Plastic, plastic_line).await
}

pub(crate) fn read_plastic(r: &mut Reader<'_>) -> Option<Vec<OrderLine>> {
    read_lines(r, plastic_line)
}

pub(crate) async fn virtual_(ctx: HandlerContext) -> HandlerResult {
    place(ctx, OrderKind::Virtual, virtual_line).await
}

pub(crate) fn read_virtual(r: &mut Reader<'_>) -> Option<Vec<OrderLine>> {
    read_lines(r, virtual_line)
}

/// Reads an item, and adds its cards to the count.
type ReadLine = fn(&mut Fields<'_>, &mut u32) -> Option<OrderLine>;

async fn place(mut ctx: HandlerContext, kind: OrderKind, line: ReadLine) -> HandlerResult {
    let lines = ctx.values_of_list(move |r| read_lines(r, line)).await?;
    ctx.mutate(StatusCode::ACCEPTED, lines, move |unit, env, partner, lines| {
        orders::place(unit, env, partner, kind, lines).map(OrderIdDto::from)
    })
    .await
}

pub(crate) async fn status(ctx: HandlerContext) -> HandlerResult {
    let id = ctx.input.values(read_id);
    let order = ctx.read(id, |unit, _env, partner, id| orders::status(unit, partner, *id)).await?;
    Response::json(StatusCode::OK, &OrderStateDto::from(order))
}

pub(crate) async fn result(ctx: HandlerContext) -> HandlerResult {
    let id = ctx.input.values(read_id);
    let result = ctx.read(id, |unit, _env, partner, id| orders::result(unit, partner, *id, PAGE)).await?;
    let OrderResult { order, items } = &result;
    let id = order.id;
    let listing = ListSource {
        read: move |unit: &mut dyn UnitOfWork, partner, from| {
            orders::more_of_result(unit, partner, id, from, PAGE)
        },
        show: |row, out| serde_json::to_writer(out, &OrderResultItemDto::from(row)),
    };
    list_stream::response(&ctx, &OrderResultDto::from(order), order.cards, items, listing)
}

pub(crate) async fn confirm(ctx: HandlerContext) -> HandlerResult {
    let id = ctx.input.values(read_confirmed);
    ctx.mutate(StatusCode::OK, id, |unit, env, partner, id| {
        let order = orders::confirm(unit, env, partner, *id);
        order.map(OrderStateDto::from).map_err(|error| OrderChange::Confirm.refusal(error))
    })
    .await
}

pub(crate) async fn cancel(ctx: HandlerContext) -> HandlerResult {
    let id = ctx.input.values(read_cancelled);
    ctx.mutate(StatusCode::OK, id, |unit, env, partner, id| {
        let order = orders::cancel(unit, env, partner, *id);
        order.map(OrderStateDto::from).map_err(|error| OrderChange::Cancel.refusal(error))
    })
    .await
}

pub(crate) async fn list(ctx: HandlerContext) -> HandlerResult {
    let (page, status) = ctx.input.values(super::read_list_of_requests)?;
    let listed = ctx
        .read(Ok(page), move |unit, _env, partner, page| orders::list(unit, partner, status, *page))
        .await?;
    let zone = ctx.zone();
    let show = |order| OrderListDto::new(order, zone);
    Response::json(StatusCode::OK, &PageDto::new(&listed, page, &ctx.input.path, show))
}

fn read_lines(r: &mut Reader<'_>, line: ReadLine) -> Option<Vec<OrderLine>> {
    let (mut body, mut cards) = (r.body(), 0);
    let lines = body.items("data", 1..=MAX_ITEMS, |item| line(item, &mut cards));
    // The order has this rule too; here its fault is reported together with those of the items.
    if cards > MAX_CARDS {
        body.fault("data", format!("must order at most {MAX_CARDS} cards in all"));
    }
    lines
}

/// The order of the path.
pub(crate) fn read_id(r: &mut Reader<'_>) -> Option<OrderId> {
    r.id("order_id")
}

pub(crate) fn read_confirmed(r: &mut Reader<'_>) -> Option<OrderId> {
    r.body().required("orderId", id::<OrderId>().about("An order in `SUCCESS`."))
}

pub(crate) fn read_cancelled(r: &mut Reader<'_>) -> Option<OrderId> {
    r.body().required("orderId", id::<OrderId>().about("An order in `NEW`."))
}

fn plastic_line(item: &mut Fields<'_>, cards: &mut u32) -> Option<OrderLine> {
    let count = item.required("numberCards", integer(plastic_count).between(1, MAX_PLASTIC_CARDS));
    *cards = cards.saturating_add(count.unwrap_or(0));
    let card_type = item.required("typeCard", text(plastic_type).looks_like(|_| one_of(PLASTIC_TYPES)));
    let address = item.required("deliveryAddress", text(DeliveryAddress::parse));
    let recipient =
        item.required("recipient", text(Recipient::parse).about("The full name of who receives the cards."));
    let phone = item.required("phone", text(Phone::parse));
    Some(OrderLine {
        card_type: card_type?,
        count: count?,
        details: LineDetails::Plastic { address: address?, recipient: recipient?, phone: phone? },
    })
}

fn virtual_line(item: &mut Fields<'_>, cards: &mut u32) -> Option<OrderLine> {
    let count = item.required("numberCards", integer(virtual_count).between(1, MAX_VIRTUAL_CARDS));
    *cards = cards.saturating_add(count.unwrap_or(0));
    let card_type = item.required("typeCard", text(virtual_type).looks_like(|_| one_of(VIRTUAL_TYPES)));
    // The interface has it as a string in one place and as a number in another.
    let amount = integer_or_digits(first_top_up).between(MIN_FIRST_TOP_UP, MAX_FIRST_TOP_UP);
    let amount = item.required("amount", amount.about("Kopecks: the first top-up of each card."));
    Some(OrderLine {
        card_type: card_type?,
        count: count?,
        details: LineDetails::Virtual { amount: amount? },
    })
}

fn one_of(types: &[CardType]) -> Json {
    words(types.iter().map(|kind| kind.as_str()))
}
