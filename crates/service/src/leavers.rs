//! Leavers: what happens, by the partner's rules, to the cards of an employee who leaves.
//!
//! The cards are frozen in the unit of work that stores the employee's status. What is due later is done in steps, by the
//! service's clock: a run takes back what is left on the cards, and when it has ended a closing closes them. Each step is noted
//! in the unit of work that makes it, so that a crash makes none twice. Somebody who is back before that is unfrozen.

use std::sync::Arc;

use kopeck_domain::access::{Actor, Authority};
use kopeck_domain::card::{CardStatus, Standing};
use kopeck_domain::card_ref::CardRef;
use kopeck_domain::closing::ClosingReason;
use kopeck_domain::employee::{Employee, EmployeeStatus};
use kopeck_domain::ids::{CardId, EmployeeId, PartnerId, RunId};
use kopeck_domain::leaver::{FrozenCard, Leaver, LeaverRules};
use kopeck_domain::request::RequestReference;
use kopeck_domain::run::row::{Cell, CellValue};
use kopeck_domain::run::{RunKind, RunState};
use kopeck_port_bank::BankGateway;
use kopeck_port_store::{Access, BatchTarget, CardRecord, Lane, Store, StoreError, UnitOfWork, transact};
use time::Duration;

use crate::card_batches::CreateBatchError;
use crate::closings::{self, CardClosing};
use crate::runs::{self, ChangeRunError, CreateRunError, InputRow, RunInput};
use crate::{Env, Progress, cards, events};

/// Leavers of a round.
const BATCH: u32 = 100;
/// How long a step waits for another request that has one of the cards.
const PAUSE: Duration = Duration::MINUTE;

/// The partner's rules.
///
/// # Errors
/// [`StoreError`] if the store fails.
pub fn rules(unit: &mut dyn UnitOfWork, partner: PartnerId) -> Result<LeaverRules, StoreError> {
    unit.leavers().rules(partner)
}

/// Sets the partner's rules. They hold for those who leave from then on; nothing is taken back any more, also from those who
/// have left, if the rules say so.
///
/// # Errors
/// [`StoreError`] if the store fails.
pub fn set_rules(
    unit: &mut dyn UnitOfWork,
    partner: PartnerId,
    rules: LeaverRules,
) -> Result<LeaverRules, StoreError> {
    unit.leavers().set_rules(partner, &rules)?;
    if rules.take_back_after_days().is_none() {
        unit.leavers().call_off(partner)?;
    }
    Ok(rules)
}

/// What follows from the new status of an employee, who had the status `before`.
pub(crate) fn follow(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    partner: PartnerId,
    before: EmployeeStatus,
    employee: &Employee,
) -> Result<(), StoreError> {
    let has_left = |status| status == EmployeeStatus::DontWork;
    match (has_left(before), has_left(employee.status())) {
        (false, true) => leave(unit, env, partner, employee.id()),
        (true, false) => come_back(unit, env, partner, employee.id()),
        (false, false) | (true, true) => Ok(()),
    }
}

fn leave(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    partner: PartnerId,
    employee: EmployeeId,
) -> Result<(), StoreError> {
    let (rules, left_at) = (unit.leavers().rules(partner)?, env.now());
    if rules.is_off() {
        return Ok(());
    }
    let frozen = if rules.freeze() { freeze(unit, env, partner, employee)? } else { Vec::new() };
    let (closes, look_at) = (rules.close(), rules.take_back_at(left_at));
    unit.leavers().put(partner, &Leaver { employee, left_at, frozen, closes, run: None, look_at })
}

/// Freezes the employee's cards that can pay, and returns them with the statuses that they had.
fn freeze(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    partner: PartnerId,
    employee: EmployeeId,
) -> Result<Vec<FrozenCard>, StoreError> {
    let (mut frozen, today) = (Vec::new(), env.today());
    for (id, status) in unit.cards().of_employee(partner, employee)? {
        let Some(CardRecord { card, bank, .. }) = unit.cards().get(partner, id)? else { continue };
        if status == CardStatus::TemporarilyBlocked || card.is_over(bank.standing, today) {
            continue;
        }
        if let Some((card, event)) = card.freeze(bank.standing) {
            unit.cards().set_link(partner, &card)?;
            events::append(unit, env, partner, event)?;
            frozen.push(FrozenCard { card: id, status });
        }
    }
    Ok(frozen)
}

