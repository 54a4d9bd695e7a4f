//! Makes the run of a period, and tries one again that the balance did not cover.

use kopeck_domain::Kopecks;
use kopeck_domain::event::EventData;
use kopeck_domain::ids::{CardId, PartnerId, RunId};
use kopeck_domain::money::AmountOverflow;
use kopeck_domain::programme::{
    DuePeriod, GrantEffect, Period, PeriodPlan, Programme, ProgrammeDue, ProgrammeState, Terms,
};
use kopeck_domain::replenishment::TopUpRefusal;
use kopeck_domain::request::TransitionError;
use kopeck_domain::run::{NewRun, Outcome, Run, RunItem, RunProgramme, RunState, RunTotals};
use kopeck_port_store::{Rule, StoreError, Subject, UnitOfWork};
use time::Duration;

use super::payees::{self, Payee};
use crate::runs::execution::begin_at_once;
use crate::runs::{Targets, claims, digest_of, obstacle, targets};
use crate::{Env, events, money};

/// Why an item gets nothing though its card could have it.
const SHORT: &str = TopUpRefusal::NotEnoughBalance.text();

/// What a period comes to.
struct PeriodItems {
    items: Vec<RunItem>,
    totals: RunTotals,
    /// What is missing; zero if nothing is.
    short: Kopecks,
    /// Their cards.
    targets: Targets,
}

/// The items of a period's run, by the people, cards and balances of now. What cannot happen is decided at once: a card that
/// cannot have it, and what the balance does not cover.
fn items(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    partner: PartnerId,
    terms: &Terms,
    period: Period,
    payees: Vec<Payee>,
) -> Result<PeriodItems, StoreError> {
    let available = unit.ledger().sheet(partner)?.ok_or_else(money::no_accounts)?.balances.available;
    let cards: Vec<CardId> = payees.iter().map(|payee| payee.found.view.card.id()).collect();
    let (targets, kind, today) = (targets(unit, partner, &cards)?, payees::kind(terms), env.today());
    let obstacles: Vec<Option<&'static str>> = payees
        .iter()
        .map(|payee| {
            let claims = claims(&targets, payee.found.view.card.id());
            obstacle(kind, &payee.found, claims, today).map(|(_, reason)| reason)
        })
        .collect();
    let planned = planned(&payees, &obstacles, terms, period, available).map_err(payees::overflow)?;
    Ok(PeriodItems { targets, ..planned })
}

