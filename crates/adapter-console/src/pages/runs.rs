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

/// The pages of this part, and what their forms do.
pub(crate) async fn route(visit: &Visit<'_>, segments: &[&str]) -> Outcome {
    match (visit.request.is_post, segments) {
        (false, ["runs"]) => list(visit).await,
        (false, ["runs", "new"]) => new(visit, None),
        (true, ["runs", "new"]) => create(visit).await,
        (false, ["run", id]) => show(visit, id, None).await,
        (true, ["run", id, action]) => act(visit, id, action).await,
        (false, ["approvals"]) => approvals(visit).await,
        _ => Err(visit.nothing()),
    }
}

/// The kinds that a table of people and amounts can be.
const KINDS: [RunKind; 2] = [RunKind::TopUp, RunKind::Withdraw];

pub(super) fn kind_text<'k>(visit: &Visit<'_>, kind: &'k RunKind) -> &'k str {
    match kind {
        RunKind::TopUp => visit.t(Text::TOP_UPS),
        RunKind::Withdraw => visit.t(Text::WITHDRAWALS),
        RunKind::Limit => visit.t(Text::LIMIT_CHANGES),
        RunKind::VirtualOrder => visit.t(Text::CARD_ORDER),
        RunKind::Employees => visit.t(Text::PEOPLE_IMPORT),
        other => other.as_str(),
    }
}

fn state_text<'s>(visit: &Visit<'_>, state: &'s RunState) -> &'s str {
    match state {
        RunState::Draft => visit.t(Text::DRAFT),
        RunState::WaitingApproval => visit.t(Text::WAITS_FOR_APPROVAL),
        RunState::Scheduled => visit.t(Text::SCHEDULED),
        RunState::InProcess => visit.t(Text::IN_PROCESS),
        RunState::Success => visit.t(Text::DONE),
        RunState::PartSuccess => visit.t(Text::PARTLY_DONE),
        RunState::Decline => visit.t(Text::DECLINED),
        RunState::Rejected => visit.t(Text::REJECTED),
        RunState::Expired => visit.t(Text::EXPIRED),
        other => other.as_str(),
    }
}

/// The list, newest first.
pub(crate) async fn list(visit: &Visit<'_>) -> Outcome {
    let mut page = Page::new(visit.t(Text::RUNS), "runs");
    if visit.may(Scope::RunsWrite) {
        page.push(Block::Links(vec![Cell::link(visit.t(Text::NEW_RUN), "/runs/new")]));
    }
    let query = [("page", visit.query.get("page")), ("per_page", "50")];
    let found: ListPage<Run> = visit.get(&RUN_LIST, &[], &query).await?;
    let mut table = table(visit, Text::RUNS, &found.data);
    table.pages = visit.pages("/runs", &found.meta);
    page.push(Block::Table(table));
    Ok(Reply::Page(page.noting(visit.done())))
}

/// What waits for an approval.
pub(crate) async fn approvals(visit: &Visit<'_>) -> Outcome {
    let mut page = Page::new(visit.t(Text::APPROVALS), "approvals");
    if !visit.may(Scope::ApprovalsWrite) {
        page.push(Block::Text(visit.t(Text::OTHERS_APPROVE).to_owned()));
    }
    let query = [("page", visit.query.get("page")), ("status", RunState::WaitingApproval.as_str())];
    let found: ListPage<Run> = visit.get(&RUN_LIST, &[], &query).await?;
    let mut table = table(visit, Text::WAITS_FOR_APPROVAL, &found.data);
    table.pages = visit.pages("/approvals", &found.meta);
    page.push(Block::Table(table));
    Ok(Reply::Page(page.noting(visit.done())))
}

