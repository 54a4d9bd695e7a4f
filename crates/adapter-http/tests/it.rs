//! The API in process, over mocked repositories: the pipeline from the head of a call to its answer.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "the helpers of a test fail it by panicking, as the test itself does"
)]

mod support;

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use actix_web::App;
use actix_web::dev::ServiceResponse;
use actix_web::http::header::HeaderValue;
use actix_web::http::{Method, StatusCode};
use actix_web::test::{TestRequest, init_service, read_body, try_call_service};
use kopeck_adapter_http::{HttpSettings, HttpState, configure, serve};
use kopeck_domain::partner::SealingPolicy::{self, Optional, Required};
use kopeck_port_store::mock::MockUnit;
use kopeck_port_store::{Access, Done, Store, StoreError, Work};
use kopeck_sealing::{Clear, RequestContext, ResponseContext, Slot, open_response, seal_request};
use serde_json::{Value, json};
use support::{API_KEY, NONCE, TOKEN, api, api_over, key, now_unix, unit};

/// What came back.
struct Got {
    status: u16,
    headers: actix_web::http::header::HeaderMap,
    text: String,
}

impl Got {
    fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|_| panic!("no JSON: {}", self.text))
    }

    fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    /// The faulty fields of a 422.
    fn fields(&self) -> String {
        assert_eq!(self.status, 422, "{}", self.text);
        let body = self.json();
        let fields = body["data"].as_array().unwrap().iter().map(|fault| fault["field"].as_str().unwrap());
        fields.collect::<Vec<_>>().join(" ")
    }

    fn code(&self) -> String {
        self.json()["code"].as_str().unwrap_or_default().to_owned()
    }
}

async fn send(state: &HttpState, request: TestRequest) -> Got {
    let state = state.clone();
    let app = init_service(App::new().configure(move |config| configure(config, &state))).await;
    let response: ServiceResponse = try_call_service(&app, request.to_request()).await.unwrap();
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    let text = String::from_utf8(read_body(response).await.to_vec()).unwrap();
    for (name, value) in [("cache-control", "no-store"), ("x-content-type-options", "nosniff")] {
        assert_eq!(headers.get(name), Some(&HeaderValue::from_static(value)), "{text}");
    }
    assert!(headers.contains_key("x-request-id"));
    Got { status, headers, text }
}

fn call(method: Method, path: &str) -> TestRequest {
    let authorization = ("authorization", format!("Bearer {TOKEN}"));
    TestRequest::with_uri(path).method(method).insert_header(("x-nonce", NONCE)).insert_header(authorization)
}

fn post(path: &str, body: &Value) -> TestRequest {
    call(Method::POST, path).set_json(body)
}

/// A partner with an empty list of categories that takes every new one.
fn categories(policy: SealingPolicy) -> MockUnit {
    let mut unit = unit(policy);
    unit.categories.expect_id_by_name().returning(|_, _| Ok(None));
    unit.categories.expect_insert().returning(|_, _, _| Ok(()));
    unit.categories.expect_get().returning(|_, _| Ok(None));
    unit
}

fn seal(method: &'static str, path: &'static str, plain: &Value) -> Value {
    let context = RequestContext { method, path, nonce: NONCE, slot: Slot::Body, clear: Clear::none() };
    json!({"sealed": seal_request(&key(), &context, now_unix(), [7; 16], plain.to_string().as_bytes())})
}

fn open(got: &Got, method: &'static str, path: &'static str) -> Value {
    assert_eq!(got.header("content-type"), Some("application/sealed+json"), "{}", got.text);
    let context = ResponseContext { method, path, nonce: NONCE, status: got.status };
    let sealed = got.json();
    let plain = open_response(&key(), &context, now_unix(), sealed["sealed"].as_str().unwrap()).unwrap();
    serde_json::from_str(&plain).unwrap()
}

