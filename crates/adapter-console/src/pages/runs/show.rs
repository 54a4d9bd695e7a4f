//! The page of a run: totals, progress, items, and what can be done with it.

use kopeck_api::operations::{
    RUN_APPROVE, RUN_CANCEL, RUN_GET, RUN_ITEMS, RUN_REFUSE, RUN_RESULT, RUN_SUBMIT,
};
use kopeck_api::{Page as ListPage, Run, RunItem, RunKind, RunOutcome, RunState};
use kopeck_domain::access::Scope;
use serde_json::json;

use super::{correct, difference, kind_text, short, state_text};
use crate::call::Problem;
use crate::host::FileForm;
use crate::pages::names::Names;
use crate::texts::{Text, code_text};
use crate::view::{Block, Cell, Field, FieldKind, Page, Part, Region, Table};
use crate::visit::{Outcome, Reply, Visit};

/// How often progress is asked for while a run is carried out, and while it waits for something, in seconds.
const OFTEN: u32 = 3;
const SELDOM: u32 = 30;

/// The page of a run.
pub(super) async fn show(visit: &Visit<'_>, id: &str, problem: Option<&Problem>) -> Outcome {
    let run: Run = visit.get(&RUN_GET, &[id], &[]).await?;
    let names = Names::of(visit).await;
    let name = run.reference.clone().unwrap_or_else(|| visit.moment(run.created_at));
    let mut page = Page::new(format!("{}: {name}", kind_text(visit, &run.kind)), "runs");
    let is_open = !run.state.is_final() && run.state != RunState::Draft;
    if is_open {
        page.push(Block::Region(Box::new(progress(visit, &run).await?)));
        page.push(Block::Links(vec![Cell::link(visit.t(Text::LOOK_AGAIN), &format!("/run/{id}"))]));
    }
    page.push(Block::Facts(facts(visit, &run, &names, !is_open)));
    if let Some(difference) = difference::of(visit, &run).await? {
        difference.push(visit, &mut page);
    }
    if visit.may(Scope::RunsWrite) && run.state == RunState::Draft && run.faulty > 0 {
        correct::push(visit, &mut page, &run).await?;
    }
    push_forms(visit, &mut page, &run);
    page.push(Block::Region(Box::new(items(visit, &run).await?)));
    let file = |text, end| Cell::link(visit.t(text), &format!("/run/{id}/result/{end}"));
    page.push(Block::Links(FILES.map(|(text, end, _)| file(text, end)).into()));
    visit.answer(page, problem)
}

/// The files of what became of the rows.
const FILES: [(Text, &str, FileForm); 2] =
    [(Text::RESULT_XLSX, "xlsx", FileForm::Xlsx), (Text::RESULT_CSV, "csv", FileForm::Csv)];

/// A file of what became of the rows.
pub(super) async fn file(visit: &Visit<'_>, id: &str, end: &str) -> Outcome {
    let Some((_, _, form)) = FILES.iter().find(|(_, known, _)| *known == end) else {
        return Err(visit.nothing());
    };
    visit.file(&RUN_RESULT, &[id], &[], *form).await
}

/// The items, for the script.
pub(super) async fn fragment(visit: &Visit<'_>, id: &str) -> Outcome {
    let run: Run = visit.get(&RUN_GET, &[id], &[]).await?;
    visit.fragment(&items(visit, &run).await?)
}

/// The progress, for the script.
pub(super) async fn poll(visit: &Visit<'_>, id: &str) -> Outcome {
    let run: Run = visit.get(&RUN_GET, &[id], &[]).await?;
    visit.fragment(&progress(visit, &run).await?)
}

/// How far the run is.
async fn progress(visit: &Visit<'_>, run: &Run) -> Result<Region, Problem> {
    let id = run.id_run.to_string();
    let mut done = 0;
    for outcome in [RunOutcome::Done, RunOutcome::Refused, RunOutcome::Skipped] {
        let query = [("outcome", outcome.as_str()), ("per_page", "1")];
        let found: ListPage<RunItem> = visit.get(&RUN_ITEMS, &[&id], &query).await?;
        done += found.meta.total.unwrap_or_default();
    }
    let state = state_text(visit, &run.state).to_owned();
    let count = format!("{done} {} {}", visit.t(Text::OUT_OF), run.number);
    let mut parts = vec![Part::Facts(vec![
        (visit.t(Text::STATE).to_owned(), Cell::text(state.clone())),
        (visit.t(Text::CARRIED_OUT).to_owned(), Cell::text(count.clone())),
    ])];
    parts.push(if run.state.is_final() {
        Part::Links(vec![Cell::link(visit.t(Text::SHOW_RESULT), &format!("/run/{id}"))])
    } else {
        Part::Progress(visit.t(Text::CARRIED_OUT).to_owned(), done, run.number)
    });
    let poll = match run.state {
        RunState::InProcess => Some(OFTEN),
        _ if run.state.is_final() => None,
        _ => Some(SELDOM),
    };
    let says = format!("{state}, {count}");
    Ok(Region { id: "progress", source: format!("/poll/run/{id}"), poll, says, parts })
}

