//! Control of a bank that is a simulator: what a sandbox can do that no partner can.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use kopeck_domain::Kopecks;
use kopeck_domain::card_number::CardNumber;
use kopeck_domain::payment::PaymentRefusal;
use time::OffsetDateTime;

/// The two things that a sandbox controls.
#[derive(Clone)]
pub struct Sandbox {
    /// The simulator.
    pub bank: Arc<dyn SandboxControl>,
    /// The clock of the service and of the simulator.
    pub clock: Arc<dyn SandboxClock>,
}

/// Controls a bank simulator. Calls may block. Injected faults do not affect them.
pub trait SandboxControl: Send + Sync {
    /// Makes a purchase with a card.
    ///
    /// # Errors
    /// [`SandboxError`].
    fn purchase(&self, card: CardNumber, purchase: &Purchase) -> Result<PurchaseOutcome, SandboxError>;

    /// Refunds all or part of a payment of this card; returns the id of the refund. The state of the card does not matter.
    ///
    /// # Errors
    /// [`SandboxError`].
    fn refund(&self, card: CardNumber, refund: &Refund) -> Result<i64, SandboxError>;

    /// Blocks a card: it neither pays nor takes top-ups.
    ///
    /// # Errors
    /// [`SandboxError`].
    fn block(&self, card: CardNumber) -> Result<(), SandboxError>;

    /// Lifts the block of a card.
    ///
    /// # Errors
    /// [`SandboxError`].
    fn unblock(&self, card: CardNumber) -> Result<(), SandboxError>;

    /// Sets the last day of a card to yesterday, unless it expired earlier.
    ///
    /// # Errors
    /// [`SandboxError`].
    fn expire(&self, card: CardNumber) -> Result<(), SandboxError>;

    /// Activates a card, by its code or without one by the bank itself. An active card keeps its activation time,
    /// whatever the code.
    ///
    /// # Errors
    /// [`SandboxError`].
    fn activate(&self, card: CardNumber, code: Option<&str>) -> Result<(), SandboxError>;

    /// Sets the faults of the bank.
    ///
    /// # Errors
    /// [`SandboxError::Rate`] if a rate is not a probability; then nothing changes.
    fn inject_faults(&self, faults: BankFaults) -> Result<(), SandboxError>;
}

/// A clock that a sandbox moves, forward only.
pub trait SandboxClock: Send + Sync {
    /// Microseconds ahead of the machine's clock.
    ///
    /// # Errors
    /// [`SandboxError`] if the clock is across a network.
    fn offset_micros(&self) -> Result<i64, SandboxError>;

    /// Moves the clock forward, unless `key` was used before; returns the new offset.
    ///
    /// # Errors
    /// [`SandboxError::ClockTooFar`], or a failure; then nothing was moved.
    fn advance(&self, by: Duration, key: &CommandKey) -> Result<i64, SandboxError>;
}

/// A clock that can be kept in step with another one.
pub trait FollowingClock: SandboxClock {
    /// Raises the offset to `offset_micros`, that of another clock; never lowers it.
    ///
    /// # Errors
    /// [`SandboxError::ClockTooFar`], or a failure; then nothing was moved.
    fn follow(&self, offset_micros: i64) -> Result<(), SandboxError>;
}

/// The idempotency key of a command: a retry has no second effect, and a declined purchase is declined as before. An error
/// is not recorded, so its retry is decided anew.
///
/// The effect of a command lies outside of the unit of work that records the response, so a process may end between the
/// two, and the client retries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandKey {
    /// Printable ASCII; names one command.
    pub text: String,
    /// A key that was last used before this time may be reused.
    pub since: OffsetDateTime,
}

/// A purchase at a merchant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Purchase {
    /// Kopecks, above zero.
    pub amount: Kopecks,
    /// Name of the merchant's outlet.
    pub place: Option<String>,
    /// Merchant category code.
    pub mcc: Option<String>,
    /// The merchant's identifier.
    pub merchant_id: Option<String>,
    /// Its time; now by default. It decides expiry and limit.
    pub at: Option<OffsetDateTime>,
    /// Its idempotency key, if it may be retried.
    pub key: Option<CommandKey>,
}

impl Purchase {
    /// A purchase now at an unnamed merchant.
    #[must_use]
    pub const fn new(amount: Kopecks) -> Self {
        Self { amount, place: None, mcc: None, merchant_id: None, at: None, key: None }
    }
}

/// The bank's decision on a purchase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PurchaseOutcome {
    /// Paid, by the transaction with this id.
    Approved(i64),
    /// No effect and no transaction.
    Declined(PaymentRefusal),
}

/// A refund of all or part of a payment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refund {
    /// The id of the payment among the transactions of the card.
    pub payment: i64,
    /// Kopecks, above zero.
    pub amount: Kopecks,
    /// Its idempotency key, if it may be retried.
    pub key: Option<CommandKey>,
}

/// The injected faults; none by default. Rates are probabilities, 0.0 to 1.0.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct BankFaults {
    /// Added to each response.
    pub latency: Duration,
    /// The share of instructions and reads that fail without an effect.
    pub error_rate: f64,
    /// The share of instructions that get lost on their way: no effect, and no response. A bank that cannot be asked again
    /// leaves them to a person.
    pub lose_request_rate: f64,
    /// The share of instructions with an effect and no response. Reads have no effect, so they get a response.
    pub lose_answer_rate: f64,
    /// The share of repeated instructions with a second effect.
    pub duplicate_rate: f64,
    /// Whether the bank leaves purchases and refunds out of its feed, so that its registry has what the service lacks.
    pub silent_feed: bool,
    /// Whether the bank responds to nothing.
    pub down: bool,
}

/// A rate of [`BankFaults`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultRate {
    /// `error_rate`.
    Error,
    /// `lose_request_rate`.
    LoseRequest,
    /// `lose_answer_rate`.
    LoseAnswer,
    /// `duplicate_rate`.
    Duplicate,
}

impl fmt::Display for FaultRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Error => "the rate of errors",
            Self::LoseRequest => "the rate of lost requests",
            Self::LoseAnswer => "the rate of lost responses",
            Self::Duplicate => "the rate of duplicates",
        })
    }
}

/// Why a command failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SandboxError {
    /// The bank has no such card.
    #[error("the bank has no such card")]
    UnknownCard,
    /// The card has no such payment.
    #[error("the card has no such payment")]
    UnknownPayment,
    /// The amount is not above zero.
    #[error("the amount must be above zero")]
    Amount,
    /// More than is left of the payment after earlier refunds.
    #[error("only {0} of the payment can still be refunded")]
    OverPayment(Kopecks),
    /// Not the card's activation code.
    #[error("the activation code is wrong")]
    WrongCode,
    /// The card's code, after its last day.
    #[error("the activation code has expired")]
    CodeExpired,
    /// Beyond the range of the clock.
    #[error("the clock does not go that far")]
    ClockTooFar,
    /// A rate that is not a probability.
    #[error("{0} must lie between 0 and 1")]
    Rate(FaultRate),
    /// The bank is no simulator, or the shared secret is wrong.
    #[error("the bank refused the call: {0}")]
    NotASimulator(String),
    /// No response across the network. The command may have had its effect; a retry under its key tells.
    #[error("the simulator did not answer: {0}")]
    Unreachable(String),
    /// The simulator or the clock failed.
    #[error("the simulator failed: {0}")]
    Failed(String),
}
