//! Whether a card would pay: a question that agrees with the purchase and leaves nothing behind.

use kopeck_client::{
    CardLimit, Client, EventData, EventQuery, LimitPeriod, PaymentAnswer, PaymentQuestion, Purchase,
    TimeWindow, TopUp, Uuid, Weekday,
};
use kopeck_domain::partner::SealingPolicy;
use serde_json::{Value, json};
use time::PrimitiveDateTime;
use time::macros::datetime;

use crate::api_client::{Api, UNKNOWN_ID, keys, plastic_item, start, start_client};
use crate::server::TestServer;

/// A plastic MAIN card with so many kopecks on it.
pub async fn filled_card(server: &TestServer, client: &Client, amount: i64) -> Uuid {
    client.orders().plastic(&[plastic_item(1)]).await.unwrap();
    server.run_jobs();
    let card = client.cards().available(None, Default::default()).await.unwrap().data.remove(0);
    let new = kopeck_client::NewEmployee::new(card.custom_id_card.clone());
    let employee = client.employees().add(&new).await.unwrap().id_employee;
    client.cards().link(employee, &card.custom_id_card, &kopeck_client::CardStatus::Main).await.unwrap();
    client.replenishments().create(&[TopUp::new(card.id_card, amount)]).await.unwrap();
    server.run_jobs();
    card.id_card
}

/// Sets the limit of a card.
pub async fn set_limit(server: &TestServer, client: &Client, card: Uuid, limit: &CardLimit) {
    let set = client.limits().set(&[card], limit).await.unwrap();
    server.run_jobs();
    assert!(client.limits().result(set.set_limits_cards_id).await.unwrap()[0].result_limit);
}

pub fn purchase(amount: i64, at: Option<PrimitiveDateTime>) -> Purchase {
    let [place, mcc, merchant_id] = ["Bakery", "5462", "M-1"].map(|text| Some(text.to_owned()));
    Purchase { amount, place, mcc, merchant_id, at }
}

/// Asks, then buys: the responses agree. Gives the response to the question.
async fn ask_and_buy(
    client: &Client,
    card: Uuid,
    amount: i64,
    at: Option<PrimitiveDateTime>,
) -> PaymentAnswer {
    let answer =
        client.cards().can_pay(card, &PaymentQuestion { at, ..PaymentQuestion::new(amount) }).await.unwrap();
    let bought = client.sandbox().purchase(card, &purchase(amount, at)).await.unwrap();
    assert_eq!((bought.approved, &bought.reason), (answer.allowed, &answer.reason), "{amount} at {at:?}");
    answer
}

#[tokio::test]
async fn the_response_has_its_five_fields() {
    let (server, client) = start_client(100_000);
    let partner = server.partner(SealingPolicy::Optional, 100_000);
    drop(client);
    let (api, client) = (Api::login(&server, &partner).await, server.client(&partner));
    let card = filled_card(&server, &client, 1_000).await;
    let path = format!("/v1/card/{card}/can-pay");
    let answer = api.post(&path, &json!({"amount": 1_000})).await.ok(200);
    assert_eq!(keys(&answer), ["allowed", "code", "reason", "remaining", "resetsAt"]);
    assert_eq!(
        answer,
        json!({"allowed": true, "reason": null, "code": null, "remaining": null, "resetsAt": null})
    );
    let answer = api.post(&path, &json!({"amount": 1_001})).await.ok(200);
    let reason = "not enough money on the card";
    assert_eq!(
        answer,
        json!({"allowed": false, "reason": reason, "code": "insufficient_funds", "remaining": null, "resetsAt": null})
    );
    set_limit(&server, &client, card, &CardLimit::per(LimitPeriod::Month, 700)).await;
    let answer = api.post(&path, &json!({"amount": 700, "at": null})).await.ok(200);
    let resets_at = "01.04.2026 00:00";
    assert_eq!(
        answer,
        json!({"allowed": true, "reason": null, "code": null, "remaining": 700, "resetsAt": resets_at})
    );
    let reason = "over the amount that the limit of the card leaves in this period";
    let answer = api.post(&path, &json!({"amount": 701})).await.ok(200);
    assert_eq!(
        answer,
        json!({"allowed": false, "reason": reason, "code": "limit_exceeded", "remaining": 700, "resetsAt": resets_at})
    );
    let answer = api.post(&path, &json!({"amount": 1, "at": "01.04.2026 00:00"})).await.ok(200);
    assert_eq!(answer["resetsAt"], json!("01.05.2026 00:00"));
}

