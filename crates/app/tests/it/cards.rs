//! Cards over HTTP: what is shown of them, and whose they are.

use kopeck_adapter_http::HttpSettings;
use kopeck_client::{
    CardStatus, CardType, ErrorCode, NewEmployee, Paging, TransactionFilter, TransactionType, Uuid,
};
use kopeck_domain::card_number::CardNumber;
use kopeck_domain::partner::SealingPolicy;
use kopeck_port_bank::sandbox::SandboxControl as _;
use kopeck_port_system::Clock;
use serde_json::{Value, json};
use time::Duration;
use time::macros::datetime;

use crate::api_client::{
    Api, UNKNOWN_ID, keys, plastic_item, start, start_client, text, top_ups, virtual_item, virtual_order,
};
use crate::server::{SETTINGS, TestServer};
use crate::transactions::buy;

const UNKNOWN_NUMBER: &str = "4006381333931";

/// A card as it is shown, newly made and free.
fn fresh(id: &str, number: &str) -> Value {
    json!({
        "idCard": id, "idEmployee": null, "customCardId": number.parse::<u64>().unwrap(), "type": "MP4",
        "statusCard": null, "bankStatus": "OPEN", "dateUntil": "31.03.2029",
        "balanceAccount": {"updateAt": "02.03.2026 12:00", "value": 0}, "balance": 0, "canToUp": 1_500_000,
        "limit": {"unlimited": true, "amount": null, "period": null, "days": [], "times": []},
        "activated": true, "activatedAt": "02.03.2026", "success": true,
    })
}

async fn info(api: &Api, id: &str) -> Value {
    let mut shown = api.get(&format!("/v1/card/{id}")).await.ok(200);
    assert_eq!(keys(&shown), ["data"]);
    shown["data"].take()
}

fn number_of(text: &str) -> CardNumber {
    CardNumber::parse(text).unwrap()
}

#[tokio::test]
async fn a_card_is_shown_free_and_linked() {
    let (server, api) = start(0).await;
    let card = api.plastic(&server, 1).await.remove(0);
    let mut expected = fresh(&card.id, &card.number);
    assert_eq!(info(&api, &card.id).await, expected);
    let balance = api.get(&format!("/v1/card/{}/balance", card.id)).await.ok(200);
    let account = expected["balanceAccount"].clone();
    assert_eq!(
        balance,
        json!({"idCard": card.id, "balanceAccount": account, "balance": 0, "canToUp": 1_500_000})
    );

    let employee = api.employee("T-1").await;
    let linked = api.link(&employee, &card.number, "MAIN").await.ok(200);
    assert_eq!(linked, json!({"idEmployee": employee, "idCard": card.id, "statusCard": "MAIN"}));
    (expected["idEmployee"], expected["statusCard"]) = (json!(employee), json!("MAIN"));
    assert_eq!(info(&api, &card.id).await, expected);
    let shown = api.get(&format!("/v1/employee/{employee}")).await.ok(200);
    assert_eq!(shown["data"]["cards"], json!([{"idCard": card.id, "statusCard": "MAIN"}]));

    for path in ["", "/balance", "/transactions"] {
        api.get(&format!("/v1/card/{UNKNOWN_ID}{path}")).await.refused(404, "card_not_found");
        api.get(&format!("/v1/card/x{path}")).await.faulty(&["idCard"]);
    }
}

