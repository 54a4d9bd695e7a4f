//! Orders of cards over HTTP.

use std::collections::HashSet;

use kopeck_client::{CardType, ErrorCode, OrderKind, Paging, RequestFilter, RequestState, Uuid, Wait};
use kopeck_domain::card_number::CardNumber;
use serde_json::{Value, json};
use time::Duration;

use crate::api_client::{
    Api, UNKNOWN_ID, keys, plastic_item, plastic_order, start, start_client, text, virtual_item,
    virtual_order,
};

const PLASTIC: &str = "/v1/order/plasticcards";
const VIRTUAL: &str = "/v1/order/virtualcards";

fn plastic_with(field: &str, value: Value) -> Value {
    let mut order = plastic_order(1, "Nevsky 1");
    order["data"][0][field] = value;
    order
}

fn virtual_with(field: &str, value: Value) -> Value {
    let mut order = virtual_order(1, 5_000);
    order["data"][0][field] = value;
    order
}

async fn place(api: &Api, path: &str, order: &Value) -> String {
    let accepted = api.post(path, order).await.ok(202);
    assert_eq!(keys(&accepted), ["orderId"]);
    let id = text(&accepted["orderId"]);
    assert_eq!(Uuid::parse_str(&id).unwrap().to_string(), id);
    id
}

async fn change(api: &Api, what: &str, id: &str) -> crate::api_client::Reply {
    api.post(&format!("/v1/order/{what}/"), &json!({"orderId": id})).await
}

#[tokio::test]
async fn each_field_of_a_plastic_item_has_its_rule() {
    let (server, api) = start(0).await;
    let good = [
        ("numberCards", json!(1)),
        ("typeCard", json!("KKL")),
        ("deliveryAddress", json!("ы".repeat(512))),
        ("deliveryAddress", json!("x")),
        ("recipient", json!("ы".repeat(128))),
        ("phone", json!("0000000000")),
        ("unknown", json!([1])),
    ];
    for (field, value) in good {
        let id = place(&api, PLASTIC, &plastic_with(field, value)).await;
        change(&api, "cancel", &id).await.ok(200);
    }
    let numbers = [
        json!(0),
        json!(-1),
        json!(10_001),
        json!(1.5),
        json!("5"),
        json!(null),
        json!(i64::MAX),
        json!([1]),
    ];
    let kinds = ["MLZ", "P04", "CP4", "mp4", ""].map(|kind| json!(kind));
    let phones = ["", "123456789", "12345678901", "+123456789", "12345 7890"].map(|phone| json!(phone));
    let rules: [(&str, &[Value]); 5] = [
        ("numberCards", &numbers),
        ("typeCard", &kinds),
        ("deliveryAddress", &[json!(""), json!("ы".repeat(513)), json!("a\u{202e}b"), json!(5), json!(null)]),
        ("recipient", &[json!(""), json!("ы".repeat(129)), json!({}), json!(null)]),
        ("phone", &phones),
    ];
    for (field, values) in rules {
        for value in values {
            api.post(PLASTIC, &plastic_with(field, value.clone()))
                .await
                .faulty(&[&format!("data[0].{field}")]);
        }
    }
    // The greatest number, without making them.
    let id = place(&api, PLASTIC, &plastic_with("numberCards", json!(10_000))).await;
    change(&api, "cancel", &id).await.ok(200);
    assert_eq!(server.check(), 0);
}

