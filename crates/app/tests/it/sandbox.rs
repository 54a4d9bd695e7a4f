//! The requests of the sandbox: what they answer, refuse, and show at once.

use kopeck_client::Purchase;
use kopeck_domain::payment::PaymentRefusal;
use reqwest::Method;
use serde_json::{Value, json};

use crate::api_client::{Api, UNKNOWN_ID, keys, nonce, start, start_client, text, virtual_order};
use crate::server::{START, TestServer};

/// A plastic card with so many kopecks on it.
async fn filled_card(server: &TestServer, api: &Api, amount: i64) -> String {
    let card = api.main_cards(server, 1).await.remove(0);
    api.top_up(&[(&card, amount)]).await;
    server.run_jobs();
    card
}

/// A virtual card that waits for its code, and the code.
async fn virtual_card(server: &TestServer, api: &Api, amount: i64) -> (String, String) {
    let order = text(&api.post("/v1/order/virtualcards", &virtual_order(1, amount)).await.ok(202)["orderId"]);
    server.run_jobs();
    let made = api.get(&format!("/v1/order/result/{order}")).await.ok(200);
    let card = api.get("/v1/cards/available?typeCard=MLZ").await.ok(200);
    (
        text(&card["data"].as_array().unwrap().last().unwrap()["idCard"]),
        text(&made["data"][0]["activationCode"]),
    )
}

fn purchase_of(amount: i64) -> Value {
    json!({"amount": amount, "place": "Пекарня № 1", "mcc": "5462", "merchantId": "M-1"})
}

async fn buy(api: &Api, card: &str, purchase: &Value) -> Value {
    api.post(&format!("/sandbox/v1/card/{card}/purchase"), purchase).await.ok(200)
}

async fn expect_declined(api: &Api, card: &str, purchase: &Value, reason: &str) {
    let bought = buy(api, card, purchase).await;
    let refusal = PaymentRefusal::from_code(bought["code"].as_str().unwrap()).unwrap();
    assert_eq!(refusal.to_string(), reason);
    let expected =
        json!({"approved": false, "reason": reason, "code": refusal.code(), "transactionId": null});
    assert_eq!(bought, expected);
}

/// Balance and headroom, as card info and card balance show them.
async fn expect_on_card(api: &Api, card: &str, balance: i64) {
    let shown = api.get(&format!("/v1/card/{card}/balance")).await.ok(200);
    assert_eq!(shown["balance"], json!(balance));
    assert_eq!(shown["canToUp"], json!(1_500_000 - balance));
    assert_eq!(api.get(&format!("/v1/card/{card}")).await.ok(200)["data"]["balance"], json!(balance));
}

async fn transactions(api: &Api, card: &str) -> Vec<Value> {
    let listed = api.get(&format!("/v1/card/{card}/transactions")).await.ok(200);
    listed["data"].as_array().unwrap().clone()
}

#[tokio::test]
async fn a_deposit_arrives_on_the_balance() {
    let (_server, api) = start(100).await;
    let path = "/sandbox/v1/balance/deposit";
    api.post(path, &json!({"amount": 900})).await.ok(200);
    api.expect_money(1_000, 0).await;
    for amount in [json!(0), json!(-1), json!(1.5), json!("5"), Value::Null, json!(true)] {
        api.post(path, &json!({"amount": amount})).await.faulty(&["amount"]);
    }
    let (body, nonce) = (json!({"amount": 50}).to_string(), nonce());
    let first = api.send(Method::POST, path, body.clone(), &nonce).await;
    let again = api.send(Method::POST, path, body, &nonce).await;
    assert_eq!((first.status, first.text), (again.status, again.text));
    api.expect_money(1_050, 0).await;
}

/// No ten seconds of a copy stand between the purchase and what the partner sees.
#[tokio::test]
async fn a_purchase_shows_at_once() {
    let (server, api) = start(100_000).await;
    let card = filled_card(&server, &api, 10_000).await;
    expect_on_card(&api, &card, 10_000).await;
    assert_eq!(transactions(&api, &card).await.len(), 1);
    let bought = buy(&api, &card, &purchase_of(2_500)).await;
    assert_eq!(keys(&bought), ["approved", "code", "reason", "transactionId"]);
    assert_eq!((&bought["approved"], &bought["reason"]), (&json!(true), &Value::Null));
    expect_on_card(&api, &card, 7_500).await;
    let shown = transactions(&api, &card).await;
    let expected = json!({
        "id": bought["transactionId"], "dateExecutionAt": "02.03.2026", "timeExecutionAt": "12:00",
        "type": "PAYMENT", "amount": 2_500, "place": "Пекарня № 1", "mcc": "5462", "merchantId": "M-1",
    });
    assert_eq!((shown.len(), &shown[0]), (2, &expected));
    assert_eq!(server.check(), 0);
}

