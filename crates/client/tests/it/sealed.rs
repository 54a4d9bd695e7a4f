//! Sealed requests and answers, with the service's side made of the wire format itself.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::UNIX_EPOCH;

use kopeck_client::{Client, Error, ErrorCode, Paging, SealingKey, TransactionFilter, Uuid};
use kopeck_sealing::{
    Clear, KeyId, RequestContext, ResponseContext, Slot, bound_path, looks_sealed, open_request,
    seal_response,
};
use serde_json::{Value, json};

use crate::stub::{RecordedRequest, Reply, Stub};

const NOW: u64 = 1_767_225_600;
const CARD: Uuid = Uuid::from_u128(0x0f8f_ad5b_d9cb_469f_a165_7086_7728_950e);
const TOKENS: &str = r#"{"tokenType":"bearer","accessToken":"access-1","accessExpireAt":4000000000,
    "refreshToken":"refresh-1","refreshExpireAt":4000000000}"#;
const NO_TRANSACTIONS: &str = r#"{"data":[],"meta":{"current_page":2,"from":null,"to":null,"total":0,"last_page":1,
    "per_page":50,"path":"/v1/card/transactions"}}"#;

fn key(id: u8) -> SealingKey {
    SealingKey::new(KeyId::from_bytes([id; 8]), [id; 32])
}

fn open(seen: &RecordedRequest, slot: Slot<'_>, text: &str) -> String {
    let ctx = RequestContext {
        method: &seen.method,
        path: &bound_path(&seen.target),
        nonce: seen.header("x-nonce").unwrap(),
        slot,
        clear: Clear::none(),
    };
    open_request(&key(1), &ctx, NOW, text).unwrap().to_string()
}

fn open_body(seen: &RecordedRequest) -> String {
    assert_eq!(seen.header("content-type"), Some("application/sealed+json"));
    let envelope: Value = serde_json::from_str(&seen.body).unwrap();
    open(seen, Slot::Body, envelope["sealed"].as_str().unwrap())
}

