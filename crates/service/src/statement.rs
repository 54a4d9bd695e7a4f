//! The statement of a month: what moved on a partner's balance, as a whole and by day.
//!
//! An [`Outline`] is read at once, whatever the month holds; what takes the time of its entries is read in pieces, by their
//! numbers. Entries are only ever added behind the others, so the pieces fit the outline.

use std::ops::Range;

use kopeck_domain::Kopecks;
use kopeck_domain::calendar::CalendarMonth;
use kopeck_domain::ids::PartnerId;
use kopeck_domain::ledger::EntryType;
use kopeck_domain::money::AmountOverflow;
use kopeck_port_store::{BookedMovement, KindTotal, StoreError, UnitOfWork};
use time::Date;

use crate::Env;
use crate::entries::{self, BalanceParts, EntrySpan};

/// Entries of a piece.
pub const PIECE: i64 = 1_000;
/// Entries that are added up in one piece.
pub const TOTALS_PIECE: i64 = 10_000;

/// A month without its single entries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outline {
    /// The month.
    pub month: CalendarMonth,
    /// Whether it is over: else more may come.
    pub is_complete: bool,
    /// Its entries, and what there is at its ends.
    pub span: EntrySpan,
    /// Its days, up to today.
    pub days: Vec<DayTotal>,
}

/// What moved on a day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DayTotal {
    /// The day.
    pub date: Date,
    /// What there is at its beginning.
    pub opening: BalanceParts,
    /// What there is at its end.
    pub closing: BalanceParts,
    /// The difference of the two.
    pub change: BalanceParts,
}

/// The entries of a type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TypeTotal {
    /// The type.
    pub entry_type: EntryType,
    /// How many there are.
    pub number: u64,
    /// What they changed.
    pub change: BalanceParts,
}

/// Why there is no statement.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StatementError {
    /// The month has not begun.
    #[error("the month has not begun")]
    ToCome,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A month of the partner, by the service's clock and zone.
///
/// # Errors
/// [`StatementError`].
pub fn outline(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    partner: PartnerId,
    month: CalendarMonth,
) -> Result<Outline, StatementError> {
    let (zone, today) = (env.settings.zone, env.today());
    if today < month.first_day() {
        return Err(StatementError::ToCome);
    }
    let (from, before) = (zone.start_of(month.first_day()), zone.start_of(month.end()));
    let span = entries::span(unit, partner, Some(from), Some(before))?;
    let mut days = Vec::new();
    let (mut start, mut opening) = (span.numbers.start, span.opening);
    let mut date = month.first_day();
    while date < month.end() && date <= today {
        let next = date.next_day().unwrap_or(Date::MAX);
        // What a clock that was set back since has booked later belongs to today.
        let end = if next < month.end() && date < today {
            unit.movements().first_within(partner, start..span.numbers.end, zone.start_of(next))?
        } else {
            None
        };
        let end = end.unwrap_or(span.numbers.end);
        let closing = if end == start { opening } else { entries::parts_after(unit, partner, end - 1)? };
        days.push(DayTotal { date, opening, closing, change: closing.change_since(opening)? });
        (start, opening, date) = (end, closing, next);
    }
    Ok(Outline { month, is_complete: today >= month.end(), span, days })
}

/// The piece of `numbers` that begins at `from` and has at most `most` of them.
#[must_use]
pub fn piece(numbers: &Range<i64>, from: i64, most: i64) -> Range<i64> {
    from..numbers.end.min(from + most)
}

/// The totals of a piece.
///
/// # Errors
/// [`StoreError`] if the store fails.
pub fn kind_totals(
    unit: &mut dyn UnitOfWork,
    partner: PartnerId,
    numbers: Range<i64>,
) -> Result<Vec<KindTotal>, StoreError> {
    unit.movements().totals(partner, numbers)
}

/// The entries of a piece.
///
/// # Errors
/// [`StoreError`] if the store fails.
pub fn entries(
    unit: &mut dyn UnitOfWork,
    partner: PartnerId,
    numbers: Range<i64>,
) -> Result<Vec<BookedMovement>, StoreError> {
    unit.movements().range(partner, numbers)
}

/// The totals of all types, also of those that have no entry, added up from those of pieces.
///
/// # Errors
/// [`StoreError::Corrupt`] if a sum does not fit.
pub fn type_totals(pieces: &[KindTotal]) -> Result<Vec<TypeTotal>, StoreError> {
    let total = |entry_type: &EntryType| {
        let kind = entry_type.kind();
        let of_kind = || pieces.iter().filter(move |piece| piece.kind == kind);
        let moved = Kopecks::sum(of_kind().map(|piece| piece.amount)).map_err(overflow)?;
        let number = of_kind().map(|piece| piece.number).sum();
        Ok(TypeTotal { entry_type: *entry_type, number, change: BalanceParts::change_by(kind, moved)? })
    };
    EntryType::ALL.iter().map(total).collect()
}

fn overflow(error: AmountOverflow) -> StoreError {
    StoreError::Corrupt(format!("entries.amount: {error}"))
}

#[cfg(test)]
mod tests;
