//! The audit log: notes of what changed nothing, the check of all that is written, and what operators do to it.
//!
//! What changes something has its entry in its own unit of work. What was refused has none; it is [noted](AuditQueue) and
//! written a moment later.

mod budgets;
mod maintenance;
mod queue;
#[cfg(test)]
mod testing;
mod verify;

pub use maintenance::{prune, renew_signatures};
pub use queue::{AuditQueue, AuditQueueObserver, NoopAuditObserver};
pub use verify::{ChainViolation, VerificationReport, VerifyError, verify};
