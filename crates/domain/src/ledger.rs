//! The double-entry ledger of a partner's money.
//!
//! Every movement is a set of signed entries that adds up to zero, so money never appears or vanishes: it goes from
//! one account to another. A partner has four accounts:
//!
//! | account | what lies on it |
//! |---|---|
//! | DEPOSITED | the other side of what the partner paid in and got back; never above zero |
//! | AVAILABLE | what the partner can spend |
//! | HELD | what is reserved for undecided requests |
//! | SPENT | what went to the bank for good |
//!
//! The partner's *balance* is AVAILABLE + HELD.

mod event;
#[cfg(feature = "serde")]
mod serde_form;

use crate::invalid::{Invalid, from_text};
use uuid::Uuid;

use crate::ids::{ClosingId, OrderId, ReplenishmentId, WithdrawalId};
use crate::money::{AmountOverflow, Kopecks};
use crate::string_enum::serde_enum;
use crate::text;

pub use event::{BalanceLow, Deposited, ReturnOrigin, Returned, Transfer};

serde_enum! {
    /// An account of a partner.
    Account {
        /// The other side of what the partner paid in and got back.
        Deposited = "DEPOSITED",
        /// What the partner can spend.
        Available = "AVAILABLE",
        /// What is reserved.
        Held = "HELD",
        /// What went to the bank.
        Spent = "SPENT",
    }
}

serde_enum! {
    /// The purpose of a movement.
    MovementKind {
        /// Money of the partner arrives: DEPOSITED to AVAILABLE.
        Deposit = "DEPOSIT",
        /// Money is reserved: AVAILABLE to HELD.
        Hold = "HOLD",
        /// A hold is settled: HELD to SPENT.
        Capture = "CAPTURE",
        /// A hold is released: HELD to AVAILABLE.
        Release = "RELEASE",
        /// Money comes back from a card: SPENT to AVAILABLE.
        Return = "RETURN",
        /// Money is paid out to the partner: AVAILABLE to DEPOSITED.
        Withdrawal = "WITHDRAWAL",
        /// A deposit is reversed: AVAILABLE to DEPOSITED.
        Correction = "CORRECTION",
    }
}

impl MovementKind {
    /// By how much movements of this kind change what the partner can spend, if they move `amount`, which is not below zero.
    #[must_use]
    pub const fn change_of_available(self, amount: Kopecks) -> Kopecks {
        match self.route() {
            (Account::Available, _) => Kopecks::new(-amount.get()),
            (_, Account::Available) => amount,
            _ => Kopecks::ZERO,
        }
    }

    /// By how much movements of this kind change what is held, if they move `amount`, which is not below zero.
    #[must_use]
    pub const fn change_of_held(self, amount: Kopecks) -> Kopecks {
        match self.route() {
            (Account::Held, _) => Kopecks::new(-amount.get()),
            (_, Account::Held) => amount,
            _ => Kopecks::ZERO,
        }
    }

    /// The account the money leaves and the one it reaches.
    #[must_use]
    pub const fn route(self) -> (Account, Account) {
        match self {
            Self::Deposit => (Account::Deposited, Account::Available),
            Self::Hold => (Account::Available, Account::Held),
            Self::Capture => (Account::Held, Account::Spent),
            Self::Release => (Account::Held, Account::Available),
            Self::Return => (Account::Spent, Account::Available),
            Self::Withdrawal | Self::Correction => (Account::Available, Account::Deposited),
        }
    }
}

serde_enum! {
    /// What an entry of a partner's statement is: the purpose of a movement, by the word that partners know.
    EntryType {
        /// Money of the partner arrived.
        Deposit = "DEPOSIT",
        /// Money was reserved.
        Hold = "HOLD",
        /// What was reserved was spent.
        Debit = "DEBIT",
        /// What was reserved was released.
        Release = "RELEASE",
        /// Money came back from a card.
        Return = "RETURN",
        /// Money was paid to the partner.
        Withdrawal = "WITHDRAWAL",
        /// A deposit was reversed.
        Correction = "CORRECTION",
    }
}

