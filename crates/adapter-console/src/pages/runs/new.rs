//! The forms of a new run: a file, or rows that are typed or pasted.

use kopeck_api::operations::RUN_CREATE;
use kopeck_api::{Run, RunKind};
use kopeck_domain::access::Scope;
use serde_json::{Map, Value, json};

use super::kind_text;
use crate::call::{self, Problem};
use crate::request::Pairs;
use crate::texts::Text;
use crate::view::{Block, Field, FieldKind, Form, Page};
use crate::visit::{Outcome, Reply, Visit};

/// The kinds that a file can be, and those that typed rows can be.
const KINDS: [RunKind; 3] = [RunKind::TopUp, RunKind::Withdraw, RunKind::Employees];

/// The page of the forms.
pub(super) fn show(visit: &Visit<'_>, problem: Option<&Problem>) -> Outcome {
    visit.require(Scope::RunsWrite)?;
    let values = if visit.request.is_post { &visit.form } else { &visit.query };
    let mut page = Page::new(visit.t(Text::NEW_RUN), "runs");
    page.push(Block::Text(visit.t(Text::NOTHING_HAPPENS_YET).to_owned()));
    page.push(Block::Form(file_form(visit, values)));
    page.push(Block::Form(rows_form(visit, values)));
    Ok(Reply::Page(page.refused(problem)))
}

fn kind_field(visit: &Visit<'_>, values: &Pairs, kinds: &[RunKind]) -> Field {
    let kinds = kinds.iter().map(|kind| (kind.to_string(), kind_text(visit, kind).to_owned())).collect();
    Field::new("kind", visit.t(Text::KIND), FieldKind::Select(kinds)).value(values.get("kind"))
}

fn file_form(visit: &Visit<'_>, values: &Pairs) -> Form {
    let file =
        Field::new("file", visit.t(Text::FILE), FieldKind::File).hint(visit.t(Text::FILE_HINT)).required();
    let form = visit.post("/runs/upload", Text::CHECK).titled(visit.t(Text::FROM_A_FILE)).field(file);
    with_terms(visit, values, form)
}

/// The fields of a run that is made of a file, beside the file.
pub(super) fn with_terms(visit: &Visit<'_>, values: &Pairs, form: Form) -> Form {
    let form = form.field(kind_field(visit, values, &KINDS));
    let creates = Field::new("createCategories", visit.t(Text::CREATE_CATEGORIES), FieldKind::Check);
    with_name_and_time(visit, values, form).field(creates.value(values.get("createCategories")))
}

fn with_name_and_time(visit: &Visit<'_>, values: &Pairs, form: Form) -> Form {
    let field = |name, label, hint, max| {
        let field = Field::new(name, visit.t(label), FieldKind::Text).hint(visit.t(hint)).max(max);
        field.value(values.get(name))
    };
    form.field(field("reference", Text::REFERENCE, Text::REFERENCE_HINT, 64)).field(field(
        "at",
        Text::RUNS_AT,
        Text::RUNS_AT_HINT,
        16,
    ))
}

fn rows_form(visit: &Visit<'_>, values: &Pairs) -> Form {
    let names = [("customId", Text::PERSONNEL_NUMBER), ("customIdCard", Text::CARD_NUMBER)];
    let field = |name, label, kind| Field::new(name, visit.t(label), kind).value(values.get(name));
    let rows = field("rows", Text::ROWS, FieldKind::Area).hint(visit.t(Text::ROWS_HINT)).required();
    let form = visit
        .post("/runs/new", Text::CHECK)
        .titled(visit.t(Text::TYPED_ROWS))
        .field(kind_field(visit, values, &KINDS[..2]))
        .field(field("names", Text::PEOPLE_NAMED_BY, FieldKind::Select(visit.options(&names))))
        .field(rows);
    with_name_and_time(visit, values, form)
}

/// The rows of a table: a person and an amount each, which the operation reads and checks.
fn items(rows: &str, name: &str) -> Vec<Value> {
    let item = |row: &str| {
        let row = row.trim();
        let (person, amount) =
            row.split_once([';', '\t']).or_else(|| row.split_once(char::is_whitespace)).unwrap_or((row, ""));
        let mut item = Map::from_iter([(name.to_owned(), json!(person.trim()))]);
        if !amount.trim().is_empty() {
            item.insert("rubles".to_owned(), json!(amount.trim()));
        }
        Value::Object(item)
    };
    rows.lines().filter(|row| !row.trim().is_empty()).map(item).collect()
}

/// What a new run is beside its items.
pub(super) fn terms(form: &Pairs) -> Map<String, Value> {
    let given = ["kind", "reference", "at"].into_iter().filter_map(|name| Some((name, form.given(name)?)));
    let mut body: Map<String, Value> = given.map(|(name, value)| (name.to_owned(), json!(value))).collect();
    if form.get("createCategories") == "yes" {
        body.insert("createCategories".to_owned(), Value::Bool(true));
    }
    body
}

/// Makes the draft of a run, and leads to its page.
pub(crate) async fn draft(visit: &Visit<'_>, body: Value) -> Result<Reply, Problem> {
    let made = visit.change(&RUN_CREATE, &[], Some(body)).await?;
    let run: Run = call::read(&made, visit.language)?;
    Ok(Reply::SeeOther(format!("/run/{}", run.id_run)))
}

/// Creates a run of typed rows.
pub(super) async fn create(visit: &Visit<'_>) -> Outcome {
    let form = &visit.form;
    let name = if form.get("names") == "customIdCard" { "customIdCard" } else { "customId" };
    let mut body = terms(form);
    body.insert("items".to_owned(), Value::Array(items(form.get("rows"), name)));
    match draft(visit, Value::Object(body)).await {
        Err(problem) if problem.status == 403 => Err(Problem::hidden(403, visit.language)),
        Err(problem) => show(visit, Some(&problem)),
        made => made,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_a_person_and_an_amount() {
        let rows = "T-1; 1 500,50\r\nT-2\t20\n\n  T-3 7.00 \nT-4\n";
        let expected = json!([
            {"customId": "T-1", "rubles": "1 500,50"},
            {"customId": "T-2", "rubles": "20"},
            {"customId": "T-3", "rubles": "7.00"},
            {"customId": "T-4"},
        ]);
        assert_eq!(Value::Array(items(rows, "customId")), expected);
    }
}
