//! Leavers, and the partners' rules for them.

use diesel::prelude::*;
use kopeck_domain::ids::{EmployeeId, PartnerId, RunId};
use kopeck_domain::leaver::{FrozenCard, Leaver, LeaverRules};
use kopeck_port_store::{LeaverRepository, StoreError};
use time::OffsetDateTime;

use crate::convert::{AsKey, corrupt, natural, word};
use crate::error::{Stored, StoredRows};
use crate::schema::{leaver_cards, leavers, partners};
use crate::sql_types::{Id, UtcTimestamp};
use crate::statements::{self, binds, row};
use crate::transaction::DieselTransaction;

#[derive(Queryable, Selectable)]
#[diesel(table_name = leavers)]
struct LeaverRow {
    partner_id: Id,
    employee_id: Id,
    left_at: UtcTimestamp,
    closes: bool,
    run_id: Option<Id>,
    look_at: Option<UtcTimestamp>,
}

row!(LeaverRow, leavers: partner_id, employee_id, left_at, closes, run_id, look_at);

#[derive(Queryable, Selectable)]
#[diesel(table_name = leaver_cards)]
struct LeaverCardRow {
    partner_id: Id,
    employee_id: Id,
    card_id: Id,
    status: String,
}

row!(LeaverCardRow, leaver_cards: partner_id, employee_id, card_id, status);

impl LeaverCardRow {
    fn frozen(self) -> Result<FrozenCard, StoreError> {
        Ok(FrozenCard { card: self.card_id.to(), status: word(&self.status, "leaver_cards.status")? })
    }
}

impl LeaverRepository for DieselTransaction {
    fn rules(&mut self, partner: PartnerId) -> Result<LeaverRules, StoreError> {
        let found: Option<(bool, Option<i64>, bool)> = partners::table
            .find(partner.key())
            .select((partners::leavers_freeze, partners::leavers_after_days, partners::leavers_close))
            .get_result(self.of(partner)?)
            .optional()
            .stored()?;
        let Some((freeze, days, close)) = found else { return Ok(LeaverRules::default()) };
        let days = days.map(|days| natural(days, "partners.leavers_after_days")).transpose()?;
        LeaverRules::new(freeze, days, close).map_err(|_| corrupt("partners.leavers_close"))
    }

    fn set_rules(&mut self, partner: PartnerId, rules: &LeaverRules) -> Result<(), StoreError> {
        let text =
            "UPDATE partners SET leavers_freeze = ?, leavers_after_days = ?, leavers_close = ? WHERE id = ?";
        let days = rules.take_back_after_days().map(i64::from);
        self.change(partner, text, binds![rules.freeze(), days, rules.close(), partner.key()])
    }

    fn put(&mut self, partner: PartnerId, leaver: &Leaver) -> Result<(), StoreError> {
        let Leaver { employee, left_at, frozen, closes, run, look_at } = leaver;
        LeaverRepository::remove(self, partner, *employee)?;
        let row = LeaverRow {
            partner_id: partner.key(),
            employee_id: employee.key(),
            left_at: UtcTimestamp::of(*left_at),
            closes: *closes,
            run_id: run.map(|run| run.key()),
            look_at: look_at.map(UtcTimestamp::of),
        };
        statements::insert(self.of(partner)?, &[row]).stored()?;
        let card = |frozen: &FrozenCard| LeaverCardRow {
            partner_id: partner.key(),
            employee_id: employee.key(),
            card_id: frozen.card.key(),
            status: frozen.status.as_str().to_owned(),
        };
        let cards: Vec<LeaverCardRow> = frozen.iter().map(card).collect();
        if cards.is_empty() { Ok(()) } else { statements::insert(self.of(partner)?, &cards).stored() }
    }

    fn get(&mut self, partner: PartnerId, employee: EmployeeId) -> Result<Option<Leaver>, StoreError> {
        let row: Option<LeaverRow> = leavers::table
            .find((partner.key(), employee.key()))
            .select(LeaverRow::as_select())
            .get_result(self.of(partner)?)
            .optional()
            .stored()?;
        let Some(row) = row else { return Ok(None) };
        let frozen = leaver_cards::table
            .filter(leaver_cards::partner_id.eq(partner.key()))
            .filter(leaver_cards::employee_id.eq(employee.key()))
            .order(leaver_cards::card_id)
            .select(LeaverCardRow::as_select())
            .load(self.of(partner)?)
            .all(LeaverCardRow::frozen)?;
        Ok(Some(Leaver {
            employee,
            left_at: row.left_at.time("leavers.left_at")?,
            frozen,
            closes: row.closes,
            run: row.run_id.map(|id| id.to()),
            look_at: UtcTimestamp::optional(row.look_at, "leavers.look_at")?,
        }))
    }

    fn remove(&mut self, partner: PartnerId, employee: EmployeeId) -> Result<(), StoreError> {
        let values = || binds![partner.key(), employee.key()];
        self.change(partner, "DELETE FROM leaver_cards WHERE partner_id = ? AND employee_id = ?", values())?;
        self.change(partner, "DELETE FROM leavers WHERE partner_id = ? AND employee_id = ?", values())
    }

    fn due(&mut self, now: OffsetDateTime, limit: u32) -> Result<Vec<(PartnerId, EmployeeId)>, StoreError> {
        leavers::table
            .filter(leavers::look_at.le(UtcTimestamp::of(now)))
            .order(leavers::look_at)
            .limit(i64::from(limit))
            .select((leavers::partner_id, leavers::employee_id))
            .load(self.unlocked()?)
            .all(|(partner, employee): (Id, Id)| Ok((partner.to(), employee.to())))
    }

    fn wake(&mut self, partner: PartnerId, run: RunId, at: OffsetDateTime) -> Result<(), StoreError> {
        let text = "UPDATE leavers SET look_at = ? WHERE partner_id = ? AND run_id = ?";
        self.change(partner, text, binds![UtcTimestamp::of(at), partner.key(), run.key()])
    }

    fn call_off(&mut self, partner: PartnerId) -> Result<(), StoreError> {
        let text = "UPDATE leavers SET look_at = NULL WHERE partner_id = ? AND run_id IS NULL AND look_at IS NOT NULL";
        self.change(partner, text, binds![partner.key()])
    }
}