/// They stand in transactions and events.
#[tokio::test]
async fn texts_of_merchants_have_no_invisible_characters() {
    let (server, api) = start(100_000).await;
    let card = filled_card(&server, &api, 10_000).await;
    let path = format!("/sandbox/v1/card/{card}/purchase");
    let hidden = ["a\0b", "a\r\nb", "a\u{202e}b", "a\u{200b}b", "\u{3164}", "\u{85}", "\u{2028}", "", "  "];
    for text in hidden {
        for field in ["place", "mcc", "merchantId"] {
            let mut purchase = purchase_of(1);
            purchase[field] = json!(text);
            api.post(&path, &purchase).await.faulty(&[field]);
        }
        let question = json!({"amount": 1, "mcc": text});
        api.post(&format!("/v1/card/{card}/can-pay"), &question).await.faulty(&["mcc"]);
    }
    let mut purchase = purchase_of(1);
    purchase["place"] = json!("Кафе\u{301}");
    assert_eq!(buy(&api, &card, &purchase).await["approved"], json!(true));
    assert_eq!(transactions(&api, &card).await[0]["place"], json!("Кафе\u{301}"), "composed where it can be");
}

#[tokio::test]
async fn each_declined_purchase_has_a_reason_and_posts_nothing() {
    let (server, api) = start(100_000).await;
    let card = filled_card(&server, &api, 1_000).await;
    expect_declined(&api, &card, &purchase_of(1_001), "not enough money on the card").await;
    expect_declined(&api, &card, &purchase_of(i64::MAX), "not enough money on the card").await;
    api.sandbox(&card, "block").await;
    expect_declined(&api, &card, &purchase_of(1), "the card is blocked").await;
    api.sandbox(&card, "unblock").await;
    let mut later = purchase_of(1);
    later["at"] = json!("01.04.2029 00:00");
    expect_declined(&api, &card, &later, "the card has expired").await;
    api.sandbox(&card, "expire").await;
    expect_declined(&api, &card, &purchase_of(1), "the card has expired").await;
    let (asleep, _) = virtual_card(&server, &api, 5_000).await;
    expect_declined(&api, &asleep, &purchase_of(1), "the card is not activated").await;
    expect_on_card(&api, &card, 1_000).await;
    assert_eq!(transactions(&api, &card).await.len(), 1);
}

/// `at` is a minute of the service's zone, in the past or in the future.
#[tokio::test]
async fn a_purchase_happens_when_it_is_said_to() {
    let (server, api) = start(100_000).await;
    let card = filled_card(&server, &api, 1_000).await;
    for at in ["28.02.2026 23:59", "31.03.2029 23:59"] {
        let mut purchase = purchase_of(10);
        purchase["at"] = json!(at);
        let bought = buy(&api, &card, &purchase).await;
        let shown = transactions(&api, &card).await;
        let found = shown.iter().find(|shown| shown["id"] == bought["transactionId"]).unwrap();
        let moment = format!("{} {}", text(&found["dateExecutionAt"]), text(&found["timeExecutionAt"]));
        assert_eq!(moment, at);
    }
}

#[tokio::test]
async fn faulty_purchases_are_reported_field_by_field() {
    let (server, api) = start(100_000).await;
    let card = filled_card(&server, &api, 1_000).await;
    let path = format!("/sandbox/v1/card/{card}/purchase");
    for (field, values) in [
        ("amount", vec![json!(0), json!(-5), json!("100"), json!(1.5), Value::Null]),
        ("place", vec![json!(""), json!("x".repeat(257)), json!(1)]),
        ("mcc", vec![json!(5_462), json!("")]),
        ("merchantId", vec![json!([])]),
        (
            "at",
            vec![
                json!("2026-03-02 12:00"),
                json!("02.03.2026"),
                json!("02.03.2026 24:00"),
                json!("30.02.2026 12:00"),
                json!("01.01.1969 00:00"),
                json!(1_700_000_000),
                json!(""),
            ],
        ),
    ] {
        for value in values {
            let mut purchase = purchase_of(100);
            purchase[field] = value;
            api.post(&path, &purchase).await.faulty(&[field]);
        }
    }
    let all = json!({"amount": 0, "at": "now", "place": ""});
    api.post("/sandbox/v1/card/x/purchase", &all).await.faulty(&["idCard", "amount", "at", "place"]);
    api.post(&format!("/sandbox/v1/card/{UNKNOWN_ID}/purchase"), &purchase_of(1))
        .await
        .refused(404, "card_not_found");
    // An optional field may be null.
    let bare = buy(&api, &card, &json!({"amount": 1, "place": null, "at": null})).await;
    assert_eq!(bare["approved"], json!(true));
}

