//! The audit log.
#![expect(clippy::missing_errors_doc, reason = "every method fails with the store, and with nothing else")]

use kopeck_audit::{Entry, Head, Mark, Opening, Outcome, Record, Signature};
use kopeck_domain::ids::PartnerId;
use time::OffsetDateTime;

use crate::StoreError;

/// A filter of entries; an entry has to match each part.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AuditFilter {
    /// From this time on.
    pub since: Option<OffsetDateTime>,
    /// Before this time.
    pub until: Option<OffsetDateTime>,
    /// That concern this partner.
    pub partner: Option<PartnerId>,
    /// Of this action.
    pub action: Option<String>,
    /// That came to this.
    pub outcome: Option<Outcome>,
}

/// What a look at a signature shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignatureCheck {
    /// It was made under one of our keys, over this message.
    Valid,
    /// It names one of our keys and was not made under it, or over another message.
    Wrong,
    /// It names a key that is not ours.
    UnknownKey,
}

/// Signs what goes into the audit log, under a key that may be rotated.
pub trait AuditSigner: Send + Sync {
    /// The signature of `message` under the current key.
    fn sign(&self, message: &[u8]) -> Signature;

    /// Whether `signature` is that of `message`, under any key that is accepted.
    fn check(&self, message: &[u8], signature: &Signature) -> SignatureCheck;

    /// Whether `signature` names the current key.
    fn is_current(&self, signature: &Signature) -> bool;
}

/// Receives the heads of chains as they grow, so that they can be kept outside of the database.
pub trait HeadObserver: Send + Sync {
    /// The chain was committed as far as this. Must not block.
    fn committed(&self, head: &Head);
}

/// The audit log. It only grows, but for what is [pruned](Self::prune).
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
    /// The last entry of a chain.
    fn last_record(&mut self, chain: u64) -> Result<Option<Record>, StoreError>;
    /// The marks of a chain, one of each kind at most.
    fn marks(&mut self, chain: u64) -> Result<Vec<Mark>, StoreError>;
    /// Puts a mark in place of the one of its kind, unless that one stands at a later entry.
    fn put_mark(&mut self, mark: &Mark) -> Result<(), StoreError>;
    /// Puts `beginning`, a mark of the kind [`Beginning`](kopeck_audit::MarkKind::Beginning), and removes the
    /// entries of its chain up to it. Returns the number of removed entries.
    fn prune(&mut self, beginning: &Mark) -> Result<u64, StoreError>;
    /// The last chain that any entry or mark is in, whether it has an opening or not; 0 if there is none.
    fn last_chain_in_use(&mut self) -> Result<u64, StoreError>;
}
