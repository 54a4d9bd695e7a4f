//! The report of a month as a spreadsheet: a row for each employee, then the total.

use std::io::Write;

use kopeck_domain::report::ReportAmounts;
use kopeck_port_store::ReportRow;

use super::body;
use crate::wording::{Language, Text};
use crate::workbook::{Cell, Column, SpreadsheetError, Workbook};

/// The columns.
pub(super) const COLUMNS: [Column; 15] = [
    (Text::Employee, 38),
    (Text::CustomId, 16),
    (Text::Surname, 18),
    (Text::Name, 16),
    (Text::Patronymic, 18),
    (Text::Category, 18),
    (Text::CardsOpening, 15),
    (Text::Given, 15),
    (Text::Spent, 15),
    (Text::Refunded, 15),
    (Text::Returned, 15),
    (Text::Corrected, 15),
    (Text::Late, 18),
    (Text::CardsClosing, 15),
    (Text::Payments, 11),
];

/// Writes a spreadsheet. The rows go to a temporary file, so memory does not grow with them.
pub struct ReportSpreadsheet {
    book: Workbook,
}

impl ReportSpreadsheet {
    /// A spreadsheet without rows in a language.
    ///
    /// # Errors
    /// [`SpreadsheetError::File`] if there is no temporary file.
    pub fn new(language: Language) -> Result<Self, SpreadsheetError> {
        let mut book = Workbook::new(language);
        book.begin_rows(Text::Report, &COLUMNS)?;
        Ok(Self { book })
    }

    /// Adds a row.
    ///
    /// # Errors
    /// [`SpreadsheetError`].
    pub fn add(&mut self, row: &ReportRow) -> Result<(), SpreadsheetError> {
        self.write(row, None)
    }

    /// Adds the total, and writes the file.
    ///
    /// # Errors
    /// [`SpreadsheetError`].
    pub fn finish(mut self, sums: &ReportAmounts, file: impl Write + Send) -> Result<(), SpreadsheetError> {
        let row = ReportRow { place: ReportRow::LAST, person: None, amounts: *sums };
        self.write(&row, Some(Text::Total))?;
        Ok(self.book.finish(file)?)
    }

    fn write(&mut self, row: &ReportRow, title: Option<Text>) -> Result<(), SpreadsheetError> {
        let (language, row) = (self.book.language(), body(row)?);
        let id = row.id_employee.map(|id| id.to_string());
        let first = match (&id, title) {
            (_, Some(title)) => title.of(language),
            (Some(id), None) => id,
            (None, None) => Text::Nobody.of(language),
        };
        let cells = [
            Cell::Text(first),
            row.custom_id.as_deref().into(),
            row.surname.as_deref().into(),
            row.name.as_deref().into(),
            row.patronymic.as_deref().into(),
            row.category.as_deref().into(),
            Cell::Amount(row.opening),
            Cell::Amount(row.given),
            Cell::Amount(row.spent),
            Cell::Amount(row.refunded),
            Cell::Amount(row.returned),
            Cell::Amount(row.correction),
            Cell::Amount(row.late),
            Cell::Amount(row.closing),
            Cell::Number(i64::try_from(row.payments).unwrap_or(i64::MAX)),
        ];
        match title {
            Some(_) => self.book.bold_row(&cells)?,
            None => self.book.row(&cells)?,
        }
        Ok(())
    }
}
