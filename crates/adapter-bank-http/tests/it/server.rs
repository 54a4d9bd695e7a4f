//! Malformed requests that the server refuses.

use reqwest::blocking::{Client, Response};
use reqwest::{Method, StatusCode};

use crate::test_bank::{SECRET, TestBank};
use kopeck_adapter_bank_simulator::server::OPERATIONS;
use kopeck_port_bank::BankGateway as _;

pub fn client() -> Client {
    // Without TLS: nothing here needs certificates.
    let provider = std::sync::Arc::new(rustls::crypto::ring::default_provider());
    let tls = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(rustls::RootCertStore::empty())
        .with_no_client_auth();
    Client::builder().tls_backend_preconfigured(tls).no_proxy().build().unwrap()
}

fn call(bench: &TestBank, method: &str, path: &str, body: &str) -> Response {
    let method = Method::from_bytes(method.as_bytes()).unwrap();
    let request = client().request(method, format!("{}{path}", bench.url)).bearer_auth(SECRET);
    request.header("content-type", "application/json").body(body.to_owned()).send().unwrap()
}

fn refused(response: Response) -> (u16, String) {
    let status = response.status().as_u16();
    let body: serde_json::Value = serde_json::from_str(&response.text().unwrap()).unwrap();
    assert!(!body["message"].as_str().unwrap().is_empty());
    (status, body["code"].as_str().unwrap().to_owned())
}

#[test]
fn without_the_secret_every_operation_is_refused() {
    let bench = TestBank::new();
    for operation in OPERATIONS {
        let path = operation.path.replace("{number}", "1000000007");
        for secret in [None, Some("wrong"), Some("")] {
            let method = Method::from_bytes(operation.method.as_bytes()).unwrap();
            let mut request = client().request(method, format!("{}{path}", bench.url));
            if let Some(secret) = secret {
                request = request.bearer_auth(secret);
            }
            let response = request.send().unwrap();
            assert_eq!(response.headers()["www-authenticate"], "Bearer");
            assert_eq!(refused(response), (401, "unauthorized".to_owned()), "{path}");
        }
    }
}

#[test]
fn malformed_requests_are_refused() {
    let bench = TestBank::new();
    let large = format!(r#"{{"instructions":[{}"#, " ".repeat(5 << 20));
    let many = format!(r#"{{"keys":[{}]}}"#, vec![r#""k""#; 1_001].join(","));
    let good = r#"{"type":"TOP_UP","key":"t","card":"1000000007","amount":1}"#;
    let bad = r#"{"type":"TOP_UP","key":"u","card":"1000000007","amount":0}"#;
    for (method, path, body, status, code) in [
        ("POST", "/bank/v1/instructions", "{", 400, "malformed"),
        ("POST", "/bank/v1/instructions", "", 400, "malformed"),
        ("POST", "/bank/v1/instructions", &large, 413, "too_large"),
        ("POST", "/bank/v1/instructions", r#"{"instructions":[]}"#, 422, "invalid"),
        ("POST", "/bank/v1/instructions", &format!(r#"{{"instructions":[{good},{bad}]}}"#), 422, "invalid"),
        ("POST", "/bank/v1/instructions/query", &many, 422, "invalid"),
        ("POST", "/bank/v1/instructions/query", r#"{"keys":["a b"]}"#, 422, "invalid"),
        ("GET", "/bank/v1/instructions", "", 405, "method_not_allowed"),
        ("GET", "/bank/v1/issued-cards", "", 422, "invalid"),
        ("GET", "/bank/v1/issued-cards?order=o&limit=0", "", 422, "invalid"),
        ("GET", "/bank/v1/issued-cards?order=o&limit=1001", "", 422, "invalid"),
        ("GET", "/bank/v1/issued-cards?order=o&skip=-1", "", 422, "invalid"),
        ("GET", "/bank/v1/cards/1000000007", "", 404, "unknown_card"),
        ("GET", "/bank/v1/cards/7", "", 422, "invalid"),
        ("GET", "/bank/v1/cards/1000000007/transactions?after=x", "", 422, "invalid"),
        ("GET", "/bank/v2/cards/1000000007", "", 404, "not_found"),
        ("PUT", "/simulator/v1/behaviour", r#"{"errorRate":2}"#, 422, "invalid"),
        ("PUT", "/simulator/v1/behaviour", r#"{"latency":2}"#, 422, "invalid"),
    ] {
        assert_eq!(refused(call(&bench, method, path, body)), (status, code.to_owned()), "{method} {path}");
    }
    let unseen = bench.query(&["t", "u"].map(|key| kopeck_port_bank::BankKey::new(key).unwrap()));
    assert_eq!(unseen, Ok(vec![None, None]), "nothing of a refused batch was done");
}

#[test]
fn a_refusal_says_where_and_not_what() {
    let bench = TestBank::new();
    let body = r#"{"instructions":[{"type":"ISSUE_CARDS","key":"o","lines":[{"type":"MP4","count":"Anna Petrova"}]}]}"#;
    let response = call(&bench, "POST", "/bank/v1/instructions", body);
    assert_eq!(response.status(), StatusCode::UNPROCESSABLE_ENTITY);
    assert!(!response.text().unwrap().contains("Petrova"));
}