impl From<MovementKind> for EntryType {
    fn from(kind: MovementKind) -> Self {
        match kind {
            MovementKind::Deposit => Self::Deposit,
            MovementKind::Hold => Self::Hold,
            MovementKind::Capture => Self::Debit,
            MovementKind::Release => Self::Release,
            MovementKind::Return => Self::Return,
            MovementKind::Withdrawal => Self::Withdrawal,
            MovementKind::Correction => Self::Correction,
        }
    }
}

impl EntryType {
    /// The purpose of the movement that this is an entry of.
    #[must_use]
    pub const fn kind(self) -> MovementKind {
        match self {
            Self::Deposit => MovementKind::Deposit,
            Self::Hold => MovementKind::Hold,
            Self::Debit => MovementKind::Capture,
            Self::Release => MovementKind::Release,
            Self::Return => MovementKind::Return,
            Self::Withdrawal => MovementKind::Withdrawal,
            Self::Correction => MovementKind::Correction,
        }
    }
}

/// The origin of a movement.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
pub enum Reference {
    /// A deposit, its reversal or a payment to the partner, by the reference it was made under.
    Transfer(TransferReference),
    /// A virtual order.
    Order(OrderId),
    /// A replenishment.
    Replenishment(ReplenishmentId),
    /// A request to close cards.
    Closing(ClosingId),
    /// A request to take money from cards.
    Withdrawal(WithdrawalId),
}

serde_enum! {
    /// What a movement belongs to, by the word that partners know.
    EntrySource {
        /// An order.
        Order = "order",
        /// A replenishment.
        Replenishment = "replenishment",
        /// A closing of cards.
        Closing = "closing",
        /// A withdrawal from cards.
        Withdrawal = "withdrawal",
        /// A deposit.
        Deposit = "deposit",
        /// A payment to the partner.
        PartnerWithdrawal = "partner_withdrawal",
        /// The reversal of a deposit.
        Correction = "correction",
    }
}

impl Reference {
    /// The request, if it is one.
    #[must_use]
    pub const fn request(&self) -> Option<Uuid> {
        match self {
            Self::Order(id) => Some(id.uuid()),
            Self::Replenishment(id) => Some(id.uuid()),
            Self::Closing(id) => Some(id.uuid()),
            Self::Withdrawal(id) => Some(id.uuid()),
            Self::Transfer(_) => None,
        }
    }
}

/// The reference of money that a partner pays in or gets back: 1..=64 visible ASCII characters. It counts once for each
/// kind of movement.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct TransferReference(String);

impl TransferReference {
    /// Reads a reference.
    ///
    /// # Errors
    /// [`Invalid`] with the rule that is broken.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        if text.is_empty() || text.len() > 64 || !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(Invalid::new("must have 1 to 64 visible ASCII characters"));
        }
        Ok(Self(text.to_owned()))
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

from_text!(as_str: TransferReference);

/// Reads why a deposit is reversed, in NFC: 1..=200 characters; blanks around it are cut off.
///
/// # Errors
/// [`Invalid`] with the rule that is broken.
pub fn parse_reason(text: &str) -> Result<String, Invalid> {
    text::parse(text.trim(), 200)
}

/// One side of a movement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// The account.
    pub account: Account,
    /// What it gains (above zero) or loses (below).
    pub amount: Kopecks,
}

/// A movement of money between a partner's accounts.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "serde_form::MovementForm"))]
pub struct Movement {
    kind: MovementKind,
    reference: Reference,
    amount: Kopecks,
}

