//! A run of a file: what its names do not say, its person says on a page, for which the file is kept on the server.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use kopeck_api::RunKind;
use kopeck_domain::access::Scope;
use kopeck_domain::column::Column;
use kopeck_domain::ids::UploadId;
use kopeck_domain::run::MAX_ITEMS;
use kopeck_port_store::Access;
use kopeck_service::users;
use kopeck_tables::{MAX_COLUMNS, Table, TableError, parse_any, write};
use serde_json::json;
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use super::mapping::{self, CHOICES};
use super::new;
use crate::call::Problem;
use crate::request::Pairs;
use crate::texts::Text;
use crate::view::{Block, Cell, Control, ControlTable, Field, FieldKind, Page};
use crate::visit::{Outcome, Reply, Visit};

/// How many values of a column are shown.
const SAMPLE: usize = 4;

/// Takes a file: a run at once, if its names say what the columns hold, otherwise the page that asks.
pub(super) async fn receive(visit: &Visit<'_>) -> Outcome {
    visit.require(Scope::RunsWrite)?;
    let Some(file) = visit.file.clone() else {
        return new::show(visit, Some(&Problem::new(422, visit.language, Text::NO_FILE)));
    };
    let table = match read(visit, file.clone()).await {
        Ok(table) => table,
        Err(problem) => return new::show(visit, Some(&problem)),
    };
    let is_known = says_all(&table.names, visit.form.get("kind"));
    let made = if is_known { Some(send(visit, &visit.form, &file).await) } else { None };
    match made {
        Some(Err(problem)) if problem.status == 403 => Err(Problem::hidden(403, visit.language)),
        Some(Ok(reply)) => Ok(reply),
        // The file need not be chosen again because of what was typed beside it.
        Some(Err(problem)) => {
            let id = keep(visit, file).await?;
            page(visit, &id.to_string(), &table, Some(&problem))
        }
        None => {
            let id = keep(visit, file).await?;
            let terms = ["kind", "reference", "at", "createCategories"];
            let query = Pairs::from(terms.map(|name| (name, visit.form.get(name)))).query();
            Ok(Reply::SeeOther(format!("/runs/upload/{id}?{query}")))
        }
    }
}

/// Whether the names say who the people are and what each gets. A withdrawal without amounts takes everything, so it is asked about,
/// too.
fn says_all(names: &[String], kind: &str) -> bool {
    let columns: Vec<Column> = names.iter().filter_map(|name| Column::named(name)).collect();
    let has_amount = columns.iter().any(|column| matches!(column, Column::Amount | Column::Roubles));
    columns.iter().any(|column| column.is_person()) && (has_amount || kind == RunKind::Employees.as_str())
}

/// Reads a file that a person has chosen.
async fn read(visit: &Visit<'_>, file: Vec<u8>) -> Result<Table, Problem> {
    let read = visit.read_file(move || parse_any(&file, MAX_ITEMS)).await?;
    read.map_err(|error| problem(visit, &error))
}

/// What is wrong with a file.
pub(super) fn problem(visit: &Visit<'_>, error: &TableError) -> Problem {
    let (text, number) = match error {
        TableError::Empty => (Text::FILE_IS_EMPTY, None),
        TableError::Unknown => (Text::FILE_IS_NO_TABLE, None),
        TableError::OldWorkbook => (Text::FILE_IS_OLD, None),
        TableError::BrokenWorkbook => (Text::FILE_IS_BROKEN, None),
        TableError::TooLarge => (Text::FILE_HOLDS_TOO_MUCH, None),
        TableError::NoKnownColumn => (Text::NO_PERSON_COLUMN, None),
        TableError::TooManyRows(most) => (Text::FILE_HAS_TOO_MANY_ROWS, Some(*most)),
        TableError::TooManyColumns => (Text::FILE_HAS_TOO_MANY_COLUMNS, Some(MAX_COLUMNS)),
        TableError::LongName => (Text::COLUMN_HAS_A_LONG_NAME, None),
    };
    let number = number.map(|number| format!(" {number}.")).unwrap_or_default();
    Problem { status: 422, lines: vec![format!("{}{number}", visit.t(text))] }
}

/// Creates the run of a file.
async fn send(visit: &Visit<'_>, terms: &Pairs, file: &[u8]) -> Result<Reply, Problem> {
    let mut body = new::terms(terms);
    body.insert("file".to_owned(), json!(STANDARD.encode(file)));
    new::draft(visit, body.into()).await
}

/// Keeps the file for the user. A double click keeps it once.
async fn keep(visit: &Visit<'_>, file: Vec<u8>) -> Result<UploadId, Problem> {
    let mut hash = Sha256::new();
    hash.update(visit.session.user.id.uuid().as_bytes());
    hash.update(visit.key()?.as_bytes());
    let mut bytes = [0; 16];
    bytes.iter_mut().zip(hash.finalize()).for_each(|(byte, from)| *byte = from);
    let id = UploadId::new(Uuid::from_bytes(bytes));
    let (env, user) = (visit.parts.env.clone(), visit.session.user.clone());
    let kept = visit.in_store(Access::Write, move |unit| users::keep_upload(unit, &env, &user, id, &file));
    kept.await.map_err(|error| visit.failed(&error))?;
    Ok(id)
}

