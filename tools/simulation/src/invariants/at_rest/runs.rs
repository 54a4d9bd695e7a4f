//! A run moves what its preview showed, or less of it, once; and its items tell what the requests say.

use std::collections::{BTreeMap, BTreeSet};

use kopeck_domain::Kopecks;
use kopeck_domain::card_batch::{BatchItem, BatchKind, ItemState};
use kopeck_domain::ids::CardId;
use kopeck_domain::run::{Outcome, Run, RunItem, RunKind, RunState};
use kopeck_port_store::RunRequest;

use super::holdings::Holdings;
use crate::actors::{Client, ClientView, Command};
use crate::invariants::paydays::id_of;
use crate::store::UNTOUCHED;
use crate::violation::Violation;
use crate::world::World;

const RULE: &str = "a run moves what was shown or less of it, once";

/// Checks that of runs between whose preview and beginning nothing came exactly the items without a fault became a request, with
/// exactly the amounts that were shown.
pub(super) fn previews_came_true(world: &World, has: &Holdings) -> Result<(), Violation> {
    let untouched = world.stored.answers(UNTOUCHED).map_err(|error| Violation::unreadable(&error))?;
    for (run, items, requests) in &has.runs {
        if !untouched.contains(&run.id().uuid().simple().to_string()) {
            continue;
        }
        let shown: Vec<(Option<CardId>, Option<Kopecks>)> =
            items.iter().filter(|item| item.fault.is_none()).map(|item| (item.card, item.amount)).collect();
        let mut asked = Vec::new();
        for request in requests {
            match request {
                RunRequest::Replenishment(id) => {
                    let batch = has.top_ups.iter().filter(|(batch, _)| batch.id() == *id);
                    asked.extend(
                        batch.flat_map(|(_, cards)| cards).map(|card| (Some(card.card), Some(card.terms))),
                    );
                }
                RunRequest::Withdrawal(id) => {
                    let batch = has.withdrawals.iter().filter(|(batch, _)| batch.id() == *id);
                    asked
                        .extend(batch.flat_map(|(_, cards)| cards).map(|card| (Some(card.card), card.terms)));
                }
                RunRequest::Order(_) | RunRequest::LimitChange(_) => {}
            }
        }
        if shown != asked {
            let what = format!("run {}: shown {shown:?}, asked for {asked:?}", run.id());
            return Err(Violation { rule: "over unchanged data a preview comes true", what });
        }
    }
    Ok(())
}

/// The identifiers of the requests that runs became.
pub(super) fn requests(has: &Holdings) -> BTreeSet<String> {
    has.runs.iter().flat_map(|(.., requests)| requests.iter().map(|request| id_of(*request))).collect()
}

/// Checks every run against its requests, and what the partner was answered about it.
pub(super) fn check(client: &Client, has: &Holdings) -> Result<(), Violation> {
    let (mut references, mut made) = (BTreeSet::new(), BTreeSet::new());
    for (run, items, requests) in &has.runs {
        let wrong = |what: String| Violation { rule: RULE, what: format!("run {}: {what}", run.id()) };
        let is_live = !matches!(run.state(), RunState::Rejected | RunState::Expired);
        if is_live
            && let Some(reference) = run.reference()
            && !references.insert((run.kind(), reference.as_str().to_owned()))
        {
            return Err(wrong("another one has its reference".to_owned()));
        }
        if requests.iter().any(|request| !made.insert(id_of(*request))) {
            return Err(wrong("another one has its request".to_owned()));
        }
        let is_done = matches!(run.state(), RunState::Success | RunState::PartSuccess | RunState::Decline);
        if run.state() == RunState::InProcess || requests.len() > usize::from(is_done) {
            return Err(wrong(format!("{} with {} requests", run.state(), requests.len())));
        }
        decided(run, items).map_err(wrong)?;
        for request in requests {
            let moved = match request {
                RunRequest::Replenishment(id) => {
                    let batch = has.top_ups.iter().find(|(batch, _)| batch.id() == *id);
                    batch.map(|(_, cards)| {
                        moved(cards, |card| (card.state == ItemState::Done).then(|| card.amount()))
                    })
                }
                RunRequest::Withdrawal(id) => {
                    let batch = has.withdrawals.iter().find(|(batch, _)| batch.id() == *id);
                    batch.map(|(_, cards)| moved(cards, |card| card.state.returned()))
                }
                RunRequest::Order(_) | RunRequest::LimitChange(_) => None,
            };
            let moved = moved.ok_or_else(|| wrong("its request is not there".to_owned()))?;
            as_shown(run, items, &moved).map_err(wrong)?;
        }
    }
    answers_are_true(client, has)
}

