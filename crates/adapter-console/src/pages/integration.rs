//! Integration: webhooks with their deliveries, scoped credentials, the request log and the events.

use kopeck_api::operations::{
    EVENT_FEED, REQUEST_LIST, WEBHOOK_CREATE, WEBHOOK_DELETE, WEBHOOK_DELIVERIES, WEBHOOK_GET, WEBHOOK_LIST,
    WEBHOOK_PING, WEBHOOK_REDELIVER, WEBHOOK_ROTATE_SECRET, WEBHOOK_UPDATE,
};
use kopeck_api::{
    Event, Page as ListPage, RequestFeed, Webhook, WebhookCreated, WebhookDelivery, WebhookSecretRotated,
};
use kopeck_domain::access::Scope;
use kopeck_port_store::Access;
use kopeck_service::partners;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::call::{self, Problem};
use crate::host::ApiResponse;
use crate::texts::Text;
use crate::view::{Block, Cell, Field, FieldKind, Form, Page, Table};
use crate::visit::{Outcome, Reply, Visit};

/// The pages of this part, and what their forms do.
pub(crate) async fn route(visit: &Visit<'_>, segments: &[&str]) -> Outcome {
    match (visit.request.is_post, segments) {
        (false, ["integration"]) => show(visit, None).await,
        (true, ["integration"]) => create(visit).await,
        (false, ["integration", "requests"]) => requests(visit).await,
        (false, ["integration", "events"]) => events(visit).await,
        (false, ["webhook", id]) => webhook(visit, id, None).await,
        (true, ["webhook", id, action]) => act(visit, id, action).await,
        _ => Err(visit.nothing()),
    }
}

/// How many of the latest events are shown.
const EVENTS: i64 = 100;

/// The first page.
pub(crate) async fn show(visit: &Visit<'_>, problem: Option<&Problem>) -> Outcome {
    let mut page = Page::new(visit.t(Text::INTEGRATION), "integration");
    page.push(Block::Links(vec![
        Cell::link(visit.t(Text::REQUEST_LOG), "/integration/requests"),
        Cell::link(visit.t(Text::EVENTS), "/integration/events"),
    ]));
    let hooks: ListPage<Webhook> = visit.get(&WEBHOOK_LIST, &[], &[]).await?;
    page.push(Block::Table(webhook_table(visit, &hooks.data)));
    if visit.may(Scope::WebhooksWrite) {
        let value = |name| visit.form.get(name);
        let url = Field::new("url", visit.t(Text::ADDRESS), FieldKind::Text).max(2_048);
        let about = Field::new("description", visit.t(Text::DESCRIPTION), FieldKind::Text).max(256);
        let form = visit.post("/integration", Text::ADD_WEBHOOK).titled(visit.t(Text::ADD_WEBHOOK));
        let url = url.required().value(value("url")).hint(visit.t(Text::WEBHOOK_HINT));
        page.push(Block::Form(form.field(url).field(about.value(value("description")))));
    }
    page.push(Block::Table(credential_table(visit).await?));
    page.status = problem.map_or(200, |problem| problem.status);
    Ok(Reply::Page(page.noting(problem.map(Problem::notice).or_else(|| visit.done()))))
}

fn webhook_table(visit: &Visit<'_>, hooks: &[Webhook]) -> Table {
    let columns = [
        (Text::ADDRESS, false),
        (Text::DESCRIPTION, false),
        (Text::ENABLED, false),
        (Text::LAST_SUCCESS, false),
        (Text::WAITING, true),
    ];
    let mut table = Table::new(visit.t(Text::WEBHOOKS), visit.columns(&columns), visit.t(Text::NO_WEBHOOKS));
    for hook in hooks {
        table.rows.push(vec![
            Cell::link(hook.url.clone(), &format!("/webhook/{}", hook.id_webhook)),
            Cell::text(hook.description.clone()),
            Cell::text(visit.t(if hook.enabled { Text::YES } else { Text::NO })),
            Cell::text(hook.last_success_at.map(|at| visit.instant(at)).unwrap_or_default()),
            Cell::number(hook.pending.to_string()),
        ]);
    }
    table
}

async fn credential_table(visit: &Visit<'_>) -> Result<Table, Problem> {
    visit.require(Scope::UsersRead)?;
    let partner = visit.partner()?;
    let list = visit.in_store(Access::Read, move |unit| partners::credentials(unit, partner)).await;
    let found = list.map_err(|error| visit.failed(&error))?;
    let columns = [Text::NAME, Text::SCOPES, Text::ADDRESSES, Text::REVOKED].map(|text| (text, false));
    let mut table =
        Table::new(visit.t(Text::CREDENTIALS), visit.columns(&columns), visit.t(Text::NO_CREDENTIALS));
    for one in &found {
        table.rows.push(vec![
            Cell::text(one.name.clone()),
            Cell::text(one.scopes.to_string().replace(',', ", ")),
            Cell::text(one.addresses.as_ref().map(ToString::to_string).unwrap_or_default()),
            Cell::text(one.revoked_at.map(|at| visit.instant(at)).unwrap_or_default()),
        ]);
    }
    Ok(table)
}

