//! Runs: lists of changes for many people, which are checked and shown, submitted, approved, and carried out by a worker.
//!
//! A run has no money of its own: `execution` makes ordinary requests of it by the use cases that a caller would use, in
//! the unit of work that notes them, and follows them to their end.

mod create;
mod digest;
mod due;
mod employees;
pub(crate) mod ending;
pub(crate) mod execution;
mod following;
mod preview;
mod refresh;

pub use create::{CreateRunError, InputRow, RunInput, create};
pub(crate) use digest::of as digest_of;
pub use due::RunTimer;
pub(crate) use preview::{Targets, claims, obstacle, targets};
pub use refresh::refresh;

use kopeck_domain::access::Authority;
use kopeck_domain::approval::Digest;
use kopeck_domain::event::EventData;
use kopeck_domain::ids::{PartnerId, RunId};
use kopeck_domain::run::{ApproveRunError, CancelRunError, Run, RunItem, RunState, SubmitError};
use kopeck_port_store::page::{Listed, Page};
use kopeck_port_store::{RunFilter, RunItemFilter, RunRequest, StoreError, Subject, UnitOfWork};
use time::Duration;

use crate::{Env, events, money};

/// A run with the requests that it became.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunView {
    /// The run.
    pub run: Run,
    /// Its requests, in their order.
    pub requests: Vec<RunRequest>,
}

/// Why a run was not shown.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RunError {
    /// The partner has no such run.
    #[error("no such run")]
    NotFound,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Why a run was not changed; `R` is what its rules say.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ChangeRunError<R> {
    /// The partner has no such run.
    #[error("no such run")]
    NotFound,
    /// Its rules do not allow it.
    #[error("refused")]
    Refused(R),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A run with its requests.
///
/// # Errors
/// [`RunError`].
pub fn get(unit: &mut dyn UnitOfWork, partner: PartnerId, id: RunId) -> Result<RunView, RunError> {
    let run = unit.runs().get(partner, id)?.ok_or(RunError::NotFound)?;
    Ok(view(unit, partner, run)?)
}

/// A page of the items of a run, in their order.
///
/// # Errors
/// [`RunError`].
pub fn list_items(
    unit: &mut dyn UnitOfWork,
    partner: PartnerId,
    id: RunId,
    filter: RunItemFilter,
    page: Page,
) -> Result<Listed<RunItem>, RunError> {
    unit.runs().get(partner, id)?.ok_or(RunError::NotFound)?;
    Ok(unit.runs().list_items(partner, id, filter, page)?)
}

/// The items of a run from number `from` on, `limit` at most.
///
/// # Errors
/// [`RunError`].
pub fn items(
    unit: &mut dyn UnitOfWork,
    partner: PartnerId,
    id: RunId,
    from: u32,
    limit: u32,
) -> Result<Vec<RunItem>, RunError> {
    unit.runs().get(partner, id)?.ok_or(RunError::NotFound)?;
    Ok(unit.runs().items(partner, id, from, limit)?)
}

/// A page of the partner's runs, newest first, each with its requests.
///
/// # Errors
/// [`StoreError`] if the store fails.
pub fn list(
    unit: &mut dyn UnitOfWork,
    partner: PartnerId,
    filter: &RunFilter,
    page: Page,
) -> Result<Listed<RunView>, StoreError> {
    let Listed { items, total } = unit.runs().list(partner, filter, page)?;
    let items = items.into_iter().map(|run| view(unit, partner, run)).collect::<Result<_, _>>()?;
    Ok(Listed { items, total })
}

/// Submits a run for `by`, who names it by its digest; submitting again what was submitted changes nothing.
///
/// # Errors
/// [`ChangeRunError`] with the [`SubmitError`].
pub fn submit(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    partner: PartnerId,
    by: &Authority,
    id: RunId,
    digest: Digest,
    skip_faulty: bool,
) -> Result<RunView, ChangeRunError<SubmitError>> {
    let above = unit.ledger().sheet(partner)?.ok_or_else(money::no_accounts)?.approval_above;
    let now = env.now();
    change(unit, env, partner, id, |run| run.submit(by, digest, skip_faulty, above, now))
}

/// Approves a run for `by`, who names it by its digest.
///
/// # Errors
/// [`ChangeRunError`] with the [`ApproveRunError`].
pub fn approve(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    partner: PartnerId,
    by: &Authority,
    id: RunId,
    digest: Digest,
) -> Result<RunView, ChangeRunError<ApproveRunError>> {
    change(unit, env, partner, id, |run| run.approve(by, digest, env.now()))
}

/// Refuses to approve a run.
///
/// # Errors
/// [`ChangeRunError`] with the [`ApproveRunError`].
pub fn refuse(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    partner: PartnerId,
    by: &Authority,
    id: RunId,
    reason: Option<String>,
) -> Result<RunView, ChangeRunError<ApproveRunError>> {
    change(unit, env, partner, id, |run| run.refuse(by, reason, env.now()))
}

/// Cancels a run that has not begun; cancelling twice changes nothing.
///
/// # Errors
/// [`ChangeRunError`] with the [`CancelRunError`].
pub fn cancel(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    partner: PartnerId,
    id: RunId,
) -> Result<RunView, ChangeRunError<CancelRunError>> {
    change(unit, env, partner, id, |run| run.cancel(env.now()))
}

/// Moves a run by `step`.
fn change<R>(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    partner: PartnerId,
    id: RunId,
    step: impl FnOnce(Run) -> Result<Run, R>,
) -> Result<RunView, ChangeRunError<R>> {
    let before = unit.runs().get(partner, id)?.ok_or(ChangeRunError::NotFound)?;
    let run = step(before.clone()).map_err(ChangeRunError::Refused)?;
    if run.state() != before.state() {
        set_state(unit, env, partner, &run)?;
    }
    Ok(view(unit, partner, run)?)
}

/// Stores the run's new state, and enqueues its job if it is to be carried out now.
fn set_state(unit: &mut dyn UnitOfWork, env: &Env, partner: PartnerId, run: &Run) -> Result<(), StoreError> {
    unit.runs().set_state(partner, run)?;
    if run.state() == RunState::InProcess {
        unit.jobs().enqueue(partner, Subject::Run(run.id()), Duration::ZERO)?;
    }
    if matches!(run.state(), RunState::Rejected | RunState::Expired) {
        ending::wake_leaver(unit, env, partner, run)?;
    }
    events::append(unit, env, partner, [EventData::RunStatus(run.status())])
}

fn view(unit: &mut dyn UnitOfWork, partner: PartnerId, run: Run) -> Result<RunView, StoreError> {
    let requests = match run.state() {
        RunState::InProcess | RunState::Success | RunState::PartSuccess | RunState::Decline => {
            unit.runs().requests(partner, run.id())?
        }
        _ => Vec::new(),
    };
    Ok(RunView { run, requests })
}

#[cfg(test)]
mod tests;
