//! Runs: rows, their preview with totals and refusals, submission, approval and result.

mod correct;
mod difference;
mod mapping;
mod new;
mod show;
mod upload;

pub(crate) use mapping::column_name;
pub(crate) use new::draft;

use kopeck_api::operations::{PROGRAMME_LIST, RUN_LIST};
use kopeck_api::{Page as ListPage, Programme, ProgrammeState, Run, RunKind, RunState};
use kopeck_domain::access::Scope;

use super::names::Names;
use crate::call::Problem;
use crate::texts::Text;
use crate::view::{Block, Cell, Page, Table, Waiting};
use crate::visit::{Outcome, Reply, Visit};

/// The pages of this part, and what their forms do.
pub(crate) async fn route(visit: &Visit<'_>, segments: &[&str]) -> Outcome {
    match (visit.request.is_post, segments) {
        (false, ["runs"]) => list(visit).await,
        (false, ["runs", "new"]) => new::show(visit, None),
        (true, ["runs", "new"]) => new::create(visit).await,
        (true, ["runs", "upload"]) => upload::receive(visit).await,
        (false, ["runs", "upload", id]) => upload::show(visit, id, None).await,
        (true, ["runs", "upload", id]) => upload::create(visit, id).await,
        (false, ["run", id]) => show::show(visit, id, None).await,
        (false, ["run", id, "result", end]) => show::file(visit, id, end).await,
        (true, ["run", id, "correct"]) => correct::correct(visit, id).await,
        (true, ["run", id, action]) => show::act(visit, id, action).await,
        (false, ["fragment", "run", id]) => show::fragment(visit, id).await,
        (false, ["poll", "run", id]) => show::poll(visit, id).await,
        (false, ["approvals"]) => approvals(visit).await,
        (false, ["poll", "approvals"]) => poll(visit).await,
        _ => Err(visit.nothing()),
    }
}

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
async fn list(visit: &Visit<'_>) -> Outcome {
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

/// How many runs are shown on a page of those that wait: each is compared with the one before it.
const APPROVALS: &str = "20";

/// What waits for an approval.
async fn approvals(visit: &Visit<'_>) -> Outcome {
    let mut page = Page::new(visit.t(Text::APPROVALS), "approvals");
    if !visit.may(Scope::ApprovalsWrite) {
        page.push(Block::Text(visit.t(Text::OTHERS_APPROVE).to_owned()));
    }
    let query = [
        ("page", visit.query.get("page")),
        ("status", RunState::WaitingApproval.as_str()),
        ("per_page", APPROVALS),
    ];
    let found: ListPage<Run> = visit.get(&RUN_LIST, &[], &query).await?;
    let mut table = waiting_table(visit, &found.data).await?;
    table.pages = visit.pages("/approvals", &found.meta);
    page.push(Block::Table(table));
    if visit.may(Scope::ProgrammesRead) {
        let found: ListPage<Programme> = visit.get(&PROGRAMME_LIST, &[], &[("per_page", "100")]).await?;
        page.push(Block::Table(programmes(visit, &found.data).await));
    }
    Ok(Reply::Page(page.noting(visit.done())))
}

/// The runs that wait: who asks, for what exactly, and what is other than the last time.
async fn waiting_table(visit: &Visit<'_>, runs: &[Run]) -> Result<Table, Problem> {
    let columns = [
        (Text::CREATED, false),
        (Text::KIND, false),
        (Text::REFERENCE, false),
        (Text::SUBMITTED_BY, false),
        (Text::DIGEST, false),
        (Text::ROWS, true),
        (Text::AMOUNT, true),
        (Text::DIFFERENCE, false),
    ];
    let caption = visit.t(Text::WAITS_FOR_APPROVAL);
    let mut table = Table::new(caption, visit.columns(&columns), visit.t(Text::NO_RUNS));
    let names = Names::of(visit).await;
    for run in runs {
        let difference = difference::of(visit, run).await?;
        let by = run.submitted_by.as_deref().unwrap_or(&run.created_by);
        table.rows.push(vec![
            Cell::link(visit.moment(run.created_at), &format!("/run/{}", run.id_run)),
            Cell::text(kind_text(visit, &run.kind)),
            Cell::text(run.reference.clone().unwrap_or_default()),
            Cell::text(names.show(visit, by)),
            Cell::text(short(&run.digest)),
            Cell::number(run.number.to_string()),
            Cell::number(visit.money(run.amount)),
            Cell::text(difference.map(|found| found.summary(visit)).unwrap_or_default()),
        ]);
    }
    Ok(table)
}

/// The programmes that wait for an approval, or have a change that does.
async fn programmes(visit: &Visit<'_>, found: &[Programme]) -> Table {
    let columns = [Text::NAME_OF_PROGRAMME, Text::CREATED_BY].map(|text| (text, false));
    let caption = visit.t(Text::PROGRAMMES_THAT_WAIT);
    let mut table = Table::new(caption, visit.columns(&columns), visit.t(Text::NO_PROGRAMME_WAITS));
    let names = Names::of(visit).await;
    let waits = |one: &&Programme| one.state == ProgrammeState::WaitingApproval || one.proposed.is_some();
    for one in found.iter().filter(waits) {
        let path = format!("/programme/{}", one.id_programme);
        let by = one.proposed_by.as_deref().unwrap_or(&one.created_by);
        table.rows.push(vec![Cell::link(one.terms.name.clone(), &path), Cell::text(names.show(visit, by))]);
    }
    table
}

/// The beginning of a digest: enough for two people to compare.
fn short(digest: &str) -> String {
    digest.chars().take(16).collect()
}

/// How many runs wait for an approval; `None` for who does not see them.
pub(crate) async fn waiting(visit: &Visit<'_>) -> Option<Waiting> {
    if visit.session.must_change_password
        || visit.session.user.partner.is_none()
        || !visit.may(Scope::RunsRead)
    {
        return None;
    }
    let query = [("status", RunState::WaitingApproval.as_str()), ("per_page", "1")];
    let found: ListPage<Run> = visit.get(&RUN_LIST, &[], &query).await.ok()?;
    Some(Waiting(found.meta.total.unwrap_or_default()))
}

/// The number in the navigation.
async fn poll(visit: &Visit<'_>) -> Outcome {
    let waiting = waiting(visit).await.ok_or_else(|| visit.nothing())?;
    visit.fragment(&waiting)
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
