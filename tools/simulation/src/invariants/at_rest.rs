//! What must hold once all faults have ended and the workers have nothing left to do: the ledger of the partners, what
//! they were answered and what the bank did are the same story.

mod feed;
mod holdings;
mod programmes;
mod runs;
mod story;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kopeck_domain::Kopecks;
use kopeck_domain::card::{CardStatus, Standing};
use kopeck_domain::ids::EmployeeId;
use kopeck_domain::request::RequestState;
use kopeck_port_bank::BankGateway as _;
use kopeck_port_store::CardRecord;
use kopeck_service::bank_reconciliation::BankReconciler;

use holdings::Holdings;
use story::Story;

use crate::actors::{Client, ClientView, Command};
use crate::bank::Effect;
use crate::violation::Violation;
use crate::world::World;

/// Checks every partner's books against its requests and against the bank.
///
/// `dropped` are the requests of runs of programmes that were tried again since.
pub(crate) fn check(world: &World, clients: &[Client], dropped: &BTreeSet<String>) -> Result<(), Violation> {
    let effects = world.bank.effects();
    each_key_once(&effects)?;
    let mut told = 0;
    for client in clients {
        let partner = client.partner;
        let has = world
            .look(move |unit| holdings::read(unit, partner))
            .map_err(|error| Violation::unreadable(&error))?;
        let story = Story::of(&has, &effects)?;
        every_response_is_true(client, &has, dropped)?;
        runs::check(client, &has)?;
        runs::previews_came_true(world, &has)?;
        runs::earlier_tries_moved_nothing(&has, dropped)?;
        programmes::check(world, client, &has)?;
        money_adds_up(client, &has, &story)?;
        one_main_card(&has.cards)?;
        feed::check(&has)?;
        feed::knows_returns(&has, story.returned)?;
        closed_cards_are_reported(world, &has.cards)?;
        limits_are_the_banks(world, &has.cards)?;
        told += story.effects;
    }
    let done = effects.iter().filter(|effect| effect.is_done()).count();
    if told != done {
        let what = format!("the bank did {done} things, the requests know of {told}");
        return Err(Violation { rule: story::RULE, what });
    }
    Ok(())
}

/// Checks that every account was refreshed, to what lies on it at the bank.
pub(crate) fn accounts_are_fresh(world: &World, clients: &[Client]) -> Result<(), Violation> {
    let today = world.env.today();
    for client in clients {
        let partner = client.partner;
        let has = world
            .look(move |unit| holdings::read(unit, partner))
            .map_err(|error| Violation::unreadable(&error))?;
        feed::check(&has)?;
        feed::knows_the_bank(world, &has)?;
        for CardRecord { card, account, .. } in &has.cards {
            let at_bank = world.bank.card_at_bank(card.number()).map(|card| card.balance);
            let day = world.env.settings.zone.day(account.updated_at);
            if day != today || Some(account.value) != at_bank {
                let what = format!("{}: {} of {day}, at the bank {at_bank:?}", card.number(), account.value);
                return Err(Violation { rule: "accounts are refreshed every day", what });
            }
        }
    }
    Ok(())
}

/// Checks that the reconciliation with the bank finds nothing. A bank that does twice what it is sent twice is another
/// story.
pub(crate) fn bank_agrees(world: &World) -> Result<(), Violation> {
    let rule = "the bank's registry and the books agree";
    if !world.bank.repeat_is_safe() {
        return Ok(());
    }
    let (store, bank) = (Arc::clone(&world.stored) as _, Arc::clone(&world.bank) as _);
    let reconciler = BankReconciler::new(store, bank, Arc::clone(&world.env));
    let today = world.env.today();
    let mut found = Vec::new();
    let compared = reconciler.compare(&(world.first_day()..=today), &|| false, &mut |one| found.push(one));
    match (compared, found.first()) {
        (Ok(unread), None) if unread.is_empty() => Ok(()),
        (Ok(unread), None) => Err(Violation { rule, what: format!("movements are not read: {unread:?}") }),
        (Ok(_), Some(first)) => {
            Err(Violation { rule, what: format!("{} differences: {first:?}", found.len()) })
        }
        (Err(error), _) => Err(Violation { rule, what: error.to_string() }),
    }
}

fn each_key_once(effects: &[Effect]) -> Result<(), Violation> {
    let mut keys = BTreeSet::new();
    for effect in effects.iter().filter(|effect| effect.is_done()) {
        if !keys.insert(&effect.key) {
            let what = format!("{} was carried out twice", effect.key.as_str());
            return Err(Violation { rule: "the bank carries out each key once", what });
        }
    }
    Ok(())
}

