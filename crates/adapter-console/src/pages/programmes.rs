//! Programmes: rules that make a run for each period, what they will do, and what can be done with them.

pub(crate) mod forecast;
mod form;
pub(crate) mod leavers;
mod terms;

pub(crate) use terms::WEEKDAYS;

use kopeck_api::operations::{
    BALANCE, PROGRAMME_APPROVE, PROGRAMME_DELETE, PROGRAMME_GET, PROGRAMME_LIST, PROGRAMME_PAUSE,
    PROGRAMME_REFUSE, PROGRAMME_RESUME, PROGRAMME_RUNS,
};
use kopeck_api::{Balance, Page as ListPage, Programme, ProgrammeState, Run};
use kopeck_domain::access::Scope;
use kopeck_domain::calendar::{date_text, parse_date};
use serde_json::json;

use super::names::Names;
use super::people::categories;
use super::runs;
use crate::call::Problem;
use crate::texts::Text;
use crate::view::{Block, Cell, Field, FieldKind, Form, Page, Table};
use crate::visit::{Outcome, Reply, Visit};

/// The pages of this part, and what their forms do.
pub(crate) async fn route(visit: &Visit<'_>, segments: &[&str]) -> Outcome {
    match (visit.request.is_post, segments) {
        (false, ["programmes"]) => list(visit).await,
        (false, ["programmes", "forecast"]) => show_forecast(visit).await,
        (false, ["programmes", "leavers"]) => leavers::show(visit, None).await,
        (true, ["programmes", "leavers"]) => leavers::save(visit).await,
        (false, ["programmes", "new"]) => form::open(visit, None).await,
        (true, ["programmes", "new"]) => form::save(visit, None).await,
        (true, ["programmes", "preview"]) => form::preview(visit, None).await,
        (false, ["programme", id, "edit"]) => form::open(visit, Some(id)).await,
        (true, ["programme", id, "edit"]) => form::save(visit, Some(id)).await,
        (true, ["programme", id, "preview"]) => form::preview(visit, Some(id)).await,
        (false, ["programme", id]) => show(visit, id, None).await,
        (true, ["programme", id, action]) => act(visit, id, action).await,
        _ => Err(visit.nothing()),
    }
}

pub(super) fn state_text<'s>(visit: &Visit<'_>, state: &'s ProgrammeState) -> &'s str {
    match state {
        ProgrammeState::WaitingApproval => visit.t(Text::WAITS_FOR_APPROVAL),
        ProgrammeState::Active => visit.t(Text::PROGRAMME_ACTIVE),
        ProgrammeState::Paused => visit.t(Text::PROGRAMME_PAUSED),
        ProgrammeState::Ended => visit.t(Text::PROGRAMME_ENDED),
        other => other.as_str(),
    }
}

/// The list.
async fn list(visit: &Visit<'_>) -> Outcome {
    let mut page = Page::new(visit.t(Text::PROGRAMMES), "programmes");
    let mut links = vec![Cell::link(visit.t(Text::FORECAST), "/programmes/forecast")];
    if visit.may(Scope::ProgrammesWrite) {
        links.push(Cell::link(visit.t(Text::NEW_PROGRAMME), "/programmes/new"));
    }
    if visit.may(Scope::RunsWrite) {
        links.push(Cell::link(visit.t(Text::SET_LIMITS), "/limits"));
    }
    links.push(Cell::link(visit.t(Text::WHO_LEAVES), "/programmes/leavers"));
    page.push(Block::Links(links));
    let query = [("page", visit.query.get("page")), ("per_page", "50")];
    let found: ListPage<Programme> = visit.get(&PROGRAMME_LIST, &[], &query).await?;
    let mut table = table(visit, &found.data);
    table.pages = visit.pages("/programmes", &found.meta);
    page.push(Block::Table(table));
    Ok(Reply::Page(page.noting(visit.done())))
}

/// The programmes with their next dates.
pub(super) fn table(visit: &Visit<'_>, programmes: &[Programme]) -> Table {
    let columns = [Text::PROGRAMME, Text::STATE, Text::NEXT_RUN].map(|text| (text, false));
    let mut table =
        Table::new(visit.t(Text::PROGRAMMES), visit.columns(&columns), visit.t(Text::NO_PROGRAMMES));
    for programme in programmes {
        table.rows.push(vec![
            Cell::link(programme.terms.name.clone(), &format!("/programme/{}", programme.id_programme)),
            Cell::text(state_text(visit, &programme.state)),
            Cell::text(programme.next_at.map(|at| visit.moment(at)).unwrap_or_default()),
        ]);
    }
    table
}

