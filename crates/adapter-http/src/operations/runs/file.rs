//! The files of runs: tables of items, and what became of them.

use std::collections::HashMap;
use std::io::{Seek as _, Write as _};

use actix_web::web::Bytes;
use kopeck_domain::column::Column;
use kopeck_domain::ids::{PartnerId, RunId};
use kopeck_domain::run::row::{Cell, CellValue, Cells, roubles};
use kopeck_domain::run::{Fault, FaultCode, MAX_ITEMS, RunItem, RunKind};
use kopeck_port_store::{Access, Store, UnitOfWork, transact};
use kopeck_service::runs::InputRow;
use kopeck_tables::{Row, Table, parse};

use crate::cells::csv_cell;
use crate::file_format::FileFormat;
use crate::input::faults::Faults;
use crate::list_stream::PAGE;
use crate::wording::Language;
use crate::workbook::{self, SpreadsheetError, Workbook};

/// The forms of these files.
pub(super) const FORMS: [FileFormat; 2] = [FileFormat::Csv, FileFormat::Xlsx];

/// The columns of a result behind those of the file.
const OUTCOME: [&str; 2] = ["outcome", "reason"];

/// A file with the items of a new run.
pub(super) struct GivenFile {
    pub(super) bytes: Bytes,
    /// The field that holds it, or `body`.
    pub(super) field: &'static str,
}

impl GivenFile {
    /// The items of a run of this kind.
    ///
    /// # Errors
    /// [`Faults`] if it is no table of such items. Whatever is wrong with a single row is a fault of its item.
    pub(super) fn rows(&self, kind: RunKind) -> Result<Vec<InputRow>, Faults> {
        let refused = |detail: String| Faults::of(self.field, detail);
        let table = parse(&self.bytes, MAX_ITEMS).map_err(|error| refused(error.to_string()))?;
        if kind != RunKind::VirtualOrder && !table.names_people() {
            let names = "customId, idEmployee, idCard or customIdCard";
            return Err(refused(format!("has no column that names a person: {names}")));
        }
        if table.rows.is_empty() {
            return Err(refused("has no rows below the names".to_owned()));
        }
        Ok(table.rows.iter().map(|row| input_row(&table, row)).collect())
    }
}

/// A row as an item, with all columns of its table under their own names: an empty cell may mean something, too.
fn input_row(table: &Table, row: &Row) -> InputRow {
    let value = |place: usize| match row.cells.get(place) {
        None => CellValue::Blank,
        Some(kopeck_tables::Cell::Formula) => CellValue::Formula,
        Some(kopeck_tables::Cell::Text(text)) if text.is_empty() => CellValue::Blank,
        Some(kopeck_tables::Cell::Text(text)) => CellValue::Text(text.clone()),
    };
    let named = table.names.iter().enumerate();
    let cells: Vec<Cell> =
        named.map(|(place, name)| Cell { name: name.clone(), value: value(place) }).collect();
    let fault = row.fault.map(|detail| {
        let field = Cells::new(&cells).person_field().to_owned();
        Fault::new(field, FaultCode::Invalid, detail)
    });
    InputRow { line: row.line, cells, limit: None, fault }
}

/// A column of a result.
struct ItemColumn {
    name: String,
    /// How many columns of this name stand before it.
    nth: usize,
}

/// The items of a run, which are read in pieces.
pub(super) struct ItemReader<'a> {
    pub(super) store: &'a dyn Store,
    pub(super) partner: PartnerId,
    pub(super) run: RunId,
}

