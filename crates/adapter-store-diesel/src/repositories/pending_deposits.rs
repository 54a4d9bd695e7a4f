//! Deposits that wait for a second operator.

use diesel::prelude::*;
use kopeck_domain::Kopecks;
use kopeck_domain::ids::PartnerId;
use kopeck_domain::ledger::TransferReference;
use kopeck_domain::pending_deposit::PendingDeposit;
use kopeck_port_store::{PendingDepositRepository, StoreError};

use crate::convert::{AsKey, corrupt};
use crate::error::{Stored, StoredRows};
use crate::schema::pending_deposits;
use crate::sql_types::{Id, UtcTimestamp};
use crate::statements::{self, binds, row};
use crate::transaction::DieselTransaction;

#[derive(Queryable, Selectable)]
#[diesel(table_name = pending_deposits)]
struct DepositRow {
    partner_id: Id,
    reference: String,
    amount: i64,
    entered_by: String,
    entered_at: UtcTimestamp,
}

row!(DepositRow, pending_deposits: partner_id, reference, amount, entered_by, entered_at);

impl DepositRow {
    fn deposit(self) -> Result<PendingDeposit, StoreError> {
        Ok(PendingDeposit {
            partner: self.partner_id.to(),
            reference: TransferReference::parse(&self.reference)
                .map_err(|_| corrupt("pending_deposits.reference"))?,
            amount: Kopecks::new(self.amount),
            by: self.entered_by.parse().map_err(|_| corrupt("pending_deposits.entered_by"))?,
            at: self.entered_at.time("pending_deposits.entered_at")?,
        })
    }
}

impl PendingDepositRepository for DieselTransaction {
    fn insert(&mut self, deposit: &PendingDeposit) -> Result<(), StoreError> {
        let PendingDeposit { partner, reference, amount, by, at } = deposit;
        let row = DepositRow {
            partner_id: partner.key(),
            reference: reference.as_str().to_owned(),
            amount: amount.get(),
            entered_by: by.to_string(),
            entered_at: UtcTimestamp::of(*at),
        };
        statements::insert(self.of(*partner)?, &[row]).stored()
    }

    fn get(
        &mut self,
        partner: PartnerId,
        reference: &TransferReference,
    ) -> Result<Option<PendingDeposit>, StoreError> {
        let row: Option<DepositRow> = pending_deposits::table
            .find((partner.key(), reference.as_str()))
            .select(DepositRow::as_select())
            .get_result(self.of(partner)?)
            .optional()
            .stored()?;
        row.map(DepositRow::deposit).transpose()
    }

    fn remove(&mut self, partner: PartnerId, reference: &TransferReference) -> Result<(), StoreError> {
        let text = "DELETE FROM pending_deposits WHERE partner_id = ? AND reference = ?";
        self.change(partner, text, binds![partner.key(), reference.as_str()])
    }

    fn list(&mut self, limit: u32) -> Result<Vec<PendingDeposit>, StoreError> {
        pending_deposits::table
            .order((pending_deposits::entered_at, pending_deposits::partner_id, pending_deposits::reference))
            .limit(i64::from(limit))
            .select(DepositRow::as_select())
            .load(self.unlocked()?)
            .all(DepositRow::deposit)
    }
}
