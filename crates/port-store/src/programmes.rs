//! Programmes: rules that make a run for each period; and the operator's calendar, by which they move off holidays.

use kopeck_domain::employee::EmployeeStatus;
use kopeck_domain::ids::{PartnerId, ProgrammeId};
use kopeck_domain::programme::{Audience, DayKind, Programme, Workdays};
use time::{Date, OffsetDateTime};

use crate::page::{Listed, Page};
use crate::{CardHolder, CardView, StoreError};

/// Whom a programme may pay.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// The employee.
    pub holder: CardHolder,
    /// When the employee was added.
    pub created_at: OffsetDateTime,
    /// The employee's MAIN card.
    pub card: CardView,
}

/// Programmes, and the calendar.
#[expect(clippy::missing_errors_doc, reason = "every method fails with the database alone")]
#[cfg_attr(feature = "mock", mockall::automock)]
pub trait ProgrammeRepository {
    /// Adds a programme, which is looked at without a caller from `look_at` on; never, if that is `None`.
    fn insert(
        &mut self,
        partner: PartnerId,
        programme: &Programme,
        look_at: Option<OffsetDateTime>,
    ) -> Result<(), StoreError>;
    /// Stores a changed programme.
    fn update(
        &mut self,
        partner: PartnerId,
        programme: &Programme,
        look_at: Option<OffsetDateTime>,
    ) -> Result<(), StoreError>;
    /// Deletes a programme. Its runs stay.
    fn delete(&mut self, partner: PartnerId, id: ProgrammeId) -> Result<(), StoreError>;
    /// The programme with this identifier. Within a writing unit of work it stays as read until the end.
    fn get(&mut self, partner: PartnerId, id: ProgrammeId) -> Result<Option<Programme>, StoreError>;
    /// A page, in the order of creation.
    fn list(&mut self, partner: PartnerId, page: Page) -> Result<Listed<Programme>, StoreError>;
    /// The employees of an audience with one of these statuses who have a MAIN card, in the order of their custom identifiers,
    /// byte by byte.
    fn members(
        &mut self,
        partner: PartnerId,
        audience: &Audience,
        statuses: &[EmployeeStatus],
    ) -> Result<Vec<Member>, StoreError>;
    /// Active partners with a programme to look at, or a run of one to try again, the longest due first, `limit` at most. Not
    /// those of which a run of a programme has been in process since `open_since` or later: it goes first.
    fn due(
        &mut self,
        now: OffsetDateTime,
        open_since: OffsetDateTime,
        limit: u32,
    ) -> Result<Vec<PartnerId>, StoreError>;
    /// The partner's programmes that are to be looked at by `now`, in the order of creation.
    fn due_of(&mut self, partner: PartnerId, now: OffsetDateTime) -> Result<Vec<Programme>, StoreError>;
    /// The operator's calendar.
    fn workdays(&mut self) -> Result<Workdays, StoreError>;
    /// Replaces the operator's calendar. Every programme in force is looked at anew.
    fn set_workdays(&mut self, days: &[(Date, DayKind)]) -> Result<(), StoreError>;
}
