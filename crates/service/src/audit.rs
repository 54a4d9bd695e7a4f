//! The audit log: the queue of refusals, verification, and maintenance by operators.
//!
//! A change has its entry in its own unit of work. A refusal has no unit of work: its entry goes through the [`AuditQueue`].

mod budgets;
mod maintenance;
mod queue;
#[cfg(test)]
mod testing;
mod verify;

pub use maintenance::{prune, renew_signatures};
pub use queue::{AuditQueue, AuditQueueObserver, NoopAuditObserver};
pub use verify::{ChainViolation, VerificationReport, VerifyError, verify};
