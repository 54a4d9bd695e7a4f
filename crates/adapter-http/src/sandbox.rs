//! What the sandbox's calls ask of the bank simulator.

use kopeck_domain::card_number::CardNumber;

/// Power over the cards of a bank simulator. Calls may block.
pub trait SandboxPower: Send + Sync {
    /// Blocks a card at the bank.
    ///
    /// # Errors
    /// [`SandboxRefusal`].
    fn block(&self, card: CardNumber) -> Result<(), SandboxRefusal>;

    /// Ends the block of a card at the bank.
    ///
    /// # Errors
    /// [`SandboxRefusal`].
    fn unblock(&self, card: CardNumber) -> Result<(), SandboxRefusal>;

    /// Lets a card expire.
    ///
    /// # Errors
    /// [`SandboxRefusal`].
    fn expire(&self, card: CardNumber) -> Result<(), SandboxRefusal>;

    /// Activates a card; a virtual one needs its code.
    ///
    /// # Errors
    /// [`SandboxRefusal`].
    fn activate(&self, card: CardNumber, code: Option<&str>) -> Result<(), SandboxRefusal>;
}

/// Why the simulator did not do as told.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SandboxRefusal {
    /// The simulator has no such card.
    #[error("the simulator has no such card")]
    UnknownCard,
    /// The activation code is missing or wrong.
    #[error("the activation code is not the card's")]
    WrongCode,
    /// The simulator failed.
    #[error("the simulator failed: {0}")]
    Failed(String),
}
