//! Metrics of the HTTP API.

use std::time::Duration;

use kopeck_service::logins::{LoginKind, LoginObserver, LoginOutcome};

/// Records metrics of requests. The server threads call it, so it must not block.
pub trait HttpMetrics: LoginObserver {
    /// A response was built. `operation` is its [name](crate::OperationInfo), or `-` for an unknown path.
    fn record_response(&self, operation: &'static str, status: u16, took: Duration);

    /// A request was refused for a reason that has a counter.
    fn record_refusal(&self, what: RefusalKind);
}

/// Refusals that are counted separately, beside the status codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefusalKind {
    /// A sealed value that does not open, or a plaintext value that has to be sealed.
    Sealing,
    /// A login after too many failures.
    Login,
    /// A refresh after too many failures of its address.
    Refresh,
    /// A request over the partner's rate limit.
    Rate,
    /// A body beyond the memory budget.
    Memory,
    /// A connection beyond the share of its network.
    Connection,
}

/// Records nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoopMetrics;

impl LoginObserver for NoopMetrics {
    fn record_login(&self, _kind: LoginKind, _outcome: LoginOutcome) {}
}

impl HttpMetrics for NoopMetrics {
    fn record_response(&self, _operation: &'static str, _status: u16, _took: Duration) {}

    fn record_refusal(&self, _what: RefusalKind) {}
}
