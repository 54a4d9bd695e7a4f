//! Movements of the ledger, as they were booked.

use std::ops::Range;

use kopeck_domain::Kopecks;
use kopeck_domain::ids::PartnerId;
use kopeck_domain::ledger::{Movement, MovementKind};
use kopeck_domain::request::RequestReference;
use time::OffsetDateTime;

use crate::StoreError;
use crate::page::{Listed, Page};

/// A movement with what stands around it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BookedMovement {
    /// Its number among the partner's movements: from 1, without gaps, in the order of booking.
    pub number: i64,
    /// What moved.
    pub movement: Movement,
    /// What the partner calls the request that it belongs to.
    pub request_reference: Option<RequestReference>,
    /// When it was booked.
    pub booked_at: OffsetDateTime,
    /// What the partner could spend after it.
    pub available: Kopecks,
    /// What was held after it.
    pub held: Kopecks,
}

/// The movements of one kind, together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KindTotal {
    /// The kind.
    pub kind: MovementKind,
    /// How many there are.
    pub number: u64,
    /// What they moved, kopecks.
    pub amount: Kopecks,
}

/// The movements of a partner's ledger, by their numbers.
#[expect(clippy::missing_errors_doc, reason = "every method fails with the database alone")]
#[cfg_attr(feature = "mock", mockall::automock)]
pub trait MovementRepository {
    /// The number of the latest movement; 0 if there is none.
    fn last(&mut self, partner: PartnerId) -> Result<i64, StoreError>;
    /// The least number of a movement that was booked at `moment` or later; `None` if all were booked before. While the
    /// clock is not set back, that is where the movements after `moment` begin.
    fn first_since(&mut self, partner: PartnerId, moment: OffsetDateTime) -> Result<Option<i64>, StoreError>;
    /// The least number in a range of a movement that was booked at `moment` or later. It looks from the beginning of
    /// the range on.
    fn first_within(
        &mut self,
        partner: PartnerId,
        numbers: Range<i64>,
        moment: OffsetDateTime,
    ) -> Result<Option<i64>, StoreError>;
    /// How many movements of each kind there are in a range, and what they moved.
    fn totals(&mut self, partner: PartnerId, numbers: Range<i64>) -> Result<Vec<KindTotal>, StoreError>;
    /// Movements by their numbers, in the order of these.
    fn range(&mut self, partner: PartnerId, numbers: Range<i64>) -> Result<Vec<BookedMovement>, StoreError>;
    /// A page of those of one kind, in the order of their numbers.
    fn of_kind(
        &mut self,
        partner: PartnerId,
        kind: MovementKind,
        numbers: Range<i64>,
        page: Page,
    ) -> Result<Listed<BookedMovement>, StoreError>;
}
