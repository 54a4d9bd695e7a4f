//! Refusals corrected in place: a new draft with the corrected rows, in the place of the one before.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use kopeck_api::operations::{RUN_CANCEL, RUN_GET};
use kopeck_api::{Run as ApiRun, RunKind, RunState};
use kopeck_domain::access::Scope;
use kopeck_domain::column::Column;
use kopeck_domain::ids::{PartnerId, RunId};
use kopeck_domain::run::row::{Cell as RunCell, CellValue};
use kopeck_domain::run::{Fault, FaultCode, Run, RunItem};
use kopeck_port_store::page::Page as StorePage;
use kopeck_port_store::{Access, RunItemFilter, UnitOfWork};
use kopeck_service::runs::{self, RunError};
use kopeck_tables::{Cell as FileCell, ROW_FAULTS, Row, Table, write};
use serde_json::{Map, Value, json};

use super::{new, show, upload};
use crate::call::Problem;
use crate::request::Pairs;
use crate::texts::{Text, code_text};
use crate::view::{Block, Cell, Control, ControlTable, Page};
use crate::visit::{Outcome, Reply, Visit};

/// How many faulty rows the page of a run offers for correction; the others follow once these are corrected.
const OFFERED: u32 = 100;
/// How many items are read at a time.
const PIECE: u32 = 1_000;

/// Offers the faulty rows for correction, each with the value that is wrong.
///
/// # Errors
/// If they cannot be read.
pub(super) async fn push(visit: &Visit<'_>, page: &mut Page, run: &ApiRun) -> Result<(), Problem> {
    // Its limits stand beside its rows.
    if run.kind == RunKind::Limit {
        return Ok(());
    }
    let (partner, id) = (visit.partner()?, RunId::new(run.id_run));
    let filter = RunItemFilter { faulty: Some(true), outcome: None };
    let offered = StorePage::new(1, OFFERED).map_err(|_| Problem::failed(visit.language))?;
    let listed =
        visit.in_store(Access::Read, move |unit| runs::list_items(unit, partner, id, filter, offered));
    let items = listed.await.map_err(|error: RunError| visit.failed(&error))?.items;
    let columns = [
        (Text::LINE, true),
        (Text::PERSONNEL_NUMBER, false),
        (Text::WHAT_IS_WRONG, false),
        (Text::COLUMN, false),
        (Text::CORRECT_VALUE, false),
        (Text::LEAVE_OUT, false),
    ];
    let mut table = ControlTable {
        caption: visit.t(Text::FAULTY_ROWS).to_owned(),
        columns: visit.columns(&columns),
        rows: Vec::new(),
    };
    for item in &items {
        let Some(fault) = &item.fault else { continue };
        let (number, line) = (item.ordinal, item.line);
        let place = place_of(item, fault);
        let name =
            place.map_or_else(|| name_of(fault), |place| item.cells.get(place).map_or("", |cell| &cell.name));
        let is_of_row = is_of_row(fault);
        let value = place.and_then(|place| item.cells.get(place)).map_or("", text_of);
        let label = |text: Text| format!("{} {line}, {}", visit.t(Text::LINE), visit.t(text));
        table.rows.push(vec![
            Control::Cell(Cell::number(line.to_string())),
            Control::Cell(Cell::text(item.custom_id.as_ref().map(|id| id.as_str()).unwrap_or_default())),
            Control::Cell(Cell::text(code_text(visit.language, fault.code.as_str(), &fault.detail))),
            Control::Cell(Cell::text(if is_of_row { "" } else { name })),
            if is_of_row {
                Control::Cell(Cell::default())
            } else {
                let label = format!("{}, {name}", label(Text::CORRECT_VALUE));
                Control::Input(value_name(number), label, value.to_owned())
            },
            Control::Check(out_name(number), label(Text::LEAVE_OUT)),
        ]);
    }
    let form = visit.post(&format!("/run/{}/correct", run.id_run), Text::CORRECT);
    let mut form = form.titled(visit.t(Text::CORRECT_ROWS));
    form.table = Some(table);
    page.push(Block::Form(form));
    page.push(Block::Text(visit.t(Text::CORRECT_HINT).to_owned()));
    Ok(())
}

fn value_name(number: u32) -> String {
    format!("value-{number}")
}

fn out_name(number: u32) -> String {
    format!("out-{number}")
}