/// What was accepted is there, once; what was cancelled or confirmed is so.
fn every_response_is_true(
    client: &Client,
    has: &Holdings,
    dropped: &BTreeSet<String>,
) -> Result<(), Violation> {
    let wrong =
        |what: String| Err(Violation { rule: "every accepted call is found as it was answered", what });
    let mut accepted = BTreeSet::new();
    let erased: BTreeSet<String> = client
        .calls
        .iter()
        .filter_map(|call| match (&call.command, &call.known) {
            (Command::Erase(employee), ClientView::Answered(_)) => Some(employee.to_string()),
            _ => None,
        })
        .collect();
    for call in &client.calls {
        let ClientView::Answered(answer) = &call.known else { continue };
        let made = String::from_utf8_lossy(&answer.body).into_owned();
        let holds = match &call.command {
            Command::Order { .. }
            | Command::TopUp(_)
            | Command::SetLimits { .. }
            | Command::Close(_)
            | Command::Withdraw(_) => has.requests.contains_key(&made) && accepted.insert(made.clone()),
            Command::Hire { .. } => has.employees.contains(&made) != erased.contains(&made),
            Command::Erase(_) => !has.employees.contains(&made),
            Command::CancelOrder(_)
            | Command::CancelTopUp(_)
            | Command::CancelLimits(_)
            | Command::CancelClosing(_)
            | Command::CancelWithdrawal(_) => has.requests.get(&made) == Some(&RequestState::Rejected),
            Command::Confirm(_) => has.requests.get(&made) == Some(&RequestState::Confirmed),
            Command::Deposit { .. }
            | Command::PayOut { .. }
            | Command::ReverseDeposit(_)
            | Command::Link { .. }
            | Command::Switch { .. }
            | Command::Unlink { .. }
            | Command::DraftRun(_)
            | Command::SubmitRun { .. }
            | Command::CancelRun(_)
            | Command::MakeProgramme(_)
            | Command::ChangeProgramme { .. }
            | Command::PauseProgramme(_)
            | Command::ResumeProgramme(_)
            | Command::DeleteProgramme(_) => true,
        };
        if !holds {
            return wrong(format!("call {}: {made}", call.key));
        }
    }
    accepted.extend(runs::requests(has));
    accepted.extend(dropped.iter().cloned());
    match has.requests.keys().find(|request| !accepted.contains(*request)) {
        Some(request) => wrong(format!("request {request} is in no response")),
        None => Ok(()),
    }
}

/// What was deposited, and neither paid out nor reversed, is spent on what the bank did, or free; nothing is held any more.
fn money_adds_up(client: &Client, has: &Holdings, story: &Story) -> Result<(), Violation> {
    let (mut deposits, mut paid_out, mut reversed) = (BTreeMap::new(), 0, BTreeSet::new());
    for call in client.calls.iter().filter(|call| matches!(call.known, ClientView::Answered(_))) {
        match &call.command {
            Command::Deposit { reference, amount } => {
                deposits.insert(reference.as_str(), amount.get());
            }
            Command::PayOut { amount, .. } => paid_out += amount.get(),
            Command::ReverseDeposit(reference) => {
                reversed.insert(reference.as_str());
            }
            _ => {}
        }
    }
    deposits.retain(|reference, _| !reversed.contains(reference));
    let deposited = deposits.values().sum::<i64>() - paid_out;
    let balances = has.sheet.balances;
    let expected = [-deposited, deposited - story.spent, 0, story.spent];
    let booked = [balances.deposited, balances.available, balances.held, balances.spent].map(Kopecks::get);
    if booked == expected {
        return Ok(());
    }
    let what = format!("deposited, available, held, spent: booked {booked:?}, expected {expected:?}");
    Err(Violation { rule: "debits are what the bank did, and nothing is held", what })
}

fn one_main_card(cards: &[CardRecord]) -> Result<(), Violation> {
    let mut main_cards: BTreeMap<EmployeeId, u32> = BTreeMap::new();
    for link in cards.iter().filter_map(|record| record.card.link()) {
        *main_cards.entry(link.employee).or_default() += u32::from(link.status == CardStatus::Main);
    }
    match main_cards.iter().find(|(_, count)| **count > 1) {
        Some((employee, count)) => {
            let what = format!("employee {employee} has {count}");
            Err(Violation { rule: "an employee has one MAIN card at most", what })
        }
        None => Ok(()),
    }
}

/// A card is closed here if the bank closed it, and then it is no MAIN card.
fn closed_cards_are_reported(world: &World, cards: &[CardRecord]) -> Result<(), Violation> {
    let wrong = |record: &&CardRecord| {
        let at_bank = world.bank.card_at_bank(record.card.number()).map(|card| card.standing);
        let is_closed = record.bank.standing == Standing::Closed;
        let is_free = record.card.link().is_none_or(|link| link.status == CardStatus::TemporarilyBlocked);
        is_closed != (at_bank == Some(Standing::Closed)) || is_closed && !is_free
    };
    match cards.iter().find(wrong) {
        Some(record) => {
            let what = format!(
                "card {}: {} and {:?}",
                record.card.number(),
                record.bank.standing,
                record.card.link()
            );
            Err(Violation { rule: "a closed card is closed on both sides, and no MAIN card", what })
        }
        None => Ok(()),
    }
}

fn limits_are_the_banks(world: &World, cards: &[CardRecord]) -> Result<(), Violation> {
    let differs = |record: &&CardRecord| {
        world.bank.card_at_bank(record.card.number()).is_none_or(|card| card.limit != record.limit)
    };
    match cards.iter().find(differs) {
        Some(record) => {
            let what = format!("card {}", record.card.number());
            Err(Violation { rule: "the limit of a card is the one it has at the bank", what })
        }
        None => Ok(()),
    }
}
