//! Limit changes that are refused, and why.

use kopeck_client::{CardLimit, Error, ErrorCode, LimitPeriod, Paging, Uuid};
use kopeck_domain::partner::SealingPolicy;
use reqwest::Method;
use serde_json::{Value, json};
use time::Duration;

use crate::api_client::{Api, UNKNOWN_ID, nonce, plastic_item, start, start_client};
use crate::limits::{
    CANCEL, SET, STATUS, cancel, cards, change, daily, limit_of, named, outcome, result, set, state,
    unlimited,
};

#[tokio::test]
async fn each_setting_of_a_limit_has_its_rule() {
    let (server, api) = start(0).await;
    let card = cards(&api, &server, 1).await.remove(0);
    let (amount, period) = ("limit.amount", "limit.period");
    let times = |from: Value, to: Value| json!({"times": [{"from": from, "to": to}]});
    let (from, to) = ("limit.times[0].from", "limit.times[0].to");
    let merchants = |merchants: Value| json!({"days": [1], "merchantCategories": merchants});
    let only = "limit.merchantCategories.only";
    let only_items = [1, 2, 3].map(|index| format!("{only}[{index}]"));
    let only_items = only_items.each_ref().map(String::as_str);
    let eleven: Vec<Value> =
        (0..11).map(|hour| json!({"from": format!("{hour:02}:00"), "to": format!("{hour:02}:30")})).collect();
    let overlap = |first: [&str; 2], second: [&str; 2]| {
        let window = |[from, to]: [&str; 2]| json!({"from": from, "to": to});
        json!({"times": [window(first), window(second)]})
    };
    for (limit, fields) in [
        (Value::Null, vec!["limit"]),
        (json!([]), vec!["limit"]),
        (json!("none"), vec!["limit"]),
        (json!({}), vec!["limit"]),
        (json!({"unlimited": false}), vec!["limit"]),
        (json!({"days": []}), vec!["limit"]),
        (json!({"times": []}), vec!["limit"]),
        (json!({"unlimited": false, "days": [], "times": []}), vec!["limit"]),
        (json!({"merchantCategories": {"only": null}}), vec!["limit"]),
        (merchants(json!(["5812"])), vec!["limit.merchantCategories"]),
        (merchants(json!({"only": ["1"], "except": ["2"]})), vec!["limit.merchantCategories"]),
        (merchants(json!({"only": []})), vec![only]),
        (merchants(json!({"only": vec!["5812"; 101]})), vec![only]),
        (merchants(json!({"only": ["5812", "581", "5499-5411", 5812]})), only_items.to_vec()),
        (json!({"unlimited": 1}), vec!["limit.unlimited"]),
        (json!({"unlimited": "true"}), vec!["limit.unlimited"]),
        (json!({"amount": 5}), vec![period]),
        (json!({"period": "CDAY"}), vec![amount]),
        (json!({"amount": 0, "period": "CDAY"}), vec![amount]),
        (json!({"amount": -1, "period": "CDAY"}), vec![amount]),
        (json!({"amount": "5", "period": "CDAY"}), vec![amount]),
        (json!({"amount": 1.5, "period": "CDAY"}), vec![amount]),
        (json!({"amount": 5, "period": "CYEAR"}), vec![period]),
        (json!({"amount": 5, "period": "cday"}), vec![period]),
        (json!({"amount": 0, "period": 7}), vec![amount, period]),
        (json!({"days": [0]}), vec!["limit.days"]),
        (json!({"days": [8]}), vec!["limit.days"]),
        (json!({"days": [1, 1]}), vec!["limit.days"]),
        (json!({"days": ["1"]}), vec!["limit.days"]),
        (json!({"days": 1}), vec!["limit.days"]),
        (json!({"times": eleven}), vec!["limit.times"]),
        (json!({"times": {}}), vec!["limit.times"]),
        (json!({"times": ["08:00-12:00"]}), vec!["limit.times[0]"]),
        (times(json!("08:00"), json!("08:00")), vec![to]),
        (times(json!("24:00"), json!("08:00")), vec![from]),
        (times(json!("08:00"), json!("24:01")), vec![to]),
        (times(json!("8:00"), json!("25:00")), vec![from, to]),
        (times(json!(8), Value::Null), vec![from, to]),
        (overlap(["08:00", "12:00"], ["11:59", "13:00"]), vec!["limit.times[1]"]),
        (overlap(["22:00", "06:00"], ["05:00", "07:00"]), vec!["limit.times[1]"]),
        (
            json!({"amount": 0, "period": "X", "days": [9], "times": [7]}),
            vec![amount, period, "limit.days", "limit.times[0]"],
        ),
        (json!({"unlimited": true, "amount": 0, "period": "CDAY"}), vec![amount]),
    ] {
        api.post(SET, &change(&[&card], &limit)).await.faulty(&fields);
    }
    assert_eq!(api.column("/v1/limits", "status").await, [""; 0], "nothing was accepted");
}