#[tokio::test]
async fn a_virtual_card_holds_its_first_top_up_and_is_activated_by_its_code() {
    let (server, api) = start(20_000).await;
    let order = text(&api.post("/v1/order/virtualcards", &virtual_order(1, 20_000)).await.ok(202)["orderId"]);
    server.run_jobs();
    let issued = api.get(&format!("/v1/order/result/{order}")).await.ok(200)["data"][0].take();
    let card = api.free().await.remove(0);
    assert_eq!(issued["customIdCard"], json!(card.number));
    let mut expected = fresh(&card.id, &card.number);
    (expected["type"], expected["balance"], expected["canToUp"]) =
        (json!("MLZ"), json!(20_000), json!(1_480_000));
    expected["balanceAccount"]["value"] = json!(20_000);
    (expected["activated"], expected["activatedAt"]) = (json!(false), json!(null));
    assert_eq!(info(&api, &card.id).await, expected);

    let activate = format!("/sandbox/v1/card/{}/activate", card.id);
    api.post(&activate, &json!({"activationCode": "wrong"})).await.faulty(&["activationCode"]);
    api.post(&activate, &json!({"activationCode": 7})).await.faulty(&["activationCode"]);
    assert_eq!(info(&api, &card.id).await, expected);
    api.post(&activate, &json!({"activationCode": issued["activationCode"]})).await.ok(200);
    (expected["activated"], expected["activatedAt"]) = (json!(true), json!("02.03.2026"));
    assert_eq!(info(&api, &card.id).await, expected);
    for command in ["activate", "block", "unblock", "expire"] {
        api.post(&format!("/sandbox/v1/card/{UNKNOWN_ID}/{command}"), &json!({}))
            .await
            .refused(404, "card_not_found");
        api.post(&format!("/sandbox/v1/card/x/{command}"), &json!({})).await.faulty(&["idCard"]);
    }
}

#[tokio::test]
async fn balances_come_from_the_bank_and_for_a_short_time_from_the_copy() {
    let (server, api) = start(1_000_000).await;
    let card = api.main_cards(&server, 1).await.remove(0);
    api.top_up(&[(&card, 123_457)]).await;
    server.run_jobs();
    server.clock.advance(SETTINGS.card_cache);
    let balance = async || {
        let shown = api.get(&format!("/v1/card/{card}/balance")).await.ok(200);
        let detailed = info(&api, &card).await;
        assert_eq!((&shown["balance"], &shown["canToUp"]), (&detailed["balance"], &detailed["canToUp"]));
        assert_eq!(
            shown["balanceAccount"],
            json!({"updateAt": "02.03.2026 12:00", "value": 0}),
            "once a day"
        );
        (shown["balance"].clone(), shown["canToUp"].clone())
    };
    assert_eq!(balance().await, (json!(123_457), json!(1_376_543)));
    let number = info(&api, &card).await["customCardId"].to_string();
    buy(&server, &number, 457);
    server.clock.advance(SETTINGS.card_cache - Duration::SECOND);
    assert_eq!(balance().await, (json!(123_457), json!(1_376_543)), "the copy is young");
    server.clock.advance(Duration::SECOND);
    assert_eq!(balance().await, (json!(123_000), json!(1_377_000)));
}

