//! Cards and their transactions.

use actix_web::http::StatusCode;
use kopeck_domain::Kopecks;
use kopeck_domain::calendar::{Zone, parse_date};
use kopeck_domain::card::{CardStatus, CardType};
use kopeck_domain::card_number::CardNumber;
use kopeck_domain::ids::{CardId, EmployeeId};
use kopeck_domain::page::Page;
use kopeck_domain::transaction::TransactionType;
use kopeck_port_store::{CardRecord, TransactionFilter};
use kopeck_service::cards::{self, CardKey, CardSnapshot};
use kopeck_service::{payments, transactions};
use time::{Date, OffsetDateTime};

use super::employees::{LIST_SIZE, read_id as read_employee};
use crate::dto::{
    CardBalanceDto, CardDto, Data, ForecastDto, LinkDto, PageDto, TransactionDto, UnassignedCardDto,
};
use crate::error::ApiError;
use crate::handler_context::{HandlerContext, Response};
use crate::input::field_types::{amount, id, string_enum, text};
use crate::input::reader::Reader;
use crate::route::HandlerResult;

/// The default number of transactions on a page.
const TRANSACTIONS_SIZE: u32 = 100;

pub(crate) async fn info(ctx: HandlerContext) -> HandlerResult {
    let record = look(&ctx).await?;
    Response::json(StatusCode::OK, &Data { data: CardDto::new(&record, ctx.zone()) })
}

pub(crate) async fn balance(ctx: HandlerContext) -> HandlerResult {
    let record = look(&ctx).await?;
    Response::json(StatusCode::OK, &CardBalanceDto::new(&record, ctx.zone()))
}

pub(crate) async fn available(ctx: HandlerContext) -> HandlerResult {
    let values = ctx.input.values(read_available);
    let (page, kind) = values?;
    let listed = ctx
        .read(Ok(page), move |unit, env, partner, page| cards::available(unit, env, partner, kind, *page))
        .await?;
    Response::json(StatusCode::OK, &PageDto::new(&listed, page, &ctx.input.path, UnassignedCardDto::from))
}

pub(crate) async fn transactions(ctx: HandlerContext) -> HandlerResult {
    let zone = ctx.zone();
    let (card, page, filter) = ctx.input.values(|r| read_transactions(r, zone))?;
    let synced = ctx.ask_bank(move |shared, partner| {
        let parts = &shared.parts;
        transactions::sync(&*parts.store, &*parts.bank, &parts.env, partner, card)
    });
    synced.await??;
    let listed = ctx
        .read(Ok(page), move |unit, _env, partner, page| {
            transactions::list(unit, partner, card, filter, *page)
        })
        .await?;
    let show = |transaction| TransactionDto::new(transaction, zone);
    Response::json(StatusCode::OK, &PageDto::new(&listed, page, &ctx.input.path, show))
}

pub(crate) async fn can_pay(ctx: HandlerContext) -> HandlerResult {
    let zone = ctx.zone();
    let (card, amount, at) = ctx.input.values(|r| read_question(r, zone))?;
    let prepared = ctx.ask_bank(move |shared, partner| {
        let parts = &shared.parts;
        payments::prepare(&*parts.store, &*parts.bank, &parts.env, partner, card)
    });
    prepared.await??;
    let forecast = ctx
        .read(Ok(()), move |unit, env, partner, ()| payments::can_pay(unit, env, partner, card, amount, at))
        .await?;
    Response::json(StatusCode::OK, &ForecastDto::new(&forecast, zone))
}

pub(crate) async fn link(ctx: HandlerContext) -> HandlerResult {
    let values = ctx.input.values(read_link);
    let mutation = ctx.begin_mutation().await?;
    if let Some(answer) = mutation.replay().await? {
        return Ok(answer);
    }
    let values = values?;
    mutation.context().prepare_card(CardKey::Number(values.1)).await?;
    mutation
        .once(StatusCode::OK, values, |unit, env, partner, (employee, number, status)| {
            cards::link(unit, env, partner, *employee, *number, *status)
                .map(|card| LinkDto::new(*employee, card.id, *status))
        })
        .await
}

