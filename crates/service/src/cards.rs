//! Cards: get, refresh from the bank, link, switch status, unlink, list all or the unassigned ones.

use kopeck_domain::Kopecks;
use kopeck_domain::card::{
    BankView, Card, CardLink, CardStatus, CardType, LinkOutcome, LinkRefusal, PartnerBlock, Standing,
    SwitchRefusal, UnlinkRefusal,
};
use kopeck_domain::card_number::CardNumber;
use kopeck_domain::event::EventData;
use kopeck_domain::ids::{CardId, EmployeeId, PartnerId};
use kopeck_port_bank::{BankCard, BankError, BankGateway};
use kopeck_port_store::page::{Listed, Page};
use kopeck_port_store::{
    Access, AvailableFilter, CardFilter, CardRecord, Rule, Store, StoreError, UnitOfWork, transact,
};

use time::{Date, Duration, OffsetDateTime};

use crate::{Env, events};

/// A key of a card.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CardKey {
    /// The service's identifier.
    Id(CardId),
    /// The bank's number.
    Number(CardNumber),
}

/// A card from the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CardSnapshot {
    /// The card.
    pub record: CardRecord,
    /// Whether the copy of the bank's data is fresh.
    pub fresh: bool,
}

/// Why a card was not shown.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CardError {
    /// The partner has no such card.
    #[error("no such card")]
    NotFound,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A lost or stolen card that is being closed keeps its status and its link until the bank's verdict: nothing opens it again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the card is being closed as lost or stolen: it stays blocked until the bank's verdict")]
pub struct BeingClosed;

