//! Replenishments over HTTP.

use kopeck_client::{Error, ErrorCode, NewEmployee, Paging, RequestFilter, RequestState, TopUp, Uuid, Wait};
use kopeck_domain::card_number::CardNumber;
use kopeck_port_bank::sandbox::SandboxControl as _;
use reqwest::Method;
use serde_json::{Value, json};
use time::Duration;

use crate::api_client::{
    Api, UNKNOWN_ID, keys, nonce, plastic_item, start, start_client, text, top_ups, virtual_order,
};
use crate::server::TestServer;

const CREATE: &str = "/v1/replenishment";
pub const NOT_COVERED: &str = "not enough partner balance";
const OVER: &str = "over the amount by which the card can be topped up";
const BLOCKED: &str = "the card is blocked by the bank";
const EXPIRED: &str = "the card has expired";
const NOT_ACTIVE: &str = "the card is not activated";
const REFUSED: &str = "refused by the bank";

/// The ways to ask about a request.
fn ways(what: &str, id: &str) -> [String; 5] {
    [
        format!("{CREATE}/{what}/?idReplenishment={id}"),
        format!("{CREATE}/{what}?replenishmentId={id}"),
        format!("{CREATE}/{what}/?idReplenishment={id}&replenishmentId={id}"),
        format!("{CREATE}/{id}/{what}"),
        format!("{CREATE}/{id}/{what}/"),
    ]
}

async fn cancel(api: &Api, id: &str) -> crate::api_client::Reply {
    api.delete(&format!("{CREATE}/{id}")).await
}

/// The outcome of each card: the reason, or `None` if it was topped up.
pub async fn outcome(api: &Api, id: &str) -> (String, Vec<Option<String>>) {
    let result = api.get(&format!("{CREATE}/{id}/result")).await.ok(200);
    let mut reasons = Vec::new();
    for item in result["data"].as_array().unwrap() {
        let reason = item["errorReplenishment"].as_str().map(str::to_owned);
        assert_eq!(item["resultReplenishment"], json!(reason.is_none()));
        reasons.push(reason);
    }
    (api.top_up_state(id).await, reasons)
}

async fn balance_of(api: &Api, server: &TestServer, card: &str) -> i64 {
    server.clock.advance(crate::server::SETTINGS.card_cache);
    api.get(&format!("/v1/card/{card}/balance")).await.ok(200)["balance"].as_i64().unwrap()
}

#[tokio::test]
async fn a_request_is_followed_in_every_form_to_its_result() {
    let (server, api) = start(1_000_000).await;
    let cards = api.main_cards(&server, 2).await;
    let accepted = api.post(CREATE, &top_ups(&[(&cards[0], 100_001), (&cards[1], 1)])).await.ok(202);
    assert_eq!(keys(&accepted), ["message", "replenishmentId"]);
    assert!(!text(&accepted["message"]).is_empty());
    let id = text(&accepted["replenishmentId"]);
    let expect_state = async |state: &str| {
        for way in ways("status", &id) {
            assert_eq!(
                api.get(&way).await.ok(200),
                json!({"message": state, "replenishmentId": id}),
                "{way}"
            );
        }
    };
    expect_state("NEW").await;
    api.expect_money(1_000_000, 0).await;
    server.clock.advance(Duration::seconds(3));
    let worker = server.application.worker(server.bank.clone());
    let errands = worker.take().unwrap();
    expect_state("IN_PROCESS").await;
    api.expect_money(1_000_000, 100_002).await;
    for way in ways("result", &id) {
        api.get(&way).await.refused(409, "request_not_processed");
    }
    cancel(&api, &id).await.refused(409, "request_not_cancellable");
    let reports: Vec<_> = errands.into_iter().map(|errand| worker.call(errand)).collect();
    expect_state("IN_PROCESS").await;
    api.expect_money(1_000_000, 100_002).await;
    reports.into_iter().for_each(|report| worker.settle(report).unwrap());
    expect_state("SUCCESS").await;
    api.expect_money(899_998, 0).await;
    let item = |card: &str, amount: i64| json!({"idCard": card, "resultReplenishment": true, "amountReplenishment": amount, "errorReplenishment": null});
    for way in ways("result", &id) {
        assert_eq!(
            api.get(&way).await.ok(200),
            json!({"data": [item(&cards[0], 100_001), item(&cards[1], 1)]}),
            "{way}"
        );
    }
    cancel(&api, &id).await.refused(409, "request_not_cancellable");
    assert_eq!(
        (balance_of(&api, &server, &cards[0]).await, balance_of(&api, &server, &cards[1]).await),
        (100_001, 1)
    );
}

