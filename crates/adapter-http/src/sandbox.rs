//! What the sandbox's calls ask of the bank simulator and of the service's clock.

use std::time::Duration;

use kopeck_domain::Kopecks;
use kopeck_domain::card_number::CardNumber;
use kopeck_domain::payment::PaymentRefusal;
use time::OffsetDateTime;

/// Power over a bank simulator and over the service's clock. Calls may block.
///
/// What takes a [`CommandKey`] is done once under it: the effect lies outside of the unit of work that records the
/// answer, so that a process may end between the two, and the caller comes again.
pub trait SandboxControl: Send + Sync {
    /// Buys something with a card.
    ///
    /// # Errors
    /// [`SandboxRefusal`].
    fn purchase(
        &self,
        card: CardNumber,
        purchase: &SandboxPurchase,
        key: &CommandKey,
    ) -> Result<PurchaseOutcome, SandboxRefusal>;

    /// Gives `amount` of the payment with the id `transaction` back; answers the id of the refund.
    ///
    /// # Errors
    /// [`SandboxRefusal`].
    fn refund(
        &self,
        card: CardNumber,
        transaction: i64,
        amount: Kopecks,
        key: &CommandKey,
    ) -> Result<i64, SandboxRefusal>;

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

    /// Activates a card, by its code or, without one, by the bank's own hand.
    ///
    /// # Errors
    /// [`SandboxRefusal`].
    fn activate(&self, card: CardNumber, code: Option<&str>) -> Result<(), SandboxRefusal>;

    /// Decides how the bank misbehaves from now on.
    ///
    /// # Errors
    /// [`SandboxRefusal`].
    fn inject_faults(&self, faults: SandboxFaults) -> Result<(), SandboxRefusal>;

    /// Moves the service's clock forward.
    ///
    /// # Errors
    /// [`SandboxRefusal`].
    fn advance_clock(&self, by: Duration, key: &CommandKey) -> Result<(), SandboxRefusal>;
}

/// Names a command, so that one that comes again is not carried out again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandKey {
    /// Printable ASCII; it stands for one command of one partner.
    pub text: String,
    /// A name that was last used before this moment may stand for something else.
    pub since: OffsetDateTime,
}

/// A purchase at a merchant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SandboxPurchase {
    /// Kopecks, above zero.
    pub amount: Kopecks,
    /// Name of the merchant's outlet.
    pub place: Option<String>,
    /// Merchant category code.
    pub mcc: Option<String>,
    /// The merchant's identifier.
    pub merchant_id: Option<String>,
    /// When it happens; now, if not given.
    pub at: Option<OffsetDateTime>,
}

/// What the bank says to a purchase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PurchaseOutcome {
    /// The money was taken, by the transaction with this id.
    Approved(i64),
    /// Nothing happened.
    Declined(PaymentRefusal),
}

/// How a bank misbehaves; the default is not at all.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct SandboxFaults {
    /// By how much each answer is late.
    pub latency: Duration,
    /// How many calls fail before they have an effect: 0 to 1.
    pub error_rate: f64,
    /// How many calls have their effect and no answer: 0 to 1.
    pub lose_answer_rate: f64,
    /// How many repeated calls have their effect once more: 0 to 1.
    pub duplicate_rate: f64,
    /// Whether it answers no call at all.
    pub down: bool,
}

/// Why the sandbox did not do as told.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SandboxRefusal {
    /// The simulator has no such card.
    #[error("the simulator has no such card")]
    UnknownCard,
    /// The activation code is not the card's.
    #[error("the activation code is not the card's")]
    WrongCode,
    /// The activation code is the card's, and its last day is over.
    #[error("the activation code has expired")]
    CodeExpired,
    /// The card has no such payment.
    #[error("is no payment of the card")]
    UnknownPayment,
    /// More than is left of the payment.
    #[error("is more than the {} kopecks of the payment that can still be given back", .0.get())]
    OverPayment(Kopecks),
    /// Further than the clock goes.
    #[error("takes the clock beyond the year 2900")]
    ClockTooFar,
    /// A faulty rate.
    #[error("{0} must lie between 0 and 1")]
    Rate(&'static str),
    /// The simulator is across a network and gave no answer. It may have done what it was told; a call that is made
    /// again under its key finds that out.
    #[error("the simulator did not answer: {0}")]
    Unreachable(String),
    /// The simulator or the clock failed.
    #[error("the sandbox failed: {0}")]
    Failed(String),
}
