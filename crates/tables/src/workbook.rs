//! The first sheet of an XLSX workbook.

use std::collections::BTreeMap;
use std::io::{self, Cursor, Read as _};

use calamine::{DataRef, ExcelDateTime, Reader as _, Xlsx, XlsxError};
use zip::ZipArchive;

use crate::table::{Builder, Cell, Naming, Table};
use crate::{MAX_COLUMNS, MAX_TEXT, MAX_UNPACKED, TableError};

/// The most parts of a workbook.
const MAX_PARTS: usize = 1_000;
/// Numbers have so many digits in a spreadsheet; behind them stands what binary fractions cost.
const DIGITS: usize = 15;

/// Whether the file begins like a workbook.
pub(crate) fn begins(file: &[u8]) -> bool {
    file.starts_with(b"PK\x03\x04")
}

/// Whether the file begins like one of an older format, or one with a password.
pub(crate) fn begins_old(file: &[u8]) -> bool {
    file.starts_with(&[0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1])
}

pub(crate) fn parse(file: &[u8], max_rows: usize, naming: Naming) -> Result<Table, TableError> {
    check_size(file)?;
    let mut workbook: Xlsx<_> = Xlsx::new(Cursor::new(file)).map_err(broken)?;
    let sheet = workbook.sheet_names().first().cloned().ok_or(TableError::BrokenWorkbook)?;
    let mut builder = Builder::new(max_rows, naming);
    for (row, cells) in rows(&mut workbook, &sheet, max_rows)? {
        builder.add(row.saturating_add(1), cells, None)?;
    }
    builder.finish()
}

fn broken(_: XlsxError) -> TableError {
    TableError::BrokenWorkbook
}

/// Unpacks every part to nowhere: a few bytes may stand for a thousand times as many, and what the file says about that need
/// not be true.
fn check_size(file: &[u8]) -> Result<(), TableError> {
    let mut archive = ZipArchive::new(Cursor::new(file)).map_err(|_| TableError::BrokenWorkbook)?;
    if archive.len() > MAX_PARTS {
        return Err(TableError::TooLarge);
    }
    let mut left = MAX_UNPACKED;
    for place in 0..archive.len() {
        let part = archive.by_index(place).map_err(|_| TableError::BrokenWorkbook)?;
        let unpacked =
            io::copy(&mut part.take(left + 1), &mut io::sink()).map_err(|_| TableError::BrokenWorkbook)?;
        left = left.checked_sub(unpacked).ok_or(TableError::TooLarge)?;
    }
    Ok(())
}

/// The rows that have cells, by their numbers from 0. Cells are read one by one: as a rectangle, two of them in opposite
/// corners of the sheet would fill the memory.
fn rows(
    workbook: &mut Xlsx<Cursor<&[u8]>>,
    sheet: &str,
    max_rows: usize,
) -> Result<BTreeMap<u32, Vec<Cell>>, TableError> {
    let mut reader = workbook.worksheet_cells_reader(sheet).map_err(broken)?;
    let mut rows: BTreeMap<u32, Vec<Cell>> = BTreeMap::new();
    let mut bytes = 0;
    while let Some(read) = reader.next_cell_with_formula_metadata().map_err(broken)? {
        let (row, column) = read.pos;
        let cell = if read.formula.is_some() { Cell::Formula } else { Cell::of(&text(&read.value)) };
        if cell.is_empty() {
            continue;
        }
        // Cells of one text share it in the file, and have a copy each here.
        bytes += cell.text().len();
        if bytes > MAX_TEXT {
            return Err(TableError::TooLarge);
        }
        let column = usize::try_from(column).unwrap_or(usize::MAX);
        if column >= MAX_COLUMNS {
            return Err(TableError::TooManyColumns);
        }
        // One for the names.
        if rows.len() > max_rows && !rows.contains_key(&row) {
            return Err(TableError::TooManyRows(max_rows));
        }
        let cells = rows.entry(row).or_default();
        if cells.len() <= column {
            cells.resize(column + 1, Cell::of(""));
        }
        if let Some(place) = cells.get_mut(column) {
            *place = cell;
        }
    }
    Ok(rows)
}

/// A value as a person would write it.
fn text(value: &DataRef<'_>) -> String {
    match value {
        DataRef::Int(number) => number.to_string(),
        DataRef::Float(number) => number_text(*number),
        DataRef::String(text) => text.clone(),
        DataRef::SharedString(text) => (*text).to_owned(),
        DataRef::Bool(is_true) => if *is_true { "TRUE" } else { "FALSE" }.to_owned(),
        DataRef::DateTime(time) if time.is_datetime() => date_text(time),
        DataRef::DateTime(duration) => number_text(duration.as_f64()),
        DataRef::DateTimeIso(text) | DataRef::DurationIso(text) => text.clone(),
        DataRef::Error(error) => error.to_string(),
        DataRef::Empty => String::new(),
    }
}

fn number_text(number: f64) -> String {
    let rounded: f64 = format!("{number:.*e}", DIGITS - 1).parse().unwrap_or(number);
    // Zero has a sign, too.
    if rounded == 0.0 { "0".to_owned() } else { rounded.to_string() }
}

/// `DD.MM.YYYY`, and the time of day if there is one.
fn date_text(time: &ExcelDateTime) -> String {
    let (year, month, day, hour, minute, ..) = time.to_ymd_hms_milli();
    let date = format!("{day:02}.{month:02}.{year:04}");
    if (hour, minute) == (0, 0) { date } else { format!("{date} {hour:02}:{minute:02}") }
}
