//! Limit changes over HTTP.

use kopeck_client::{
    CardLimit, Error, ErrorCode, LimitPeriod, Paging, RequestFilter, RequestState, TimeWindow, Uuid, Wait,
    Weekday,
};
use reqwest::Method;
use serde_json::{Value, json};
use time::Duration;
use time::macros::datetime;

use crate::api_client::{Api, Reply, keys, nonce, plastic_item, start, start_client, text, virtual_order};
use crate::server::TestServer;

pub const SET: &str = "/v1/setlimitscards";
pub const STATUS: &str = "/v1/limits/status";
pub const CANCEL: &str = "/v1/limits/cancel";
const EXPIRED: &str = "the card has expired";

/// The body of a change.
pub fn change(cards: &[&str], limit: &Value) -> Value {
    let data: Vec<Value> = cards.iter().map(|card| json!({"idCard": card})).collect();
    json!({"data": data, "limit": limit})
}

/// A daily limit in kopecks.
pub fn daily(amount: i64) -> Value {
    json!({"amount": amount, "period": "CDAY"})
}

pub fn named(id: &str) -> Value {
    json!({"setLimitsCardsId": id})
}

/// Asks for a change; returns its identifier.
pub async fn set(api: &Api, cards: &[&str], limit: &Value) -> String {
    text(&api.post(SET, &change(cards, limit)).await.ok(202)["setLimitsCardsId"])
}

pub async fn state(api: &Api, id: &str) -> String {
    text(&api.post(STATUS, &named(id)).await.ok(200)["message"])
}

pub async fn cancel(api: &Api, id: &str) -> Reply {
    api.post(CANCEL, &named(id)).await
}

pub async fn result(api: &Api, id: &str) -> Reply {
    api.get(&format!("/v1/limits/result/{id}")).await
}

/// The state, and what became of each card: its reason, or none if it has the limit.
pub async fn outcome(api: &Api, id: &str) -> (String, Vec<Option<String>>) {
    let result = result(api, id).await.ok(200);
    let mut reasons = Vec::new();
    for item in result["data"].as_array().unwrap() {
        let reason = item["errorLimit"].as_str().map(str::to_owned);
        assert_eq!(item["resultLimit"], json!(reason.is_none()));
        reasons.push(reason);
    }
    (state(api, id).await, reasons)
}

/// The limit of a card, as read.
pub async fn limit_of(api: &Api, card: &str) -> Value {
    api.get(&format!("/v1/card/{card}")).await.ok(200)["data"]["limit"].clone()
}

pub fn unlimited() -> Value {
    json!({"unlimited": true, "amount": null, "period": null, "days": [], "times": []})
}

pub fn shown_daily(amount: i64) -> Value {
    json!({"unlimited": false, "amount": amount, "period": "CDAY", "days": [], "times": []})
}

pub async fn cards(api: &Api, server: &TestServer, count: u32) -> Vec<String> {
    api.plastic(server, count).await.into_iter().map(|card| card.id).collect()
}

#[tokio::test]
async fn a_change_is_followed_to_its_result() {
    let (server, api) = start(0).await;
    let cards = cards(&api, &server, 2).await;
    let accepted = api.post(SET, &change(&[&cards[1], &cards[0]], &daily(700))).await.ok(202);
    assert_eq!(keys(&accepted), ["message", "setLimitsCardsId"]);
    assert!(!text(&accepted["message"]).is_empty());
    let id = text(&accepted["setLimitsCardsId"]);
    let expect_state = async |state: &str| {
        for path in [STATUS, "/v1/limits/status/"] {
            let shown = api.post(path, &named(&id)).await.ok(200);
            assert_eq!(shown, json!({"message": state, "setLimitsCardsId": id}));
        }
    };
    expect_state("NEW").await;
    result(&api, &id).await.refused(409, "request_not_processed");
    server.clock.advance(Duration::seconds(3));
    let worker = server.application.worker(server.bank.clone());
    let errands = worker.take().unwrap();
    expect_state("IN_PROCESS").await;
    result(&api, &id).await.refused(409, "request_not_processed");
    cancel(&api, &id).await.refused(409, "request_not_cancellable");
    assert_eq!(limit_of(&api, &cards[0]).await, unlimited());
    for errand in errands {
        worker.settle(worker.call(errand)).unwrap();
    }
    expect_state("SUCCESS").await;
    let item = |card: &str| json!({"idCard": card, "resultLimit": true, "errorLimit": null});
    for path in [format!("/v1/limits/result/{id}"), format!("/v1/limits/result/{id}/")] {
        let shown = api.get(&path).await.ok(200);
        assert_eq!(shown, json!({"data": [item(&cards[1]), item(&cards[0])]}), "in the order of the request");
    }
    for card in &cards {
        assert_eq!(limit_of(&api, card).await, shown_daily(700), "at once");
    }
    cancel(&api, &id).await.refused(409, "request_not_cancellable");
}

