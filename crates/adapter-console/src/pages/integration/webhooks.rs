//! Webhooks and their deliveries.

use kopeck_api::operations::{
    WEBHOOK_CREATE, WEBHOOK_DELETE, WEBHOOK_DELIVERIES, WEBHOOK_GET, WEBHOOK_PING, WEBHOOK_REDELIVER,
    WEBHOOK_ROTATE_SECRET, WEBHOOK_UPDATE,
};
use kopeck_api::{Page as ListPage, Webhook, WebhookCreated, WebhookDelivery, WebhookSecretRotated};
use kopeck_domain::access::Scope;
use kopeck_domain::event::EventType;
use serde_json::{Value, json};

use crate::call::{self, Problem};
use crate::host::ApiResponse;
use crate::texts::Text;
use crate::view::{Block, Cell, Field, FieldKind, Form, Page, Table};
use crate::visit::{Outcome, Reply, Visit};

/// The webhooks of the partner.
pub(super) fn table(visit: &Visit<'_>, hooks: &[Webhook]) -> Table {
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

/// The form of a new webhook.
pub(super) fn offer(visit: &Visit<'_>, page: &mut Page) {
    if !visit.may(Scope::WebhooksWrite) {
        return;
    }
    let value = |name| visit.form.get(name);
    let url = Field::new("url", visit.t(Text::ADDRESS), FieldKind::Text).max(2_048);
    let about = Field::new("description", visit.t(Text::DESCRIPTION), FieldKind::Text).max(256);
    let form = visit.post("/integration", Text::ADD_WEBHOOK).titled(visit.t(Text::ADD_WEBHOOK));
    let url = url.required().value(value("url")).hint(visit.t(Text::WEBHOOK_HINT));
    page.push(Block::Form(form.field(url).field(about.value(value("description")))));
}

/// Creates a webhook, and shows its secret.
pub(super) async fn create(visit: &Visit<'_>) -> Outcome {
    let body = json!({"url": visit.form.get("url"), "description": visit.form.get("description")});
    match visit.change(&WEBHOOK_CREATE, &[], Some(body)).await {
        Ok(response) => {
            let made: WebhookCreated = call::read(&response, visit.language)?;
            Ok(secret_page(visit, &made.webhook.id_webhook.to_string(), made.secret.0))
        }
        Err(problem) => super::show(visit, Some(&visit.hidden_alike(problem))).await,
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
pub(super) async fn show(visit: &Visit<'_>, id: &str, problem: Option<&Problem>) -> Outcome {
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
        (Text::FAILING_SINCE, time(hook.failing_since)),
        (Text::SEALED_EVENTS, visit.t(if hook.sealed { Text::YES } else { Text::NO }).to_owned()),
    ];
    page.push(Block::Facts(visit.facts(facts)));
    if visit.may(Scope::WebhooksWrite) {
        let form = |action: &str, submit| visit.post(&format!("/webhook/{id}/{action}"), submit);
        let toggle = if hook.enabled { Text::DISABLE } else { Text::ENABLE };
        page.push(Block::Form(form("ping", Text::SEND_PING)));
        page.push(Block::Form(form("enable", toggle).hide("enabled", (!hook.enabled).to_string())));
        page.push(Block::Form(form("secret", Text::NEW_SECRET)));
        page.push(Block::Form(form("delete", Text::DELETE).dangerous()));
        page.push(Block::Form(edit_form(visit, id, &hook, problem.is_some())));
        let event = Field::new("eventId", visit.t(Text::EVENT_ID), FieldKind::Text).max(36);
        let after = Field::new("after", visit.t(Text::ALL_AFTER_NUMBER), FieldKind::Text).max(19);
        let again = form("redeliver", Text::DELIVER_AGAIN).titled(visit.t(Text::DELIVER_AGAIN));
        page.push(Block::Form(again.field(event).field(after.hint(visit.t(Text::DELIVER_AGAIN_HINT)))));
    }
    let mut table = delivery_table(visit, &deliveries.data);
    table.pages = visit.pages(&format!("/webhook/{id}"), &deliveries.meta);
    page.push(Block::Table(table));
    visit.answer(page, problem)
}

/// The form of what can be changed; with what was typed before, if that was refused.
fn edit_form(visit: &Visit<'_>, id: &str, hook: &Webhook, was_refused: bool) -> Form {
    let typed = was_refused && !visit.form.get("url").is_empty();
    let value = |name, stored: &str| if typed { visit.form.get(name).to_owned() } else { stored.to_owned() };
    let checked = |name, stored: bool| {
        let is_checked = if typed { visit.form.get(name) == "yes" } else { stored };
        if is_checked { "yes" } else { "" }
    };
    let url = Field::new("url", visit.t(Text::ADDRESS), FieldKind::Text).max(2_048).required();
    let about = Field::new("description", visit.t(Text::DESCRIPTION), FieldKind::Text).max(256);
    let sealed = Field::new("sealed", visit.t(Text::SEAL_EVENTS), FieldKind::Check);
    let mut form = visit
        .post(&format!("/webhook/{id}/edit"), Text::SAVE)
        .titled(visit.t(Text::EDIT))
        .field(url.value(value("url", &hook.url)))
        .field(about.value(value("description", &hook.description)))
        .field(sealed.value(checked("sealed", hook.sealed)).hint(visit.t(Text::EVENT_TYPES_HINT)));
    for one in types() {
        let is_chosen =
            hook.types.as_ref().is_some_and(|types| types.iter().any(|chosen| chosen.as_str() == one));
        form = form.field(Field::new(one, one, FieldKind::Check).value(checked(one, is_chosen)));
    }
    form
}

/// The types of events that can be chosen. A ping goes to its webhook, whatever was chosen.
fn types() -> impl Iterator<Item = &'static str> {
    EventType::ALL.iter().filter(|one| **one != EventType::Ping).map(|one| one.as_str())
}

/// The body that the form of what can be changed asks for.
fn edited(visit: &Visit<'_>) -> Value {
    let chosen: Vec<&str> = types().filter(|one| visit.form.get(one) == "yes").collect();
    json!({
        "url": visit.form.get("url"),
        "description": visit.form.get("description"),
        "sealed": visit.form.get("sealed") == "yes",
        "types": if chosen.is_empty() { Value::Null } else { json!(chosen) },
    })
}

/// What is to be delivered again: one event, or all after a number.
fn missed(visit: &Visit<'_>) -> Value {
    match (visit.form.given("eventId"), visit.form.given("after")) {
        (None, Some(after)) => {
            json!({"after": after.parse::<i64>().map_or_else(|_| json!(after), Value::from)})
        }
        (Some(event), Some(after)) => json!({"eventId": event, "after": after}),
        (event, None) => json!({"eventId": event.unwrap_or_default()}),
    }
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
pub(super) async fn act(visit: &Visit<'_>, id: &str, action: &str) -> Outcome {
    let form = &visit.form;
    let (operation, body) = match action {
        "ping" => (&WEBHOOK_PING, None),
        "enable" => (&WEBHOOK_UPDATE, Some(json!({"enabled": form.get("enabled") == "true"}))),
        "secret" => (&WEBHOOK_ROTATE_SECRET, None),
        "delete" => (&WEBHOOK_DELETE, None),
        "edit" => (&WEBHOOK_UPDATE, Some(edited(visit))),
        "redeliver" => (&WEBHOOK_REDELIVER, Some(missed(visit))),
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
            if ["enable", "edit"].contains(&action) { "saved" } else { "queued" }
        ))),
        Err(problem) if [403, 404].contains(&problem.status) => Err(visit.hidden_alike(problem)),
        Err(problem) => show(visit, id, Some(&problem)).await,
    }
}
