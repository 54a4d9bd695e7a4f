//! The partner's balance over HTTP: what comes, what is held, what goes.

use serde_json::json;
use time::Duration;

use crate::api_client::{start, virtual_order};
use crate::replenishments::{NOT_COVERED, outcome};

#[tokio::test]
async fn a_partner_without_money_is_refused_card_by_card_and_never_by_402() {
    let (server, api) = start(0).await;
    let cards = api.main_cards(&server, 2).await;
    let id = api.top_up(&[(&cards[0], 1), (&cards[1], 100_000_000)]).await;
    server.run_jobs();
    let refusals = vec![Some(NOT_COVERED.to_owned()); 2];
    assert_eq!(outcome(&api, &id).await, ("DECLINE".to_owned(), refusals));
    server.clock.advance(Duration::minutes(1));
    let deposited = api.post("/sandbox/v1/balance/deposit", &json!({"amount": 7})).await.ok(200);
    let shown = json!({"balance": 7, "hold": 0, "available": 7, "updatedAt": "02.03.2026 12:01"});
    assert_eq!((&api.get("/v1/balance").await.ok(200), &deposited), (&shown, &shown));
    for amount in [json!(0), json!(-1), json!("7"), json!(1.5), json!(null)] {
        api.post("/sandbox/v1/balance/deposit", &json!({"amount": amount})).await.faulty(&["amount"]);
    }
    // The cards are free again at once, and money that came later counts.
    let id = api.top_up(&[(&cards[1], 8), (&cards[0], 7)]).await;
    server.run_jobs();
    assert_eq!(
        outcome(&api, &id).await,
        ("PART_SUCCESS".to_owned(), vec![Some(NOT_COVERED.to_owned()), None])
    );
    api.expect_money(0, 0).await;
}

/// A request in NEW holds nothing, so an order may take the money before it.
#[tokio::test]
async fn an_order_in_between_takes_the_money_first() {
    let (server, api) = start(10_000).await;
    let card = api.main_cards(&server, 1).await.remove(0);
    let id = api.top_up(&[(&card, 8_000)]).await;
    api.expect_money(10_000, 0).await;
    api.post("/v1/order/virtualcards", &virtual_order(1, 5_000)).await.ok(202);
    api.expect_money(10_000, 5_000).await;
    server.run_jobs();
    assert_eq!(outcome(&api, &id).await, ("DECLINE".to_owned(), vec![Some(NOT_COVERED.to_owned())]));
    api.expect_money(5_000, 0).await;
}

#[tokio::test]
async fn all_the_money_there_can_be_is_counted_without_a_wrap() {
    let (server, api) = start(i64::MAX - 1).await;
    let card = api.main_cards(&server, 1).await.remove(0);
    api.post("/sandbox/v1/balance/deposit", &json!({"amount": 2})).await.faulty(&["amount"]);
    api.post("/sandbox/v1/balance/deposit", &json!({"amount": 1})).await.ok(200);
    api.post("/sandbox/v1/balance/deposit", &json!({"amount": i64::MAX})).await.faulty(&["amount"]);
    api.post("/sandbox/v1/balance/deposit", &json!({"amount": 9_223_372_036_854_775_808_u64}))
        .await
        .faulty(&["amount"]);
    api.expect_money(i64::MAX, 0).await;
    let id = api.top_up(&[(&card, 1_500_000)]).await;
    server.run_jobs();
    assert_eq!(outcome(&api, &id).await, ("SUCCESS".to_owned(), vec![None]));
    api.expect_money(i64::MAX - 1_500_000, 0).await;
}

/// The work is done without a moment passing, so the copies made before are as young as they can be.
#[tokio::test]
async fn a_top_up_shows_on_the_card_as_soon_as_it_has_ended() {
    let (server, api) = start(50_000).await;
    let card = api.main_cards(&server, 1).await.remove(0);
    let id = api.top_up(&[(&card, 700)]).await;
    server.clock.advance(Duration::seconds(3));
    let (balance, transactions) =
        (format!("/v1/card/{card}/balance"), format!("/v1/card/{card}/transactions"));
    assert_eq!(api.get(&balance).await.ok(200)["balance"], 0);
    assert_eq!(api.get(&transactions).await.ok(200)["meta"]["total"], 0);
    server.work_now();
    assert_eq!(outcome(&api, &id).await, ("SUCCESS".to_owned(), vec![None]));
    assert_eq!(api.get(&balance).await.ok(200)["balance"], 700);
    assert_eq!(api.get(&transactions).await.ok(200)["data"][0]["amount"], 700);
}
