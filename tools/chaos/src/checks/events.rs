//! Each committed change has one event, and the feed has what the table of events has.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use kopeck_adapter_bank_simulator::Simulator;
use kopeck_client::{BankStatus, CardStatus, Event, EventData, RequestState, Uuid};
use kopeck_domain::card_number::CardNumber;
use kopeck_port_bank::{BankGateway as _, FeedChange, FeedEntry};
use tokio::time::Instant;

use super::Account;
use super::bank::{ROWS, transactions};
use crate::bank;
use crate::database::{self, StoredEvent};
use crate::fleet::Fleet;
use crate::journal::Journal;
use crate::load::{Answer, Change, Partner, Paydays, RequestKind, read_on};

/// How long the bank's feed may take to become events of the partners.
const PATIENCE: Duration = Duration::from_secs(60);
/// Time between two looks at the feed.
const INTERVAL: Duration = Duration::from_millis(500);

/// Changes, and how often each was made, or has an event.
type Changes = BTreeMap<String, u32>;

/// Compares each feed with what was accepted, with the bank's ledger, and with the table of events.
pub(super) async fn check(fleet: &Fleet, accounts: &[Account<'_>], journal: &Journal) -> anyhow::Result<()> {
    let bank = bank::books(&fleet.installation)?;
    let declines = declines(&bank)?;
    let deadline = Instant::now() + PATIENCE;
    for account in accounts {
        let expected = expected(&bank, &declines, account)?;
        let partner = account.partner;
        for difference in settled(partner, &expected, deadline).await? {
            journal.wrong(format!("{}: {difference}", partner.name));
        }
    }
    let stored = database::events(&fleet.installation.database_url)?;
    for account in accounts {
        let partner = account.partner;
        let feed: Vec<StoredEvent> = partner.book().feed.iter().map(as_stored).collect();
        check_order(partner, &feed, journal);
        let stored = stored.get(&partner.login).map(Vec::as_slice).unwrap_or_default();
        journal.must(feed == stored, || {
            let (read, stored): (BTreeSet<_>, BTreeSet<_>) = (ids(&feed), ids(stored));
            let differing = read.symmetric_difference(&stored).count();
            format!("{}: feed and table of events differ in {differing} events", partner.name)
        });
    }
    Ok(())
}

/// Reads the feed to its end until it has the changes; returns the differences that are left at `deadline`.
async fn settled(partner: &Partner, expected: &Changes, deadline: Instant) -> anyhow::Result<Vec<String>> {
    let mut number = 0;
    loop {
        while read_on(partner, number, Duration::ZERO).await? {
            number += 1;
        }
        let differences = {
            let book = partner.book();
            differences(expected, &found(&book.feed, book.paydays.as_ref()))
        };
        if differences.is_empty() || Instant::now() > deadline {
            return Ok(differences);
        }
        tokio::time::sleep(INTERVAL).await;
    }
}

/// A cursor misses nothing only if numbers have no gaps, and become visible in their order.
fn check_order(partner: &Partner, feed: &[StoredEvent], journal: &Journal) {
    let gap = (1..).zip(feed).find(|(seq, event)| event.seq != *seq);
    let name = &partner.name;
    journal.must(gap.is_none(), || format!("{name}: the feed has a gap, or an event twice: {gap:?}"));
}

fn as_stored(event: &Event) -> StoredEvent {
    StoredEvent { seq: event.seq, id: event.id, kind: event.data.event_type().as_str().to_owned() }
}

fn ids(events: &[StoredEvent]) -> BTreeSet<Uuid> {
    events.iter().map(|event| event.id).collect()
}

fn differences(expected: &Changes, found: &Changes) -> Vec<String> {
    let changes: BTreeSet<&String> = expected.keys().chain(found.keys()).collect();
    let count = |changes: &Changes, change: &String| changes.get(change).copied().unwrap_or(0);
    let differing = changes.into_iter().filter(|change| count(expected, change) != count(found, change));
    differing
        .map(|change| {
            let (times, events) = (count(expected, change), count(found, change));
            format!("{change}: happened {times} times, has {events} events")
        })
        .collect()
}

/// The purchases that the bank declined.
fn declines(bank: &Simulator) -> anyhow::Result<Vec<FeedEntry>> {
    let mut all: Vec<FeedEntry> = Vec::new();
    loop {
        let after = all.last().map_or(0, |last| last.seq);
        let page = bank.feed(after, ROWS)?;
        if page.is_empty() {
            all.retain(|entry| matches!(entry.change, FeedChange::Declined(_)));
            return Ok(all);
        }
        all.extend(page);
    }
}

/// The changes that a partner and its bank made.
fn expected(bank: &Simulator, declines: &[FeedEntry], account: &Account<'_>) -> anyhow::Result<Changes> {
    let partner = account.partner;
    let mut changes = Changes::new();
    let mut add = |change: String| *changes.entry(change).or_default() += 1;
    add(deposited(partner.opening));
    // Three days pass during the faults.
    let silent = partner.endpoints.iter().filter(|endpoint| endpoint.is_silent());
    silent.for_each(|endpoint| add(disabled(endpoint.id)));
    for request in &account.requests {
        states(&request.state).iter().for_each(|state| add(reached(request.kind, request.id, state)));
        for (_, back) in request.returns().into_iter().filter(|(_, back)| *back > 0) {
            add(returned(request.id, back));
        }
        if let Change::Close(cards) = &request.call {
            for (card, _) in cards.iter().zip(&request.done).filter(|(_, done)| **done) {
                let Some(id) = card.card.id() else { continue };
                add(at_bank(id, &BankStatus::Closed));
                add(switched(id, &CardStatus::TemporarilyBlocked));
            }
        }
        for (number, _) in &request.issued {
            add(issued(request.id, number));
            let parsed = CardNumber::parse(number).map_err(|_| anyhow::anyhow!("{number} is no number"))?;
            for transaction in transactions(bank, parsed)? {
                add(moved(number, transaction.id));
            }
            for entry in declines.iter().filter(|entry| entry.card == parsed) {
                if let FeedChange::Declined(purchase) = &entry.change {
                    add(declined(number, purchase.amount.get()));
                }
            }
        }
    }
    for made in &partner.book().made {
        match (&made.call, &made.answer) {
            (Change::AddEmployee { .. }, Some(Answer::Employee(id))) => add(employed(*id)),
            (Change::Link { employee, .. }, Some(Answer::Linked(card))) => add(linked(*card, *employee)),
            (Change::Activate { card, .. }, Some(Answer::Done)) => add(activated(*card)),
            (Change::Deposit { amount }, Some(Answer::Balance(_))) => add(deposited(*amount)),
            // A run that was accepted has ended.
            (Change::Run { .. }, Some(Answer::Run(id))) => {
                ["begun", "begun", "ended"].into_iter().for_each(|step| add(run(*id, step)));
            }
            _ => {}
        }
    }
    Ok(changes)
}

/// The changes that a feed has.
fn found(feed: &[Event], paydays: Option<&Paydays>) -> Changes {
    let numbers: BTreeMap<Uuid, &str> = feed
        .iter()
        .filter_map(|event| match &event.data {
            EventData::CardIssued(card) => Some((card.id_card, card.custom_id_card.as_str())),
            _ => None,
        })
        .collect();
    let mut changes = Changes::new();
    for event in feed {
        if is_of_programme(event, paydays) {
            continue;
        }
        *changes.entry(change(event, &numbers)).or_default() += 1;
    }
    changes
}

/// Whether it tells of programmes, whose periods and tries have a check of their own.
fn is_of_programme(event: &Event, paydays: Option<&Paydays>) -> bool {
    paydays.is_some() && matches!(event.data, EventData::RunStatus(_) | EventData::ProgrammeDue(_))
}

fn change(event: &Event, numbers: &BTreeMap<Uuid, &str>) -> String {
    let number = |card: Uuid| numbers.get(&card).copied().unwrap_or("unknown");
    match &event.data {
        EventData::OrderStatus(event) => reached(RequestKind::Order, event.order_id, &event.state),
        EventData::ReplenishmentStatus(event) => {
            reached(RequestKind::TopUp, event.replenishment_id, &event.state)
        }
        EventData::LimitsStatus(event) => {
            reached(RequestKind::Limit, event.set_limits_cards_id, &event.state)
        }
        EventData::ClosingStatus(event) => reached(RequestKind::Closing, event.closing_id, &event.state),
        EventData::WithdrawalStatus(event) => {
            reached(RequestKind::Withdrawal, event.withdrawal_id, &event.state)
        }
        EventData::RunStatus(event) => {
            run(event.id_run, if event.state.is_final() { "ended" } else { "begun" })
        }
        EventData::BalanceReturned(back) => {
            returned(back.closing_id.or(back.withdrawal_id).unwrap_or_default(), back.amount)
        }
        EventData::CardBankStatus(card) => at_bank(card.id_card, &card.bank_status),
        EventData::CardStatus(card) => switched(card.id_card, &card.status_card),
        EventData::CardIssued(card) => issued(card.order_id, &card.custom_id_card),
        EventData::CardLinked(card) => linked(card.id_card, card.id_employee),
        EventData::CardActivated(card) => activated(card.id_card),
        EventData::CardTransaction(event) => moved(number(event.id_card), event.transaction.id),
        EventData::CardDeclined(event) => declined(number(event.id_card), event.amount),
        EventData::BalanceDeposited(deposit) => deposited(deposit.amount),
        EventData::EmployeeCreated(employee) => employed(employee.id_employee),
        EventData::WebhookDisabled(webhook) => disabled(webhook.id_webhook),
        // No partner of a run does anything else.
        other => format!("{other:?}"),
    }
}

/// The states through which a request came to `last`.
fn states(last: &RequestState) -> Vec<RequestState> {
    use RequestState as S;
    let mut states = match last {
        S::New => Vec::new(),
        S::Rejected | S::InProcess => vec![S::New],
        S::Confirmed => vec![S::New, S::InProcess, S::Success],
        _ => vec![S::New, S::InProcess],
    };
    states.push(last.clone());
    states
}

fn reached(kind: RequestKind, id: Uuid, state: &RequestState) -> String {
    format!("{kind:?} {id} {state}")
}

fn run(id: Uuid, step: &str) -> String {
    format!("run {id} has {step}")
}

fn issued(order: Uuid, number: &str) -> String {
    format!("card {number} of order {order}")
}

fn moved(number: &str, id: i64) -> String {
    format!("transaction {id} of card {number}")
}

fn employed(id: Uuid) -> String {
    format!("employee {id}")
}

fn linked(card: Uuid, employee: Uuid) -> String {
    format!("card {card} linked to {employee}")
}

fn returned(request: Uuid, amount: i64) -> String {
    format!("return of {amount} kopecks by {request}")
}

fn at_bank(card: Uuid, status: &BankStatus) -> String {
    format!("card {card} {status} at the bank")
}

fn switched(card: Uuid, status: &CardStatus) -> String {
    format!("card {card} switched to {status}")
}

fn activated(card: Uuid) -> String {
    format!("card {card} activated")
}

fn declined(number: &str, amount: i64) -> String {
    format!("declined purchase of {amount} kopecks with card {number}")
}

fn disabled(webhook: Uuid) -> String {
    format!("webhook {webhook} disabled")
}

fn deposited(amount: i64) -> String {
    format!("deposit of {amount} kopecks")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_without_an_event_and_an_event_without_a_change_are_found() {
        let changes = |counts: &[(&str, u32)]| -> Changes {
            counts.iter().map(|(change, count)| ((*change).to_owned(), *count)).collect()
        };
        let expected = changes(&[("a", 1), ("b", 2), ("c", 1)]);
        assert!(differences(&expected, &expected).is_empty());
        let found = changes(&[("a", 2), ("b", 2), ("d", 1)]);
        let lines = [
            "a: happened 1 times, has 2 events",
            "c: happened 1 times, has 0 events",
            "d: happened 0 times, has 1 events",
        ];
        assert_eq!(differences(&expected, &found), lines);
    }

    #[test]
    fn each_state_on_the_way_is_expected() {
        use RequestState as S;
        assert_eq!(states(&S::Confirmed), [S::New, S::InProcess, S::Success, S::Confirmed]);
        assert_eq!(states(&S::Rejected), [S::New, S::Rejected]);
        assert_eq!(states(&S::Decline), [S::New, S::InProcess, S::Decline]);
    }
}
