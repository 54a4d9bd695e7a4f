//! Programmes paid each person and period once and by the rule: held against the feed, the items and the bank's ledger.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Context as _;
use kopeck_adapter_bank_simulator::Simulator;
use kopeck_client::{
    Client, EventData, OnShortage, ProgrammeTerms, ReportFilter, Run, RunItem, RunKind, RunOutcome, RunState,
    Uuid,
};
use kopeck_domain::transaction::TransactionType;

use super::Account;
use super::bank::transactions;
use crate::bank;
use crate::fleet::Fleet;
use crate::journal::Journal;
use crate::load::{MainCard, Partner, Paydays, months, runs_of_programmes};

/// Reasons of refusals that a run meets on its own.
const SHORT: &str = "not enough partner balance";
const BY_BANK: &str = "refused by the bank";
const EMPTY: &str = "not enough money on the card";

/// A run of a programme.
struct Paid {
    terms: ProgrammeTerms,
    run: Run,
    items: Vec<RunItem>,
    /// Whether no other run of a programme was open meanwhile: one that waits for a day is overtaken.
    is_alone: bool,
}

/// Checks the partner's programmes, if it has some. The feed has to be read to its end.
pub(super) async fn check(fleet: &Fleet, account: &Account<'_>, journal: &Journal) -> anyhow::Result<()> {
    let partner = account.partner;
    let Some(paydays) = partner.book().paydays.clone() else { return Ok(()) };
    let (client, _) = partner.client(0).context("no client")?;
    let runs = runs_of_programmes(client).await?;
    periods(&paydays, &runs, journal);
    let tries = tries(partner, &runs, journal);
    let (mut all, mut expired) = (Vec::new(), 0);
    for run in runs {
        let programme = paydays.programmes.iter().find(|one| Some(one.id_programme) == run.id_programme);
        let terms = programme.context("a run of no programme")?.terms.clone();
        let items = client.runs().result(run.id_run).await?;
        if run.state == RunState::Expired {
            // Faults held the programme up for more than seven of these short days.
            journal.must(items.is_empty(), || format!("run {} has expired, and has {items:?}", run.id_run));
            expired += 1;
            continue;
        }
        let is_alone = !tries.overlapping.contains(&run.id_run);
        all.push(Paid { terms, run, items, is_alone });
    }
    let people: BTreeSet<Uuid> = partner.book().cards.iter().map(|card| card.id).collect();
    for paid in &all {
        let wrong = |what: String| {
            let Run { id_run, period, state, available, .. } = &paid.run;
            let name = &paid.terms.name;
            journal.wrong(format!("run {id_run} of {name} {period:?} ({state}, of {available}): {what}"));
        };
        paid.goes_by_its_rule(&people, &wrong);
        if paid.is_alone {
            paid.is_complete(&wrong);
        }
    }
    let bank = bank::books(&fleet.installation)?;
    cards(&bank, account, &all, journal)?;
    reports(client, &paydays, &all, journal).await?;
    let of = |outcome: RunOutcome| {
        let items = all.iter().flat_map(|paid| &paid.items);
        items.filter(|item| item.outcome.as_ref() == Some(&outcome)).count()
    };
    println!(
        "{} periods of programmes; {} items done, {} refused; {} runs tried again, {} overtaken, {expired} expired",
        all.len(),
        of(RunOutcome::Done),
        of(RunOutcome::Refused),
        tries.again,
        tries.overlapping.len()
    );
    Ok(())
}

/// Each period that came due has one run, and nothing else has.
fn periods(paydays: &Paydays, runs: &[Run], journal: &Journal) {
    for programme in &paydays.programmes {
        let own = runs.iter().filter(|run| run.id_programme == Some(programme.id_programme));
        let mut made: Vec<String> = own.filter_map(|run| run.period.clone()).collect();
        made.sort_unstable();
        let due = paydays.due(programme);
        journal.must(made == due, || format!("{}: due were {due:?}, made {made:?}", programme.terms.name));
    }
}

/// What the feed tells of the runs.
struct Tries {
    overlapping: BTreeSet<Uuid>,
    again: usize,
}

