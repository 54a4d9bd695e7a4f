//! Runs, their items and their requests.

mod rows;

use std::sync::Arc;

use diesel::dsl::max;
use diesel::prelude::*;
use diesel::sql_types::BigInt;
use kopeck_domain::ids::{EmployeeId, PartnerId, ReplenishmentId, RunId};
use kopeck_domain::request::RequestReference;
use kopeck_domain::run::{Run, RunItem, RunKind};
use kopeck_port_store::page::{Listed, Page};
use kopeck_port_store::{
    RunDecision, RunFilter, RunItemFilter, RunOutcomes, RunRepository, RunRequest, StoreError,
};
use time::OffsetDateTime;

use self::rows::{ItemRow, RequestRow, RunRow};
use super::{jobs, listed, window};
use crate::connection::MultiBackend;
use crate::convert::{AsKey, natural};
use crate::dialect;
use crate::error::{Stored, StoredRows};
use crate::schema::{run_items, run_requests, runs};
use crate::sql_types::{Id, UtcTimestamp, sql};
use crate::statements::{self, OneOf, binds};
use crate::transaction::DieselTransaction;

const DECIDE: &str = "UPDATE run_items SET outcome = ?, reason = ? \
    WHERE partner_id = ? AND run_id = ? AND ordinal BETWEEN ? AND ? AND ordinal ? AND outcome IS NULL";

const OUTCOMES: &str = "
    SELECT COUNT(CASE WHEN outcome = 'DONE' THEN 1 END) AS done,
        COUNT(CASE WHEN outcome <> 'DONE' AND fault_code IS NULL THEN 1 END) AS missed
    FROM run_items WHERE partner_id = ? AND run_id = ? AND ordinal >= ? AND ordinal < ?";

// The conditions of the indexes stand in the texts, so that the planner knows that they fit.
const BY_REFERENCE: &str = "
    SELECT id FROM runs
    WHERE partner_id = ? AND kind = ? AND reference = ? AND state <> 'REJECTED' AND state <> 'EXPIRED'";
const IS_PROGRAMME_OPEN: &str = "
    SELECT EXISTS (
        SELECT 1 FROM runs
        WHERE partner_id = ? AND programme_id IS NOT NULL AND state = 'IN_PROCESS' AND state_since >= ?
    ) AS answer";

#[derive(QueryableByName)]
struct IdRow {
    #[diesel(sql_type = sql::Id)]
    id: Id,
}

#[derive(QueryableByName)]
struct OutcomesRow {
    #[diesel(sql_type = BigInt)]
    done: i64,
    #[diesel(sql_type = BigInt)]
    missed: i64,
}

/// The partner's runs that fit `filter`.
fn filtered(partner: PartnerId, filter: &RunFilter) -> runs::BoxedQuery<'static, MultiBackend> {
    let RunFilter { kind, state, reference, programme, from, before } = filter;
    let mut query = runs::table.filter(runs::partner_id.eq(partner.key())).into_boxed();
    if let Some(kind) = kind {
        query = query.filter(runs::kind.eq(kind.as_str()));
    }
    if let Some(state) = state {
        query = query.filter(runs::state.eq(state.as_str()));
    }
    if let Some(reference) = reference {
        query = query.filter(runs::reference.eq(reference.as_str().to_owned()));
    }
    if let Some(programme) = programme {
        query = query.filter(runs::programme_id.eq(programme.key()));
    }
    if let Some(from) = from {
        query = query.filter(runs::created_at.ge(UtcTimestamp::of(*from)));
    }
    if let Some(before) = before {
        query = query.filter(runs::created_at.lt(UtcTimestamp::of(*before)));
    }
    query
}

/// The items of a run that fit `filter`.
fn filtered_items(
    partner: PartnerId,
    run: Id,
    filter: RunItemFilter,
) -> run_items::BoxedQuery<'static, MultiBackend> {
    let RunItemFilter { faulty, outcome } = filter;
    let mut query = run_items::table
        .filter(run_items::partner_id.eq(partner.key()))
        .filter(run_items::run_id.eq(run))
        .into_boxed();
    match faulty {
        Some(true) => query = query.filter(run_items::fault_code.is_not_null()),
        Some(false) => query = query.filter(run_items::fault_code.is_null()),
        None => {}
    }
    if let Some(outcome) = outcome {
        query = query.filter(run_items::outcome.eq(outcome.as_str()));
    }
    query
}