#[tokio::test]
async fn every_shape_of_limit_shows_on_the_card() {
    let (server, api) = start(0).await;
    let card = cards(&api, &server, 1).await.remove(0);
    assert_eq!(limit_of(&api, &card).await, unlimited(), "of a new card");
    let window = |from: &str, to: &str| json!({"from": from, "to": to});
    let windows = json!([window("22:00", "06:00"), window("12:00", "13:00"), window("06:00", "12:00")]);
    let ten: Vec<Value> =
        (0..10).map(|hour| window(&format!("{hour:02}:00"), &format!("{hour:02}:30"))).collect();
    let shown = |amount: Value, period: Value, days: Value, times: Value| json!({"unlimited": false, "amount": amount, "period": period, "days": days, "times": times});
    let none = || json!([]);
    let null = || Value::Null;
    let mut cases = vec![
        (json!({"unlimited": false, "amount": 1, "period": "CDAY"}), shown_daily(1)),
        (
            json!({"unlimited": null, "amount": i64::MAX, "period": "CWEEK", "days": null, "times": []}),
            shown(json!(i64::MAX), json!("CWEEK"), none(), none()),
        ),
        (json!({"amount": 5, "period": "CMONTH"}), shown(json!(5), json!("CMONTH"), none(), none())),
        (json!({"amount": 5, "period": "CQUARTET"}), shown(json!(5), json!("CQUARTET"), none(), none())),
        (json!({"days": [7, 1, 3]}), shown(null(), null(), json!([1, 3, 7]), none())),
        (json!({"times": windows}), shown(null(), null(), none(), windows.clone())),
        (
            json!({"times": [window("00:00", "24:00")]}),
            shown(null(), null(), none(), json!([window("00:00", "24:00")])),
        ),
        (json!({"times": ten}), shown(null(), null(), none(), json!(ten))),
        (
            json!({"amount": 9, "period": "CDAY", "days": [6], "times": windows, "note": "unknown"}),
            shown(json!(9), json!("CDAY"), json!([6]), windows.clone()),
        ),
        (json!({"unlimited": true}), unlimited()),
    ];
    cases.push((daily(8), shown_daily(8)));
    let beside = json!({"unlimited": true, "amount": null, "period": null, "days": [], "times": []});
    cases.push((beside, unlimited()));
    for merchants in [json!({"only": ["5812", "5411-5499", "5812"]}), json!({"except": ["0000-9999"]})] {
        let mut expected = shown(null(), null(), none(), none());
        expected["merchantCategories"] = merchants.clone();
        cases.push((json!({"merchantCategories": merchants}), expected));
    }
    let mut all = shown(json!(9), json!("CDAY"), json!([6]), windows);
    all["merchantCategories"] = json!({"only": ["5812"]});
    let mut asked = all.clone();
    asked["merchantCategories"]["except"] = Value::Null;
    cases.push((asked, all));
    let absent = json!({"days": [1], "merchantCategories": {"only": null}});
    cases.push((absent, shown(null(), null(), json!([1]), none())));
    for (asked, expected) in cases {
        let id = set(&api, &[&card], &asked).await;
        server.run_jobs();
        assert_eq!(outcome(&api, &id).await, ("SUCCESS".to_owned(), vec![None]), "{asked}");
        assert_eq!(limit_of(&api, &card).await, expected, "{asked}");
    }
}