/// Each try of a run has its beginning and its end in the feed, and the last end is the run's state.
fn tries(partner: &Partner, runs: &[Run], journal: &Journal) -> Tries {
    let mut open: BTreeSet<Uuid> = BTreeSet::new();
    let mut ends: BTreeMap<Uuid, Vec<RunState>> = BTreeMap::new();
    let mut overlapping = BTreeSet::new();
    let mut told: BTreeMap<(Uuid, String), u32> = BTreeMap::new();
    let name = &partner.name;
    for event in &partner.book().feed {
        match &event.data {
            EventData::RunStatus(run) if run.state == RunState::InProcess => {
                let is_new = open.insert(run.id_run);
                journal.must(is_new, || format!("{name}: run {} began twice", run.id_run));
                if open.len() > 1 {
                    overlapping.extend(&open);
                }
            }
            EventData::RunStatus(run) if run.state == RunState::Expired => {
                ends.entry(run.id_run).or_default().push(RunState::Expired);
            }
            EventData::RunStatus(run) => {
                let was_open = open.remove(&run.id_run);
                journal.must(was_open, || format!("{name}: run {} ended without beginning", run.id_run));
                ends.entry(run.id_run).or_default().push(run.state.clone());
            }
            EventData::ProgrammeDue(due) => {
                *told.entry((due.id_programme, due.period.clone())).or_default() += 1;
            }
            _ => {}
        }
    }
    for ((programme, period), times) in told {
        journal.must(times <= 2, || format!("{name}: {programme} told {times} times of {period}"));
    }
    let mut again = 0;
    for run in runs {
        let ends = ends.remove(&run.id_run).unwrap_or_default();
        let is_right = ends.last() == Some(&run.state)
            && ends.iter().rev().skip(1).all(|state| *state == RunState::Decline);
        journal.must(is_right, || {
            format!("{name}: run {} is {}, its tries ended {ends:?}", run.id_run, run.state)
        });
        again += usize::from(ends.len() > 1);
    }
    Tries { overlapping, again }
}

/// What a card with this balance gets; below zero, what is taken from it.
fn change(terms: &ProgrammeTerms, balance: i64) -> i64 {
    let amount = &terms.amount;
    match (amount.fixed, amount.up_to, amount.down_to) {
        (Some(fixed), ..) => fixed.min(amount.cap.map_or(fixed, |cap| cap - balance)).max(0),
        (_, Some(up_to), _) => (up_to - balance).max(0),
        (.., Some(down_to)) => (down_to - balance).min(0),
        _ => 0,
    }
}

impl Paid {
    /// Whether amounts depend on what cards hold.
    fn goes_by_balances(&self) -> bool {
        self.terms.amount.fixed.is_none() || self.terms.amount.cap.is_some()
    }

    fn is_done(item: &RunItem) -> bool {
        item.outcome == Some(RunOutcome::Done)
    }

    /// Each item is what the rule gives to the balance that was seen, and no person is there twice.
    fn goes_by_its_rule(&self, people: &BTreeSet<Uuid>, wrong: &impl Fn(String)) {
        let cards: Vec<Uuid> = self.items.iter().filter_map(|item| item.id_card).collect();
        let distinct: BTreeSet<Uuid> = cards.iter().copied().collect();
        if distinct.len() != self.items.len() || !distinct.is_subset(people) {
            wrong(format!("{} items for {} of {} people", self.items.len(), distinct.len(), people.len()));
        }
        if !self.goes_by_balances() && distinct != *people {
            wrong(format!("{} of {} people are in it", distinct.len(), people.len()));
        }
        if !self.items.is_sorted_by_key(|item| item.custom_id.as_deref()) {
            wrong("its items are not in the order of people".to_owned());
        }
        for item in &self.items {
            let seen = item.balance_seen.unwrap_or_default();
            let expected = change(&self.terms, seen).abs();
            if item.amount != Some(expected) || expected == 0 || item.outcome.is_none() {
                wrong(format!("{item:?} should be {expected}"));
            }
        }
    }

    /// What the balance and the bank allow has happened.
    fn is_complete(&self, wrong: &impl Fn(String)) {
        let is_top_up = self.run.kind == RunKind::TopUp;
        let needed: i64 = self.items.iter().filter_map(|item| item.amount).sum();
        let is_whole = self.terms.on_shortage == OnShortage::Nothing && is_top_up;
        let nobody = is_whole && needed > self.run.available;
        let mut left = self.run.available;
        for item in &self.items {
            let amount = item.amount.unwrap_or_default();
            let is_covered = !is_top_up || !nobody && amount <= left;
            if is_covered && is_top_up {
                left -= amount;
            }
            let reason = item.reason.as_deref().unwrap_or_default();
            let is_right = match (is_covered, Self::is_done(item)) {
                // The bank refuses amounts that end in 13, and what is spent cannot be taken back.
                (true, true) => amount % 100 != 13,
                (true, false) => reason == BY_BANK && amount % 100 == 13 || reason == EMPTY && !is_top_up,
                (false, is_done) => !is_done && reason == SHORT,
            };
            if !is_right {
                wrong(format!("covered: {is_covered}, but {item:?}"));
            }
        }
        let done = self.items.iter().filter(|item| Self::is_done(item)).count();
        let state = match done {
            _ if done == self.items.len() => RunState::Success,
            0 => RunState::Decline,
            _ => RunState::PartSuccess,
        };
        if self.run.state != state {
            wrong(format!("{done} of {} items are done", self.items.len()));
        }
    }
}