impl DieselTransaction {
    /// Overwrites what items of runs hold of an employee.
    pub(super) fn erase_run_items_about(
        &mut self,
        partner: PartnerId,
        employee: EmployeeId,
    ) -> Result<(), StoreError> {
        // By keys, which the index of employees has: SQLite would look through all items of the partner.
        let text =
            "UPDATE run_items SET cells = NULL, custom_id = NULL WHERE partner_id = ? AND (run_id, ordinal) IN
            (SELECT run_id, ordinal FROM run_items WHERE partner_id = ? AND employee_id = ?)";
        self.change(partner, text, binds![partner.key(), partner.key(), employee.key()])
    }

    fn insert_run_items(
        &mut self,
        partner: PartnerId,
        id: RunId,
        items: &[RunItem],
    ) -> Result<(), StoreError> {
        let (id, cipher) = (id.key(), Arc::clone(&self.cipher));
        for items in items.chunks(statements::INSERT_CHUNK) {
            let rows: Vec<ItemRow> = items
                .iter()
                .map(|item| ItemRow::new(partner, id, item, &*cipher))
                .collect::<Result<_, _>>()?;
            statements::insert(self.of(partner)?, &rows).stored()?;
        }
        Ok(())
    }

    fn run_items(&self, partner: PartnerId, rows: Vec<ItemRow>) -> Result<Vec<RunItem>, StoreError> {
        rows.into_iter().map(|row| row.item(partner, &*self.cipher)).collect()
    }
}

impl RunRepository for DieselTransaction {
    fn insert(&mut self, partner: PartnerId, run: &Run, items: &[RunItem]) -> Result<(), StoreError> {
        // The partner's lock keeps the number from being given out twice.
        let last: Option<i64> = runs::table
            .filter(runs::partner_id.eq(partner.key()))
            .select(max(runs::seq))
            .get_result(self.of(partner)?)
            .stored()?;
        let row = RunRow::new(partner, last.unwrap_or(0) + 1, run)?;
        dialect::guarded(self.of(partner)?, |connection| {
            statements::insert(connection, std::slice::from_ref(&row))
        })
        .stored()?;
        self.insert_run_items(partner, run.id(), items)
    }

    fn get(&mut self, partner: PartnerId, id: RunId) -> Result<Option<Run>, StoreError> {
        runs::table
            .find((partner.key(), id.key()))
            .select(RunRow::as_select())
            .get_result(self.of(partner)?)
            .found(RunRow::run)
    }

    fn by_reference(
        &mut self,
        partner: PartnerId,
        kind: RunKind,
        reference: &RequestReference,
    ) -> Result<Option<RunId>, StoreError> {
        let values = binds![partner.key(), kind.as_str(), reference.as_str()];
        let rows: Vec<IdRow> = statements::load(self.of(partner)?, BY_REFERENCE, values).stored()?;
        Ok(rows.into_iter().next().map(|row| row.id.to()))
    }

    fn set_state(&mut self, partner: PartnerId, run: &Run) -> Result<(), StoreError> {
        let row = RunRow::new(partner, 0, run)?;
        let text =
            "UPDATE runs SET state = ?, state_since = ?, submitted_by = ?, submitted_at = ?, approved_by = ?,
            refusal = ?, due_at = ?, retry_at = ? WHERE partner_id = ? AND id = ?";
        let values = binds![
            &row.state,
            row.state_since,
            &row.submitted_by,
            row.submitted_at,
            &row.approved_by,
            &row.refusal,
            row.due_at,
            row.retry_at,
            partner.key(),
            run.id().key(),
        ];
        self.change(partner, text, values)
    }

