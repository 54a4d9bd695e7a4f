//! The report of a month: JSON, and files. Each is written row by row, in memory that does not grow with their number.

mod xlsx;

use kopeck_api as api;
use kopeck_domain::report::ReportAmounts;
use kopeck_port_store::{ReportRow, StoreError};
use kopeck_service::report::{ReportOutline, sum_text};

use self::xlsx::COLUMNS;
pub use self::xlsx::ReportSpreadsheet;
use crate::cells::{ExcelCsv, csv_cell};
use crate::file_format::FileFormat;
use crate::wording::{Language, Text};

/// The forms of a report.
pub(crate) const REPORT_FORMS: [FileFormat; 3] = [FileFormat::Csv, FileFormat::ExcelCsv, FileFormat::Xlsx];

/// The names of the columns.
const NAMES: &str = "idEmployee,customId,surname,name,patronymic,category,opening,given,spent,refunded,returned,\
                     correction,late,closing,payments\r\n";

/// The body of a row.
fn body(row: &ReportRow) -> Result<api::ReportRow, StoreError> {
    let person = row.person.as_ref();
    let text =
        |of: fn(&kopeck_port_store::ReportPerson) -> &Option<String>| person.and_then(|one| of(one).clone());
    let totals = totals(&row.amounts)?;
    Ok(api::ReportRow {
        id_employee: person.map(|person| person.id.uuid()),
        custom_id: text(|person| &person.custom_id),
        surname: text(|person| &person.surname),
        name: text(|person| &person.name),
        patronymic: text(|person| &person.patronymic),
        category: person.and_then(|person| person.category.as_ref()).map(|(_, name)| name.clone()),
        opening: totals.opening,
        given: totals.given,
        spent: totals.spent,
        refunded: totals.refunded,
        returned: totals.returned,
        correction: totals.correction,
        late: totals.late,
        closing: totals.closing,
        payments: totals.payments,
    })
}

/// The body of amounts.
fn totals(amounts: &ReportAmounts) -> Result<api::ReportTotals, StoreError> {
    let overflow = |_| StoreError::Corrupt("transactions.amount: a sum does not fit".to_owned());
    Ok(api::ReportTotals {
        opening: amounts.opening.get(),
        given: amounts.given.get(),
        spent: amounts.spent.get(),
        refunded: amounts.refunded.get(),
        returned: amounts.returned.get(),
        correction: amounts.correction.get(),
        late: amounts.late.get(),
        closing: amounts.closing().map_err(overflow)?.get(),
        payments: amounts.payments,
    })
}

/// The line of a row in a plain CSV file.
///
/// # Errors
/// [`StoreError::Corrupt`] if a sum does not fit.
pub(crate) fn csv_line(row: &ReportRow) -> Result<String, StoreError> {
    let row = body(row)?;
    let id = row.id_employee.map(|id| id.to_string()).unwrap_or_default();
    let texts = [row.custom_id, row.surname, row.name, row.patronymic, row.category];
    let [custom_id, surname, name, patronymic, category] = texts.map(Option::unwrap_or_default);
    let api::ReportRow {
        opening, given, spent, refunded, returned, correction, late, closing, payments, ..
    } = row;
    Ok(format!(
        "{id},{},{},{},{},{},{opening},{given},{spent},{refunded},{returned},{correction},{late},{closing},{payments}\r\n",
        csv_cell(&custom_id),
        csv_cell(&surname),
        csv_cell(&name),
        csv_cell(&patronymic),
        csv_cell(&category),
    ))
}

/// The first line of a plain CSV file.
#[must_use]
pub(crate) const fn csv_names() -> &'static str {
    NAMES
}

/// A form that is written row by row; each method appends bytes.
#[derive(Debug)]
pub enum RowWriter {
    /// JSON, and whether it has a row.
    Json(bool),
    /// Kopecks for programs.
    Csv,
    /// Roubles for people.
    Excel(Language),
}