/// What was tried again had moved nothing before.
pub(super) fn earlier_tries_moved_nothing(
    has: &Holdings,
    dropped: &BTreeSet<String>,
) -> Result<(), Violation> {
    let of_them = has.top_ups.iter().filter(|(batch, _)| dropped.contains(&batch.id().to_string()));
    match of_them.into_iter().find(|(_, cards)| cards.iter().any(|card| card.state == ItemState::Done)) {
        Some((batch, _)) => {
            let what = format!("{} was carried out, and tried again", batch.id());
            Err(Violation { rule: RULE, what })
        }
        None => Ok(()),
    }
}

/// What each card of a request got or gave.
fn moved<K: BatchKind>(
    cards: &[BatchItem<K>],
    amount: impl Fn(&BatchItem<K>) -> Option<Kopecks>,
) -> BTreeMap<CardId, Kopecks> {
    cards.iter().filter_map(|card| Some((card.card, amount(card)?))).collect()
}

/// A run that ended has an outcome for each item, and one that never began has none.
fn decided(run: &Run, items: &[RunItem]) -> Result<(), String> {
    let count = |wanted: Outcome| items.iter().filter(|item| item.outcome == Some(wanted)).count();
    let faulty = items.iter().filter(|item| item.fault.is_some()).count();
    let (done, missed) = (count(Outcome::Done), items.len() - faulty - count(Outcome::Done));
    let expected = match run.state() {
        // A programme may have had nobody to pay.
        RunState::Success if run.programme().is_some() && items.is_empty() => true,
        RunState::Success => done > 0 && missed == 0,
        RunState::PartSuccess => done > 0 && missed > 0,
        RunState::Decline => done == 0,
        _ if items.iter().all(|item| item.outcome.is_none()) => return Ok(()),
        _ => false,
    };
    let is_told = items.iter().all(|item| {
        let has_reason = item.reason.is_some();
        match item.outcome {
            Some(Outcome::Done) => item.fault.is_none(),
            Some(Outcome::Refused) => item.fault.is_none() && has_reason,
            Some(Outcome::Skipped) => has_reason,
            None => false,
        }
    });
    if expected && is_told {
        Ok(())
    } else {
        Err(format!("{} with {done} done, {missed} missed", run.state()))
    }
}

/// The cards got what the items that are done say, none got more than was shown, and no card that was not shown got any.
fn as_shown(run: &Run, items: &[RunItem], moved: &BTreeMap<CardId, Kopecks>) -> Result<(), String> {
    let done = items.iter().filter(|item| item.outcome == Some(Outcome::Done));
    let mut shown: Vec<Kopecks> = done.filter_map(|item| item.amount).collect();
    let mut given: Vec<Kopecks> = moved.values().copied().collect();
    shown.sort_unstable();
    given.sort_unstable();
    // All of a card may have become less of it. What a card is given is not cut.
    let is_exact = run.kind() == RunKind::TopUp;
    let is_as_shown = |(given, shown): (&Kopecks, &Kopecks)| given == shown || !is_exact && given < shown;
    let is_less = given.len() == shown.len() && given.iter().zip(&shown).all(is_as_shown);
    let sum: i64 = given.iter().map(|amount| amount.get()).sum();
    if is_less && sum <= run.totals().amount.get() {
        return Ok(());
    }
    Err(format!("shown {shown:?}, moved {given:?}, {} in all", run.totals().amount))
}

/// What was accepted is there: a draft once, a submission carried out, a cancel rejected.
fn answers_are_true(client: &Client, has: &Holdings) -> Result<(), Violation> {
    let mut drafts = BTreeSet::new();
    for call in &client.calls {
        let ClientView::Answered(answer) = &call.known else { continue };
        let made = String::from_utf8_lossy(&answer.body).into_owned();
        let run = has.runs.iter().map(|(run, ..)| run).find(|run| run.id().to_string() == made);
        let state = run.map(|run| run.state());
        let holds = match &call.command {
            Command::DraftRun(input) => {
                let is_it = run.is_some_and(|run| run.totals().number as usize == input.rows.len());
                is_it && drafts.insert(made.clone())
            }
            Command::SubmitRun { .. } => {
                matches!(state, Some(RunState::Success | RunState::PartSuccess | RunState::Decline))
            }
            Command::CancelRun(_) => state == Some(RunState::Rejected),
            _ => true,
        };
        if !holds {
            return Err(Violation { rule: RULE, what: format!("call {}: {made} is {state:?}", call.key) });
        }
    }
    let mut own = has.runs.iter().filter(|(run, ..)| run.programme().is_none());
    match own.find(|(run, ..)| !drafts.contains(&run.id().to_string())) {
        Some((run, ..)) => Err(Violation { rule: RULE, what: format!("run {} is in no response", run.id()) }),
        None => Ok(()),
    }
}