pub(crate) async fn switch(ctx: HandlerContext) -> HandlerResult {
    let values = ctx.input.values(read_switch);
    let mutation = ctx.begin_mutation().await?;
    if let Some(answer) = mutation.replay().await? {
        return Ok(answer);
    }
    let values = values?;
    mutation.context().prepare_card(CardKey::Id(values.1)).await?;
    mutation
        .once(StatusCode::OK, values, |unit, env, partner, (employee, card, status)| {
            cards::switch(unit, env, partner, *employee, *card, *status)
                .map(|card| LinkDto::new(*employee, card.id, *status))
        })
        .await
}

/// The card of the path, with recent data of the bank.
async fn look(ctx: &HandlerContext) -> Result<CardRecord, ApiError> {
    let id = ctx.input.values(read_id);
    let CardSnapshot { record, fresh } =
        ctx.read(id, |unit, env, partner, id| cards::get(unit, env, partner, *id)).await?;
    if fresh {
        return Ok(record);
    }
    let copy = record.clone();
    let refreshed = ctx.ask_bank(move |shared, partner| {
        let parts = &shared.parts;
        cards::refresh(&*parts.store, &*parts.bank, &parts.env, partner, record)
    });
    match refreshed.await {
        Ok(refreshed) => Ok(refreshed?),
        // Too many requests wait for the bank: the last copy serves, as it does if the bank is down.
        Err(busy) if busy.status() == StatusCode::SERVICE_UNAVAILABLE => Ok(copy),
        Err(error) => Err(error),
    }
}

/// The card of the path.
pub(crate) fn read_id(r: &mut Reader<'_>) -> Option<CardId> {
    r.id("idCard")
}

pub(crate) fn read_available(r: &mut Reader<'_>) -> Option<(Page, Option<CardType>)> {
    let page = r.page(LIST_SIZE);
    let kind = r.param("typeCard", string_enum::<CardType>().about("Only cards of this type."));
    Some((page?, kind))
}

pub(crate) fn read_transactions(r: &mut Reader<'_>, zone: Zone) -> Option<(CardId, Page, TransactionFilter)> {
    let card = read_id(r);
    let page = r.page(TRANSACTIONS_SIZE);
    let from = r.param("from", text(parse_date).about("Only from this day on."));
    let to = r.param("to", text(parse_date).about("Only up to this day, which is included."));
    let filter = TransactionFilter {
        from: from.map(|day| start_of(clamped(day), zone)),
        before: to.map(|day| end_of(clamped(day), zone)),
        kind: r.param("type", string_enum::<TransactionType>().about("Only of this type.")),
    };
    Some((card?, page?, filter))
}

pub(crate) fn read_question(
    r: &mut Reader<'_>,
    zone: Zone,
) -> Option<(CardId, Kopecks, Option<OffsetDateTime>)> {
    let card = read_id(r);
    let amount = r.needed("amount", amount().about("Kopecks."));
    let about = "When the payment would be made; now, if absent.";
    let at = r.param("at", text(move |at| zone.parse_moment(at)).about(about));
    Some((card?, amount?, at))
}

pub(crate) fn read_link(r: &mut Reader<'_>) -> Option<(EmployeeId, CardNumber, CardStatus)> {
    let employee = read_employee(r);
    let mut body = r.body();
    let number =
        text(CardNumber::parse).about("The bank's number of a free card: 13 digits (EAN) or 10 (virtual).");
    let number = body.required("customIdCard", number);
    let status = body.required("statusCard", string_enum::<CardStatus>());
    Some((employee?, number?, status?))
}

pub(crate) fn read_switch(r: &mut Reader<'_>) -> Option<(EmployeeId, CardId, CardStatus)> {
    let employee = read_employee(r);
    let mut body = r.body();
    let card = body.required("idCard", id::<CardId>().about("A card of this employee."));
    let status = body.required("statusCard", string_enum::<CardStatus>());
    Some((employee?, card?, status?))
}

/// Clamps a day to the range of all databases; no transaction lies outside of it.
fn clamped(day: Date) -> Date {
    let first = OffsetDateTime::UNIX_EPOCH.date();
    let last = first.replace_year(2999).unwrap_or(first);
    day.clamp(first, last)
}

fn start_of(day: Date, zone: Zone) -> OffsetDateTime {
    zone.start_of(day)
}

/// The start of the day after `day`.
fn end_of(day: Date, zone: Zone) -> OffsetDateTime {
    zone.start_of(day.next_day().unwrap_or(day))
}