impl RowWriter {
    /// What stands before the rows.
    pub fn head(&self, report: &ReportOutline, out: &mut Vec<u8>) {
        match self {
            Self::Json(_) => {
                let (sha256, is_changed) = match report.closed {
                    Some((sha256, is_changed)) => (format!("\"{}\"", sum_text(&sha256)), is_changed),
                    None => ("null".to_owned(), false),
                };
                let (month, complete) = (report.month.text(), report.is_complete);
                out.extend_from_slice(
                    format!(
                        "{{\"month\":\"{month}\",\"complete\":{complete},\"sha256\":{sha256},\
                         \"changedByErasure\":{is_changed},\"data\":["
                    )
                    .as_bytes(),
                );
            }
            Self::Csv => out.extend_from_slice(NAMES.as_bytes()),
            Self::Excel(language) => {
                let csv = ExcelCsv { language: *language };
                out.extend_from_slice(csv.mark().as_bytes());
                out.extend_from_slice(csv.line(&COLUMNS.map(|(name, _)| name.of(*language))).as_bytes());
            }
        }
    }

    /// The next row.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] if a sum does not fit.
    pub fn row(&mut self, row: &ReportRow, out: &mut Vec<u8>) -> Result<(), StoreError> {
        match self {
            Self::Json(has_rows) => {
                if *has_rows {
                    out.push(b',');
                }
                *has_rows = true;
                write_json(out, &body(row)?)?;
            }
            Self::Csv => out.extend_from_slice(csv_line(row)?.as_bytes()),
            Self::Excel(language) => {
                let csv = ExcelCsv { language: *language };
                out.extend_from_slice(csv.line(&excel_cells(&body(row)?, *language)).as_bytes());
            }
        }
        Ok(())
    }

    /// What stands behind the rows.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] if a sum does not fit.
    pub fn tail(&self, sums: &ReportAmounts, out: &mut Vec<u8>) -> Result<(), StoreError> {
        match self {
            Self::Json(_) => {
                out.extend_from_slice(b"],\"totals\":");
                write_json(out, &totals(sums)?)?;
                out.push(b'}');
            }
            Self::Csv => {}
            Self::Excel(language) => {
                let row = ReportRow { place: ReportRow::LAST, person: None, amounts: *sums };
                let mut cells = excel_cells(&body(&row)?, *language);
                Text::Total.of(*language).clone_into(&mut cells[0]);
                out.extend_from_slice(ExcelCsv { language: *language }.line(&cells).as_bytes());
            }
        }
        Ok(())
    }
}

fn write_json(out: &mut Vec<u8>, body: &impl serde::Serialize) -> Result<(), StoreError> {
    serde_json::to_writer(out, body).map_err(|error| StoreError::Failed(error.to_string()))
}

/// The cells of a row for people.
fn excel_cells(row: &api::ReportRow, language: Language) -> [String; 15] {
    let text = |text: &Option<String>| ExcelCsv::text(text.as_deref().unwrap_or_default());
    let id = row.id_employee.map(|id| id.to_string());
    [
        id.unwrap_or_else(|| Text::Nobody.of(language).to_owned()),
        text(&row.custom_id),
        text(&row.surname),
        text(&row.name),
        text(&row.patronymic),
        text(&row.category),
        language.roubles(row.opening),
        language.roubles(row.given),
        language.roubles(row.spent),
        language.roubles(row.refunded),
        language.roubles(row.returned),
        language.roubles(row.correction),
        language.roubles(row.late),
        language.roubles(row.closing),
        row.payments.to_string(),
    ]
}

/// The name of a file: of a month that is not over it says so.
#[must_use]
pub(crate) fn report_file_name(report: &ReportOutline, format: FileFormat) -> String {
    let so_far = if report.is_complete { "" } else { "-so-far" };
    format!("report-{}{so_far}.{}", report.month.text(), format.extension())
}

#[cfg(test)]
mod tests;
