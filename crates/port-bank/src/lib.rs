#![doc = include_str!("../README.md")]

mod capabilities;
#[cfg(feature = "contract")]
pub mod contract;
mod feed;
mod registry;
pub mod sandbox;

use std::ops::Range;

use kopeck_domain::card::{CardType, Standing};
use kopeck_domain::card_number::CardNumber;
use kopeck_domain::limit::Limit;
use kopeck_domain::transaction::Transaction;
use kopeck_domain::{Invalid, Kopecks};
use time::{Date, OffsetDateTime};
use uuid::Uuid;

pub use capabilities::{Capabilities, Capability, NotSupported};
pub use feed::{FeedChange, FeedEntry, FeedError, LATE_ENTRIES};
pub use registry::{RegistryEntry, RegistryError, RegistryPosition};

/// The idempotency key of an instruction at the bank, if the gateway supports retries ([`BankGateway::repeat_is_safe`]).
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BankKey(String);

impl BankKey {
    /// The most characters.
    pub const MAX_CHARS: usize = 100;

    /// The key with this text, 1 to 100 visible ASCII characters.
    ///
    /// # Errors
    /// [`Invalid`] for any other text.
    pub fn new(text: impl Into<String>) -> Result<Self, Invalid> {
        let text = text.into();
        if (1..=Self::MAX_CHARS).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic()) {
            Ok(Self(text))
        } else {
            Err(Invalid::new("must have 1 to 100 visible ASCII characters"))
        }
    }

    /// The key of a request or of one of its parts: `order/ID`, `closing/ID/7`. `kind` is one short word.
    #[must_use]
    pub fn of(kind: &'static str, request: Uuid, part: Option<u32>) -> Self {
        Self(part.map_or_else(|| format!("{kind}/{request}"), |part| format!("{kind}/{request}/{part}")))
    }

    /// The text on the wire.
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

/// An instruction to the bank.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Instruction {
    /// Issue all these cards, or none of them. The cards are fetched by [`BankGateway::issued_cards`].
    IssueCards(Vec<OrderedCards>),
    /// Top a card up.
    TopUp {
        /// The card.
        card: CardNumber,
        /// Kopecks, above zero.
        amount: Kopecks,
    },
    /// Set the limit of a card.
    SetLimit {
        /// The card.
        card: CardNumber,
        /// What it may be spent on.
        limit: Limit,
    },
    /// Block a card, or lift that block. It is apart from a block of the bank's own, which it neither sets nor lifts. A
    /// closed card refuses it.
    SetBlock {
        /// The card.
        card: CardNumber,
        /// Whether to block it.
        blocked: bool,
        /// Which change of the card's block this is. A bank that has done a later one reports that it is done, and
        /// changes nothing.
        change: u32,
    },
    /// Close a card for good, and give its balance back. Blocked, expired and inactive cards can be closed too. The verdict,
    /// [`Verdict::Returned`], comes once every purchase of the card is settled.
    CloseCard {
        /// The card.
        card: CardNumber,
    },
    /// Take money back from a card, also from a blocked, expired or inactive one. The verdict is [`Verdict::Returned`].
    Withdraw {
        /// The card.
        card: CardNumber,
        /// Kopecks, above zero; `None` for all that is on the card.
        amount: Option<Kopecks>,
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

/// The outcome of an instruction, final unless it is [`Self::Pending`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It was carried out.
    Done,
    /// It was carried out; the kopecks that the card returned, zero if it was empty.
    Returned(Kopecks),
    /// It was refused and had no effect.
    Declined(DeclineReason),
    /// None yet: the bank has the instruction, or may have it, and its outcome comes later. Query by the key.
    Pending,
}

/// Why the bank refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DeclineReason {
    /// Over the amount by which the card can be topped up.
    OverCardLimit,
    /// The card is closed, or the bank blocks it.
    Blocked,
    /// The card is blocked by [`Instruction::SetBlock`].
    BlockedByPartner,
    /// The card has expired.
    Expired,
    /// The card is not activated yet.
    NotActivated,
    /// The card is closed already: of [`Instruction::CloseCard`] and [`Instruction::Withdraw`].
    Closed,
    /// The card holds less than [`Instruction::Withdraw`] says, or nothing.
    NotEnoughOnCard,
    /// Any other reason of the bank's own.
    Refused,
}

