//! The report of what moved on the cards of each person in a month, and the closing of a month.
//!
//! An open month is added up from the copy of the bank's transactions, in pieces. Its outline says up to which transaction, so
//! pieces fit each other whatever the bank tells meanwhile. Closing a month keeps its rows, in pieces too; from its beginning
//! on, what the bank tells later of that month belongs to the first month that is not closed, as late.

use std::ops::Range;

use kopeck_domain::calendar::CalendarMonth;
use kopeck_domain::ids::{PartnerId, ProgrammeId};
use kopeck_domain::money::AmountOverflow;
use kopeck_domain::report::ReportAmounts;
use kopeck_port_store::{
    Access, ClosedMonth, ReportPeriod, ReportRow, Store, StoreError, UnitOfWork, transact,
};
use time::OffsetDateTime;

use crate::Env;

/// Persons of a piece.
pub const PIECE: i64 = 1_000;

/// A month without its rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportOutline {
    /// The month.
    pub month: CalendarMonth,
    /// Whether it is over.
    pub is_complete: bool,
    /// SHA-256 of its plain CSV file when it was closed, and whether someone was erased since.
    pub closed: Option<([u8; 32], bool)>,
    /// The place of the last person.
    last_person: i64,
    /// Of an open month.
    period: ReportPeriod,
    /// Shows only whom this programme gave something, and only that as given.
    programme: Option<ProgrammeId>,
}

impl ReportOutline {
    /// Only whom a programme gave something in the month, if there is one; `given` is only that, the rest theirs as a whole.
    #[must_use]
    pub fn of_programme(self, programme: Option<ProgrammeId>) -> Self {
        Self { programme, ..self }
    }

    /// Whether all persons are in one piece.
    #[must_use]
    pub const fn is_small(&self) -> bool {
        self.last_person <= PIECE
    }
}