/// Why a movement cannot be booked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
pub enum LedgerError {
    /// The account the money should leave does not have it.
    #[error("the account {0} does not cover the amount")]
    Insufficient(Account),
    /// An amount of zero or below moves nothing.
    #[error("only an amount above zero can be moved")]
    NotPositive,
    /// A sum does not fit.
    #[error(transparent)]
    Overflow(#[from] AmountOverflow),
}

impl Movement {
    /// A movement of `amount` kopecks.
    ///
    /// # Errors
    /// [`LedgerError::NotPositive`] for zero or less.
    pub fn new(kind: MovementKind, reference: Reference, amount: Kopecks) -> Result<Self, LedgerError> {
        if amount.is_positive() {
            Ok(Self { kind, reference, amount })
        } else {
            Err(LedgerError::NotPositive)
        }
    }

    /// What it is for.
    #[must_use]
    pub const fn kind(&self) -> MovementKind {
        self.kind
    }

    /// What it belongs to.
    #[must_use]
    pub const fn reference(&self) -> &Reference {
        &self.reference
    }

    /// How much moves.
    #[must_use]
    pub const fn amount(&self) -> Kopecks {
        self.amount
    }

    /// What it belongs to.
    #[must_use]
    pub const fn source(&self) -> EntrySource {
        match (&self.reference, self.kind) {
            (Reference::Order(_), _) => EntrySource::Order,
            (Reference::Replenishment(_), _) => EntrySource::Replenishment,
            (Reference::Closing(_), _) => EntrySource::Closing,
            (Reference::Withdrawal(_), _) => EntrySource::Withdrawal,
            (Reference::Transfer(_), MovementKind::Withdrawal) => EntrySource::PartnerWithdrawal,
            (Reference::Transfer(_), MovementKind::Correction) => EntrySource::Correction,
            (Reference::Transfer(_), _) => EntrySource::Deposit,
        }
    }

    /// By how much it changes what the partner can spend: below zero if that becomes less, zero for a capture.
    #[must_use]
    pub fn change_of_available(&self) -> Kopecks {
        self.kind.change_of_available(self.amount)
    }

    /// Its two entries, which add up to zero.
    #[must_use]
    pub fn entries(&self) -> [Entry; 2] {
        let (from, to) = self.kind.route();
        // An amount above zero always has an opposite.
        let taken = Kopecks::new(-self.amount.get());
        [Entry { account: from, amount: taken }, Entry { account: to, amount: self.amount }]
    }
}

/// What lies on the accounts of a partner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "serde_form::BalancesForm"))]
pub struct Balances {
    /// On DEPOSITED, never above zero.
    pub deposited: Kopecks,
    /// On AVAILABLE, never below zero.
    pub available: Kopecks,
    /// On HELD, never below zero.
    pub held: Kopecks,
    /// On SPENT, never below zero.
    pub spent: Kopecks,
}

impl Balances {
    /// The balances after `movement`.
    ///
    /// # Errors
    /// [`LedgerError::Insufficient`] if money would leave an account that does not have it.
    pub fn after(self, movement: &Movement) -> Result<Self, LedgerError> {
        let mut next = self;
        for entry in movement.entries() {
            let slot = next.slot(entry.account);
            *slot = slot.plus(entry.amount)?;
            if slot.is_negative() && entry.account != Account::Deposited {
                return Err(LedgerError::Insufficient(entry.account));
            }
        }
        Ok(next)
    }

    /// What lies on `account`.
    #[must_use]
    pub fn on(&self, account: Account) -> Kopecks {
        match account {
            Account::Deposited => self.deposited,
            Account::Available => self.available,
            Account::Held => self.held,
            Account::Spent => self.spent,
        }
    }

    /// The partner's balance: AVAILABLE + HELD.
    ///
    /// # Errors
    /// [`AmountOverflow`] if the sum does not fit.
    pub fn balance(&self) -> Result<Kopecks, AmountOverflow> {
        self.available.plus(self.held)
    }

    fn slot(&mut self, account: Account) -> &mut Kopecks {
        match account {
            Account::Deposited => &mut self.deposited,
            Account::Available => &mut self.available,
            Account::Held => &mut self.held,
            Account::Spent => &mut self.spent,
        }
    }
}

#[cfg(test)]
mod tests;