/// What all programmes will do up to a day.
async fn show_forecast(visit: &Visit<'_>) -> Outcome {
    let ahead = visit.today() + forecast::AHEAD;
    let asked = visit.query.given("until").map_or_else(|| date_text(ahead), str::to_owned);
    let mut page = Page::new(visit.t(Text::FORECAST), "programmes");
    let until = Field::new("until", visit.t(Text::FORECAST_UNTIL), FieldKind::Text).value(&*asked).max(10);
    let until = until.hint(visit.t(Text::DAY_HINT));
    page.push(Block::Form(Form::search("/programmes/forecast", visit.t(Text::SHOW)).field(until)));
    let day = parse_date(&asked).unwrap_or(ahead);
    match forecast::read(visit, day).await {
        Ok(rows) => {
            let balance: Balance = visit.get(&BALANCE, &[], &[]).await?;
            let programmes: ListPage<Programme> =
                visit.get(&PROGRAMME_LIST, &[], &[("per_page", "100")]).await?;
            page.push(Block::Text(visit.t(Text::FORECAST_RULE).to_owned()));
            page.push(forecast::block(visit, balance.available, &rows, &programmes.data));
            Ok(Reply::Page(page))
        }
        Err(problem) if problem.status == 422 => {
            page.status = 422;
            Ok(Reply::Page(page.noting(Some(problem.notice()))))
        }
        Err(problem) => Err(problem),
    }
}

/// A programme: its terms, those that wait, its runs, and what can be done with it.
async fn show(visit: &Visit<'_>, id: &str, problem: Option<&Problem>) -> Outcome {
    let programme: Programme = visit.get(&PROGRAMME_GET, &[id], &[]).await?;
    let (names, categories) = (Names::of(visit).await, categories(visit).await?);
    let mut page = Page::new(programme.terms.name.clone(), "programmes");
    let mut facts = vec![(visit.t(Text::STATE).to_owned(), Cell::text(state_text(visit, &programme.state)))];
    if let Some(at) = programme.next_at {
        facts.push((visit.t(Text::NEXT_RUN).to_owned(), Cell::text(visit.moment(at))));
    }
    facts.extend(terms::facts(visit, &programme.terms, &categories));
    facts.push((visit.t(Text::CREATED_BY).to_owned(), Cell::text(names.show(visit, &programme.created_by))));
    page.push(Block::Facts(facts));
    if let Some(proposed) = &programme.proposed {
        page.push(Block::Heading(visit.t(Text::WAITING_TERMS).to_owned()));
        let mut facts = terms::facts(visit, proposed, &categories);
        let by = programme.proposed_by.as_deref().map(|by| names.show(visit, by)).unwrap_or_default();
        facts.push((visit.t(Text::GIVEN_BY).to_owned(), Cell::text(by)));
        page.push(Block::Facts(facts));
    }
    push_forms(visit, &mut page, id, &programme);
    let query = [("page", visit.query.get("page")), ("per_page", "25")];
    let found: ListPage<Run> = visit.get(&PROGRAMME_RUNS, &[id], &query).await?;
    let mut table = runs::table(visit, Text::ITS_RUNS, &found.data);
    table.pages = visit.pages(&format!("/programme/{id}"), &found.meta);
    page.push(Block::Table(table));
    visit.answer(page, problem)
}

/// The forms that the state of the programme and the role of the user allow.
fn push_forms(visit: &Visit<'_>, page: &mut Page, id: &str, programme: &Programme) {
    let form = |action: &str, submit| visit.post(&format!("/programme/{id}/{action}"), submit);
    let waits = programme.state == ProgrammeState::WaitingApproval || programme.proposed.is_some();
    if waits && visit.may(Scope::ApprovalsWrite) {
        page.push(Block::Form(form("approve", Text::APPROVE)));
        page.push(Block::Form(form("refuse", Text::REFUSE).dangerous()));
    }
    if !visit.may(Scope::ProgrammesWrite) || programme.state == ProgrammeState::Ended {
        return;
    }
    page.push(Block::Links(vec![Cell::link(visit.t(Text::EDIT), &format!("/programme/{id}/edit"))]));
    match programme.state {
        ProgrammeState::Active => {
            page.push(Block::Text(visit.t(Text::PAUSE_RULE).to_owned()));
            page.push(Block::Form(form("pause", Text::PAUSE)));
        }
        ProgrammeState::Paused => page.push(Block::Form(form("resume", Text::RESUME))),
        _ => {}
    }
    let sure = Field::new("sure", visit.t(Text::END_SURE), FieldKind::Check).required();
    page.push(Block::Form(form("end", Text::END_PROGRAMME).field(sure).dangerous()));
}

/// Carries out a form of the page.
async fn act(visit: &Visit<'_>, id: &str, action: &str) -> Outcome {
    let operation = match action {
        "approve" => &PROGRAMME_APPROVE,
        "refuse" => &PROGRAMME_REFUSE,
        "pause" => &PROGRAMME_PAUSE,
        "resume" => &PROGRAMME_RESUME,
        "end" if visit.form.get("sure") != "yes" => {
            return show(visit, id, Some(&Problem::new(422, visit.language, Text::FORM_INCOMPLETE))).await;
        }
        "end" => &PROGRAMME_DELETE,
        _ => return Err(visit.nothing()),
    };
    let body = (action != "end").then(|| json!({}));
    match visit.change(operation, &[id], body).await {
        Ok(_) if action == "end" => Ok(Reply::SeeOther("/programmes?done=programme_end".to_owned())),
        Ok(_) => Ok(Reply::SeeOther(format!("/programme/{id}?done=programme_{action}"))),
        Err(problem) if problem.status == 404 => Err(visit.nothing()),
        Err(problem) => show(visit, id, Some(&problem)).await,
    }
}
