//! Cards: their types, their link to an employee, and the rules of linking and switching.

use time::{Date, Duration, OffsetDateTime};

use crate::Kopecks;
use crate::card_number::CardNumber;
use crate::fields::fields;
use crate::ids::{CardId, EmployeeId, OrderId};
use crate::invalid::Invalid;
use crate::string_enum::serde_enum;

mod block;
mod event;

pub use block::{BankStatus, BlockState, PartnerBlock};
pub use event::{CardAtBank, CardEvent, CardHolder, CardIssued};

serde_enum! {
    /// The product a card is.
    CardType {
        /// Virtual card of the national payment system.
        Mlz = "MLZ",
        /// Plastic card of the national payment system.
        Mp4 = "MP4",
        /// Plastic card of an international payment network (first).
        P04 = "P04",
        /// Plastic card of an international payment network (second).
        Cp4 = "CP4",
        /// Plastic benefits-programme card of the national payment system.
        Kkl = "KKL",
    }
}

impl CardType {
    /// Whether the card exists only as a number.
    #[must_use]
    pub const fn is_virtual(self) -> bool {
        match self {
            Self::Mlz => true,
            Self::Mp4 | Self::P04 | Self::Cp4 | Self::Kkl => false,
        }
    }
}

serde_enum! {
    /// The role of a linked card, set by the partner; not to be confused with a block at the bank.
    CardStatus {
        /// The card that top-ups go to. One per employee at most.
        Main = "MAIN",
        /// A further card.
        Additional = "ADDITIONAL",
        /// Blocked by the partner, at the bank too; see [`PartnerBlock`].
        TemporarilyBlocked = "TEMPORARILY_BLOCKED",
    }
}

#[cfg(feature = "serde")]
time::serde::format_description!(iso_date, Date, "[year]-[month]-[day]");

/// A card of a partner. Only its verbs change it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "CardFields"))]
pub struct Card(CardFields);

/// The card that the fields describe.
impl TryFrom<CardFields> for Card {
    type Error = Invalid;

    fn try_from(stored: CardFields) -> Result<Self, Invalid> {
        if stored.number.is_plastic() == stored.kind.is_virtual() {
            return Err(Invalid::new("the number of a card must have the form of its type"));
        }
        Ok(Self(stored))
    }
}

fields! {
    /// The fields of a card.
    #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
    CardFields of Card {
        /// The service's identifier.
        id: CardId,
        /// The bank's number of it.
        number: CardNumber,
        /// The product.
        kind: CardType,
        /// The order it was issued for.
        order: OrderId,
        /// The last day on which it is valid.
        #[cfg_attr(feature = "serde", serde(with = "iso_date"))]
        valid_until: Date,
        /// The employee who holds it, if any.
        link: Option<CardLink>,
        /// The block that the partner sets, and whether the bank knows.
        block: PartnerBlock,
    }
}

/// The link of a card to an employee.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct CardLink {
    /// The card's holder.
    pub employee: EmployeeId,
    /// Its role.
    pub status: CardStatus,
}

/// The bank's data of a card, and their time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct BankView {
    /// Money on the card.
    pub balance: Kopecks,
    /// The amount by which it can still be topped up.
    pub remaining_top_up: Kopecks,
    /// When the card was activated, if it was.
    #[cfg_attr(feature = "serde", serde(with = "time::serde::rfc3339::option"))]
    pub activated_at: Option<OffsetDateTime>,
    /// Whether the bank itself lets it pay. A block of the partner's is no part of it.
    pub standing: Standing,
    /// The time of the bank's response.
    #[cfg_attr(feature = "serde", serde(with = "time::serde::rfc3339"))]
    pub seen_at: OffsetDateTime,
}

serde_enum! {
    /// How a card stands at the bank.
    Standing {
        /// In order.
        Open = "OPEN",
        /// Blocked by the bank.
        Blocked = "BLOCKED",
        /// Closed for good.
        Closed = "CLOSED",
    }
}

impl Standing {
    /// How a card stands that stood like this, once the bank says `next` of it: a closed one never opens again.
    #[must_use]
    pub const fn followed_by(self, next: Self) -> Self {
        match self {
            Self::Closed => Self::Closed,
            Self::Open | Self::Blocked => next,
        }
    }
}

/// The balance of a card's account as of the last daily refresh.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct AccountBalance {
    /// Kopecks on the account.
    pub value: Kopecks,
    /// When the refresh was.
    #[cfg_attr(feature = "serde", serde(with = "time::serde::rfc3339"))]
    pub updated_at: OffsetDateTime,
}

