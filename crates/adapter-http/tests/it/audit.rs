//! Audit entries of requests.

use std::sync::{Arc, Mutex};

use actix_web::http::Method;
use actix_web::test::TestRequest;
use kopeck_adapter_http::HttpState;
use kopeck_audit::{Actor, Entry};
use kopeck_domain::partner::SealingPolicy::{Optional, Required};
use kopeck_port_store::StoreError;
use kopeck_port_store::mock::{InPlaceStore, MockAuditRepository, MockUnit};
use serde_json::{Value, json};
use time::OffsetDateTime;

use crate::client::{call, categories, post, seal, send};
use crate::support::{API_KEY, NONCE, NOW, api_over, parts, unit};

type Log = Arc<Mutex<Vec<Entry>>>;

/// The unit of work, and the entries that are appended in it.
fn logging(mut unit: MockUnit) -> (MockUnit, Log) {
    let log = Log::default();
    let written = Arc::clone(&log);
    unit.audit = MockAuditRepository::new();
    unit.audit.expect_append().returning(move |entry| {
        written.lock().unwrap().push(entry.clone());
        Ok(())
    });
    (unit, log)
}

fn take(log: &Log) -> Vec<Entry> {
    std::mem::take(&mut *log.lock().unwrap())
}

fn take_one(log: &Log) -> Entry {
    let mut entries = take(log);
    assert_eq!(entries.len(), 1, "{entries:?}");
    entries.remove(0)
}

/// Action, outcome, status and code.
fn in_short(entry: &Entry) -> String {
    let Entry { action, outcome, status, code, .. } = entry;
    format!("{action} {outcome} {} {}", status.unwrap(), code.as_deref().unwrap_or("-"))
}

fn login(password: &str) -> TestRequest {
    TestRequest::post()
        .uri("/v1/get_access_token")
        .peer_addr("10.1.2.3:4567".parse().unwrap())
        .insert_header(("x-nonce", NONCE))
        .insert_header(("x-api-key", API_KEY))
        .set_json(seal("POST", "/v1/get_access_token", &json!({"login": "partner-1", "password": password})))
}

#[actix_web::test]
async fn a_mutation_has_one_audit_entry_and_its_replay_another() {
    let (unit, log) = logging(categories(Optional));
    let state = api_over(unit);
    let create = || post("/v1/category", &json!({"nameCategory": "Повара"}));
    let made = send(&state, create().insert_header(("x-request-id", "r-1"))).await.json();
    let done = take_one(&log);
    assert_eq!(in_short(&done), "category.create DONE 201 -");
    assert_eq!(done.subject, format!("category:{}", made["idCategory"].as_str().unwrap()));
    assert_eq!((done.at, done.sealed), (NOW, false));
    assert!(done.request_id.as_deref().is_some_and(|ids| ids.ends_with(" r-1")), "{done:?}");
    assert!(matches!(done.actor, Actor::Partner(Some(_))) && done.partner.is_some());
    assert!(send(&state, create()).await.header("idempotent-replayed").is_some());
    let repeated = take_one(&log);
    assert_eq!(in_short(&repeated), "category.create REPEATED 201 -");
    assert_eq!((repeated.key, repeated.partner), (done.key, done.partner));
    assert!(done.key.is_some());
}

#[actix_web::test]
async fn refusals_are_audited_with_their_reason() {
    let (unit, log) = logging(unit(Required));
    let state = api_over(unit);
    let empty = seal("POST", "/v1/category", &json!({"nameCategory": ""}));
    for (body, reason, sealed) in [
        (empty, "incorrect_value", true),
        (json!({"nameCategory": "Повара"}), "sealed_value_refused", false),
        (json!({"sealed": "s1.garbage"}), "sealed_value_refused", false),
    ] {
        assert_eq!(send(&state, post("/v1/category", &body)).await.status, 422);
        let refused = take_one(&log);
        assert_eq!(in_short(&refused), format!("category.create REFUSED 422 {reason}"));
        assert_eq!(refused.sealed, sealed, "{body}");
    }
    let stranger = post("/v1/category", &json!({})).insert_header(("authorization", "Bearer bad"));
    assert_eq!(send(&state, stranger).await.status, 401);
    let refused = take_one(&log);
    assert_eq!(in_short(&refused), "category.create REFUSED 401 unauthorized");
    assert_eq!((refused.actor, refused.partner), (Actor::Unknown, None));
}

