//! Entries of a partner's balance: the movements of its ledger, by period.
//!
//! A period is a range of numbers: it begins with the first movement that was booked in it, and ends where the next
//! period begins. So periods that follow each other share no entry and leave none out, even if the clock was set back.

use std::ops::Range;

use kopeck_domain::Kopecks;
use kopeck_domain::ids::PartnerId;
use kopeck_domain::ledger::{MovementKind, Reference};
use kopeck_domain::money::AmountOverflow;
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

/// A balance and its two parts at one moment, or by how much each of them changed; kopecks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BalanceParts {
    /// All of the partner's money: `hold + available`.
    pub balance: Kopecks,
    /// What is held for requests that are not done.
    pub hold: Kopecks,
    /// What can be spent.
    pub available: Kopecks,
}

impl BalanceParts {
    /// The balance of these parts.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] if the sum does not fit.
    pub fn of(available: Kopecks, hold: Kopecks) -> Result<Self, StoreError> {
        Ok(Self { balance: available.plus(hold).map_err(overflow)?, hold, available })
    }

    /// What there is after a movement.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] if the sum does not fit.
    pub fn after(movement: &BookedMovement) -> Result<Self, StoreError> {
        Self::of(movement.available, movement.held)
    }

    /// By how much movements of this kind change them, if they move `amount`.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] if the sum does not fit.
    pub fn change_by(kind: MovementKind, amount: Kopecks) -> Result<Self, StoreError> {
        Self::of(kind.change_of_available(amount), kind.change_of_held(amount))
    }

    /// By how much they changed since they were `before`.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] if a difference does not fit.
    pub fn change_since(self, before: Self) -> Result<Self, StoreError> {
        let change = |now: Kopecks, then| now.minus(then).map_err(overflow);
        Ok(Self {
            balance: change(self.balance, before.balance)?,
            hold: change(self.hold, before.hold)?,
            available: change(self.available, before.available)?,
        })
    }
}

fn overflow(error: AmountOverflow) -> StoreError {
    StoreError::Corrupt(format!("movements.held_after: {error}"))
}

/// The entries of a period: their numbers, and what there is at its ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntrySpan {
    /// The numbers of its entries.
    pub numbers: Range<i64>,
    /// What there is before the first.
    pub opening: BalanceParts,
    /// What there is after the last.
    pub closing: BalanceParts,
}

/// A page of entries with what there is at the ends of the period, whatever kind of entries it shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntryPage {
    /// What there is at the beginning of the period.
    pub opening: BalanceParts,
    /// What there is at its end.
    pub closing: BalanceParts,
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
    let opening = parts_after(unit, partner, start - 1)?;
    let closing = parts_after(unit, partner, end - 1)?;
    Ok(EntrySpan { numbers: start..end, opening, closing })
}

/// What there is after the movement of this number; nothing before the first.
pub(crate) fn parts_after(
    unit: &mut dyn UnitOfWork,
    partner: PartnerId,
    number: i64,
) -> Result<BalanceParts, StoreError> {
    if number == 0 {
        return Ok(BalanceParts::default());
    }
    let found = unit.movements().range(partner, number..number + 1)?;
    let movement =
        found.first().ok_or_else(|| StoreError::Corrupt(format!("movements: {number} is missing")))?;
    BalanceParts::after(movement)
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
