//! The rows of runs, their items and their requests, and their way to and from the domain.

use diesel::prelude::*;
use kopeck_domain::Kopecks;
use kopeck_domain::approval::{self, Digest};
use kopeck_domain::ids::PartnerId;
use kopeck_domain::person::CustomId;
use kopeck_domain::request::RequestReference;
use kopeck_domain::run::row::{Cell, CellValue};
use kopeck_domain::run::{
    DRAFT_LIFETIME, Fault, Run, RunFields, RunItem, RunProgramme, RunState, RunTotals, Submitted,
};
use kopeck_port_store::{ColumnCipher, RunRequest, StoreError};
use serde_json::Value;
use time::OffsetDateTime;

use crate::convert::{AsKey, corrupt, fixed, natural, word};
use crate::encryption::{RowCipher, part_row};
use crate::repositories::jobs;
use crate::schema::{run_items, run_requests, runs};
use crate::sql_types::{Id, UtcTimestamp};
use crate::statements::row;
use crate::{limit_text, terms_text};

/// A run as its table has it.
#[derive(Queryable, Selectable)]
#[diesel(table_name = runs)]
pub(super) struct RunRow {
    partner_id: Id,
    id: Id,
    seq: i64,
    kind: String,
    reference: Option<String>,
    planned_at: Option<UtcTimestamp>,
    creates_categories: bool,
    items: i64,
    faulty: i64,
    amount: i64,
    available: i64,
    available_after: i64,
    digest: Vec<u8>,
    created_by: String,
    created_at: UtcTimestamp,
    pub(super) state: String,
    pub(super) state_since: UtcTimestamp,
    pub(super) submitted_by: Option<String>,
    pub(super) submitted_at: Option<UtcTimestamp>,
    pub(super) approved_by: Option<String>,
    pub(super) refusal: Option<String>,
    pub(super) due_at: Option<UtcTimestamp>,
    programme_id: Option<Id>,
    period: Option<String>,
    terms: Option<String>,
    pub(super) retry_at: Option<UtcTimestamp>,
}

row!(
    RunRow, runs: partner_id, id, seq, kind, reference, planned_at, creates_categories, items, faulty, amount, available,
    available_after, digest, created_by, created_at, state, state_since, submitted_by, submitted_at, approved_by, refusal,
    due_at, programme_id, period, terms, retry_at
);

/// When a run is looked at without a caller.
fn due_at(run: &Run) -> Option<OffsetDateTime> {
    match run.state() {
        RunState::Draft => Some(run.created_at() + DRAFT_LIFETIME),
        RunState::WaitingApproval => run.submitted().map(|submitted| submitted.at + approval::LIFETIME),
        RunState::Scheduled => run.at(),
        _ => None,
    }
}

impl RunRow {
    pub(super) fn new(partner: PartnerId, seq: i64, run: &Run) -> Result<Self, StoreError> {
        let (totals, programme) = (run.totals(), run.programme());
        let stamp = |at: Option<OffsetDateTime>| at.map(UtcTimestamp::of);
        Ok(Self {
            partner_id: partner.key(),
            id: run.id().key(),
            seq,
            kind: run.kind().as_str().to_owned(),
            reference: run.reference().map(|reference| reference.as_str().to_owned()),
            planned_at: stamp(run.at()),
            creates_categories: run.creates_categories(),
            items: totals.number.into(),
            faulty: totals.faulty.into(),
            amount: totals.amount.get(),
            available: totals.available.get(),
            available_after: totals.available_after.get(),
            digest: run.digest().as_bytes().to_vec(),
            created_by: run.created_by().to_string(),
            created_at: UtcTimestamp::of(run.created_at()),
            state: run.state().as_str().to_owned(),
            state_since: UtcTimestamp::of(run.state_since()),
            submitted_by: run.submitted().map(|submitted| submitted.by.to_string()),
            submitted_at: stamp(run.submitted().map(|submitted| submitted.at)),
            approved_by: run.approved_by().map(ToString::to_string),
            refusal: run.refusal().cloned(),
            due_at: stamp(due_at(run)),
            programme_id: programme.map(|programme| programme.id.key()),
            period: programme.map(|programme| programme.period.to_string()),
            terms: programme.map(|programme| terms_text::text(&programme.terms)).transpose()?,
            retry_at: stamp(programme.and_then(|programme| programme.retry_at)),
        })
    }

