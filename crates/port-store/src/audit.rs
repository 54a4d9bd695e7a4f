//! The audit log.
#![expect(clippy::missing_errors_doc, reason = "every method fails with the store, and with nothing else")]

use kopeck_domain::audit::{Entry, Opening, Outcome, Record};
use kopeck_domain::ids::PartnerId;
use time::OffsetDateTime;

use crate::StoreError;

/// Which entries are asked for; each part that is given has to fit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AuditFilter {
    /// From this moment on.
    pub since: Option<OffsetDateTime>,
    /// Before this moment.
    pub until: Option<OffsetDateTime>,
    /// That concern this partner.
    pub partner: Option<PartnerId>,
    /// Of this action.
    pub action: Option<String>,
    /// That came to this.
    pub outcome: Option<Outcome>,
}

/// The audit log. It only grows: there is no way to change or remove anything.
#[cfg_attr(feature = "mock", mockall::automock)]
pub trait AuditRepository {
    /// Adds an entry, which is committed with the unit of work and not without it. It takes its place in a chain when the
    /// store commits, so it cannot be read back before.
    fn append(&mut self, entry: &Entry) -> Result<(), StoreError>;
    /// The latest entries, latest first.
    fn list(&mut self, filter: &AuditFilter, limit: u32) -> Result<Vec<Record>, StoreError>;
    /// Openings of chains after this one, in their order, `limit` at most.
    fn openings(&mut self, after: u64, limit: u32) -> Result<Vec<Opening>, StoreError>;
    /// Entries of a chain after this number, in their order, `limit` at most.
    fn records(&mut self, chain: u64, after: u64, limit: u32) -> Result<Vec<Record>, StoreError>;
    /// The last chain that any entry is in, whether it has an opening or not; 0 if there is no entry.
    fn last_chain_in_use(&mut self) -> Result<u64, StoreError>;
}
