//! The partner's balance.

use kopeck_domain::Kopecks;
use kopeck_domain::calendar::Zone;
use kopeck_domain::money::AmountOverflow;
use kopeck_port_store::BalanceSheet;

use super::TimestampText;
use crate::openapi::schema::api_type;

api_type! {
    /// Your balance.
    pub(crate) struct BalanceDto as "Balance" {
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
    pub(crate) fn new(sheet: &BalanceSheet, zone: Zone) -> Result<Self, AmountOverflow> {
        Ok(Self {
            balance: sheet.balances.balance()?,
            hold: sheet.balances.held,
            available: sheet.balances.available,
            updated_at: TimestampText::new(sheet.updated_at, zone),
        })
    }
}
