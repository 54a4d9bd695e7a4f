//! The request log.

use diesel::dsl::max;
use diesel::prelude::*;
use kopeck_domain::ids::PartnerId;
use kopeck_port_store::{
    LoggedRequest, NewestRequests, RequestLogFilter, RequestLogPage, RequestLogRepository, RequestRecord,
    StoreError,
};
use time::OffsetDateTime;

use crate::connection::MultiBackend;
use crate::convert::{AsKey, natural};
use crate::error::{Stored, StoredRows};
use crate::schema::{partners, request_log};
use crate::sql_types::{Id, UtcTimestamp};
use crate::statements::{self, INSERT_CHUNK, row};
use crate::transaction::DieselTransaction;
use crate::transaction::locks::Lock;

/// The most rows that a reader with a filter looks at: some milliseconds.
const WINDOW: i64 = 10_000;

#[derive(Queryable, Selectable)]
#[diesel(table_name = request_log)]
struct RequestRow {
    partner_id: Id,
    seq: i64,
    at: UtcTimestamp,
    request_id: String,
    operation: String,
    status: i32,
    code: Option<String>,
    fields: String,
    duration_ms: i64,
    credential: Option<Id>,
    address: Option<String>,
    replayed: bool,
}

row!(
    RequestRow, request_log: partner_id, seq, at, request_id, operation, status, code, fields, duration_ms, credential,
    address, replayed
);

impl RequestRow {
    fn new(partner: PartnerId, seq: i64, record: &RequestRecord) -> Self {
        Self {
            partner_id: partner.key(),
            seq,
            at: UtcTimestamp::of(record.at),
            request_id: record.request_id.clone(),
            operation: record.operation.clone(),
            status: record.status.into(),
            code: record.code.clone(),
            fields: record.fields.join(","),
            duration_ms: record.duration_ms.into(),
            credential: record.credential.map(|credential| credential.key()),
            address: record.address.clone(),
            replayed: record.replayed,
        }
    }

    fn logged(self) -> Result<LoggedRequest, StoreError> {
        let fields = self.fields.split(',').filter(|field| !field.is_empty()).map(str::to_owned).collect();
        let record = RequestRecord {
            at: self.at.time("request_log.at")?,
            request_id: self.request_id,
            operation: self.operation,
            status: natural(self.status.into(), "request_log.status")?,
            code: self.code,
            fields,
            duration_ms: natural(self.duration_ms, "request_log.duration_ms")?,
            credential: self.credential.map(Id::to),
            address: self.address,
            replayed: self.replayed,
        };
        Ok(LoggedRequest { seq: self.seq, record })
    }
}

/// Whether no row is looked at in vain: an index finds requests by their id, and without a condition every row is one.
fn is_cheap(filter: &RequestLogFilter) -> bool {
    filter.request_id.is_some() || *filter == RequestLogFilter::default()
}

/// The partner's rows that fit.
fn fitting(partner: PartnerId, filter: &RequestLogFilter) -> request_log::BoxedQuery<'static, MultiBackend> {
    let mut query = request_log::table.filter(request_log::partner_id.eq(partner.key())).into_boxed();
    if let Some(request_id) = &filter.request_id {
        query = query.filter(request_log::request_id.eq(request_id.clone()));
    }
    if let Some(status) = filter.status {
        query = query.filter(request_log::status.eq(i32::from(status)));
    }
    if let Some(operation) = &filter.operation {
        query = query.filter(request_log::operation.eq(operation.clone()));
    }
    query
}

impl DieselTransaction {
    /// The number up to which a reader behind `after` looks: of all rows, or of the first [`WINDOW`].
    fn last_looked_at(&mut self, partner: PartnerId, after: i64, all: bool) -> Result<i64, StoreError> {
        let behind = || {
            request_log::table
                .filter(request_log::partner_id.eq(partner.key()))
                .filter(request_log::seq.gt(after))
        };
        let connection = self.owning(Lock::RequestLog)?;
        let mut last: Option<i64> = None;
        if !all {
            let window = behind().order(request_log::seq).limit(1).offset(WINDOW - 1);
            last = window.select(request_log::seq).get_result(connection).optional().stored()?;
        }
        if last.is_none() {
            last = behind().select(max(request_log::seq)).get_result(connection).stored()?;
        }
        Ok(last.unwrap_or(after))
    }
}

