//! Programmes: rules that make a run for each period. [`ProgrammeTimer`] makes the runs when they are due.
//!
//! A rule moves no money by itself: its run becomes ordinary requests, as any other run does.

mod due;
mod forecast;
mod making;
mod payees;

pub use due::ProgrammeTimer;
pub use forecast::{FORECAST_DAYS, NOT_YET, ProgrammeForecast, forecast, preview};

use kopeck_domain::Kopecks;
use kopeck_domain::access::{Authority, Forbidden, Scope};
use kopeck_domain::approval;
use kopeck_domain::card_ref::CardRef;
use kopeck_domain::ids::{PartnerId, ProgrammeId};
use kopeck_domain::programme::{
    Audience, Grant, GrantEffect, MAX_PROGRAMMES, Programme, ProgrammeStateError, ProgrammeStep, Share,
    Terms, TermsFault, Workdays,
};
use kopeck_port_store::page::{Listed, Page};
use kopeck_port_store::{RunFilter, StoreError, UnitOfWork};
use time::{Duration, OffsetDateTime};

use crate::runs::{self, RunView};
use crate::{Env, money};

/// The longest pause between two looks at a programme, so that none misses a change of the calendar.
const LONGEST_PAUSE: Duration = Duration::DAY;

/// A programme, and when it makes its next run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgrammeView {
    /// The programme.
    pub programme: Programme,
    /// When it makes its next run; `None` if it makes none.
    pub next_at: Option<OffsetDateTime>,
}

/// Why nothing was done with a programme.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProgrammeError {
    /// The partner has no such programme.
    #[error("no such programme")]
    NotFound,
    /// The partner has as many as it may have.
    #[error("there can be {MAX_PROGRAMMES} programmes at most")]
    TooMany,
    /// The actor lacks a scope, or may not approve.
    #[error("forbidden")]
    Forbidden,
    /// It is not in a state for this.
    #[error("the programme is not in a state for this")]
    State,
    /// The terms name what is not there.
    #[error("{}: {}", .0.field, .0.detail)]
    Terms(TermsFault),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<ProgrammeStateError> for ProgrammeError {
    fn from(error: ProgrammeStateError) -> Self {
        match error {
            ProgrammeStateError::State => Self::State,
            ProgrammeStateError::Forbidden => Self::Forbidden,
        }
    }
}

impl From<Forbidden> for ProgrammeError {
    fn from(_: Forbidden) -> Self {
        Self::Forbidden
    }
}

/// All programmes of a partner.
fn all(unit: &mut dyn UnitOfWork, partner: PartnerId) -> Result<Vec<Programme>, StoreError> {
    let most = u32::try_from(MAX_PROGRAMMES).unwrap_or(u32::MAX);
    let page = Page::new(1, most).map_err(|invalid| StoreError::Failed(invalid.detail().to_owned()))?;
    Ok(unit.programmes().list(partner, page)?.items)
}

fn found(
    unit: &mut dyn UnitOfWork,
    partner: PartnerId,
    id: ProgrammeId,
) -> Result<Programme, ProgrammeError> {
    unit.programmes().get(partner, id)?.ok_or(ProgrammeError::NotFound)
}

fn view(unit: &mut dyn UnitOfWork, env: &Env, programme: Programme) -> Result<ProgrammeView, StoreError> {
    let workdays = unit.programmes().workdays()?;
    let next_at = programme.next(&workdays, env.settings.zone).map(|due| due.at);
    Ok(ProgrammeView { programme, next_at })
}

/// When a programme is looked at without a caller.
fn look_at(programme: &Programme, env: &Env, workdays: &Workdays) -> Option<OffsetDateTime> {
    let now = env.now();
    match programme.step(workdays, env.settings.zone, now) {
        ProgrammeStep::Wait(at) => at.map(|at| at.min(now + LONGEST_PAUSE)),
        ProgrammeStep::Pay(due) => Some(due.at),
        ProgrammeStep::Expire | ProgrammeStep::End | ProgrammeStep::Notice(_) | ProgrammeStep::Miss(_) => {
            Some(now)
        }
    }
}

