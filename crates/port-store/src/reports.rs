//! The report of what moved on the cards of each person in a month, and months that are closed.

use std::collections::BTreeMap;
use std::ops::Range;

use kopeck_domain::Kopecks;
use kopeck_domain::calendar::CalendarMonth;
use kopeck_domain::ids::{CardId, CategoryId, EmployeeId, PartnerId, ProgrammeId};
use kopeck_domain::report::ReportAmounts;
use time::OffsetDateTime;

use crate::StoreError;

/// Which transactions make the report of a month.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportPeriod {
    /// Those executed within this time, or before it.
    pub within: Range<OffsetDateTime>,
    /// Of those before: up to this number they are in earlier reports, behind it they are late.
    pub known_before: i64,
    /// Up to this number.
    pub known: i64,
}

/// The person of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportPerson {
    /// The employee.
    pub id: EmployeeId,
    /// Names; none after an erasure.
    pub custom_id: Option<String>,
    /// The surname.
    pub surname: Option<String>,
    /// The first name.
    pub name: Option<String>,
    /// The patronymic.
    pub patronymic: Option<String>,
    /// Identifier and name of the category.
    pub category: Option<(CategoryId, String)>,
}

/// A row of the report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportRow {
    /// Its place among the rows: the number of the employee, [`ReportRow::LAST`] for cards that nobody has had.
    pub place: i64,
    /// Who has or had the cards; `None` for the cards that nobody has had.
    pub person: Option<ReportPerson>,
    /// What moved on them.
    pub amounts: ReportAmounts,
}

impl ReportRow {
    /// The place of the row without a person.
    pub const LAST: i64 = i64::MAX;
}

/// A month that is closed, or about to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClosedMonth {
    /// The number of the last transaction that belongs to it.
    pub known: i64,
    /// The place up to which its rows are kept.
    pub kept_up_to: i64,
    /// SHA-256 of its plain CSV file; `None` while it is being closed.
    pub sha256: Option<[u8; 32]>,
    /// How many of its persons were erased since it began to be closed.
    pub erasures: u32,
    /// Whether someone was erased since the SHA-256 was taken.
    pub is_changed: bool,
}

/// Reports. An open month is added up from the copy of the bank's transactions, each of which belongs to the holder of its
/// card: to whoever has it, or had it until it was unlinked, from the card's beginning or from the unlinking before on.
#[expect(clippy::missing_errors_doc, reason = "every method fails with the database alone")]
#[cfg_attr(feature = "mock", mockall::automock)]
pub trait ReportRepository {
    /// Notes that this employee had the card until now.
    fn note_former_holder(
        &mut self,
        partner: PartnerId,
        card: CardId,
        employee: EmployeeId,
        until: OffsetDateTime,
    ) -> Result<(), StoreError>;
    /// The number of the last transaction that the service knows.
    fn last_transaction(&mut self, partner: PartnerId) -> Result<i64, StoreError>;
    /// The place of the last person.
    fn last_person(&mut self, partner: PartnerId) -> Result<i64, StoreError>;
    /// The least last number among months from this one on that are closed or about to be.
    fn known_since(&mut self, partner: PartnerId, month: CalendarMonth) -> Result<Option<i64>, StoreError>;
    /// The rows of persons at these places which have a balance or a movement, in their order.
    fn people(
        &mut self,
        partner: PartnerId,
        places: Range<i64>,
        period: &ReportPeriod,
    ) -> Result<Vec<ReportRow>, StoreError>;
    /// What runs of a programme brought persons at these places within this time, by place: each top-up at the time of its
    /// transaction, or of its request while that is unknown.
    fn given_by(
        &mut self,
        partner: PartnerId,
        programme: ProgrammeId,
        places: Range<i64>,
        within: &Range<OffsetDateTime>,
    ) -> Result<BTreeMap<i64, Kopecks>, StoreError>;
    /// What moved on cards that nobody has had.
    fn unassigned(&mut self, partner: PartnerId, period: &ReportPeriod) -> Result<ReportAmounts, StoreError>;
    /// The month, if it is closed or about to be.
    fn closed(&mut self, partner: PartnerId, month: CalendarMonth)
    -> Result<Option<ClosedMonth>, StoreError>;
    /// Begins to close a month.
    fn begin_closing(
        &mut self,
        partner: PartnerId,
        month: CalendarMonth,
        known: i64,
    ) -> Result<(), StoreError>;
    /// Keeps the next rows of a month that is being closed; those up to this place are then kept.
    fn keep_rows(
        &mut self,
        partner: PartnerId,
        month: CalendarMonth,
        rows: &[ReportRow],
        up_to: i64,
    ) -> Result<(), StoreError>;
    /// The kept rows behind a place, in their order.
    fn kept_rows(
        &mut self,
        partner: PartnerId,
        month: CalendarMonth,
        after: i64,
        limit: u32,
    ) -> Result<Vec<ReportRow>, StoreError>;
    /// Ends the closing of a month.
    fn end_closing(
        &mut self,
        partner: PartnerId,
        month: CalendarMonth,
        sha256: [u8; 32],
        is_changed: bool,
        at: OffsetDateTime,
    ) -> Result<(), StoreError>;
}
