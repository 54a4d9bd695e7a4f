//! A statement as a spreadsheet: a sheet of entries, and one of totals.

use std::io::Write;

use kopeck_api::{BalanceEntry, Statement};
use kopeck_domain::calendar::{Zone, date_text};
use kopeck_port_store::{BookedMovement, StoreError};
use rust_xlsxwriter::{ExcelDateTime, Format, FormatAlign, Workbook, Worksheet, XlsxError};
use time::PrimitiveDateTime;

use super::COLUMNS;
use crate::dto::entry;

/// The most rows of a sheet, of which one has the names of the columns.
const MOST_ROWS: u32 = 1_048_576;
/// Greater numbers are texts: a cell holds a floating-point number.
const GREATEST: i64 = 1 << 53;
/// Wide enough for the kopecks of a billion roubles: in a narrower column the program rounds what it shows.
const AMOUNT_WIDTH: u8 = 18;

const TOTAL_COLUMNS: [&str; 5] = ["type", "number", "amount", "balanceChange", "holdChange"];
const DAY_COLUMNS: [&str; 10] = [
    "date",
    "opening",
    "closing",
    "amount",
    "balanceChange",
    "holdChange",
    "openingHold",
    "openingAvailable",
    "closingHold",
    "closingAvailable",
];

/// Why there is no spreadsheet.
#[derive(Debug, thiserror::Error)]
pub enum SpreadsheetError {
    /// The file could not be written.
    #[error("the spreadsheet cannot be written: {0}")]
    File(#[from] XlsxError),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Writes a spreadsheet. The rows go to a temporary file, so memory does not grow with them.
pub struct SpreadsheetWriter {
    workbook: Workbook,
    zone: Zone,
    /// The format of column names.
    bold: Format,
    /// The format of amounts.
    amount: Format,
    /// The sheet of entries that is written to, from 0: one holds a million rows.
    sheet: usize,
    /// The next row of it.
    row: u32,
}

impl SpreadsheetWriter {
    /// A spreadsheet without entries, whose times are those of `zone`.
    ///
    /// # Errors
    /// [`SpreadsheetError::File`] if there is no temporary file.
    pub fn new(zone: Zone) -> Result<Self, SpreadsheetError> {
        let (bold, amount) = (Format::new().set_bold(), Format::new().set_num_format("#,##0"));
        let mut writer = Self { workbook: Workbook::new(), zone, bold, amount, sheet: 0, row: 0 };
        writer.add_sheet()?;
        Ok(writer)
    }

    /// Adds an entry.
    ///
    /// # Errors
    /// [`SpreadsheetError`].
    pub fn add(&mut self, booked: &BookedMovement) -> Result<(), SpreadsheetError> {
        let entry = entry::body(booked, self.zone)?;
        let changes = [entry.available, entry.balance_change, entry.hold_change];
        let BalanceEntry { seq, at, entry_type, amount, balance, hold, of, .. } = entry;
        if self.row >= MOST_ROWS {
            self.sheet += 1;
            self.add_sheet()?;
        }
        let row = self.row;
        let sheet = self.workbook.worksheet_from_index(self.sheet)?;
        write_number(sheet, row, 0, seq)?;
        sheet.write_datetime(row, 1, &excel_time(at)?)?;
        sheet.write_string(row, 2, entry_type.as_str())?;
        write_number(sheet, row, 3, amount)?;
        write_number(sheet, row, 4, balance)?;
        write_number(sheet, row, 5, hold)?;
        sheet.write_string(row, 6, of.kind.as_str())?;
        if let Some(id) = of.id {
            sheet.write_string(row, 7, id.to_string())?;
        }
        if let Some(reference) = of.reference {
            // A cell of text is never a formula.
            sheet.write_string(row, 8, reference)?;
        }
        for (column, number) in (9..).zip(changes) {
            write_number(sheet, row, column, number)?;
        }
        self.row += 1;
        Ok(())
    }

    /// Adds the totals, and writes the file.
    ///
    /// # Errors
    /// [`SpreadsheetError::File`] if it cannot be written.
    pub fn finish(mut self, statement: &Statement, file: impl Write + Send) -> Result<(), SpreadsheetError> {
        let sheet = self.workbook.add_worksheet_with_constant_memory()?;
        sheet.set_name("Totals")?.set_column_width(0, 14)?.set_print_fit_to_pages(1, 1);
        for column in 1..=9 {
            sheet.set_column_width(column, AMOUNT_WIDTH)?.set_column_format(column, &self.amount)?;
        }
        let head: [(&str, &str); 3] = [
            ("month", &statement.month),
            ("amounts in", "kopecks"),
            ("complete", if statement.complete { "yes" } else { "no: the month is not over" }),
        ];
        let mut row = 0;
        for (name, text) in head {
            sheet.write_string(row, 0, name)?.write_string(row, 1, text)?;
            row += 1;
        }
        row = write_names(sheet, &self.bold, row + 1, &["", "balance", "hold", "available"])?;
        let Statement { opening, opening_hold, opening_available, .. } = *statement;
        let Statement { closing, closing_hold, closing_available, .. } = *statement;
        row = write_row(sheet, row, "opening", &[opening, opening_hold, opening_available])?;
        row = write_row(sheet, row, "closing", &[closing, closing_hold, closing_available])?;
        row = write_names(sheet, &self.bold, row + 1, &TOTAL_COLUMNS)?;
        for total in &statement.totals {
            let number = i64::try_from(total.number).unwrap_or(i64::MAX);
            let numbers = [number, total.amount, total.balance_change, total.hold_change];
            row = write_row(sheet, row, total.entry_type.as_str(), &numbers)?;
        }
        row = write_names(sheet, &self.bold, row + 1, &DAY_COLUMNS)?;
        for day in &statement.days {
            let ends = [day.opening_hold, day.opening_available, day.closing_hold, day.closing_available];
            let changes = [day.opening, day.closing, day.amount, day.balance_change, day.hold_change];
            row = write_row(sheet, row, &date_text(day.date), &[&changes[..], &ends].concat())?;
        }
        Ok(self.workbook.save_to_writer(file)?)
    }

    fn add_sheet(&mut self) -> Result<(), SpreadsheetError> {
        let sheet = self.workbook.add_worksheet_with_constant_memory()?;
        let name = match self.sheet {
            0 => "Entries".to_owned(),
            more => format!("Entries {}", more + 1),
        };
        // Before the rows: they are written as they come.
        sheet.set_name(name)?.set_freeze_panes(1, 0)?;
        sheet.set_landscape().set_print_fit_to_pages(1, 0).set_repeat_rows(0, 0)?;
        let time = Format::new().set_num_format("dd.mm.yyyy hh:mm").set_align(FormatAlign::Left);
        sheet.set_column_width(1, 17)?.set_column_format(1, &time)?;
        sheet
            .set_column_width(2, 13)?
            .set_column_width(6, 15)?
            .set_column_width(7, 38)?
            .set_column_width(8, 25)?;
        for column in (3..=5).chain(9..=11) {
            sheet.set_column_width(column, AMOUNT_WIDTH)?.set_column_format(column, &self.amount)?;
        }
        self.row = write_names(sheet, &self.bold, 0, &COLUMNS)?;
        Ok(())
    }
}

/// Writes names of columns; returns the next row.
fn write_names(sheet: &mut Worksheet, bold: &Format, row: u32, names: &[&str]) -> Result<u32, XlsxError> {
    for (column, name) in (0..).zip(names) {
        sheet.write_string_with_format(row, column, *name, bold)?;
    }
    Ok(row + 1)
}

/// Writes a row of numbers behind its name; returns the next row.
fn write_row(sheet: &mut Worksheet, row: u32, name: &str, numbers: &[i64]) -> Result<u32, XlsxError> {
    sheet.write_string(row, 0, name)?;
    for (column, number) in (1..).zip(numbers) {
        write_number(sheet, row, column, *number)?;
    }
    Ok(row + 1)
}

fn write_number(sheet: &mut Worksheet, row: u32, column: u16, number: i64) -> Result<(), XlsxError> {
    #[expect(clippy::cast_precision_loss, reason = "those that would lose digits are written as texts")]
    if number.unsigned_abs() <= GREATEST.unsigned_abs() {
        sheet.write_number(row, column, number as f64)?;
    } else {
        sheet.write_string(row, column, number.to_string())?;
    }
    Ok(())
}

fn excel_time(at: PrimitiveDateTime) -> Result<ExcelDateTime, XlsxError> {
    let year = u16::try_from(at.year()).unwrap_or(u16::MAX);
    ExcelDateTime::from_ymd(year, at.month().into(), at.day())?.and_hms(at.hour().into(), at.minute(), 0)
}
