//! The feed of events, the newest first, and one event with its data.

use kopeck_api::operations::{EVENT_FEED, WEBHOOK_LIST};
use kopeck_api::{Event, Page as ListPage, Webhook};
use kopeck_domain::access::Scope;
use kopeck_domain::event::EventType;
use serde::Deserialize;
use serde_json::Value;

use crate::call::Problem;
use crate::texts::Text;
use crate::view::{Block, Cell, Field, FieldKind, Form, Page, Table};
use crate::visit::{Outcome, Reply, Visit};

/// The page.
const PATH: &str = "/integration/events";
/// How many events of the feed a page looks at, without and with a filter.
const WINDOWS: (i64, i64) = (100, 500);

/// A part of the feed, with the numbers of its ends.
#[derive(Deserialize)]
struct Events {
    data: Vec<Value>,
    oldest: i64,
    newest: i64,
}

/// The events, newest first.
pub(super) async fn show(visit: &Visit<'_>) -> Outcome {
    let types = visit.query.get("types");
    let window = if types.is_empty() { WINDOWS.0 } else { WINDOWS.1 };
    let ends: Events = visit.get(&EVENT_FEED, &[], &[("after", "newest"), ("limit", "1")]).await?;
    let last = visit.query.get("before").parse::<i64>().map_or(ends.newest, |before| before - 1);
    let after = (last - window).max(ends.oldest - 1).max(0);
    let query = [("after", after.to_string()), ("limit", window.to_string()), ("types", types.to_owned())];
    let query = query.each_ref().map(|(name, value)| (*name, value.as_str()));
    let found: Events = visit.get(&EVENT_FEED, &[], &query).await?;
    let mut page = Page::new(visit.t(Text::EVENTS), "integration");
    page.push(Block::Form(search(visit)));
    let columns = [(Text::NUMBER, true), (Text::DATE, false), (Text::KIND, false), (Text::EVENT_ID, false)];
    let mut table = Table::new(visit.t(Text::EVENTS), visit.columns(&columns), visit.t(Text::NO_EVENTS));
    for event in found.data.into_iter().rev() {
        let event: Event = serde_json::from_value(event).map_err(|_| Problem::failed(visit.language))?;
        if event.seq > last {
            continue;
        }
        let number = event.seq.to_string();
        table.rows.push(vec![
            Cell { is_number: true, ..Cell::link(number.clone(), &format!("/integration/event/{number}")) },
            Cell::text(visit.instant(event.created_at)),
            Cell::text(event.data.event_type().as_str()),
            Cell::text(event.id.to_string()),
        ]);
    }
    page.push(Block::Table(table));
    let way = |text, before: &str| {
        Cell::link(visit.t(text), &format!("{PATH}?{}", visit.query.with("before", before).query()))
    };
    let newest = visit.query.given("before").map(|_| way(Text::NEWEST, ""));
    let older = (after >= ends.oldest).then(|| way(Text::OLDER, &(after + 1).to_string()));
    page.push(Block::Links(newest.into_iter().chain(older).collect()));
    Ok(Reply::Page(page))
}

fn search(visit: &Visit<'_>) -> Form {
    let all = [(String::new(), visit.t(Text::ALL).to_owned())];
    let types = EventType::ALL.iter().map(|one| (one.to_string(), one.to_string()));
    let kinds = FieldKind::Select(all.into_iter().chain(types).collect());
    let field = Field::new("types", visit.t(Text::KIND), kinds).value(visit.query.get("types"));
    Form::search(PATH, visit.t(Text::SEARCH)).field(field)
}

/// One event, with all of its data, and the webhooks that it can be delivered to again.
pub(super) async fn event(visit: &Visit<'_>, seq: &str) -> Outcome {
    let number: i64 = seq.parse().map_err(|_| visit.nothing())?;
    let after = number.saturating_sub(1).max(0).to_string();
    let found: Events = visit.get(&EVENT_FEED, &[], &[("after", &after), ("limit", "1")]).await?;
    let event = found.data.into_iter().next().filter(|event| event["seq"] == number);
    let event = event.ok_or_else(|| visit.nothing())?;
    let text = |name: &str| event.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let mut page = Page::new(format!("{} {seq}", text("type")), "integration");
    let envelope = ["id", "type", "createdAt"].map(|name| (name.to_owned(), Cell::text(text(name))));
    let data = event.get("data").and_then(Value::as_object).into_iter().flatten();
    let data = data.map(|(name, value)| (format!("data.{name}"), shown(name, value)));
    page.push(Block::Facts(envelope.into_iter().chain(data).collect()));
    if visit.may(Scope::WebhooksWrite) {
        let hooks: ListPage<Webhook> = visit.get(&WEBHOOK_LIST, &[], &[]).await?;
        for hook in hooks.data.iter().filter(|hook| hook.enabled) {
            let action = format!("/webhook/{}/redeliver", hook.id_webhook);
            let form = visit.post(&action, Text::DELIVER_AGAIN).titled(hook.url.clone());
            page.push(Block::Form(form.hide("eventId", text("id"))));
        }
    }
    page.push(Block::Links(vec![Cell::link(visit.t(Text::EVENTS), PATH)]));
    Ok(Reply::Page(page))
}

/// A value of an event; identifiers lead to their pages.
fn shown(name: &str, value: &Value) -> Cell {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    match (name, value) {
        ("idEmployee", Value::String(id)) => Cell::link(text, &format!("/person/{id}")),
        ("idRun", Value::String(id)) => Cell::link(text, &format!("/run/{id}")),
        (_, Value::Null) => Cell::default(),
        _ => Cell::text(text),
    }
}
