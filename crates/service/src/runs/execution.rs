//! The worker's part of a run: it makes the requests in the unit of work that notes them, so that a crash makes none twice,
//! and follows them until each has ended. It calls no bank.

use kopeck_domain::Kopecks;
use kopeck_domain::card::CardStatus;
use kopeck_domain::card_ref::CardRef;
use kopeck_domain::event::EventData;
use kopeck_domain::ids::{CardId, PartnerId, RunId};
use kopeck_domain::limit::Limit;
use kopeck_domain::limit_change::LimitChanges;
use kopeck_domain::order::{OrderKind, OrderLine};
use kopeck_domain::replenishment::TopUps;
use kopeck_domain::run::row::{Cells, Meaning};
use kopeck_domain::run::{Outcome, Run, RunItem, RunKind, RunState};
use kopeck_domain::withdrawal::{Withdrawals, asked};
use kopeck_port_store::{
    BatchTarget, Claim, Reschedule, Rule, RunDecision, RunRequest, StoreError, UnitOfWork,
};
use time::Duration;

use super::{Targets, employees, ending, following, preview};
use crate::card_refs::{self, CardRefError, FoundCard};
use crate::orders::PlaceOrderError;
use crate::{Env, card_batches, events, money, orders};

/// The pauses between two looks at the requests of a run.
const SHORTEST_PAUSE: Duration = Duration::milliseconds(100);
const LONGEST_PAUSE: Duration = Duration::seconds(5);

/// Takes the run a step further, and ends or reschedules its job.
pub(crate) fn advance(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    claim: &Claim,
    id: RunId,
) -> Result<(), StoreError> {
    let partner = claim.partner;
    let run = unit.runs().get(partner, id)?;
    let run = run.ok_or_else(|| StoreError::Corrupt("jobs: there is no such run".to_owned()))?;
    if run.state() != RunState::InProcess {
        return unit.jobs().complete(claim);
    }
    let pause = match run.kind() {
        RunKind::Employees => employees::advance(unit, env, partner, &run)?.then_some(Duration::ZERO),
        RunKind::TopUp | RunKind::Withdraw | RunKind::Limit | RunKind::VirtualOrder => {
            let requests = unit.runs().requests(partner, id)?;
            let is_open = if requests.is_empty() {
                begin(unit, env, partner, &run)?
            } else {
                following::advance(unit, partner, &run, &requests)?
            };
            let age: Duration = env.now() - run.state_since();
            is_open.then(|| (age / 8_i32).clamp(SHORTEST_PAUSE, LONGEST_PAUSE))
        }
    };
    match pause {
        Some(delay) => unit.jobs().reschedule(claim, Reschedule { delay, failures: 0, may_have_sent: false }),
        None => {
            conclude(unit, env, partner, run)?;
            unit.jobs().complete(claim)
        }
    }
}

/// Ends a run whose items are all decided.
fn conclude(unit: &mut dyn UnitOfWork, env: &Env, partner: PartnerId, run: Run) -> Result<(), StoreError> {
    let outcomes = unit.runs().outcomes(partner, run.id())?;
    let run = run
        .conclude(outcomes.done, outcomes.missed, env.now())
        .map_err(|error| StoreError::Corrupt(format!("runs.state: {error}")))?;
    let run = ending::after_decline(unit, env, partner, run)?;
    unit.runs().set_state(partner, &run)?;
    ending::wake_leaver(unit, env, partner, &run)?;
    events::append(unit, env, partner, [EventData::RunStatus(run.status())])
}

/// Makes the requests of a run, and decides the items that become none. Whether there is a request to follow.
fn begin(unit: &mut dyn UnitOfWork, env: &Env, partner: PartnerId, run: &Run) -> Result<bool, StoreError> {
    let items = unit.runs().open_items(partner, run.id(), u32::MAX)?;
    let (sound, mut decisions) = skip_faulty(items);
    let requests = if run.kind() == RunKind::VirtualOrder {
        place_order(unit, env, partner, run, &sound, &mut decisions)?
    } else {
        let cards = present_cards(unit, env, partner, run, &sound, &mut decisions)?;
        make_batches(unit, env, partner, run, &cards)?
    };
    unit.runs().decide(partner, run.id(), &decisions)?;
    unit.runs().add_requests(partner, run.id(), &requests)?;
    Ok(!requests.is_empty())
}

