#![doc = include_str!("../README.md")]

mod encoding;
mod formula;
mod separated;
mod table;
mod workbook;
mod write;

pub use formula::no_formula;
pub use table::{Cell, Row, Table};
pub use write::write;

use table::Naming;

/// The most columns of a table.
pub const MAX_COLUMNS: usize = 64;
/// The most bytes that the parts of a workbook have together, unpacked.
pub const MAX_UNPACKED: u64 = 32 << 20;
/// The most characters of the name of a column.
pub const MAX_NAME: usize = 100;
/// The most bytes that all rows have, each with the names of its columns: a value that stands in a file once can stand in any
/// number of cells.
pub const MAX_TEXT: usize = 16 << 20;

/// What the fault of a row can be; what [`write()`] writes has the first.
pub const ROW_FAULTS: [&str; 2] = [table::SURPLUS, separated::UNCLOSED];

/// Why a file is no table at all.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TableError {
    /// It has nothing but blanks.
    #[error("the file is empty")]
    Empty,
    /// It is neither text in a known encoding nor a workbook.
    #[error("the file is neither CSV, in UTF-8, UTF-16 or Windows-1251, nor an XLSX workbook")]
    Unknown,
    /// It is a workbook of an older format, or one with a password.
    #[error("the file is a workbook of an older format or has a password: save it as XLSX without one")]
    OldWorkbook,
    /// It begins like a workbook and is none.
    #[error("the file is no XLSX workbook that can be read")]
    BrokenWorkbook,
    /// Unpacked it is larger than [`MAX_UNPACKED`] or [`MAX_TEXT`].
    #[error("the file holds too much: leave out columns that are not needed")]
    TooLarge,
    /// Its first row names no column that is known.
    #[error("the first row names no column that is known; it has to hold names such as customId and amount")]
    NoKnownColumn,
    /// It has more rows than the caller wants.
    #[error("the file has more than {0} rows")]
    TooManyRows(usize),
    /// It has more than [`MAX_COLUMNS`] columns.
    #[error("the file has more than {MAX_COLUMNS} columns")]
    TooManyColumns,
    /// The name of a column is longer than [`MAX_NAME`].
    #[error("the name of a column has more than {MAX_NAME} characters")]
    LongName,
}

/// Reads a table of `max_rows` at most, beside the names. What the file is, its content says.
///
/// # Errors
/// [`TableError`] if it is no table at all. Whatever is wrong with single rows is for who reads their values.
pub fn parse(file: &[u8], max_rows: usize) -> Result<Table, TableError> {
    read(file, max_rows, Naming::Known)
}

/// As [`parse`], whatever the first row names: for a person who says which column is which.
///
/// # Errors
/// [`TableError`] if it is no table at all.
pub fn parse_any(file: &[u8], max_rows: usize) -> Result<Table, TableError> {
    read(file, max_rows, Naming::Any)
}

fn read(file: &[u8], max_rows: usize, naming: Naming) -> Result<Table, TableError> {
    if workbook::begins(file) {
        return workbook::parse(file, max_rows, naming);
    }
    if workbook::begins_old(file) {
        return Err(TableError::OldWorkbook);
    }
    separated::parse(&encoding::decode(file)?, max_rows, naming)
}

#[cfg(test)]
mod tests;
