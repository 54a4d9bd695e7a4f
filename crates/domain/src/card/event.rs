//! What events tell of a card.

use time::{Date, Duration};

#[cfg(feature = "serde")]
use super::iso_date;
use super::{BankStatus, BankView, Card, CardLink, CardStatus, CardType, Standing};
use crate::card_number::CardNumber;
use crate::ids::{CardId, EmployeeId, OrderId};

/// What the rules of a card say has happened to it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
pub enum CardEvent {
    /// Its status changed.
    Status(CardHolder),
    /// Whether it can pay changed.
    BankStatus(CardAtBank),
    /// It was activated.
    Activated(CardAtBank),
    /// It expires soon.
    Expiring(CardAtBank),
    /// Its last day is over.
    Expired(CardAtBank),
}

/// A card that the bank issued.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct CardIssued {
    /// The card.
    pub card: CardId,
    /// The bank's number of it.
    pub number: CardNumber,
    /// The product.
    pub kind: CardType,
    /// The order it was issued for.
    pub order: OrderId,
    /// The last day on which it is valid.
    #[cfg_attr(feature = "serde", serde(with = "iso_date"))]
    pub valid_until: Date,
    /// Whether it can pay now.
    pub bank_status: BankStatus,
}

/// A card and the employee who holds it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct CardHolder {
    /// The card.
    pub card: CardId,
    /// Its holder.
    pub employee: EmployeeId,
    /// Its role.
    pub status: CardStatus,
    /// Whether it can pay now.
    pub bank_status: BankStatus,
}

/// A card as the bank has it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct CardAtBank {
    /// The card.
    pub card: CardId,
    /// Its holder, if any.
    pub employee: Option<EmployeeId>,
    /// Whether it can pay now.
    pub bank_status: BankStatus,
}

impl Card {
    /// Its expiry as an event, which is due on or before `today`, and the day on which the next one is due. There is no
    /// event of the near expiry of a closed card.
    #[must_use]
    pub fn expiry_event(&self, standing: Standing, today: Date) -> (Option<CardEvent>, Option<Date>) {
        let at_bank = self.at_bank(standing);
        if self.is_expired(today) {
            return (Some(CardEvent::Expired(at_bank)), None);
        }
        let expiring = (standing != Standing::Closed).then_some(CardEvent::Expiring(at_bank));
        (expiring, Some(self.valid_until().saturating_add(Duration::DAY)))
    }

    /// The events of a change at the bank, from one view of the card to a later one.
    #[must_use]
    pub fn bank_events(&self, before: &BankView, after: &BankView) -> Vec<CardEvent> {
        let mut events = Vec::new();
        if before.activated_at.is_none() && after.activated_at.is_some() {
            events.push(CardEvent::Activated(self.at_bank(after.standing)));
        }
        if before.standing != after.standing {
            events.push(CardEvent::BankStatus(self.at_bank(after.standing)));
        }
        events
    }

    /// Its link to `employee` as events tell it.
    #[must_use]
    pub fn holder(&self, link: CardLink, standing: Standing) -> CardHolder {
        let bank_status = self.bank_status(standing);
        CardHolder { card: self.id(), employee: link.employee, status: link.status, bank_status }
    }

    pub(super) fn at_bank(&self, standing: Standing) -> CardAtBank {
        let bank_status = self.bank_status(standing);
        CardAtBank { card: self.id(), employee: self.link().map(|link| link.employee), bank_status }
    }
}