#[tokio::test]
async fn a_retried_purchase_buys_once() {
    let (server, api) = start(100_000).await;
    let card = filled_card(&server, &api, 1_000).await;
    let (path, nonce) = (format!("/sandbox/v1/card/{card}/purchase"), nonce());
    let body = purchase_of(100).to_string();
    let calls = (0..8).map(|_| {
        let (api, path, body, nonce) = (api.clone(), path.clone(), body.clone(), nonce.clone());
        tokio::spawn(async move { api.send(Method::POST, &path, body, &nonce).await })
    });
    let mut answers = Vec::new();
    for call in calls.collect::<Vec<_>>() {
        let answer = call.await.unwrap();
        assert_eq!(answer.status, 200, "{}", answer.text);
        answers.push(answer.text);
    }
    answers.dedup();
    assert_eq!(answers.len(), 1);
    expect_on_card(&api, &card, 900).await;
    // A refusal is a response too: the first one stays, whatever has changed.
    let (declined, nonce) = (purchase_of(901).to_string(), crate::api_client::nonce());
    let first = api.send(Method::POST, &path, declined.clone(), &nonce).await;
    api.top_up(&[(&card, 500)]).await;
    server.run_jobs();
    assert_eq!(api.send(Method::POST, &path, declined, &nonce).await.text, first.text);
    expect_on_card(&api, &card, 1_400).await;
    api.send(Method::POST, &path, purchase_of(1).to_string(), &nonce).await.faulty(&["x-nonce"]);
}

#[tokio::test]
async fn refunds_go_up_to_the_payment_and_show_at_once() {
    let (server, api) = start(100_000).await;
    let cards = api.main_cards(&server, 2).await;
    api.top_up(&[(&cards[0], 1_000), (&cards[1], 1_000)]).await;
    server.run_jobs();
    let (card, other) = (&cards[0], &cards[1]);
    let path = format!("/sandbox/v1/card/{card}/refund");
    let payment = buy(&api, card, &purchase_of(600)).await["transactionId"].clone();
    let refund = |amount: i64| json!({"transactionId": payment, "amount": amount});
    let given_back = api.post(&path, &refund(200)).await.ok(200);
    expect_on_card(&api, card, 600).await;
    let shown = transactions(&api, card).await;
    assert_eq!((&shown[0]["type"], &shown[0]["amount"]), (&json!("REFUND"), &json!(200)));
    assert_eq!(shown[0]["id"], given_back["transactionId"]);
    let over = api.post(&path, &refund(401)).await;
    let detail = "is more than the 400 kopecks of the payment that can still be given back";
    assert_eq!(over.body["data"][0]["detail"], json!(detail));
    over.faulty(&["amount"]);
    api.post(&format!("/sandbox/v1/card/{other}/refund"), &refund(1)).await.faulty(&["transactionId"]);
    for id in [json!(999_999), json!(-1), given_back["transactionId"].clone(), json!("1"), Value::Null] {
        let body = json!({"transactionId": id, "amount": 1});
        api.post(&path, &body).await.faulty(&["transactionId"]);
    }
    api.post(&path, &refund(0)).await.faulty(&["amount"]);
    api.post(&path, &json!({})).await.faulty(&["amount", "transactionId"]);
    let (body, nonce) = (refund(400).to_string(), nonce());
    for _ in 0..2 {
        api.send(Method::POST, &path, body.clone(), &nonce).await.ok(200);
    }
    expect_on_card(&api, card, 1_000).await;
    assert_eq!(server.check(), 0);
}

#[tokio::test]
async fn the_code_activates_a_virtual_card_and_that_shows_at_once() {
    let (server, api) = start(100_000).await;
    let (card, code) = virtual_card(&server, &api, 5_000).await;
    let (info, path) = (format!("/v1/card/{card}"), format!("/sandbox/v1/card/{card}/activate"));
    assert_eq!(api.get(&info).await.ok(200)["data"]["activated"], json!(false));
    for wrong in [json!("WRONG"), json!(""), json!(7)] {
        api.post(&path, &json!({"activationCode": wrong})).await.faulty(&["activationCode"]);
    }
    assert_eq!(api.get(&info).await.ok(200)["data"]["activated"], json!(false));
    api.post(&path, &json!({"activationCode": code})).await.ok(200);
    let shown = api.get(&info).await.ok(200);
    assert_eq!(shown["data"]["activated"], json!(true));
    assert_eq!(shown["data"]["activatedAt"], json!("02.03.2026"));
    assert_eq!(buy(&api, &card, &purchase_of(5_000)).await["approved"], json!(true));
    // Without a code it is the bank's own hand; a body is not needed for that.
    let (second, _) = virtual_card(&server, &api, 5_000).await;
    api.post(&format!("/sandbox/v1/card/{second}/activate"), &Value::Null).await.ok(200);
    assert_eq!(buy(&api, &second, &purchase_of(1)).await["approved"], json!(true));
}

