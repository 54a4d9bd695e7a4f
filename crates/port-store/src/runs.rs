//! Runs: lists of changes for many people.

use kopeck_domain::ids::{
    EmployeeId, LimitChangeId, OrderId, PartnerId, ProgrammeId, ReplenishmentId, RunId, WithdrawalId,
};
use kopeck_domain::request::RequestReference;
use kopeck_domain::run::{Outcome, Run, RunItem, RunKind, RunState};
use time::OffsetDateTime;

use crate::StoreError;
use crate::page::{Listed, Page};

/// A request that a run became.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunRequest {
    /// An order.
    Order(OrderId),
    /// A replenishment.
    Replenishment(ReplenishmentId),
    /// A limit change.
    LimitChange(LimitChangeId),
    /// A withdrawal.
    Withdrawal(WithdrawalId),
}

/// Which runs a list shows; everything that is set has to fit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunFilter {
    /// Of this kind.
    pub kind: Option<RunKind>,
    /// In this state.
    pub state: Option<RunState>,
    /// With this reference of the partner.
    pub reference: Option<RequestReference>,
    /// Made by this programme.
    pub programme: Option<ProgrammeId>,
    /// Made at this time or later.
    pub from: Option<OffsetDateTime>,
    /// Made before this time.
    pub before: Option<OffsetDateTime>,
}

/// Which items of a run a list shows; everything that is set has to fit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RunItemFilter {
    /// With a fault, or without.
    pub faulty: Option<bool>,
    /// With this outcome.
    pub outcome: Option<Outcome>,
}

/// What became of an item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunDecision {
    /// The item's place.
    pub ordinal: u32,
    /// What became of it.
    pub outcome: Outcome,
    /// Why it was not carried out.
    pub reason: Option<String>,
    /// The employee that it was about, if that is known only now.
    pub employee: Option<EmployeeId>,
}

/// How many items of a run have which outcome.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RunOutcomes {
    /// Carried out.
    pub done: u32,
    /// Not carried out, though they had no fault when the run was made.
    pub missed: u32,
}

/// Runs.
#[expect(
    clippy::missing_errors_doc,
    reason = "every method fails with the database, and says which rules it meets"
)]
#[cfg_attr(feature = "mock", mockall::automock)]
pub trait RunRepository {
    /// Adds a run with its items. `Rule::RunReference` if another run of its kind has its reference,
    /// `Rule::ProgrammePeriod` if the period of its programme has another.
    fn insert(&mut self, partner: PartnerId, run: &Run, items: &[RunItem]) -> Result<(), StoreError>;
    /// The run with this identifier. Within a writing unit of work it stays as read until the end.
    fn get(&mut self, partner: PartnerId, id: RunId) -> Result<Option<Run>, StoreError>;
    /// The run of a kind that has this reference, unless it was rejected or has expired.
    fn by_reference(
        &mut self,
        partner: PartnerId,
        kind: RunKind,
        reference: &RequestReference,
    ) -> Result<Option<RunId>, StoreError>;
    /// Stores the run's state, and who brought it there.
    fn set_state(&mut self, partner: PartnerId, run: &Run) -> Result<(), StoreError>;
    /// Stores a run that is tried again, with other items in the place of its former ones.
    fn renew(&mut self, partner: PartnerId, run: &Run, items: &[RunItem]) -> Result<(), StoreError>;
    /// The partner's runs of programmes that are to be tried again by `now`, the longest due first.
    fn retries(&mut self, partner: PartnerId, now: OffsetDateTime) -> Result<Vec<Run>, StoreError>;
    /// Whether a run of a programme of the partner has been in process since `open_since` or later.
    fn is_programme_open(
        &mut self,
        partner: PartnerId,
        open_since: OffsetDateTime,
    ) -> Result<bool, StoreError>;
    /// The run that became this replenishment.
    fn of_replenishment(
        &mut self,
        partner: PartnerId,
        id: ReplenishmentId,
    ) -> Result<Option<Run>, StoreError>;
    /// A page, newest first.
    fn list(&mut self, partner: PartnerId, filter: &RunFilter, page: Page)
    -> Result<Listed<Run>, StoreError>;
    /// A page of the items of a run, by ordinal.
    fn list_items(
        &mut self,
        partner: PartnerId,
        id: RunId,
        filter: RunItemFilter,
        page: Page,
    ) -> Result<Listed<RunItem>, StoreError>;
    /// The items of a run from `from_ordinal` on, `limit` at most, by ordinal.
    fn items(
        &mut self,
        partner: PartnerId,
        id: RunId,
        from_ordinal: u32,
        limit: u32,
    ) -> Result<Vec<RunItem>, StoreError>;
    /// The items of a run without an outcome, `limit` at most, by ordinal.
    fn open_items(&mut self, partner: PartnerId, id: RunId, limit: u32) -> Result<Vec<RunItem>, StoreError>;
    /// Stores what became of items that have no outcome yet.
    fn decide(&mut self, partner: PartnerId, id: RunId, decisions: &[RunDecision]) -> Result<(), StoreError>;
    /// How many items have which outcome.
    fn outcomes(&mut self, partner: PartnerId, id: RunId) -> Result<RunOutcomes, StoreError>;
    /// Adds the requests that the run became.
    fn add_requests(
        &mut self,
        partner: PartnerId,
        id: RunId,
        requests: &[RunRequest],
    ) -> Result<(), StoreError>;
    /// The requests that the run became, in their order.
    fn requests(&mut self, partner: PartnerId, id: RunId) -> Result<Vec<RunRequest>, StoreError>;
    /// Runs of any partner whose planned time or the end of whose waiting has come, the longest due first, `limit` at most.
    fn due(&mut self, now: OffsetDateTime, limit: u32) -> Result<Vec<(PartnerId, RunId)>, StoreError>;
}