#[tokio::test]
async fn all_faults_of_a_change_are_reported_at_once() {
    let (server, api) = start(0).await;
    let card = cards(&api, &server, 1).await.remove(0);
    for data in [json!(null), json!([]), json!({}), json!("x"), json!(1)] {
        api.post(SET, &json!({"data": data, "limit": daily(1)})).await.faulty(&["data"]);
    }
    api.post(SET, &json!({})).await.faulty(&["data", "limit"]);
    api.post(SET, &Value::Null).await.faulty(&["body"]);
    api.send(Method::POST, SET, "[1]".to_owned(), &nonce()).await.faulty(&["body"]);
    for id in [json!(""), json!("x"), json!(1), json!(null), json!(card.replace('-', ""))] {
        let body = json!({"data": [{"idCard": id}], "limit": daily(1)});
        api.post(SET, &body).await.faulty(&["data[0].idCard"]);
    }
    let twice = json!({"idCard": card.to_uppercase()});
    let body = json!({"data": [{"idCard": card}, {}, 7, twice], "limit": daily(0)});
    let all = ["data[1].idCard", "data[2]", "data[3].idCard", "limit.amount"];
    api.post(SET, &body).await.faulty(&all);
    api.post(SET, &change(&[&card, UNKNOWN_ID, &card], &daily(1))).await.faulty(&["data[2].idCard"]);
}

#[tokio::test]
async fn a_change_has_at_most_10_000_cards() {
    let (_server, api) = start(0).await;
    let ids: Vec<String> = (0..10_001_u128).map(|number| Uuid::from_u128(number).to_string()).collect();
    let cards: Vec<&str> = ids.iter().map(String::as_str).collect();
    api.post(SET, &change(&cards, &daily(1))).await.faulty(&["data"]);
    let unknown: Vec<(&str, &str)> = cards[..10_000].iter().map(|id| ("card_not_found", *id)).collect();
    api.post(SET, &change(&cards[..10_000], &daily(1))).await.faulty_cards(404, &unknown);
}

#[tokio::test]
async fn unlimited_beside_another_setting_is_a_conflict() {
    let (server, api) = start(0).await;
    let cards = cards(&api, &server, 2).await;
    let id = set(&api, &[&cards[1]], &daily(1)).await;
    for beside in [
        daily(5),
        json!({"days": [1]}),
        json!({"times": [{"from": "08:00", "to": "12:00"}]}),
        json!({"merchantCategories": {"except": ["5812"]}}),
        json!({"amount": 5}),
        json!({"period": "CDAY"}),
    ] {
        let mut limit = beside;
        limit["unlimited"] = json!(true);
        api.post(SET, &change(&[&cards[0]], &limit)).await.refused(409, "limit_conflict");
        // Unknown cards are reported before it, and it before a temporary fault: a card in another change.
        let unknown = change(&[UNKNOWN_ID, &cards[1]], &limit);
        api.post(SET, &unknown).await.faulty_cards(404, &[("card_not_found", UNKNOWN_ID)]);
        api.post(SET, &change(&[&cards[1]], &limit)).await.refused(409, "limit_conflict");
        api.post(SET, &change(&["x"], &limit)).await.faulty(&["data[0].idCard"]);
    }
    cancel(&api, &id).await.ok(200);
}