#[tokio::test]
async fn each_field_of_a_virtual_item_has_its_rule_and_an_amount_may_be_a_text() {
    let (_server, api) = start(10_000_000_000).await;
    for (field, value, cost) in [
        ("numberCards", json!(1), 5_000),
        ("numberCards", json!(5_000), 25_000_000),
        ("amount", json!(5_000), 5_000),
        ("amount", json!("5000"), 5_000),
        ("amount", json!(1_500_000), 1_500_000),
        ("amount", json!("1500000"), 1_500_000),
    ] {
        let id = place(&api, VIRTUAL, &virtual_with(field, value)).await;
        api.expect_money(10_000_000_000, cost).await;
        change(&api, "cancel", &id).await.ok(200);
        api.expect_money(10_000_000_000, 0).await;
    }
    let counts = [json!(0), json!(-1), json!(5_001), json!(2.0), json!("2"), json!(null)];
    let kinds = ["MP4", "KKL", "P04", "CP4", "mlz", ""].map(|kind| json!(kind));
    let amounts = [
        json!(4_999),
        json!(1_500_001),
        json!("4999"),
        json!("1500001"),
        json!(""),
        json!(" 5000"),
        json!("5000.0"),
        json!("+5000"),
        json!(5_000.5),
        json!(null),
        json!(-5_000),
        json!(true),
        json!("99999999999999999999"),
    ];
    let rules: [(&str, &[Value]); 3] = [("numberCards", &counts), ("typeCard", &kinds), ("amount", &amounts)];
    for (field, values) in rules {
        for value in values {
            api.post(VIRTUAL, &virtual_with(field, value.clone()))
                .await
                .faulty(&[&format!("data[0].{field}")]);
        }
    }
    api.expect_money(10_000_000_000, 0).await;
}

#[tokio::test]
async fn an_order_has_1_to_100_items_and_all_their_faults_are_told() {
    let (_server, api) = start(0).await;
    let item = plastic_order(1, "Nevsky 1")["data"][0].clone();
    for data in [json!(null), json!([]), json!({}), json!("x"), json!(vec![item.clone(); 101])] {
        api.post(PLASTIC, &json!({"data": data})).await.faulty(&["data"]);
    }
    for path in [PLASTIC, VIRTUAL] {
        api.post(path, &json!({})).await.faulty(&["data"]);
        api.post(path, &Value::Null).await.faulty(&["body"]);
    }
    let id = place(&api, PLASTIC, &json!({"data": vec![item.clone(); 100]})).await;
    change(&api, "cancel", &id).await.ok(200);

    let order = json!({"data": [{}, item, 5, {"numberCards": 1, "typeCard": "KKL", "deliveryAddress": "", "recipient": "A"}]});
    let all = ["numberCards", "typeCard", "deliveryAddress", "recipient", "phone"]
        .map(|field| format!("data[0].{field}"));
    let mut expected: Vec<&str> = all.iter().map(String::as_str).collect();
    expected.extend(["data[2]", "data[3].deliveryAddress", "data[3].phone"]);
    api.post(PLASTIC, &order).await.faulty(&expected);
    let order = json!({"data": [{}, {"numberCards": 0, "typeCard": "MLZ", "amount": 1}]});
    let expected = [
        "data[0].numberCards",
        "data[0].typeCard",
        "data[0].amount",
        "data[1].numberCards",
        "data[1].amount",
    ];
    api.post(VIRTUAL, &order).await.faulty(&expected);
}

#[tokio::test]
async fn an_order_has_at_most_100_000_cards_in_all() {
    let (_server, api) = start(0).await;
    let mut item = plastic_order(10_000, "Nevsky 1")["data"][0].take();
    let full = json!({"data": vec![item.clone(); 10]});
    let id = place(&api, PLASTIC, &full).await;
    change(&api, "cancel", &id).await.ok(200);
    item["numberCards"] = json!(1);
    let mut over = full;
    over["data"].as_array_mut().unwrap().push(item);
    api.post(PLASTIC, &over).await.faulty(&["data"]);
    over["data"][10]["phone"] = json!("1");
    api.post(PLASTIC, &over).await.faulty(&["data", "data[10].phone"]);
}