/// The items without a fault, and the decision on the others.
pub(super) fn skip_faulty(items: Vec<RunItem>) -> (Vec<RunItem>, Vec<RunDecision>) {
    let (sound, faulty): (Vec<_>, Vec<_>) = items.into_iter().partition(|item| item.fault.is_none());
    let skipped = |item: RunItem| {
        let reason = item.fault.map(|fault| fault.detail);
        RunDecision { ordinal: item.ordinal, outcome: Outcome::Skipped, reason, employee: None }
    };
    (sound, faulty.into_iter().map(skipped).collect())
}

pub(super) fn decision(item: &RunItem, outcome: Outcome, reason: &str) -> RunDecision {
    let reason = Some(reason.to_owned());
    RunDecision { ordinal: item.ordinal, outcome, reason, employee: None }
}

/// An item with its card as it is now.
struct PresentCard<'a> {
    item: &'a RunItem,
    target: BatchTarget,
    holds: Kopecks,
}

/// Makes the requests of a programme's run in the unit of work in which its items were found.
pub(crate) fn begin_at_once(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    partner: PartnerId,
    run: &Run,
    items: &[RunItem],
    targets: &Targets,
) -> Result<(), StoreError> {
    let open = items.iter().filter(|item| item.outcome.is_none());
    let cards = open.filter_map(|item| {
        let (target, holds) = (targets.get(&item.card?)?.clone(), item.balance_seen?);
        Some(PresentCard { item, target, holds })
    });
    let requests = make_batches(unit, env, partner, run, &cards.collect::<Vec<_>>())?;
    unit.runs().add_requests(partner, run.id(), &requests)
}

/// The cards of the items as they are now; what has changed since the preview only makes less of it.
fn present_cards<'a>(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    partner: PartnerId,
    run: &Run,
    items: &'a [RunItem],
    decisions: &mut Vec<RunDecision>,
) -> Result<Vec<PresentCard<'a>>, StoreError> {
    let kind = run.kind();
    let references: Vec<CardRef> = items.iter().filter_map(|item| reference(kind, item)).collect();
    let named = items.iter().filter(|item| reference(kind, item).is_some());
    let found = card_refs::find(unit, partner, &references)?;
    let cards: Vec<CardId> = found.iter().flatten().map(|found| found.view.card.id()).collect();
    let mut targets = preview::targets(unit, partner, &cards)?;
    let (mut present, mut seen, today) = (Vec::new(), std::collections::HashSet::new(), env.today());
    for (item, found) in named.zip(found) {
        let refused = match &found {
            Err(error) => Some((Outcome::Refused, preview::no_card(error).1)),
            Ok(found) => {
                let claims = preview::claims(&targets, found.view.card.id());
                let is_second = !seen.insert(found.view.card.id());
                left_or_moved(run, item, found, is_second).or_else(|| {
                    let (_, reason) = preview::obstacle(kind, found, claims, today)?;
                    Some((Outcome::Refused, reason))
                })
            }
        };
        match (refused, found) {
            (None, Ok(found)) => {
                // No second item has the card.
                let target = targets.remove(&found.view.card.id());
                let holds = found.view.bank.balance;
                present.extend(target.map(|target| PresentCard { item, target, holds }));
            }
            (Some((outcome, reason)), _) => decisions.push(decision(item, outcome, reason)),
            (
                None,
                Err(CardRefError::UnknownCard | CardRefError::UnknownEmployee | CardRefError::NoMainCard(_)),
            ) => {}
        }
    }
    let lost = items.iter().filter(|item| reference(kind, item).is_none());
    decisions.extend(lost.map(|item| decision(item, Outcome::Refused, "there is no such employee")));
    Ok(present)
}

/// What the item leads to now: the card that it names, or whichever card is the MAIN one of its employee.
fn reference(kind: RunKind, item: &RunItem) -> Option<CardRef> {
    let named = match Cells::new(&item.cells).meaning(kind) {
        Ok(Meaning::TopUp(card, _) | Meaning::Withdraw(card, _) | Meaning::Limit(card)) => Some(card),
        _ => None,
    };
    match named {
        Some(CardRef::Id(_) | CardRef::Number(_)) => item.card.map(CardRef::Id),
        // Their values are gone with an erased employee.
        Some(CardRef::Employee(_) | CardRef::CustomId(_)) | None => item.employee.map(CardRef::Employee),
    }
}

/// Why an item is not carried out, though its card could be changed.
fn left_or_moved(
    run: &Run,
    item: &RunItem,
    found: &FoundCard,
    is_second: bool,
) -> Option<(Outcome, &'static str)> {
    let is_main = found.view.card.link().is_some_and(|link| link.status == CardStatus::Main);
    if run.kind() == RunKind::TopUp && found.holder_has_left() {
        return Some((Outcome::Skipped, "the employee has left"));
    }
    if item.is_main && !is_main {
        return Some((Outcome::Refused, "the card is no MAIN card"));
    }
    if run.goes_by_balances() && item.card != Some(found.view.card.id()) {
        return Some((Outcome::Refused, "the employee has another main card since"));
    }
    is_second.then_some((Outcome::Refused, "an earlier item has the card"))
}

