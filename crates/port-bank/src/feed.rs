//! The bank's feed: what happens to cards, in the order in which the bank tells it.

use kopeck_domain::card_number::CardNumber;
use kopeck_domain::event::DeclinedPurchase;
use kopeck_domain::transaction::Transaction;
use time::OffsetDateTime;

use crate::BankError;

/// By how many numbers an entry may become visible late: below the greatest number that was read before it.
pub const LATE_ENTRIES: i64 = 100;

/// Something that happened to a card.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeedEntry {
    /// Its number in the feed, above zero; it names this entry for ever.
    pub seq: i64,
    /// When the bank recorded it.
    pub at: OffsetDateTime,
    /// The card.
    pub card: CardNumber,
    /// What happened.
    pub change: FeedChange,
}

/// What happened to a card.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FeedChange {
    /// Money moved.
    Transaction {
        /// What moved.
        transaction: Transaction,
        /// The id of the card's transaction before it; 0 for the first.
        previous: i64,
    },
    /// A purchase was declined.
    Declined(DeclinedPurchase),
    /// The card was activated.
    Activated,
    /// The card was blocked.
    Blocked,
    /// The card was unblocked.
    Unblocked,
    /// The last day of the card was moved to the past.
    Expired,
    /// Something else about the card changed.
    Other,
}

/// Why the feed was not read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FeedError {
    /// The bank has no feed.
    #[error("the bank has no feed")]
    NotSupported,
    /// Entries after the number asked for are no longer kept.
    #[error("the bank's feed begins at number {oldest}")]
    Forgotten {
        /// The least number that is kept, or that of the next entry if there is none.
        oldest: i64,
    },
    /// No response; a retry is always safe.
    #[error(transparent)]
    Bank(#[from] BankError),
}