#[tokio::test]
async fn an_identifier_is_required() {
    let (_server, api) = start(0).await;
    for what in ["status", "result"] {
        for way in ways(what, UNKNOWN_ID) {
            api.get(&way).await.refused(404, "request_not_found");
        }
        api.get(&format!("{CREATE}/{what}/")).await.faulty(&["idReplenishment"]);
        api.get(&format!("{CREATE}/{what}/?idReplenishment=x")).await.faulty(&["idReplenishment"]);
        api.get(&format!("{CREATE}/{what}?replenishmentId=")).await.faulty(&["replenishmentId"]);
        api.get(&format!("{CREATE}/x/{what}")).await.faulty(&["replenishmentId"]);
        let body = json!({"idReplenishment": UNKNOWN_ID});
        api.call(Method::GET, &format!("{CREATE}/{what}/"), &body).await.refused(404, "request_not_found");
    }
    cancel(&api, UNKNOWN_ID).await.refused(404, "request_not_found");
    cancel(&api, "x").await.faulty(&["replenishmentId"]);
}

#[tokio::test]
async fn each_field_has_its_rule_and_all_faults_are_reported() {
    let (server, api) = start(0).await;
    let card = api.main_cards(&server, 1).await.remove(0);
    for cards in [json!(null), json!([]), json!({}), json!("x"), json!(1)] {
        api.post(CREATE, &json!({"cards": cards})).await.faulty(&["cards"]);
    }
    api.post(CREATE, &json!({})).await.faulty(&["cards"]);
    api.post(CREATE, &Value::Null).await.faulty(&["body"]);
    api.send(Method::POST, CREATE, "[1]".to_owned(), &nonce()).await.faulty(&["body"]);
    for amount in [
        json!(0),
        json!(-1),
        json!(100_000_001),
        json!("5"),
        json!(1.5),
        json!(null),
        json!(i64::MAX),
        json!(1e30),
    ] {
        let body = json!({"cards": [{"idCard": card, "amountReplenishment": amount}]});
        api.post(CREATE, &body).await.faulty(&["cards[0].amountReplenishment"]);
    }
    for id in [json!(""), json!("x"), json!(1), json!(null), json!(card.replace('-', ""))] {
        let body = json!({"cards": [{"idCard": id, "amountReplenishment": 1}]});
        api.post(CREATE, &body).await.faulty(&["cards[0].idCard"]);
    }
    let upper = json!({"idCard": card.to_uppercase(), "amountReplenishment": 0});
    let body = json!({"cards": [{"idCard": card, "amountReplenishment": 1}, {}, 7, upper]});
    let all = [
        "cards[1].idCard",
        "cards[1].amountReplenishment",
        "cards[2]",
        "cards[3].idCard",
        "cards[3].amountReplenishment",
    ];
    api.post(CREATE, &body).await.faulty(&all);
    api.post(CREATE, &top_ups(&[(&card, 1), (UNKNOWN_ID, 1), (&card, 2)])).await.faulty(&["cards[2].idCard"]);
    for amount in [1, 100_000_000] {
        let id = api.top_up(&[(&card, amount)]).await;
        cancel(&api, &id).await.ok(200);
    }
}