/// Free, linked in any way, blocked at the bank, not activated.
#[tokio::test]
async fn any_card_of_the_partner_can_have_limits() {
    let (server, api) = start(5_000).await;
    api.post("/v1/order/virtualcards", &virtual_order(1, 5_000)).await.ok(202);
    server.run_jobs();
    let sleeping = api.free().await.remove(0).id;
    let plastic = api.plastic(&server, 5).await;
    let employee = api.employee("A").await;
    for (card, status) in plastic.iter().zip(["MAIN", "ADDITIONAL", "TEMPORARILY_BLOCKED"]) {
        api.link(&employee, &card.number, status).await.ok(200);
    }
    api.sandbox(&plastic[4].id, "block").await;
    let mut all: Vec<&str> = plastic.iter().map(|card| card.id.as_str()).collect();
    all.push(&sleeping);
    let id = set(&api, &all, &daily(300)).await;
    server.run_jobs();
    assert_eq!(outcome(&api, &id).await, ("SUCCESS".to_owned(), vec![None; 6]));
    for card in all {
        assert_eq!(limit_of(&api, card).await, shown_daily(300));
    }
}

#[tokio::test]
async fn a_replenishment_and_a_change_do_not_stand_in_each_others_way() {
    let (server, api) = start(1_000).await;
    let card = api.main_cards(&server, 1).await.remove(0);
    let top_up = api.top_up(&[(&card, 500)]).await;
    let id = set(&api, &[&card], &daily(1)).await;
    server.run_jobs();
    assert_eq!(
        (api.top_up_state(&top_up).await, state(&api, &id).await),
        ("SUCCESS".into(), "SUCCESS".into())
    );
    let id = set(&api, &[&card], &daily(2)).await;
    let top_up = api.top_up(&[(&card, 500)]).await;
    server.run_jobs();
    assert_eq!(
        (api.top_up_state(&top_up).await, state(&api, &id).await),
        ("SUCCESS".into(), "SUCCESS".into())
    );
    assert_eq!(limit_of(&api, &card).await, shown_daily(2));
    api.expect_money(0, 0).await;
}

#[tokio::test]
async fn a_new_change_can_be_cancelled() {
    let (server, api) = start(0).await;
    let card = cards(&api, &server, 1).await.remove(0);
    let id = set(&api, &[&card], &daily(1)).await;
    for path in [CANCEL, "/v1/limits/cancel/"] {
        let shown = api.post(path, &named(&id)).await.ok(200);
        assert_eq!(shown, json!({"message": "REJECTED", "setLimitsCardsId": id}), "twice is as once");
    }
    assert_eq!(state(&api, &id).await, "REJECTED");
    result(&api, &id).await.refused(409, "request_cancelled");
    let again = set(&api, &[&card], &daily(2)).await;
    server.run_jobs();
    assert_eq!(state(&api, &id).await, "REJECTED");
    assert_eq!(outcome(&api, &again).await.0, "SUCCESS");
    assert_eq!(limit_of(&api, &card).await, shown_daily(2));
    cancel(&api, &again).await.refused(409, "request_not_cancellable");
}

/// A card that expires at the bank after the request was accepted.
#[tokio::test]
async fn a_card_that_the_bank_refuses_keeps_its_limit() {
    let (server, api) = start(0).await;
    let cards = cards(&api, &server, 3).await;
    let [sound, first, second] = [0, 1, 2].map(|place: usize| cards[place].as_str());
    let part = set(&api, &[first, sound], &daily(5)).await;
    let none = set(&api, &[second], &daily(5)).await;
    api.sandbox(first, "expire").await;
    api.sandbox(second, "expire").await;
    server.run_jobs();
    let refused = || Some(EXPIRED.to_owned());
    assert_eq!(outcome(&api, &part).await, ("PART_SUCCESS".to_owned(), vec![refused(), None]));
    assert_eq!(outcome(&api, &none).await, ("DECLINE".to_owned(), vec![refused()]));
    assert_eq!(limit_of(&api, sound).await, shown_daily(5));
    assert_eq!(limit_of(&api, first).await, unlimited());
    assert_eq!(limit_of(&api, second).await, unlimited());
    for id in [&part, &none] {
        cancel(&api, id).await.refused(409, "request_not_cancellable");
    }
    assert_eq!(api.column("/v1/limits?status=PART_SUCCESS", "setLimitsCardsId").await, [json!(part)]);
}

