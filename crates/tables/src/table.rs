//! A table as it was read.

use kopeck_domain::column::Column;
use unicode_normalization::UnicodeNormalization as _;

use crate::{MAX_COLUMNS, MAX_NAME, MAX_TEXT, TableError};

/// A table: a row of names, and what stands below them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    /// The line of the names, or in a workbook their row, from 1.
    pub line: u32,
    /// The names of the columns, as the file has them.
    pub names: Vec<String>,
    /// The rows that are not empty.
    pub rows: Vec<Row>,
}

/// A row with at least one cell that is not empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// The line on which it begins, or in a workbook its row, from 1.
    pub line: u32,
    /// Its cells; empty ones at the end are left out.
    pub cells: Vec<Cell>,
    /// Why the row as a whole cannot be trusted, such as a value without a column.
    pub fault: Option<&'static str>,
}

/// A cell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cell {
    /// What stands in it, in NFC and without blanks around it; empty if nothing does.
    Text(String),
    /// A formula, whose value the file has not computed, or perhaps not anew.
    Formula,
}

impl Cell {
    /// What stands in it; nothing for a formula.
    #[must_use]
    pub fn text(&self) -> &str {
        match self {
            Self::Text(text) => text,
            Self::Formula => "",
        }
    }

    pub(crate) fn of(text: &str) -> Self {
        Self::Text(text.trim().nfc().collect())
    }

    pub(crate) fn is_empty(&self) -> bool {
        matches!(self, Self::Text(text) if text.is_empty())
    }
}

impl Table {
    /// Whether there is a column that names employees or cards.
    #[must_use]
    pub fn names_people(&self) -> bool {
        self.names.iter().any(|name| Column::named(name).is_some_and(Column::is_person))
    }
}

/// What the first row has to name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Naming {
    /// At least one column that is known.
    Known,
    /// Anything.
    Any,
}

/// Puts a table together, row by row.
pub(crate) struct Builder {
    max_rows: usize,
    naming: Naming,
    table: Option<Table>,
    /// The bytes that all rows have so far.
    bytes: usize,
}

/// The fault of a row with a value behind the last column.
pub(crate) const SURPLUS: &str =
    "has a value without a column: a value with a separator in it has to stand in quotes";

impl Builder {
    pub(crate) const fn new(max_rows: usize, naming: Naming) -> Self {
        Self { max_rows, naming, table: None, bytes: 0 }
    }

    /// Adds a row, the first of which names the columns. An empty one counts for nothing.
    pub(crate) fn add(
        &mut self,
        line: u32,
        mut cells: Vec<Cell>,
        fault: Option<&'static str>,
    ) -> Result<(), TableError> {
        while cells.pop_if(|cell| cell.is_empty()).is_some() {}
        if cells.is_empty() {
            return Ok(());
        }
        let Some(table) = &mut self.table else {
            self.table = Some(named(line, &cells, self.naming)?);
            return Ok(());
        };
        if table.rows.len() == self.max_rows {
            return Err(TableError::TooManyRows(self.max_rows));
        }
        let names: usize = table.names.iter().map(String::len).sum();
        self.bytes += names + cells.iter().map(|cell| cell.text().len()).sum::<usize>();
        if self.bytes > MAX_TEXT {
            return Err(TableError::TooLarge);
        }
        let is_surplus = cells.len() > table.names.len();
        cells.truncate(table.names.len());
        let fault = fault.or(is_surplus.then_some(SURPLUS));
        table.rows.push(Row { line, cells, fault });
        Ok(())
    }

    pub(crate) fn finish(self) -> Result<Table, TableError> {
        self.table.ok_or(TableError::Empty)
    }
}

/// The table with these names.
fn named(line: u32, cells: &[Cell], naming: Naming) -> Result<Table, TableError> {
    if cells.len() > MAX_COLUMNS {
        return Err(TableError::TooManyColumns);
    }
    let names: Vec<String> = cells.iter().map(|cell| cell.text().to_owned()).collect();
    if names.iter().any(|name| name.chars().count() > MAX_NAME) {
        return Err(TableError::LongName);
    }
    if naming == Naming::Known && names.iter().all(|name| Column::named(name).is_none()) {
        return Err(TableError::NoKnownColumn);
    }
    Ok(Table { line, names, rows: Vec::new() })
}