/// Why a card was not linked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LinkCardError {
    /// The partner has no such employee.
    #[error("no such employee")]
    EmployeeNotFound,
    /// The partner has no card with this number.
    #[error("no such card")]
    CardNotFound,
    /// The rules of linking say no.
    #[error(transparent)]
    Refused(#[from] LinkRefusal),
    /// It is lost or stolen, and an open closing has it.
    #[error(transparent)]
    BeingClosed(#[from] BeingClosed),
    /// The store failed.
    #[error(transparent)]
    Store(StoreError),
}

/// Why a card's status was not switched.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SwitchCardError {
    /// The partner has no such employee.
    #[error("no such employee")]
    EmployeeNotFound,
    /// The employee has no such card.
    #[error("no such card")]
    CardNotFound,
    /// The rules of switching say no.
    #[error(transparent)]
    Refused(#[from] SwitchRefusal),
    /// It is lost or stolen, and an open closing has it.
    #[error(transparent)]
    BeingClosed(#[from] BeingClosed),
    /// The store failed.
    #[error(transparent)]
    Store(StoreError),
}

/// Why a card was not unlinked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnlinkCardError {
    /// The partner has no such employee.
    #[error("no such employee")]
    EmployeeNotFound,
    /// The employee has no such card.
    #[error("no such card")]
    CardNotFound,
    /// The card is in use.
    #[error(transparent)]
    Refused(#[from] UnlinkRefusal),
    /// It is lost or stolen, and an open closing has it.
    #[error(transparent)]
    BeingClosed(#[from] BeingClosed),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The constraint stands for the same refusal as the check before it.
impl From<StoreError> for LinkCardError {
    fn from(error: StoreError) -> Self {
        if error == StoreError::Conflict(Rule::OneMainCard) {
            Self::Refused(LinkRefusal::HasMainCard)
        } else {
            Self::Store(error)
        }
    }
}

impl From<StoreError> for SwitchCardError {
    fn from(error: StoreError) -> Self {
        if error == StoreError::Conflict(Rule::OneMainCard) {
            Self::Refused(SwitchRefusal::HasMainCard)
        } else {
            Self::Store(error)
        }
    }
}

/// The card as the service has it.
///
/// # Errors
/// [`CardError`].
pub fn get(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    partner: PartnerId,
    id: CardId,
) -> Result<CardSnapshot, CardError> {
    let record = unit.cards().get(partner, id)?.ok_or(CardError::NotFound)?;
    let fresh = !env.is_stale(record.bank.seen_at);
    Ok(CardSnapshot { record, fresh })
}

/// Refreshes and stores the bank's data of the card. While the bank is unavailable, returns the record as it is. Blocks
/// during the bank request.
///
/// # Errors
/// [`StoreError`] if the store fails.
pub fn refresh(
    store: &dyn Store,
    bank: &dyn BankGateway,
    env: &Env,
    partner: PartnerId,
    record: CardRecord,
) -> Result<CardRecord, StoreError> {
    match fetch(store, bank, env, partner, record.clone()) {
        Ok(fetched) => Ok(fetched),
        Err(FetchError::Store(error)) => Err(error),
        Err(FetchError::Bank(BankError::Unavailable(reason) | BankError::Unknown(reason))) => {
            log::debug!(reason = reason.as_str(); "responding with the cached copy of a card");
            Ok(record)
        }
    }
}

/// Why the bank's data were not fetched.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FetchError {
    /// No response.
    #[error(transparent)]
    Bank(#[from] BankError),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Fetches and stores the bank's data of the card. Blocks during the bank request.
pub(crate) fn fetch(
    store: &dyn Store,
    bank: &dyn BankGateway,
    env: &Env,
    partner: PartnerId,
    record: CardRecord,
) -> Result<CardRecord, FetchError> {
    // Read before the bank request: of two responses that overtake each other, the later request wins.
    let asked_at = env.now();
    let id = record.card.id();
    let Some(answer) = bank.card(record.card.number())? else {
        log::error!(card:% = id; "the bank does not know a card that it issued");
        return Ok(record);
    };
    let (view, valid_until) = (view_of(&answer, asked_at), answer.valid_until);
    let env = env.clone();
    transact(store, Access::Write, move |unit| store_view(unit, &env, partner, id, &view, valid_until))?;
    Ok(CardRecord { bank: view, card: record.card.with_valid_until(valid_until), ..record })
}

/// Stores the bank's data of a card, and appends what they change to the partner's feed.
pub(crate) fn store_view(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    partner: PartnerId,
    id: CardId,
    view: &BankView,
    valid_until: Date,
) -> Result<(), StoreError> {
    let Some(before) = unit.cards().get(partner, id)? else { return Ok(()) };
    let view = &BankView { standing: before.bank.standing.followed_by(view.standing), ..*view };
    if !unit.cards().set_bank_view(partner, id, view, valid_until)? {
        return Ok(());
    }
    let mut happened = before.card.bank_events(&before.bank, view);
    if view.standing == Standing::Closed
        && let Some((card, event)) = before.card.close()
    {
        unit.cards().set_link(partner, &card)?;
        happened.push(event);
    }
    events::append(unit, env, partner, happened)
}

/// Stores that the bank has closed a card and taken all money from it, whatever the age of the copy.
pub(crate) fn store_closed(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    partner: PartnerId,
    id: CardId,
) -> Result<(), StoreError> {
    let Some(CardRecord { card, bank, .. }) = unit.cards().get(partner, id)? else { return Ok(()) };
    // The clock of another process may be ahead.
    let seen_at = env.now().max(bank.seen_at + Duration::MICROSECOND);
    let (balance, remaining_top_up, standing) = (Kopecks::ZERO, Kopecks::ZERO, Standing::Closed);
    let view = BankView { balance, remaining_top_up, standing, seen_at, ..bank };
    store_view(unit, env, partner, id, &view, card.valid_until())
}

/// Refreshes a card that has just changed at the bank, and expires the older copy: without a response now, the next
/// read retries. Blocks during the bank request.
///
/// # Errors
/// [`CardError`].
pub fn renew(
    store: &dyn Store,
    bank: &dyn BankGateway,
    env: &Env,
    partner: PartnerId,
    id: CardId,
) -> Result<(), CardError> {
    let outdated = env.too_old_at();
    let record = transact(store, Access::Write, move |unit| -> Result<_, CardError> {
        unit.cards().outdate_bank_view(partner, &[id], outdated)?;
        unit.cards().get(partner, id)?.ok_or(CardError::NotFound)
    })?;
    refresh(store, bank, env, partner, record)?;
    Ok(())
}

/// Refreshes a card before its link changes, so that a recent block shows. Ignores a card that the partner does not
/// have: the following use case refuses it. Blocks during the bank request.
///
/// # Errors
/// [`StoreError`] if the store fails.
pub fn prepare(
    store: &dyn Store,
    bank: &dyn BankGateway,
    env: &Env,
    partner: PartnerId,
    key: CardKey,
) -> Result<(), StoreError> {
    let record = transact(store, Access::Read, move |unit| match key {
        CardKey::Id(id) => unit.cards().get(partner, id),
        CardKey::Number(number) => unit.cards().by_number(partner, number),
    })?;
    match record {
        Some(record) => refresh(store, bank, env, partner, record).map(|_| ()),
        None => Ok(()),
    }
}

/// Links a card to an employee.
///
/// # Errors
/// [`LinkCardError`].
pub fn link(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    partner: PartnerId,
    employee: EmployeeId,
    number: CardNumber,
    status: CardStatus,
) -> Result<Card, LinkCardError> {
    unit.employees().get(partner, employee)?.ok_or(LinkCardError::EmployeeNotFound)?;
    let record = unit.cards().by_number(partner, number)?.ok_or(LinkCardError::CardNotFound)?;
    let main = unit.cards().main_card(partner, employee)?;
    let block = record.card.block();
    match record.card.link_to(employee, status, main, record.bank.standing, env.today())? {
        LinkOutcome::Unchanged(card) => Ok(card),
        LinkOutcome::Changed(card) => {
            if is_being_closed(unit, partner, card.id(), block)? {
                return Err(BeingClosed.into());
            }
            unit.cards().set_link(partner, &card)?;
            let holder = card.holder(CardLink { employee, status }, record.bank.standing);
            events::append(unit, env, partner, [EventData::CardLinked(holder)])
                .map_err(LinkCardError::Store)?;
            Ok(card)
        }
    }
}

/// Switches the status of an employee's card.
///
/// # Errors
/// [`SwitchCardError`].
pub fn switch(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    partner: PartnerId,
    employee: EmployeeId,
    card: CardId,
    status: CardStatus,
) -> Result<Card, SwitchCardError> {
    unit.employees().get(partner, employee)?.ok_or(SwitchCardError::EmployeeNotFound)?;
    let record = unit.cards().get(partner, card)?.ok_or(SwitchCardError::CardNotFound)?;
    let link: CardLink =
        record.card.link().filter(|link| link.employee == employee).ok_or(SwitchCardError::CardNotFound)?;
    let main = unit.cards().main_card(partner, employee)?;
    let block = record.card.block();
    match record.card.switch(link, status, main, record.bank.standing, env.today())? {
        LinkOutcome::Unchanged(card) => Ok(card),
        LinkOutcome::Changed(card) => {
            if is_being_closed(unit, partner, card.id(), block)? {
                return Err(BeingClosed.into());
            }
            unit.cards().set_link(partner, &card)?;
            let holder = card.holder(CardLink { employee, status }, record.bank.standing);
            events::append(unit, env, partner, [EventData::CardStatus(holder)])
                .map_err(SwitchCardError::Store)?;
            Ok(card)
        }
    }
}

/// Unlinks a card from its employee.
///
/// # Errors
/// [`UnlinkCardError`].
pub fn unlink(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    partner: PartnerId,
    employee: EmployeeId,
    card: CardId,
) -> Result<Card, UnlinkCardError> {
    unit.employees().get(partner, employee)?.ok_or(UnlinkCardError::EmployeeNotFound)?;
    let CardRecord { card, bank, .. } =
        unit.cards().get(partner, card)?.ok_or(UnlinkCardError::CardNotFound)?;
    let link = card.link().filter(|link| link.employee == employee).ok_or(UnlinkCardError::CardNotFound)?;
    let block = card.block();
    let card = card.unlink(&bank, env.today())?;
    if bank.standing != Standing::Closed && is_being_closed(unit, partner, card.id(), block)? {
        return Err(BeingClosed.into());
    }
    unit.cards().set_link(partner, &card)?;
    unit.reports().note_former_holder(partner, card.id(), employee, env.now())?;
    let holder = card.holder(link, bank.standing);
    events::append(unit, env, partner, [EventData::CardUnlinked(holder)])?;
    Ok(card)
}

/// Whether an open closing has the card, whose block was this, as lost or stolen. Such a closing has blocked it, so a card
/// without a block needs no look.
fn is_being_closed(
    unit: &mut dyn UnitOfWork,
    partner: PartnerId,
    card: CardId,
    block: PartnerBlock,
) -> Result<bool, StoreError> {
    Ok(block.is_set() && unit.cards().is_being_closed(partner, card)?)
}

/// A page of the partner's cards, from the service's own copy of the bank's data.
///
/// # Errors
/// [`StoreError`] if the store fails.
pub fn list(
    unit: &mut dyn UnitOfWork,
    partner: PartnerId,
    filter: &CardFilter,
    page: Page,
) -> Result<Listed<CardRecord>, StoreError> {
    unit.cards().list(partner, filter, page)
}

/// A page of the partner's unassigned cards.
///
/// # Errors
/// [`StoreError`] if the store fails.
pub fn available(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    partner: PartnerId,
    kind: Option<CardType>,
    page: Page,
) -> Result<Listed<Card>, StoreError> {
    unit.cards().available(partner, AvailableFilter { kind, today: env.today() }, page)
}

pub(crate) fn view_of(answer: &BankCard, seen_at: OffsetDateTime) -> BankView {
    BankView {
        balance: answer.balance,
        remaining_top_up: answer.remaining_top_up,
        activated_at: answer.activated_at,
        standing: answer.standing,
        seen_at,
    }
}

#[cfg(test)]
mod tests;