    pub(super) fn run(self) -> Result<Run, StoreError> {
        let submitted = match (self.submitted_by, self.submitted_at) {
            (Some(by), Some(at)) => {
                Some(Submitted { by: word(&by, "runs.submitted_by")?, at: at.time("runs.submitted_at")? })
            }
            (None, None) => None,
            _ => return Err(corrupt("runs.submitted_by")),
        };
        let programme = match (self.programme_id, self.period, self.terms) {
            (Some(id), Some(period), Some(terms)) => Some(RunProgramme {
                id: id.to(),
                period: word(&period, "runs.period")?,
                terms: terms_text::parse(&terms, "runs.terms")?,
                retry_at: UtcTimestamp::optional(self.retry_at, "runs.retry_at")?,
            }),
            (None, None, None) => None,
            _ => return Err(corrupt("runs.programme_id")),
        };
        Ok(Run::from_stored(RunFields {
            id: self.id.to(),
            kind: word(&self.kind, "runs.kind")?,
            reference: self.reference.map(RequestReference::from_stored),
            at: UtcTimestamp::optional(self.planned_at, "runs.planned_at")?,
            creates_categories: self.creates_categories,
            totals: RunTotals {
                number: natural(self.items, "runs.items")?,
                faulty: natural(self.faulty, "runs.faulty")?,
                amount: Kopecks::new(self.amount),
                available: Kopecks::new(self.available),
                available_after: Kopecks::new(self.available_after),
            },
            digest: Digest::from_bytes(fixed(self.digest, "runs.digest")?),
            created_by: word(&self.created_by, "runs.created_by")?,
            created_at: self.created_at.time("runs.created_at")?,
            state: word(&self.state, "runs.state")?,
            state_since: self.state_since.time("runs.state_since")?,
            submitted,
            approved_by: self.approved_by.map(|by| word(&by, "runs.approved_by")).transpose()?,
            refusal: self.refusal,
            programme,
        }))
    }
}

/// An item of a run as its table has it.
#[derive(Queryable, Selectable)]
#[diesel(table_name = run_items)]
pub(super) struct ItemRow {
    partner_id: Id,
    run_id: Id,
    ordinal: i64,
    line: i64,
    cells: Option<Vec<u8>>,
    spending_limit: Option<String>,
    employee_id: Option<Id>,
    custom_id: Option<String>,
    card_id: Option<Id>,
    is_main: bool,
    amount: Option<i64>,
    fault_field: Option<String>,
    fault_code: Option<String>,
    fault_detail: Option<String>,
    outcome: Option<String>,
    reason: Option<String>,
    balance_seen: Option<i64>,
}

row!(
    ItemRow, run_items: partner_id, run_id, ordinal, line, cells, spending_limit, employee_id, custom_id, card_id, is_main,
    amount, fault_field, fault_code, fault_detail, outcome, reason, balance_seen
);

impl ItemRow {
    pub(super) fn new(
        partner: PartnerId,
        run: Id,
        item: &RunItem,
        cipher: &dyn ColumnCipher,
    ) -> Result<Self, StoreError> {
        let ordinal = i64::from(item.ordinal);
        let place = part_row(run, ordinal);
        let cipher = RowCipher { cipher, table: "run_items", partner, row: &place };
        // Items of programmes have none.
        let cells = (!item.cells.is_empty()).then(|| {
            let text = Value::Array(item.cells.iter().map(cell_text).collect()).to_string();
            cipher.encrypt("cells", text.as_bytes())
        });
        let fault = |of: fn(&Fault) -> &str| item.fault.as_ref().map(|fault| of(fault).to_owned());
        Ok(Self {
            partner_id: partner.key(),
            run_id: run,
            ordinal,
            line: item.line.into(),
            cells: cells.transpose()?,
            spending_limit: item.limit.as_ref().map(ToString::to_string),
            employee_id: item.employee.map(|employee| employee.key()),
            custom_id: item.custom_id.as_ref().map(|custom_id| custom_id.as_str().to_owned()),
            card_id: item.card.map(|card| card.key()),
            is_main: item.is_main,
            amount: item.amount.map(Kopecks::get),
            fault_field: fault(|fault| &fault.field),
            fault_code: fault(|fault| fault.code.as_str()),
            fault_detail: fault(|fault| &fault.detail),
            outcome: item.outcome.map(|outcome| outcome.as_str().to_owned()),
            reason: item.reason.clone(),
            balance_seen: item.balance_seen.map(Kopecks::get),
        })
    }