/// No verdict.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BankError {
    /// The request certainly had no effect: it never reached the bank, or the bank said so. It can be sent again.
    #[error("the bank is not available: {0}")]
    Unavailable(String),
    /// The request may or may not have had its effect. Query by the key.
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
    /// The amount by which it can be topped up beyond that.
    pub remaining_top_up: Kopecks,
    /// When it was activated: plastic at its issue, virtual not yet.
    pub activated_at: Option<OffsetDateTime>,
    /// When it was issued.
    pub issued_at: OffsetDateTime,
}

/// The present state of a card at the bank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BankCard {
    /// Money on the card.
    pub balance: Kopecks,
    /// The amount by which it can still be topped up.
    pub remaining_top_up: Kopecks,
    /// Money on the card's account.
    pub account: Kopecks,
    /// When it was activated, if it was.
    pub activated_at: Option<OffsetDateTime>,
    /// Whether the bank itself lets it pay. [`Instruction::SetBlock`] does not show in it.
    pub standing: Standing,
    /// The last day on which it is valid.
    pub valid_until: Date,
}

/// The gateway to the bank. Requests may block, and never happen inside a unit of work.
#[cfg_attr(feature = "mock", mockall::automock)]
pub trait BankGateway: Send + Sync {
    /// Whether a retry under the same key has its effect only once.
    fn repeat_is_safe(&self) -> bool;

    /// What the bank can do, as [`Self::read_capabilities`] last learned, everything before that. Never blocks.
    fn capabilities(&self) -> Capabilities {
        Capabilities::EVERYTHING
    }

    /// Asks the bank anew what it can do; a bank that does not say can do everything.
    ///
    /// # Errors
    /// [`BankError`] without a response; then what was known stays.
    fn read_capabilities(&self) -> Result<Capabilities, BankError> {
        Ok(self.capabilities())
    }

    /// Sends instructions, each under its own key, and returns their outcomes in order. With [`Self::repeat_is_safe`] a
    /// retry gets the first verdict and has no second effect.
    fn submit(&self, submissions: &[Submission]) -> Vec<Result<Verdict, BankError>>;

    /// The verdict of each key, in order; `None` if the bank does not know it.
    ///
    /// # Errors
    /// [`BankError`] without a response; a retry is always safe.
    fn query(&self, keys: &[BankKey]) -> Result<Vec<Option<Verdict>>, BankError>;

    /// Cards issued under the key of an order that is done, from number `skip` on, `limit` at most, always in the
    /// same order: that of the order's lines.
    ///
    /// # Errors
    /// [`BankError`] without a response; a retry is always safe.
    fn issued_cards(&self, key: &BankKey, skip: u32, limit: u32) -> Result<Vec<IssuedCard>, BankError>;

    /// The present state of a card; `None` if the bank has no such card.
    ///
    /// # Errors
    /// [`BankError`] without a response.
    fn card(&self, number: CardNumber) -> Result<Option<BankCard>, BankError>;

    /// Transactions of a card with an id above `after`, by ascending id, `limit` at most.
    ///
    /// # Errors
    /// [`BankError`] without a response.
    fn transactions(&self, number: CardNumber, after: i64, limit: u32)
    -> Result<Vec<Transaction>, BankError>;

    /// Entries of the feed with numbers above `after`, by ascending number, `limit` at most. An entry may become
    /// visible after one with a greater number, by [`LATE_ENTRIES`] numbers at most, so a reader looks back that far. A
    /// bank need not have a feed.
    ///
    /// # Errors
    /// [`FeedError`].
    fn feed(&self, after: i64, limit: u32) -> Result<Vec<FeedEntry>, FeedError> {
        let _ = (after, limit);
        Err(FeedError::NotSupported)
    }

    /// The bank's registry of a period: every movement of money on the cards of the service's orders that was executed
    /// in it, in the order of their positions, those behind `after`, `limit` at most. A bank need not have a registry.
    ///
    /// # Errors
    /// [`RegistryError`].
    fn registry(
        &self,
        period: &Range<OffsetDateTime>,
        after: Option<RegistryPosition>,
        limit: u32,
    ) -> Result<Vec<RegistryEntry>, RegistryError> {
        let _ = (period, after, limit);
        Err(RegistryError::NotSupported)
    }
}