    fn renew(&mut self, partner: PartnerId, run: &Run, items: &[RunItem]) -> Result<(), StoreError> {
        self.set_state(partner, run)?;
        let (totals, id) = (run.totals(), run.id());
        let text = "UPDATE runs SET items = ?, faulty = ?, amount = ?, available = ?, available_after = ?, digest = ?
            WHERE partner_id = ? AND id = ?";
        let digest = run.digest().as_bytes().to_vec();
        let values = binds![
            i64::from(totals.number),
            i64::from(totals.faulty),
            totals.amount.get(),
            totals.available.get(),
            totals.available_after.get(),
            &digest,
            partner.key(),
            id.key(),
        ];
        self.change(partner, text, values)?;
        let own = binds![partner.key(), id.key()];
        self.change(partner, "DELETE FROM run_items WHERE partner_id = ? AND run_id = ?", own)?;
        let own = binds![partner.key(), id.key()];
        self.change(partner, "DELETE FROM run_requests WHERE partner_id = ? AND run_id = ?", own)?;
        self.insert_run_items(partner, id, items)
    }

    fn retries(&mut self, partner: PartnerId, now: OffsetDateTime) -> Result<Vec<Run>, StoreError> {
        runs::table
            .filter(runs::partner_id.eq(partner.key()))
            .filter(runs::retry_at.le(UtcTimestamp::of(now)))
            .order((runs::retry_at, runs::seq))
            .select(RunRow::as_select())
            .load(self.of(partner)?)
            .all(RunRow::run)
    }

    fn is_programme_open(
        &mut self,
        partner: PartnerId,
        open_since: OffsetDateTime,
    ) -> Result<bool, StoreError> {
        let values = binds![partner.key(), UtcTimestamp::of(open_since)];
        statements::is_any(self.of(partner)?, IS_PROGRAMME_OPEN, values).stored()
    }

    fn of_replenishment(
        &mut self,
        partner: PartnerId,
        id: ReplenishmentId,
    ) -> Result<Option<Run>, StoreError> {
        let run: Option<Id> = run_requests::table
            .filter(run_requests::partner_id.eq(partner.key()))
            .filter(run_requests::request_id.eq(id.key()))
            .select(run_requests::run_id)
            .get_result(self.of(partner)?)
            .optional()
            .stored()?;
        match run {
            Some(run) => RunRepository::get(self, partner, run.to()),
            None => Ok(None),
        }
    }

    fn list(
        &mut self,
        partner: PartnerId,
        filter: &RunFilter,
        page: Page,
    ) -> Result<Listed<Run>, StoreError> {
        let total: i64 = filtered(partner, filter).count().get_result(self.of(partner)?).stored()?;
        let (limit, offset) = window(page);
        let rows = filtered(partner, filter)
            .order(runs::seq.desc())
            .select(RunRow::as_select())
            .limit(limit)
            .offset(offset);
        listed(total, rows.load(self.of(partner)?), RunRow::run)
    }

    fn list_items(
        &mut self,
        partner: PartnerId,
        id: RunId,
        filter: RunItemFilter,
        page: Page,
    ) -> Result<Listed<RunItem>, StoreError> {
        let query = || filtered_items(partner, id.key(), filter);
        let total: i64 = query().count().get_result(self.of(partner)?).stored()?;
        let (limit, offset) = window(page);
        let rows = query()
            .order(run_items::ordinal)
            .select(ItemRow::as_select())
            .limit(limit)
            .offset(offset)
            .load(self.of(partner)?)
            .stored()?;
        let (items, total) = (self.run_items(partner, rows)?, natural(total, "run_items")?);
        Ok(Listed { items, total })
    }

    fn items(
        &mut self,
        partner: PartnerId,
        id: RunId,
        from_ordinal: u32,
        limit: u32,
    ) -> Result<Vec<RunItem>, StoreError> {
        let rows = run_items::table
            .filter(run_items::partner_id.eq(partner.key()))
            .filter(run_items::run_id.eq(id.key()))
            .filter(run_items::ordinal.ge(i64::from(from_ordinal)))
            .order(run_items::ordinal)
            .limit(i64::from(limit))
            .select(ItemRow::as_select())
            .load(self.of(partner)?)
            .stored()?;
        self.run_items(partner, rows)
    }

