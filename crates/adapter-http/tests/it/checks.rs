//! The order of checks, and faulty requests.

use std::sync::Arc;

use actix_web::http::Method;
use actix_web::http::header::HeaderValue;
use actix_web::test::TestRequest;
use kopeck_adapter_http::HttpState;
use kopeck_domain::partner::SealingPolicy::{Optional, Required};
use kopeck_port_store::mock::MockUnit;
use kopeck_port_store::{Access, Done, Store, StoreError, Work};
use serde_json::json;

use crate::client::{call, post, send};
use crate::support::{TOKEN, api_over, parts, unit};

#[actix_web::test]
async fn unknown_paths_get_a_json_error() {
    let state = api_over(MockUnit::default());
    for path in
        ["/v1", "/v1/nothing", "/v1/card//balance", "/v1/%zz", "/v1/employees/%00/x", "/sandbox/v1/bank"]
    {
        let got = send(&state, call(Method::GET, path)).await;
        assert_eq!((got.status, got.code().as_str()), (404, "not_found"), "{path}");
    }
    for method in [Method::GET, Method::HEAD, Method::OPTIONS, Method::DELETE] {
        let got = send(&state, call(method.clone(), "/v1/employee/add/")).await;
        assert_eq!((got.status, got.header("allow")), (405, Some("POST")), "{method}");
    }
    let got = send(&state, call(Method::POST, "/v1/category/x")).await;
    assert_eq!(
        (got.code().as_str(), got.header("allow")),
        ("method_not_allowed", Some("PUT, PATCH, DELETE"))
    );
}

#[actix_web::test]
async fn a_missing_or_bad_token_is_a_401_before_anything_else_is_looked_at() {
    let state = api_over(unit(Required));
    let bare = || TestRequest::with_uri("/v1/category").method(Method::POST).set_json(json!({}));
    for authorization in [None, Some("Bearer bad"), Some("Basic eA=="), Some("bad"), Some("")] {
        let request =
            authorization.into_iter().fold(bare(), |r, value| r.insert_header(("authorization", value)));
        let got = send(&state, request).await;
        assert_eq!((got.status, got.code().as_str()), (401, "unauthorized"), "{authorization:?}");
        assert_eq!(got.json()["success"], json!(false));
        assert_eq!(got.header("www-authenticate"), Some("Bearer"));
    }
    for authorization in [TOKEN.to_owned(), format!("bEARER {TOKEN}")] {
        let got = send(&state, bare().insert_header(("authorization", authorization))).await;
        assert_eq!(got.fields(), "x-nonce");
    }
}

/// The mock expects no call, so a lookup of credentials would panic.
#[actix_web::test]
async fn a_long_query_is_refused_before_anything_else_is_looked_at() {
    let state = api_over(MockUnit::default());
    let parameters = |count: usize| (0..count).map(|n| format!("&p{n}=1")).collect::<String>();
    let bytes = |count: usize| format!("q={}", "x".repeat(count - 2));
    for path in
        ["/v1/employees", "/v1/employee/add", "/v1/get_access_token", "/docs", "/openapi.json", "/no/such"]
    {
        for method in [Method::GET, Method::POST, Method::DELETE] {
            for query in [parameters(33), bytes(4_097), "=".repeat(60_000), "&a".repeat(30_000)] {
                let request = TestRequest::with_uri(&format!("{path}?{query}")).method(method.clone());
                let request = request
                    .insert_header(("x-api-key", "ak_wrong"))
                    .insert_header(("content-type", "text/plain"))
                    .insert_header(("content-length", "99999999"));
                let got = send(&state, request).await;
                assert_eq!((got.status, got.code().as_str()), (414, "uri_too_long"), "{method} {path}");
            }
        }
    }
    for query in [parameters(32), bytes(4_096)] {
        let got = send(&state, call(Method::GET, &format!("/no/such?{query}"))).await;
        assert_eq!(got.status, 404, "{query}");
    }
}

