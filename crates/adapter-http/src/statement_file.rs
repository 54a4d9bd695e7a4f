//! Statements as files: CSV by RFC 4180, and spreadsheets.
//!
//! Both are written entry by entry, in memory that does not grow with their number. Kopecks are integers. In CSV
//! a text that a spreadsheet could take for a formula begins with an apostrophe.

mod xlsx;

use std::borrow::Cow;

use kopeck_api::wire::WireText as _;
use kopeck_api::{BalanceEntry, Statement};
use kopeck_domain::calendar::Zone;
use kopeck_port_store::{BookedMovement, KindTotal, StoreError};
use kopeck_service::statement::{self, Outline};

pub use self::xlsx::{SpreadsheetError, SpreadsheetWriter};
use crate::dto::entry;

/// The form of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StatementFormat {
    /// Its entries as CSV.
    Csv,
    /// Entries and totals as a spreadsheet.
    Xlsx,
}

impl StatementFormat {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Csv, Self::Xlsx];

    /// Its media type.
    #[must_use]
    pub const fn media_type(self) -> &'static str {
        match self {
            Self::Csv => "text/csv",
            Self::Xlsx => "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        }
    }

    /// How the names of such files end.
    #[must_use]
    pub const fn extension(self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::Xlsx => "xlsx",
        }
    }
}

/// The names of the columns.
const COLUMNS: [&str; 12] = [
    "seq",
    "at",
    "type",
    "amount",
    "balance",
    "hold",
    "kind",
    "id",
    "reference",
    "available",
    "balanceChange",
    "holdChange",
];

/// The first line of a CSV file.
#[must_use]
pub fn csv_head() -> String {
    format!("{}\r\n", COLUMNS.join(","))
}

/// The line of an entry in a CSV file; its time is that of `zone`.
///
/// # Errors
/// [`StoreError::Corrupt`] if the balance after it does not fit.
pub fn csv_line(booked: &BookedMovement, zone: Zone) -> Result<String, StoreError> {
    let entry = entry::body(booked, zone)?;
    let BalanceEntry { seq, at, entry_type, amount, balance, hold, of, .. } = entry;
    let BalanceEntry { available, balance_change, hold_change, .. } = entry;
    let id = of.id.map(|id| id.to_string()).unwrap_or_default();
    let reference = of.reference.unwrap_or_default();
    let (kind, reference) = (of.kind.as_str(), csv_cell(&reference));
    Ok(format!(
        "{seq},{},{},{amount},{balance},{hold},{kind},{id},{reference},\
         {available},{balance_change},{hold_change}\r\n",
        at.text(),
        entry_type.as_str()
    ))
}

/// A text as a cell of a CSV file.
fn csv_cell(text: &str) -> Cow<'_, str> {
    let text = no_formula(text);
    if text.contains([',', '"', '\r', '\n']) {
        Cow::Owned(format!("\"{}\"", text.replace('"', "\"\"")))
    } else {
        text
    }
}

/// The text with an apostrophe before it, if it could be a formula.
fn no_formula(text: &str) -> Cow<'_, str> {
    if text.starts_with(['=', '+', '-', '@', '\t', '\r']) {
        Cow::Owned(format!("'{text}"))
    } else {
        Cow::Borrowed(text)
    }
}

/// The body of a statement.
///
/// # Errors
/// [`StoreError::Corrupt`] if a sum does not fit.
pub fn statement_body(outline: &Outline, totals: &[KindTotal]) -> Result<Statement, StoreError> {
    let totals = statement::type_totals(totals)?.into_iter().map(|total| kopeck_api::StatementTotal {
        entry_type: total.entry_type.as_str().into(),
        number: total.number,
        amount: total.change.available.get(),
        balance_change: total.change.balance.get(),
        hold_change: total.change.hold.get(),
    });
    let days = outline.days.iter().map(|day| kopeck_api::StatementDay {
        date: day.date,
        opening: day.opening.balance.get(),
        closing: day.closing.balance.get(),
        amount: day.change.available.get(),
        balance_change: day.change.balance.get(),
        hold_change: day.change.hold.get(),
        opening_hold: day.opening.hold.get(),
        opening_available: day.opening.available.get(),
        closing_hold: day.closing.hold.get(),
        closing_available: day.closing.available.get(),
    });
    Ok(Statement {
        month: outline.month.text(),
        complete: outline.is_complete,
        opening: outline.span.opening.balance.get(),
        closing: outline.span.closing.balance.get(),
        opening_hold: outline.span.opening.hold.get(),
        opening_available: outline.span.opening.available.get(),
        closing_hold: outline.span.closing.hold.get(),
        closing_available: outline.span.closing.available.get(),
        totals: totals.collect(),
        days: days.collect(),
    })
}

/// The name of a file: of a month that is not over it says so.
#[must_use]
pub fn file_name(outline: &Outline, format: StatementFormat) -> String {
    let so_far = if outline.is_complete { "" } else { "-so-far" };
    format!("statement-{}{so_far}.{}", outline.month.text(), format.extension())
}

#[cfg(test)]
mod tests;
