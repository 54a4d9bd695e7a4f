//! A table as a spreadsheet.

use std::io::Write;

use rust_xlsxwriter::{Format, Workbook, Worksheet, XlsxError};
use serde_json::Value;

use crate::table::Column;

/// The most rows of a sheet, of which one has the names of the columns.
const MOST_ROWS: u32 = 1_048_576;
/// Greater numbers are texts: a cell holds a floating-point number.
const GREATEST: u64 = 1 << 53;
/// Wide enough for an identifier.
const WIDTH: u8 = 20;

/// A spreadsheet that is being written. The rows go to a temporary file, so memory does not grow with them.
pub(super) struct Sheet {
    workbook: Workbook,
    /// Of the names of columns.
    bold: Format,
    /// Of kopecks.
    amount: Format,
    /// Of all other numbers: every digit of a card's number.
    digits: Format,
    /// The sheet that is written to, from 0.
    sheet: usize,
    /// The next row of it.
    row: u32,
}

impl Sheet {
    pub(super) fn new(columns: &[Column]) -> Result<Self, XlsxError> {
        let format = |text| Format::new().set_num_format(text);
        let mut sheet = Self {
            workbook: Workbook::new(),
            bold: Format::new().set_bold(),
            amount: format("#,##0"),
            digits: format("0"),
            sheet: 0,
            row: 0,
        };
        sheet.begin(columns)?;
        Ok(sheet)
    }

    /// Adds a row.
    pub(super) fn add<'v>(
        &mut self,
        columns: &[Column],
        values: impl Iterator<Item = Option<&'v Value>>,
    ) -> Result<(), XlsxError> {
        if self.row >= MOST_ROWS {
            self.sheet += 1;
            self.begin(columns)?;
        }
        let row = self.row;
        let sheet = self.workbook.worksheet_from_index(self.sheet)?;
        for (column, value) in (0..).zip(values) {
            write_cell(sheet, row, column, value)?;
        }
        self.row += 1;
        Ok(())
    }

    /// Writes the file.
    pub(super) fn finish(mut self, file: impl Write + Send) -> Result<(), XlsxError> {
        self.workbook.save_to_writer(file)
    }

    fn begin(&mut self, columns: &[Column]) -> Result<(), XlsxError> {
        let sheet = self.workbook.add_worksheet_with_constant_memory()?;
        let name = match self.sheet {
            0 => "Export".to_owned(),
            more => format!("Export {}", more + 1),
        };
        // Before the rows: they are written as they come.
        sheet.set_name(name)?.set_freeze_panes(1, 0)?;
        for (place, column) in (0..).zip(columns) {
            let format = if column.is_money() { &self.amount } else { &self.digits };
            sheet.set_column_width(place, WIDTH)?.set_column_format(place, format)?;
        }
        for (place, column) in (0..).zip(columns) {
            let unit = if column.is_money() { " (kopecks)" } else { "" };
            sheet.write_string_with_format(0, place, format!("{}{unit}", column.title), &self.bold)?;
        }
        self.row = 1;
        Ok(())
    }
}

/// Writes a value. A cell of text is never a formula, so it needs no apostrophe.
fn write_cell(sheet: &mut Worksheet, row: u32, column: u16, value: Option<&Value>) -> Result<(), XlsxError> {
    match value {
        None | Some(Value::Null) => {}
        Some(Value::String(text)) => {
            sheet.write_string(row, column, text)?;
        }
        #[expect(clippy::cast_precision_loss, reason = "those that would lose digits are written as texts")]
        Some(Value::Number(number))
            if number.as_i64().is_some_and(|number| number.unsigned_abs() <= GREATEST) =>
        {
            sheet.write_number(row, column, number.as_i64().unwrap_or_default() as f64)?;
        }
        Some(other) => {
            sheet.write_string(row, column, other.to_string())?;
        }
    }
    Ok(())
}
