//! Idempotent retries, and sealed responses.

use std::sync::Arc;
use std::time::Duration;

use actix_web::App;
use actix_web::dev::ServiceResponse;
use actix_web::http::{Method, StatusCode};
use actix_web::test::{init_service, read_body, try_call_service};
use kopeck_adapter_http::{HttpParts, HttpState, configure};
use kopeck_domain::partner::SealingPolicy::{Optional, Required};
use kopeck_port_store::mock::{InPlaceStore, MockUnit};
use kopeck_port_store::{Access, Done, Store, Work};
use kopeck_port_system::fake::FakeClock;
use serde_json::{Value, json};

use crate::client::{call, categories, open, post, seal, send};
use crate::support::{NOW, api_over, parts};

#[actix_web::test]
async fn a_retry_is_replayed_byte_for_byte_and_another_request_under_its_key_is_refused() {
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

/// The service's clock may have been moved.
#[actix_web::test]
async fn sealed_values_are_judged_by_the_machines_time() {
    let hour = time::Duration::HOUR;
    for (wall, status) in [(NOW, 201), (NOW + hour, 422), (NOW - hour, 422)] {
        let parts = parts(Arc::new(InPlaceStore::new(categories(Required))));
        let wall = Arc::new(FakeClock::starting_at(wall));
        let state = HttpState::new(HttpParts { wall, ..parts });
        let sealed = seal("POST", "/v1/category", &json!({"nameCategory": "Office"}));
        assert_eq!(send(&state, post("/v1/category", &sealed)).await.status, status);
    }
}

/// Runs units of work slowly, on separate threads.
struct SlowStore(Arc<InPlaceStore<MockUnit>>);

impl Store for SlowStore {
    fn submit(&self, access: Access, work: Work, done: Done) {
        let store = Arc::clone(&self.0);
        std::thread::spawn(move || {
            if access == Access::Write {
                std::thread::sleep(Duration::from_millis(50));
            }
            store.submit(access, work, done);
        });
    }
}

#[actix_web::test]
async fn concurrent_retries_have_one_effect() {
    let store = SlowStore(Arc::new(InPlaceStore::new(categories(Optional))));
    let state = HttpState::new(parts(Arc::new(store)));
    let app = init_service(App::new().configure(move |config| configure(config, &state))).await;
    let request = || post("/v1/category", &json!({"nameCategory": "Lab"})).to_request();
    let calls = (0..4).map(|_| try_call_service(&app, request()));
    let mut first = 0;
    let mut bodies = Vec::new();
    for response in futures_util::future::join_all(calls).await {
        let response: ServiceResponse = response.unwrap();
        assert_eq!(response.status(), StatusCode::CREATED);
        first += usize::from(!response.headers().contains_key("idempotent-replayed"));
        bodies.push(read_body(response).await);
    }
    bodies.dedup();
    assert_eq!((first, bodies.len()), (1, 1));
}