#[actix_web::test]
async fn the_head_is_checked() {
    let state = api_over(unit(Optional));
    let body = |size: usize| json!({"nameCategory": "x".repeat(size)});
    let got = send(&state, post("/v1/category", &body(2_000))).await;
    assert_eq!((got.status, got.code().as_str()), (413, "payload_too_large"));
    for request in [
        post("/v1/category", &body(1)).insert_header(("content-type", "text/plain")),
        post("/v1/category", &body(1)).insert_header(("content-encoding", "gzip")),
    ] {
        let got = send(&state, request).await;
        assert_eq!((got.status, got.code().as_str()), (415, "unsupported_media_type"));
    }
    let odd = post("/v1/category", &body(1))
        .insert_header(("x-nonce", HeaderValue::from_bytes(b"\xff3f2a9c51e7d84b0fa6c2").unwrap()))
        .insert_header(("idempotency-key", ""))
        .insert_header(("x-request-id", "mine-1"));
    let got = send(&state, odd).await;
    assert_eq!(
        (got.fields().as_str(), got.header("x-request-id")),
        ("x-nonce idempotency-key", Some("mine-1"))
    );
}

#[actix_web::test]
async fn odd_values_are_422_and_never_worse() {
    let state = api_over(unit(Optional));
    for (path, fields) in [
        ("/v1/card/x", "idCard"),
        ("/v1/card/s1.x/balance", "idCard"),
        ("/v1/card/%C3%28", "idCard"),
        ("/v1/card/%zz", "idCard"),
        ("/v1/order/result/1/", "order_id"),
        ("/v1/employees?page=0&per_page=501&status=X&q=a%00b", "page per_page status q"),
        ("/v1/employees?page=%ff", "page"),
        ("/v1/employees?sealed=x", "sealed"),
        ("/v1/replenishment/status/?idReplenishment=", "idReplenishment"),
        ("/v1/replenishment/result/", "idReplenishment"),
        ("/v1/replenishment/7/status", "replenishmentId"),
        ("/v1/orders?status=new", "status"),
        ("/v1/cards/available?typeCard=", "typeCard"),
        ("/v1/card/x/transactions?from=1&to=31.02.2026&type=x", "idCard from to type"),
    ] {
        assert_eq!(send(&state, call(Method::GET, path)).await.fields(), fields, "{path}");
    }
    for body in ["", "[]", "{", "\u{0}", "{\"a\":1,\"a\":1}", "nan"] {
        let request = call(Method::POST, "/v1/category")
            .set_payload(body)
            .insert_header(("content-type", "application/json"));
        assert_eq!(send(&state, request).await.fields(), "body", "{body}");
    }
    let card = r#"{"idCard":"0f8fad5b-d9cb-469f-a165-70867728950e","amountReplenishment":1,"amountReplenishment":2}"#;
    let request = call(Method::POST, "/v1/replenishment")
        .set_payload(format!(r#"{{"cards":[{card}]}}"#))
        .insert_header(("content-type", "application/json"));
    assert_eq!(send(&state, request).await.fields(), "body", "two amounts for one card");
    let cards = json!({"cards": [{"idCard": "x", "amountReplenishment": 0}, 7, {}]});
    assert_eq!(
        send(&state, post("/v1/replenishment", &cards)).await.fields(),
        "cards[0].idCard cards[0].amountReplenishment cards[1] cards[2].idCard cards[2].amountReplenishment"
    );
}

#[actix_web::test]
async fn a_panic_is_a_500_that_shows_nothing() {
    // The mock panics, because it expects no call of the ledger.
    let state = api_over(unit(Optional));
    let got = send(&state, call(Method::GET, "/v1/balance").insert_header(("x-request-id", "r-9"))).await;
    assert_eq!((got.status, got.code().as_str()), (500, "internal"));
    assert!(got.text.contains("r-9") && !got.text.contains("Mock"), "{}", got.text);
}

/// A store whose queue is full.
struct BusyStore;

impl Store for BusyStore {
    fn submit(&self, _access: Access, _work: Work, done: Done) {
        done(Err(StoreError::Busy));
    }
}

#[actix_web::test]
async fn a_busy_store_is_a_503_that_can_be_tried_again() {
    let state = HttpState::new(parts(Arc::new(BusyStore)));
    let got = send(&state, call(Method::GET, "/v1/balance")).await;
    assert_eq!((got.status, got.header("retry-after")), (503, Some("1")));
}