#[tokio::test]
async fn faulty_questions_are_refused() {
    let (server, api) = start(0).await;
    let card = api.plastic(&server, 1).await.remove(0).id;
    let path = format!("/v1/card/{card}/can-pay");
    for amount in [json!(0), json!(-1), json!("1"), json!(1.5), Value::Null, json!(true)] {
        api.post(&path, &json!({"amount": amount})).await.faulty(&["amount"]);
    }
    for at in [json!(""), json!("02.03.2026"), json!("2026-03-02 12:00"), json!("31.02.2026 12:00"), json!(7)]
    {
        api.post(&path, &json!({"amount": 1, "at": at})).await.faulty(&["at"]);
    }
    for mcc in [json!(""), json!(5812), json!("5".repeat(257))] {
        api.post(&path, &json!({"amount": 1, "mcc": mcc})).await.faulty(&["mcc"]);
    }
    api.post(&path, &json!({})).await.faulty(&["amount"]);
    api.post(&path, &Value::Null).await.faulty(&["body"]);
    let all = json!({"at": "now"});
    api.post("/v1/card/x/can-pay", &all).await.faulty(&["idCard", "amount", "at"]);
    api.post(&format!("/v1/card/{UNKNOWN_ID}/can-pay"), &json!({"amount": 1}))
        .await
        .refused(404, "card_not_found");
    let stranger = Api::login(&server, &server.partner(SealingPolicy::Optional, 0)).await;
    stranger.post(&path, &json!({"amount": 1})).await.refused(404, "card_not_found");
    api.get(&path).await.refused(405, "method_not_allowed");
}

/// It records nothing either: the same nonce asks again and gets the response of that moment.
#[tokio::test]
async fn a_question_changes_nothing() {
    let (server, client) = start_client(100_000);
    let partner = server.partner(SealingPolicy::Optional, 100_000);
    drop(client);
    let (api, client) = (Api::login(&server, &partner).await, server.client(&partner));
    let card = filled_card(&server, &client, 1_000).await;
    let (path, body) = (format!("/v1/card/{card}/can-pay"), json!({"amount": 600}).to_string());
    let nonce = crate::api_client::nonce();
    let ask = || api.send(reqwest::Method::POST, &path, body.clone(), &nonce);
    for _ in 0..3 {
        assert_eq!(ask().await.ok(200)["allowed"], json!(true));
    }
    assert_eq!(client.cards().balance(card).await.unwrap().balance, 1_000);
    client.sandbox().purchase(card, &purchase(600, None)).await.unwrap();
    assert_eq!(ask().await.ok(200)["allowed"], json!(false));
    let shown = client.cards().transactions(card, &Default::default(), Default::default()).await.unwrap();
    assert_eq!(shown.data.len(), 2);
}

#[tokio::test]
async fn days_and_times_decide_as_they_do_at_the_merchant() {
    let (server, client) = start_client(100_000);
    let card = filled_card(&server, &client, 10_000).await;
    let night = [TimeWindow::new("22:00", "06:00")];
    let limit = CardLimit::per(LimitPeriod::Week, 300).on_days([Weekday::Monday]).within(night);
    set_limit(&server, &client, card, &limit).await;
    // Monday is 2 March; the window of Monday runs into Tuesday.
    for (at, allowed) in [
        (datetime!(2026-03-02 05:59), false),
        (datetime!(2026-03-02 21:59), false),
        (datetime!(2026-03-02 22:00), true),
        (datetime!(2026-03-03 05:59), true),
        (datetime!(2026-03-03 06:00), false),
        (datetime!(2026-03-03 22:00), false),
        (datetime!(2026-03-09 23:00), true),
    ] {
        let answer = ask_and_buy(&client, card, 100, Some(at)).await;
        assert_eq!(answer.allowed, allowed, "{at}");
    }
    // Two of this week's three hundred are gone, one of the next week's.
    let answer = ask_and_buy(&client, card, 101, Some(datetime!(2026-03-02 23:30))).await;
    assert_eq!((answer.allowed, answer.remaining), (false, Some(100)));
    assert_eq!(answer.resets_at, Some(datetime!(2026-03-09 00:00)));
    let answer = ask_and_buy(&client, card, 200, Some(datetime!(2026-03-09 23:30))).await;
    assert_eq!((answer.allowed, answer.remaining), (true, Some(200)));
}

