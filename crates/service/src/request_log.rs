//! The request log: what a partner sees of its own requests.

mod queue;

use kopeck_domain::ids::PartnerId;
use kopeck_port_store::{NewestRequests, RequestLogFilter, RequestLogPage, StoreError, UnitOfWork};
use time::Duration;

pub use queue::{NoopRequestLogObserver, RequestLogObserver, RequestLogQueue};

/// How long logged requests are kept.
pub const RETENTION: Duration = Duration::days(14);

/// What a reader of the log wants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestLogQuery {
    /// The number after which to begin.
    pub after: i64,
    /// The most rows.
    pub limit: u32,
    /// Which rows.
    pub filter: RequestLogFilter,
}

/// The next part of the log.
///
/// # Errors
/// [`StoreError`].
pub fn after(
    unit: &mut dyn UnitOfWork,
    partner: PartnerId,
    query: &RequestLogQuery,
) -> Result<RequestLogPage, StoreError> {
    unit.request_log().after(partner, query.after, &query.filter, query.limit)
}

/// The newest part of the log below number `before`, or of all, the newest first.
///
/// # Errors
/// [`StoreError`].
pub fn newest(
    unit: &mut dyn UnitOfWork,
    partner: PartnerId,
    before: Option<i64>,
    filter: &RequestLogFilter,
    limit: u32,
) -> Result<NewestRequests, StoreError> {
    unit.request_log().newest(partner, before, filter, limit)
}