/// What is written in a cell.
fn text_of(cell: &RunCell) -> &str {
    match &cell.value {
        CellValue::Text(text) => text,
        CellValue::Blank | CellValue::Formula => "",
    }
}

/// Whether the row as a whole cannot be trusted, so that no single value mends it.
fn is_of_row(fault: &Fault) -> bool {
    ROW_FAULTS.contains(&fault.detail.as_str())
}

/// Where the value is that is wrong; nowhere if it is missing together with its column.
fn place_of(item: &RunItem, fault: &Fault) -> Option<usize> {
    let is_filled = |cell: &RunCell| cell.value != CellValue::Blank;
    if fault.field == "amount" {
        let is_amount =
            |cell: &RunCell| matches!(Column::named(&cell.name), Some(Column::Amount | Column::Roubles));
        let mut places = item.cells.iter().enumerate().filter(|(_, cell)| is_amount(cell));
        let first = places.clone().next();
        return places.find(|(_, cell)| is_filled(cell)).or(first).map(|(place, _)| place);
    }
    let is_it = |cell: &RunCell| cell.name == fault.field;
    if fault.code == FaultCode::Ambiguous {
        return item.cells.iter().rposition(|cell| is_it(cell) && is_filled(cell));
    }
    item.cells
        .iter()
        .position(|cell| is_it(cell) && is_filled(cell))
        .or_else(|| item.cells.iter().position(is_it))
}

/// The column that a missing value gets.
fn name_of(fault: &Fault) -> &str {
    if fault.field == "amount" { "rubles" } else { &fault.field }
}

/// The items with what the form says: rows that are left out, and values other than those that are there.
fn corrected(items: Vec<RunItem>, form: &Pairs) -> Vec<RunItem> {
    let form = form.by_name();
    let value_of = |name: &str| form.get(name).copied();
    let fix = |mut item: RunItem| {
        let number = item.ordinal;
        let Some(fault) = item.fault.clone() else { return Some(item) };
        if value_of(&out_name(number)) == Some("yes") {
            return None;
        }
        let Some(given) = value_of(&value_name(number)).filter(|_| !is_of_row(&fault)) else {
            return Some(item);
        };
        let value = |text: String| if text.is_empty() { CellValue::Blank } else { CellValue::Text(text) };
        match place_of(&item, &fault).and_then(|place| item.cells.get_mut(place)) {
            Some(cell) if text_of(cell) == given => {}
            Some(cell) => cell.value = value(given.to_owned()),
            None if given.is_empty() => {}
            None => {
                item.cells.push(RunCell { name: name_of(&fault).to_owned(), value: value(given.to_owned()) });
            }
        }
        Some(item)
    };
    items.into_iter().filter_map(fix).collect()
}

/// The columns of a run that was made of a file: all its items have the same. Those of a list count from 1, and may each have
/// others; there an empty value means something other than none.
fn columns_of_file(items: &[RunItem]) -> Option<Vec<String>> {
    let names = |item: &RunItem| item.cells.iter().map(|cell| cell.name.clone()).collect::<Vec<_>>();
    let columns = names(items.first().filter(|item| item.line > 1)?);
    items.iter().all(|item| names(item) == columns).then_some(columns)
}

/// The items as a list.
fn list(items: &[RunItem]) -> Value {
    let value = |cell: &RunCell| match &cell.value {
        CellValue::Text(text) => json!(text),
        CellValue::Blank | CellValue::Formula => Value::Null,
    };
    let object = |item: &RunItem| {
        Value::Object(item.cells.iter().map(|cell| (cell.name.clone(), value(cell))).collect())
    };
    items.iter().map(object).collect()
}

/// The items as a table of these columns, and of those that corrections have added.
fn table(columns: Vec<String>, items: &[RunItem]) -> Table {
    let given = columns.len();
    let mut names = columns;
    for added in items.iter().flat_map(|item| item.cells.iter().skip(given)) {
        if !names.iter().skip(given).any(|name| *name == added.name) {
            names.push(added.name.clone());
        }
    }
    let row = |item: &RunItem| {
        let mut cells: Vec<FileCell> = item.cells.iter().take(given).map(file_cell).collect();
        for name in names.iter().skip(given) {
            let added = item.cells.iter().skip(given).find(|cell| cell.name == *name);
            cells.push(added.map_or(FileCell::Text(String::new()), file_cell));
        }
        let fault = item.fault.as_ref().filter(|fault| is_of_row(fault));
        Row { line: item.line, cells, fault: fault.and(ROW_FAULTS.first().copied()) }
    };
    let rows = items.iter().map(row).collect();
    Table { line: 1, names, rows }
}