fn save(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    partner: PartnerId,
    programme: Programme,
) -> Result<ProgrammeView, StoreError> {
    let workdays = unit.programmes().workdays()?;
    unit.programmes().update(partner, &programme, look_at(&programme, env, &workdays))?;
    view(unit, env, programme)
}

/// Creates a programme of `by`. It waits for an approval if a period of it can move more than the partner's threshold.
///
/// # Errors
/// [`ProgrammeError`].
pub fn create(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    partner: PartnerId,
    by: &Authority,
    terms: &Terms,
) -> Result<ProgrammeView, ProgrammeError> {
    by.require(scope(terms))?;
    let others = all(unit, partner)?;
    check(unit, partner, terms, None, &others)?;
    if others.len() >= MAX_PROGRAMMES {
        return Err(ProgrammeError::TooMany);
    }
    let needs_approval = needs_approval(unit, env, partner, terms)?;
    let id = ProgrammeId::new(env.ids.next_id());
    let programme = Programme::new(id, terms.clone(), by.actor.clone(), needs_approval, env.now());
    let workdays = unit.programmes().workdays()?;
    unit.programmes().insert(partner, &programme, look_at(&programme, env, &workdays))?;
    Ok(view(unit, env, programme)?)
}

/// Gives a programme other terms, for the periods that have no run yet.
///
/// # Errors
/// [`ProgrammeError`].
pub fn change(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    partner: PartnerId,
    by: &Authority,
    id: ProgrammeId,
    terms: &Terms,
) -> Result<ProgrammeView, ProgrammeError> {
    by.require(scope(terms))?;
    let programme = found(unit, partner, id)?;
    let others = all(unit, partner)?;
    check(unit, partner, terms, Some(id), &others)?;
    let needs_approval = needs_approval(unit, env, partner, terms)?;
    let programme = programme.change(terms.clone(), by.actor.clone(), needs_approval, env.now());
    Ok(save(unit, env, partner, programme)?)
}

/// The scope of what a programme's runs become.
const fn scope(terms: &Terms) -> Scope {
    payees::kind(terms).scope()
}

/// Whether the terms name what is there, and whether their runs have references of their own.
fn check(
    unit: &mut dyn UnitOfWork,
    partner: PartnerId,
    terms: &Terms,
    own: Option<ProgrammeId>,
    others: &[Programme],
) -> Result<(), ProgrammeError> {
    let unknown =
        |what: &str| ProgrammeError::Terms(TermsFault::new("for", format!("names {what} that is not there")));
    match &terms.fields().audience {
        Audience::All => {}
        Audience::Categories(ids) => {
            for id in ids {
                unit.categories().get(partner, *id)?.ok_or_else(|| unknown("a category"))?;
            }
        }
        Audience::Employees(ids) => {
            let references: Vec<CardRef> = ids.iter().map(|id| CardRef::Employee(*id)).collect();
            if unit.cards().by_references(partner, &references)?.iter().any(Option::is_none) {
                return Err(unknown("an employee"));
            }
        }
    }
    let is_same = |other: &&Programme| {
        Some(other.id()) != own && other.terms().fields().reference == terms.fields().reference
    };
    if terms.fields().reference.is_some()
        && let Some(other) = others.iter().find(is_same)
    {
        let detail = format!("is that of the programme {}", other.id());
        return Err(ProgrammeError::Terms(TermsFault::new("reference", detail)));
    }
    Ok(())
}

