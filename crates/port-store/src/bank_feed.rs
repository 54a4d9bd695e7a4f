//! How far the bank's feed was read.
#![expect(clippy::missing_errors_doc, reason = "every method fails with a `StoreError` if the database does")]

use kopeck_domain::ids::PartnerId;
use time::OffsetDateTime;
use uuid::Uuid;

use crate::StoreError;

/// How far the bank's feed was read, and by which process.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BankFeedState {
    /// The number of the last entry that was read; 0 at the beginning.
    pub cursor: i64,
    /// When entries were found deleted that had not been read: what was known of all cards before may lack something.
    pub forgotten_at: Option<OffsetDateTime>,
    /// The process that reads, and until when it is alone with that.
    pub lease: Option<(Uuid, OffsetDateTime)>,
}

/// The service's place in the bank's feed. There is one bank.
#[cfg_attr(feature = "mock", mockall::automock)]
pub trait BankFeedRepository {
    /// How far it was read. Within a writing unit of work it stays as read until the end.
    fn state(&mut self) -> Result<BankFeedState, StoreError>;
    /// Stores how far it was read.
    fn set_state(&mut self, state: &BankFeedState) -> Result<(), StoreError>;
    /// Records that the partner has the event of the declined purchase in entry `seq`; `false` if that was recorded before.
    fn record_decline(&mut self, partner: PartnerId, seq: i64) -> Result<bool, StoreError>;
    /// Removes the records of entries up to `seq`: they are not read again.
    fn forget_declines(&mut self, seq: i64) -> Result<(), StoreError>;
}