#[tokio::test]
async fn a_request_has_at_most_10_000_cards() {
    let (_server, api) = start(0).await;
    let ids: Vec<String> = (0..10_001_u128).map(|number| Uuid::from_u128(number).to_string()).collect();
    let cards: Vec<(&str, i64)> = ids.iter().map(|id| (id.as_str(), 100_000_000)).collect();
    api.post(CREATE, &top_ups(&cards)).await.faulty(&["cards"]);
    let unknown: Vec<(&str, &str)> = cards[..10_000].iter().map(|(id, _)| ("card_not_found", *id)).collect();
    api.post(CREATE, &top_ups(&cards[..10_000])).await.faulty_cards(404, &unknown);
}

#[tokio::test]
async fn faulty_cards_are_listed_one_by_one_the_unknown_first() {
    let (server, api) = start(1_000).await;
    let free = api.plastic(&server, 5).await;
    let employee = api.employee("A").await;
    for (card, status) in free.iter().zip(["MAIN", "ADDITIONAL", "TEMPORARILY_BLOCKED"]) {
        api.link(&employee, &card.number, status).await.ok(200);
    }
    api.link(&api.employee("B").await, &free[3].number, "MAIN").await.ok(200);
    let [main, additional, blocked, expired, unlinked] =
        [0, 1, 2, 3, 4].map(|place: usize| free[place].id.as_str());
    api.sandbox(expired, "expire").await;
    let other = Uuid::from_u128(1).to_string();
    let all = top_ups(&[
        (&other, 1),
        (main, 1),
        (additional, 1),
        (UNKNOWN_ID, 1),
        (expired, 1),
        (blocked, 1),
        (unlinked, 1),
    ]);
    api.post(CREATE, &all)
        .await
        .faulty_cards(404, &[("card_not_found", &other), ("card_not_found", UNKNOWN_ID)]);
    let known = top_ups(&[(additional, 1), (main, 1), (expired, 1), (blocked, 1), (unlinked, 1)]);
    let not_main = |card| ("card_not_main", card);
    let conflicts = [not_main(additional), ("card_expired", expired), not_main(blocked), not_main(unlinked)];
    api.post(CREATE, &known).await.faulty_cards(409, &conflicts);
    let id = api.top_up(&[(main, 1)]).await;
    let with_busy = [
        not_main(additional),
        ("card_in_request", main),
        ("card_expired", expired),
        not_main(blocked),
        not_main(unlinked),
    ];
    api.post(CREATE, &known).await.faulty_cards(409, &with_busy);
    server.run_jobs();
    assert_eq!(api.top_up_state(&id).await, "SUCCESS");
    api.expect_money(999, 0).await;
}

/// A virtual card that is not activated, the MAIN one of its employee.
async fn sleeping_card(api: &Api, server: &TestServer) -> String {
    let before = api.free().await;
    api.post("/v1/order/virtualcards", &virtual_order(1, 5_000)).await.ok(202);
    server.run_jobs();
    let card = api.free().await.into_iter().find(|card| !before.contains(card)).unwrap();
    api.link(&api.employee("sleeper").await, &card.number, "MAIN").await.ok(200);
    card.id
}

