#![doc = include_str!("../README.md")]

mod column;
mod encoding;
mod separated;
mod table;
mod value;
mod workbook;

pub use column::Column;
pub use table::{Cell, Row, Table};
pub use value::{Fault, FaultCode, Value, kopecks, roubles};

/// The most columns of a table.
pub const MAX_COLUMNS: usize = 64;
/// The most bytes that the parts of a workbook have together, unpacked.
pub const MAX_UNPACKED: u64 = 64 << 20;

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
    /// Unpacked it is larger than [`MAX_UNPACKED`].
    #[error("the workbook is too large when it is unpacked")]
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
}

/// Reads a table of `max_rows` at most, beside the names. What the file is, its content says.
///
/// # Errors
/// [`TableError`] if it is no table at all. Whatever is wrong with single rows is for who reads their values.
pub fn parse(file: &[u8], max_rows: usize) -> Result<Table, TableError> {
    if workbook::begins(file) {
        return workbook::parse(file, max_rows);
    }
    if workbook::begins_old(file) {
        return Err(TableError::OldWorkbook);
    }
    separated::parse(&encoding::decode(file)?, max_rows)
}

#[cfg(test)]
mod tests;
