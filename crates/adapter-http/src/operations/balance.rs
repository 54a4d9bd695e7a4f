//! The partner's balance.

use kopeck_domain::Kopecks;
use kopeck_domain::calendar::Zone;
use kopeck_port_store::BalanceSheet;
use kopeck_service::balance;

use crate::dto::TimestampText;
use crate::operations::prelude::*;

pub(super) static OPERATION: Operation =
    Operation::of(&operations::BALANCE, handler!(get)).responds::<BalanceDto>(200);

async fn get(ctx: HandlerContext) -> HandlerResult {
    let sheet = ctx.read(Ok(()), |unit, _env, partner, ()| balance::get(unit, partner)).await?;
    ctx.respond(&BalanceDto::new(&sheet, ctx.zone())?)
}

api_type! {
    /// Your balance.
    pub(super) struct BalanceDto as "Balance" {
        /// All of your money, kopecks.
        balance: Kopecks,
        /// Held for orders and replenishments that are not done.
        hold: Kopecks,
        /// `balance - hold`, what you can spend; never negative.
        available: Kopecks,
        /// The moment of the last movement.
        updated_at: TimestampText,
    }
}

impl BalanceDto {
    pub(super) fn new(sheet: &BalanceSheet, zone: Zone) -> Result<Self, ApiError> {
        let balance = sheet.balances.balance().map_err(|error| ApiError::internal(error.to_string()))?;
        Ok(Self {
            balance,
            hold: sheet.balances.held,
            available: sheet.balances.available,
            updated_at: TimestampText::new(sheet.updated_at, zone),
        })
    }
}