/// Writers of all processes take turns until they have committed, so that numbers become visible in their order.
impl RequestLogRepository for DieselTransaction {
    fn append(
        &mut self,
        partner: PartnerId,
        records: &[RequestRecord],
        now: OffsetDateTime,
    ) -> Result<(), StoreError> {
        let connection = self.owning(Lock::RequestLog)?;
        let found: Option<Id> = partners::table
            .find(partner.key())
            .select(partners::id)
            .get_result(connection)
            .optional()
            .stored()?;
        if found.is_none() {
            return Ok(());
        }
        let last: Option<i64> = request_log::table
            .filter(request_log::partner_id.eq(partner.key()))
            .select(max(request_log::seq))
            .get_result(connection)
            .stored()?;
        let first = UtcTimestamp::of(now).0.max(last.map_or(1, |last| last + 1));
        let rows = (first..).zip(records).map(|(seq, record)| RequestRow::new(partner, seq, record));
        for rows in rows.collect::<Vec<_>>().chunks(INSERT_CHUNK) {
            statements::insert(connection, rows).stored()?;
        }
        Ok(())
    }

    fn after(
        &mut self,
        partner: PartnerId,
        after: i64,
        filter: &RequestLogFilter,
        limit: u32,
    ) -> Result<RequestLogPage, StoreError> {
        let last = self.last_looked_at(partner, after, is_cheap(filter))?;
        let query = fitting(partner, filter)
            .filter(request_log::seq.gt(after))
            .filter(request_log::seq.le(last))
            .order(request_log::seq)
            .limit(i64::from(limit))
            .select(RequestRow::as_select());
        let requests: Vec<LoggedRequest> =
            query.load(self.owning(Lock::RequestLog)?).all(RequestRow::logged)?;
        let is_full = requests.len() >= usize::try_from(limit).unwrap_or(usize::MAX);
        let next = requests.last().filter(|_| is_full).map_or(last, |row| row.seq);
        Ok(RequestLogPage { requests, next })
    }

    fn newest(
        &mut self,
        partner: PartnerId,
        before: Option<i64>,
        filter: &RequestLogFilter,
        limit: u32,
    ) -> Result<NewestRequests, StoreError> {
        let before = before.unwrap_or(i64::MAX);
        let connection = self.owning(Lock::RequestLog)?;
        let window = request_log::table
            .filter(request_log::partner_id.eq(partner.key()))
            .filter(request_log::seq.lt(before))
            .order(request_log::seq.desc())
            .limit(1)
            .offset(WINDOW - 1)
            .select(request_log::seq);
        let floor: Option<i64> =
            if is_cheap(filter) { None } else { window.get_result(connection).optional().stored()? };
        // One more tells whether there is a next part.
        let query = fitting(partner, filter)
            .filter(request_log::seq.lt(before))
            .filter(request_log::seq.ge(floor.unwrap_or(i64::MIN)))
            .order(request_log::seq.desc())
            .limit(i64::from(limit) + 1)
            .select(RequestRow::as_select());
        let mut requests: Vec<LoggedRequest> = query.load(connection).all(RequestRow::logged)?;
        let most = usize::try_from(limit).unwrap_or(usize::MAX);
        let has_more = requests.len() > most;
        requests.truncate(most);
        let before = if has_more { requests.last().map(|row| row.seq) } else { floor };
        Ok(NewestRequests { requests, before })
    }

    fn forget_before(&mut self, moment: OffsetDateTime, limit: u32) -> Result<u64, StoreError> {
        let old = "request_log WHERE seq < ? ORDER BY seq";
        let key = "partner_id, seq";
        let removed = self.sweep("DELETE FROM request_log", key, old, UtcTimestamp::of(moment).0, limit)?;
        Ok(removed.into())
    }
}