fn make_batches(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    partner: PartnerId,
    run: &Run,
    cards: &[PresentCard<'_>],
) -> Result<Vec<RunRequest>, StoreError> {
    if cards.is_empty() {
        return Ok(Vec::new());
    }
    let reference = run.reference();
    match run.kind() {
        RunKind::TopUp => {
            let cards: Vec<_> =
                cards.iter().filter_map(|card| Some((&card.target, card.item.amount?))).collect();
            let sum = Kopecks::sum(cards.iter().map(|(_, amount)| *amount)).map_err(preview::overflow)?;
            let batch = card_batches::accept::<TopUps>(unit, env, partner, &cards, sum, reference);
            Ok(vec![RunRequest::Replenishment(batch.map_err(retried)?.id())])
        }
        RunKind::Withdraw => {
            let cards: Vec<_> = cards.iter().map(|card| (&card.target, withdrawn(card))).collect();
            let amounts: Vec<_> = cards.iter().map(|(_, amount)| *amount).collect();
            let asked = asked(&amounts).map_err(preview::overflow)?;
            let batch = card_batches::accept::<Withdrawals>(unit, env, partner, &cards, asked, reference);
            Ok(vec![RunRequest::Withdrawal(batch.map_err(retried)?.id())])
        }
        RunKind::Limit => {
            // 100 distinct limits at most.
            let mut by_limit: Vec<(&Limit, Vec<(&BatchTarget, ())>)> = Vec::new();
            for card in cards {
                let Some(limit) = &card.item.limit else { continue };
                match by_limit.iter_mut().find(|(known, _)| *known == limit) {
                    Some((_, cards)) => cards.push((&card.target, ())),
                    None => by_limit.push((limit, vec![(&card.target, ())])),
                }
            }
            let mut requests = Vec::new();
            for (limit, cards) in by_limit {
                let batch = card_batches::accept::<LimitChanges>(
                    unit,
                    env,
                    partner,
                    &cards,
                    limit.clone(),
                    reference,
                );
                requests.push(RunRequest::LimitChange(batch.map_err(retried)?.id()));
            }
            Ok(requests)
        }
        RunKind::VirtualOrder | RunKind::Employees => Ok(Vec::new()),
    }
}

/// All of a card is no more than the preview has shown.
fn withdrawn(card: &PresentCard<'_>) -> Option<Kopecks> {
    let takes_all =
        matches!(Cells::new(&card.item.cells).meaning(RunKind::Withdraw), Ok(Meaning::Withdraw(_, None)));
    let amount = |shown| {
        if takes_all && card.holds.is_positive() && card.holds < shown { card.holds } else { shown }
    };
    card.item.amount.map(amount)
}

/// Orders what the balance covers now.
fn place_order(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    partner: PartnerId,
    run: &Run,
    items: &[RunItem],
    decisions: &mut Vec<RunDecision>,
) -> Result<Vec<RunRequest>, StoreError> {
    let available = unit.ledger().sheet(partner)?.ok_or_else(money::no_accounts)?.balances.available;
    let (mut lines, mut cost): (Vec<OrderLine>, _) = (Vec::new(), Kopecks::ZERO);
    for item in items {
        let Ok(Meaning::Order(line)) = Cells::new(&item.cells).meaning(RunKind::VirtualOrder) else {
            return Err(StoreError::Corrupt("run_items.cells: not an item of an order".to_owned()));
        };
        let with_it = cost.plus(preview::line_cost(&line)).map_err(preview::overflow)?;
        if with_it > available {
            decisions.push(decision(item, Outcome::Refused, "not enough partner balance"));
        } else {
            cost = with_it;
            lines.push(line);
        }
    }
    if lines.is_empty() {
        return Ok(Vec::new());
    }
    match orders::place(unit, env, partner, OrderKind::Virtual, &lines, run.reference()) {
        Ok(order) => Ok(vec![RunRequest::Order(order.id())]),
        Err(PlaceOrderError::Store(error)) => Err(error),
        Err(error) => Err(StoreError::Corrupt(format!("run_items: {error}"))),
    }
}

/// A card that a concurrent request has taken: the job runs again.
fn retried(error: StoreError) -> StoreError {
    match error {
        StoreError::Conflict(Rule::CardInOneBatch) => StoreError::Busy,
        error => error,
    }
}
