//! Writes a table as a workbook, which can hold all that a table can: rows with their numbers, formulas, any text.

use rust_xlsxwriter::{DocProperties, ExcelDateTime, Formula, Workbook, XlsxError};

use crate::table::{Cell, Table};
use crate::{MAX_COLUMNS, TableError};

/// A workbook from which [`parse`](crate::parse) reads this table: names, lines, formulas, and which rows have a fault. If a row
/// stands above the second line, where the names need a line of their own, all of them move down by one. The same table makes the same
/// bytes.
///
/// # Errors
/// [`TableError::TooLarge`] if a text is too long for a workbook, [`TableError::TooManyColumns`] if there is no column left to mark a faulty
/// row by.
pub fn write(table: &Table) -> Result<Vec<u8>, TableError> {
    book(table).map_err(|_| TableError::TooLarge)?.ok_or(TableError::TooManyColumns)
}

fn book(table: &Table) -> Result<Option<Vec<u8>>, XlsxError> {
    let mut book = Workbook::new();
    // Otherwise it would have the time of the machine.
    let created = ExcelDateTime::from_ymd(2000, 1, 1)?;
    book.set_properties(&DocProperties::new().set_creation_datetime(&created));
    let sheet = book.add_worksheet();
    let mut column = 0;
    for name in &table.names {
        sheet.write_string(0, column, name)?;
        column += 1;
    }
    let shift = u32::from(table.rows.iter().any(|row| row.line < 2));
    for row in &table.rows {
        let place = row.line.saturating_sub(1).saturating_add(shift);
        for (column, cell) in (0..).zip(&row.cells) {
            match cell {
                Cell::Text(text) if text.is_empty() => {}
                Cell::Text(text) => {
                    sheet.write_string(place, column, text)?;
                }
                Cell::Formula => {
                    sheet.write_formula(place, column, Formula::new("=0"))?;
                }
            }
        }
        if row.fault.is_some() {
            if usize::from(column) >= MAX_COLUMNS {
                return Ok(None);
            }
            // A value without a column.
            sheet.write_string(place, column, "-")?;
        }
    }
    book.save_to_buffer().map(Some)
}