fn file_cell(cell: &RunCell) -> FileCell {
    match &cell.value {
        CellValue::Text(text) => FileCell::Text(text.clone()),
        CellValue::Blank => FileCell::Text(String::new()),
        CellValue::Formula => FileCell::Formula,
    }
}

/// Makes a new draft of the corrected rows, in the place of the one before, which is cancelled.
pub(super) async fn correct(visit: &Visit<'_>, id: &str) -> Outcome {
    visit.require(Scope::RunsWrite)?;
    let run: ApiRun = visit.get(&RUN_GET, &[id], &[]).await?;
    // Cancelled it may be by this form, sent before.
    if !matches!(run.state, RunState::Draft | RunState::Rejected) {
        let problem = Problem::new(409, visit.language, Text::NO_DRAFT);
        return show::show(visit, id, Some(&problem)).await;
    }
    let (partner, run_id) = (visit.partner()?, RunId::new(run.id_run));
    let found = visit.in_store(Access::Read, move |unit| {
        let view = runs::get(unit, partner, run_id)?;
        Ok::<_, RunError>((view.run, all_items(unit, partner, run_id)?))
    });
    let (stored, items) = found.await.map_err(|error| visit.failed(&error))?;
    let columns = columns_of_file(&items);
    let (items, mut body) = (corrected(items, &visit.form), terms(visit, &stored));
    if let Some(columns) = columns {
        match visit.read_file(move || write(&table(columns, &items))).await? {
            Ok(file) => body.insert("file".to_owned(), json!(STANDARD.encode(file))),
            Err(error) => return show::show(visit, id, Some(&upload::problem(visit, &error))).await,
        };
    } else {
        body.insert("items".to_owned(), list(&items));
    }
    // The reference is free for the new draft once the one before has ended.
    let key = format!("{}.cancel", visit.key()?);
    if let Err(problem) = visit.change_as(&key, &RUN_CANCEL, &[id], Some(json!({}))).await {
        return show::show(visit, id, Some(&problem)).await;
    }
    match new::draft(visit, body.into()).await {
        Ok(Reply::SeeOther(path)) => Ok(Reply::SeeOther(format!("{path}?done=corrected"))),
        Ok(other) => Ok(other),
        Err(problem) => show::show(visit, id, Some(&problem)).await,
    }
}

/// All items but those whose person was erased: nothing is left of them.
fn all_items(unit: &mut dyn UnitOfWork, partner: PartnerId, id: RunId) -> Result<Vec<RunItem>, RunError> {
    let mut items = Vec::new();
    for from in (0..).step_by(PIECE as usize) {
        let piece = runs::items(unit, partner, id, from, PIECE)?;
        if piece.is_empty() {
            break;
        }
        items.extend(piece.into_iter().filter(|item| !item.cells.is_empty()));
    }
    Ok(items)
}

/// What the run is beside its items.
fn terms(visit: &Visit<'_>, run: &Run) -> Map<String, Value> {
    let mut body = Map::from_iter([("kind".to_owned(), json!(run.kind().as_str()))]);
    if let Some(reference) = run.reference() {
        body.insert("reference".to_owned(), json!(reference.as_str()));
    }
    if let Some(at) = run.at() {
        body.insert("at".to_owned(), json!(visit.parts.env.settings.zone.moment_text(at)));
    }
    if run.creates_categories() {
        body.insert("createCategories".to_owned(), Value::Bool(true));
    }
    body
}

#[cfg(test)]
mod tests {
    use kopeck_tables::parse;

    use super::*;

    fn cell(name: &str, text: &str) -> RunCell {
        let value = if text.is_empty() { CellValue::Blank } else { CellValue::Text(text.to_owned()) };
        RunCell { name: name.to_owned(), value }
    }

    fn item(ordinal: u32, cells: Vec<RunCell>, fault: Option<Fault>) -> RunItem {
        RunItem {
            ordinal,
            line: ordinal + 2,
            cells,
            limit: None,
            employee: None,
            custom_id: None,
            card: None,
            is_main: false,
            amount: None,
            balance_seen: None,
            fault,
            outcome: None,
            reason: None,
        }
    }

    fn row(ordinal: u32, person: &str, amount: &str, fault: Option<Fault>) -> RunItem {
        item(ordinal, vec![cell("Табельный номер", person), cell("Сумма", amount), cell("note", "x")], fault)
    }