/// A file that is kept.
async fn kept(visit: &Visit<'_>, id: &str) -> Result<Table, Problem> {
    visit.require(Scope::RunsWrite)?;
    let id: UploadId = id.parse().map_err(|_| visit.nothing())?;
    let (env, user) = (visit.parts.env.clone(), visit.session.user.clone());
    let found = visit.in_store(Access::Read, move |unit| users::upload(unit, &env, &user, id)).await;
    let file = found.map_err(|error| visit.failed(&error))?;
    read(visit, file.ok_or_else(|| Problem::new(404, visit.language, Text::FILE_IS_GONE))?).await
}

/// The page on which a person says which column is which.
pub(super) async fn show(visit: &Visit<'_>, id: &str, problem: Option<&Problem>) -> Outcome {
    let table = kept(visit, id).await?;
    page(visit, id, &table, problem)
}

fn page(visit: &Visit<'_>, id: &str, table: &Table, problem: Option<&Problem>) -> Outcome {
    let values = if visit.request.is_post { &visit.form } else { &visit.query };
    let mut page = Page::new(visit.t(Text::WHICH_COLUMN), "runs");
    page.push(Block::Text(visit.t(Text::WHICH_COLUMN_HINT).to_owned()));
    let form = visit.post(&format!("/runs/upload/{id}"), Text::CHECK);
    let mut form = new::with_terms(visit, values, form);
    let unnamed = Field::new("unnamed", visit.t(Text::FIRST_ROW_IS_A_PERSON), FieldKind::Check);
    form = form.field(unnamed.value(values.get("unnamed")));
    form.table = Some(columns(visit, table, values));
    page.push(Block::Form(form));
    page.push(Block::Links(vec![Cell::link(visit.t(Text::OTHER_FILE), "/runs/new")]));
    Ok(Reply::Page(page.refused(problem)))
}

/// Each column with its first values and what it holds.
fn columns(visit: &Visit<'_>, table: &Table, values: &Pairs) -> ControlTable {
    let names = [Text::COLUMN, Text::FIRST_VALUES, Text::COLUMN_HOLDS].map(|text| (text, false));
    let options: Vec<(String, String)> = std::iter::once((String::new(), visit.t(Text::NOT_USED).to_owned()))
        .chain(CHOICES.iter().map(|(_, word, _, label)| ((*word).to_owned(), visit.t(*label).to_owned())))
        .collect();
    let is_chosen = (0..table.names.len()).any(|place| values.given(&mapping::control(place)).is_some());
    let guessed = mapping::guessed(table);
    let row = |(place, name): (usize, &String)| {
        let control = mapping::control(place);
        let guess = mapping::word(guessed.get(place).copied().flatten());
        let value = if is_chosen { values.get(&control) } else { guess };
        let shown =
            table.rows.iter().filter_map(|row| row.cells.get(place)).take(SAMPLE).map(|cell| match cell {
                kopeck_tables::Cell::Text(text) => text.clone(),
                kopeck_tables::Cell::Formula => visit.t(Text::A_FORMULA).to_owned(),
            });
        let shown = shown.filter(|text| !text.is_empty()).collect::<Vec<_>>().join(" · ");
        let label = format!("{}: {name}", visit.t(Text::COLUMN_HOLDS));
        vec![
            Control::Cell(Cell::text(name)),
            Control::Cell(Cell::text(shown)),
            Control::Select(control, label, value.to_owned(), options.clone()),
        ]
    };
    let rows = table.names.iter().enumerate().map(row).collect();
    ControlTable { caption: visit.t(Text::COLUMNS).to_owned(), columns: visit.columns(&names), rows }
}

/// Creates the run of a file that is kept, by what the form says of its columns. The file stays, so that a form that is sent twice
/// creates one run.
pub(super) async fn create(visit: &Visit<'_>, id: &str) -> Outcome {
    let table = kept(visit, id).await?;
    let refused = |text| page(visit, id, &table, Some(&Problem::new(422, visit.language, text)));
    let columns = match mapping::chosen(&visit.form, table.names.len()) {
        Ok(columns) => columns,
        Err(text) => return refused(text),
    };
    let (has_names, language) = (visit.form.get("unnamed") != "yes", visit.language);
    let named = mapping::renamed(table.clone(), &columns, has_names, language);
    if !named.names_people() {
        return refused(Text::NO_PERSON_COLUMN);
    }
    let file = match visit.read_file(move || write(&named)).await? {
        Ok(file) => file,
        Err(error) => return page(visit, id, &table, Some(&problem(visit, &error))),
    };
    match send(visit, &visit.form, &file).await {
        Err(problem) if problem.status == 403 => Err(Problem::hidden(403, visit.language)),
        Err(problem) => page(visit, id, &table, Some(&problem)),
        made => made,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_says_all_by_people_and_amounts() {
        let says = |names: &[&str], kind: &str| {
            says_all(&names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>(), kind)
        };
        assert!(says(&["Табельный номер", "Сумма", "note"], "TOP_UP"));
        assert!(says(&["customIdCard", "amount"], "WITHDRAW"));
        assert!(says(&["customId", "surname"], "EMPLOYEES"));
        for (names, kind) in [
            (&["customId", "To pay"], "TOP_UP"),
            (&["customId", "To pay"], "WITHDRAW"),
            (&["Tab. No.", "amount"], "TOP_UP"),
            (&["Tab. No.", "surname"], "EMPLOYEES"),
        ] {
            assert!(!says(names, kind), "{names:?} {kind}");
        }
    }
}