#[tokio::test]
async fn linking_has_its_refusals_and_their_order() {
    let (server, api) = start(0).await;
    let cards = api.plastic(&server, 4).await;
    let [first, second, third, fourth] = [0, 1, 2, 3].map(|place: usize| cards[place].clone());
    let (anna, boris) = (api.employee("A").await, api.employee("B").await);
    api.link("x", "1", "OWNER").await.faulty(&["idEmployee", "customIdCard", "statusCard"]);
    for number in
        ["", "4006381333930", "0123456789", "123456789", "12345678901", "40063813339a1", " 4006381333931"]
    {
        api.link(&anna, number, "MAIN").await.faulty(&["customIdCard"]);
    }
    let path = format!("/v1/employee/{anna}/link_card");
    let integer = json!({"customIdCard": first.number.parse::<u64>().unwrap(), "statusCard": "MAIN"});
    api.post(&path, &integer).await.faulty(&["customIdCard"]);
    api.post(&path, &json!({})).await.faulty(&["customIdCard", "statusCard"]);
    api.link(UNKNOWN_ID, UNKNOWN_NUMBER, "MAIN").await.refused(404, "employee_not_found");
    api.link(UNKNOWN_ID, "1", "MAIN").await.faulty(&["customIdCard"]);
    for number in [UNKNOWN_NUMBER, "1234567890"] {
        api.link(&anna, number, "MAIN").await.refused(404, "card_not_found");
    }

    api.link(&anna, &first.number, "MAIN").await.ok(200);
    api.link(&anna, &first.number, "MAIN").await.ok(200);
    api.link(&anna, &first.number, "ADDITIONAL").await.refused(409, "card_already_linked");
    api.link(&boris, &first.number, "MAIN").await.refused(409, "card_linked_to_another");
    api.link(&anna, &second.number, "MAIN").await.refused(409, "employee_has_main_card");
    api.link(&anna, &second.number, "ADDITIONAL").await.ok(200);
    api.link(&anna, &third.number, "TEMPORARILY_BLOCKED").await.ok(200);
    let shown = api.get(&format!("/v1/employee/{anna}")).await.ok(200);
    let expected = json!([
        {"idCard": first.id, "statusCard": "MAIN"}, {"idCard": second.id, "statusCard": "ADDITIONAL"},
        {"idCard": third.id, "statusCard": "TEMPORARILY_BLOCKED"},
    ]);
    assert_eq!(shown["data"]["cards"], expected);

    // A block of a moment ago, of which the service does not know yet.
    server.bank.block(number_of(&fourth.number)).unwrap();
    api.link(&boris, &fourth.number, "MAIN").await.refused(409, "card_not_available");
    api.sandbox(&fourth.id, "unblock").await;
    server.bank.expire(number_of(&fourth.number)).unwrap();
    api.link(&boris, &fourth.number, "MAIN").await.refused(409, "card_expired");
    // Whose it is comes first.
    server.bank.expire(number_of(&first.number)).unwrap();
    api.link(&boris, &first.number, "MAIN").await.refused(409, "card_linked_to_another");
}

#[tokio::test]
async fn switching_has_its_refusals_and_their_order() {
    let (server, api) = start(0).await;
    let cards = api.plastic(&server, 3).await;
    let (anna, boris) = (api.employee("A").await, api.employee("B").await);
    let (main, spare, free) = (&cards[0], &cards[1], &cards[2]);
    api.link(&anna, &main.number, "MAIN").await.ok(200);
    api.link(&anna, &spare.number, "ADDITIONAL").await.ok(200);
    api.switch("x", "y", "OWNER").await.faulty(&["idEmployee", "idCard", "statusCard"]);
    api.post(&format!("/v1/employee/{anna}/card/switch"), &json!({})).await.faulty(&["idCard", "statusCard"]);
    api.switch(UNKNOWN_ID, UNKNOWN_ID, "MAIN").await.refused(404, "employee_not_found");
    api.switch(UNKNOWN_ID, &main.id, "MAIN").await.refused(404, "employee_not_found");
    api.switch(&anna, UNKNOWN_ID, "MAIN").await.refused(404, "card_not_found");
    api.switch(&anna, &free.id, "MAIN").await.refused(404, "card_not_found");
    api.switch(&boris, &main.id, "MAIN").await.refused(404, "card_not_found");

    api.switch(&anna, &spare.id, "MAIN").await.refused(409, "employee_has_main_card");
    api.switch(&anna, &main.id, "MAIN").await.ok(200);
    for (card, status) in [(main, "TEMPORARILY_BLOCKED"), (spare, "MAIN"), (main, "ADDITIONAL")] {
        let switched = api.switch(&anna, &card.id, status).await.ok(200);
        assert_eq!(switched, json!({"idEmployee": anna, "idCard": card.id, "statusCard": status}));
        assert_eq!(info(&api, &card.id).await["statusCard"], status);
    }
    api.switch(&anna, &main.id, "MAIN").await.refused(409, "employee_has_main_card");
    server.bank.block(number_of(&spare.number)).unwrap();
    api.switch(&anna, &spare.id, "ADDITIONAL").await.refused(409, "card_blocked");
    api.sandbox(&spare.id, "unblock").await;
    api.switch(&anna, &spare.id, "ADDITIONAL").await.ok(200);
    server.bank.expire(number_of(&spare.number)).unwrap();
    api.switch(&anna, &spare.id, "MAIN").await.refused(409, "card_expired");
}