#[tokio::test]
async fn a_plastic_order_costs_nothing_and_brings_ean_13s_of_both_kinds() {
    let (server, api) = start(0).await;
    let mut order = plastic_order(3, "Nevsky 1");
    let mut other = order["data"][0].clone();
    (other["typeCard"], other["numberCards"]) = (json!("KKL"), json!(2));
    order["data"].as_array_mut().unwrap().insert(0, other);
    let id = place(&api, PLASTIC, &order).await;
    api.expect_money(0, 0).await;
    let result = format!("/v1/order/result/{id}");
    let status = api.get(&format!("/v1/order/status/{id}/")).await.ok(200);
    assert_eq!(status, json!({"message": "NEW", "orderId": id}));
    api.get(&result).await.refused(404, "order_not_processed");
    server.run_jobs();
    assert_eq!(api.order_state(&id).await, "SUCCESS");

    let shown = api.get(&result).await.ok(200);
    assert_eq!(
        (keys(&shown), &shown["orderId"], &shown["typeCard"]),
        (vec!["data", "orderId", "typeCard"], &json!(id), &json!("KKL"))
    );
    let mut numbers = HashSet::new();
    for (place, card) in shown["data"].as_array().unwrap().iter().enumerate() {
        assert_eq!(keys(card), ["customIdCard", "typeCard"]);
        assert_eq!(card["typeCard"], if place < 2 { "KKL" } else { "MP4" });
        let number = text(&card["customIdCard"]);
        assert!(number.len() == 13 && !number.starts_with('0') && right_check_digit(&number), "{number}");
        assert!(CardNumber::parse(&number).unwrap().is_plastic());
        numbers.insert(number);
    }
    assert_eq!(numbers.len(), 5);
    let free: HashSet<String> = api.free().await.into_iter().map(|card| card.number).collect();
    assert_eq!(free, numbers, "they are unassigned at once");
    api.expect_money(0, 0).await;
}

/// The check digit of an EAN-13, worked out by hand: odd places count once, even ones three times.
fn right_check_digit(number: &str) -> bool {
    let digits: Vec<u32> = number.chars().map(|digit| digit.to_digit(10).unwrap()).collect();
    let sum: u32 =
        digits.iter().enumerate().map(|(place, digit)| if place % 2 == 0 { *digit } else { 3 * digit }).sum();
    sum.is_multiple_of(10)
}

#[tokio::test]
async fn a_virtual_order_holds_its_cost_and_debits_it_in_the_end() {
    let (server, api) = start(1_000_000).await;
    let mut order = virtual_order(2, 100_001);
    order["data"]
        .as_array_mut()
        .unwrap()
        .push(json!({"numberCards": 1, "typeCard": "MLZ", "amount": "7000"}));
    let id = place(&api, VIRTUAL, &order).await;
    api.expect_money(1_000_000, 207_002).await;
    // One kopeck more than there is left, and then all of it.
    api.post(VIRTUAL, &virtual_order(1, 792_999)).await.refused(402, "insufficient_balance");
    api.expect_money(1_000_000, 207_002).await;
    let second = place(&api, VIRTUAL, &virtual_order(1, 792_998)).await;
    api.expect_money(1_000_000, 1_000_000).await;
    api.post(VIRTUAL, &virtual_order(1, 5_000)).await.refused(402, "insufficient_balance");
    change(&api, "cancel", &second).await.ok(200);
    server.run_jobs();
    api.expect_money(792_998, 0).await;

    let shown = api.get(&format!("/v1/order/result/{id}")).await.ok(200);
    assert_eq!((&shown["typeCard"], shown["data"].as_array().unwrap().len()), (&json!("MLZ"), 3));
    for (card, amount) in shown["data"].as_array().unwrap().iter().zip([100_001, 100_001, 7_000]) {
        assert_eq!(keys(card), ["activationCode", "amount", "customIdCard", "typeCard", "validityPeriod"]);
        assert_eq!((&card["amount"], &card["typeCard"]), (&json!(amount), &json!("MLZ")));
        let number = text(&card["customIdCard"]);
        assert!(
            number.len() == 10
                && !number.starts_with('0')
                && number.bytes().all(|byte| byte.is_ascii_digit())
        );
        assert!(!text(&card["activationCode"]).is_empty());
        let valid_until = text(&card["validityPeriod"]);
        assert!(
            kopeck_domain::calendar::parse_date(&valid_until).unwrap() > time::macros::date!(2026 - 03 - 02)
        );
    }
}

