//! What the use cases ask of the bank that issues and keeps the cards.
//!
//! Everything that moves money or makes cards is an *instruction* under a key that stays the same for ever. The
//! bank's answer is one of three: done, declined, or none that can be trusted ([`BankError`]). A lost answer is
//! never taken for a refusal: the caller asks again by the key until it knows.

#[cfg(feature = "contract")]
pub mod contract;

use kopeck_domain::Kopecks;
use kopeck_domain::card::{CardType, Standing};
use kopeck_domain::card_number::CardNumber;
use kopeck_domain::limit::Limit;
use kopeck_domain::transaction::Transaction;
use time::{Date, OffsetDateTime};

/// Names an instruction at the bank for ever: what is sent twice under one key is done once by a gateway that says
/// so ([`BankGateway::repeat_is_safe`]).
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BankKey(String);

impl BankKey {
    /// The key with this text, at most 100 ASCII characters.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text that travels.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// One line of an order of cards.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrderedCards {
    /// The product.
    pub kind: CardType,
    /// How many.
    pub count: u32,
    /// Virtual cards: the money each holds from the start.
    pub first_top_up: Option<Kopecks>,
    /// Plastic cards: where they go.
    pub delivery: Option<Delivery>,
}

/// Where plastic cards are sent.
#[derive(Clone, PartialEq, Eq)]
pub struct Delivery {
    /// Postal address.
    pub address: String,
    /// Full name of the person who receives them.
    pub recipient: String,
    /// Their phone, ten digits.
    pub phone: String,
}

/// Personal data stays out of logs.
impl std::fmt::Debug for Delivery {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Delivery(..)")
    }
}

/// What the bank is told to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Instruction {
    /// Issue all these cards, or none of them. The cards are fetched by [`BankGateway::issued_cards`].
    IssueCards(Vec<OrderedCards>),
    /// Put money on a card.
    TopUp {
        /// The card.
        card: CardNumber,
        /// Kopecks, above zero.
        amount: Kopecks,
    },
    /// Let a card be spent within `limit` from now on.
    SetLimit {
        /// The card.
        card: CardNumber,
        /// What it may be spent on.
        limit: Limit,
    },
}

/// An instruction with its key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Submission {
    /// The key.
    pub key: BankKey,
    /// What to do under it.
    pub instruction: Instruction,
}

/// What became of an instruction, once and for all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It was carried out.
    Done,
    /// It was refused and had no effect.
    Declined(DeclineReason),
}

/// Why the bank refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DeclineReason {
    /// Over the amount by which the card can be topped up.
    OverCardLimit,
    /// The card is blocked or closed.
    Blocked,
    /// The card has expired.
    Expired,
    /// The card is not activated yet.
    NotActivated,
    /// Any other reason of the bank's own.
    Refused,
}

/// No verdict.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BankError {
    /// The call had no effect for certain: it never reached the bank, or the bank said so. It can be sent again.
    #[error("the bank is not available: {0}")]
    Unavailable(String),
    /// The call may or may not have had its effect. Ask by the key.
    #[error("the bank's answer is not known: {0}")]
    Unknown(String),
}

/// A card as the bank issued it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IssuedCard {
    /// Its number.
    pub number: CardNumber,
    /// The product.
    pub kind: CardType,
    /// The last day on which it is valid.
    pub valid_until: Date,
    /// Virtual cards: the code that activates it.
    pub activation_code: Option<String>,
    /// Virtual cards: the last day on which the code is good.
    pub code_valid_until: Option<Date>,
    /// Virtual cards: the money it holds from the start.
    pub first_top_up: Option<Kopecks>,
    /// By how much it can be topped up beyond that.
    pub remaining_top_up: Kopecks,
    /// When it was activated: plastic at its issue, virtual not yet.
    pub activated_at: Option<OffsetDateTime>,
    /// When it was issued.
    pub issued_at: OffsetDateTime,
}

/// A card as it stands at the bank now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BankCard {
    /// Money on the card.
    pub balance: Kopecks,
    /// By how much it can still be topped up.
    pub remaining_top_up: Kopecks,
    /// Money on the card's account.
    pub account: Kopecks,
    /// When it was activated, if it was.
    pub activated_at: Option<OffsetDateTime>,
    /// Whether the bank lets it pay.
    pub standing: Standing,
    /// The last day on which it is valid.
    pub valid_until: Date,
}

/// The way to the bank. Calls may block; none of them is ever made inside a unit of work.
#[cfg_attr(feature = "mock", mockall::automock)]
pub trait BankGateway: Send + Sync {
    /// Whether a submission repeated under its key has its effect once only.
    fn repeat_is_safe(&self) -> bool;

    /// Sends instructions, each under its own key, and answers for each in their order. What was submitted before
    /// under the same key is answered with its first verdict and done no second time (if [`Self::repeat_is_safe`]).
    fn submit(&self, submissions: &[Submission]) -> Vec<Result<Verdict, BankError>>;

    /// What became of each key, in their order: `None` if the bank never saw it.
    ///
    /// # Errors
    /// [`BankError`] if the bank did not answer; asking again is always safe.
    fn query(&self, keys: &[BankKey]) -> Result<Vec<Option<Verdict>>, BankError>;

    /// Cards issued under the key of an order that is done, from number `skip` on, `limit` at most, always in the
    /// same order: that of the order's lines.
    ///
    /// # Errors
    /// [`BankError`] if the bank did not answer; asking again is always safe.
    fn issued_cards(&self, key: &BankKey, skip: u32, limit: u32) -> Result<Vec<IssuedCard>, BankError>;

    /// A card as it stands now, `None` if the bank has no such card.
    ///
    /// # Errors
    /// [`BankError`] if the bank did not answer.
    fn card(&self, number: CardNumber) -> Result<Option<BankCard>, BankError>;

    /// Transactions of a card with an id above `after`, by ascending id, `limit` at most.
    ///
    /// # Errors
    /// [`BankError`] if the bank did not answer.
    fn transactions(&self, number: CardNumber, after: i64, limit: u32)
    -> Result<Vec<Transaction>, BankError>;
}