fn facts(visit: &Visit<'_>, run: &Run, names: &Names, with_state: bool) -> Vec<(String, Cell)> {
    let time = |at: Option<time::PrimitiveDateTime>| at.map(|at| visit.moment(at)).unwrap_or_default();
    let actor =
        |actor: &Option<String>| actor.as_deref().map(|actor| names.show(visit, actor)).unwrap_or_default();
    let moves = run.kind != RunKind::Employees && run.kind != RunKind::Limit;
    let money = |kopecks| if moves { visit.money(kopecks) } else { String::new() };
    let facts = [
        (Text::STATE, if with_state { state_text(visit, &run.state).to_owned() } else { String::new() }),
        (Text::REFERENCE, run.reference.clone().unwrap_or_default()),
        (Text::ROWS, run.number.to_string()),
        (Text::FAULTY_ROWS, run.faulty.to_string()),
        (Text::AMOUNT, money(run.amount)),
        (Text::AVAILABLE, money(run.available)),
        (Text::AVAILABLE_AFTER, money(run.available_after)),
        (Text::RUNS_AT, time(run.at)),
        (Text::CREATED, visit.moment(run.created_at)),
        (Text::CREATED_BY, names.show(visit, &run.created_by)),
        (Text::SUBMITTED_BY, actor(&run.submitted_by)),
        (Text::APPROVED_BY, actor(&run.approved_by)),
        (Text::REASON, run.reason.clone().unwrap_or_default()),
        (Text::DIGEST, short(&run.digest)),
    ];
    let given = facts.into_iter().filter(|(_, value)| !value.is_empty());
    visit.facts(given)
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

/// A page of the items.
async fn items(visit: &Visit<'_>, run: &Run) -> Result<Region, Problem> {
    let id = run.id_run.to_string();
    let faulty = visit.query.get("faulty");
    let query = [("page", visit.query.get("page")), ("faulty", faulty), ("per_page", "100")];
    let found: ListPage<RunItem> = visit.get(&RUN_ITEMS, &[&id], &query).await?;
    let path = format!("/run/{id}");
    let mut parts = Vec::new();
    if run.faulty > 0 {
        let (text, query) =
            if faulty.is_empty() { (Text::ONLY_FAULTY, "?faulty=true") } else { (Text::ALL_ROWS, "") };
        parts.push(Part::Links(vec![Cell::link(visit.t(text), &format!("{path}{query}"))]));
    }
    let mut table = item_table(visit, run, &found.data);
    table.pages = visit.pages(&path, &found.meta);
    let says = format!("{}: {}", visit.t(Text::ROWS), found.meta.total.unwrap_or_default());
    parts.push(Part::Table(table));
    Ok(Region { id: "items", source: format!("/fragment/run/{id}"), poll: None, says, parts })
}

fn item_table(visit: &Visit<'_>, run: &Run, items: &[RunItem]) -> Table {
    let is_import = run.kind == RunKind::Employees;
    let third = if is_import { (Text::WHAT_HAPPENS, false) } else { (Text::AMOUNT, true) };
    let columns = [
        (Text::LINE, true),
        (Text::PERSONNEL_NUMBER, false),
        third,
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
        let reason = match (&item.fault, &item.reason) {
            (Some(fault), _) => code_text(visit.language, &fault.code, &fault.detail),
            (None, reason) => reason.clone().unwrap_or_default(),
        };
        let is_faulty = item.fault.is_some();
        table.rows.push(vec![
            Cell::number(item.line.to_string()),
            name,
            match (is_import, item.id_employee) {
                (false, _) => Cell::number(item.amount.map(|amount| visit.money(amount)).unwrap_or_default()),
                (true, _) if is_faulty => Cell::default(),
                (true, Some(_)) => Cell::text(visit.t(Text::IS_UPDATED)),
                (true, None) => Cell::text(visit.t(Text::IS_ADDED)),
            },
            Cell::text(match (&item.outcome, is_faulty) {
                (Some(RunOutcome::Done), _) => visit.t(Text::DONE),
                (Some(RunOutcome::Refused), _) => visit.t(Text::REFUSED),
                (Some(RunOutcome::Skipped), _) => visit.t(Text::SKIPPED),
                (Some(other), _) => other.as_str(),
                (None, true) => visit.t(Text::FAULTY),
                (None, false) => "",
            }),
            Cell::text(reason),
        ]);
    }
    table
}

/// Carries out a form of the page of a run.
pub(super) async fn act(visit: &Visit<'_>, id: &str, action: &str) -> Outcome {
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