#[tokio::test]
async fn each_card_is_refused_for_its_own_reason_and_costs_nothing() {
    let (server, api) = start(3_005_000).await;
    let sleeping = sleeping_card(&api, &server).await;
    let cards = api.main_cards(&server, 7).await;
    api.sandbox(&cards[2], "block").await;
    // The bank knows more than the service: its copy says that the card is valid.
    let number = api.get(&format!("/v1/card/{}", cards[3])).await.ok(200)["data"]["customCardId"].to_string();
    server.bank.expire(CardNumber::parse(&number).unwrap()).unwrap();
    api.expect_money(3_000_000, 0).await;
    let asked = [
        (cards[0].as_str(), 1_499_999),
        (&cards[1], 1_500_001),
        (&cards[2], 10),
        (&cards[3], 20),
        (&sleeping, 30),
        (&cards[4], 113),
        (&cards[5], 100_000_000),
        (&cards[6], 12),
    ];
    // The first two of three millions use up the balance, so the third card is not covered.
    let id = api.top_up(&asked).await;
    server.run_jobs();
    let (state, reasons) = outcome(&api, &id).await;
    let expected = [
        None,
        Some(OVER),
        Some(NOT_COVERED),
        Some(NOT_COVERED),
        Some(NOT_COVERED),
        Some(NOT_COVERED),
        Some(NOT_COVERED),
        Some(NOT_COVERED),
    ];
    assert_eq!(
        (state.as_str(), reasons),
        ("PART_SUCCESS", expected.map(|reason| reason.map(str::to_owned)).to_vec())
    );
    api.expect_money(1_500_001, 0).await;

    let rest = [
        (cards[5].as_str(), 100_000_000),
        (&cards[2], 10),
        (&cards[3], 20),
        (&sleeping, 30),
        (&cards[4], 113),
        (&cards[6], 12),
    ];
    let expired = api.post(CREATE, &top_ups(&rest)).await.ok(202);
    let id = text(&expired["replenishmentId"]);
    server.run_jobs();
    let result = api.get(&format!("{CREATE}/{id}/result")).await.ok(200);
    let reasons = [Some(NOT_COVERED), Some(BLOCKED), Some(EXPIRED), Some(NOT_ACTIVE), Some(REFUSED), None];
    let items = rest.iter().zip(reasons).map(|((card, amount), reason)| {
        json!({"idCard": card, "resultReplenishment": reason.is_none(), "amountReplenishment": amount, "errorReplenishment": reason})
    });
    assert_eq!(result["data"], items.collect::<Value>());
    assert_eq!(api.top_up_state(&id).await, "PART_SUCCESS");
    api.expect_money(1_499_989, 0).await;

    let declined = api.top_up(&[(&cards[4], 13), (&sleeping, 1)]).await;
    server.run_jobs();
    let refusals = vec![Some(REFUSED.to_owned()), Some(NOT_ACTIVE.to_owned())];
    assert_eq!(outcome(&api, &declined).await, ("DECLINE".to_owned(), refusals));
    api.expect_money(1_499_989, 0).await;
    assert_eq!(balance_of(&api, &server, &cards[0]).await, 1_499_999);
    assert_eq!(balance_of(&api, &server, &cards[4]).await, 0);
}

#[tokio::test]
async fn a_cancelled_request_frees_its_cards_and_has_no_result() {
    let (server, api) = start(1_000).await;
    let card = api.main_cards(&server, 1).await.remove(0);
    let id = api.top_up(&[(&card, 100)]).await;
    api.post(CREATE, &top_ups(&[(&card, 1)])).await.faulty_cards(409, &[("card_in_request", &card)]);
    for _ in 0..2 {
        assert_eq!(cancel(&api, &id).await.ok(200), json!({"message": "REJECTED", "replenishmentId": id}));
    }
    assert_eq!(server.check(), 0, "no work is left of it");
    for way in ways("result", &id) {
        api.get(&way).await.refused(409, "request_cancelled");
    }
    assert_eq!(api.top_up_state(&id).await, "REJECTED");
    let again = api.top_up(&[(&card, 100)]).await;
    server.run_jobs();
    assert_eq!(outcome(&api, &again).await, ("SUCCESS".to_owned(), vec![None]));
    cancel(&api, &id).await.ok(200);
    api.expect_money(900, 0).await;
    assert_eq!(balance_of(&api, &server, &card).await, 100);
}

#[tokio::test]
async fn of_concurrent_requests_for_one_card_one_wins() {
    let (server, api) = start(1_000_000).await;
    let cards = api.main_cards(&server, 5).await;
    for round in 1..=3_i64 {
        let calls: Vec<_> = (1..5_usize)
            .cycle()
            .take(12)
            .map(|own| {
                let (api, cards) = (api.clone(), cards.clone());
                tokio::spawn(async move {
                    (own, api.post(CREATE, &top_ups(&[(&cards[own], 1), (&cards[0], 10)])).await)
                })
            })
            .collect();
        let mut accepted = 0;
        for call in calls {
            let (own, reply) = call.await.unwrap();
            if reply.status == 202 {
                accepted += 1;
                continue;
            }
            let shared = ("card_in_request", cards[0].as_str());
            let both = [("card_in_request", cards[own].as_str()), shared];
            let expected = if reply.body.as_array().unwrap().len() == 2 { &both[..] } else { &both[1..] };
            reply.faulty_cards(409, expected);
        }
        assert_eq!(accepted, 1);
        server.run_jobs();
        api.expect_money(1_000_000 - 11 * round, 0).await;
    }
    assert_eq!(balance_of(&api, &server, &cards[0]).await, 30);
}

