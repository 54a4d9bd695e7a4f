//! Cards and their transactions.

mod available;
mod balance;
mod can_pay;
mod info;
mod link;
mod list;
mod switch;
mod transactions;
mod unlink;

use actix_web::http::StatusCode;
use kopeck_domain::Invalid;
use kopeck_domain::calendar::Zone;
use kopeck_domain::card::{AccountBalance, CardStatus};
use kopeck_domain::ids::{CardId, EmployeeId};
use kopeck_port_store::CardRecord;
use kopeck_service::cards::{self, BeingClosed, CardError, CardSnapshot};
use time::UtcOffset;

use crate::dto::local;
use crate::input::field_types::{FieldType, InputValue, text};
use crate::operations::prelude::*;
use crate::schema;

pub(super) static OPERATIONS: [&Operation; 9] = [
    &info::OPERATION,
    &balance::OPERATION,
    &transactions::OPERATION,
    &can_pay::OPERATION,
    &list::OPERATION,
    &available::OPERATION,
    &link::OPERATION,
    &switch::OPERATION,
    &unlink::OPERATION,
];

/// The most characters of a text about a merchant.
const LONGEST_MERCHANT_TEXT: usize = 256;

/// The format of a timestamp is the same in every zone.
pub(super) const ANY_ZONE: Zone = Zone::new(UtcOffset::UTC);

const NO_CARD: &[Code] = &[Code::CardNotFound];
pub(super) const NO_CARD_OR_BANK: &[Code] = &[Code::CardNotFound, Code::BankUnavailable];

/// 503 for data that only the bank has.
pub(super) fn bank_unavailable() -> ApiError {
    ApiError::from(Code::BankUnavailable).retry_after(1)
}

impl From<CardError> for ApiError {
    fn from(error: CardError) -> Self {
        match error {
            CardError::NotFound => Code::CardNotFound.into(),
            CardError::Store(error) => error.into(),
        }
    }
}

impl From<BeingClosed> for ApiError {
    fn from(being_closed: BeingClosed) -> Self {
        Self::new(Code::CardInRequest, being_closed.to_string())
    }
}

/// The card of the path, with recent data of the bank.
async fn read_card(ctx: &mut HandlerContext) -> Result<CardRecord, ApiError> {
    let id = ctx.values(read_id);
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
pub(super) fn read_id(r: &mut Reader<'_>) -> Option<CardId> {
    r.id("idCard")
}

/// A text about a merchant, as a bank would print it.
pub(super) fn merchant_text(
    about: &'static str,
) -> FieldType<impl Fn(InputValue<'_>) -> Result<String, Invalid>> {
    let read = |given: &str| kopeck_domain::text::parse(given, LONGEST_MERCHANT_TEXT);
    text(read).looks_like(|_| schema::free_text(LONGEST_MERCHANT_TEXT)).about(about)
}

fn account(account: &AccountBalance, zone: Zone) -> api::AccountBalance {
    api::AccountBalance { updated_at: local(account.updated_at, zone), value: account.value.get() }
}

fn link_body(employee: EmployeeId, card: CardId, status: CardStatus) -> api::LinkedCard {
    let (id_employee, id_card) = (employee.uuid(), card.uuid());
    api::LinkedCard { id_employee, id_card, status_card: status.as_str().into() }
}
