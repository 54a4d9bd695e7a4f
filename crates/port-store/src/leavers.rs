//! Leavers: the partners' rules for them, and what is still to happen by these.

use kopeck_domain::ids::{EmployeeId, PartnerId, RunId};
use kopeck_domain::leaver::{Leaver, LeaverRules};
use time::OffsetDateTime;

use crate::StoreError;

/// Leavers and the rules for them.
#[expect(clippy::missing_errors_doc, reason = "every method fails with the database alone")]
#[cfg_attr(feature = "mock", mockall::automock)]
pub trait LeaverRepository {
    /// The partner's rules.
    fn rules(&mut self, partner: PartnerId) -> Result<LeaverRules, StoreError>;
    /// Stores the partner's rules.
    fn set_rules(&mut self, partner: PartnerId, rules: &LeaverRules) -> Result<(), StoreError>;
    /// Adds a leaver, or replaces what is stored of the employee.
    fn put(&mut self, partner: PartnerId, leaver: &Leaver) -> Result<(), StoreError>;
    /// What is stored of an employee who has left. Within a writing unit of work it stays as read until the end.
    fn get(&mut self, partner: PartnerId, employee: EmployeeId) -> Result<Option<Leaver>, StoreError>;
    /// Forgets what is stored of an employee.
    fn remove(&mut self, partner: PartnerId, employee: EmployeeId) -> Result<(), StoreError>;
    /// Leavers of any partner whose next step is due, the longest due first, `limit` at most.
    fn due(&mut self, now: OffsetDateTime, limit: u32) -> Result<Vec<(PartnerId, EmployeeId)>, StoreError>;
    /// Makes the next step of the leaver whose run this is due at `at`; if it is nobody's, nothing changes.
    fn wake(&mut self, partner: PartnerId, run: RunId, at: OffsetDateTime) -> Result<(), StoreError>;
    /// Makes no step due of the partner's leavers who have no run yet.
    fn call_off(&mut self, partner: PartnerId) -> Result<(), StoreError>;
}