/// A card by the bank's ledger.
struct CardHistory {
    /// What moved beside payments and what an order brought, in its order; below zero what was taken.
    moved: Vec<i64>,
    /// The balances before the first of these, after it, and so on.
    balances: Vec<Vec<i64>>,
}

impl CardHistory {
    /// `first`: what the order brought.
    fn read(bank: &Simulator, card: MainCard, first: i64) -> anyhow::Result<Self> {
        let (mut balance, mut moved, mut balances) = (first, Vec::new(), vec![vec![first]]);
        let skipped = usize::from(first > 0);
        for transaction in transactions(bank, card.number)?.into_iter().skip(skipped) {
            let is_payment = transaction.kind == TransactionType::Payment;
            let is_out = is_payment || transaction.kind == TransactionType::Reversal;
            let amount = transaction.amount.get();
            let signed = if is_out { -amount } else { amount };
            balance += signed;
            if is_payment && let Some(last) = balances.last_mut() {
                last.push(balance);
            } else {
                moved.push(signed);
                balances.push(vec![balance]);
            }
        }
        Ok(Self { moved, balances })
    }
}

/// Each card got what the items say, once; balances were seen as they were.
fn cards(bank: &Simulator, account: &Account<'_>, all: &[Paid], journal: &Journal) -> anyhow::Result<()> {
    let (name, cards) = (&account.partner.name, account.partner.book().cards.clone());
    let issued: BTreeMap<String, i64> =
        account.requests.iter().flat_map(|request| request.issued.iter().cloned()).collect();
    for card in cards {
        let first = issued.get(&card.number.to_string()).copied().unwrap_or_default();
        let CardHistory { moved, balances } = CardHistory::read(bank, card, first)?;
        let (mut expected, mut seen) = (Vec::new(), Vec::new());
        for paid in all {
            let item = paid.items.iter().find(|item| item.id_card == Some(card.id));
            seen.push((paid, expected.len(), item));
            if let Some(item) = item.filter(|item| Paid::is_done(item)) {
                let amount = item.amount.unwrap_or_default();
                expected.push(if paid.run.kind == RunKind::TopUp { amount } else { -amount });
            }
        }
        journal.must(sorted(&expected) == sorted(&moved), || {
            format!("{name}: card {} moved {moved:?}, its programmes say {expected:?}", card.number)
        });
        if expected != moved {
            // A run that was overtaken.
            continue;
        }
        seen.retain(|(paid, ..)| paid.is_alone && paid.goes_by_balances());
        for (paid, place, item) in seen {
            let was = balances.get(place).map(Vec::as_slice).unwrap_or_default();
            let is_right = match item {
                Some(item) => item.balance_seen.is_some_and(|seen| was.contains(&seen)),
                None => was.iter().any(|balance| change(&paid.terms, *balance) == 0),
            };
            journal.must(is_right, || {
                let (id, period, number) = (paid.run.id_run, &paid.run.period, card.number);
                format!("{name}: run {id} of {period:?}: card {number} held {was:?}, the item is {item:?}")
            });
        }
    }
    Ok(())
}

fn sorted(amounts: &[i64]) -> Vec<i64> {
    let mut sorted = amounts.to_vec();
    sorted.sort_unstable();
    sorted
}

/// The report of each programme has what its runs gave.
async fn reports(client: &Client, paydays: &Paydays, all: &[Paid], journal: &Journal) -> anyhow::Result<()> {
    let [_, month] = months(client).await?;
    for programme in &paydays.programmes {
        let id = programme.id_programme;
        let filter = ReportFilter { id_programme: Some(id), ..ReportFilter::default() };
        let report = client.statements().report(&month.text(), &filter).await?;
        let own = all.iter().filter(|paid| paid.run.id_programme == Some(id));
        let own = own.filter(|paid| paid.run.kind == RunKind::TopUp);
        let done = own.flat_map(|paid| &paid.items).filter(|item| Paid::is_done(item));
        let given: i64 = done.filter_map(|item| item.amount).sum();
        journal.must(report.totals.given == given, || {
            let name = &programme.terms.name;
            format!("{name}: its runs gave {given}, the report has {:?}", report.totals)
        });
    }
    Ok(())
}
