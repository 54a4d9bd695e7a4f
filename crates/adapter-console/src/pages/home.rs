//! The month: what is to do, what is due, and what is short.

mod cards;

use kopeck_api::operations::{BALANCE, EMPLOYEE_LIST, ORDER_LIST, PROGRAMME_LIST, RUN_LIST};
use kopeck_api::{
    Balance, Employee, Order, Page as ListPage, Programme, ProgrammeForecast, ProgrammeState, RequestState,
    Run, RunState,
};
use time::Duration;

use super::programmes::forecast;
use super::runs;
use crate::call::Problem;
use crate::texts::Text;
use crate::view::{Block, Cell, Page, Table};
use crate::visit::{Outcome, Reply, Visit};

/// Up to so many people the page looks at all of them; beyond, it leads to the pages that do.
const MOST_PEOPLE: u64 = 5_000;

/// How long a refusal is to be mended.
const LATELY: Duration = Duration::days(7);

/// The most of a kind that is named.
const NAMED: &str = "10";

/// The first page.
pub(crate) async fn show(visit: &Visit<'_>) -> Outcome {
    if visit.session.user.partner.is_none() {
        return Ok(Reply::SeeOther("/partners".to_owned()));
    }
    let balance: Balance = visit.get(&BALANCE, &[], &[]).await?;
    let people: ListPage<Employee> = visit.get(&EMPLOYEE_LIST, &[], &[("per_page", "1")]).await?;
    let is_large = people.meta.total.unwrap_or_default() > MOST_PEOPLE;
    let programmes: ListPage<Programme> = visit.get(&PROGRAMME_LIST, &[], &[("per_page", "100")]).await?;
    let programmes = programmes.data;
    let has_active = programmes.iter().any(|programme| programme.state == ProgrammeState::Active);
    let rows = if has_active && !is_large {
        forecast::read(visit, visit.today() + forecast::AHEAD).await?
    } else {
        Vec::new()
    };
    let mut page = Page::new(visit.t(Text::THIS_MONTH), "");
    page.push(Block::Facts(vec![
        (visit.t(Text::AVAILABLE).to_owned(), Cell::text(visit.money(balance.available))),
        (visit.t(Text::HELD).to_owned(), Cell::text(visit.money(balance.hold))),
    ]));
    page.push(Block::Heading(visit.t(Text::TO_DO).to_owned()));
    page.push(Block::Table(to_do(visit, &programmes, &rows).await?));
    if has_active {
        page.push(Block::Heading(visit.t(Text::PROGRAMMES_DUE).to_owned()));
        page.push(if is_large {
            Block::Table(super::programmes::table(visit, &programmes))
        } else {
            forecast::block(visit, balance.available, &rows, &programmes)
        });
        page.push(Block::Links(vec![Cell::link(visit.t(Text::FORECAST), "/programmes/forecast")]));
    }
    push_underway(visit, &mut page).await?;
    if is_large {
        let path = "/people?status=DONT_WORK";
        page.push(Block::Links(vec![Cell::link(visit.t(Text::LEAVERS_ELSEWHERE), path)]));
        cards::push_told(visit, &mut page).await?;
    } else {
        cards::push_leavers(visit, &mut page).await?;
        cards::push_expiring(visit, &mut page).await?;
    }
    Ok(Reply::Page(page))
}

async fn runs_of(visit: &Visit<'_>, state: RunState, from: &str) -> Result<Vec<Run>, Problem> {
    let query = [("status", state.as_str()), ("from", from), ("per_page", NAMED)];
    let found: ListPage<Run> = visit.get(&RUN_LIST, &[], &query).await?;
    Ok(found.data)
}

/// What waits for a person, the most urgent first, each line with the way to where it is done.
async fn to_do(
    visit: &Visit<'_>,
    programmes: &[Programme],
    forecast: &[ProgrammeForecast],
) -> Result<Table, Problem> {
    let columns =
        [(Text::TO_DO, false), (Text::REFERENCE, false), (Text::AMOUNT, true), (Text::BY_WHEN, false)];
    let mut table = Table::new(visit.t(Text::TO_DO), visit.columns(&columns), visit.t(Text::NOTHING_TO_DO));
    let lately = kopeck_domain::calendar::date_text(visit.today() - LATELY);
    if let Some(row) = forecast.iter().find(|row| row.short > 0) {
        table.rows.push(vec![
            Cell::link(visit.t(Text::MONEY_IS_SHORT), "/programmes/forecast"),
            Cell::text(programme_name(programmes, row)),
            Cell::number(visit.money(row.short)),
            Cell::text(visit.date(row.date)),
        ]);
    }
    for programme in programmes.iter().filter(|one| one.state == ProgrammeState::WaitingApproval) {
        table.rows.push(vec![
            Cell::link(visit.t(Text::APPROVE_A_PROGRAMME), &format!("/programme/{}", programme.id_programme)),
            Cell::text(programme.terms.name.clone()),
            Cell::number(""),
            Cell::text(visit.moment(programme.created_at)),
        ]);
    }
    for (state, from, text) in [
        (RunState::WaitingApproval, "", Text::APPROVE_A_RUN),
        (RunState::Decline, &*lately, Text::SEE_REFUSALS),
        (RunState::PartSuccess, &*lately, Text::SEE_REFUSALS),
        (RunState::Draft, "", Text::SUBMIT_A_RUN),
    ] {
        for run in runs_of(visit, state, from).await? {
            table.rows.push(line(visit, text, &run));
        }
    }
    let query = [("status", RequestState::Decline.as_str()), ("from", &*lately), ("per_page", NAMED)];
    let declined: ListPage<Order> = visit.get(&ORDER_LIST, &[], &query).await?;
    for order in declined.data {
        table.rows.push(vec![
            Cell::link(visit.t(Text::SEE_ORDER), &format!("/order/{}", order.order_id)),
            Cell::text(order.reference.unwrap_or_default()),
            Cell::number(visit.money(order.amount)),
            Cell::text(visit.moment(order.created_at)),
        ]);
    }
    Ok(table)
}

/// What is to do with a run.
fn line(visit: &Visit<'_>, text: Text, run: &Run) -> Vec<Cell> {
    let is_faulty = run.state == RunState::Draft && run.faulty > 0;
    let (text, end) = if is_faulty { (Text::MEND_A_RUN, "?faulty=true") } else { (text, "") };
    let kind = runs::kind_text(visit, &run.kind);
    let name = run.reference.as_ref().map_or_else(|| kind.to_owned(), |name| format!("{kind} {name}"));
    vec![
        Cell::link(visit.t(text), &format!("/run/{}{end}", run.id_run)),
        Cell::text(name),
        Cell::number(visit.money(run.amount)),
        Cell::text(visit.moment(run.at.unwrap_or(run.created_at))),
    ]
}

fn programme_name(programmes: &[Programme], row: &ProgrammeForecast) -> String {
    let known = programmes.iter().find(|programme| programme.id_programme == row.id_programme);
    known.map(|known| known.terms.name.clone()).unwrap_or_default()
}

/// Runs that wait for no person: to come, and being carried out.
async fn push_underway(visit: &Visit<'_>, page: &mut Page) -> Result<(), Problem> {
    let mut found = runs_of(visit, RunState::InProcess, "").await?;
    found.extend(runs_of(visit, RunState::Scheduled, "").await?);
    if !found.is_empty() {
        page.push(Block::Heading(visit.t(Text::ON_THEIR_WAY).to_owned()));
        page.push(Block::Table(runs::table(visit, Text::ON_THEIR_WAY, &found)));
    }
    Ok(())
}
