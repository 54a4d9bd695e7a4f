//! Which rows of the request log to read.

use crate::request::Request;

/// Which requests of the log to read. The default reads the oldest.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RequestLogQuery {
    /// The number after which to begin: `next` of the last response. A number is never less than the time at which it was
    /// given, in microseconds of Unix time, so it can be a time.
    pub after: i64,
    /// The most requests, 1 to 500. Default: 100.
    pub limit: Option<u64>,
    /// Only with this HTTP status.
    pub status: Option<u16>,
    /// Only of this operation, such as `employee.add`.
    pub operation: Option<String>,
    /// Only with this `x-request-id`.
    pub request_id: Option<String>,
}

impl RequestLogQuery {
    pub(crate) fn add_to(&self, request: Request) -> Request {
        request
            .query("after", Some(self.after))
            .query("limit", self.limit)
            .query("status", self.status)
            .query("operation", self.operation.clone())
            .query("requestId", self.request_id.clone())
    }
}
