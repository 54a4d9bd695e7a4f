//! The partner's balance, and what moved on it.

mod entries;

use kopeck_domain::calendar::Zone;
use kopeck_port_store::BalanceSheet;
use kopeck_service::balance;

use crate::dto::local;
use crate::operations::prelude::*;

pub(super) static OPERATIONS: [&Operation; 2] = [&OPERATION, &entries::OPERATION];

static OPERATION: Operation =
    Operation::of(&operations::BALANCE, Needs::One(Scope::StatementsRead), handler!(get))
        .responds::<api::Balance>(200);

async fn get(ctx: HandlerContext) -> HandlerResult {
    let sheet = ctx.read(Ok(()), |unit, _env, partner, ()| balance::get(unit, partner)).await?;
    ctx.respond(&body(&sheet, ctx.zone())?)
}

pub(super) fn body(sheet: &BalanceSheet, zone: Zone) -> Result<api::Balance, ApiError> {
    let balance = sheet.balances.balance().map_err(|error| ApiError::internal(error.to_string()))?;
    Ok(api::Balance {
        balance: balance.get(),
        hold: sheet.balances.held.get(),
        available: sheet.balances.available.get(),
        updated_at: local(sheet.updated_at, zone),
    })
}