#[tokio::test]
async fn concurrent_orders_never_spend_more_than_there_is() {
    let (server, api) = start(14_999).await;
    let calls: Vec<_> = (0..10)
        .map(|_| {
            let api = api.clone();
            tokio::spawn(async move { api.post(VIRTUAL, &virtual_order(1, 5_000)).await })
        })
        .collect();
    let mut accepted = 0;
    for call in calls {
        let reply = call.await.unwrap();
        if reply.status == 202 {
            accepted += 1;
        } else {
            reply.refused(402, "insufficient_balance");
        }
    }
    assert_eq!(accepted, 2);
    api.expect_money(14_999, 10_000).await;
    server.run_jobs();
    api.expect_money(4_999, 0).await;
    assert_eq!(api.free().await.len(), 2);
}

#[tokio::test]
async fn an_order_goes_one_way_and_each_state_refuses_what_it_must() {
    let (server, api) = start(100_000).await;
    let id = place(&api, VIRTUAL, &virtual_order(1, 5_000)).await;
    change(&api, "confirm", &id).await.refused(409, "order_not_confirmable");
    server.clock.advance(Duration::seconds(3));
    let worker = server.application.worker(server.bank.clone());
    let errands = worker.take().unwrap();
    assert_eq!(api.order_state(&id).await, "IN_PROCESS");
    api.get(&format!("/v1/order/result/{id}")).await.refused(404, "order_not_processed");
    change(&api, "cancel", &id).await.refused(409, "order_not_cancellable");
    change(&api, "confirm", &id).await.refused(409, "order_not_confirmable");
    api.expect_money(100_000, 5_000).await;
    for errand in errands {
        worker.settle(worker.call(errand)).unwrap();
    }
    server.work_now();
    assert_eq!(api.order_state(&id).await, "SUCCESS");
    change(&api, "cancel", &id).await.refused(409, "order_not_cancellable");
    for _ in 0..2 {
        let confirmed = change(&api, "confirm", &id).await.ok(200);
        assert_eq!(confirmed, json!({"message": "CONFIRMED", "orderId": id}));
    }
    change(&api, "cancel", &id).await.refused(409, "order_not_cancellable");
    let kept = api.get(&format!("/v1/order/result/{id}")).await.ok(200);
    assert_eq!(kept["data"].as_array().unwrap().len(), 1, "a confirmed order keeps its result");
    api.expect_money(95_000, 0).await;
}

#[tokio::test]
async fn a_cancelled_and_a_declined_order_free_their_money_and_have_no_result() {
    let (server, api) = start(100_000).await;
    let cancelled = place(&api, VIRTUAL, &virtual_order(2, 50_000)).await;
    api.expect_money(100_000, 100_000).await;
    for _ in 0..2 {
        let answer = api.post("/v1/order/cancel", &json!({"orderId": cancelled})).await.ok(200);
        assert_eq!(answer, json!({"message": "REJECTED", "orderId": cancelled}));
        api.expect_money(100_000, 0).await;
    }
    assert_eq!(server.check(), 0, "no work is left of it");
    let declined = place(&api, PLASTIC, &plastic_order(2, "1 DECLINE Street")).await;
    let accepted = place(&api, PLASTIC, &plastic_order(1, "1 Decline Street")).await;
    server.run_jobs();
    for (id, state, code) in
        [(&cancelled, "REJECTED", "order_cancelled"), (&declined, "DECLINE", "order_declined")]
    {
        assert_eq!(api.order_state(id).await, state);
        api.get(&format!("/v1/order/result/{id}")).await.refused(404, code);
        change(&api, "confirm", id).await.refused(409, "order_not_confirmable");
    }
    change(&api, "cancel", &declined).await.refused(409, "order_not_cancellable");
    assert_eq!(api.order_state(&accepted).await, "SUCCESS");
    assert_eq!(api.free().await.len(), 1);

    for path in ["status", "result"] {
        api.get(&format!("/v1/order/{path}/{UNKNOWN_ID}")).await.refused(404, "order_not_found");
        api.get(&format!("/v1/order/{path}/x")).await.faulty(&["order_id"]);
    }
    for what in ["confirm", "cancel"] {
        change(&api, what, UNKNOWN_ID).await.refused(404, "order_not_found");
        change(&api, what, "x").await.faulty(&["orderId"]);
        api.post(&format!("/v1/order/{what}/"), &json!({"orderId": null})).await.faulty(&["orderId"]);
        api.post(&format!("/v1/order/{what}/"), &Value::Null).await.faulty(&["body"]);
    }
}

