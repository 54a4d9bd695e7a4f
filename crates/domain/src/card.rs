//! Cards: their types, their link to an employee, and the rules of linking and switching.

use time::{Date, Duration, OffsetDateTime};

use crate::Kopecks;
use crate::card_number::CardNumber;
use crate::draft::Invalid;
use crate::event::{self, EventData};
use crate::ids::{CardId, EmployeeId, OrderId};
use crate::string_enum::serde_enum;

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
        /// Blocked for a while by the partner.
        TemporarilyBlocked = "TEMPORARILY_BLOCKED",
    }
}

#[cfg(feature = "serde")]
time::serde::format_description!(iso_date, Date, "[year]-[month]-[day]");

/// A card of a partner. Only its verbs change it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "StoredCard"))]
pub struct Card(StoredCard);

impl Card {
    /// The card that a store kept, or a test makes: the one way past the verbs.
    #[must_use]
    pub const fn from_stored(stored: StoredCard) -> Self {
        Self(stored)
    }

    /// Its fields.
    #[must_use]
    pub fn into_stored(self) -> StoredCard {
        self.0
    }
}

/// The card that the fields describe.
impl TryFrom<StoredCard> for Card {
    type Error = Invalid;

    fn try_from(stored: StoredCard) -> Result<Self, Invalid> {
        if stored.number.is_plastic() == stored.kind.is_virtual() {
            return Err(Invalid::new("the number of a card must have the form of its type"));
        }
        Ok(Self(stored))
    }
}

/// Fields are read, never written.
impl std::ops::Deref for Card {
    type Target = StoredCard;

    fn deref(&self) -> &StoredCard {
        &self.0
    }
}

/// The fields of a card.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct StoredCard {
    /// The service's identifier.
    pub id: CardId,
    /// The bank's number of it.
    pub number: CardNumber,
    /// The product.
    pub kind: CardType,
    /// The order it was issued for.
    pub order: OrderId,
    /// The last day on which it is valid.
    #[cfg_attr(feature = "serde", serde(with = "iso_date"))]
    pub valid_until: Date,
    /// The employee who holds it, if any.
    pub link: Option<CardLink>,
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
    /// Whether the bank lets it pay.
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
pub enum LinkRefusal {
    /// Linked to this employee already, with another status.
    #[error("the card is already linked to this employee with another status")]
    AlreadyLinked,
    /// Linked to another employee.
    #[error("the card is already linked to another employee")]
    LinkedToAnother,
    /// Blocked or closed at the bank.
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
pub enum SwitchRefusal {
    /// Past its last day.
    #[error("the status cannot change: the card has expired")]
    Expired,
    /// Blocked or closed at the bank.
    #[error("the status cannot change: the card is blocked at the bank")]
    Blocked,
    /// Another card of the employee is MAIN.
    #[error("the employee already has a main card: change its status first")]
    HasMainCard,
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
        today > self.valid_until
    }

    /// Its expiry as an event, which is due on or before `today`, and the day on which the next one is due. There is no event of
    /// the near expiry of a closed card.
    #[must_use]
    pub fn expiry_event(&self, standing: Standing, today: Date) -> (Option<EventData>, Option<Date>) {
        let at_bank = self.at_bank(standing);
        if self.is_expired(today) {
            return (Some(EventData::CardExpired(at_bank)), None);
        }
        let expiring = (standing != Standing::Closed).then_some(EventData::CardExpiring(at_bank));
        (expiring, Some(self.valid_until.saturating_add(Duration::DAY)))
    }

    /// The events of a change at the bank, from one view of the card to a later one.
    #[must_use]
    pub fn bank_events(&self, before: &BankView, after: &BankView) -> Vec<EventData> {
        let mut events = Vec::new();
        if before.activated_at.is_none() && after.activated_at.is_some() {
            events.push(EventData::CardActivated(self.at_bank(after.standing)));
        }
        if before.standing != after.standing {
            events.push(EventData::CardBankStatus(self.at_bank(after.standing)));
        }
        events
    }

