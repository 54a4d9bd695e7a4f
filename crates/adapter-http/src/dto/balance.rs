//! The partner's balance.

use kopeck_domain::Kopecks;
use kopeck_domain::calendar::Zone;
use kopeck_domain::money::AmountOverflow;
use kopeck_port_store::BalanceSheet;
use serde::Serialize;

/// The partner's balance.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct BalanceDto {
    balance: Kopecks,
    hold: Kopecks,
    available: Kopecks,
    updated_at: String,
}

impl BalanceDto {
    pub(crate) fn new(sheet: &BalanceSheet, zone: Zone) -> Result<Self, AmountOverflow> {
        Ok(Self {
            balance: sheet.balances.balance()?,
            hold: sheet.balances.held,
            available: sheet.balances.available,
            updated_at: zone.moment_text(sheet.updated_at),
        })
    }
}
