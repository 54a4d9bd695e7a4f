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

#[cfg(feature = "serde")]
mod serde_form;

use crate::draft::{Invalid, from_text};
use uuid::Uuid;

use crate::ids::{ClosingId, OrderId, ReplenishmentId, WithdrawalId};
use crate::money::{AmountOverflow, Kopecks};
use crate::string_enum::serde_enum;
use crate::text;

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
mod tests {
    use super::*;
    use proptest::prelude::*;
    use uuid::Uuid;

    fn movement(kind: MovementKind, amount: i64) -> Movement {
        Movement::new(kind, Reference::Order(OrderId::new(Uuid::nil())), Kopecks::new(amount)).unwrap()
    }

    #[test]
    fn a_hold_needs_money() {
        let poor = Balances::default().after(&movement(MovementKind::Deposit, 99)).unwrap();
        let refusal = poor.after(&movement(MovementKind::Hold, 100));
        assert_eq!(refusal, Err(LedgerError::Insufficient(Account::Available)));
        assert!(poor.after(&movement(MovementKind::Hold, 99)).is_ok());
    }

    #[test]
    fn what_is_not_held_can_neither_be_captured_nor_released() {
        let balances = Balances::default().after(&movement(MovementKind::Deposit, 100)).unwrap();
        for kind in [MovementKind::Capture, MovementKind::Release] {
            assert_eq!(balances.after(&movement(kind, 1)), Err(LedgerError::Insufficient(Account::Held)));
        }
    }

    #[test]
    fn no_more_comes_back_than_was_spent_and_no_more_is_paid_out_than_is_available() {
        let steps = [(MovementKind::Deposit, 100), (MovementKind::Hold, 60), (MovementKind::Capture, 60)];
        let balances = steps
            .into_iter()
            .fold(Balances::default(), |sheet, (kind, amount)| sheet.after(&movement(kind, amount)).unwrap());
        let refused = balances.after(&movement(MovementKind::Return, 61));
        assert_eq!(refused, Err(LedgerError::Insufficient(Account::Spent)));
        let returned = balances.after(&movement(MovementKind::Return, 60)).unwrap();
        assert_eq!((returned.available, returned.spent), (Kopecks::new(100), Kopecks::ZERO));
        for kind in [MovementKind::Withdrawal, MovementKind::Correction] {
            let refused = balances.after(&movement(kind, 41));
            assert_eq!(refused, Err(LedgerError::Insufficient(Account::Available)));
            let paid = balances.after(&movement(kind, 40)).unwrap();
            assert_eq!((paid.deposited, paid.available), (Kopecks::new(-60), Kopecks::ZERO));
        }
    }

    #[test]
    fn a_reference_has_1_to_64_visible_ascii_characters() {
        let longest = "r".repeat(64);
        for text in ["7", "~!", &longest] {
            assert_eq!(TransferReference::parse(text).unwrap().as_str(), text);
        }
        for text in ["", " ", "a b", "a\n", "\u{7f}", "é", &"r".repeat(65)] {
            assert!(TransferReference::parse(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn a_reason_has_1_to_200_characters() {
        assert_eq!(parse_reason(" по ошибке ").unwrap(), "по ошибке");
        assert!(parse_reason(&"ж".repeat(200)).is_ok());
        for text in ["", " ", "a\nb", &"ж".repeat(201)] {
            assert!(parse_reason(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn the_balance_is_what_is_available_and_what_is_held() {
        let [deposited, available, held, spent] = [-10, 5, 3, 2].map(Kopecks::new);
        let balances = Balances { deposited, available, held, spent };
        let on = Account::ALL.iter().map(|account| (*account, balances.on(*account)));
        let expected = [
            (Account::Deposited, deposited),
            (Account::Available, available),
            (Account::Held, held),
            (Account::Spent, spent),
        ];
        assert!(on.eq(expected));
        assert_eq!(balances.balance(), Ok(Kopecks::new(8)));
    }

    #[test]
    fn nothing_and_less_cannot_be_moved() {
        let reference = || Reference::Order(OrderId::new(Uuid::nil()));
        for amount in [0, -1, i64::MIN] {
            let refused = Movement::new(MovementKind::Deposit, reference(), Kopecks::new(amount));
            assert_eq!(refused, Err(LedgerError::NotPositive));
        }
    }

    #[test]
    fn every_kind_of_movement_is_an_entry_of_its_own() {
        for kind in MovementKind::ALL {
            assert_eq!(EntryType::from(*kind).kind(), *kind);
        }
        assert_eq!(EntryType::ALL.len(), MovementKind::ALL.len());
    }

    #[test]
    fn an_overflow_changes_nothing() {
        let rich = Balances::default().after(&movement(MovementKind::Deposit, i64::MAX)).unwrap();
        assert!(matches!(rich.after(&movement(MovementKind::Deposit, 2)), Err(LedgerError::Overflow(_))));
    }

    proptest! {
        #[test]
        fn accounts_always_add_up_to_zero(steps in prop::collection::vec((0..MovementKind::ALL.len(), 1_i64..1_000), 0..200)) {
            let mut balances = Balances::default();
            for (kind, amount) in steps {
                let movement = movement(MovementKind::ALL[kind], amount);
                prop_assert_eq!(Kopecks::sum(movement.entries().map(|entry| entry.amount)), Ok(Kopecks::ZERO));
                if let Ok(next) = balances.after(&movement) {
                    prop_assert_eq!(balances.available.plus(movement.change_of_available()), Ok(next.available));
                    balances = next;
                }
                prop_assert_eq!(Kopecks::sum(Account::ALL.iter().map(|account| balances.on(*account))), Ok(Kopecks::ZERO));
                prop_assert!(!balances.available.is_negative() && !balances.held.is_negative() && !balances.spent.is_negative());
            }
        }
    }
}