#[tokio::test]
async fn faulty_cards_are_listed_one_by_one_the_unknown_first() {
    let (server, api) = start(0).await;
    let cards = cards(&api, &server, 3).await;
    let [free, busy, expired] = [0, 1, 2].map(|place: usize| cards[place].as_str());
    let other = Uuid::from_u128(1).to_string();
    api.sandbox(expired, "expire").await;
    let id = set(&api, &[busy], &daily(1)).await;
    let all = change(&[&other, free, busy, UNKNOWN_ID, expired], &daily(2));
    api.post(SET, &all)
        .await
        .faulty_cards(404, &[("card_not_found", &other), ("card_not_found", UNKNOWN_ID)]);
    let known = change(&[expired, free, busy], &daily(2));
    let conflicts = [("card_expired", expired), ("card_in_request", busy)];
    api.post(SET, &known).await.faulty_cards(409, &conflicts);
    server.clock.advance(Duration::seconds(3));
    let errands = server.application.worker(server.bank.clone()).take().unwrap();
    assert_eq!(state(&api, &id).await, "IN_PROCESS");
    api.post(SET, &known).await.faulty_cards(409, &conflicts);
    drop(errands);
    server.clock.advance(Duration::minutes(1));
    server.work_now();
    assert_eq!(outcome(&api, &id).await, ("SUCCESS".to_owned(), vec![None]), "taken over by another worker");
    api.post(SET, &known).await.faulty_cards(409, &conflicts[..1]);
    assert_eq!(limit_of(&api, free).await, unlimited());
}

#[tokio::test]
async fn an_identifier_is_required() {
    let (_server, api) = start(0).await;
    for path in [STATUS, CANCEL] {
        api.post(path, &named(UNKNOWN_ID)).await.refused(404, "request_not_found");
        for id in [json!("x"), json!(1), json!(null), json!("")] {
            api.post(path, &json!({"setLimitsCardsId": id})).await.faulty(&["setLimitsCardsId"]);
        }
        api.post(path, &json!({})).await.faulty(&["setLimitsCardsId"]);
        api.post(path, &Value::Null).await.faulty(&["body"]);
        api.get(path).await.refused(405, "method_not_allowed");
    }
    result(&api, UNKNOWN_ID).await.refused(404, "request_not_found");
    result(&api, "x").await.faulty(&["setLimitsCardsId"]);
    api.get(SET).await.refused(405, "method_not_allowed");
}

#[tokio::test]
async fn a_change_is_its_partners_own() {
    let (server, api) = start(0).await;
    let card = cards(&api, &server, 1).await.remove(0);
    let id = set(&api, &[&card], &daily(1)).await;
    let stranger = Api::login(&server, &server.partner(SealingPolicy::Optional, 0)).await;
    stranger.post(STATUS, &named(&id)).await.refused(404, "request_not_found");
    cancel(&stranger, &id).await.refused(404, "request_not_found");
    result(&stranger, &id).await.refused(404, "request_not_found");
    stranger.post(SET, &change(&[&card], &daily(9))).await.faulty_cards(404, &[("card_not_found", &card)]);
    assert_eq!(stranger.column("/v1/limits", "status").await, [""; 0]);
    server.run_jobs();
    assert_eq!(outcome(&api, &id).await.0, "SUCCESS");
    result(&stranger, &id).await.refused(404, "request_not_found");
}

#[tokio::test]
async fn the_client_reports_what_is_wrong() {
    let (server, client) = start_client(0);
    client.orders().plastic(&[plastic_item(1)]).await.unwrap();
    server.run_jobs();
    let card = client.cards().available(None, Paging::default()).await.unwrap().data[0].id_card;
    let conflicting = CardLimit { unlimited: true, ..CardLimit::per(LimitPeriod::Day, 1) };
    let error = client.limits().set(&[card], &conflicting).await.unwrap_err();
    assert!(matches!(error, Error::Api { status: 409, code: Some(ErrorCode::LimitConflict), .. }), "{error}");
    let error = client.limits().set(&[Uuid::nil()], &CardLimit::unlimited()).await.unwrap_err();
    let Error::Cards { status: 404, faults, .. } = error else { panic!("{error}") };
    assert_eq!((faults[0].id_card, &faults[0].code), (Some(Uuid::nil()), &Some(ErrorCode::CardNotFound)));
    let error = client.limits().set(&[card], &CardLimit::default()).await.unwrap_err();
    let Error::Invalid { faults, .. } = error else { panic!("{error}") };
    assert_eq!(faults[0].field, "limit");
    for error in [
        client.limits().status(Uuid::nil()).await.unwrap_err(),
        client.limits().result(Uuid::nil()).await.unwrap_err(),
        client.limits().cancel(Uuid::nil()).await.unwrap_err(),
    ] {
        assert_eq!((error.status(), error.code()), (Some(404), Some(&ErrorCode::RequestNotFound)));
    }
}