#[tokio::test]
async fn requests_are_listed_newest_first() {
    let (server, api) = start(1_000).await;
    let cards = api.main_cards(&server, 2).await;
    let first = api.top_up(&[(&cards[0], 600), (&cards[1], 500)]).await;
    server.run_jobs();
    server.clock.advance(Duration::minutes(1));
    let second = api.top_up(&[(&cards[0], 1)]).await;
    cancel(&api, &second).await.ok(200);
    let data =
        async |query: &str| api.get(&format!("/v1/replenishments{query}")).await.ok(200)["data"].take();
    let item = |id: &str, status: &str, cards: i64, amount: i64, time: &str| {
        let time = format!("02.03.2026 {time}");
        json!({"replenishmentId": id, "status": status, "numberCards": cards, "amount": amount, "createdAt": time, "statusUpdatedAt": time,
            "reference": null})
    };
    let second = item(&second, "REJECTED", 1, 1, "12:01");
    let first = item(&first, "PART_SUCCESS", 2, 1_100, "12:00");
    assert_eq!(data("").await, json!([second, first]));
    assert_eq!(data("?per_page=1&page=2").await, json!([first]));
    assert_eq!(data("?status=PART_SUCCESS").await, json!([first]));
    assert_eq!(data("?status=SUCCESS").await, json!([]));
}

#[tokio::test]
async fn the_client_knows_every_call() {
    let (server, client) = start_client(1_000);
    client.orders().plastic(&[plastic_item(1)]).await.unwrap();
    server.run_jobs();
    let card = client.cards().available(None, Paging::default()).await.unwrap().data.remove(0);
    let employee = client.employees().add(&NewEmployee::new("T-1")).await.unwrap().id_employee;
    client.cards().link(employee, &card.custom_id_card, &kopeck_client::CardStatus::Main).await.unwrap();
    let top_ups = client.replenishments();
    let id = top_ups.create(&[TopUp::new(card.id_card, 300)]).await.unwrap().replenishment_id;
    let busy = top_ups.create(&[TopUp::new(card.id_card, 300)]).await.unwrap_err();
    let Error::Cards { status: 409, faults, .. } = &busy else { panic!("{busy}") };
    assert_eq!(
        (faults[0].id_card, faults[0].code.as_ref()),
        (Some(card.id_card), Some(&ErrorCode::CardInRequest))
    );
    assert_eq!(top_ups.status(id).await.unwrap().state, RequestState::New);
    server.run_jobs();
    assert_eq!(top_ups.wait(id, Wait::default(), |_| {}).await.unwrap(), RequestState::Success);
    let result = top_ups.result(id).await.unwrap();
    assert_eq!((result[0].amount_replenishment, result[0].error_replenishment.as_deref()), (300, None));
    let gone = top_ups.create(&[TopUp::new(card.id_card, 1)]).await.unwrap().replenishment_id;
    assert_eq!(top_ups.cancel(gone).await.unwrap().state, RequestState::Rejected);
    assert_eq!(top_ups.result(gone).await.unwrap_err().code(), Some(&ErrorCode::RequestCancelled));
    let listed =
        top_ups.list(&RequestFilter::in_state(RequestState::Success), Paging::default()).await.unwrap();
    assert_eq!((listed.data.len(), listed.data[0].replenishment_id, listed.data[0].amount), (1, id, 300));
    assert_eq!(client.balance().await.unwrap().balance, 700);
}
