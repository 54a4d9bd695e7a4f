//! Results that are too long for one page.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use kopeck_adapter_http::HttpSettings;
use kopeck_domain::Kopecks;
use kopeck_domain::card::CardType;
use kopeck_domain::card_number::CardNumber;
use kopeck_domain::ids::OrderId;
use kopeck_domain::order::OrderFields;
use kopeck_domain::order::{Order, OrderKind, OrderState};
use kopeck_domain::partner::SealingPolicy::Optional;
use kopeck_port_store::mock::MockUnit;
use kopeck_port_store::{OrderResultItem, StoreError};
use kopeck_sealing::{ResponseContext, open_response};
use serde_json::Value;
use uuid::Uuid;

use crate::server::with_server_over;
use crate::support::{NONCE, NOW, TOKEN, key, now_unix, unit};

const ORDER: OrderId = OrderId::new(Uuid::from_u128(9));
const PATH: &str = "/v1/order/result/00000000-0000-0000-0000-000000000009";
const CARDS: u32 = 2_500;

/// An order of [`CARDS`] cards; reading fails after the first `readable`.
fn order_of_many(readable: u32) -> MockUnit {
    let mut unit = unit(Optional);
    unit.orders.expect_get().returning(|_, _| {
        Ok(Some(Order::from_stored(OrderFields {
            id: ORDER,
            kind: OrderKind::Plastic,
            card_type: CardType::Kkl,
            cards: CARDS,
            cost: Kopecks::ZERO,
            state: OrderState::Success,
            created_at: NOW,
            state_since: NOW,
            reference: None,
        })))
    });
    unit.orders.expect_result().returning(move |_, _, from, limit| {
        if from >= readable {
            return Err(StoreError::Unavailable("gone".to_owned()));
        }
        Ok((from..readable.min(from + limit)).map(card).collect())
    });
    unit
}

fn card(ordinal: u32) -> OrderResultItem {
    let number = CardNumber::from_u64(1_000_000_000 + u64::from(ordinal)).unwrap();
    OrderResultItem { ordinal, card_type: CardType::Kkl, number, activation: None }
}

/// The bytes until the connection ends.
fn read_result(mut stream: TcpStream, accept: &str) -> String {
    let call = format!(
        "GET {PATH} HTTP/1.1\r\nhost: x\r\nauthorization: {TOKEN}\r\nx-nonce: {NONCE}\r\naccept: {accept}\r\n\
         connection: close\r\n\r\n"
    );
    stream.write_all(call.as_bytes()).unwrap();
    let mut answer = Vec::new();
    // An aborted response may end in an error of the connection.
    let _ = stream.read_to_end(&mut answer);
    String::from_utf8(answer).unwrap()
}

/// The body of a chunked response, and whether the last chunk came.
fn unchunk(answer: &str) -> (String, bool) {
    let (head, mut left) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    assert!(head.to_ascii_lowercase().contains("transfer-encoding: chunked"), "{head}");
    let mut body = String::new();
    while let Some((length, rest)) = left.split_once("\r\n") {
        let length = usize::from_str_radix(length, 16).unwrap();
        if length == 0 {
            return (body, true);
        }
        let Some((chunk, rest)) = rest.split_at_checked(length) else { break };
        body.push_str(chunk);
        left = rest.strip_prefix("\r\n").unwrap_or_default();
    }
    (body, false)
}

fn result(readable: u32, accept: &'static str) -> (String, bool) {
    let client = move |stream| read_result(stream, accept);
    unchunk(&with_server_over(order_of_many(readable), HttpSettings::default(), client))
}

fn expect_all(json: &str) {
    let result: Value = serde_json::from_str(json).unwrap();
    assert_eq!((result["orderId"].as_str(), result["typeCard"].as_str()), (Some(&PATH[17..]), Some("KKL")));
    let numbers: Vec<_> =
        result["data"].as_array().unwrap().iter().map(|card| &card["customIdCard"]).collect();
    let expected: Vec<_> = (0..CARDS).map(|ordinal| Value::from(card(ordinal).number.to_string())).collect();
    assert!(numbers.into_iter().eq(&expected));
}

#[test]
fn a_long_result_comes_in_pieces() {
    let (body, complete) = result(CARDS, "application/json");
    assert!(complete);
    expect_all(&body);
}

#[test]
fn a_long_result_is_sealed_as_one() {
    let (body, complete) = result(CARDS, "application/sealed+json");
    assert!(complete);
    let sealed: Value = serde_json::from_str(&body).unwrap();
    let context = ResponseContext { method: "GET", path: PATH, nonce: NONCE, status: 200 };
    let text = sealed["sealed"].as_str().unwrap();
    expect_all(&open_response(&key(), &context, now_unix(), text).unwrap());
}

/// The result looks complete neither by the protocol nor by its JSON.
#[test]
fn a_result_that_cannot_be_read_to_its_end_breaks_off() {
    for accept in ["application/json", "application/sealed+json"] {
        let (body, complete) = result(2_000, accept);
        assert!(!complete, "{accept}");
        assert!(!body.is_empty() && serde_json::from_str::<Value>(&body).is_err(), "{accept}");
    }
}
