//! What must hold whenever something was committed.

use std::collections::{BTreeMap, HashMap};

use kopeck_domain::Kopecks;
use kopeck_domain::closing::Closings;
use kopeck_domain::ids::{CardId, PartnerId};
use kopeck_domain::ledger::Account;
use kopeck_domain::limit_change::LimitChanges;
use kopeck_domain::replenishment::TopUps;
use kopeck_domain::request::RequestState;
use kopeck_domain::withdrawal::Withdrawals;
use kopeck_port_store::{BalanceSheet, StoreError, StoredKind, Subject, UnitOfWork};
use kopeck_service::balance;
use kopeck_service::reconciliation::{self, Discrepancy};

use super::unreadable;
use crate::Violation;
use crate::world::World;

/// Looks at the store after every step, and remembers the states that requests had.
#[derive(Default)]
pub(crate) struct Watch {
    commits: u64,
    states: HashMap<Subject, RequestState>,
}

/// A partner's books at one moment.
struct Books {
    sheet: BalanceSheet,
    discrepancies: Vec<Discrepancy>,
    states: Vec<(Subject, RequestState)>,
    /// A lost card of an open closing that can pay.
    opened: Option<CardId>,
}

impl Watch {
    /// Checks what is stored, if anything was committed since the last time.
    pub(crate) fn look(&mut self, world: &World, partners: &[PartnerId]) -> Result<(), Violation> {
        let commits = world.stored.commits();
        if commits == self.commits {
            return Ok(());
        }
        self.commits = commits;
        for partner in partners.iter().copied() {
            let books = world.look(move |unit| read(unit, partner)).map_err(|error| unreadable(&error))?;
            accounts_add_up(&books.sheet)?;
            if let Some(discrepancy) = books.discrepancies.first() {
                return Err(Violation {
                    rule: "the check of the books finds nothing",
                    what: discrepancy.to_string(),
                });
            }
            if let Some(card) = books.opened {
                let what = format!("card {card} is not blocked");
                return Err(Violation { rule: "a card that is being closed as lost stays blocked", what });
            }
            self.states_move_forward(books.states)?;
        }
        Ok(())
    }

    /// How many requests of each kind were seen in each state last.
    pub(crate) fn tally(&self) -> BTreeMap<String, u64> {
        let mut tally = BTreeMap::new();
        for (subject, state) in &self.states {
            let kind = match subject {
                Subject::Order(_) => "ORDER",
                Subject::Replenishment(_) => "REPLENISHMENT",
                Subject::LimitChange(_) => "LIMIT_CHANGE",
                Subject::Closing(_) => "CLOSING",
                Subject::Withdrawal(_) => "WITHDRAWAL",
            };
            *tally.entry(format!("{kind} {state}")).or_default() += 1;
        }
        tally
    }

    fn states_move_forward(&mut self, states: Vec<(Subject, RequestState)>) -> Result<(), Violation> {
        for (subject, state) in states {
            let before = self.states.insert(subject, state).unwrap_or(RequestState::New);
            if state != before && rank(state) <= rank(before) {
                let what = format!("{subject:?} was {before} and is {state}");
                return Err(Violation { rule: "states only move forward", what });
            }
        }
        Ok(())
    }
}

fn read(unit: &mut dyn UnitOfWork, partner: PartnerId) -> Result<Books, StoreError> {
    let orders = unit.reconciliation().orders(partner)?;
    let mut states: Vec<(Subject, RequestState)> =
        orders.iter().map(|order| (Subject::Order(order.id), order.state.into())).collect();
    states.extend(batch_states::<TopUps>(unit, partner)?);
    states.extend(batch_states::<LimitChanges>(unit, partner)?);
    states.extend(batch_states::<Closings>(unit, partner)?);
    states.extend(batch_states::<Withdrawals>(unit, partner)?);
    Ok(Books {
        sheet: balance::get(unit, partner)?,
        discrepancies: reconciliation::check(unit, partner)?,
        states,
        opened: opened(unit, partner)?,
    })
}

fn opened(unit: &mut dyn UnitOfWork, partner: PartnerId) -> Result<Option<CardId>, StoreError> {
    let facts = unit.closings().facts(partner)?;
    for closing in facts.iter().filter(|closing| closing.state.is_open()) {
        let items = unit.closings().open_items(partner, closing.id, u32::MAX)?;
        for item in items.iter().filter(|item| item.terms.is_urgent()) {
            let record = unit.cards().get(partner, item.card)?;
            if record.is_some_and(|record| !record.card.block().is_set()) {
                return Ok(Some(item.card));
            }
        }
    }
    Ok(None)
}

fn batch_states<K: StoredKind>(
    unit: &mut dyn UnitOfWork,
    partner: PartnerId,
) -> Result<Vec<(Subject, RequestState)>, StoreError> {
    let batches = K::repository(unit).facts(partner)?;
    Ok(batches.iter().map(|batch| (K::subject(batch.id), batch.state.into())).collect())
}

fn accounts_add_up(sheet: &BalanceSheet) -> Result<(), Violation> {
    let on = |account: &Account| sheet.balances.on(*account);
    let rule = "accounts add up to zero, and none but DEPOSITED is below it";
    let below = |account: &&Account| **account != Account::Deposited && on(account).is_negative();
    if let Some(account) = Account::ALL.iter().find(below) {
        return Err(Violation { rule, what: format!("{account} is {}", on(account)) });
    }
    match Kopecks::sum(Account::ALL.iter().map(on)) {
        Ok(Kopecks::ZERO) => Ok(()),
        sum => Err(Violation { rule, what: format!("they add up to {sum:?}") }),
    }
}

/// How far along a request is.
const fn rank(state: RequestState) -> u8 {
    match state {
        RequestState::New => 0,
        RequestState::InProcess => 1,
        RequestState::Success
        | RequestState::PartSuccess
        | RequestState::Decline
        | RequestState::Rejected => 2,
        RequestState::Confirmed => 3,
    }
}
