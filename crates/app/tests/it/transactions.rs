//! Transactions of cards over HTTP.

use kopeck_domain::Kopecks;
use kopeck_domain::card_number::CardNumber;
use kopeck_domain::partner::SealingPolicy;
use kopeck_port_bank::sandbox::{Purchase, Refund, SandboxControl as _};
use kopeck_port_system::Clock;
use serde_json::{Value, json};
use time::Duration;
use time::macros::datetime;

use crate::api_client::{Api, keys, start};
use crate::server::{SETTINGS, START, TestServer};

/// Buys something for so many kopecks.
pub fn buy(server: &TestServer, number: &str, amount: i64) {
    let purchase = Purchase {
        place: Some("Кофейня".to_owned()),
        mcc: Some("5814".to_owned()),
        merchant_id: Some("M-1".to_owned()),
        ..Purchase::new(Kopecks::new(amount))
    };
    server.bank.purchase(number_of(number), &purchase).unwrap();
}

/// The bank's number of a card.
async fn number_of_card(api: &Api, card: &str) -> String {
    api.get(&format!("/v1/card/{card}")).await.ok(200)["data"]["customCardId"].to_string()
}

fn number_of(text: &str) -> CardNumber {
    CardNumber::parse(text).unwrap()
}

#[tokio::test]
async fn transactions_are_listed_newest_first_and_filtered() {
    let (server, api) = start(1_000_000).await;
    let card = api.main_cards(&server, 1).await.remove(0);
    let number = number_of_card(&api, &card).await;
    let path = format!("/v1/card/{card}/transactions");
    let empty = api.get(&path).await.ok(200);
    assert_eq!((&empty["data"], &empty["meta"]["per_page"]), (&json!([]), &json!(100)));
    api.top_up(&[(&card, 50_000)]).await;
    server.run_jobs();
    server.clock.advance(Duration::minutes(7));
    buy(&server, &number, 1_500);
    let list = api.get(&path).await.ok(200);
    let payment = &list["data"][0];
    assert_eq!(
        keys(payment),
        ["amount", "dateExecutionAt", "id", "mcc", "merchantId", "place", "timeExecutionAt", "type"]
    );
    let id = payment["id"].as_i64().unwrap();
    let refund = Refund { payment: id, amount: Kopecks::new(500), key: None };
    server.bank.refund(number_of(&number), &refund).unwrap();
    server.clock.advance(SETTINGS.card_cache);
    let entry = |id: &Value, kind: &str, time: &str, amount: i64, merchant: [Value; 3]| {
        let [place, mcc, merchant] = merchant;
        json!({"id": id, "dateExecutionAt": "02.03.2026", "timeExecutionAt": time, "type": kind, "amount": amount,
            "place": place, "mcc": mcc, "merchantId": merchant})
    };
    let shop = || [json!("Кофейня"), json!("5814"), json!("M-1")];
    let list = api.get(&path).await.ok(200);
    let data = &list["data"];
    let expected = json!([
        entry(&data[0]["id"], "REFUND", "12:07", 500, shop()),
        entry(&json!(id), "PAYMENT", "12:07", 1_500, shop()),
        entry(&data[2]["id"], "REPLENISHMENT", "12:00", 50_000, [json!(null), json!(null), json!(null)]),
    ]);
    assert_eq!(*data, expected);
    for (query, expected) in [
        ("type=PAYMENT", vec!["PAYMENT"]),
        ("type=CORRECTION", vec![]),
        ("from=02.03.2026&to=02.03.2026", vec!["REFUND", "PAYMENT", "REPLENISHMENT"]),
        ("from=03.03.2026", vec![]),
        ("to=01.03.2026", vec![]),
        ("from=01.01.0001&to=31.12.9999&type=REFUND", vec!["REFUND"]),
        ("page=2&per_page=1", vec!["PAYMENT"]),
    ] {
        assert_eq!(api.column(&format!("{path}?{query}"), "type").await, expected, "{query}");
    }
    api.get(&format!("{path}?from=03.03.2026&to=01.03.2026")).await.faulty(&["to"]);
}

#[tokio::test]
async fn a_page_has_100_transactions_and_days_end_at_midnight_of_the_zone() {
    let server = TestServer::start();
    let partner = server.partner(SealingPolicy::Optional, 1_000_000);
    let midnight = datetime!(2026-03-02 21:00:00 UTC);
    server.clock.advance(midnight - START - Duration::MINUTE);
    let api = Api::login(&server, &partner).await;
    let card = api.main_cards(&server, 1).await.remove(0);
    api.top_up(&[(&card, 50_000)]).await;
    server.run_jobs();
    let number = number_of_card(&api, &card).await;
    (0..100).for_each(|_| buy(&server, &number, 1));
    server.clock.advance(midnight - server.clock.now());
    buy(&server, &number, 2);
    let path = format!("/v1/card/{card}/transactions");
    let all = api.get(&path).await.ok(200);
    assert_eq!((all["data"].as_array().unwrap().len(), &all["meta"]["total"]), (100, &json!(102)));
    assert_eq!(all["data"][0]["amount"], 2, "the newest first");
    let ids = api.column(&format!("{path}?per_page=500"), "id").await;
    assert!(ids.is_sorted_by(|newer, older| newer.as_i64() > older.as_i64()));
    assert_eq!(api.column(&format!("{path}?from=03.03.2026"), "amount").await, [2]);
    assert_eq!(api.column(&format!("{path}?to=02.03.2026&per_page=500"), "amount").await.len(), 101);
}