#[actix_web::test]
async fn what_is_no_operation_is_answered_in_json() {
    let state = api_over(MockUnit::default());
    for path in
        ["/", "/v1", "/v1/nothing", "/v1/card//balance", "/v1/%zz", "/v1/employees/%00/x", "/sandbox/v1/bank"]
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
async fn a_repeat_is_answered_byte_for_byte_and_another_call_under_its_key_is_refused() {
    let state = api_over(categories(Optional));
    let first = send(&state, post("/v1/category", &json!({"nameCategory": "Office"}))).await;
    assert_eq!(first.status, 201, "{}", first.text);
    assert_eq!(first.json()["nameCategory"], "Office");
    assert_eq!(first.header("idempotent-replayed"), None);
    assert_eq!(first.header("content-type"), Some("application/json"));

    let again = send(&state, post("/v1/category/", &json!({"nameCategory": "Office"}))).await;
    assert_eq!((again.status, &again.text), (201, &first.text));
    assert_eq!(again.header("idempotent-replayed"), Some("true"));

    for other in [json!({"nameCategory": "Lab"}), json!({"nameCategory": 7}), json!({})] {
        assert_eq!(send(&state, post("/v1/category", &other)).await.fields(), "x-nonce");
    }
    let keyed = |name: &str| {
        post("/v1/category", &json!({"nameCategory": name})).insert_header(("idempotency-key", "k"))
    };
    assert_eq!(send(&state, keyed("Lab")).await.status, 201);
    assert_eq!(send(&state, keyed("Shop")).await.fields(), "idempotency-key");
}

#[actix_web::test]
async fn refusals_are_not_recorded() {
    let state = api_over(categories(Optional));
    assert_eq!(
        send(&state, post("/v1/category", &json!({"nameCategory": " "}))).await.fields(),
        "nameCategory"
    );
    assert_eq!(send(&state, post("/v1/category", &json!({"nameCategory": "Lab"}))).await.status, 201);
}

#[actix_web::test]
async fn patch_is_put() {
    let id = "0f8fad5b-d9cb-469f-a165-70867728950e";
    let state = api_over(categories(Optional));
    for method in [Method::PUT, Method::PATCH] {
        let path = format!("/v1/category/{id}");
        let got = send(&state, call(method, &path).set_json(json!({"nameCategory": "x"}))).await;
        assert_eq!((got.status, got.code().as_str()), (404, "category_not_found"));
    }
    let got = send(&state, call(Method::PUT, "/v1/category/1").set_json(json!({}))).await;
    assert_eq!(got.fields(), "idCategory nameCategory");
}

#[actix_web::test]
async fn a_sealed_call_has_a_sealed_answer_if_it_asks_for_one() {
    let state = api_over(categories(Required));
    let plain = json!({"nameCategory": "Офис"});
    let sealed = seal("POST", "/v1/category", &plain);
    let asking =
        |body: &Value| post("/v1/category", body).insert_header(("accept", "application/sealed+json"));

    let first = send(&state, asking(&sealed)).await;
    let shown = open(&first, "POST", "/v1/category");
    assert_eq!((first.status, &shown["nameCategory"]), (201, &json!("Офис")));
    let again = send(&state, asking(&sealed)).await;
    assert_eq!(open(&again, "POST", "/v1/category"), shown);
    assert_ne!(again.text, first.text, "a replay is sealed anew");
    assert_eq!(again.header("idempotent-replayed"), Some("true"));
    let in_clear = send(&state, post("/v1/category", &sealed)).await;
    assert_eq!(in_clear.json(), shown);

    let refused = send(&state, asking(&plain)).await;
    assert_eq!(refused.status, 422);
    assert_eq!(open(&refused, "POST", "/v1/category")["data"][0]["field"], "body");
    let unauthorized = asking(&plain).insert_header(("authorization", "bad"));
    assert_eq!(send(&state, unauthorized).await.code(), "unauthorized");
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
    let state = api(Arc::new(BusyStore), HttpSettings::default());
    let got = send(&state, call(Method::GET, "/v1/balance")).await;
    assert_eq!((got.status, got.header("retry-after")), (503, Some("1")));
}

fn login(api_key: &str, body: &Value) -> TestRequest {
    TestRequest::post()
        .uri("/v1/get_access_token")
        .insert_header(("x-nonce", NONCE))
        .insert_header(("x-api-key", api_key))
        .insert_header(("accept", "application/sealed+json"))
        .set_json(body)
}

#[actix_web::test]
async fn wrong_credentials_are_one_and_the_same_400() {
    let state = api_over(unit(Optional));
    let given = |login: &str, password: &str| json!({"login": login, "password": password});
    let mut answers = Vec::new();
    for (api_key, body) in [
        ("ak_bad", given("partner-1", "right")),
        ("ak_bad", seal("POST", "/v1/get_access_token", &given("partner-1", "right"))),
        (API_KEY, given("partner-2", "right")),
        (API_KEY, given("partner-1", "wrong")),
    ] {
        let got = send(&state, login(api_key, &body)).await;
        assert_eq!((got.status, got.code().as_str()), (400, "bad_credentials"));
        answers.push(got.text);
    }
    answers.dedup();
    assert_eq!(answers.len(), 1);
    assert_eq!(send(&state, login(API_KEY, &json!({"login": 1}))).await.fields(), "login password");
}

#[actix_web::test]
async fn right_credentials_give_tokens() {
    let state = api_over(unit(Required));
    let body = seal("POST", "/v1/get_access_token", &json!({"login": "partner-1", "password": "right"}));
    let got = send(&state, login(API_KEY, &body)).await;
    let tokens = open(&got, "POST", "/v1/get_access_token");
    assert_eq!(tokens["tokenType"], "bearer");
    assert_eq!(tokens["accessToken"], "Access-token");
    assert_eq!(tokens["accessExpireAt"], json!(now_unix() + 900));

    let refresh = |api_key: &str, token: &str| {
        TestRequest::post()
            .uri("/v1/get_refresh_token")
            .insert_header(("x-nonce", NONCE))
            .insert_header(("x-api-key", api_key))
            .set_json(seal("POST", "/v1/get_refresh_token", &json!({"token": token})))
    };
    assert_eq!(
        send(&state, refresh(API_KEY, "good-refresh-token")).await.json()["refreshToken"],
        "Refresh-token"
    );
    assert_eq!(send(&state, refresh(API_KEY, "bad")).await.code(), "unauthorized");
    assert_eq!(send(&state, refresh("ak_bad", "good-refresh-token")).await.code(), "unauthorized");
}

/// A client that never sends the body it announced.
#[test]
fn a_slow_body_is_timed_out_by_the_real_server() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let settings =
        HttpSettings { body_deadline: Duration::from_millis(100), workers: 1, ..HttpSettings::default() };
    let store = kopeck_port_store::mock::InPlaceStore::new(unit(Optional));
    let client = std::thread::spawn(move || {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        let head = format!(
            "POST /v1/category HTTP/1.1\r\nhost: x\r\nauthorization: {TOKEN}\r\nx-nonce: {NONCE}\r\n\
             content-type: application/json\r\ncontent-length: 10\r\n\r\n{{"
        );
        stream.write_all(head.as_bytes()).unwrap();
        let mut answer = [0; 12];
        stream.read_exact(&mut answer).unwrap();
        String::from_utf8(answer.to_vec()).unwrap()
    });
    let system = actix_web::rt::System::new();
    let status = system.block_on(async move {
        let server = serve(listener, api(Arc::new(store), settings)).unwrap();
        let handle = server.handle();
        let running = actix_web::rt::spawn(server);
        let status = actix_web::rt::task::spawn_blocking(move || client.join().unwrap()).await.unwrap();
        handle.stop(true).await;
        running.await.unwrap().unwrap();
        status
    });
    assert_eq!(status, format!("HTTP/1.1 {}", StatusCode::REQUEST_TIMEOUT.as_u16()));
}
