//! The request log of the partner's programs, the newest first.

use std::collections::HashMap;

use kopeck_api::operations;
use kopeck_domain::access::Scope;
use kopeck_domain::ids::CredentialId;
use kopeck_port_store::{Access, LoggedRequest, NewestRequests, RequestLogFilter, StoreError};
use kopeck_service::partners::{self, PartnerError};
use kopeck_service::request_log;

use crate::call::Problem;
use crate::texts::Text;
use crate::view::{Block, Cell, Field, FieldKind, Form, Page, Table};
use crate::visit::{Outcome, Reply, Visit};

/// The page.
const PATH: &str = "/integration/requests";
/// Rows of a page.
const ROWS: u32 = 100;

/// The page of the log.
pub(super) async fn show(visit: &Visit<'_>) -> Outcome {
    visit.require(Scope::EventsRead)?;
    let mut page = Page::new(visit.t(Text::REQUEST_LOG), "integration");
    page.push(Block::Form(search(visit)));
    let status = visit.query.given("status").map(str::parse::<u16>).transpose();
    let before = visit.query.given("before").map(str::parse::<i64>).transpose();
    let (Ok(status), Ok(before)) = (status, before) else {
        page.status = 422;
        let problem = Problem::new(422, visit.language, Text::STATUS_IS_A_NUMBER);
        return Ok(Reply::Page(page.noting(Some(problem.notice()))));
    };
    let given = |name| visit.query.given(name).map(str::to_owned);
    let filter = RequestLogFilter { status, operation: given("operation"), request_id: given("requestId") };
    let partner = visit.partner()?;
    let read = visit.in_store(Access::Read, move |unit| {
        let found = request_log::newest(unit, partner, before, &filter, ROWS)?;
        let credentials = match partners::credentials(unit, partner) {
            Err(PartnerError::Store(error)) => return Err(error),
            credentials => credentials.unwrap_or_default(),
        };
        Ok::<_, StoreError>((found, credentials))
    });
    let (found, credentials) = read.await.map_err(|error| visit.failed(&error))?;
    let names = credentials.into_iter().map(|one| (one.id, one.name)).collect();
    page.push(Block::Table(table(visit, &found.requests, &names)));
    page.push(Block::Links(ways(visit, &found)));
    Ok(Reply::Page(page))
}

fn search(visit: &Visit<'_>) -> Form {
    let all = [(String::new(), visit.t(Text::ALL).to_owned())];
    let names = operations::ALL.iter().map(|one| (one.name.to_owned(), one.name.to_owned()));
    let operations = FieldKind::Select(all.into_iter().chain(names).collect());
    let field =
        |name, label, kind, max| Field::new(name, visit.t(label), kind).value(visit.query.get(name)).max(max);
    Form::search(PATH, visit.t(Text::SEARCH))
        .field(field("status", Text::HTTP_STATUS, FieldKind::Text, 3))
        .field(field("operation", Text::OPERATION, operations, 64))
        .field(field("requestId", Text::REQUEST_ID, FieldKind::Text, 64))
}

fn ways(visit: &Visit<'_>, found: &NewestRequests) -> Vec<Cell> {
    let way = |text, before: &str| {
        Cell::link(visit.t(text), &format!("{PATH}?{}", visit.query.with("before", before).query()))
    };
    let newest = visit.query.given("before").map(|_| way(Text::NEWEST, ""));
    let older = found.before.map(|before| way(Text::OLDER, &before.to_string()));
    newest.into_iter().chain(older).collect()
}

fn table(visit: &Visit<'_>, rows: &[LoggedRequest], names: &HashMap<CredentialId, String>) -> Table {
    let columns = [
        (Text::DATE, false),
        (Text::WHO, false),
        (Text::OPERATION, false),
        (Text::HTTP_STATUS, true),
        (Text::CODE, false),
        (Text::FIELDS, false),
        (Text::MILLISECONDS, true),
        (Text::REPLAYED, false),
        (Text::ADDRESS, false),
        (Text::REQUEST_ID, false),
    ];
    let mut table =
        Table::new(visit.t(Text::REQUEST_LOG), visit.columns(&columns), visit.t(Text::NO_REQUESTS));
    for one in rows.iter().map(|row| &row.record) {
        let who = one.credential.map_or_else(
            || visit.t(Text::OWN_LOGIN).to_owned(),
            |id| names.get(&id).cloned().unwrap_or_else(|| id.to_string()),
        );
        table.rows.push(vec![
            Cell::text(visit.instant(one.at)),
            Cell::text(who),
            Cell::text(one.operation.clone()),
            Cell::number(one.status.to_string()),
            Cell::text(one.code.clone().unwrap_or_default()),
            Cell::text(one.fields.join(", ")),
            Cell::number(one.duration_ms.to_string()),
            Cell::text(if one.replayed { visit.t(Text::YES) } else { "" }),
            Cell::text(one.address.clone().unwrap_or_default()),
            Cell::text(one.request_id.clone()),
        ]);
    }
    table
}