#[tokio::test]
async fn the_list_shows_the_newest_first() {
    let (server, api) = start(0).await;
    let cards = cards(&api, &server, 3).await;
    let all: Vec<&str> = cards.iter().map(String::as_str).collect();
    let empty = api.get("/v1/limits").await.ok(200);
    assert_eq!((&empty["data"], &empty["meta"]["total"]), (&json!([]), &json!(0)));
    let mut ids = Vec::new();
    for count in 1..=3 {
        ids.insert(0, set(&api, &all[..count], &daily(1)).await);
        if count == 2 {
            cancel(&api, &ids[0]).await.ok(200);
        } else {
            server.run_jobs();
        }
    }
    let list = api.get("/v1/limits").await.ok(200);
    let meta = ["current_page", "from", "last_page", "path", "per_page", "to", "total"];
    assert_eq!((keys(&list), keys(&list["meta"])), (vec!["data", "meta"], meta.to_vec()));
    assert_eq!((&list["meta"]["path"], &list["meta"]["per_page"]), (&json!("/v1/limits"), &json!(15)));
    // Made at 12:00 by the clock of the service: each delay lets three seconds pass.
    let item = |place: usize, status: &str, count: u32| {
        json!({"setLimitsCardsId": ids[place], "status": status, "numberCards": count,
            "createdAt": "02.03.2026 12:00", "statusUpdatedAt": "02.03.2026 12:00", "reference": null})
    };
    let expected = [item(0, "SUCCESS", 3), item(1, "REJECTED", 2), item(2, "SUCCESS", 1)];
    assert_eq!(list["data"], json!(expected));
    let column = async |query: &str| api.column(&format!("/v1/limits?{query}"), "setLimitsCardsId").await;
    assert_eq!(column("per_page=2&page=2").await, [json!(ids[2])]);
    assert_eq!(column("status=SUCCESS").await, [json!(ids[0]), json!(ids[2])]);
    assert_eq!(column("status=SUCCESS&perPage=1&page=2").await, [json!(ids[2])]);
    assert_eq!(column("status=NEW").await, [""; 0]);
    assert_eq!(column("page=9").await, [""; 0]);
    api.get("/v1/limits?status=DONE&page=0").await.faulty(&["page", "status"]);
}

/// It is a `POST` that reads: the same nonce asks again and gets the state of that moment.
#[tokio::test]
async fn the_status_records_nothing() {
    let (server, api) = start(0).await;
    let card = cards(&api, &server, 1).await.remove(0);
    let id = set(&api, &[&card], &daily(1)).await;
    let (body, nonce) = (named(&id).to_string(), nonce());
    let ask = || api.send(Method::POST, STATUS, body.clone(), &nonce);
    for _ in 0..2 {
        assert_eq!(ask().await.ok(200)["message"], json!("NEW"));
    }
    server.run_jobs();
    assert_eq!(ask().await.ok(200)["message"], json!("SUCCESS"));
    let cancelled = api.send(Method::POST, CANCEL, body.clone(), &nonce).await;
    cancelled.refused(409, "request_not_cancellable");
}

#[tokio::test]
async fn a_retry_makes_one_change() {
    let (server, api) = start(0).await;
    let card = cards(&api, &server, 1).await.remove(0);
    let (body, nonce) = (change(&[&card], &daily(1)).to_string(), nonce());
    let first = api.send(Method::POST, SET, body.clone(), &nonce).await;
    let again = api.send(Method::POST, SET, body, &nonce).await;
    assert_eq!((first.status, &first.text), (202, &again.text));
    let other = change(&[&card], &daily(2)).to_string();
    api.send(Method::POST, SET, other, &nonce).await.faulty(&["x-nonce"]);
    assert_eq!(api.column("/v1/limits", "status").await, [json!("NEW")]);
    server.run_jobs();
    assert_eq!(limit_of(&api, &card).await, shown_daily(1));
}

#[tokio::test]
async fn of_two_calls_for_one_card_exactly_one_wins() {
    let (server, api) = start(0).await;
    let cards = cards(&api, &server, 3).await;
    for _ in 0..5 {
        let (one, two) =
            (change(&[&cards[0], &cards[1]], &daily(1)), change(&[&cards[1], &cards[2]], &daily(2)));
        let (one, two) = tokio::join!(api.post(SET, &one), api.post(SET, &two));
        let (won, lost) = if one.status == 202 { (one, two) } else { (two, one) };
        let id = text(&won.ok(202)["setLimitsCardsId"]);
        lost.faulty_cards(409, &[("card_in_request", &cards[1])]);
        cancel(&api, &id).await.ok(200);
    }
    assert_eq!(server.check(), 0);
}

