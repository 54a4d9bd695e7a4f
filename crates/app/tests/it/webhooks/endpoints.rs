//! Endpoints that fail: their attempts, and the errors that a partner sees.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::receiver::{self, Receiver};
use super::{Service, path_of};
use crate::raw_http::{self, get, post};
use crate::server::TestServer;

impl Service {
    fn add_employees(&self, number: usize) {
        for number in 0..number {
            self.send(post("/v1/employee/add", &json!({"customId": format!("E-{number}")}))).ok(200);
        }
    }

    /// The webhook as the operator sees it.
    fn seen(&self, webhook: &Value) -> Value {
        let listed = self.installation.succeed(&["webhooks", "list", &self.partner.id, "--json"]);
        let listed: Value = serde_json::from_str(&listed).unwrap();
        listed
            .as_array()
            .unwrap()
            .iter()
            .find(|one| one["idWebhook"] == webhook["idWebhook"])
            .unwrap()
            .clone()
    }
}

/// Ten failures in a row, and those that were on their way beside the tenth.
#[test]
fn an_endpoint_that_keeps_failing_is_left_alone_and_resumes_at_full_speed() {
    const EVENTS: usize = 30;
    let (mut service, dead, alive) = (Service::start(), Receiver::start(), Receiver::start());
    let types = json!(["employee.created"]);
    let failing = service.webhook(&json!({"url": dead.url(), "types": types}));
    let working = service.webhook(&json!({"url": alive.url(), "types": types}));
    dead.always_answer("500 Oops\r\nRetry-After: 3600");
    service.add_employees(EVENTS);
    for _ in 0..EVENTS {
        alive.next();
    }
    let seen = receiver::once(|| Some(service.seen(&failing)).filter(|seen| seen["pausedUntil"].is_string()));
    assert_eq!((&seen["enabled"], &seen["pending"]), (&json!(true), &json!(EVENTS)));
    assert_eq!(service.seen(&working)["pausedUntil"], Value::Null);
    let line = service.installation.succeed(&["webhooks", "list", &service.partner.id]);
    assert!(line.contains(", next attempt not before "), "{line}");
    // No restart forgets it, and no other webhook waits.
    service.kill();
    let event = service.ping(&working);
    assert_eq!(alive.next().header("webhook-id"), event);
    let attempts = dead.count();
    assert!((10..=13).contains(&attempts), "{attempts}");
    let listed = service.send(get(&format!("{}/deliveries?per_page=50", path_of(&failing)))).ok(200);
    let listed = listed["data"].as_array().unwrap();
    let recorded: u64 = listed.iter().map(|one| one["attempts"].as_u64().unwrap()).sum();
    assert!((10..=attempts as u64).contains(&recorded), "{recorded} of {attempts}");
    let due = |one: &Value| one["nextAttemptAt"].as_str().unwrap().to_owned();
    let times: BTreeSet<String> = listed.iter().map(due).collect();
    assert_eq!(times.len(), 1, "all wait with it: {times:?}");
    assert!(listed.len() < EVENTS, "the queue stays short");
    dead.always_answer("200 OK");
    service.advance(3_700);
    let arrived: BTreeSet<String> =
        (0..EVENTS).map(|_| dead.next().header("webhook-id").to_owned()).collect();
    assert_eq!(arrived.len(), EVENTS);
    let shown = receiver::once(|| Some(service.seen(&failing)).filter(|seen| seen["pending"] == 0));
    assert_eq!((&shown["pausedUntil"], &shown["failingSince"]), (&Value::Null, &Value::Null));
}

/// A partner that has repaired its endpoint need not wait.
#[test]
fn a_ping_ends_the_pause() {
    let (service, receiver) = (Service::start(), Receiver::start());
    let webhook = service.webhook(&json!({"url": receiver.url(), "types": ["employee.created"]}));
    receiver.always_answer("500 Oops\r\nRetry-After: 3600");
    service.add_employees(14);
    receiver::once(|| service.seen(&webhook)["pausedUntil"].is_string().then_some(()));
    receiver.always_answer("200 OK");
    let event = service.ping(&webhook);
    while receiver.next().header("webhook-id") != event {}
}

#[test]
fn a_delivery_says_what_the_receiver_said() {
    let (service, receiver) = (Service::start(), Receiver::start());
    let webhook = service.webhook(&json!({"url": receiver.url()}));
    let secret = webhook["secret"].as_str().unwrap();
    let said = format!(
        "{{\"error\":\n \"no \u{202e}key\u{200b}\", \"secret\": \"{secret}\", \"more\": \"{}\"}}",
        "я".repeat(300)
    );
    receiver.answer_with("400 Bad Request", &said);
    let event = service.ping(&webhook);
    let failed = service.delivery(&webhook, |delivery| delivery["attempts"] == 1);
    let start = "the endpoint answered with status 400: {\"error\": \"no key \", \"secret\": \"[...]\", \"more\": \"яяя";
    let error = failed["lastError"].as_str().unwrap();
    assert!(error.starts_with(start), "{error}");
    assert_eq!(error.chars().count(), "the endpoint answered with status 400: ".len() + 200);
    let again = post(&format!("{}/redeliver", path_of(&webhook)), &json!({"eventId": event}));
    assert_eq!(service.send(again.clone().key("pending")).code(), (409, "request_not_processed".to_owned()));
    service.advance(7);
    let delivered = service.delivered(&webhook);
    assert_eq!((&delivered["lastError"], &delivered["lastStatusCode"]), (&Value::Null, &json!(200)));
    assert_eq!(service.send(again.key("delivered")).ok(202), json!({"deliveries": 1}));
}

#[test]
fn too_many_look_ups_are_refused_with_a_time_to_wait() {
    let server = TestServer::start();
    let (_, token) = raw_http::optional(&server);
    let create = post("/v1/webhooks", &json!({"url": "https://busy.test/"})).token(&token).key("one");
    let refused = create.send(&server);
    assert_eq!(refused.code(), (429, "too_many_requests".to_owned()));
    assert_eq!(refused.header("retry-after"), Some("4"));
}

#[test]
fn an_unknown_type_is_named_with_the_nearest() {
    let server = TestServer::start();
    let (_, token) = raw_http::optional(&server);
    let detail = "\"card.isued\" is no type of event; the nearest is \"card.issued\"";
    let new = json!({"url": "https://example.com/", "types": ["ping", "card.isued"]});
    for call in [post("/v1/webhooks", &new), get("/v1/events?types=ping,card.isued")] {
        let refused = call.token(&token).send(&server).json();
        assert!(refused.to_string().contains(&json!(detail).to_string()), "{refused}");
    }
    let long = "x".repeat(65);
    let refused = get(&format!("/v1/events?types={long}")).token(&token).send(&server);
    assert!(!refused.json().to_string().contains(&long));
}