/// How long before the last day of a card its holder should learn of it.
pub const EXPIRY_NOTICE: Duration = Duration::days(30);

/// The day on which the first event of the expiry of a card with this last day is due.
#[must_use]
pub fn expiry_notice_due(valid_until: Date) -> Date {
    valid_until.saturating_sub(EXPIRY_NOTICE)
}

/// Why a card cannot be linked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
pub enum LinkRefusal {
    /// Linked to this employee already, with another status.
    #[error("the card is already linked to this employee with another status")]
    AlreadyLinked,
    /// Closed for good.
    #[error("the card is closed")]
    Closed,
    /// Linked to another employee.
    #[error("the card is already linked to another employee")]
    LinkedToAnother,
    /// Blocked by the bank.
    #[error("the card is not available")]
    NotAvailable,
    /// Past its last day.
    #[error("the card has expired")]
    Expired,
    /// The employee has a MAIN card.
    #[error("the employee already has a main card: change its status or add the card as additional")]
    HasMainCard,
}

/// Why the status of a card cannot be switched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
pub enum SwitchRefusal {
    /// Closed for good.
    #[error("the status cannot change: the card is closed")]
    Closed,
    /// Past its last day.
    #[error("the status cannot change: the card has expired")]
    Expired,
    /// Blocked by the bank.
    #[error("the status cannot change: the card is blocked at the bank")]
    Blocked,
    /// Another card of the employee is MAIN.
    #[error("the employee already has a main card: change its status first")]
    HasMainCard,
}

/// Why a card cannot be unlinked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
pub enum UnlinkRefusal {
    /// Neither closed nor expired, and activated or with money on it.
    #[error(
        "the card is in use: only a closed or expired card, or one that was never activated and holds no money, is unlinked"
    )]
    InUse,
}

/// The outcome of linking or switching.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LinkOutcome {
    /// The card changed and has to be stored.
    Changed(Card),
    /// The card already has this link.
    Unchanged(Card),
}

impl Card {
    /// A card is valid on its last day and expired on the day after it. `today` is a day of the service's zone.
    #[must_use]
    pub fn is_expired(&self, today: Date) -> bool {
        today > self.valid_until()
    }

    /// Whether it can pay, where it stands so at the bank.
    #[must_use]
    pub fn bank_status(&self, standing: Standing) -> BankStatus {
        BankStatus::of(standing, self.block().state)
    }

    /// The card after the bank confirmed its block or unblock, and the event of it, which a card without another word
    /// from the bank has. `None` if the bank knew before.
    #[must_use]
    pub fn confirm_block(self, standing: Standing) -> Option<(Self, Option<CardEvent>)> {
        self.block().unconfirmed()?;
        let before = self.bank_status(standing);
        let card = Self(CardFields { block: self.block().confirmed(), ..self.0 });
        let is_shown = card.bank_status(standing) != before;
        let event = is_shown.then(|| CardEvent::BankStatus(card.at_bank(standing)));
        Some((card, event))
    }

    /// The card after the partner blocked it at once, with a holder or without, and the event of that if something
    /// changes for the partner. `None` if it is blocked by the partner already.
    #[must_use]
    pub fn freeze(self, standing: Standing) -> Option<(Self, Option<CardEvent>)> {
        let before = self.bank_status(standing);
        match self.link() {
            Some(link) if link.status == CardStatus::TemporarilyBlocked => None,
            Some(link) => {
                let link = CardLink { status: CardStatus::TemporarilyBlocked, ..link };
                let card = self.with_link(link);
                let event = CardEvent::Status(card.holder(link, standing));
                Some((card, Some(event)))
            }
            None => {
                let block = self.block().follow(CardStatus::TemporarilyBlocked);
                if block == self.block() {
                    return None;
                }
                let card = Self(CardFields { block, ..self.0 });
                let is_shown = card.bank_status(standing) != before;
                let event = is_shown.then(|| CardEvent::BankStatus(card.at_bank(standing)));
                Some((card, event))
            }
        }
    }

    /// The card after the partner lifted the block of [`freeze`](Self::freeze), and the event of that: it has the `status` again
    /// that it had, or is a further card if `main_card`, its holder's MAIN card at present, is another. `None` if it is not blocked
    /// by the partner, has no holder, or is closed or expired.
    #[must_use]
    pub fn unfreeze(
        self,
        status: CardStatus,
        main_card: Option<CardId>,
        standing: Standing,
        today: Date,
    ) -> Option<(Self, CardEvent)> {
        let link = self.link().filter(|link| link.status == CardStatus::TemporarilyBlocked)?;
        if self.is_over(standing, today) {
            return None;
        }
        let is_taken = status == CardStatus::Main && main_card.is_some();
        let link = CardLink { status: if is_taken { CardStatus::Additional } else { status }, ..link };
        let card = self.with_link(link);
        let event = CardEvent::Status(card.holder(link, standing));
        Some((card, event))
    }

