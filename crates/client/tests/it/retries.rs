//! A request tried again is the same request under the same key.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use kopeck_client::{Client, Error, ErrorCode, IdempotencyKey, RetryPolicy};
use tokio::net::TcpListener;

use crate::stub::{RecordedRequest, Reply, Stub, logged_in};

const CATEGORY: &str = r#"{"idCategory":"0f8fad5b-d9cb-469f-a165-70867728950e","nameCategory":"Лекторы"}"#;

/// Answers the first requests as `first` says, the others with success.
async fn failing_first(first: Vec<fn() -> Reply>) -> Stub {
    let calls = AtomicUsize::new(0);
    logged_in(move |_| {
        let n = calls.fetch_add(1, Ordering::SeqCst);
        first.get(n).map_or_else(|| Reply::json(201, CATEGORY), |reply| reply())
    })
    .await
}

fn busy() -> Reply {
    Reply::json(503, r#"{"success":false,"code":"bank_unavailable","message":"later"}"#)
}

fn late() -> Reply {
    Reply::json(
        408,
        r#"{"success":false,"code":"request_timeout","message":"the body did not arrive in time"}"#,
    )
}

fn in_progress() -> Reply {
    Reply::json(409, r#"{"code":"request_in_progress","message":"wait"}"#).header("retry-after", "0")
}

#[tokio::test]
async fn every_retry_keeps_the_key_and_takes_a_new_nonce() {
    let passing: [Vec<fn() -> Reply>; 2] = [
        vec![|| Reply::HangUp, busy, in_progress, || Reply::json(500, "")],
        vec![late, || Reply::json(408, "<h1>Timeout</h1>"), busy, late],
    ];
    for first in passing {
        let stub = failing_first(first).await;
        let category = stub.client().categories().create("Лекторы").await.unwrap();
        assert_eq!(category.name_category, "Лекторы");
        assert_one_request(&stub.calls());
    }
}

fn assert_one_request(calls: &[RecordedRequest]) {
    assert_eq!(calls.len(), 5);
    let mut nonces: Vec<_> = calls.iter().map(|call| call.header("x-nonce").unwrap()).collect();
    nonces.sort_unstable();
    nonces.dedup();
    assert_eq!(nonces.len(), 5);
    let mut keys: Vec<_> = calls.iter().map(|call| call.header("idempotency-key").unwrap()).collect();
    keys.dedup();
    assert_eq!(keys.len(), 1);
    assert!(calls.iter().all(|call| call.body == r#"{"nameCategory":"Лекторы"}"#));
}

#[tokio::test]
async fn each_call_has_a_key_of_its_own_unless_given_one() {
    let stub = failing_first(Vec::new()).await;
    let client = stub.client();
    client.categories().create("a").await.unwrap();
    client.categories().create("a").await.unwrap();
    let key = IdempotencyKey::parse("payroll-7").unwrap();
    let write = client.categories().create("a").idempotency_key(key);
    write.clone().await.unwrap();
    write.await.unwrap();
    let calls = stub.calls();
    let keys: Vec<_> = calls.iter().map(|call| call.header("idempotency-key").unwrap()).collect();
    let [first, second, third, fourth] = keys.as_slice() else { panic!("{keys:?}") };
    assert_ne!(first, second);
    assert_eq!((*third, *fourth), ("payroll-7", "payroll-7"));
}

#[tokio::test]
async fn retries_end() {
    let stub = logged_in(|_| busy()).await;
    let error = stub.client().categories().create("a").await.unwrap_err();
    assert_eq!(error.code(), Some(&ErrorCode::BankUnavailable));
    assert_eq!(stub.calls().len(), 5);
}

#[tokio::test]
async fn a_read_is_retried_without_a_key() {
    let balance = r#"{"balance":1,"hold":0,"available":1,"updatedAt":"07.02.2026 09:05"}"#;
    let calls = AtomicUsize::new(0);
    let stub = logged_in(move |_| {
        if calls.fetch_add(1, Ordering::SeqCst) == 0 { Reply::HangUp } else { Reply::json(200, balance) }
    })
    .await;
    assert_eq!(stub.client().balance().await.unwrap().available, 1);
    assert!(stub.calls().iter().all(|call| call.header("idempotency-key").is_none()));
}

#[tokio::test]
async fn permanent_failures_are_not_retried() {
    for (status, body) in [
        (409, r#"{"code":"category_exists","message":"no"}"#),
        (404, r#"{"code":"not_found","message":"no"}"#),
        (422, r#"{"data":[{"field":"nameCategory","message":"incorrect value passed"}]}"#),
        (402, r#"{"code":"insufficient_balance","message":"no"}"#),
    ] {
        let stub = logged_in(move |_| Reply::json(status, body)).await;
        let error = stub.client().categories().create("a").await.unwrap_err();
        assert_eq!(error.status(), Some(status));
        assert_eq!(stub.calls().len(), 1);
    }
}

#[tokio::test]
async fn a_retry_after_beyond_the_limit_fails_at_once() {
    let stub = logged_in(|_| {
        Reply::json(429, r#"{"code":"too_many_requests","message":"wait"}"#).header("retry-after", "900")
    })
    .await;
    let error = stub.client().categories().create("a").await.unwrap_err();
    assert_eq!(error.retry_after(), Some(Duration::from_secs(900)));
    assert_eq!(stub.calls().len(), 1);
}

#[tokio::test]
async fn a_service_that_is_not_there_was_not_sent_anything() {
    // Bound and dropped, so that the port is closed.
    let address = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let client = Client::builder(format!("http://{address}"))
        .api_key("k")
        .login("l")
        .password("p")
        .retry(RetryPolicy::none())
        .build()
        .unwrap();
    let error = client.balance().await.unwrap_err();
    assert!(matches!(error, Error::Transport { sent: false, .. }), "{error:?}");
    let reason = std::error::Error::source(&error).unwrap().to_string();
    assert_eq!(reason, format!("no connection to {address}"));
}

#[tokio::test]
async fn a_silent_service_times_out() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let client = Client::builder(format!("http://{}", listener.local_addr().unwrap()))
        .api_key("k")
        .login("l")
        .password("p")
        .timeout(Duration::from_millis(50))
        .retry(RetryPolicy::none())
        .build()
        .unwrap();
    assert!(matches!(client.balance().await.unwrap_err(), Error::Timeout));
}