/// Whether a period can move more than the partner's threshold: by today's people and cards, as if the cards were empty.
fn needs_approval(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    partner: PartnerId,
    terms: &Terms,
) -> Result<bool, StoreError> {
    let above = unit.ledger().sheet(partner)?.ok_or_else(money::no_accounts)?.approval_above;
    if !above.is_positive() {
        return Ok(false);
    }
    let grant = terms.fields().grant;
    let effect = |payee: &payees::Payee| {
        let balance = if matches!(grant, Grant::DownTo(_)) { payee.card.balance } else { Kopecks::ZERO };
        Ok(match grant.effect(balance, Share::WHOLE)? {
            GrantEffect::TopUp(amount) | GrantEffect::TakeBack(amount) => amount,
            GrantEffect::None => Kopecks::ZERO,
        })
    };
    let payees = payees::find(unit, env, partner, terms)?;
    let amounts: Result<Vec<Kopecks>, _> = payees.iter().map(effect).collect();
    let most = amounts.and_then(Kopecks::sum).map_err(payees::overflow)?;
    Ok(approval::is_needed(most, above))
}

/// The programme with this identifier.
///
/// # Errors
/// [`ProgrammeError::NotFound`], or the store's failure.
pub fn get(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    partner: PartnerId,
    id: ProgrammeId,
) -> Result<ProgrammeView, ProgrammeError> {
    let programme = found(unit, partner, id)?;
    Ok(view(unit, env, programme)?)
}

/// A page of the partner's programmes, in the order of creation.
///
/// # Errors
/// [`StoreError`] if the store fails.
pub fn list(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    partner: PartnerId,
    page: Page,
) -> Result<Listed<ProgrammeView>, StoreError> {
    let Listed { items, total } = unit.programmes().list(partner, page)?;
    let items = items.into_iter().map(|programme| view(unit, env, programme)).collect::<Result<_, _>>()?;
    Ok(Listed { items, total })
}

/// A page of the runs of a programme, newest first.
///
/// # Errors
/// [`ProgrammeError::NotFound`], or the store's failure.
pub fn runs(
    unit: &mut dyn UnitOfWork,
    partner: PartnerId,
    id: ProgrammeId,
    page: Page,
) -> Result<Listed<RunView>, ProgrammeError> {
    found(unit, partner, id)?;
    let filter = RunFilter { programme: Some(id), ..RunFilter::default() };
    Ok(runs::list(unit, partner, &filter, page)?)
}

/// Deletes a programme; returns it as it was. Its runs stay, and none of them is tried again.
///
/// # Errors
/// [`ProgrammeError::NotFound`], or the store's failure.
pub fn delete(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    partner: PartnerId,
    id: ProgrammeId,
) -> Result<ProgrammeView, ProgrammeError> {
    let programme = found(unit, partner, id)?.end();
    unit.programmes().delete(partner, id)?;
    Ok(view(unit, env, programme)?)
}

/// Pauses a programme: it makes no run until it is resumed.
///
/// # Errors
/// [`ProgrammeError`].
pub fn pause(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    partner: PartnerId,
    id: ProgrammeId,
) -> Result<ProgrammeView, ProgrammeError> {
    let programme = found(unit, partner, id)?.pause()?;
    Ok(save(unit, env, partner, programme)?)
}

/// Resumes a programme. What was due meanwhile is not made up for.
///
/// # Errors
/// [`ProgrammeError`].
pub fn resume(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    partner: PartnerId,
    id: ProgrammeId,
) -> Result<ProgrammeView, ProgrammeError> {
    let programme = found(unit, partner, id)?.resume(env.now())?;
    Ok(save(unit, env, partner, programme)?)
}

/// Approves a programme, or the change of it that waits, for `by`.
///
/// # Errors
/// [`ProgrammeError`].
pub fn approve(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    partner: PartnerId,
    by: &Authority,
    id: ProgrammeId,
) -> Result<ProgrammeView, ProgrammeError> {
    let programme = found(unit, partner, id)?.approve(by, env.now())?;
    Ok(save(unit, env, partner, programme)?)
}

/// Refuses a programme, or the change of it that waits, for `by`.
///
/// # Errors
/// [`ProgrammeError`].
pub fn refuse(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    partner: PartnerId,
    by: &Authority,
    id: ProgrammeId,
) -> Result<ProgrammeView, ProgrammeError> {
    let programme = found(unit, partner, id)?.refuse(by, env.now())?;
    Ok(save(unit, env, partner, programme)?)
}

#[cfg(test)]
mod tests;
