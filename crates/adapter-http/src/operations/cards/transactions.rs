//! Lists the transactions of a card.

use kopeck_domain::calendar::{Zone, parse_date};
use kopeck_domain::ids::CardId;
use kopeck_domain::transaction::TransactionType;
use kopeck_port_store::TransactionFilter;
use kopeck_port_store::page::Page;
use kopeck_service::transactions::{self, TransactionsError};
use time::{Date, OffsetDateTime};

use super::{ANY_ZONE, NO_CARD_OR_BANK, bank_unavailable, read_id};
use crate::dto::transaction;
use crate::input::field_types::{string_enum, text};
use crate::operations::prelude::*;

/// The default number of transactions on a page.
const PAGE_SIZE: u32 = 100;

pub(super) static OPERATION: Operation =
    Operation::of(&operations::CARD_TRANSACTIONS, handler!(transactions))
        .reads(reads!(read, ANY_ZONE))
        .responds::<api::Page<api::Transaction>>(200)
        .refuses(NO_CARD_OR_BANK);

fn read(r: &mut Reader<'_>, zone: Zone) -> Option<(CardId, Page, TransactionFilter)> {
    let card = read_id(r);
    let page = r.sealed_page(PAGE_SIZE);
    let from = r.param("from", text(parse_date).about("Only from this day on."));
    let to = r.param("to", text(parse_date).about("Only up to this day, which is included."));
    let filter = TransactionFilter {
        from: from.map(|day| start_of(clamped(day), zone)),
        before: to.map(|day| end_of(clamped(day), zone)),
        kind: r.param("type", string_enum::<TransactionType>().about("Only of this type.")),
    };
    Some((card?, page?, filter))
}

async fn transactions(ctx: HandlerContext) -> HandlerResult {
    let zone = ctx.zone();
    let (card, page, filter) = ctx.input.values(|r| read(r, zone))?;
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
    ctx.respond_page(&listed, page, |transaction| transaction::body(transaction, zone))
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

impl From<TransactionsError> for ApiError {
    fn from(error: TransactionsError) -> Self {
        match error {
            TransactionsError::NotFound => Code::CardNotFound.into(),
            TransactionsError::BankUnavailable => bank_unavailable(),
            TransactionsError::Store(error) => error.into(),
        }
    }
}