impl ItemReader<'_> {
    /// Writes what became of the items into a temporary file of this form. Blocks.
    ///
    /// # Errors
    /// [`SpreadsheetError`].
    pub(super) fn file(&self, form: FileFormat) -> Result<std::fs::File, SpreadsheetError> {
        let columns = self.columns()?;
        let mut file = tempfile::tempfile().map_err(file_error)?;
        let titles: Vec<&str> = columns.iter().map(|column| column.name.as_str()).chain(OUTCOME).collect();
        if form == FileFormat::Xlsx {
            let mut book = Workbook::new(Language::English);
            book.begin_named("Result", &titles)?;
            self.each(|item| {
                let cells = row_of(&columns, item);
                Ok(book.row(&cells.iter().map(|(name, text)| sheet_cell(name, text)).collect::<Vec<_>>())?)
            })?;
            book.finish(&mut file)?;
        } else {
            let mut out = std::io::BufWriter::new(&mut file);
            let line = |cells: &mut dyn Iterator<Item = &str>| {
                let cells: Vec<_> = cells.map(csv_cell).collect();
                format!("{}\r\n", cells.join(","))
            };
            out.write_all(line(&mut titles.iter().copied()).as_bytes()).map_err(file_error)?;
            self.each(|item| {
                let cells = row_of(&columns, item);
                let text = line(&mut cells.iter().map(|(_, text)| *text));
                out.write_all(text.as_bytes()).map_err(file_error)
            })?;
            out.flush().map_err(file_error)?;
            drop(out);
        }
        file.rewind().map_err(file_error)?;
        Ok(file)
    }

    /// All columns, in the order in which they come. Each item of a file has all of them.
    fn columns(&self) -> Result<Vec<ItemColumn>, SpreadsheetError> {
        let mut columns: Vec<ItemColumn> = Vec::new();
        self.each(|item| {
            let mut counts: HashMap<&str, usize> = HashMap::new();
            for cell in &item.cells {
                let nth = counts.entry(&cell.name).or_default();
                if !columns.iter().any(|column| column.nth == *nth && column.name == cell.name) {
                    columns.push(ItemColumn { name: cell.name.clone(), nth: *nth });
                }
                *nth += 1;
            }
            Ok(())
        })?;
        Ok(columns)
    }

    fn each(
        &self,
        mut take: impl FnMut(&RunItem) -> Result<(), SpreadsheetError>,
    ) -> Result<(), SpreadsheetError> {
        let (partner, run, mut from) = (self.partner, self.run, 0);
        loop {
            let read = move |unit: &mut dyn UnitOfWork| unit.runs().items(partner, run, from, PAGE);
            let items = transact(self.store, Access::Read, read)?;
            if items.is_empty() {
                return Ok(());
            }
            items.iter().try_for_each(&mut take)?;
            from += PAGE;
        }
    }
}

fn file_error(error: std::io::Error) -> SpreadsheetError {
    SpreadsheetError::File(rust_xlsxwriter::XlsxError::IoError(error))
}

/// The cells of an item in the order of the columns, then its outcome, and why: of a run that is not carried out yet, what is
/// wrong with it.
fn row_of<'a>(columns: &'a [ItemColumn], item: &'a RunItem) -> Vec<(&'a str, &'a str)> {
    let text = |column: &ItemColumn| {
        let cell = item.cells.iter().filter(|cell| cell.name == column.name).nth(column.nth);
        match cell.map(|cell| &cell.value) {
            Some(CellValue::Text(text)) => text.as_str(),
            Some(CellValue::Blank | CellValue::Formula) | None => "",
        }
    };
    let outcome = item.outcome.map_or("", |outcome| outcome.as_str());
    let fault = item.fault.as_ref().map(|fault| fault.detail.as_str());
    let reason = item.reason.as_deref().or(fault).unwrap_or_default();
    let given = columns.iter().map(|column| (column.name.as_str(), text(column)));
    given.chain(OUTCOME.into_iter().zip([outcome, reason])).collect()
}

/// Amounts are numbers, and whatever else stands in a cell is a text.
fn sheet_cell<'a>(name: &str, text: &'a str) -> workbook::Cell<'a> {
    let number = match Column::named(name) {
        Some(Column::Amount | Column::NumberCards) => text.parse().ok().map(workbook::Cell::Number),
        Some(Column::Roubles) => roubles(text).ok().map(workbook::Cell::Amount),
        _ => None,
    };
    number.unwrap_or(if text.is_empty() { workbook::Cell::Empty } else { workbook::Cell::Text(text) })
}