pub(super) fn table(visit: &Visit<'_>, caption: Text, runs: &[Run]) -> Table {
    let columns = [
        (Text::CREATED, false),
        (Text::KIND, false),
        (Text::REFERENCE, false),
        (Text::STATE, false),
        (Text::ROWS, true),
        (Text::AMOUNT, true),
    ];
    let mut table = Table::new(visit.t(caption), visit.columns(&columns), visit.t(Text::NO_RUNS));
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
    let names = [("customId", Text::PERSONNEL_NUMBER), ("customIdCard", Text::CARD_NUMBER)];
    let names = names.map(|(word, text)| (word.to_owned(), visit.t(text).to_owned()));
    let field = |name, label, kind| Field::new(name, visit.t(label), kind).value(value(name));
    let rows = field("rows", Text::ROWS, FieldKind::Area).hint(visit.t(Text::ROWS_HINT)).required();
    let form = visit
        .post("/runs/new", Text::CHECK)
        .field(field("kind", Text::KIND, FieldKind::Select(kinds.to_vec())))
        .field(field("names", Text::PEOPLE_NAMED_BY, FieldKind::Select(names.to_vec())))
        .field(rows)
        .field(
            field("reference", Text::REFERENCE, FieldKind::Text).hint(visit.t(Text::REFERENCE_HINT)).max(64),
        )
        .field(field("at", Text::RUNS_AT, FieldKind::Text).hint(visit.t(Text::RUNS_AT_HINT)).max(16));
    let mut page = Page::new(visit.t(Text::NEW_RUN), "runs");
    page.push(Block::Text(visit.t(Text::NOTHING_HAPPENS_YET).to_owned()));
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
        page.push(Block::Links(vec![Cell::link(visit.t(Text::LOOK_AGAIN), &format!("/run/{id}"))]));
    }
    push_forms(visit, &mut page, &run);
    if run.faulty > 0 && visit.query.get("faulty").is_empty() {
        let path = format!("/run/{id}?faulty=true");
        page.push(Block::Links(vec![Cell::link(visit.t(Text::ONLY_FAULTY), &path)]));
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
        (Text::REFERENCE, run.reference.clone().unwrap_or_default()),
        (Text::ROWS, run.number.to_string()),
        (Text::FAULTY_ROWS, run.faulty.to_string()),
        (Text::AMOUNT, visit.money(run.amount)),
        (Text::AVAILABLE, visit.money(run.available)),
        (Text::AVAILABLE_AFTER, visit.money(run.available_after)),
        (Text::RUNS_AT, time(run.at)),
        (Text::CREATED, visit.moment(run.created_at)),
        (Text::CREATED_BY, names.show(visit, &run.created_by)),
        (Text::SUBMITTED_BY, actor(&run.submitted_by)),
        (Text::APPROVED_BY, actor(&run.approved_by)),
        (Text::REASON, run.reason.clone().unwrap_or_default()),
        (Text::DIGEST, run.digest.chars().take(16).collect()),
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
        let mut form = with_digest("submit", Text::SUBMIT).titled(visit.t(Text::SUBMIT_RUN));
        if run.faulty > 0 {
            let label = visit.t(Text::SKIP_FAULTY);
            form = form.field(Field::new("skipFaulty", label, FieldKind::Check).required());
        }
        page.push(Block::Form(form));
    }
    if visit.may(Scope::ApprovalsWrite) && run.state == RunState::WaitingApproval {
        let approve = with_digest("approve", Text::APPROVE).titled(visit.t(Text::APPROVE_RUN));
        page.push(Block::Form(approve));
        let reason = Field::new("reason", visit.t(Text::REASON), FieldKind::Text).max(256);
        let refuse = visit.post(&path("refuse"), Text::REFUSE).titled(visit.t(Text::REFUSE_RUN));
        page.push(Block::Form(refuse.field(reason).dangerous()));
    }
    let is_open = matches!(run.state, RunState::Draft | RunState::WaitingApproval | RunState::Scheduled);
    if visit.may(Scope::RunsWrite) && is_open {
        let cancel = visit.post(&path("cancel"), Text::CANCEL_RUN).titled(visit.t(Text::CANCEL_RUN));
        page.push(Block::Form(cancel.dangerous()));
    }
}

fn item_table(visit: &Visit<'_>, items: &[RunItem]) -> Table {
    let columns = [
        (Text::LINE, true),
        (Text::PERSONNEL_NUMBER, false),
        (Text::AMOUNT, true),
        (Text::OUTCOME, false),
        (Text::REASON, false),
    ];
    let mut table = Table::new(visit.t(Text::ROWS), visit.columns(&columns), visit.t(Text::NO_ROWS));
    for item in items {
        let name = item.custom_id.clone().unwrap_or_default();
        let name = match item.id_employee {
            Some(id) => {
                Cell::link(if name.is_empty() { id.to_string() } else { name }, &format!("/person/{id}"))
            }
            None => Cell::text(name),
        };
        let outcome = match (&item.outcome, &item.fault) {
            (Some(RunOutcome::Done), _) => visit.t(Text::DONE),
            (Some(RunOutcome::Refused), _) => visit.t(Text::REFUSED),
            (Some(RunOutcome::Skipped), _) => visit.t(Text::SKIPPED),
            (Some(other), _) => other.as_str(),
            (None, Some(_)) => visit.t(Text::FAULTY),
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
        _ => return Err(visit.nothing()),
    };
    match visit.change(operation, &[id], Some(body)).await {
        Ok(_) => Ok(Reply::SeeOther(format!("/run/{id}?done={action}"))),
        Err(problem) if problem.status == 404 => Err(visit.nothing()),
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
