//! The bank's registry: its own list of the movements of money on cards, for reconciliation.

use kopeck_domain::card_number::CardNumber;
use kopeck_domain::transaction::Transaction;

use crate::{BankError, BankKey};

/// A movement of money on a card, as the bank lists it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegistryEntry {
    /// The card.
    pub card: CardNumber,
    /// The movement, as the list of the card's transactions has it.
    pub transaction: Transaction,
    /// The key of the instruction that caused it; `None` for what holders and merchants do.
    pub key: Option<BankKey>,
}

impl RegistryEntry {
    /// Its place in the registry.
    #[must_use]
    pub fn position(&self) -> RegistryPosition {
        RegistryPosition { card: self.card, id: self.transaction.id }
    }
}

/// A place in a registry, which is in the order of cards and, for one card, of the ids of transactions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct RegistryPosition {
    /// The card.
    pub card: CardNumber,
    /// The id of the transaction.
    pub id: i64,
}

/// Why the registry was not read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RegistryError {
    /// The bank has no registry.
    #[error("the bank has no registry")]
    NotSupported,
    /// No response; a retry is always safe.
    #[error(transparent)]
    Bank(#[from] BankError),
}
