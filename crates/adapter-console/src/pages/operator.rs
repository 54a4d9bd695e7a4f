//! What operators see and do: partners, deposits by four eyes, and the service itself.

mod days;
mod deposits;
mod log;
mod new_partner;
mod partner;
mod sandbox;
mod service;
mod stuck;

use kopeck_domain::Kopecks;
use kopeck_domain::access::{Actor, Authority, Role, Scopes};
use kopeck_domain::partner::PartnerStatus;
use kopeck_port_store::{Access, BalanceSheet};
use kopeck_service::partners;

use super::partner_problems::partner_problem;
use crate::call::Problem;
use crate::texts::Text;
use crate::view::{Block, Cell, Page, Table};
use crate::visit::{Outcome, Reply, Visit};

/// The pages of this part, and what their forms do. To users of partners it is not there.
pub(crate) async fn route(visit: &Visit<'_>, segments: &[&str]) -> Outcome {
    let operator = operator(visit)?;
    match (visit.request.is_post, segments) {
        (false, ["partners"]) => list(visit).await,
        (false, ["partners", "new"]) => new_partner::form(visit, None),
        (true, ["partners", "new"]) => new_partner::create(visit).await,
        (false, ["partner", id]) => partner::show(visit, id, None).await,
        (true, ["partner", id, "deposit"]) => deposits::enter(visit, &operator, id).await,
        (true, ["partner", id, action]) => partner::act(visit, id, action).await,
        (false, ["deposits"]) => deposits::show(visit, &operator, None).await,
        (true, ["deposits", action]) => deposits::act(visit, &operator, action).await,
        (false, ["service"]) => service::show(visit).await,
        (false, ["stuck"]) => stuck::show(visit, None).await,
        (true, ["stuck"]) => stuck::settle(visit).await,
        (false, ["reconciliation"]) => days::reconciliation(visit, None),
        (true, ["reconciliation"]) => days::compare(visit).await,
        (false, ["calendar"]) => days::calendar(visit, None).await,
        (true, ["calendar"]) => days::replace_calendar(visit).await,
        (false, ["log"]) => log::show(visit, None).await,
        (true, ["log"]) => log::verify(visit).await,
        (false, ["sandbox"]) => sandbox::show(visit, None),
        (true, ["sandbox", action]) => sandbox::act(visit, action).await,
        _ => Err(visit.nothing()),
    }
}

/// What an operator may do by the operators' verbs: everything.
fn operator(visit: &Visit<'_>) -> Result<Authority, Problem> {
    let user = &visit.session.user;
    if user.role != Role::Operator {
        return Err(Problem::hidden(403, visit.language));
    }
    Ok(Authority { actor: Actor::User(user.id), scopes: Scopes::ALL })
}

fn status_text(visit: &Visit<'_>, status: PartnerStatus) -> &'static str {
    visit.t(if status == PartnerStatus::Active { Text::ACTIVE } else { Text::SUSPENDED })
}

/// What a partner has; an overflow cannot be stored.
fn balance(sheet: &BalanceSheet) -> i64 {
    sheet.balances.balance().map_or(i64::MAX, Kopecks::get)
}

/// The partners.
async fn list(visit: &Visit<'_>) -> Outcome {
    let env = visit.parts.env.clone();
    let read = visit.in_store(Access::Read, move |unit| {
        let found = partners::list(unit)?;
        found.iter().map(|partner| partners::overview(unit, &env, partner.id)).collect::<Result<Vec<_>, _>>()
    });
    let found = read.await.map_err(|error| partner_problem(visit, &error))?;
    let columns = [
        (Text::NAME, false),
        (Text::STATUS, false),
        (Text::BALANCE, true),
        (Text::AVAILABLE, true),
        (Text::OPEN_REQUESTS, true),
    ];
    let mut table = Table::new(visit.t(Text::PARTNERS), visit.columns(&columns), visit.t(Text::NO_PARTNERS));
    for one in &found {
        table.rows.push(vec![
            Cell::link(one.partner.name.clone(), &format!("/partner/{}", one.partner.id)),
            Cell::text(status_text(visit, one.partner.status)),
            Cell::number(visit.money(balance(&one.sheet))),
            Cell::number(visit.money(one.sheet.balances.available.get())),
            Cell::number(one.open_requests.to_string()),
        ]);
    }
    let mut page = Page::new(visit.t(Text::PARTNERS), "partners");
    page.push(Block::Links(vec![Cell::link(visit.t(Text::NEW_PARTNER), "/partners/new")]));
    page.push(Block::Table(table));
    Ok(Reply::Page(page))
}