/// Creates a webhook, and shows its secret.
pub(crate) async fn create(visit: &Visit<'_>) -> Outcome {
    let body = json!({"url": visit.form.get("url"), "description": visit.form.get("description")});
    match visit.change(&WEBHOOK_CREATE, &[], Some(body)).await {
        Ok(response) => {
            let made: WebhookCreated = call::read(&response, visit.language)?;
            Ok(secret_page(visit, &made.webhook.id_webhook.to_string(), made.secret.0))
        }
        Err(problem) => show(visit, Some(&visit.hidden_alike(problem))).await,
    }
}

/// The secret of a webhook, which no other page shows.
fn secret_page(visit: &Visit<'_>, id: &str, secret: String) -> Reply {
    let mut page = Page::new(visit.t(Text::WEBHOOK_SECRET), "integration");
    page.push(Block::Text(visit.t(Text::KEEP_SECRET).to_owned()));
    page.push(Block::Codes(vec![secret]));
    page.push(Block::Links(vec![Cell::link(visit.t(Text::CONTINUE), &format!("/webhook/{id}"))]));
    Reply::Page(page)
}

/// A webhook with its deliveries.
pub(crate) async fn webhook(visit: &Visit<'_>, id: &str, problem: Option<&Problem>) -> Outcome {
    let hook: Webhook = visit.get(&WEBHOOK_GET, &[id], &[]).await?;
    let query = [("page", visit.query.get("page")), ("per_page", "50")];
    let deliveries: ListPage<WebhookDelivery> = visit.get(&WEBHOOK_DELIVERIES, &[id], &query).await?;
    let mut page = Page::new(hook.url.clone(), "integration");
    let time = |at: Option<time::OffsetDateTime>| at.map(|at| visit.instant(at)).unwrap_or_default();
    let types = hook.types.as_ref().map_or_else(
        || visit.t(Text::ALL).to_owned(),
        |types| types.iter().map(|one| one.as_str()).collect::<Vec<_>>().join(", "),
    );
    let facts = [
        (Text::DESCRIPTION, hook.description.clone()),
        (Text::ENABLED, visit.t(if hook.enabled { Text::YES } else { Text::NO }).to_owned()),
        (Text::EVENTS, types),
        (Text::CREATED, visit.instant(hook.created_at)),
        (Text::LAST_SUCCESS, time(hook.last_success_at)),
        (Text::LAST_FAILURE, time(hook.last_failure_at)),
    ];
    let facts = facts.into_iter().map(|(label, value)| (visit.t(label).to_owned(), Cell::text(value)));
    page.push(Block::Facts(facts.collect()));
    if visit.may(Scope::WebhooksWrite) {
        let form = |action: &str, submit| visit.post(&format!("/webhook/{id}/{action}"), submit);
        let toggle = if hook.enabled { Text::DISABLE } else { Text::ENABLE };
        page.push(Block::Form(form("ping", Text::SEND_PING)));
        page.push(Block::Form(form("enable", toggle).hide("enabled", (!hook.enabled).to_string())));
        page.push(Block::Form(form("secret", Text::NEW_SECRET)));
        page.push(Block::Form(form("delete", Text::DELETE).dangerous()));
        let event = Field::new("eventId", visit.t(Text::EVENT_ID), FieldKind::Text).max(36).required();
        page.push(Block::Form(form("redeliver", Text::DELIVER_AGAIN).field(event)));
    }
    let mut table = delivery_table(visit, &deliveries.data);
    table.pages = visit.pages(&format!("/webhook/{id}"), &deliveries.meta);
    page.push(Block::Table(table));
    page.status = problem.map_or(200, |problem| problem.status);
    Ok(Reply::Page(page.noting(problem.map(Problem::notice).or_else(|| visit.done()))))
}

fn delivery_table(visit: &Visit<'_>, deliveries: &[WebhookDelivery]) -> Table {
    let columns = [
        (Text::LAST_ATTEMPT, false),
        (Text::KIND, false),
        (Text::STATUS, false),
        (Text::ATTEMPTS, true),
        (Text::RESPONSE, false),
        (Text::EVENT_ID, false),
    ];
    let mut table =
        Table::new(visit.t(Text::DELIVERIES), visit.columns(&columns), visit.t(Text::NO_DELIVERIES));
    for one in deliveries {
        let response = one.last_status_code.map(|code| code.to_string()).or_else(|| one.last_error.clone());
        table.rows.push(vec![
            Cell::text(one.last_attempt_at.map(|at| visit.instant(at)).unwrap_or_default()),
            Cell::text(one.event_type.as_str()),
            Cell::text(one.status.as_str()),
            Cell::number(one.attempts.to_string()),
            Cell::text(response.unwrap_or_default()),
            Cell::text(one.event_id.to_string()),
        ]);
    }
    table
}

