//! Cards.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use kopeck_domain::calendar::CLOCK_SKEW;
use kopeck_domain::card::{
    AccountBalance, BankView, BlockState, Card, CardFields, CardStatus, Standing, expiry_notice_due,
};
use kopeck_domain::card_number::CardNumber;
use kopeck_domain::ids::{CardId, EmployeeId, PartnerId};
use kopeck_domain::limit::Limit;
use kopeck_port_store::page::{Listed, Page};
use kopeck_port_store::{
    AccountDue, Activation, AvailableFilter, CardFilter, CardRecord, CardRepository, NewCard, Rule,
    StoreError,
};
use time::{Date, OffsetDateTime};

use super::{State, Unit, amount, page_of};

#[derive(Clone)]
pub(super) struct CardRow {
    pub(super) partner: PartnerId,
    pub(super) record: CardRecord,
    pub(super) ordinal: u32,
    pub(super) activation: Option<Activation>,
    /// When the next event of its expiry is due.
    pub(super) expiry_due: Option<Date>,
}

/// Too long ago to answer from.
const LONG_AGO: OffsetDateTime = OffsetDateTime::UNIX_EPOCH;

impl CardRow {
    /// Stores the bank's word unless a newer one is stored; returns whether it was.
    fn take_view(&mut self, view: &BankView, valid_until: Date) -> bool {
        let seen_at = self.record.bank.seen_at;
        if seen_at > view.seen_at && seen_at <= view.seen_at + CLOCK_SKEW {
            return false;
        }
        if self.record.card.valid_until() != valid_until {
            self.expiry_due = Some(expiry_notice_due(valid_until));
        }
        self.record.bank = *view;
        self.record.card = self.record.card.clone().with_valid_until(valid_until);
        if let (Some(activation), Some(_)) = (&mut self.activation, view.activated_at) {
            activation.code = None;
        }
        true
    }
}

impl State {
    pub(super) fn cards_of(&self, partner: PartnerId) -> impl Iterator<Item = &CardRow> {
        self.cards.iter().filter(move |row| row.partner == partner)
    }

    pub(super) fn card_mut(&mut self, partner: PartnerId, id: CardId) -> Option<&mut CardRow> {
        self.cards.iter_mut().find(|row| row.partner == partner && row.record.card.id() == id)
    }

    fn employees_main_card(&self, partner: PartnerId, employee: EmployeeId) -> Option<CardId> {
        let is_main = |row: &&CardRow| {
            row.record
                .card
                .link()
                .is_some_and(|link| link.employee == employee && link.status == CardStatus::Main)
        };
        self.cards_of(partner).find(is_main).map(|row| row.record.card.id())
    }

    /// The constraints on cards that are to be added.
    fn check_issued(&self, partner: PartnerId, cards: &[NewCard]) -> Result<(), StoreError> {
        let own_order = |new: &NewCard| {
            self.orders.iter().any(|row| row.partner == partner && row.order.id() == new.record.card.order())
        };
        let mut numbers: HashSet<CardNumber> =
            self.cards.iter().map(|row| row.record.card.number()).collect();
        let mut places: HashSet<_> =
            self.cards_of(partner).map(|row| (row.record.card.order(), row.ordinal)).collect();
        for new in cards {
            if !own_order(new) {
                return Err(StoreError::Conflict(Rule::Reference));
            }
            if !numbers.insert(new.record.card.number()) {
                return Err(StoreError::Conflict(Rule::CardNumber));
            }
            if !places.insert((new.record.card.order(), new.ordinal)) {
                return Err(StoreError::Failed("a place of an order is filled twice".to_owned()));
            }
        }
        Ok(())
    }
}

fn fits(record: &CardRecord, filter: &CardFilter) -> bool {
    let CardFilter { linked, status, bank_status, kind, order, employee, expires_before } = *filter;
    let card = &record.card;
    linked.is_none_or(|linked| card.link().is_some() == linked)
        && status.is_none_or(|status| card.link().is_some_and(|link| link.status == status))
        && bank_status.is_none_or(|status| card.bank_status(record.bank.standing) == status)
        && kind.is_none_or(|kind| card.kind() == kind)
        && order.is_none_or(|order| card.order() == order)
        && employee.is_none_or(|employee| card.link().is_some_and(|link| link.employee == employee))
        && expires_before.is_none_or(|day| card.valid_until() < day)
}