/// Why there is no report.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReportError {
    /// The month has not begun.
    #[error("the month has not begun")]
    ToCome,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Why a month is not closed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CloseError {
    /// The month is not over.
    #[error("the month is not over")]
    NotOver,
    /// It is closed.
    #[error("the month is closed")]
    Closed,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A month of the partner, by the service's clock and zone.
///
/// # Errors
/// [`ReportError`].
pub fn outline(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    partner: PartnerId,
    month: CalendarMonth,
) -> Result<ReportOutline, ReportError> {
    let today = env.today();
    if today < month.first_day() {
        return Err(ReportError::ToCome);
    }
    let closed = unit.reports().closed(partner, month)?;
    let closed = closed.and_then(|month| Some((month.sha256?, month.is_changed)));
    Ok(ReportOutline {
        month,
        is_complete: today >= month.end(),
        closed,
        last_person: unit.reports().last_person(partner)?,
        period: period(unit, env, partner, month)?,
        programme: None,
    })
}

/// Which transactions make the month: those that are known now, and known before it was closed.
fn period(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    partner: PartnerId,
    month: CalendarMonth,
) -> Result<ReportPeriod, StoreError> {
    let zone = env.settings.zone;
    let last = unit.reports().last_transaction(partner)?;
    let known = unit.reports().known_since(partner, month)?.unwrap_or(last).min(last);
    let known_before = match month.previous() {
        Some(previous) => unit.reports().known_since(partner, previous)?.unwrap_or(last),
        None => last,
    };
    let within = zone.start_of(month.first_day())..zone.start_of(month.end());
    Ok(ReportPeriod { within, known_before: known_before.min(known), known })
}

/// The rows behind a place that have a balance or a movement, [`PIECE`] places at most; and the place after which to go on,
/// `None` at the end. The first piece is that behind place 0.
///
/// # Errors
/// [`StoreError`] if the store fails.
pub fn piece(
    unit: &mut dyn UnitOfWork,
    partner: PartnerId,
    report: &ReportOutline,
    after: i64,
) -> Result<(Vec<ReportRow>, Option<i64>), StoreError> {
    let (rows, next) = if report.closed.is_some() {
        kept_piece(unit, partner, report.month, after)?
    } else if after >= report.last_person {
        (last_row(unit, partner, &report.period)?.into_iter().collect(), None)
    } else {
        let up_to = report.last_person.min(after + PIECE);
        (unit.reports().people(partner, after + 1..up_to + 1, &report.period)?, Some(up_to))
    };
    match report.programme {
        Some(programme) => Ok((given_by(unit, partner, programme, &report.period.within, rows)?, next)),
        None => Ok((rows, next)),
    }
}

/// The rows of those whom a programme gave something, with that as given.
fn given_by(
    unit: &mut dyn UnitOfWork,
    partner: PartnerId,
    programme: ProgrammeId,
    within: &Range<OffsetDateTime>,
    rows: Vec<ReportRow>,
) -> Result<Vec<ReportRow>, StoreError> {
    let people = || rows.iter().filter(|row| row.person.is_some()).map(|row| row.place);
    let (Some(first), Some(last)) = (people().min(), people().max()) else { return Ok(Vec::new()) };
    let mut given = unit.reports().given_by(partner, programme, first..last + 1, within)?;
    let rows = rows.into_iter().filter_map(|row| {
        let amounts = row.amounts.giving(given.remove(&row.place)?).map_err(overflow);
        Some(amounts.map(|amounts| ReportRow { amounts, ..row }))
    });
    rows.collect()
}

/// The kept rows of a month behind a place, and the place after which to go on.
///
/// # Errors
/// [`StoreError`] if the store fails.
pub fn kept_piece(
    unit: &mut dyn UnitOfWork,
    partner: PartnerId,
    month: CalendarMonth,
    after: i64,
) -> Result<(Vec<ReportRow>, Option<i64>), StoreError> {
    let limit = u32::try_from(PIECE).unwrap_or(u32::MAX);
    let rows = unit.reports().kept_rows(partner, month, after, limit)?;
    let is_full = rows.len() >= usize::try_from(PIECE).unwrap_or(usize::MAX);
    let next = rows.last().map(|row| row.place).filter(|_| is_full);
    Ok((rows, next))
}

/// Calls `each` with the rows of a report in their order; each piece is read in a unit of work. Blocks.
///
/// # Errors
/// [`StoreError`] if the store fails, and those of `each`, which end it.
pub fn for_each_row<E: From<StoreError>>(
    store: &dyn Store,
    partner: PartnerId,
    report: &ReportOutline,
    mut each: impl FnMut(&ReportRow) -> Result<(), E>,
) -> Result<(), E> {
    let mut next = Some(0);
    while let Some(after) = next {
        let outline = report.clone();
        let read = move |unit: &mut dyn UnitOfWork| piece(unit, partner, &outline, after);
        let (rows, further) = transact(store, Access::Read, read)?;
        rows.iter().try_for_each(&mut each)?;
        next = further;
    }
    Ok(())
}

/// The sums with those of a further row.
///
/// # Errors
/// [`StoreError::Corrupt`] if a sum does not fit.
pub fn with_row(sums: ReportAmounts, row: &ReportRow) -> Result<ReportAmounts, StoreError> {
    sums.plus(&row.amounts).map_err(overflow)
}

fn overflow(_: AmountOverflow) -> StoreError {
    StoreError::Corrupt("transactions.amount: a sum does not fit".to_owned())
}

/// The row of the cards that nobody has had, if there is one.
fn last_row(
    unit: &mut dyn UnitOfWork,
    partner: PartnerId,
    period: &ReportPeriod,
) -> Result<Option<ReportRow>, StoreError> {
    let amounts = unit.reports().unassigned(partner, period)?;
    Ok((!amounts.is_empty()).then_some(ReportRow { place: ReportRow::LAST, person: None, amounts }))
}

/// The SHA-256 of a closed month as it is shown: hexadecimal digits.
#[must_use]
pub fn sum_text(sha256: &[u8; 32]) -> String {
    sha256.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// How far the closing of a month has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Closing {
    /// Some rows are kept; more are left.
    Going,
    /// All rows are kept; this many persons were erased since the beginning.
    Kept {
        /// How many persons were erased.
        erasures: u32,
    },
}

/// Keeps the next rows of a month that is to be closed. What is known at its first step belongs to it.
///
/// # Errors
/// [`CloseError`].
pub fn close_step(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    partner: PartnerId,
    month: CalendarMonth,
) -> Result<Closing, CloseError> {
    let Some(ClosedMonth { kept_up_to, erasures, .. }) = unkept(unit, env, partner, month)? else {
        let last = unit.reports().last_transaction(partner)?;
        let known = unit.reports().known_since(partner, month)?.unwrap_or(last).min(last);
        unit.reports().begin_closing(partner, month, known)?;
        return Ok(Closing::Going);
    };
    if kept_up_to == ReportRow::LAST {
        return Ok(Closing::Kept { erasures });
    }
    let (period, last) = (period(unit, env, partner, month)?, unit.reports().last_person(partner)?);
    if kept_up_to >= last {
        let row = last_row(unit, partner, &period)?;
        unit.reports().keep_rows(partner, month, row.as_slice(), ReportRow::LAST)?;
        return Ok(Closing::Going);
    }
    let up_to = last.min(kept_up_to + PIECE);
    let rows = unit.reports().people(partner, kept_up_to + 1..up_to + 1, &period)?;
    unit.reports().keep_rows(partner, month, &rows, up_to)?;
    Ok(Closing::Going)
}

/// Closes a month whose rows are all kept, under the SHA-256 of its file, which has the names of when `erasures` persons were
/// erased.
///
/// # Errors
/// [`CloseError`].
pub fn close(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    partner: PartnerId,
    month: CalendarMonth,
    sha256: [u8; 32],
    erasures: u32,
) -> Result<(), CloseError> {
    let Some(begun) = unkept(unit, env, partner, month)? else {
        return Err(StoreError::Failed("the rows of the month are not kept".to_owned()).into());
    };
    unit.reports().end_closing(partner, month, sha256, begun.erasures != erasures, env.now())?;
    Ok(())
}

/// The month, if its closing has begun.
fn unkept(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    partner: PartnerId,
    month: CalendarMonth,
) -> Result<Option<ClosedMonth>, CloseError> {
    if env.today() < month.end() {
        return Err(CloseError::NotOver);
    }
    let found = unit.reports().closed(partner, month)?;
    if found.as_ref().is_some_and(|month| month.sha256.is_some()) {
        return Err(CloseError::Closed);
    }
    Ok(found)
}

#[cfg(test)]
mod tests;