#[tokio::test]
async fn orders_are_listed_newest_first_with_their_cost_and_times() {
    let (server, api) = start(100_000).await;
    let first = place(&api, VIRTUAL, &virtual_order(2, 5_000)).await;
    server.clock.advance(Duration::minutes(1));
    let second = place(&api, PLASTIC, &plastic_order(3, "Nevsky 1")).await;
    let third = place(&api, PLASTIC, &plastic_order(1, "DECLINE")).await;
    change(&api, "cancel", &second).await.ok(200);
    server.clock.advance(Duration::minutes(1));
    server.run_jobs();
    let order = |id: &str,
                 status: &str,
                 kind: &str,
                 card: &str,
                 cards: i64,
                 amount: i64,
                 times: (&str, &str)| {
        json!({
            "orderId": id, "status": status, "kind": kind, "typeCard": card, "numberCards": cards, "amount": amount,
            "createdAt": format!("02.03.2026 {}", times.0), "statusUpdatedAt": format!("02.03.2026 {}", times.1),
            "reference": null,
        })
    };
    let third = order(&third, "DECLINE", "PLASTIC", "MP4", 1, 0, ("12:01", "12:02"));
    let second = order(&second, "REJECTED", "PLASTIC", "MP4", 3, 0, ("12:01", "12:01"));
    let first = order(&first, "SUCCESS", "VIRTUAL", "MLZ", 2, 10_000, ("12:00", "12:02"));
    let data = async |query: &str| api.get(&format!("/v1/orders{query}")).await.ok(200)["data"].take();
    assert_eq!(data("").await, json!([third, second, first]));
    assert_eq!(data("?per_page=1&page=2").await, json!([second]));
    assert_eq!(data("?status=SUCCESS").await, json!([first]));
    assert_eq!(data("?status=DECLINE").await, json!([third]));
    assert_eq!(data("?status=NEW").await, json!([]));
}

#[tokio::test]
async fn the_client_knows_every_call() {
    let (server, client) = start_client(1_000_000);
    let orders = client.orders();
    let plastic = orders.plastic(&[plastic_item(2)]).await.unwrap().order_id;
    let virtual_ = orders.virtual_cards(&[virtual_item(1, 5_000)]).await.unwrap().order_id;
    let gone = orders.virtual_cards(&[virtual_item(1, 5_000)]).await.unwrap().order_id;
    assert_eq!(orders.cancel(gone).await.unwrap().state, RequestState::Rejected);
    assert_eq!(orders.status(plastic).await.unwrap().state, RequestState::New);
    server.run_jobs();
    let mut seen = Vec::new();
    let state = orders.wait(plastic, Wait::default(), |state| seen.push(state.clone())).await.unwrap();
    assert_eq!((&state, seen), (&RequestState::Success, vec![RequestState::Success]));
    let result = orders.result(virtual_).await.unwrap();
    assert_eq!((result.data[0].amount, result.data[0].type_card.clone()), (Some(5_000), Some(CardType::Mlz)));
    assert!(result.data[0].activation_code.is_some() && result.data[0].validity_period.is_some());
    assert_eq!(orders.confirm(virtual_).await.unwrap().state, RequestState::Confirmed);
    let listed =
        orders.list(&RequestFilter::in_state(RequestState::Success), Paging::default()).await.unwrap();
    assert_eq!(
        (listed.data[0].order_id, &listed.data[0].kind, listed.data.len()),
        (plastic, &OrderKind::Plastic, 1)
    );
    let refused = orders.result(gone).await.unwrap_err();
    assert_eq!(refused.code(), Some(&ErrorCode::OrderCancelled));
    let broke = orders.virtual_cards(&[virtual_item(1, 1_500_000)]).await.unwrap_err();
    assert_eq!((broke.status(), broke.code()), (Some(402), Some(&ErrorCode::InsufficientBalance)));
    assert_eq!(client.balance().await.unwrap().available, 995_000);
}
