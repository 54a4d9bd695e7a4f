//! The port of the sandbox: control of the bank simulator and of the service's clock.

use std::time::Duration;

use kopeck_domain::Kopecks;
use kopeck_domain::card_number::CardNumber;
use kopeck_domain::payment::PaymentRefusal;
use time::OffsetDateTime;

/// Controls the bank simulator and the service's clock. Calls may block.
///
/// A command with a [`CommandKey`] has one effect per key: the effect lies outside of the unit of work that records
/// the response, so a process may end between the two, and the client retries.
pub trait SandboxControl: Send + Sync {
    /// Makes a purchase with a card.
    ///
    /// # Errors
    /// [`SandboxRefusal`].
    fn purchase(
        &self,
        card: CardNumber,
        purchase: &SandboxPurchase,
        key: &CommandKey,
    ) -> Result<PurchaseOutcome, SandboxRefusal>;

    /// Refunds `amount` of the payment `transaction`; returns the id of the refund.
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

    /// Lifts the block of a card at the bank.
    ///
    /// # Errors
    /// [`SandboxRefusal`].
    fn unblock(&self, card: CardNumber) -> Result<(), SandboxRefusal>;

    /// Makes a card expire.
    ///
    /// # Errors
    /// [`SandboxRefusal`].
    fn expire(&self, card: CardNumber) -> Result<(), SandboxRefusal>;

    /// Activates a card by its code, or without one by the bank itself.
    ///
    /// # Errors
    /// [`SandboxRefusal`].
    fn activate(&self, card: CardNumber, code: Option<&str>) -> Result<(), SandboxRefusal>;

    /// Sets the faults of the bank.
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

/// The idempotency key of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandKey {
    /// Printable ASCII; names one command of one partner.
    pub text: String,
    /// A key that was last used before this time may be reused.
    pub since: OffsetDateTime,
}

/// A purchase at a merchant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SandboxPurchase {
    /// Kopecks, above zero.
    pub amount: Kopecks,
    /// The merchant's outlet.
    pub place: Option<String>,
    /// Merchant category code.
    pub mcc: Option<String>,
    /// The merchant's identifier.
    pub merchant_id: Option<String>,
    /// The time of the purchase; now by default.
    pub at: Option<OffsetDateTime>,
}

/// The bank's decision on a purchase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PurchaseOutcome {
    /// Paid, by the transaction with this id.
    Approved(i64),
    /// No effect.
    Declined(PaymentRefusal),
}

/// The faults of the bank; none by default.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct SandboxFaults {
    /// Added to each response.
    pub latency: Duration,
    /// The share of requests that fail before they have an effect: 0 to 1.
    pub error_rate: f64,
    /// The share of requests with an effect and no response: 0 to 1.
    pub lose_answer_rate: f64,
    /// The share of retries with a second effect: 0 to 1.
    pub duplicate_rate: f64,
    /// Whether it responds to nothing.
    pub down: bool,
}

/// Why a command failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SandboxRefusal {
    /// The simulator has no such card.
    #[error("the simulator has no such card")]
    UnknownCard,
    /// The activation code is not the card's.
    #[error("the activation code is not the card's")]
    WrongCode,
    /// The activation code is the card's, and has expired.
    #[error("the activation code has expired")]
    CodeExpired,
    /// The card has no such payment.
    #[error("is no payment of the card")]
    UnknownPayment,
    /// More than the refundable rest of the payment.
    #[error("is more than the {} kopecks of the payment that can still be given back", .0.get())]
    OverPayment(Kopecks),
    /// Beyond the range of the clock.
    #[error("takes the clock beyond the year 2900")]
    ClockTooFar,
    /// A rate outside of 0 to 1.
    #[error("{0} must lie between 0 and 1")]
    Rate(&'static str),
    /// No response from the simulator across the network. The command may have had its effect; a retry under its key
    /// tells.
    #[error("the simulator did not answer: {0}")]
    Unreachable(String),
    /// The simulator or the clock failed.
    #[error("the sandbox failed: {0}")]
    Failed(String),
}
