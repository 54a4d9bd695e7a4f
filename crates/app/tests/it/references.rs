//! References of requests, and lists filtered by reference and by days.

use kopeck_client::{CardLimit, LimitPeriod, RequestFilter, TopUp, Uuid, VirtualItem};
use kopeck_domain::partner::SealingPolicy;
use serde_json::{Value, json};
use time::Duration;
use time::macros::date;

use crate::api_client::{Api, keys, plastic_order, start, start_client, top_ups, virtual_order};
use crate::server::TestServer;

fn under(reference: &str, mut body: Value) -> Value {
    body["reference"] = json!(reference);
    body
}

fn limits_of(cards: &[&str]) -> Value {
    let cards: Vec<Value> = cards.iter().map(|card| json!({"idCard": card})).collect();
    json!({"data": cards, "limit": {"unlimited": true}})
}

/// One of each kind of request under `reference`: where its state is read, and the name of its events.
async fn requests(api: &Api, card: &str, reference: &str) -> [(String, &'static str); 4] {
    let post = async |path: &str, body: Value, id: &str| {
        api.post(path, &under(reference, body)).await.ok(202)[id].as_str().unwrap().to_owned()
    };
    let plastic = post("/v1/order/plasticcards", plastic_order(1, "Tula"), "orderId").await;
    let issued = post("/v1/order/virtualcards", virtual_order(1, 5_000), "orderId").await;
    let top_up = post("/v1/replenishment", top_ups(&[(card, 1_000)]), "replenishmentId").await;
    let change = post("/v1/setlimitscards", limits_of(&[card]), "setLimitsCardsId").await;
    [
        (format!("/v1/order/status/{plastic}"), "order.status"),
        (format!("/v1/order/status/{issued}"), "order.status"),
        (format!("/v1/replenishment/{top_up}/status"), "replenishment.status"),
        (change, "limits.status"),
    ]
}

async fn status(api: &Api, at: &str) -> Value {
    if at.starts_with('/') {
        return api.get(at).await.ok(200);
    }
    api.post("/v1/limits/status", &json!({"setLimitsCardsId": at})).await.ok(200)
}

#[tokio::test]
async fn a_reference_is_shown_wherever_the_request_is() {
    let (server, api) = start(1_000_000).await;
    let card = api.main_cards(&server, 1).await.remove(0);
    let seen = api.get("/v1/events?limit=500").await.ok(200)["next"].clone();
    let made = requests(&api, &card, "Заявка 7/А").await;
    server.run_jobs();
    for (at, _) in &made {
        assert_eq!(status(&api, at).await["reference"], "Заявка 7/А", "{at}");
    }
    for (path, count) in [("/v1/orders", 2), ("/v1/replenishments", 1), ("/v1/limits", 1)] {
        let path = format!("{path}?reference=%D0%97%D0%B0%D1%8F%D0%B2%D0%BA%D0%B0%207/%D0%90");
        assert_eq!(api.column(&path, "reference").await, vec![json!("Заявка 7/А"); count], "{path}");
    }
    let events = api.get(&format!("/v1/events?after={seen}&limit=500")).await.ok(200);
    for (_, kind) in made {
        let of_kind = events["data"].as_array().unwrap().iter().filter(|event| event["type"] == kind);
        let told: Vec<&Value> = of_kind.map(|event| &event["data"]["reference"]).collect();
        assert!(
            told.len() >= 3 && told.iter().all(|reference| **reference == "Заявка 7/А"),
            "{kind}: {told:?}"
        );
    }
}

/// Their entries of the balance show it too.
#[tokio::test]
async fn returns_from_cards_have_references_too() {
    let (server, api) = start(1_000_000).await;
    let cards = api.main_cards(&server, 2).await;
    api.post("/v1/replenishment", &top_ups(&[(&cards[0], 1_000), (&cards[1], 1_000)])).await.ok(202);
    server.run_jobs();
    let kinds = [
        ("withdrawal", json!({"idCard": cards[0], "amount": 5})),
        ("closing", json!({"idCard": cards[1], "reason": "OTHER"})),
    ];
    let mut expected = Vec::new();
    for (kind, item) in kinds {
        let list = format!("/v1/{kind}s");
        let made = api.post(&list, &under("А-7", json!({"data": [item]}))).await.ok(202);
        let id = made[format!("{kind}Id")].as_str().unwrap();
        server.run_jobs();
        assert_eq!(api.get(&format!("/v1/{kind}/{id}/status")).await.ok(200)["reference"], "А-7");
        let found = format!("{list}?reference=%D0%90-7&from=02.03.2026&to=02.03.2026");
        assert_eq!(api.column(&found, "reference").await, ["А-7"]);
        assert_eq!(api.column(&format!("{list}?to=01.03.2026"), "reference").await, [""; 0]);
        let events = api.get(&format!("/v1/events?types={kind}.status")).await.ok(200);
        assert_eq!(events["data"][0]["data"]["reference"], "А-7");
        api.post(&list, &under("=1", json!({"data": []}))).await.faulty(&["data", "reference"]);
        expected.push(json!({"kind": kind, "id": id, "reference": "А-7"}));
    }
    assert_eq!(api.column("/v1/balance/entries?type=RETURN", "of").await, expected);
}

#[tokio::test]
async fn without_a_reference_it_is_null_in_lists_and_absent_elsewhere() {
    let (server, api) = start(1_000_000).await;
    for body in [plastic_order(1, "Tula"), {
        let mut order = plastic_order(1, "Tula");
        order["reference"] = Value::Null;
        order
    }] {
        let order = api.post("/v1/order/plasticcards", &body).await.ok(202)["orderId"].clone();
        let state = api.get(&format!("/v1/order/status/{}", order.as_str().unwrap())).await.ok(200);
        assert_eq!(keys(&state), ["message", "orderId"]);
    }
    assert_eq!(api.column("/v1/orders", "reference").await, [Value::Null, Value::Null]);
    let events = api.get("/v1/events?types=order.status").await.ok(200);
    assert_eq!(keys(&events["data"][0]["data"]), ["orderId", "status"]);
    server.run_jobs();
}

#[tokio::test]
async fn a_reference_out_of_order_is_a_fault_beside_the_others() {
    let (server, api) = start(1_000_000).await;
    let card = api.main_cards(&server, 1).await.remove(0);
    let too_long = "r".repeat(65);
    for reference in ["", " ", "a ", "=1+1", "a,b", "a\u{200b}b", &too_long] {
        api.post("/v1/order/plasticcards", &under(reference, plastic_order(0, "Tula")))
            .await
            .faulty(&["data[0].numberCards", "reference"]);
        api.post("/v1/order/virtualcards", &under(reference, virtual_order(1, 5_000)))
            .await
            .faulty(&["reference"]);
        api.post("/v1/replenishment", &under(reference, top_ups(&[(&card, 5)]))).await.faulty(&["reference"]);
        api.post("/v1/setlimitscards", &under(reference, limits_of(&[&card]))).await.faulty(&["reference"]);
    }
    let mut order = plastic_order(1, "Tula");
    order["reference"] = json!(7);
    api.post("/v1/order/plasticcards", &order).await.faulty(&["reference"]);
    assert_eq!(api.get("/v1/orders").await.ok(200)["meta"]["total"], 1, "the order of the card alone");
    for path in ["/v1/orders", "/v1/replenishments", "/v1/limits"] {
        let faulty = "reference=a%2C&from=02.03.2026&to=01.03.2026&status=X";
        api.get(&format!("{path}?{faulty}")).await.faulty(&["status", "reference", "to"]);
        api.get(&format!("{path}?from=1.3.2026&to=31.02.2026")).await.faulty(&["from", "to"]);
    }
}

/// It is stored in NFC, and found by any spelling of the same text.
#[tokio::test]
async fn the_lists_filter_by_reference_state_and_day() {
    let server = TestServer::start();
    let partner = server.partner(SealingPolicy::Optional, 1_000_000);
    let mut api = Api::login(&server, &partner).await;
    let card = api.main_cards(&server, 1).await.remove(0);
    for reference in ["Cafe\u{301}", "B", "Café"] {
        requests(&api, &card, reference).await;
        server.run_jobs();
        server.clock.advance(Duration::DAY);
        // The token lives minutes.
        api = Api::login(&server, &partner).await;
    }
    for path in ["/v1/orders", "/v1/replenishments", "/v1/limits"] {
        let each = if path == "/v1/orders" { 2 } else { 1 };
        for (query, expected) in [
            ("reference=Caf%C3%A9", vec!["Café", "Café"]),
            ("reference=Cafe%CC%81", vec!["Café", "Café"]),
            ("reference=caf%C3%A9", vec![]),
            ("reference=B", vec!["B"]),
            ("from=03.03.2026&to=03.03.2026", vec!["B"]),
            ("from=03.03.2026", vec!["Café", "B"]),
            ("to=03.03.2026&reference=Caf%C3%A9&status=SUCCESS", vec!["Café"]),
            ("reference=B&status=REJECTED", vec![]),
            ("from=01.01.0001&to=31.12.9999&reference=B", vec!["B"]),
        ] {
            let found = api.column(&format!("{path}?per_page=500&{query}"), "reference").await;
            let found: Vec<&Value> = found.iter().filter(|reference| !reference.is_null()).collect();
            let expected: Vec<&str> = expected.into_iter().flat_map(|text| vec![text; each]).collect();
            assert_eq!(found, expected, "{path}?{query}");
        }
    }
}

#[tokio::test]
async fn the_client_gives_references_and_filters_by_them() {
    let (server, client): (TestServer, _) = start_client(1_000_000);
    let order = client.orders().virtual_cards(&[VirtualItem::new(1, 5_000)]).reference("PO-7").await.unwrap();
    server.run_jobs();
    assert_eq!(client.orders().status(order.order_id).await.unwrap().reference.as_deref(), Some("PO-7"));
    let day = date!(2026 - 03 - 02);
    let filter = RequestFilter { from: Some(day), to: Some(day), ..RequestFilter::referred_to_as("PO-7") };
    let found = client.orders().all(&filter).collect().await.unwrap();
    assert_eq!(found.iter().map(|order| order.reference.as_deref()).collect::<Vec<_>>(), [Some("PO-7")]);
    assert!(client.orders().all(&RequestFilter::referred_to_as("PO-8")).collect().await.unwrap().is_empty());
    let unknown = Uuid::from_u128(1);
    let refused = client.replenishments().create(&[TopUp::new(unknown, 5)]).reference("no,comma").await;
    assert!(refused.unwrap_err().to_string().contains("reference"));
    let limit = CardLimit::per(LimitPeriod::Day, 5);
    let refused = client.limits().set(&[unknown], &limit).reference("no,comma").await;
    assert!(refused.unwrap_err().to_string().contains("reference"));
}
