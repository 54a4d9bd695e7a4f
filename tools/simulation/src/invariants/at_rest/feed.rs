//! The feed of events tells what is stored, each change once.

use std::collections::{BTreeMap, BTreeSet};

use kopeck_domain::card::{BankStatus, BlockState};
use kopeck_domain::event::{CardHolder, EventData};
use kopeck_domain::ids::{CardId, EmployeeId, RunId};
use kopeck_domain::request::RequestState;
use kopeck_domain::run::{Run, RunState};
use kopeck_port_store::FeedEvent;

use super::holdings::Holdings;
use crate::violation::Violation;
use crate::world::World;

/// What the feed tells.
#[derive(Default)]
struct Told {
    /// The last state of each request.
    requests: BTreeMap<String, RequestState>,
    /// Each state of a request in events.
    states: BTreeSet<(String, RequestState)>,
    /// The runs that programmes made.
    of_programmes: BTreeSet<RunId>,
    /// Each state of another run in events.
    runs: BTreeSet<(RunId, RunState)>,
    /// The last of them.
    last_of_runs: BTreeMap<RunId, RunState>,
    issued: BTreeSet<CardId>,
    holders: BTreeMap<CardId, CardHolder>,
    /// Whether each card can pay, by events.
    statuses: BTreeMap<CardId, BankStatus>,
    activated: BTreeSet<CardId>,
    expiring: BTreeSet<CardId>,
    expired: BTreeSet<CardId>,
    /// Transactions, by card and id.
    moved: BTreeSet<(CardId, i64)>,
    employees: BTreeSet<String>,
    erased: BTreeSet<EmployeeId>,
    deposited: i64,
}

/// Checks the whole feed of a partner against what is stored.
pub(super) fn check(has: &Holdings) -> Result<(), Violation> {
    let wrong = |what: String| Violation { rule: "each change is one event", what };
    let of_programmes = has.runs.iter().map(|(run, ..)| run).filter(|run| run.programme().is_some());
    let of_programmes = of_programmes.map(Run::id).collect();
    let mut told = Told { of_programmes, ..Told::default() };
    for (seq, event) in (1..).zip(&has.feed) {
        if event.seq != seq || !told.learn(event) {
            return Err(wrong(format!("event {}, where {seq} is next: {:?}", event.seq, event.event.data)));
        }
    }
    if told.requests != has.requests {
        return Err(wrong(format!("requests: told {:?}, stored {:?}", told.requests, has.requests)));
    }
    let runs: BTreeMap<RunId, RunState> = has.runs.iter().map(|(run, ..)| (run.id(), run.state())).collect();
    if told.last_of_runs != runs {
        return Err(wrong(format!("runs: told {:?}, stored {runs:?}", told.last_of_runs)));
    }
    if told.issued != has.cards.iter().map(|record| record.card.id()).collect() {
        return Err(wrong(format!(
            "{} cards were told of, {} are stored",
            told.issued.len(),
            has.cards.len()
        )));
    }
    for card in has.cards.iter().map(|record| &record.card) {
        let holder = told.holders.get(&card.id()).map(|holder| (holder.employee, holder.status));
        if holder != card.link().map(|link| (link.employee, link.status)) {
            return Err(wrong(format!("card {}: told {holder:?}, stored {:?}", card.id(), card.link())));
        }
    }
    for record in &has.cards {
        let told = told.statuses.get(&record.card.id()).copied().unwrap_or(BankStatus::Open);
        let stored = record.card.bank_status(record.bank.standing);
        if told != stored {
            let what = format!("card {}: told {told}, stored {stored}", record.card.id());
            return Err(wrong(what));
        }
    }
    if told.moved != has.transactions {
        return Err(wrong(format!("transactions: told {:?}, stored {:?}", told.moved, has.transactions)));
    }
    if told.employees != has.employees {
        return Err(wrong(format!("employees: told {:?}, stored {:?}", told.employees, has.employees)));
    }
    let named =
        |event: &&FeedEvent| event.event.data.names().is_some_and(|employee| told.erased.contains(&employee));
    if let Some(event) = has.feed.iter().find(named) {
        return Err(wrong(format!("event {} names an employee who was erased", event.seq)));
    }
    let deposited = -has.sheet.balances.deposited.get();
    if told.deposited != deposited {
        return Err(wrong(format!("deposits: told {}, booked {deposited}", told.deposited)));
    }
    Ok(())
}

/// Such a run begins at once, or never; one that was refused may be tried again.
const fn is_step_of_programme(before: Option<RunState>, state: RunState) -> bool {
    match before {
        None => matches!(state, RunState::InProcess | RunState::Expired | RunState::Rejected),
        Some(RunState::InProcess) => {
            matches!(state, RunState::Success | RunState::PartSuccess | RunState::Decline)
        }
        Some(RunState::Decline) => matches!(state, RunState::InProcess),
        Some(_) => false,
    }
}

/// Checks that all returned money has an event.
pub(super) fn knows_returns(has: &Holdings, returned: i64) -> Result<(), Violation> {
    let back = |event: &FeedEvent| match &event.event.data {
        EventData::BalanceReturned(back) => back.amount.get(),
        _ => 0,
    };
    let told: i64 = has.feed.iter().map(back).sum();
    if told == returned {
        return Ok(());
    }
    let what = format!("returns: told {told}, came back {returned}");
    Err(Violation { rule: "each change is one event", what })
}

