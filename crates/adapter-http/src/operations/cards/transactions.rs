//! Lists the transactions of a card.

use kopeck_domain::Kopecks;
use kopeck_domain::calendar::{Zone, parse_date};
use kopeck_domain::ids::CardId;
use kopeck_domain::transaction::{Transaction, TransactionType};
use kopeck_port_store::TransactionFilter;
use kopeck_port_store::page::Page;
use kopeck_service::transactions::{self, TransactionsError};
use time::{Date, OffsetDateTime};

use super::{ANY_ZONE, NO_CARD_OR_BANK, bank_unavailable, read_id};
use crate::dto::{DateText, PageDto};
use crate::input::field_types::{string_enum, text};
use crate::operations::prelude::*;

/// The default number of transactions on a page.
const PAGE_SIZE: u32 = 100;

pub(super) static OPERATION: Operation =
    Operation::of(&operations::CARD_TRANSACTIONS, handler!(transactions))
        .reads(reads!(read, ANY_ZONE))
        .responds::<PageDto<'_, TransactionDto<'_>>>(200)
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
    let show = |transaction| TransactionDto::new(transaction, zone);
    ctx.respond_page(&listed, page, show)
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

api_type! {
    /// A transaction in a list.
    struct TransactionDto<'a> as "Transaction" {
        /// Its number.
        id: i64,
        /// The day.
        date_execution_at: DateText,
        /// The time of the day, `HH:MM`.
        time_execution_at: String,
        /// What it is; it tells the direction.
        #[serde(rename = "type")]
        kind: TransactionType,
        /// Kopecks, always positive.
        amount: Kopecks,
        /// The merchant's outlet, where there is one.
        place: Option<&'a str>,
        /// The merchant's category code, where there is one.
        mcc: Option<&'a str>,
        /// The merchant's identifier, where there is one.
        merchant_id: Option<&'a str>,
    }
}

impl<'a> TransactionDto<'a> {
    fn new(transaction: &'a Transaction, zone: Zone) -> Self {
        Self {
            id: transaction.id,
            date_execution_at: DateText::of(transaction.executed_at, zone),
            time_execution_at: zone.time_text(transaction.executed_at),
            kind: transaction.kind,
            amount: transaction.amount,
            place: transaction.place.as_deref(),
            mcc: transaction.mcc.as_deref(),
            merchant_id: transaction.merchant_id.as_deref(),
        }
    }
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