#[tokio::test]
async fn an_employee_has_one_main_card_also_under_concurrent_calls() {
    let (server, api) = start(0).await;
    let cards = api.plastic(&server, 12).await;
    let employee = api.employee("A").await;
    let all = async |status: &'static str, links: bool| {
        let calls = cards.iter().cloned().map(|card| {
            let (api, employee) = (api.clone(), employee.clone());
            tokio::spawn(async move {
                if links {
                    api.link(&employee, &card.number, status).await
                } else {
                    api.switch(&employee, &card.id, status).await
                }
            })
        });
        let mut won = 0;
        for call in calls.collect::<Vec<_>>() {
            let reply = call.await.unwrap();
            if reply.status == 200 {
                won += 1;
            } else {
                reply.refused(409, "employee_has_main_card");
            }
        }
        won
    };
    assert_eq!(all("MAIN", true).await, 1);
    for card in &cards {
        let linked = info(&api, &card.id).await["statusCard"] == "MAIN";
        let reply = if linked {
            api.switch(&employee, &card.id, "ADDITIONAL").await
        } else {
            api.link(&employee, &card.number, "ADDITIONAL").await
        };
        reply.ok(200);
    }
    assert_eq!(all("MAIN", false).await, 1);
    let shown = api.get(&format!("/v1/employee/{employee}")).await.ok(200);
    let main =
        shown["data"]["cards"].as_array().unwrap().iter().filter(|card| card["statusCard"] == "MAIN").count();
    assert_eq!(main, 1);
}

#[tokio::test]
async fn one_card_goes_to_one_employee_under_concurrent_calls() {
    let (server, api) = start(0).await;
    let card = api.plastic(&server, 1).await.remove(0);
    let mut calls = Vec::new();
    for number in 0..8 {
        let (api, employee, card) = (api.clone(), api.employee(&format!("T-{number}")).await, card.clone());
        calls.push(tokio::spawn(async move { api.link(&employee, &card.number, "MAIN").await }));
    }
    let mut won = 0;
    for call in calls {
        let reply = call.await.unwrap();
        if reply.status == 200 {
            won += 1;
        } else {
            reply.refused(409, "card_linked_to_another");
        }
    }
    assert_eq!(won, 1);
}

#[tokio::test]
async fn available_cards_are_free_open_and_not_expired() {
    let server = TestServer::start();
    let partner = server.partner(SealingPolicy::Optional, 10_000);
    let api = Api::login(&server, &partner).await;
    let cards = api.plastic(&server, 3).await;
    api.post("/v1/order/virtualcards", &virtual_order(1, 5_000)).await.ok(202);
    server.run_jobs();
    let list = api.get("/v1/cards/available?typeCard=MP4&per_page=1").await.ok(200);
    assert_eq!(list["meta"]["total"], 3);
    let first = &cards[0];
    let shown = json!({"idCard": first.id, "customIdCard": first.number, "typeCard": "MP4",
        "dateUntil": "31.03.2029", "bankStatus": "OPEN"});
    assert_eq!(list["data"], json!([shown]));
    assert_eq!(api.column("/v1/cards/available?typeCard=MLZ", "typeCard").await, ["MLZ"]);
    assert_eq!(api.column("/v1/cards/available?typeCard=KKL", "typeCard").await, Vec::<Value>::new());

    let free = async |api: &Api| api.free().await.len();
    assert_eq!(free(&api).await, 4);
    let employee = api.employee("A").await;
    api.link(&employee, &first.number, "ADDITIONAL").await.ok(200);
    assert_eq!(free(&api).await, 3);
    api.sandbox(&cards[1].id, "block").await;
    assert_eq!(free(&api).await, 2);
    api.sandbox(&cards[2].id, "expire").await;
    assert_eq!(free(&api).await, 1);
    api.sandbox(&cards[1].id, "unblock").await;
    assert_eq!(free(&api).await, 2);

    // The last second of the last day in the zone, and the next one.
    server.clock.advance(datetime!(2029-03-31 20:59:59 UTC) - server.clock.now());
    let later = Api::login(&server, &partner).await;
    assert_eq!(free(&later).await, 2);
    later.switch(&employee, &first.id, "MAIN").await.ok(200);
    let id = later.top_up(&[(&first.id, 5)]).await;
    later.delete(&format!("/v1/replenishment/{id}")).await.ok(200);
    server.clock.advance(Duration::SECOND);
    assert_eq!(free(&later).await, 0);
    later.link(&employee, &cards[1].number, "ADDITIONAL").await.refused(409, "card_expired");
    later.switch(&employee, &first.id, "ADDITIONAL").await.refused(409, "card_expired");
    later
        .post("/v1/replenishment", &top_ups(&[(&first.id, 5)]))
        .await
        .faulty_cards(409, &[("card_expired", &first.id)]);
}

