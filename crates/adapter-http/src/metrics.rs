//! Who is told of what happens at the front door.

use std::time::Duration;

/// Counts what happens at the front door. It is called on the threads that serve calls, so it must not wait.
pub trait HttpMetrics: Send + Sync {
    /// A call was answered. `operation` is its [name](crate::Operation), or `-` where the path is none of ours.
    fn record_response(&self, operation: &'static str, status: u16, took: Duration);

    /// Something was refused that an operator wants to see beside the statuses.
    fn record_refusal(&self, what: RefusalKind);
}

/// What an operator wants to see refused beside the statuses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefusalKind {
    /// A sealed value that does not open, or that has to be sealed and is not.
    Sealing,
    /// A login after too many failures.
    Login,
    /// A refresh after too many failures of its address.
    Refresh,
    /// A call over the partner's rate limit.
    Rate,
    /// A body beyond the memory for all bodies.
    Memory,
}

/// Counts nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoopMetrics;

impl HttpMetrics for NoopMetrics {
    fn record_response(&self, _operation: &'static str, _status: u16, _took: Duration) {}

    fn record_refusal(&self, _what: RefusalKind) {}
}
