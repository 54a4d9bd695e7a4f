//! The ledger.

use diesel::prelude::*;
use kopeck_domain::Kopecks;
use kopeck_domain::ids::PartnerId;
use kopeck_domain::ledger::{Balances, Movement, MovementKind, TransferReference};
use kopeck_port_store::{BalanceSheet, LedgerRepository, Rule, StoreError};
use time::OffsetDateTime;

use super::movement_reference::ReferenceColumns;
use crate::connection::AnyConnection;
use crate::convert::AsKey;
use crate::dialect;
use crate::error::Stored;
use crate::history::Booked;
use crate::schema::{balances, entries, movements};
use crate::sql_types::{Id, UtcTimestamp};
use crate::statements::{self, binds, row};
use crate::transaction::DieselTransaction;

/// Opens the empty accounts of a new partner.
pub(super) fn open(
    connection: &mut AnyConnection,
    partner: Id,
    at: OffsetDateTime,
) -> Result<(), StoreError> {
    let text = "INSERT INTO balances
        (partner_id, deposited, available, held, spent, last_movement, updated_at) VALUES (?, 0, 0, 0, 0, 0, ?)";
    statements::execute(connection, text, binds![partner, UtcTimestamp::of(at)]).done()
}

/// What lies on a partner's accounts.
#[derive(Queryable, Selectable)]
#[diesel(table_name = balances)]
struct SheetRow {
    deposited: i64,
    available: i64,
    held: i64,
    spent: i64,
    updated_at: UtcTimestamp,
    threshold: i64,
    approval_above: i64,
}

impl SheetRow {
    fn sheet(self) -> Result<BalanceSheet, StoreError> {
        let balances = Balances {
            deposited: Kopecks::new(self.deposited),
            available: Kopecks::new(self.available),
            held: Kopecks::new(self.held),
            spent: Kopecks::new(self.spent),
        };
        Ok(BalanceSheet {
            balances,
            updated_at: self.updated_at.time("balances.updated_at")?,
            threshold: Kopecks::new(self.threshold),
            approval_above: Kopecks::new(self.approval_above),
        })
    }
}

struct MovementRow {
    partner_id: Id,
    number: i64,
    kind: &'static str,
    reference: ReferenceColumns,
    created_at: UtcTimestamp,
    available_after: i64,
    held_after: i64,
}

row!(MovementRow, movements:
    partner_id, number, kind, created_at, available_after, held_after;
    reference: transfer_reference, order_id, replenishment_id, closing_id, withdrawal_id);

impl LedgerRepository for DieselTransaction {
    fn sheet(&mut self, partner: PartnerId) -> Result<Option<BalanceSheet>, StoreError> {
        let found: Option<SheetRow> = balances::table
            .find(partner.key())
            .select(SheetRow::as_select())
            .get_result(self.of(partner)?)
            .optional()
            .stored()?;
        found.map(SheetRow::sheet).transpose()
    }

    fn book(
        &mut self,
        partner: PartnerId,
        movement: &Movement,
        after: Balances,
        at: OffsetDateTime,
    ) -> Result<(), StoreError> {
        let key = partner.key();
        let last: i64 = balances::table
            .find(&key)
            .select(balances::last_movement)
            .get_result(self.of(partner)?)
            .optional()
            .stored()?
            .ok_or(StoreError::Conflict(Rule::Reference))?;
        let number = last + 1;
        let at = UtcTimestamp::of(at);
        let row = MovementRow {
            partner_id: key,
            number,
            kind: movement.kind().as_str(),
            reference: ReferenceColumns::of(movement.reference()),
            created_at: at,
            available_after: after.available.get(),
            held_after: after.held.get(),
        };
        dialect::guarded(self.of(partner)?, |connection| statements::insert(connection, &[row])).stored()?;
        for entry in movement.entries() {
            let text = "INSERT INTO entries (partner_id, movement, account, amount) VALUES (?, ?, ?, ?)";
            let (account, amount) = (entry.account.as_str(), entry.amount.get());
            self.change(partner, text, binds![key, number, account, amount])?;
        }
        let Balances { deposited, available, held, spent } = after;
        let [deposited, available, held, spent] = [deposited, available, held, spent].map(Kopecks::get);
        let text = "UPDATE balances SET
            deposited = ?, available = ?, held = ?, spent = ?, last_movement = ?, updated_at = ?
            WHERE partner_id = ?";
        self.change(partner, text, binds![deposited, available, held, spent, number, at, key])?;
        self.booked.add(Booked { partner, number, at });
        Ok(())
    }

    fn set_threshold(&mut self, partner: PartnerId, threshold: Kopecks) -> Result<(), StoreError> {
        let text = "UPDATE balances SET threshold = ? WHERE partner_id = ?";
        self.change(partner, text, binds![threshold.get(), partner.key()])
    }

    fn set_approval(&mut self, partner: PartnerId, above: Kopecks) -> Result<(), StoreError> {
        let text = "UPDATE balances SET approval_above = ? WHERE partner_id = ?";
        self.change(partner, text, binds![above.get(), partner.key()])
    }

    fn transferred(
        &mut self,
        partner: PartnerId,
        kind: MovementKind,
        reference: &TransferReference,
    ) -> Result<Option<Kopecks>, StoreError> {
        let (_, reached) = kind.route();
        let of_movement =
            entries::partner_id.eq(movements::partner_id).and(entries::movement.eq(movements::number));
        movements::table
            .inner_join(entries::table.on(of_movement))
            .filter(movements::partner_id.eq(partner.key()))
            .filter(movements::transfer_reference.eq(reference.as_str()))
            .filter(movements::kind.eq(kind.as_str()))
            .filter(entries::account.eq(reached.as_str()))
            .select(entries::amount)
            .get_result(self.of(partner)?)
            .found(|amount| Ok(Kopecks::new(amount)))
    }
}