fn planned(
    payees: &[Payee],
    obstacles: &[Option<&'static str>],
    terms: &Terms,
    period: Period,
    available: Kopecks,
) -> Result<PeriodItems, AmountOverflow> {
    let fields = terms.fields();
    let plan_of = |is_sound: bool| {
        let those = payees.iter().zip(obstacles).enumerate();
        let those = those.filter(|(_, (_, obstacle))| obstacle.is_none() == is_sound);
        let cards = those.map(|(place, (payee, _))| (place, payee.card));
        PeriodPlan::of(fields.grant, fields.pro_rata, period, cards)
    };
    let (plan, hindered) = (plan_of(true)?, plan_of(false)?);
    let mut decided: Vec<(usize, GrantEffect, Option<&'static str>)> = Vec::new();
    let mut after = available.plus(plan.taken())?;
    for ((place, effect), is_covered) in
        plan.effects().iter().zip(plan.covered(available, fields.on_shortage)?)
    {
        if let (GrantEffect::TopUp(amount), true) = (effect, is_covered) {
            after = after.minus(*amount)?;
        }
        decided.push((*place, *effect, (!is_covered).then_some(SHORT)));
    }
    for (place, effect) in hindered.effects() {
        decided.push((*place, *effect, obstacles.get(*place).copied().flatten()));
    }
    decided.sort_unstable_by_key(|(place, ..)| *place);
    let item = |(ordinal, (place, effect, refusal)): (u32, (usize, GrantEffect, Option<&'static str>))| {
        Some(item_of(ordinal, payees.get(place)?, effect, refusal))
    };
    let items: Vec<RunItem> = (0..).zip(decided).filter_map(item).collect();
    let totals = RunTotals {
        number: u32::try_from(items.len()).unwrap_or(u32::MAX),
        faulty: 0,
        amount: plan.needed().plus(plan.taken())?,
        available,
        available_after: after,
    };
    Ok(PeriodItems { items, totals, short: plan.shortage(available)?, targets: Targets::new() })
}

fn item_of(ordinal: u32, payee: &Payee, effect: GrantEffect, refusal: Option<&'static str>) -> RunItem {
    let holder = payee.found.holder.as_ref();
    RunItem {
        ordinal,
        line: ordinal + 1,
        cells: Vec::new(),
        limit: None,
        employee: holder.map(|holder| holder.id),
        custom_id: holder.map(|holder| holder.custom_id.clone()),
        card: Some(payee.found.view.card.id()),
        is_main: true,
        amount: match effect {
            GrantEffect::TopUp(amount) | GrantEffect::TakeBack(amount) => Some(amount),
            GrantEffect::None => None,
        },
        balance_seen: Some(payee.card.balance),
        fault: None,
        outcome: refusal.map(|_| Outcome::Refused),
        reason: refusal.map(str::to_owned),
    }
}

/// How the run of a period begins.
pub(super) enum Beginning {
    /// It is carried out for these.
    InTime(Vec<Payee>),
    /// It is too late: the run tells so, and does nothing.
    TooLate,
}

/// Makes the run of a period, and returns the programme that has it. The partner hears before it if the balance is short, unless it
/// has on that day.
pub(super) fn make(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    partner: PartnerId,
    programme: Programme,
    due: DuePeriod,
    beginning: Beginning,
) -> Result<Programme, StoreError> {
    let terms = programme.terms();
    let (kind, now) = (payees::kind(terms), env.now());
    let reference = terms.fields().reference.as_ref().and_then(|template| template.of(due.period));
    let taken = match &reference {
        Some(reference) => unit.runs().by_reference(partner, kind, reference)?,
        None => None,
    };
    let is_too_late = matches!(beginning, Beginning::TooLate);
    // With the items the people are done with: there may be very many.
    let PeriodItems { items, totals, short, targets } = match (beginning, taken) {
        (Beginning::InTime(payees), None) => items(unit, env, partner, terms, due.period, payees)?,
        (Beginning::InTime(_), Some(_)) | (Beginning::TooLate, _) => {
            let available = unit.ledger().sheet(partner)?.ok_or_else(money::no_accounts)?.balances.available;
            let totals = RunTotals { available, available_after: available, ..RunTotals::default() };
            PeriodItems { items: Vec::new(), totals, short: Kopecks::ZERO, targets: Targets::new() }
        }
    };
    let digest = digest_of(kind, Some(due.at), false, &items);
    let id = RunId::new(env.ids.next_id());
    let new = NewRun { id, kind, reference, at: Some(due.at), creates_categories: false, totals, digest };
    let origin =
        RunProgramme { id: programme.id(), period: due.period, terms: terms.clone(), retry_at: None };
    let run = Run::of_programme(new, origin, now);
    let run = match taken {
        _ if is_too_late => run.miss(now),
        Some(other) => run.reject(format!("the run {other} has the reference"), now),
        None => Ok(run),
    };
    let run = run.map_err(unexpected)?;
    match unit.runs().insert(partner, &run, &items) {
        // A concurrent request has taken the reference: the next look finds it.
        Err(StoreError::Conflict(Rule::RunReference)) => return Err(StoreError::Busy),
        inserted => inserted?,
    }
    let has_heard = programme.notice().is_some_and(|notice| notice.told_short);
    if short.is_positive() && !has_heard {
        let due = ProgrammeDue {
            programme: programme.id(),
            period: due.period,
            at: due.at,
            needed: totals.amount,
            available: totals.available,
            short,
        };
        events::append(unit, env, partner, [EventData::ProgrammeDue(due)])?;
    }
    start(unit, env, partner, &run, &items, &targets)?;
    Ok(programme.paid(due.period))
}

/// Tells the state of a run; makes the requests of one that is to be carried out, and enqueues the job that follows them.
fn start(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    partner: PartnerId,
    run: &Run,
    items: &[RunItem],
    targets: &Targets,
) -> Result<(), StoreError> {
    events::append(unit, env, partner, [EventData::RunStatus(run.status())])?;
    if run.state() != RunState::InProcess {
        return Ok(());
    }
    begin_at_once(unit, env, partner, run, items, targets)?;
    unit.jobs().enqueue(partner, Subject::Run(run.id()), Duration::ZERO)
}

/// Tries a run again for these, by the terms that it was made by and the balances of now. It is given up if its programme is no
/// longer in force.
pub(super) fn retry(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    partner: PartnerId,
    run: Run,
    payees: Vec<Payee>,
) -> Result<(), StoreError> {
    let Some(origin) = run.programme().cloned() else { return Ok(()) };
    let programme = unit.programmes().get(partner, origin.id)?;
    if programme.is_none_or(|programme| programme.state() != ProgrammeState::Active) {
        return unit.runs().set_state(partner, &run.with_retry(None));
    }
    let PeriodItems { items, totals, targets, .. } =
        items(unit, env, partner, &origin.terms, origin.period, payees)?;
    let digest = digest_of(run.kind(), run.at(), false, &items);
    let run = run.retry(totals, digest, env.now()).map_err(unexpected)?;
    unit.runs().renew(partner, &run, &items)?;
    start(unit, env, partner, &run, &items, &targets)
}

fn unexpected(error: TransitionError<RunState>) -> StoreError {
    StoreError::Corrupt(format!("runs.state: {error}"))
}