fn sealed(seen: &RecordedRequest, key: &SealingKey, status: u16, plaintext: &str) -> Reply {
    let path = bound_path(&seen.target);
    let nonce = seen.header("x-nonce").unwrap();
    let ctx = ResponseContext { method: &seen.method, path: &path, nonce, status };
    let text = seal_response(key, &ctx, NOW, [9; 16], plaintext.as_bytes());
    Reply::Answer {
        status,
        headers: vec![("content-type", "application/sealed+json".to_owned())],
        body: format!(r#"{{"sealed":"{text}"}}"#),
    }
}

/// Answers token requests sealed, all else by `handler`.
async fn service(handler: impl Fn(&RecordedRequest) -> Reply + Send + Sync + 'static) -> Stub {
    Stub::start(
        move |seen| {
            if seen.is_token_call() { sealed(seen, &key(1), 200, TOKENS) } else { handler(seen) }
        },
    )
    .await
}

fn client(stub: &Stub) -> Client {
    stub.builder().clock(|| NOW).sealing_key(key(1)).build().unwrap()
}

#[tokio::test]
async fn requests_and_responses_are_sealed() {
    let stub = service(|seen| {
        let body: Value = serde_json::from_str(&open_body(seen)).unwrap();
        let name = body["nameCategory"].as_str().unwrap();
        sealed(seen, &key(1), 201, &format!(r#"{{"idCategory":"{CARD}","nameCategory":"{name}"}}"#))
    })
    .await;
    let category = client(&stub).categories().create("Лекторы").await.unwrap();
    assert_eq!((category.id_category, category.name_category.as_str()), (CARD, "Лекторы"));
    for seen in stub.seen() {
        assert_eq!(seen.header("accept"), Some("application/sealed+json"));
        assert!(!seen.body.contains("Лекторы") && !seen.body.contains("secret"));
    }
    let seen = stub.seen();
    assert_eq!(open_body(seen.first().unwrap()), r#"{"login":"partner-1","password":"secret"}"#);
}

#[tokio::test]
async fn parameters_go_sealed_if_wanted() {
    let stub = service(|seen| sealed(seen, &key(1), 200, NO_TRANSACTIONS)).await;
    let filter =
        TransactionFilter { transaction_type: Some("PAYMENT".into()), ..TransactionFilter::default() };
    let paging = Paging::page(2).per_page(50);
    for seal in [true, false] {
        let client = stub.builder().clock(|| NOW).sealing_key(key(1)).seal_parameters(seal).build().unwrap();
        client.cards().transactions(CARD, &filter, paging).await.unwrap();
    }
    let calls = stub.calls();
    let [hidden, clear] = calls.as_slice() else { panic!("{calls:?}") };
    assert_eq!(clear.path(), format!("/v1/card/{CARD}/transactions"));
    let (_, query) = clear.target.split_once('?').unwrap();
    let mut parameters: Vec<_> = query.split('&').collect();
    parameters.sort_unstable();
    assert_eq!(parameters, ["page=2", "per_page=50", "type=PAYMENT"]);
    assert_eq!(bound_path(&hidden.target), "/v1/card/*/transactions");
    let id = hidden.path().split('/').nth(3).unwrap();
    assert_eq!(open(hidden, Slot::Path("idCard"), id), CARD.to_string());
    let (_, query) = hidden.target.split_once("?sealed=").unwrap();
    assert!(looks_sealed(query));
    let parameters: Value = serde_json::from_str(&open(hidden, Slot::Query, query)).unwrap();
    assert_eq!(parameters, json!({"page": 2, "per_page": 50, "type": "PAYMENT"}));
}

#[tokio::test]
async fn errors_come_sealed_or_in_clear() {
    const NOT_FOUND: &str = r#"{"success":false,"code":"card_not_found","message":"no"}"#;
    let calls = AtomicUsize::new(0);
    let stub = service(move |seen| {
        if calls.fetch_add(1, Ordering::SeqCst) == 0 {
            sealed(seen, &key(1), 404, NOT_FOUND)
        } else {
            Reply::json(404, NOT_FOUND)
        }
    })
    .await;
    let client = client(&stub);
    for _ in 0..2 {
        assert_eq!(client.cards().info(CARD).await.unwrap_err().code(), Some(&ErrorCode::CardNotFound));
    }
}

#[tokio::test]
async fn an_answer_that_is_not_the_services_own_is_refused() {
    type Forge = fn(&RecordedRequest) -> Reply;
    let forgeries: [(&str, Forge); 5] = [
        ("in clear", |_| Reply::json(200, NO_TRANSACTIONS)),
        ("under a strange key", |seen| sealed(seen, &key(7), 200, NO_TRANSACTIONS)),
        ("of another status", |seen| match sealed(seen, &key(1), 202, NO_TRANSACTIONS) {
            Reply::Answer { headers, body, .. } => Reply::Answer { status: 200, headers, body },
            hang_up => hang_up,
        }),
        ("of another call", |seen| {
            let other = RecordedRequest { target: "/v1/balance".to_owned(), ..seen.clone() };
            sealed(&other, &key(1), 200, NO_TRANSACTIONS)
        }),
        ("of an earlier call", |seen| {
            let mut earlier = seen.clone();
            earlier.headers.insert("x-nonce".to_owned(), "an-earlier-nonce-".to_owned());
            sealed(&earlier, &key(1), 200, NO_TRANSACTIONS)
        }),
    ];
    for (what, forge) in forgeries {
        let stub = service(forge).await;
        let filter = TransactionFilter::default();
        let error = client(&stub).cards().transactions(CARD, &filter, Paging::default()).await.unwrap_err();
        assert!(matches!(error, Error::Sealing(_)), "{what}: {error:?}");
        assert_eq!(stub.calls().len(), 1, "{what}: nothing to gain from a retry");
    }
}

#[tokio::test]
async fn responses_open_with_the_other_key_of_a_rotation() {
    let stub = service(|seen| sealed(seen, &key(2), 200, NO_TRANSACTIONS)).await;
    let client = stub.builder().clock(|| NOW).sealing_key(key(1)).also_open_with(key(2)).build().unwrap();
    client.cards().transactions(CARD, &TransactionFilter::default(), Paging::default()).await.unwrap();
    let behind = stub.builder().clock(|| NOW).sealing_key(key(1)).build().unwrap();
    let error = behind.cards().transactions(CARD, &TransactionFilter::default(), Paging::default()).await;
    let expected =
        "sealed under key 0202020202020202, which this client does not have: was the sealing key rotated?";
    assert_eq!(error.unwrap_err().to_string(), format!("the answer cannot be opened: {expected}"));
}

#[tokio::test]
async fn responses_are_plaintext_unless_requested_sealed() {
    let stub = Stub::start(|seen| {
        assert_eq!(seen.header("accept"), Some("application/json"));
        Reply::json(200, if seen.is_token_call() { TOKENS } else { NO_TRANSACTIONS })
    })
    .await;
    let client = stub.builder().clock(|| NOW).sealing_key(key(1)).seal_answers(false).build().unwrap();
    client.cards().transactions(CARD, &TransactionFilter::default(), Paging::default()).await.unwrap();
}

#[tokio::test]
async fn without_another_clock_the_machines_own_is_sealed_in() {
    let opened = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&opened);
    let stub = Stub::start(move |seen| {
        let now = UNIX_EPOCH.elapsed().unwrap().as_secs();
        let ctx = RequestContext {
            method: &seen.method,
            path: seen.path(),
            nonce: seen.header("x-nonce").unwrap(),
            slot: Slot::Body,
            clear: Clear::none(),
        };
        let envelope: Value = serde_json::from_str(&seen.body).unwrap();
        if open_request(&key(1), &ctx, now, envelope["sealed"].as_str().unwrap()).is_ok() {
            counter.fetch_add(1, Ordering::SeqCst);
        }
        Reply::json(400, r#"{"code":"bad_credentials","message":"no"}"#)
    })
    .await;
    let client = stub.builder().sealing_key(key(1)).build().unwrap();
    assert_eq!(client.login().await.unwrap_err().status(), Some(400));
    assert_eq!(opened.load(Ordering::SeqCst), 1);
}
