//! Lists the transactions of a card.

use kopeck_domain::calendar::Zone;
use kopeck_domain::ids::CardId;
use kopeck_domain::transaction::TransactionType;
use kopeck_port_store::TransactionFilter;
use kopeck_port_store::page::Page;
use kopeck_service::transactions::{self, TransactionsError};

use super::{ANY_ZONE, NO_CARD_OR_BANK, bank_unavailable, read_id};
use crate::input::field_types::string_enum;
use crate::input::period::{self, Period};
use crate::operations::prelude::*;

/// The default number of transactions on a page.
const PAGE_SIZE: u32 = 100;

pub(super) static OPERATION: Operation =
    Operation::of(&operations::CARD_TRANSACTIONS, Needs::One(Scope::StatementsRead), handler!(transactions))
        .reads(reads!(read, ANY_ZONE))
        .responds::<api::Page<api::Transaction>>(200)
        .refuses(NO_CARD_OR_BANK);

fn read(r: &mut Reader<'_>, zone: Zone) -> Option<(CardId, Page, TransactionFilter)> {
    let card = read_id(r);
    let page = r.sealed_page(PAGE_SIZE);
    let Period { from, before } = period::read(r, zone);
    let filter = TransactionFilter {
        from,
        before,
        kind: r.param("type", string_enum::<TransactionType>().about("Only of this type.")),
    };
    Some((card?, page?, filter))
}

async fn transactions(mut ctx: HandlerContext) -> HandlerResult {
    let zone = ctx.zone();
    let (card, page, filter) = ctx.values(|r| read(r, zone))?;
    // A slow bank must not hold what others' lists need.
    ctx.pause();
    let synced = ctx.ask_bank(move |shared, partner| {
        let parts = &shared.parts;
        transactions::sync(&*parts.store, &*parts.bank, &parts.env, partner, card)
    });
    synced.await??;
    ctx.resume().await?;
    let listed = ctx
        .read(Ok(page), move |unit, _env, partner, page| {
            transactions::list(unit, partner, card, filter, *page)
        })
        .await?;
    ctx.respond_page(&listed, page, |transaction| api::Transaction::of(transaction, zone))
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