#[tokio::test]
async fn block_unblock_and_expire_show_at_once() {
    let (server, api) = start(100_000).await;
    let card = api.plastic(&server, 1).await.remove(0);
    api.sandbox(&card.id, "block").await;
    assert!(api.free().await.is_empty());
    let employee = api.employee("E-1").await;
    api.link(&employee, &card.number, "MAIN").await.refused(409, "card_not_available");
    api.sandbox(&card.id, "unblock").await;
    assert_eq!(api.free().await, std::slice::from_ref(&card));
    api.sandbox(&card.id, "expire").await;
    assert!(api.free().await.is_empty());
    let shown = api.get(&format!("/v1/card/{}", card.id)).await.ok(200);
    assert_eq!(shown["data"]["dateUntil"], json!("01.03.2026"));
    api.link(&employee, &card.number, "MAIN").await.refused(409, "card_expired");
}

#[tokio::test]
async fn invalid_bank_faults_are_reported_field_by_field() {
    let (server, api) = start(0).await;
    let path = "/sandbox/v1/bank";
    for (field, values) in [
        ("latencyMs", vec![json!(-1), json!(60_001), json!("5"), json!(1.5)]),
        ("errorRate", vec![json!(-0.1), json!(1.1), json!("0.5"), json!(true)]),
        ("loseAnswerRate", vec![json!(2)]),
        ("duplicateRate", vec![json!(-1)]),
        ("down", vec![json!(0), json!("true")]),
    ] {
        for value in values {
            api.post(path, &json!({field: value})).await.faulty(&[field]);
        }
    }
    api.post(path, &Value::Null).await.faulty(&["body"]);
    let all =
        json!({"latencyMs": 7, "errorRate": 0.5, "loseAnswerRate": 1, "duplicateRate": 0, "down": false});
    api.post(path, &all).await.ok(200);
    let behaviour = server.bank.faults();
    assert_eq!((behaviour.latency.as_millis(), behaviour.down), (7, false));
    assert_eq!((behaviour.error_rate, behaviour.lose_answer_rate, behaviour.duplicate_rate), (0.5, 1.0, 0.0));
    // An absent field means no such fault.
    api.post(path, &json!({"down": true})).await.ok(200);
    assert_eq!((server.bank.faults().latency.as_millis(), server.bank.faults().down), (0, true));
    api.post(path, &json!({})).await.ok(200);
    assert_eq!(server.bank.faults(), kopeck_port_bank::sandbox::BankFaults::default());
}

/// The typed client, everything sealed.
#[tokio::test]
async fn the_client_has_every_call() {
    let (server, client) = start_client(0);
    let sandbox = client.sandbox();
    assert_eq!(sandbox.deposit(100_000).await.unwrap().available, 100_000);
    let order = client.orders().virtual_cards(&[crate::api_client::virtual_item(1, 5_000)]).await.unwrap();
    server.run_jobs();
    let made = client.orders().result(order.order_id).await.unwrap();
    let code = made.data[0].activation_code.clone().unwrap();
    let card = client.cards().available(None, Default::default()).await.unwrap().data[0].id_card;
    sandbox.activate(card, Some(&code)).await.unwrap();
    let purchase = Purchase {
        amount: 3_000,
        place: Some("Bakery".to_owned()),
        mcc: Some("5462".to_owned()),
        merchant_id: Some("M-1".to_owned()),
        at: Some(time::PrimitiveDateTime::new(START.date(), time::macros::time!(10:30))),
    };
    let bought = sandbox.purchase(card, &purchase).await.unwrap();
    assert!(bought.approved && bought.reason.is_none());
    let refund = sandbox.refund(card, bought.transaction_id.unwrap(), 1_000).await.unwrap();
    assert_eq!(client.cards().balance(card).await.unwrap().balance, 3_000);
    sandbox.block(card).await.unwrap();
    let declined = sandbox.purchase(card, &purchase).await.unwrap();
    assert_eq!((declined.approved, declined.transaction_id), (false, None));
    assert_eq!(declined.reason.as_deref(), Some("the card is blocked"));
    sandbox.unblock(card).await.unwrap();
    sandbox.expire(card).await.unwrap();
    let shown = client.cards().transactions(card, &Default::default(), Default::default()).await.unwrap();
    // The newest first, by when they happened.
    let amounts: Vec<i64> = shown.data.iter().map(|transaction| transaction.amount).collect();
    assert_eq!(amounts, [1_000, 5_000, 3_000]);
    assert_eq!(shown.data[0].id, refund.transaction_id);
    sandbox.bank(&Default::default()).await.unwrap();
    sandbox.advance_clock(60).await.unwrap();
}
