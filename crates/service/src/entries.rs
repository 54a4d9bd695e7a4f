//! Entries of a partner's balance: the movements of its ledger, by period.
//!
//! A period is a range of numbers: it begins with the first movement that was booked in it, and ends where the next
//! period begins. So periods that follow each other share no entry and leave none out, even if the clock was set back.

use std::ops::Range;

use kopeck_domain::Kopecks;
use kopeck_domain::ids::PartnerId;
use kopeck_domain::ledger::{MovementKind, Reference};
use kopeck_port_store::page::{Listed, Page};
use kopeck_port_store::{BookedMovement, StoreError, UnitOfWork};
use time::OffsetDateTime;

use crate::partners;

/// Which entries a list shows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EntryFilter {
    /// Not before this moment.
    pub from: Option<OffsetDateTime>,
    /// Before this moment.
    pub before: Option<OffsetDateTime>,
    /// Of this kind.
    pub kind: Option<MovementKind>,
}

/// The entries of a period: their numbers, and the balances at its ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntrySpan {
    /// The numbers of its entries.
    pub numbers: Range<i64>,
    /// The balance before the first, kopecks.
    pub opening: Kopecks,
    /// The balance after the last, kopecks.
    pub closing: Kopecks,
}

/// A page of entries with the balances at the ends of the period, whatever kind of entries it shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntryPage {
    /// The balance at the beginning of the period, kopecks.
    pub opening: Kopecks,
    /// The balance at its end, kopecks.
    pub closing: Kopecks,
    /// The entries, oldest first.
    pub entries: Listed<BookedMovement>,
}

/// The entries between two moments.
///
/// # Errors
/// [`StoreError`] if the store fails.
pub fn span(
    unit: &mut dyn UnitOfWork,
    partner: PartnerId,
    from: Option<OffsetDateTime>,
    before: Option<OffsetDateTime>,
) -> Result<EntrySpan, StoreError> {
    // Read first: entries that are booked meanwhile come behind it.
    let after_last = unit.movements().last(partner)? + 1;
    let mut start_of = |moment: Option<OffsetDateTime>, otherwise| match moment {
        Some(moment) => {
            Ok(unit.movements().first_since(partner, moment)?.unwrap_or(after_last).min(after_last))
        }
        None => Ok::<_, StoreError>(otherwise),
    };
    let start = start_of(from, 1)?;
    let end = start_of(before, after_last)?.max(start);
    let opening = balance_after(unit, partner, start - 1)?;
    let closing = balance_after(unit, partner, end - 1)?;
    Ok(EntrySpan { numbers: start..end, opening, closing })
}

/// The balance after the movement of this number; nothing before the first.
fn balance_after(unit: &mut dyn UnitOfWork, partner: PartnerId, number: i64) -> Result<Kopecks, StoreError> {
    if number == 0 {
        return Ok(Kopecks::ZERO);
    }
    let found = unit.movements().range(partner, number..number + 1)?;
    let movement =
        found.first().ok_or_else(|| StoreError::Corrupt(format!("movements: {number} is missing")))?;
    balance_of(movement)
}

/// The partner's balance after a movement.
///
/// # Errors
/// [`StoreError::Corrupt`] if the sum does not fit.
pub fn balance_of(movement: &BookedMovement) -> Result<Kopecks, StoreError> {
    let overflow = |error| StoreError::Corrupt(format!("movements.held_after: {error}"));
    movement.available.plus(movement.held).map_err(overflow)
}

/// A page of entries, oldest first.
///
/// # Errors
/// [`StoreError`] if the store fails.
pub fn list(
    unit: &mut dyn UnitOfWork,
    partner: PartnerId,
    filter: EntryFilter,
    page: Page,
) -> Result<EntryPage, StoreError> {
    let EntrySpan { numbers, opening, closing } = span(unit, partner, filter.from, filter.before)?;
    let entries = match filter.kind {
        Some(kind) => unit.movements().of_kind(partner, kind, numbers, page)?,
        None => {
            // A page starts at 499,999,999,500 at most.
            let start = numbers.end.min(numbers.start + page.skip().cast_signed());
            let end = numbers.end.min(start + i64::from(page.size()));
            let total = (numbers.end - numbers.start).unsigned_abs();
            Listed { items: unit.movements().range(partner, start..end)?, total }
        }
    };
    Ok(EntryPage { opening, closing, entries })
}

/// What an entry shows as its reference: that of the transfer if an operator gave one, or the partner's own of the request.
#[must_use]
pub fn reference_of(entry: &BookedMovement) -> Option<&str> {
    match entry.movement.reference() {
        Reference::Transfer(reference) if partners::is_generated(reference) => None,
        Reference::Transfer(reference) => Some(reference.as_str()),
        Reference::Order(_)
        | Reference::Replenishment(_)
        | Reference::Closing(_)
        | Reference::Withdrawal(_) => entry.request_reference.as_ref().map(|reference| reference.as_str()),
    }
}

#[cfg(test)]
mod tests;