impl CardRepository for Unit {
    fn insert_issued(&mut self, partner: PartnerId, cards: &[NewCard]) -> Result<(), StoreError> {
        let state = self.writing()?;
        state.check_issued(partner, cards)?;
        state.cards.extend(cards.iter().map(|new| CardRow {
            partner,
            record: new.record.clone(),
            ordinal: new.ordinal,
            activation: new.activation.clone(),
            expiry_due: Some(expiry_notice_due(new.record.card.valid_until())),
        }));
        Ok(())
    }

    fn get(&mut self, partner: PartnerId, id: CardId) -> Result<Option<CardRecord>, StoreError> {
        let found = self.state.cards_of(partner).find(|row| row.record.card.id() == id);
        Ok(found.map(|row| row.record.clone()))
    }

    fn by_number(
        &mut self,
        partner: PartnerId,
        number: CardNumber,
    ) -> Result<Option<CardRecord>, StoreError> {
        let found = self.state.cards_of(partner).find(|row| row.record.card.number() == number);
        Ok(found.map(|row| row.record.clone()))
    }

    fn main_card(&mut self, partner: PartnerId, employee: EmployeeId) -> Result<Option<CardId>, StoreError> {
        Ok(self.state.employees_main_card(partner, employee))
    }

    fn of_employee(
        &mut self,
        partner: PartnerId,
        employee: EmployeeId,
    ) -> Result<Vec<(CardId, CardStatus)>, StoreError> {
        let linked = |row: &CardRow| {
            let link = row.record.card.link().filter(|link| link.employee == employee)?;
            Some((row.record.card.id(), link.status))
        };
        Ok(self.state.cards_of(partner).filter_map(linked).collect())
    }

    fn set_link(&mut self, partner: PartnerId, card: &Card) -> Result<(), StoreError> {
        let state = self.writing()?;
        if state.card_mut(partner, card.id()).is_none() {
            return Ok(());
        }
        if let Some(link) = card.link() {
            let present = state.employees.iter().map(|row| (row.partner, row.employee.id()));
            let mut known = present.chain(state.erased_employees.iter().copied());
            if !known.any(|employee| employee == (partner, link.employee)) {
                return Err(StoreError::Conflict(Rule::Reference));
            }
            let main = state.employees_main_card(partner, link.employee);
            if link.status == CardStatus::Main && main.is_some_and(|main| main != card.id()) {
                return Err(StoreError::Conflict(Rule::OneMainCard));
            }
        }
        if let Some(row) = state.card_mut(partner, card.id()) {
            let stored = row.record.card.clone().into_fields();
            row.record.card =
                Card::from_stored(CardFields { link: card.link(), block: card.block(), ..stored });
        }
        Ok(())
    }

    fn blocked(
        &mut self,
        partner: PartnerId,
        cards: &[CardId],
    ) -> Result<Vec<(CardId, BlockState)>, StoreError> {
        let own = self.state.cards_of(partner).map(|row| &row.record.card);
        let blocked = own.filter(|card| card.block().is_set() && cards.contains(&card.id()));
        Ok(blocked.map(|card| (card.id(), card.block().state)).collect())
    }

    fn is_being_closed(&mut self, partner: PartnerId, card: CardId) -> Result<bool, StoreError> {
        Ok(self.state.is_being_closed(partner, card))
    }

    fn unconfirmed_blocks(&mut self, limit: u32) -> Result<Vec<(PartnerId, Card)>, StoreError> {
        let due = self.state.cards.iter().filter(|row| row.record.card.block().unconfirmed().is_some());
        Ok(due.take(amount(limit)).map(|row| (row.partner, row.record.card.clone())).collect())
    }

    fn set_bank_view(
        &mut self,
        partner: PartnerId,
        card: CardId,
        view: &BankView,
        valid_until: Date,
    ) -> Result<bool, StoreError> {
        let row = self.writing()?.card_mut(partner, card);
        Ok(row.is_some_and(|row| row.take_view(view, valid_until)))
    }

    fn outdate_bank_view(
        &mut self,
        partner: PartnerId,
        cards: &[CardId],
        too_old_at: OffsetDateTime,
    ) -> Result<(), StoreError> {
        let state = self.writing()?;
        for card in cards {
            if let Some(row) = state.card_mut(partner, *card)
                && row.record.transactions_seen_at.max(Some(row.record.bank.seen_at)) > Some(too_old_at)
            {
                row.record.bank.seen_at = LONG_AGO;
                row.record.transactions_seen_at = row.record.transactions_seen_at.map(|_| LONG_AGO);
            }
        }
        Ok(())
    }