/// Checks that every change of a card at the bank has an event.
pub(super) fn knows_the_bank(world: &World, has: &Holdings) -> Result<(), Violation> {
    let wrong = |what: String| Violation { rule: "each change at the bank has its event", what };
    for card in has.cards.iter().map(|record| &record.card) {
        let at_bank = world.bank.card_at_bank(card.number()).is_some_and(|card| card.blocked);
        let expected = if at_bank { BlockState::Blocked } else { BlockState::Open };
        if card.block().state != expected {
            return Err(wrong(format!(
                "card {}: {}, at the bank {expected}",
                card.number(),
                card.block().state
            )));
        }
        let own = has.transactions.iter().filter(|(of, _)| *of == card.id()).map(|(_, id)| *id);
        let (known, made) = (own.collect::<BTreeSet<_>>(), world.bank.transactions_of(card.number()));
        if known != made {
            return Err(wrong(format!(
                "card {}: transactions {known:?}, at the bank {made:?}",
                card.number()
            )));
        }
        let is_decline = |event: &&FeedEvent| matches!(&event.event.data, EventData::CardDeclined(declined) if declined.card == card.id());
        let told = has.feed.iter().filter(is_decline).count();
        if let Some(declines) = world.bank.declines_of(card.number())
            && told != declines
        {
            return Err(wrong(format!("card {}: {told} declines, at the bank {declines}", card.number())));
        }
    }
    Ok(())
}

impl Told {
    /// Takes an event in; whether it tells something new.
    fn learn(&mut self, event: &FeedEvent) -> bool {
        match &event.event.data {
            EventData::OrderStatus(status) => self.reached(status.id.to_string(), status.state.into()),
            EventData::ReplenishmentStatus(status) => {
                self.reached(status.id.to_string(), status.state.into())
            }
            EventData::LimitsStatus(status) => self.reached(status.id.to_string(), status.state.into()),
            EventData::ClosingStatus(status) => self.reached(status.id.to_string(), status.state.into()),
            EventData::WithdrawalStatus(status) => self.reached(status.id.to_string(), status.state.into()),
            EventData::RunStatus(status) => {
                let before = self.last_of_runs.insert(status.id, status.state);
                if self.of_programmes.contains(&status.id) {
                    return is_step_of_programme(before, status.state);
                }
                before.is_none() == (status.state == RunState::Draft)
                    && self.runs.insert((status.id, status.state))
            }
            EventData::ProgrammeDue(due) => {
                due.short.get() == (due.needed.get() - due.available.get()).max(0)
            }
            EventData::CardIssued(issued) => self.issued.insert(issued.card),
            EventData::CardLinked(holder) => {
                self.statuses.insert(holder.card, holder.bank_status);
                self.holders.insert(holder.card, holder.clone()).is_none()
            }
            EventData::CardUnlinked(holder) => {
                self.statuses.insert(holder.card, holder.bank_status);
                let before = self.holders.remove(&holder.card);
                before.is_some_and(|before| {
                    (before.employee, before.status) == (holder.employee, holder.status)
                })
            }
            EventData::CardStatus(holder) => {
                self.statuses.insert(holder.card, holder.bank_status);
                let before = self.holders.insert(holder.card, holder.clone());
                before.is_some_and(|before| before != *holder)
            }
            EventData::CardBankStatus(card) => {
                let before = self.statuses.insert(card.card, card.bank_status);
                before.unwrap_or(BankStatus::Open) != card.bank_status
            }
            EventData::CardActivated(card) => self.activated.insert(card.card),
            EventData::CardExpiring(card) => self.expiring.insert(card.card),
            EventData::CardExpired(card) => self.expired.insert(card.card),
            EventData::CardTransaction(moved) => self.moved.insert((moved.card, moved.transaction.id)),
            EventData::CardDeclined(_) => true,
            EventData::BalanceDeposited(deposited) => {
                self.deposited += deposited.amount.get();
                deposited.amount.is_positive()
            }
            EventData::BalanceReturned(back) => back.amount.is_positive(),
            EventData::BalanceWithdrawn(taken) | EventData::BalanceCorrected(taken) => {
                self.deposited -= taken.amount.get();
                taken.amount.is_positive()
            }
            // No partner of the simulation has a threshold.
            EventData::BalanceLow(_) => false,
            EventData::EmployeeCreated(change) => self.employees.insert(change.employee.to_string()),
            // No actor of the simulation has a webhook.
            EventData::WebhookDisabled(_) => true,
            EventData::Ping(_) => false,
            EventData::EmployeeErased(erased) => {
                self.erased.insert(erased.employee);
                self.employees.remove(&erased.employee.to_string())
            }
            EventData::EmployeeUpdated(change) => self.employees.contains(&change.employee.to_string()),
        }
    }

    fn reached(&mut self, request: String, state: RequestState) -> bool {
        let is_first = self.requests.insert(request.clone(), state).is_none();
        is_first == (state == RequestState::New) && self.states.insert((request, state))
    }
}
