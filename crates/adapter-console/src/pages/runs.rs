//! Runs: rows, their preview with totals and refusals, submission, approval and result.

use kopeck_api::operations::{
    RUN_APPROVE, RUN_CANCEL, RUN_CREATE, RUN_GET, RUN_ITEMS, RUN_LIST, RUN_REFUSE, RUN_SUBMIT,
};
use kopeck_api::{Page as ListPage, Run, RunItem, RunKind, RunOutcome, RunState};
use kopeck_domain::access::Scope;
use serde_json::{Map, Value, json};

use super::names::Names;
use crate::call::{self, Problem};
use crate::texts::{Text, code_text};
use crate::view::{Block, Cell, Field, FieldKind, Page, Table};
use crate::visit::{Outcome, Reply, Visit};

/// The kinds that a table of people and amounts can be.
const KINDS: [RunKind; 2] = [RunKind::TopUp, RunKind::Withdraw];

fn kind_text<'k>(visit: &Visit<'_>, kind: &'k RunKind) -> &'k str {
    match kind {
        RunKind::TopUp => visit.t(Text::TopUps),
        RunKind::Withdraw => visit.t(Text::Withdrawals),
        RunKind::Limit => visit.t(Text::LimitChanges),
        RunKind::VirtualOrder => visit.t(Text::CardOrder),
        RunKind::Employees => visit.t(Text::PeopleImport),
        other => other.as_str(),
    }
}

fn state_text<'s>(visit: &Visit<'_>, state: &'s RunState) -> &'s str {
    match state {
        RunState::Draft => visit.t(Text::Draft),
        RunState::WaitingApproval => visit.t(Text::WaitsForApproval),
        RunState::Scheduled => visit.t(Text::Scheduled),
        RunState::InProcess => visit.t(Text::InProcess),
        RunState::Success => visit.t(Text::Done),
        RunState::PartSuccess => visit.t(Text::PartlyDone),
        RunState::Decline => visit.t(Text::Declined),
        RunState::Rejected => visit.t(Text::Rejected),
        RunState::Expired => visit.t(Text::Expired),
        other => other.as_str(),
    }
}

/// The list, newest first.
pub(crate) async fn list(visit: &Visit<'_>) -> Outcome {
    let mut page = Page::new(visit.t(Text::Runs), "runs");
    if visit.may(Scope::RunsWrite) {
        page.push(Block::Links(vec![Cell::link(visit.t(Text::NewRun), "/runs/new")]));
    }
    let query = [("page", visit.query.get("page")), ("per_page", "50")];
    let found: ListPage<Run> = visit.get(&RUN_LIST, &[], &query).await?;
    let mut table = table(visit, Text::Runs, &found.data);
    table.pages = visit.pages("/runs", &found.meta);
    page.push(Block::Table(table));
    Ok(Reply::Page(page.noting(visit.done())))
}

/// What waits for an approval.
pub(crate) async fn approvals(visit: &Visit<'_>) -> Outcome {
    let mut page = Page::new(visit.t(Text::Approvals), "approvals");
    if !visit.may(Scope::ApprovalsWrite) {
        page.push(Block::Text(visit.t(Text::OthersApprove).to_owned()));
    }
    let query = [("page", visit.query.get("page")), ("status", RunState::WaitingApproval.as_str())];
    let found: ListPage<Run> = visit.get(&RUN_LIST, &[], &query).await?;
    let mut table = table(visit, Text::WaitsForApproval, &found.data);
    table.pages = visit.pages("/approvals", &found.meta);
    page.push(Block::Table(table));
    Ok(Reply::Page(page.noting(visit.done())))
}

pub(super) fn table(visit: &Visit<'_>, caption: Text, runs: &[Run]) -> Table {
    let columns = [
        (Text::Created, false),
        (Text::Kind, false),
        (Text::Reference, false),
        (Text::State, false),
        (Text::Rows, true),
        (Text::Amount, true),
    ];
    let mut table = Table::new(visit.t(caption), visit.columns(&columns), visit.t(Text::NoRuns));
    for run in runs {
        let created = visit.moment(run.created_at);
        table.rows.push(vec![
            Cell::link(created, &format!("/run/{}", run.id_run)),
            Cell::text(kind_text(visit, &run.kind)),
            Cell::text(run.reference.clone().unwrap_or_default()),
            Cell::text(state_text(visit, &run.state)),
            Cell::number(run.number.to_string()),
            Cell::number(visit.money(run.amount)),
        ]);
    }
    table
}

