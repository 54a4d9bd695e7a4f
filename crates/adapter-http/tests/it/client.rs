//! A client of the API in process.

use actix_web::App;
use actix_web::dev::ServiceResponse;
use actix_web::http::Method;
use actix_web::http::header::HeaderValue;
use actix_web::test::{TestRequest, init_service, read_body, try_call_service};
use kopeck_adapter_http::{HttpState, configure};
use kopeck_domain::partner::SealingPolicy;
use kopeck_port_store::mock::MockUnit;
use kopeck_sealing::{Clear, RequestContext, ResponseContext, Slot, open_response, seal_request};
use serde_json::{Value, json};

use crate::support::{NONCE, TOKEN, key, now_unix, unit};

/// A response.
pub(crate) struct TestResponse {
    pub(crate) status: u16,
    headers: actix_web::http::header::HeaderMap,
    pub(crate) text: String,
}

impl TestResponse {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|_| panic!("no JSON: {}", self.text))
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    /// The faulty fields of a 422.
    pub(crate) fn fields(&self) -> String {
        assert_eq!(self.status, 422, "{}", self.text);
        let body = self.json();
        let fields = body["data"].as_array().unwrap().iter().map(|fault| fault["field"].as_str().unwrap());
        fields.collect::<Vec<_>>().join(" ")
    }

    pub(crate) fn code(&self) -> String {
        self.json()["code"].as_str().unwrap_or_default().to_owned()
    }
}

pub(crate) async fn send(state: &HttpState, request: TestRequest) -> TestResponse {
    let state = state.clone();
    let app = init_service(App::new().configure(move |config| configure(config, &state))).await;
    let response: ServiceResponse = try_call_service(&app, request.to_request()).await.unwrap();
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    let text = String::from_utf8(read_body(response).await.to_vec()).unwrap();
    for (name, value) in [
        ("cache-control", "no-store"),
        ("x-content-type-options", "nosniff"),
        ("content-security-policy", "default-src 'none'; base-uri 'none'; frame-ancestors 'none'"),
    ] {
        assert_eq!(headers.get(name), Some(&HeaderValue::from_static(value)), "{text}");
    }
    assert!(headers.contains_key("x-request-id"));
    TestResponse { status, headers, text }
}

pub(crate) fn call(method: Method, path: &str) -> TestRequest {
    let authorization = ("authorization", format!("Bearer {TOKEN}"));
    TestRequest::with_uri(path).method(method).insert_header(("x-nonce", NONCE)).insert_header(authorization)
}

pub(crate) fn post(path: &str, body: &Value) -> TestRequest {
    call(Method::POST, path).set_json(body)
}

/// A partner with an empty list of categories that takes every new one.
pub(crate) fn categories(policy: SealingPolicy) -> MockUnit {
    let mut unit = unit(policy);
    unit.categories.expect_id_by_name().returning(|_, _| Ok(None));
    unit.categories.expect_insert().returning(|_, _, _| Ok(()));
    unit.categories.expect_get().returning(|_, _| Ok(None));
    unit
}

pub(crate) fn seal(method: &'static str, path: &'static str, plain: &Value) -> Value {
    let context = RequestContext { method, path, nonce: NONCE, slot: Slot::Body, clear: Clear::none() };
    json!({"sealed": seal_request(&key(), &context, now_unix(), [7; 16], plain.to_string().as_bytes())})
}

pub(crate) fn open(got: &TestResponse, method: &'static str, path: &'static str) -> Value {
    assert_eq!(got.header("content-type"), Some("application/sealed+json"), "{}", got.text);
    let context = ResponseContext { method, path, nonce: NONCE, status: got.status };
    let sealed = got.json();
    let plain = open_response(&key(), &context, now_unix(), sealed["sealed"].as_str().unwrap()).unwrap();
    serde_json::from_str(&plain).unwrap()
}
