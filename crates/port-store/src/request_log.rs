//! The request log: what a partner sees of its own requests.

use kopeck_domain::ids::{CredentialId, PartnerId};
use time::OffsetDateTime;

use crate::StoreError;

/// A request that was answered. It holds no values of the request, and no personal data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestRecord {
    /// When it was answered.
    pub at: OffsetDateTime,
    /// Its id, as the response has it.
    pub request_id: String,
    /// The name of its operation.
    pub operation: String,
    /// The HTTP status of the response.
    pub status: u16,
    /// The error code of the response, if it has one.
    pub code: Option<String>,
    /// The names of faulty fields.
    pub fields: Vec<String>,
    /// How long it took, milliseconds.
    pub duration_ms: u32,
    /// The scoped credential; `None` for the partner's own login.
    pub credential: Option<CredentialId>,
    /// The client's address, if it is known.
    pub address: Option<String>,
    /// Whether the response was the recorded one of an earlier request.
    pub replayed: bool,
}

/// A row of the request log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoggedRequest {
    /// Its number, which only grows.
    pub seq: i64,
    /// The request.
    pub record: RequestRecord,
}

/// Which rows a reader wants: all conditions have to fit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RequestLogFilter {
    /// With this HTTP status.
    pub status: Option<u16>,
    /// Of this operation.
    pub operation: Option<String>,
    /// With this request id.
    pub request_id: Option<String>,
}

/// A part of the request log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestLogPage {
    /// The rows, by ascending number.
    pub requests: Vec<LoggedRequest>,
    /// The number up to which all rows were looked at: what fits behind it is not in the page.
    pub next: i64,
}

/// The newest part of the request log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewestRequests {
    /// The rows, by descending number.
    pub requests: Vec<LoggedRequest>,
    /// The number below which to go on; `None` at the end.
    pub before: Option<i64>,
}

/// The request log of the partners.
#[cfg_attr(feature = "mock", mockall::automock)]
pub trait RequestLogRepository {
    /// Adds rows, in this order, with numbers from `now` on. A row that becomes visible later than another one of the partner
    /// has a greater number. Does nothing if there is no such partner any more.
    ///
    /// # Errors
    /// [`StoreError`].
    fn append(
        &mut self,
        partner: PartnerId,
        records: &[RequestRecord],
        now: OffsetDateTime,
    ) -> Result<(), StoreError>;
    /// The rows behind number `after` that fit, `limit` at most. It looks at a bounded number of rows, so a page may hold fewer
    /// although more follow; `next` then is greater than `after`.
    ///
    /// # Errors
    /// [`StoreError`].
    fn after(
        &mut self,
        partner: PartnerId,
        after: i64,
        filter: &RequestLogFilter,
        limit: u32,
    ) -> Result<RequestLogPage, StoreError>;
    /// The newest rows below number `before`, or of all, that fit, `limit` at most. It looks at a bounded number of rows, so a
    /// page may hold fewer although more follow; its `before` then is not `None`.
    ///
    /// # Errors
    /// [`StoreError`].
    fn newest(
        &mut self,
        partner: PartnerId,
        before: Option<i64>,
        filter: &RequestLogFilter,
        limit: u32,
    ) -> Result<NewestRequests, StoreError>;
    /// Removes rows written before `moment`, the oldest first, `limit` at most.
    ///
    /// # Errors
    /// [`StoreError`].
    fn forget_before(&mut self, moment: OffsetDateTime, limit: u32) -> Result<u64, StoreError>;
}