    pub(super) fn item(self, partner: PartnerId, cipher: &dyn ColumnCipher) -> Result<RunItem, StoreError> {
        let place = part_row(self.run_id, self.ordinal);
        let cipher = RowCipher { cipher, table: "run_items", partner, row: &place };
        let cells = self.cells.map(|stored| cipher.text("cells", &stored)).transpose()?;
        let fault = match (self.fault_field, self.fault_code, self.fault_detail) {
            (Some(field), Some(code), Some(detail)) => {
                Some(Fault { field, code: word(&code, "run_items.fault_code")?, detail })
            }
            (None, None, None) => None,
            _ => return Err(corrupt("run_items.fault_code")),
        };
        let limit = |text: String| limit_text::parse(&text, "run_items.spending_limit");
        let custom_id = |text: String| word::<CustomId>(&text, "run_items.custom_id");
        Ok(RunItem {
            ordinal: natural(self.ordinal, "run_items.ordinal")?,
            line: natural(self.line, "run_items.line")?,
            cells: cells.map_or(Ok(Vec::new()), |text| parse_cells(&text))?,
            limit: self.spending_limit.map(limit).transpose()?,
            employee: self.employee_id.map(Id::to),
            custom_id: self.custom_id.map(custom_id).transpose()?,
            card: self.card_id.map(Id::to),
            is_main: self.is_main,
            amount: self.amount.map(Kopecks::new),
            balance_seen: self.balance_seen.map(Kopecks::new),
            fault,
            outcome: self.outcome.map(|text| word(&text, "run_items.outcome")).transpose()?,
            reason: self.reason,
        })
    }
}

/// A cell as a pair: its name, and its text, null if it is empty, `true` if it is a formula.
fn cell_text(cell: &Cell) -> Value {
    let value = match &cell.value {
        CellValue::Blank => Value::Null,
        CellValue::Text(text) => Value::String(text.clone()),
        CellValue::Formula => Value::Bool(true),
    };
    Value::Array(vec![Value::String(cell.name.clone()), value])
}

fn parse_cells(text: &str) -> Result<Vec<Cell>, StoreError> {
    let corrupt = || corrupt("run_items.cells");
    let pairs: Vec<(String, Value)> = serde_json::from_str(text).map_err(|_| corrupt())?;
    let cell = |(name, value)| {
        let value = match value {
            Value::Null => CellValue::Blank,
            Value::String(text) => CellValue::Text(text),
            Value::Bool(true) => CellValue::Formula,
            _ => return Err(corrupt()),
        };
        Ok(Cell { name, value })
    };
    pairs.into_iter().map(cell).collect()
}

/// A request of a run as its table has it.
#[derive(Queryable, Selectable)]
#[diesel(table_name = run_requests)]
pub(super) struct RequestRow {
    pub(super) partner_id: Id,
    pub(super) run_id: Id,
    pub(super) position: i64,
    pub(super) kind: String,
    pub(super) request_id: Id,
}

row!(RequestRow, run_requests: partner_id, run_id, position, kind, request_id);

impl RequestRow {
    pub(super) fn request(self) -> Result<RunRequest, StoreError> {
        let id = self.request_id;
        match self.kind.as_str() {
            jobs::ORDER => Ok(RunRequest::Order(id.to())),
            jobs::REPLENISHMENT => Ok(RunRequest::Replenishment(id.to())),
            jobs::LIMIT_CHANGE => Ok(RunRequest::LimitChange(id.to())),
            jobs::WITHDRAWAL => Ok(RunRequest::Withdrawal(id.to())),
            _ => Err(corrupt("run_requests.kind")),
        }
    }
}
