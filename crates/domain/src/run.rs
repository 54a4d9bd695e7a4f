//! Runs: lists of changes for many people, which are checked and shown before anything happens.
//!
//! A run moves nothing by itself. Once it is submitted, and approved where that is needed, it becomes ordinary requests:
//! a replenishment, a withdrawal, limit changes, an order, or changes of employees.

mod item;
pub mod row;
mod state;
pub mod status;

use time::{Duration, OffsetDateTime};

pub use self::item::{Fault, FaultCode, Outcome, RunItem};
pub use self::state::{ApproveRunError, CancelRunError, SubmitError};
pub use self::status::{RunKind, RunState, RunStatus};
use crate::Kopecks;
use crate::access::Actor;
use crate::approval::Digest;
use crate::fields::fields;
use crate::ids::{ProgrammeId, RunId};
use crate::programme::{OnShortage, Period, Terms};
use crate::request::RequestReference;

/// The greatest number of items of a run.
pub const MAX_ITEMS: usize = 10_000;
/// The greatest number of different limits in a run.
pub const MAX_LIMITS: usize = 100;
/// How long a draft waits until it is submitted.
pub const DRAFT_LIFETIME: Duration = Duration::days(7);

/// A run. Only its verbs change it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run(RunFields);

fields! {
    /// The fields of a run.
    RunFields of Run {
        /// The service's identifier.
        id: RunId,
        /// What it does.
        kind: RunKind,
        /// What the partner calls it.
        reference: Option<RequestReference> as Option<&RequestReference>,
        /// When it is to be carried out; at once if that is absent or over.
        at: Option<OffsetDateTime>,
        /// Whether it creates the categories that its employees lack.
        creates_categories: bool,
        /// What its items come to.
        totals: RunTotals,
        /// Names the kind, its terms, and every item as it was found.
        digest: Digest,
        /// Who made it.
        created_by: Actor as &Actor,
        /// When it was made.
        created_at: OffsetDateTime,
        /// Where it stands.
        state: RunState,
        /// Since when.
        state_since: OffsetDateTime,
        /// Who submitted it, and when.
        submitted: Option<Submitted> as Option<&Submitted>,
        /// Who approved it.
        approved_by: Option<Actor> as Option<&Actor>,
        /// Why it was refused: by an approver, or, of a programme, by the service.
        refusal: Option<String> as Option<&String>,
        /// The programme that made it.
        programme: Option<RunProgramme> as Option<&RunProgramme>,
    }
}

/// The programme that made a run, and for which period.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunProgramme {
    /// The programme.
    pub id: ProgrammeId,
    /// The period, which has no other run of the programme.
    pub period: Period,
    /// The terms by which it was made, whatever the programme's are now.
    pub terms: Terms,
    /// When it is tried again, if the balance did not cover it.
    pub retry_at: Option<OffsetDateTime>,
}

impl RunProgramme {
    /// Whether nobody gets anything if the balance does not cover the whole.
    #[must_use]
    pub fn is_all_or_nothing(&self) -> bool {
        self.terms.fields().on_shortage == OnShortage::Nothing
    }
}

/// Who submitted a run, and when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Submitted {
    /// Who.
    pub by: Actor,
    /// When.
    pub at: OffsetDateTime,
}

/// What the items of a run come to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RunTotals {
    /// All items.
    pub number: u32,
    /// Items with a fault.
    pub faulty: u32,
    /// The money that the items without a fault move.
    pub amount: Kopecks,
    /// What the partner could spend when the run was made.
    pub available: Kopecks,
    /// What it could spend after the run.
    pub available_after: Kopecks,
}

/// What is known of a new run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewRun {
    /// The service's identifier.
    pub id: RunId,
    /// What it does.
    pub kind: RunKind,
    /// What the partner calls it.
    pub reference: Option<RequestReference>,
    /// When it is to be carried out.
    pub at: Option<OffsetDateTime>,
    /// Whether it creates the categories that its employees lack.
    pub creates_categories: bool,
    /// What its items come to.
    pub totals: RunTotals,
    /// Names all that it does.
    pub digest: Digest,
}

impl Run {
    /// A new run of `by`: a draft.
    #[must_use]
    pub fn draft(new: NewRun, by: Actor, now: OffsetDateTime) -> Self {
        let NewRun { id, kind, reference, at, creates_categories, totals, digest } = new;
        Self(RunFields {
            id,
            kind,
            reference,
            at,
            creates_categories,
            totals,
            digest,
            created_by: by,
            created_at: now,
            state: RunState::Draft,
            state_since: now,
            submitted: None,
            approved_by: None,
            refusal: None,
            programme: None,
        })
    }

    /// A new run of a programme, which nobody submits or approves: it is carried out at once.
    #[must_use]
    pub fn of_programme(new: NewRun, programme: RunProgramme, now: OffsetDateTime) -> Self {
        let draft = Self::draft(new, Actor::Service, now);
        Self(RunFields { programme: Some(programme), state: RunState::InProcess, ..draft.0 })
    }

    /// Whether its amounts depend on what its cards hold.
    #[must_use]
    pub fn goes_by_balances(&self) -> bool {
        self.programme().is_some_and(|programme| programme.terms.go_by_balances())
    }

    /// Where it stands, for its event.
    #[must_use]
    pub fn status(&self) -> RunStatus {
        RunStatus {
            id: self.id(),
            kind: self.kind(),
            state: self.state(),
            reference: self.reference().cloned(),
        }
    }
}