    fn set_limit(&mut self, partner: PartnerId, cards: &[CardId], limit: &Limit) -> Result<(), StoreError> {
        let wanted: HashSet<CardId> = cards.iter().copied().collect();
        let rows = self.writing()?.cards.iter_mut();
        for row in rows.filter(|row| row.partner == partner && wanted.contains(&row.record.card.id())) {
            row.record.limit = limit.clone();
        }
        Ok(())
    }

    fn accounts_due(
        &mut self,
        day: Range<OffsetDateTime>,
        limit: u32,
    ) -> Result<Vec<AccountDue>, StoreError> {
        let is_due = |row: &&CardRow| !day.contains(&row.record.account.updated_at);
        let mut due: Vec<&CardRow> = self.state.cards.iter().filter(is_due).collect();
        due.sort_by_key(|row| (row.record.account.updated_at, row.partner, row.record.card.id()));
        let account = |row: &CardRow| AccountDue {
            partner: row.partner,
            card: row.record.card.id(),
            number: row.record.card.number(),
        };
        Ok(due.into_iter().take(amount(limit)).map(account).collect())
    }

    fn owners(&mut self, numbers: &[CardNumber]) -> Result<Vec<(CardNumber, PartnerId, CardId)>, StoreError> {
        let cards = self.state.cards.iter().map(|row| (row.partner, &row.record.card));
        let known = cards.filter(|(_, card)| numbers.contains(&card.number()));
        Ok(known.map(|(partner, card)| (card.number(), partner, card.id())).collect())
    }

    fn expiries_due(&mut self, today: Date, limit: u32) -> Result<Vec<(PartnerId, CardId)>, StoreError> {
        let mut due: Vec<&CardRow> =
            self.state.cards.iter().filter(|row| row.expiry_due.is_some_and(|due| due <= today)).collect();
        due.sort_by_key(|row| row.expiry_due);
        Ok(due.iter().take(amount(limit)).map(|row| (row.partner, row.record.card.id())).collect())
    }

    fn take_expiry(
        &mut self,
        partner: PartnerId,
        card: CardId,
        today: Date,
        next: Option<Date>,
    ) -> Result<bool, StoreError> {
        let row = self.writing()?.card_mut(partner, card);
        let due = row.filter(|row| row.expiry_due.is_some_and(|due| due <= today));
        Ok(due.map(|row| row.expiry_due = next).is_some())
    }

    fn set_account(
        &mut self,
        partner: PartnerId,
        card: CardId,
        account: &AccountBalance,
    ) -> Result<(), StoreError> {
        if let Some(row) = self.writing()?.card_mut(partner, card) {
            row.record.account = *account;
        }
        Ok(())
    }

    fn forget_activation_codes(&mut self, before: Date, limit: u32) -> Result<u64, StoreError> {
        let activations = self.writing()?.cards.iter_mut().filter_map(|row| row.activation.as_mut());
        let is_over =
            |activation: &&mut Activation| activation.code.is_some() && activation.valid_until < before;
        Ok(activations.filter(is_over).take(amount(limit)).map(|activation| activation.code = None).count()
            as u64)
    }

    fn list(
        &mut self,
        partner: PartnerId,
        filter: &CardFilter,
        page: Page,
    ) -> Result<Listed<CardRecord>, StoreError> {
        let own = self.state.cards_of(partner).map(|row| &row.record);
        Ok(page_of(own.filter(|record| fits(record, filter)).cloned().collect(), page))
    }

    fn available(
        &mut self,
        partner: PartnerId,
        filter: AvailableFilter,
        page: Page,
    ) -> Result<Listed<Card>, StoreError> {
        let free = self.state.cards_of(partner).map(|row| &row.record).filter(|record| {
            record.card.link().is_none()
                && record.card.valid_until() >= filter.today
                && record.bank.standing == Standing::Open
                && filter.kind.is_none_or(|kind| record.card.kind() == kind)
        });
        Ok(page_of(free.map(|record| record.card.clone()).collect(), page))
    }
}

/// How many cards each order of the partner has.
pub(super) fn cards_by_order(state: &State, partner: PartnerId) -> HashMap<kopeck_domain::ids::OrderId, u32> {
    let mut counts = HashMap::new();
    for row in state.cards_of(partner) {
        *counts.entry(row.record.card.order()).or_default() += 1;
    }
    counts
}