/// Carries out a form of the page of a webhook.
pub(crate) async fn act(visit: &Visit<'_>, id: &str, action: &str) -> Outcome {
    let form = &visit.form;
    let (operation, body) = match action {
        "ping" => (&WEBHOOK_PING, None),
        "enable" => (&WEBHOOK_UPDATE, Some(json!({"enabled": form.get("enabled") == "true"}))),
        "secret" => (&WEBHOOK_ROTATE_SECRET, None),
        "delete" => (&WEBHOOK_DELETE, None),
        "redeliver" => (&WEBHOOK_REDELIVER, Some(json!({"eventId": form.get("eventId")}))),
        _ => return Err(visit.nothing()),
    };
    let done: Result<ApiResponse, Problem> = visit.change(operation, &[id], body).await;
    match done {
        Ok(response) if action == "secret" => {
            let made: WebhookSecretRotated = call::read(&response, visit.language)?;
            Ok(secret_page(visit, id, made.secret.0))
        }
        Ok(_) if action == "delete" => Ok(Reply::SeeOther("/integration?done=deleted".to_owned())),
        Ok(_) => Ok(Reply::SeeOther(format!(
            "/webhook/{id}?done={}",
            if action == "enable" { "saved" } else { "queued" }
        ))),
        Err(problem) if [403, 404].contains(&problem.status) => Err(visit.hidden_alike(problem)),
        Err(problem) => webhook(visit, id, Some(&problem)).await,
    }
}

/// The request log of the partner's programs.
pub(crate) async fn requests(visit: &Visit<'_>) -> Outcome {
    let query = ["after", "status", "requestId"].map(|name| (name, visit.query.get(name)));
    let mut page = Page::new(visit.t(Text::REQUEST_LOG), "integration");
    let field = |name, label, max| {
        Field::new(name, visit.t(label), FieldKind::Text).value(visit.query.get(name)).max(max)
    };
    let form = Form::search("/integration/requests", visit.t(Text::SEARCH));
    page.push(Block::Form(form.field(field("status", Text::HTTP_STATUS, 3)).field(field(
        "requestId",
        Text::REQUEST_ID,
        64,
    ))));
    let found: RequestFeed = match visit.get(&REQUEST_LIST, &[], &query).await {
        Ok(found) => found,
        Err(problem) if problem.status == 422 => {
            page.status = 422;
            return Ok(Reply::Page(page.noting(Some(problem.notice()))));
        }
        Err(problem) => return Err(problem),
    };
    let columns = [
        (Text::DATE, false),
        (Text::OPERATION, false),
        (Text::HTTP_STATUS, true),
        (Text::CODE, false),
        (Text::FIELDS, false),
        (Text::MILLISECONDS, true),
        (Text::ADDRESS, false),
        (Text::REQUEST_ID, false),
    ];
    let mut table =
        Table::new(visit.t(Text::REQUEST_LOG), visit.columns(&columns), visit.t(Text::NO_REQUESTS));
    for one in &found.data {
        table.rows.push(vec![
            Cell::text(visit.instant(one.at)),
            Cell::text(one.operation.clone()),
            Cell::number(one.status.to_string()),
            Cell::text(one.code.clone().unwrap_or_default()),
            Cell::text(one.fields.join(", ")),
            Cell::number(one.duration_ms.to_string()),
            Cell::text(one.address.clone().unwrap_or_default()),
            Cell::text(one.request_id.clone()),
        ]);
    }
    page.push(Block::Table(table));
    if !found.data.is_empty() {
        let next = visit.query.with("after", &found.next.to_string()).query();
        let next = Cell::link(visit.t(Text::NEXT), &format!("/integration/requests?{next}"));
        page.push(Block::Links(vec![next]));
    }
    Ok(Reply::Page(page))
}

/// A page of the feed, with the number of its newest event.
#[derive(Deserialize)]
struct Events {
    data: Vec<Value>,
    newest: i64,
}

/// The latest events, newest first.
pub(crate) async fn events(visit: &Visit<'_>) -> Outcome {
    let first: Events = visit.get(&EVENT_FEED, &[], &[("limit", "1")]).await?;
    let after = (first.newest - EVENTS).max(0).to_string();
    let found: Result<Events, Problem> =
        visit.get(&EVENT_FEED, &[], &[("after", &after), ("limit", "100")]).await;
    let found = match found {
        Ok(found) => found,
        // Some of the latest are kept no more: from the first that is.
        Err(problem) if problem.status == 410 => visit.get(&EVENT_FEED, &[], &[("limit", "100")]).await?,
        Err(problem) => return Err(problem),
    };
    let columns = [(Text::NUMBER, true), (Text::DATE, false), (Text::KIND, false), (Text::EVENT_ID, false)];
    let mut table = Table::new(visit.t(Text::EVENTS), visit.columns(&columns), visit.t(Text::NO_EVENTS));
    for event in found.data.into_iter().rev() {
        let event: Event = serde_json::from_value(event).map_err(|_| Problem::failed(visit.language))?;
        table.rows.push(vec![
            Cell::number(event.seq.to_string()),
            Cell::text(visit.instant(event.created_at)),
            Cell::text(event.data.event_type().as_str()),
            Cell::text(event.id.to_string()),
        ]);
    }
    let mut page = Page::new(visit.t(Text::EVENTS), "integration");
    page.push(Block::Table(table));
    Ok(Reply::Page(page))
}