/// The form of a new run.
pub(crate) fn new(visit: &Visit<'_>, problem: Option<&Problem>) -> Outcome {
    if !visit.may(Scope::RunsWrite) {
        return Err(Problem::hidden(403, visit.language));
    }
    let value = |name| visit.form.get(name);
    let kinds = KINDS.map(|kind| (kind.to_string(), kind_text(visit, &kind).to_owned()));
    let names = [("customId", Text::PersonnelNumber), ("customIdCard", Text::CardNumber)];
    let names = names.map(|(word, text)| (word.to_owned(), visit.t(text).to_owned()));
    let field = |name, label, kind| Field::new(name, visit.t(label), kind).value(value(name));
    let rows = field("rows", Text::Rows, FieldKind::Area).hint(visit.t(Text::RowsHint)).required();
    let form = visit
        .post("/runs/new", Text::Check)
        .field(field("kind", Text::Kind, FieldKind::Select(kinds.to_vec())))
        .field(field("names", Text::PeopleNamedBy, FieldKind::Select(names.to_vec())))
        .field(rows)
        .field(
            field("reference", Text::Reference, FieldKind::Text).hint(visit.t(Text::ReferenceHint)).max(64),
        )
        .field(field("at", Text::RunsAt, FieldKind::Text).hint(visit.t(Text::RunsAtHint)).max(16));
    let mut page = Page::new(visit.t(Text::NewRun), "runs");
    page.push(Block::Text(visit.t(Text::NothingHappensYet).to_owned()));
    page.push(Block::Form(form));
    page.status = problem.map_or(200, |problem| problem.status);
    Ok(Reply::Page(page.noting(problem.map(Problem::notice))))
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

/// Creates a run from the form.
pub(crate) async fn create(visit: &Visit<'_>) -> Outcome {
    let form = &visit.form;
    let name = if form.get("names") == "customIdCard" { "customIdCard" } else { "customId" };
    let mut body = Map::from_iter([
        ("kind".to_owned(), json!(form.get("kind"))),
        ("items".to_owned(), Value::Array(items(form.get("rows"), name))),
    ]);
    for name in ["reference", "at"] {
        if let Some(value) = form.given(name) {
            body.insert(name.to_owned(), json!(value));
        }
    }
    match visit.change(&RUN_CREATE, &[], Some(Value::Object(body))).await {
        Ok(response) => {
            let run: Run = call::read(&response, visit.language)?;
            Ok(Reply::SeeOther(format!("/run/{}", run.id_run)))
        }
        Err(problem) if problem.status == 403 => Err(Problem::hidden(403, visit.language)),
        Err(problem) => new(visit, Some(&problem)),
    }
}

/// A run: totals, items and what can be done with it.
pub(crate) async fn show(visit: &Visit<'_>, id: &str, problem: Option<&Problem>) -> Outcome {
    let run: Run = visit.get(&RUN_GET, &[id], &[]).await?;
    let names = Names::of(visit).await;
    let title = format!("{}: {}", kind_text(visit, &run.kind), state_text(visit, &run.state));
    let mut page = Page::new(title, "runs");
    page.push(Block::Facts(facts(visit, &run, &names)));
    if !run.state.is_final() && run.state != RunState::Draft {
        page.push(Block::Links(vec![Cell::link(visit.t(Text::LookAgain), &format!("/run/{id}"))]));
    }
    push_forms(visit, &mut page, &run);
    if run.faulty > 0 && visit.query.get("faulty").is_empty() {
        let path = format!("/run/{id}?faulty=true");
        page.push(Block::Links(vec![Cell::link(visit.t(Text::OnlyFaulty), &path)]));
    }
    let query =
        [("page", visit.query.get("page")), ("faulty", visit.query.get("faulty")), ("per_page", "100")];
    let items: ListPage<RunItem> = visit.get(&RUN_ITEMS, &[id], &query).await?;
    let mut table = item_table(visit, &items.data);
    table.pages = visit.pages(&format!("/run/{id}"), &items.meta);
    page.push(Block::Table(table));
    page.status = problem.map_or(200, |problem| problem.status);
    Ok(Reply::Page(page.noting(problem.map(Problem::notice).or_else(|| visit.done()))))
}

fn facts(visit: &Visit<'_>, run: &Run, names: &Names) -> Vec<(String, Cell)> {
    let time = |at: Option<time::PrimitiveDateTime>| at.map(|at| visit.moment(at)).unwrap_or_default();
    let actor =
        |actor: &Option<String>| actor.as_deref().map(|actor| names.show(visit, actor)).unwrap_or_default();
    let facts = [
        (Text::Reference, run.reference.clone().unwrap_or_default()),
        (Text::Rows, run.number.to_string()),
        (Text::FaultyRows, run.faulty.to_string()),
        (Text::Amount, visit.money(run.amount)),
        (Text::Available, visit.money(run.available)),
        (Text::AvailableAfter, visit.money(run.available_after)),
        (Text::RunsAt, time(run.at)),
        (Text::Created, visit.moment(run.created_at)),
        (Text::CreatedBy, names.show(visit, &run.created_by)),
        (Text::SubmittedBy, actor(&run.submitted_by)),
        (Text::ApprovedBy, actor(&run.approved_by)),
        (Text::Reason, run.reason.clone().unwrap_or_default()),
        (Text::Digest, run.digest.chars().take(16).collect()),
    ];
    let given = facts.into_iter().filter(|(_, value)| !value.is_empty());
    given.map(|(label, value)| (visit.t(label).to_owned(), Cell::text(value))).collect()
}

/// The forms that the state of the run and the role of the user allow.
fn push_forms(visit: &Visit<'_>, page: &mut Page, run: &Run) {
    let path = |action: &str| format!("/run/{}/{action}", run.id_run);
    let with_digest =
        |action: &str, submit| visit.post(&path(action), submit).hide("digest", run.digest.clone());
    if visit.may(Scope::RunsWrite) && run.state == RunState::Draft {
        let mut form = with_digest("submit", Text::Submit).titled(visit.t(Text::SubmitRun));
        if run.faulty > 0 {
            let label = visit.t(Text::SkipFaulty);
            form = form.field(Field::new("skipFaulty", label, FieldKind::Check).required());
        }
        page.push(Block::Form(form));
    }
    if visit.may(Scope::ApprovalsWrite) && run.state == RunState::WaitingApproval {
        let approve = with_digest("approve", Text::Approve).titled(visit.t(Text::ApproveRun));
        page.push(Block::Form(approve));
        let reason = Field::new("reason", visit.t(Text::Reason), FieldKind::Text).max(256);
        let refuse = visit.post(&path("refuse"), Text::Refuse).titled(visit.t(Text::RefuseRun));
        page.push(Block::Form(refuse.field(reason).dangerous()));
    }
    let is_open = matches!(run.state, RunState::Draft | RunState::WaitingApproval | RunState::Scheduled);
    if visit.may(Scope::RunsWrite) && is_open {
        let cancel = visit.post(&path("cancel"), Text::CancelRun).titled(visit.t(Text::CancelRun));
        page.push(Block::Form(cancel.dangerous()));
    }
}

fn item_table(visit: &Visit<'_>, items: &[RunItem]) -> Table {
    let columns = [
        (Text::Line, true),
        (Text::PersonnelNumber, false),
        (Text::Amount, true),
        (Text::Outcome, false),
        (Text::Reason, false),
    ];
    let mut table = Table::new(visit.t(Text::Rows), visit.columns(&columns), visit.t(Text::NoRows));
    for item in items {
        let name = item.custom_id.clone().unwrap_or_default();
        let name = match item.id_employee {
            Some(id) => {
                Cell::link(if name.is_empty() { id.to_string() } else { name }, &format!("/person/{id}"))
            }
            None => Cell::text(name),
        };
        let outcome = match (&item.outcome, &item.fault) {
            (Some(RunOutcome::Done), _) => visit.t(Text::Done),
            (Some(RunOutcome::Refused), _) => visit.t(Text::Refused),
            (Some(RunOutcome::Skipped), _) => visit.t(Text::Skipped),
            (Some(other), _) => other.as_str(),
            (None, Some(_)) => visit.t(Text::Faulty),
            (None, None) => "",
        };
        let reason = match (&item.fault, &item.reason) {
            (Some(fault), _) => code_text(visit.language, &fault.code, &fault.detail),
            (None, reason) => reason.clone().unwrap_or_default(),
        };
        table.rows.push(vec![
            Cell::number(item.line.to_string()),
            name,
            Cell::number(item.amount.map(|amount| visit.money(amount)).unwrap_or_default()),
            Cell::text(outcome),
            Cell::text(reason),
        ]);
    }
    table
}

/// Carries out a form of the page of a run.
pub(crate) async fn act(visit: &Visit<'_>, id: &str, action: &str) -> Outcome {
    let form = &visit.form;
    let digest = form.get("digest");
    let (operation, body) = match action {
        "submit" => (&RUN_SUBMIT, json!({"digest": digest, "skipFaulty": form.get("skipFaulty") == "yes"})),
        "approve" => (&RUN_APPROVE, json!({"digest": digest})),
        "refuse" => (&RUN_REFUSE, json!({"reason": form.given("reason")})),
        "cancel" => (&RUN_CANCEL, json!({})),
        _ => return Err(Problem::hidden(404, visit.language)),
    };
    match visit.change(operation, &[id], Some(body)).await {
        Ok(_) => Ok(Reply::SeeOther(format!("/run/{id}?done={action}"))),
        Err(problem) if problem.status == 404 => Err(Problem::hidden(404, visit.language)),
        Err(problem) => show(visit, id, Some(&problem)).await,
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
