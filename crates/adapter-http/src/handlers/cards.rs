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
use kopeck_service::cards::{self, CardKey, Look};
use kopeck_service::{payments, transactions};
use time::{Date, OffsetDateTime};

use super::employees::{LIST_SIZE, read_id as read_employee};
use crate::dto::{CardBalanceDto, CardDto, Data, ForecastDto, FreeCardDto, LinkDto, PageDto, TransactionDto};
use crate::error::ApiError;
use crate::exchange::{Answer, Exchange};
use crate::input::kinds::{amount, id, text, word};
use crate::input::reader::Reader;
use crate::route::Outcome;

/// Transactions on a page unless the call says another number.
const TRANSACTIONS_SIZE: u32 = 100;

pub(crate) async fn info(x: Exchange) -> Outcome {
    let record = look(&x).await?;
    Answer::json(StatusCode::OK, &Data { data: CardDto::new(&record, x.zone()) })
}

pub(crate) async fn balance(x: Exchange) -> Outcome {
    let record = look(&x).await?;
    Answer::json(StatusCode::OK, &CardBalanceDto::new(&record, x.zone()))
}

pub(crate) async fn available(x: Exchange) -> Outcome {
    let values = x.call.values(read_available);
    let (page, kind) = values?;
    let listed = x
        .read(Ok(page), move |unit, env, partner, page| cards::available(unit, env, partner, kind, *page))
        .await?;
    Answer::json(StatusCode::OK, &PageDto::new(&listed, page, &x.call.path, FreeCardDto::from))
}

pub(crate) async fn transactions(x: Exchange) -> Outcome {
    let zone = x.zone();
    let (card, page, filter) = x.call.values(|r| read_transactions(r, zone))?;
    let synced = x.ask_bank(move |shared, partner| {
        let parts = &shared.parts;
        transactions::sync(&*parts.store, &*parts.bank, &parts.env, partner, card)
    });
    synced.await??;
    let listed = x
        .read(Ok(page), move |unit, _env, partner, page| {
            transactions::list(unit, partner, card, filter, *page)
        })
        .await?;
    let show = |transaction| TransactionDto::new(transaction, zone);
    Answer::json(StatusCode::OK, &PageDto::new(&listed, page, &x.call.path, show))
}

pub(crate) async fn can_pay(x: Exchange) -> Outcome {
    let zone = x.zone();
    let (card, amount, at) = x.call.values(|r| read_question(r, zone))?;
    let prepared = x.ask_bank(move |shared, partner| {
        let parts = &shared.parts;
        payments::prepare(&*parts.store, &*parts.bank, &parts.env, partner, card)
    });
    prepared.await??;
    let forecast = x
        .read(Ok(()), move |unit, env, partner, ()| payments::can_pay(unit, env, partner, card, amount, at))
        .await?;
    Answer::json(StatusCode::OK, &ForecastDto::new(&forecast, zone))
}

pub(crate) async fn link(x: Exchange) -> Outcome {
    let values = x.call.values(read_link);
    let turn = x.turn().await?;
    if let Some(answer) = turn.replay().await? {
        return Ok(answer);
    }
    let values = values?;
    turn.exchange().prepare_card(CardKey::Number(values.1)).await?;
    turn.once(StatusCode::OK, values, |unit, env, partner, (employee, number, status)| {
        cards::link(unit, env, partner, *employee, *number, *status)
            .map(|card| LinkDto::new(*employee, card.id, *status))
    })
    .await
}

pub(crate) async fn switch(x: Exchange) -> Outcome {
    let values = x.call.values(read_switch);
    let turn = x.turn().await?;
    if let Some(answer) = turn.replay().await? {
        return Ok(answer);
    }
    let values = values?;
    turn.exchange().prepare_card(CardKey::Id(values.1)).await?;
    turn.once(StatusCode::OK, values, |unit, env, partner, (employee, card, status)| {
        cards::switch(unit, env, partner, *employee, *card, *status)
            .map(|card| LinkDto::new(*employee, card.id, *status))
    })
    .await
}

/// The card of the path, as the bank sees it now or saw it a moment ago.
async fn look(x: &Exchange) -> Result<CardRecord, ApiError> {
    let id = x.call.values(read_id);
    let Look { record, fresh } =
        x.read(id, |unit, env, partner, id| cards::look(unit, env, partner, *id)).await?;
    if fresh {
        return Ok(record);
    }
    let copy = record.clone();
    let refreshed = x.ask_bank(move |shared, partner| {
        let parts = &shared.parts;
        cards::refresh(&*parts.store, &*parts.bank, &parts.env, partner, record)
    });
    match refreshed.await {
        Ok(refreshed) => Ok(refreshed?),
        // Too many wait for the bank already: the last copy does, as when it cannot be reached.
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
    let kind = r.param("typeCard", word::<CardType>().about("Only cards of this type."));
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
        kind: r.param("type", word::<TransactionType>().about("Only of this type.")),
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
    let status = body.required("statusCard", word::<CardStatus>());
    Some((employee?, number?, status?))
}

pub(crate) fn read_switch(r: &mut Reader<'_>) -> Option<(EmployeeId, CardId, CardStatus)> {
    let employee = read_employee(r);
    let mut body = r.body();
    let card = body.required("idCard", id::<CardId>().about("A card of this employee."));
    let status = body.required("statusCard", word::<CardStatus>());
    Some((employee?, card?, status?))
}

/// A day within the time that any database can hold; no transaction lies outside of it.
fn clamped(day: Date) -> Date {
    let first = OffsetDateTime::UNIX_EPOCH.date();
    let last = first.replace_year(2999).unwrap_or(first);
    day.clamp(first, last)
}

fn start_of(day: Date, zone: Zone) -> OffsetDateTime {
    zone.start_of(day)
}

/// The first moment of the day after `day`.
fn end_of(day: Date, zone: Zone) -> OffsetDateTime {
    zone.start_of(day.next_day().unwrap_or(day))
}
