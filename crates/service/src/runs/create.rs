//! Creates a run: reads its items, checks them against the partner's data, and stores all of them with their faults.

use kopeck_domain::access::Actor;
use kopeck_domain::event::EventData;
use kopeck_domain::ids::{PartnerId, RunId};
use kopeck_domain::limit::Limit;
use kopeck_domain::request::RequestReference;
use kopeck_domain::run::row::Cell;
use kopeck_domain::run::{Fault, NewRun, Run, RunKind};
use kopeck_port_store::{Rule, StoreError, UnitOfWork};
use time::OffsetDateTime;

use super::{digest, preview};
use crate::{Env, events};

/// A new run as its caller gives it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunInput {
    /// What it does.
    pub kind: RunKind,
    /// What the partner calls it.
    pub reference: Option<RequestReference>,
    /// When it is to be carried out; at once if that is absent or over.
    pub at: Option<OffsetDateTime>,
    /// Whether it creates the categories that its employees lack.
    pub creates_categories: bool,
    /// Its items, from 1 to [`MAX_ITEMS`](kopeck_domain::run::MAX_ITEMS).
    pub rows: Vec<InputRow>,
}

/// An item as its caller gives it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputRow {
    /// Where it begins: its place in a list from 1, or the line of a file.
    pub line: u32,
    /// Its values.
    pub cells: Vec<Cell>,
    /// The limit that it sets, or what is wrong with it; `None` if it gives none.
    pub limit: Option<Result<Limit, Fault>>,
    /// Why its values cannot be trusted, whatever they are.
    pub fault: Option<Fault>,
}

/// Why a run was not created.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CreateRunError {
    /// Another run of the kind has the reference.
    #[error("the run {0} has this reference")]
    ReferenceTaken(RunId),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Creates a draft of `by`. Its faulty items do not keep it from being created.
///
/// # Errors
/// [`CreateRunError`].
pub fn create(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    partner: PartnerId,
    by: &Actor,
    input: &RunInput,
) -> Result<Run, CreateRunError> {
    let RunInput { kind, reference, at, creates_categories, .. } = input;
    if let Some(reference) = reference
        && let Some(other) = unit.runs().by_reference(partner, *kind, reference)?
    {
        return Err(CreateRunError::ReferenceTaken(other));
    }
    let (items, totals) = preview::items(unit, env, partner, input)?;
    let new = NewRun {
        id: RunId::new(env.ids.next_id()),
        kind: *kind,
        reference: reference.clone(),
        at: *at,
        creates_categories: *creates_categories,
        totals,
        digest: digest::of(*kind, *at, *creates_categories, &items),
    };
    let run = Run::draft(new, by.clone(), env.now());
    match unit.runs().insert(partner, &run, &items) {
        // A concurrent request has taken it; the caller can try again, and learns whose it is.
        Err(StoreError::Conflict(Rule::RunReference)) => return Err(StoreError::Busy.into()),
        inserted => inserted?,
    }
    events::append(unit, env, partner, [EventData::RunStatus(run.status())])?;
    Ok(run)
}