/// Reads have no entry, but for refused sealed values and disclosed activation codes.
#[actix_web::test]
async fn reads_are_logged_briefly() {
    let (mut unit, log) = logging(unit(Optional));
    unit.employees.expect_with_cards().returning(|_, _| Ok(None));
    unit.orders.expect_get().returning(|_, _| Ok(None));
    let state = api_over(unit);
    let id = "00000000-0000-0000-0000-000000000007";
    let employee = format!("/v1/employee/{id}");
    assert_eq!(send(&state, call(Method::GET, &employee)).await.status, 404);
    assert_eq!(take(&log), []);
    assert_eq!(send(&state, call(Method::GET, "/v1/employee/s1.garbage")).await.status, 422);
    assert_eq!(in_short(&take_one(&log)), "employee.get REFUSED 422 sealed_value_refused");
    assert_eq!(send(&state, call(Method::GET, &format!("/v1/order/result/{id}"))).await.status, 404);
    let told = take_one(&log);
    assert_eq!(in_short(&told), "order.result REFUSED 404 order_not_found");
    assert_eq!(told.subject, format!("order:{id}"));
}

#[actix_web::test]
async fn every_login_has_an_audit_entry() {
    let (unit, log) = logging(unit(Optional));
    let state = api_over(unit);
    assert_eq!(send(&state, login("right")).await.status, 200);
    let done = take_one(&log);
    assert_eq!(in_short(&done), "token.access DONE 200 -");
    assert!(matches!(done.actor, Actor::Partner(Some(_))) && done.sealed);
    assert_eq!((done.source.as_str(), done.subject.as_str(), done.key), ("10.1.2.3", "", None));
    assert_eq!(send(&state, login("wrong")).await.status, 400);
    let refused = take_one(&log);
    assert_eq!(in_short(&refused), "token.access REFUSED 400 bad_credentials");
    assert_eq!((refused.actor, refused.partner), (Actor::Unknown, done.partner));
}

/// The full address, though failures count by network.
#[actix_web::test]
async fn a_trusted_proxy_reports_the_client() {
    let (unit, log) = logging(unit(Optional));
    let mut parts = parts(Arc::new(InPlaceStore::new(unit)));
    parts.settings.trusted_proxies = "10.0.0.0/8".parse().unwrap();
    let state = HttpState::new(parts);
    for (client, source) in [("2001:db8::5", "2001:db8::5"), ("unknown", "-")] {
        let call = login("wrong").insert_header(("x-forwarded-for", client));
        assert_eq!(send(&state, call).await.status, 400);
        assert_eq!(take_one(&log).source, source);
    }
}

#[actix_web::test]
async fn a_throttled_login_has_an_audit_entry() {
    let mut unit = unit(Optional);
    unit.throttle = Default::default();
    unit.throttle.expect_failures().returning(|_, _: OffsetDateTime, _| Ok(vec![NOW; 10]));
    let (unit, log) = logging(unit);
    assert_eq!(send(&api_over(unit), login("right")).await.status, 429);
    assert_eq!(in_short(&take_one(&log)), "token.access REFUSED 429 too_many_requests");
}

/// Each issued token has an audit entry.
#[actix_web::test]
async fn no_tokens_are_issued_without_their_audit_entry() {
    let mut unit = unit(Optional);
    unit.audit = MockAuditRepository::new();
    unit.audit.expect_append().returning(|_| Err(StoreError::Unavailable("away".to_owned())));
    let got = send(&api_over(unit), login("right")).await;
    assert_eq!(got.status, 503);
    assert!(!got.text.contains("token"), "{}", got.text);
}

/// A mutation fails if its entry cannot be written; an error keeps its own response.
#[actix_web::test]
async fn no_change_commits_without_its_audit_entry() {
    let mut unit = categories(Optional);
    unit.audit = MockAuditRepository::new();
    unit.audit.expect_append().returning(|_| Err(StoreError::Unavailable("away".to_owned())));
    let state = api_over(unit);
    let create = |name: &str| post("/v1/category", &json!({"nameCategory": name}));
    assert_eq!(send(&state, create("")).await.status, 422);
    assert_eq!(send(&state, create("Повара")).await.status, 503);
    let shown: Value = send(&state, create("")).await.json();
    assert_eq!(shown["success"], json!(false));
}