#[tokio::test]
async fn in_production_there_is_no_sandbox() {
    let server = TestServer::start_with(false, HttpSettings { workers: 1, ..HttpSettings::default() });
    let api = Api::login(&server, &server.partner(SealingPolicy::Optional, 0)).await;
    let card = api.plastic(&server, 1).await.remove(0);
    api.post("/sandbox/v1/balance/deposit", &json!({"amount": 5})).await.refused(404, "not_found");
    for command in ["activate", "block", "unblock", "expire"] {
        let path = format!("/sandbox/v1/card/{}/{command}", card.id);
        api.post(&path, &json!({})).await.refused(404, "not_found");
    }
    api.expect_money(0, 0).await;
}

#[tokio::test]
async fn the_client_knows_every_call() {
    let (server, client) = start_client(1_000_000);
    client.orders().plastic(&[plastic_item(1)]).await.unwrap();
    client.orders().virtual_cards(&[virtual_item(1, 5_000)]).await.unwrap();
    server.run_jobs();
    let cards = client.cards();
    let free = cards.available(Some(&CardType::Mlz), Paging::default()).await.unwrap();
    let card = &free.data[0];
    let employee = client.employees().add(&NewEmployee::new("T-1")).await.unwrap().id_employee;
    let linked = cards.link(employee, &card.custom_id_card, &CardStatus::Additional).await.unwrap();
    assert_eq!((linked.id_card, linked.status_card), (card.id_card, CardStatus::Additional));
    let switched = cards.switch(employee, card.id_card, &CardStatus::Main).await.unwrap();
    assert_eq!(switched.status_card, CardStatus::Main);
    client.sandbox().activate(card.id_card, None).await.unwrap();
    let info = cards.info(card.id_card).await.unwrap();
    assert_eq!((info.id_employee, info.activated, info.success), (Some(employee), true, true));
    assert!(info.limit.unlimited);
    let balance = cards.balance(card.id_card).await.unwrap();
    assert_eq!((balance.balance, balance.balance_account.value), (5_000, 5_000));
    let filter = TransactionFilter {
        from: Some(time::macros::date!(2026 - 03 - 02)),
        to: Some(time::macros::date!(2026 - 03 - 02)),
        transaction_type: Some(TransactionType::Replenishment),
    };
    let transactions = cards.transactions(card.id_card, &filter, Paging::page(1)).await.unwrap();
    assert_eq!((transactions.data[0].amount, transactions.meta.per_page), (5_000, 100));
    let sandbox = client.sandbox();
    sandbox.block(card.id_card).await.unwrap();
    let blocked = cards.switch(employee, card.id_card, &CardStatus::Additional).await.unwrap_err();
    assert_eq!(blocked.code(), Some(&ErrorCode::CardBlocked));
    sandbox.unblock(card.id_card).await.unwrap();
    sandbox.expire(card.id_card).await.unwrap();
    sandbox.deposit(7).await.unwrap();
    assert_eq!(client.balance().await.unwrap().balance, 995_007);
    assert_eq!(cards.info(Uuid::nil()).await.unwrap_err().code(), Some(&ErrorCode::CardNotFound));
}