/// More cards than a worker tells the bank at a time; another request has its turn in between.
#[tokio::test]
async fn a_change_of_many_cards_is_done_chunk_by_chunk() {
    let (server, api) = start(0).await;
    api.post("/v1/order/plasticcards", &crate::api_client::plastic_order(1_101, "Nevsky 1")).await.ok(202);
    server.run_jobs();
    let mut ids = Vec::new();
    for page in 1..=3 {
        ids.extend(api.column(&format!("/v1/cards/available?per_page=500&page={page}"), "idCard").await);
    }
    let ids: Vec<&str> = ids.iter().map(|id| id.as_str().unwrap()).collect();
    let large = set(&api, &ids[..1_100], &daily(1)).await;
    let small = set(&api, &ids[1_100..], &daily(2)).await;
    server.clock.advance(Duration::seconds(3));
    let worker = server.application.worker(server.bank.clone());
    worker.run_once(&|| false).unwrap();
    assert_eq!(
        (state(&api, &large).await, state(&api, &small).await),
        ("IN_PROCESS".into(), "SUCCESS".into())
    );
    assert_eq!(limit_of(&api, ids[0]).await, shown_daily(1), "what is done is shown");
    server.work_now();
    assert_eq!(outcome(&api, &large).await, ("SUCCESS".to_owned(), vec![None; 1_100]));
    assert_eq!(limit_of(&api, ids[1_099]).await, shown_daily(1));
}

#[tokio::test]
async fn the_client_sets_and_follows() {
    let (server, client) = start_client(0);
    client.orders().plastic(&[plastic_item(2)]).await.unwrap();
    server.run_jobs();
    let available = client.cards().available(None, Paging::default()).await.unwrap().data;
    let cards: Vec<Uuid> = available.iter().map(|card| card.id_card).collect();
    let limit = CardLimit::per(LimitPeriod::Month, 500_000)
        .on_days([Weekday::Monday, Weekday::Friday])
        .within([TimeWindow::new("08:00", "24:00")]);
    let accepted = client.limits().set(&cards, &limit).await.unwrap();
    let id = accepted.set_limits_cards_id;
    assert!(!accepted.message.is_empty());
    assert_eq!(client.limits().status(id).await.unwrap().state, RequestState::New);
    let early = client.limits().result(id).await.unwrap_err();
    assert_eq!(early.code(), Some(&ErrorCode::RequestNotProcessed));
    server.run_jobs();
    let mut seen = Vec::new();
    let last = client.limits().wait(id, Wait::default(), |state| seen.push(state.clone())).await.unwrap();
    assert_eq!((last, seen), (RequestState::Success, vec![RequestState::Success]));
    let result = client.limits().result(id).await.unwrap();
    assert_eq!(result.iter().map(|item| item.id_card).collect::<Vec<_>>(), cards);
    assert!(result.iter().all(|item| item.result_limit && item.error_limit.is_none()));
    assert_eq!(client.cards().info(cards[0]).await.unwrap().limit, limit);

    let second = client.limits().set(&cards[..1], &CardLimit::unlimited()).await.unwrap().set_limits_cards_id;
    let busy = client.limits().set(&cards, &limit).await.unwrap_err();
    let Error::Cards { status: 409, faults, .. } = busy else { panic!("{busy}") };
    assert_eq!((faults.len(), faults[0].id_card), (1, Some(cards[0])));
    assert_eq!(faults[0].code, Some(ErrorCode::CardInRequest));
    assert_eq!(client.limits().cancel(second).await.unwrap().state, RequestState::Rejected);
    let cancelled = client.limits().result(second).await.unwrap_err();
    assert_eq!(cancelled.code(), Some(&ErrorCode::RequestCancelled));
    let list = client.limits().list(&RequestFilter::default(), Paging::default()).await.unwrap();
    assert_eq!(list.data.iter().map(|change| change.set_limits_cards_id).collect::<Vec<_>>(), [second, id]);
    let change = &list.data[1];
    assert_eq!((change.number_cards, change.created_at), (2, datetime!(2026-03-02 12:00)));
    let rejected = client
        .limits()
        .list(&RequestFilter::in_state(RequestState::Rejected), Paging::default())
        .await
        .unwrap();
    assert_eq!(rejected.meta.total, Some(1));
}
