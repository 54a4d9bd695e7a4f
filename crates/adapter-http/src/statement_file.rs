//! Statements as files.
//!
//! Each is written entry by entry, in memory that does not grow with their number: CSV of kopecks for programs, CSV and
//! spreadsheets of roubles for people, 1CClientBankExchange and camt.053 for accounting programs.

mod bookings;
mod camt;
mod csv;
mod one_c;
mod xlsx;

use kopeck_api::Statement;
use kopeck_domain::calendar::Zone;
use kopeck_domain::ids::PartnerId;
use kopeck_port_store::{BookedMovement, KindTotal, StoreError};
use kopeck_service::statement::{self, Outline};
use time::OffsetDateTime;

pub use self::xlsx::SpreadsheetWriter;
use crate::file_format::FileFormat;
use crate::wording::Language;

/// What a file says before its entries.
#[derive(Debug, Clone)]
pub struct StatementHead {
    /// The month.
    pub outline: Outline,
    /// The totals of its pieces; only 1CClientBankExchange and camt.053 have them.
    pub totals: Vec<KindTotal>,
    /// The partner.
    pub partner: PartnerId,
    /// The partner's name.
    pub name: String,
    /// When the file is made.
    pub made_at: OffsetDateTime,
    /// The zone of its times.
    pub zone: Zone,
    /// The language of its texts.
    pub language: Language,
}

impl StatementHead {
    /// Sums of what the entries with these signs change the balance by: in, and out, both above zero.
    fn turnovers(&self) -> Result<(i64, i64), StoreError> {
        let overflow = || StoreError::Corrupt("entries.amount: a sum does not fit".to_owned());
        let (mut coming, mut going) = (0_i64, 0_i64);
        for total in statement::type_totals(&self.totals)? {
            let change = total.change.balance.get();
            let side = if change < 0 { &mut going } else { &mut coming };
            *side = side.checked_add(change.checked_abs().ok_or_else(overflow)?).ok_or_else(overflow)?;
        }
        Ok((coming, going))
    }
}

/// A file that is written entry by entry; each method appends bytes.
pub trait EntryWriter: Send {
    /// What stands before the entries.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] if a sum does not fit.
    fn head(&mut self, out: &mut Vec<u8>) -> Result<(), StoreError>;
    /// The next entry.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] if the balance after it does not fit.
    fn entry(&mut self, booked: &BookedMovement, out: &mut Vec<u8>) -> Result<(), StoreError>;
    /// What stands behind the entries.
    fn tail(&mut self, out: &mut Vec<u8>);
}

/// The writer of a form; `None` for a spreadsheet, which [`SpreadsheetWriter`] writes.
#[must_use]
pub fn entry_writer(format: FileFormat, head: StatementHead) -> Option<Box<dyn EntryWriter>> {
    match format {
        FileFormat::Csv => Some(Box::new(csv::PlainCsv { zone: head.zone })),
        FileFormat::ExcelCsv => Some(Box::new(csv::PeoplesCsv::new(&head))),
        FileFormat::OneC => Some(Box::new(one_c::OneC::new(head))),
        FileFormat::Camt => Some(Box::new(camt::Camt::new(head))),
        FileFormat::Xlsx => None,
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
pub fn file_name(outline: &Outline, format: FileFormat) -> String {
    let so_far = if outline.is_complete { "" } else { "-so-far" };
    format!("statement-{}{so_far}.{}", outline.month.text(), format.extension())
}

#[cfg(test)]
mod tests;