#[tokio::test]
async fn the_merchant_decides_and_the_decline_is_an_event() {
    let (server, client) = start_client(100_000);
    let card = filled_card(&server, &client, 10_000).await;
    let only = CardLimit::default().only_at(["5812", "5411-5499"]);
    set_limit(&server, &client, card, &only).await;
    for (mcc, allowed) in [
        (Some("5812"), true),
        (Some("5411"), true),
        (Some("5499"), true),
        (Some("5500"), false),
        (Some("581"), false),
        (None, false),
    ] {
        let mcc = mcc.map(str::to_owned);
        let question = PaymentQuestion { mcc: mcc.clone(), ..PaymentQuestion::new(100) };
        let answer = client.cards().can_pay(card, &question).await.unwrap();
        let bought = client.sandbox().purchase(card, &Purchase { mcc, ..Purchase::new(100) }).await.unwrap();
        let code = (!allowed).then(|| "merchant_category".to_owned());
        assert_eq!((answer.allowed, &answer.code), (allowed, &code), "{question:?}");
        assert_eq!((bought.approved, bought.code, bought.reason), (allowed, code, answer.reason));
    }
    server.follow_feed();
    let feed = client.events().list(&EventQuery::default()).await.unwrap();
    let declined = feed.data.into_iter().filter_map(|event| match event.data {
        EventData::CardDeclined(declined) => Some((declined.code, declined.mcc)),
        _ => None,
    });
    let code = || Some("merchant_category".to_owned());
    let expected = [Some("5500"), Some("581"), None].map(|mcc| (code(), mcc.map(str::to_owned)));
    assert_eq!(declined.collect::<Vec<_>>(), expected);
    set_limit(&server, &client, card, &CardLimit::default().except_at(["5812"])).await;
    assert!(client.cards().can_pay(card, &PaymentQuestion::new(100)).await.unwrap().allowed);
}

#[tokio::test]
async fn payments_and_refunds_count_at_once() {
    let (server, client) = start_client(100_000);
    let card = filled_card(&server, &client, 10_000).await;
    set_limit(&server, &client, card, &CardLimit::per(LimitPeriod::Day, 1_000)).await;
    assert_eq!(ask_and_buy(&client, card, 400, None).await.remaining, Some(1_000));
    assert_eq!(ask_and_buy(&client, card, 601, None).await.remaining, Some(600));
    let bought = client.sandbox().purchase(card, &purchase(600, None)).await.unwrap();
    assert_eq!(ask_and_buy(&client, card, 1, None).await.remaining, Some(0));
    client.sandbox().refund(card, bought.transaction_id.unwrap(), 250).await.unwrap();
    assert_eq!(ask_and_buy(&client, card, 251, None).await.remaining, Some(250));
    assert!(ask_and_buy(&client, card, 250, None).await.allowed);
}

#[tokio::test]
async fn the_card_itself_may_stand_in_the_way() {
    let (server, client) = start_client(100_000);
    let card = filled_card(&server, &client, 1_000).await;
    client.sandbox().block(card).await.unwrap();
    let answer = ask_and_buy(&client, card, 1, None).await;
    assert_eq!(answer.reason.as_deref(), Some("the card is blocked"));
    client.sandbox().unblock(card).await.unwrap();
    assert!(ask_and_buy(&client, card, 1, Some(datetime!(2029-03-31 23:59))).await.allowed);
    let answer = ask_and_buy(&client, card, 1, Some(datetime!(2029-04-01 00:00))).await;
    assert_eq!(answer.reason.as_deref(), Some("the card has expired"));
    client.orders().virtual_cards(&[crate::api_client::virtual_item(1, 5_000)]).await.unwrap();
    server.run_jobs();
    let asleep = client.cards().available(None, Default::default()).await.unwrap().data[0].id_card;
    let answer = ask_and_buy(&client, asleep, 1, None).await;
    assert_eq!(answer.reason.as_deref(), Some("the card is not activated"));
}