    fn at_bank(&self, standing: Standing) -> event::CardAtBank {
        event::CardAtBank { card: self.id, employee: self.link.map(|link| link.employee), standing }
    }

    /// The card with the last day that the bank gives it.
    #[must_use]
    pub fn with_valid_until(self, valid_until: Date) -> Self {
        Self(StoredCard { valid_until, ..self.0 })
    }

    /// Links the card to `employee`. `main_card` is the employee's MAIN card at present.
    ///
    /// # Errors
    /// The first [`LinkRefusal`] that applies, in the order: linked already, expired, not available, main card.
    pub fn link(
        self,
        employee: EmployeeId,
        status: CardStatus,
        main_card: Option<CardId>,
        standing: Standing,
        today: Date,
    ) -> Result<LinkOutcome, LinkRefusal> {
        match self.link {
            Some(link) if link.employee != employee => return Err(LinkRefusal::LinkedToAnother),
            Some(link) if link.status == status => return Ok(LinkOutcome::Unchanged(self)),
            Some(_) => return Err(LinkRefusal::AlreadyLinked),
            None => {}
        }
        if self.is_expired(today) {
            return Err(LinkRefusal::Expired);
        }
        match standing {
            Standing::Blocked | Standing::Closed => return Err(LinkRefusal::NotAvailable),
            Standing::Open => {}
        }
        if status == CardStatus::Main && main_card.is_some() {
            return Err(LinkRefusal::HasMainCard);
        }
        Ok(LinkOutcome::Changed(Self(StoredCard { link: Some(CardLink { employee, status }), ..self.0 })))
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
        if self.is_expired(today) {
            return Err(SwitchRefusal::Expired);
        }
        match standing {
            Standing::Blocked | Standing::Closed => return Err(SwitchRefusal::Blocked),
            Standing::Open => {}
        }
        if link.status == status {
            return Ok(LinkOutcome::Unchanged(self));
        }
        if status == CardStatus::Main && main_card.is_some_and(|main| main != self.id) {
            return Err(SwitchRefusal::HasMainCard);
        }
        Ok(LinkOutcome::Changed(Self(StoredCard { link: Some(CardLink { status, ..link }), ..self.0 })))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use time::macros::date;
    use uuid::Uuid;

    fn employee(id: u128) -> EmployeeId {
        EmployeeId::new(Uuid::from_u128(id))
    }

    fn card(link: Option<(u128, CardStatus)>) -> Card {
        Card::from_stored(StoredCard {
            id: CardId::new(Uuid::from_u128(9)),
            number: CardNumber::parse("4006381333931").unwrap(),
            kind: CardType::Mp4,
            order: OrderId::new(Uuid::nil()),
            valid_until: date!(2029 - 11 - 30),
            link: link.map(|(id, status)| CardLink { employee: employee(id), status }),
        })
    }

    const LAST_DAY: Date = date!(2029 - 11 - 30);
    const DAY_AFTER: Date = date!(2029 - 12 - 01);

    #[test]
    fn a_card_expires_on_the_day_after_its_last() {
        assert!(!card(None).is_expired(LAST_DAY));
        assert!(card(None).is_expired(DAY_AFTER));
    }

    #[test]
    fn only_one_type_is_virtual() {
        let of_a_number = CardType::ALL.iter().filter(|kind| kind.is_virtual());
        assert_eq!(of_a_number.collect::<Vec<_>>(), [&CardType::Mlz]);
    }

    #[test]
    fn the_expiry_of_a_card_is_told_twice() {
        let holder = card(Some((1, CardStatus::Main)));
        let told = |standing| event::CardAtBank { card: holder.id, employee: Some(employee(1)), standing };
        assert_eq!(expiry_notice_due(LAST_DAY), date!(2029 - 10 - 31));
        let expiring = Some(EventData::CardExpiring(told(Standing::Blocked)));
        assert_eq!(holder.expiry_event(Standing::Blocked, LAST_DAY), (expiring, Some(DAY_AFTER)));
        assert_eq!(holder.expiry_event(Standing::Closed, LAST_DAY), (None, Some(DAY_AFTER)));
        for &standing in Standing::ALL {
            let expired = Some(EventData::CardExpired(told(standing)));
            assert_eq!(holder.expiry_event(standing, DAY_AFTER), (expired, None));
        }
    }

    #[test]
    fn what_changes_at_the_bank_is_told() {
        let now = OffsetDateTime::UNIX_EPOCH;
        let view = |activated_at, standing| BankView {
            balance: Kopecks::ZERO,
            remaining_top_up: Kopecks::ZERO,
            activated_at,
            standing,
            seen_at: now,
        };
        let told = |standing| event::CardAtBank { card: card(None).id, employee: None, standing };
        let asleep = view(None, Standing::Open);
        for &before in Standing::ALL {
            for &after in Standing::ALL {
                let events = card(None).bank_events(&view(Some(now), before), &view(Some(now), after));
                let expected = (before != after).then_some(EventData::CardBankStatus(told(after)));
                assert_eq!(events, expected.into_iter().collect::<Vec<_>>());
            }
            let events = card(None).bank_events(&asleep, &view(Some(now), before));
            assert_eq!(events[0], EventData::CardActivated(told(before)));
        }
        let richer = BankView { balance: Kopecks::new(1), ..asleep };
        assert_eq!(card(None).bank_events(&asleep, &richer), []);
    }

    /// Every way a card can be linked × every status asked for × every standing × main card or none × the day.
    #[test]
    fn the_whole_table_of_linking() {
        let links = [None].into_iter().chain(
            [1, 2].into_iter().flat_map(|id| CardStatus::ALL.iter().map(move |status| Some((id, *status)))),
        );
        for link in links {
            for &asked in CardStatus::ALL {
                for &standing in Standing::ALL {
                    for main in [None, Some(CardId::new(Uuid::from_u128(5)))] {
                        for today in [LAST_DAY, DAY_AFTER] {
                            let result = card(link).link(employee(1), asked, main, standing, today);
                            let expected = match link {
                                Some((2, _)) => Err(LinkRefusal::LinkedToAnother),
                                Some((_, status)) if status == asked => {
                                    Ok(LinkOutcome::Unchanged(card(link)))
                                }
                                Some(_) => Err(LinkRefusal::AlreadyLinked),
                                None if today > LAST_DAY => Err(LinkRefusal::Expired),
                                None if standing != Standing::Open => Err(LinkRefusal::NotAvailable),
                                None if asked == CardStatus::Main && main.is_some() => {
                                    Err(LinkRefusal::HasMainCard)
                                }
                                None => Ok(LinkOutcome::Changed(card(Some((1, asked))))),
                            };
                            assert_eq!(result, expected, "{link:?} {asked} {standing} {main:?} {today}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn the_whole_table_of_switching() {
        let (own, other) = (CardId::new(Uuid::from_u128(9)), CardId::new(Uuid::from_u128(5)));
        for &present in CardStatus::ALL {
            for &asked in CardStatus::ALL {
                for &standing in Standing::ALL {
                    for main in [None, Some(own), Some(other)] {
                        for today in [LAST_DAY, DAY_AFTER] {
                            let before = card(Some((1, present)));
                            let link = before.link.unwrap();
                            let result = before.clone().switch(link, asked, main, standing, today);
                            let expected = if today > LAST_DAY {
                                Err(SwitchRefusal::Expired)
                            } else if standing != Standing::Open {
                                Err(SwitchRefusal::Blocked)
                            } else if present == asked {
                                Ok(LinkOutcome::Unchanged(before))
                            } else if asked == CardStatus::Main && main == Some(other) {
                                Err(SwitchRefusal::HasMainCard)
                            } else {
                                Ok(LinkOutcome::Changed(card(Some((1, asked)))))
                            };
                            assert_eq!(result, expected, "{present} {asked} {standing} {main:?} {today}");
                        }
                    }
                }
            }
        }
    }
}