fn come_back(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    partner: PartnerId,
    employee: EmployeeId,
) -> Result<(), StoreError> {
    let Some(leaver) = unit.leavers().get(partner, employee)? else { return Ok(()) };
    unit.leavers().remove(partner, employee)?;
    if let Some(run) = leaver.run {
        match runs::cancel(unit, env, partner, run) {
            // One that has begun goes on; nothing follows it.
            Ok(_) | Err(ChangeRunError::NotFound | ChangeRunError::Refused(_)) => {}
            Err(ChangeRunError::Store(error)) => return Err(error),
        }
    }
    for FrozenCard { card, status } in leaver.frozen {
        unfreeze(unit, env, partner, employee, card, status)?;
    }
    Ok(())
}

/// Gives a card the status back that it had, unless it is somebody else's, closed, expired, or on its way to that.
fn unfreeze(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    partner: PartnerId,
    employee: EmployeeId,
    card: CardId,
    status: CardStatus,
) -> Result<(), StoreError> {
    let Some(CardRecord { card, bank, .. }) = unit.cards().get(partner, card)? else { return Ok(()) };
    let is_theirs = card.link().is_some_and(|link| link.employee == employee);
    if !is_theirs || unit.cards().is_being_closed(partner, card.id())? {
        return Ok(());
    }
    let main = unit.cards().main_card(partner, employee)?;
    if let Some((card, event)) = card.unfreeze(status, main, bank.standing, env.today()) {
        unit.cards().set_link(partner, &card)?;
        events::append(unit, env, partner, [event])?;
    }
    Ok(())
}

/// Looks for leavers whose next step is due.
pub struct LeaverTimer {
    store: Arc<dyn Store>,
    bank: Arc<dyn BankGateway>,
    env: Arc<Env>,
}

impl LeaverTimer {
    /// A timer over these ports.
    #[must_use]
    pub fn new(store: Arc<dyn Store>, bank: Arc<dyn BankGateway>, env: Arc<Env>) -> Self {
        Self { store, bank, env }
    }

    /// Takes the steps that are due, each in a unit of work of its own. Blocks while the bank tells the balances of the cards.
    ///
    /// # Errors
    /// [`StoreError`]; what was done by then stays.
    pub fn run_once(&self) -> Result<Progress, StoreError> {
        let now = self.env.now();
        let due = transact(&*self.store, Access::Read, move |unit| unit.leavers().due(now, BATCH))?;
        let mut is_any = false;
        for (partner, employee) in due {
            refresh(&*self.store, &*self.bank, &self.env, partner, employee)?;
            let env = Arc::clone(&self.env);
            let step = move |unit: &mut dyn UnitOfWork| advance(unit, &env, partner, employee);
            is_any |= transact(&*self.store, Access::Write, step)?;
        }
        Ok(if is_any { Progress::More } else { Progress::Idle })
    }
}

/// Refreshes the stale copies of the employee's cards, so that the next step goes by balances of the moment. While the bank is
/// away they stay. Blocks during the bank requests.
fn refresh(
    store: &dyn Store,
    bank: &dyn BankGateway,
    env: &Env,
    partner: PartnerId,
    employee: EmployeeId,
) -> Result<(), StoreError> {
    let cards = transact(store, Access::Read, move |unit| open_cards(unit, partner, employee))?;
    for record in cards.into_iter().filter(|record| env.is_stale(record.bank.seen_at)) {
        cards::refresh(store, bank, env, partner, record)?;
    }
    Ok(())
}

/// Takes the next step of a leaver. Whether it was due.
fn advance(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    partner: PartnerId,
    employee: EmployeeId,
) -> Result<bool, StoreError> {
    let now = env.now();
    let leaver = unit.leavers().get(partner, employee)?;
    let Some(leaver) = leaver.filter(|leaver| leaver.look_at.is_some_and(|at| at <= now)) else {
        return Ok(false);
    };
    let cards = open_cards(unit, partner, employee)?;
    let ids: Vec<CardId> = cards.iter().map(|record| record.card.id()).collect();
    let is_claimed = |target: &BatchTarget| target.claims.exclude(Lane::Money);
    if unit.closings().targets(partner, &ids)?.iter().any(is_claimed) {
        return postpone(unit, env, partner, leaver);
    }
    let Some(run) = leaver.run else {
        let holds_money = cards.iter().any(|record| record.bank.balance.is_positive());
        let run = if holds_money { Some(take_back(unit, env, partner, employee, &cards)?) } else { None };
        return match run {
            Some(run) => {
                unit.leavers().put(partner, &Leaver { run: Some(run), look_at: None, ..leaver })?;
                Ok(true)
            }
            None => close(unit, env, partner, leaver, &ids),
        };
    };
    match unit.runs().get(partner, run)?.map(|run| run.state()) {
        // Somebody has refused it, or nobody approved it.
        None | Some(RunState::Rejected | RunState::Expired) => {
            end(unit, partner, leaver)?;
            Ok(true)
        }
        Some(RunState::Success | RunState::PartSuccess | RunState::Decline) => {
            close(unit, env, partner, leaver, &ids)
        }
        Some(_) => postpone(unit, env, partner, leaver),
    }
}

