//! What an operator sees: the partners, and each with its balances, keys, users and open requests.

use kopeck_domain::Kopecks;
use kopeck_domain::access::Role;
use kopeck_domain::ids::PartnerId;
use kopeck_domain::partner::PartnerStatus;
use kopeck_port_store::{Access, BalanceSheet};
use kopeck_service::partners::{self, PartnerError, PartnerOverview};

use crate::call::Problem;
use crate::texts::Text;
use crate::view::{Block, Cell, Page, Table};
use crate::visit::{Outcome, Reply, Visit};

/// The pages of this part, and what their forms do.
pub(crate) async fn route(visit: &Visit<'_>, segments: &[&str]) -> Outcome {
    match (visit.request.is_post, segments) {
        (false, ["partners"]) => list(visit).await,
        (false, ["partner", id]) => partner(visit, id).await,
        _ => Err(visit.nothing()),
    }
}

fn require_operator(visit: &Visit<'_>) -> Result<(), Problem> {
    let is_operator = visit.session.user.role == Role::Operator;
    if is_operator { Ok(()) } else { Err(Problem::hidden(403, visit.language)) }
}

fn refusal(visit: &Visit<'_>, error: &PartnerError) -> Problem {
    match error {
        PartnerError::NotFound => visit.nothing(),
        error => visit.failed(error),
    }
}

fn status_text(visit: &Visit<'_>, status: PartnerStatus) -> &'static str {
    visit.t(if status == PartnerStatus::Active { Text::ACTIVE } else { Text::SUSPENDED })
}

/// What a partner has; an overflow cannot be stored.
fn balance(sheet: &BalanceSheet) -> i64 {
    sheet.balances.balance().map_or(i64::MAX, Kopecks::get)
}

/// The partners.
pub(crate) async fn list(visit: &Visit<'_>) -> Outcome {
    require_operator(visit)?;
    let env = visit.parts.env.clone();
    let read = visit.in_store(Access::Read, move |unit| {
        let found = partners::list(unit)?;
        found.iter().map(|partner| partners::overview(unit, &env, partner.id)).collect::<Result<Vec<_>, _>>()
    });
    let found = read.await.map_err(|error| refusal(visit, &error))?;
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
    page.push(Block::Table(table));
    Ok(Reply::Page(page))
}

/// A partner.
pub(crate) async fn partner(visit: &Visit<'_>, id: &str) -> Outcome {
    require_operator(visit)?;
    let id: PartnerId = id.parse().map_err(|_| visit.nothing())?;
    let env = visit.parts.env.clone();
    let read = visit.in_store(Access::Read, move |unit| partners::overview(unit, &env, id));
    let found = read.await.map_err(|error| refusal(visit, &error))?;
    let PartnerOverview { partner, sheet, users, credentials, sessions, open_requests, .. } = found;
    let mut page = Page::new(partner.name.clone(), "partners");
    let facts = [
        (Text::IDENTIFIER, partner.id.to_string()),
        (Text::STATUS, status_text(visit, partner.status).to_owned()),
        (Text::BALANCE, visit.money(balance(&sheet))),
        (Text::HELD, visit.money(sheet.balances.held.get())),
        (Text::AVAILABLE, visit.money(sheet.balances.available.get())),
        (Text::CREDENTIALS, credentials.len().to_string()),
        (Text::OPEN_SESSIONS, sessions.to_string()),
        (Text::OPEN_REQUESTS, open_requests.to_string()),
    ];
    let facts = facts.into_iter().map(|(label, value)| (visit.t(label).to_owned(), Cell::text(value)));
    page.push(Block::Facts(facts.collect()));
    let columns = [Text::EMAIL, Text::ROLE, Text::LAST_LOGIN].map(|text| (text, false));
    let mut table = Table::new(visit.t(Text::USERS), visit.columns(&columns), visit.t(Text::NOBODY_FOUND));
    for one in &users {
        table.rows.push(vec![
            Cell::text(one.user.login.as_str()),
            Cell::text(visit.t(Text::of_role(one.user.role))),
            Cell::text(one.last_login_at.map(|at| visit.instant(at)).unwrap_or_default()),
        ]);
    }
    page.push(Block::Table(table));
    Ok(Reply::Page(page))
}