    fn fault(field: &str, code: FaultCode) -> Option<Fault> {
        Some(Fault::new(field, code, "is wrong"))
    }

    #[test]
    fn rows_are_corrected_left_out_or_stay_as_they_are() {
        let of_row = Some(Fault::new("Табельный номер", FaultCode::Invalid, ROW_FAULTS[0]));
        let mut formula = row(4, "T-5", "", fault("amount", FaultCode::Formula));
        formula.cells[1].value = CellValue::Formula;
        let items = vec![
            row(0, "T-1", "5", None),
            row(1, "T-9", "5", fault("Табельный номер", FaultCode::EmployeeNotFound)),
            row(2, "T-3", "5,555", fault("amount", FaultCode::Invalid)),
            row(3, "T-4", "1", of_row),
            formula,
            row(5, "T-6", "9", fault("amount", FaultCode::OverCardLimit)),
        ];
        let columns = columns_of_file(&items).unwrap();
        let form = "value-0=7&value-1=T-2&value-2=5%2C55&value-3=T-8&value-4=&value-5=9&out-5=yes";
        let items = corrected(items, &Pairs::parse(form.as_bytes()));
        let read = parse(&write(&table(columns, &items)).unwrap(), 10).unwrap();
        let shown: Vec<(u32, &str, &FileCell, bool)> = read
            .rows
            .iter()
            .map(|row| (row.line, row.cells[0].text(), &row.cells[1], row.fault.is_some()))
            .collect();
        let text = |text: &str| FileCell::Text(text.to_owned());
        assert_eq!(
            shown,
            [
                (2, "T-1", &text("5"), false),
                (3, "T-2", &text("5"), false),
                (4, "T-3", &text("5,55"), false),
                (5, "T-4", &text("1"), true),
                (6, "T-5", &FileCell::Formula, false),
            ]
        );
        assert_eq!(read.names, ["Табельный номер", "Сумма", "note"]);
    }

    #[test]
    fn a_column_that_is_missing_is_added() {
        let items = vec![
            item(0, vec![cell("customIdCard", "123")], fault("amount", FaultCode::Missing)),
            item(1, vec![cell("customIdCard", "")], fault("customId", FaultCode::Missing)),
            item(2, vec![cell("customIdCard", "456")], fault("amount", FaultCode::Missing)),
        ];
        let columns = columns_of_file(&items).unwrap();
        let items = corrected(items, &Pairs::parse(b"value-0=5&value-1=T-1&value-2="));
        let table = table(columns, &items);
        assert_eq!(table.names, ["customIdCard", "rubles", "customId"]);
        let texts = |row: &Row| row.cells.iter().map(|cell| cell.text().to_owned()).collect::<Vec<_>>();
        assert_eq!(texts(&table.rows[0]), ["123", "5", ""]);
        assert_eq!(texts(&table.rows[1]), ["", "", "T-1"]);
        assert_eq!(texts(&table.rows[2]), ["456", "", ""]);
    }

    /// In a list, a value that is empty clears what there is, and one that is not there does not.
    #[test]
    fn a_list_stays_a_list() {
        let mut items = vec![
            item(0, vec![cell("customId", "A"), cell("name", "")], None),
            item(1, vec![cell("customId", "B!")], fault("customId", FaultCode::Invalid)),
        ];
        items[0].line = 1;
        items[1].line = 2;
        assert_eq!(columns_of_file(&items), None);
        let items = corrected(items, &Pairs::parse(b"value-1=B"));
        assert_eq!(list(&items), json!([{"customId": "A", "name": null}, {"customId": "B"}]));
    }

    #[test]
    fn of_two_amounts_or_names_the_one_that_is_wrong_is_offered() {
        let both =
            item(0, vec![cell("amount", ""), cell("Сумма", "5,555")], fault("amount", FaultCode::Invalid));
        assert_eq!(place_of(&both, both.fault.as_ref().unwrap()), Some(1));
        let twice = vec![cell("customId", "A"), cell("customId", "B"), cell("customId", "")];
        let twice = item(0, twice, fault("customId", FaultCode::Ambiguous));
        assert_eq!(place_of(&twice, twice.fault.as_ref().unwrap()), Some(1));
        let none = item(0, vec![cell("customId", "A")], fault("amount", FaultCode::Missing));
        assert_eq!(place_of(&none, none.fault.as_ref().unwrap()), None);
    }
}