    fn open_items(&mut self, partner: PartnerId, id: RunId, limit: u32) -> Result<Vec<RunItem>, StoreError> {
        let rows = run_items::table
            .filter(run_items::partner_id.eq(partner.key()))
            .filter(run_items::run_id.eq(id.key()))
            .filter(run_items::outcome.is_null())
            .order(run_items::ordinal)
            .limit(i64::from(limit))
            .select(ItemRow::as_select())
            .load(self.of(partner)?)
            .stored()?;
        self.run_items(partner, rows)
    }

    fn decide(&mut self, partner: PartnerId, id: RunId, decisions: &[RunDecision]) -> Result<(), StoreError> {
        // One statement for each outcome, of which there are few; see the items of card batches.
        let mut by_outcome = std::collections::BTreeMap::<_, Vec<i64>>::new();
        for RunDecision { ordinal, outcome, reason, employee } in decisions {
            by_outcome.entry((*outcome, reason)).or_default().push(i64::from(*ordinal));
            if let Some(employee) = employee {
                let text = "UPDATE run_items SET employee_id = ? WHERE partner_id = ? AND run_id = ? AND ordinal = ?";
                let values = binds![employee.key(), partner.key(), id.key(), i64::from(*ordinal)];
                self.change(partner, text, values)?;
            }
        }
        for ((outcome, reason), ordinals) in by_outcome {
            for some in ordinals.chunks(statements::UPDATE_CHUNK as usize) {
                let (Some(first), Some(last)) = (some.iter().min(), some.iter().max()) else { continue };
                let values = binds![
                    outcome.as_str(),
                    reason,
                    partner.key(),
                    id.key(),
                    first,
                    last,
                    OneOf(some.to_vec())
                ];
                self.change(partner, DECIDE, values)?;
            }
        }
        Ok(())
    }

    fn outcomes(&mut self, partner: PartnerId, id: RunId) -> Result<RunOutcomes, StoreError> {
        let mut outcomes = RunOutcomes::default();
        let run = RunRepository::get(self, partner, id)?;
        let items = run.map_or(0, |run| i64::from(run.totals().number));
        for (first, end) in statements::ordinal_ranges(items, statements::COUNT_CHUNK) {
            let values = binds![partner.key(), id.key(), first, end];
            let rows: Vec<OutcomesRow> = statements::load(self.of(partner)?, OUTCOMES, values).stored()?;
            for row in rows {
                outcomes.done += natural::<u32>(row.done, "run_items")?;
                outcomes.missed += natural::<u32>(row.missed, "run_items")?;
            }
        }
        Ok(outcomes)
    }

    fn add_requests(
        &mut self,
        partner: PartnerId,
        id: RunId,
        requests: &[RunRequest],
    ) -> Result<(), StoreError> {
        let rows: Vec<RequestRow> = (0..)
            .zip(requests)
            .map(|(position, request)| {
                let (kind, request_id) = match request {
                    RunRequest::Order(id) => (jobs::ORDER, id.key()),
                    RunRequest::Replenishment(id) => (jobs::REPLENISHMENT, id.key()),
                    RunRequest::LimitChange(id) => (jobs::LIMIT_CHANGE, id.key()),
                    RunRequest::Withdrawal(id) => (jobs::WITHDRAWAL, id.key()),
                };
                let (partner_id, run_id, kind) = (partner.key(), id.key(), kind.to_owned());
                RequestRow { partner_id, run_id, position, kind, request_id }
            })
            .collect();
        statements::insert(self.of(partner)?, &rows).stored()
    }

    fn requests(&mut self, partner: PartnerId, id: RunId) -> Result<Vec<RunRequest>, StoreError> {
        run_requests::table
            .filter(run_requests::partner_id.eq(partner.key()))
            .filter(run_requests::run_id.eq(id.key()))
            .order(run_requests::position)
            .select(RequestRow::as_select())
            .load(self.of(partner)?)
            .all(RequestRow::request)
    }

    fn due(&mut self, now: OffsetDateTime, limit: u32) -> Result<Vec<(PartnerId, RunId)>, StoreError> {
        runs::table
            .filter(runs::due_at.le(UtcTimestamp::of(now)))
            .order(runs::due_at)
            .limit(i64::from(limit))
            .select((runs::partner_id, runs::id))
            .load(self.unlocked()?)
            .all(|(partner, id): (Id, Id)| Ok((partner.to(), id.to())))
    }
}