    /// The card after the bank closed it, and the event of that: it keeps its place with its holder, as
    /// [`CardStatus::TemporarilyBlocked`]. `None` if nothing changes.
    #[must_use]
    pub fn close(self) -> Option<(Self, CardEvent)> {
        let link = self.link().filter(|link| link.status != CardStatus::TemporarilyBlocked)?;
        let link = CardLink { status: CardStatus::TemporarilyBlocked, ..link };
        let card = Self(CardFields { link: Some(link), ..self.0 });
        let event = CardEvent::Status(card.holder(link, Standing::Closed));
        Some((card, event))
    }

    fn with_link(self, link: CardLink) -> Self {
        let block = self.block().follow(link.status);
        Self(CardFields { link: Some(link), block, ..self.0 })
    }

    /// The card with the last day that the bank gives it.
    #[must_use]
    pub fn with_valid_until(self, valid_until: Date) -> Self {
        Self(CardFields { valid_until, ..self.0 })
    }

    /// Links the card to `employee`. `main_card` is the employee's MAIN card at present.
    ///
    /// # Errors
    /// The first [`LinkRefusal`] that applies, in the order: closed, linked already, expired, not available, main card.
    pub fn link_to(
        self,
        employee: EmployeeId,
        status: CardStatus,
        main_card: Option<CardId>,
        standing: Standing,
        today: Date,
    ) -> Result<LinkOutcome, LinkRefusal> {
        if standing == Standing::Closed {
            return Err(LinkRefusal::Closed);
        }
        match self.link() {
            Some(link) if link.employee != employee => return Err(LinkRefusal::LinkedToAnother),
            Some(link) if link.status == status => return Ok(LinkOutcome::Unchanged(self)),
            Some(_) => return Err(LinkRefusal::AlreadyLinked),
            None => {}
        }
        if self.is_expired(today) {
            return Err(LinkRefusal::Expired);
        }
        if standing == Standing::Blocked {
            return Err(LinkRefusal::NotAvailable);
        }
        if status == CardStatus::Main && main_card.is_some() {
            return Err(LinkRefusal::HasMainCard);
        }
        Ok(LinkOutcome::Changed(self.with_link(CardLink { employee, status })))
    }

    /// Unlinks the card from its employee. One that was never used is free again, without a block.
    ///
    /// # Errors
    /// [`UnlinkRefusal`] unless the card is closed, expired, or was never activated and holds no money.
    pub fn unlink(self, bank: &BankView, today: Date) -> Result<Self, UnlinkRefusal> {
        if self.is_over(bank.standing, today) {
            return Ok(Self(CardFields { link: None, ..self.0 }));
        }
        if bank.activated_at.is_some() || bank.balance != Kopecks::ZERO {
            return Err(UnlinkRefusal::InUse);
        }
        Ok(Self(CardFields { link: None, block: self.block().lifted(), ..self.0 }))
    }

    /// Whether the card will never pay again: it is closed or expired.
    #[must_use]
    pub fn is_over(&self, standing: Standing, today: Date) -> bool {
        standing == Standing::Closed || self.is_expired(today)
    }

    /// Switches the status of a card that is linked to the employee.
    ///
    /// # Errors
    /// The first [`SwitchRefusal`] that applies.
    pub fn switch(
        self,
        link: CardLink,
        status: CardStatus,
        main_card: Option<CardId>,
        standing: Standing,
        today: Date,
    ) -> Result<LinkOutcome, SwitchRefusal> {
        if standing == Standing::Closed {
            return Err(SwitchRefusal::Closed);
        }
        if self.is_expired(today) {
            return Err(SwitchRefusal::Expired);
        }
        if standing == Standing::Blocked {
            return Err(SwitchRefusal::Blocked);
        }
        if link.status == status {
            return Ok(LinkOutcome::Unchanged(self));
        }
        if status == CardStatus::Main && main_card.is_some_and(|main| main != self.id()) {
            return Err(SwitchRefusal::HasMainCard);
        }
        Ok(LinkOutcome::Changed(self.with_link(CardLink { status, ..link })))
    }
}

#[cfg(test)]
mod tests;