/// The employee's cards that are not closed.
fn open_cards(
    unit: &mut dyn UnitOfWork,
    partner: PartnerId,
    employee: EmployeeId,
) -> Result<Vec<CardRecord>, StoreError> {
    let mut open = Vec::new();
    for (id, _) in unit.cards().of_employee(partner, employee)? {
        let record = unit.cards().get(partner, id)?;
        open.extend(record.filter(|record| record.bank.standing != Standing::Closed));
    }
    Ok(open)
}

/// Makes the run that takes back what is on the cards. It waits for an approval as any other.
fn take_back(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    partner: PartnerId,
    employee: EmployeeId,
    cards: &[CardRecord],
) -> Result<RunId, StoreError> {
    let with_money = cards.iter().filter(|record| record.bank.balance.is_positive());
    let row = |(line, record): (u32, &CardRecord)| {
        let value = CellValue::Text(record.card.id().to_string());
        InputRow { line, cells: vec![Cell { name: "idCard".to_owned(), value }], limit: None, fault: None }
    };
    let input = RunInput {
        kind: RunKind::Withdraw,
        reference: Some(reference(employee)?),
        at: None,
        creates_categories: false,
        rows: (1..).zip(with_money).map(row).collect(),
    };
    let run = match runs::create(unit, env, partner, &Actor::Service, &input) {
        // The employee has left before, too.
        Err(CreateRunError::ReferenceTaken(_)) => {
            let input = RunInput { reference: None, ..input };
            runs::create(unit, env, partner, &Actor::Service, &input)
        }
        created => created,
    };
    let run = run.map_err(|error| match error {
        CreateRunError::Store(error) => error,
        CreateRunError::ReferenceTaken(_) => StoreError::Busy,
    })?;
    match runs::submit(unit, env, partner, &Authority::SERVICE, run.id(), run.digest(), true) {
        Ok(_) => Ok(run.id()),
        Err(ChangeRunError::Store(error)) => Err(error),
        Err(error) => Err(StoreError::Failed(format!("the run of a leaver is not submitted: {error}"))),
    }
}

/// Closes the cards if the rules said so when the employee left.
fn close(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    partner: PartnerId,
    leaver: Leaver,
    cards: &[CardId],
) -> Result<bool, StoreError> {
    if !leaver.closes || cards.is_empty() {
        end(unit, partner, leaver)?;
        return Ok(true);
    }
    let closing = |card: &CardId| CardClosing { card: CardRef::Id(*card), reason: ClosingReason::Leaver };
    let closings: Vec<CardClosing> = cards.iter().map(closing).collect();
    match closings::create(unit, env, partner, &closings, Some(&reference(leaver.employee)?)) {
        Ok(_) => {
            unit.leavers().remove(partner, leaver.employee)?;
            Ok(true)
        }
        Err(CreateBatchError::Store(error)) => Err(error),
        Err(_) => postpone(unit, env, partner, leaver),
    }
}

/// Nothing more is due. Cards that are still frozen are unfrozen if the employee comes back.
fn end(unit: &mut dyn UnitOfWork, partner: PartnerId, leaver: Leaver) -> Result<(), StoreError> {
    if leaver.frozen.is_empty() {
        unit.leavers().remove(partner, leaver.employee)
    } else {
        unit.leavers().put(partner, &Leaver { look_at: None, ..leaver })
    }
}

/// Looks again in a while.
fn postpone(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    partner: PartnerId,
    leaver: Leaver,
) -> Result<bool, StoreError> {
    unit.leavers().put(partner, &Leaver { look_at: Some(env.now() + PAUSE), ..leaver })?;
    Ok(false)
}

/// What the run and the closing of a leaver are called. It holds no name of the employee.
fn reference(employee: EmployeeId) -> Result<RequestReference, StoreError> {
    RequestReference::parse(&format!("leaver {employee}"))
        .map_err(|_| StoreError::Failed("the reference of a leaver is not valid".to_owned()))
}

#[cfg(test)]
mod tests;
