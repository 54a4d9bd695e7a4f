//! The list of all cards, and cards that leave their employees.

use serde_json::{Value, json};

use crate::api_client::{Api, UNKNOWN_ID, start, text, virtual_order};
use crate::command_line::PartnerShell;
use crate::server::TestServer;

/// The numbers of the cards under this query, in their order.
async fn listed(api: &Api, query: &str) -> Vec<String> {
    let list = api.get(&format!("/v1/cards?per_page=500&{query}")).await.ok(200);
    let cards = list["data"].as_array().unwrap();
    assert_eq!(list["meta"]["total"], json!(cards.len()), "{query}");
    cards.iter().map(|card| text(&card["idCard"])).collect()
}

async fn card(api: &Api, id: &str) -> Value {
    api.get(&format!("/v1/card/{id}")).await.ok(200)["data"].clone()
}

/// Four plastic cards, two of them linked, and a virtual one.
async fn some_cards(server: &TestServer, api: &Api) -> (Vec<String>, String) {
    let plastic = api.plastic(server, 4).await;
    api.post("/v1/order/virtualcards", &virtual_order(1, 5_000)).await.ok(202);
    server.run_jobs();
    let employee = api.employee("E-1").await;
    api.link(&employee, &plastic[0].number, "MAIN").await.ok(200);
    api.link(&employee, &plastic[1].number, "TEMPORARILY_BLOCKED").await.ok(200);
    let free = api.free().await;
    let mut ids: Vec<String> = plastic.into_iter().map(|card| card.id).collect();
    ids.push(free.last().unwrap().id.clone());
    (ids, employee)
}

#[tokio::test]
async fn cards_are_listed_by_each_filter_as_they_are_shown_one_by_one() {
    let (server, api) = start(100_000).await;
    let (cards, employee) = some_cards(&server, &api).await;
    api.sandbox(&cards[2], "block").await;
    api.sandbox(&cards[3], "expire").await;
    let orders = api.column("/v1/orders", "orderId").await;
    let of = |places: &[usize]| places.iter().map(|place| cards[*place].clone()).collect::<Vec<_>>();
    let until = text(&card(&api, &cards[0]).await["dateUntil"]);
    let number = card(&api, &cards[3]).await["customCardId"].to_string();
    for (query, places) in [
        ("", &[0, 1, 2, 3, 4][..]),
        ("linked=true", &[0, 1]),
        ("linked=false", &[2, 3, 4]),
        ("statusCard=MAIN", &[0]),
        ("statusCard=TEMPORARILY_BLOCKED", &[1]),
        ("statusCard=ADDITIONAL", &[]),
        ("bankStatus=OPEN", &[0, 3, 4]),
        ("bankStatus=BLOCKING", &[1]),
        ("bankStatus=BLOCKED_BY_BANK", &[2]),
        ("bankStatus=CLOSED", &[]),
        ("typeCard=MLZ", &[4]),
        (&format!("orderId={}", text(&orders[0])), &[4]),
        (&format!("orderId={}", text(&orders[1])), &[0, 1, 2, 3]),
        (&format!("orderId={UNKNOWN_ID}"), &[]),
        (&format!("idEmployee={employee}"), &[0, 1]),
        (&format!("idEmployee={employee}&statusCard=MAIN&typeCard=MP4"), &[0]),
        (&format!("expiresBefore={until}"), &[3]),
        ("expiresBefore=01.01.2100&linked=false", &[2, 3, 4]),
        (&format!("customIdCard={number}"), &[3]),
        (&format!("customIdCard={number}&linked=true"), &[]),
        ("customIdCard=1234567890", &[]),
    ] {
        assert_eq!(listed(&api, query).await, of(places), "{query}");
    }
    assert_eq!(server.send_blocks(), kopeck_service::Progress::More);
    assert_eq!(listed(&api, "bankStatus=BLOCKED").await, of(&[1]));
    let shown = api.get("/v1/cards?perPage=2&page=3").await.ok(200);
    assert_eq!(shown["data"], json!([card(&api, &cards[4]).await]));
    assert_eq!((&shown["meta"]["path"], &shown["meta"]["total"]), (&json!("/v1/cards"), &json!(5)));
    let stranger =
        Api::login(&server, &server.partner(kopeck_domain::partner::SealingPolicy::Optional, 0)).await;
    assert_eq!(listed(&stranger, "").await, [""; 0]);
    assert_eq!(listed(&stranger, &format!("idEmployee={employee}")).await, [""; 0]);
    assert_eq!(listed(&stranger, &format!("customIdCard={number}")).await, [""; 0]);
}

#[tokio::test]
async fn faulty_filters_are_refused_all_at_once() {
    let (_server, api) = start(0).await;
    let query = "linked=1&statusCard=NONE&bankStatus=blocked&typeCard=X&orderId=x&idEmployee=y&expiresBefore=1.1.2026&customIdCard=1&page=0";
    let fields = [
        "linked",
        "statusCard",
        "bankStatus",
        "typeCard",
        "orderId",
        "idEmployee",
        "expiresBefore",
        "customIdCard",
        "page",
    ];
    api.get(&format!("/v1/cards?{query}")).await.faulty(&fields);
}

/// The types of the events about a card, with the status that they tell.
async fn told(api: &Api, id: &str) -> Vec<(String, Value)> {
    let feed = api.get("/v1/events?limit=500").await.ok(200);
    let of_card =
        feed["data"].as_array().unwrap().iter().filter(|event| event["data"]["idCard"] == json!(id));
    of_card.map(|event| (text(&event["type"]), event["data"]["statusCard"].clone())).collect()
}

#[tokio::test]
async fn an_expired_card_is_unlinked_once() {
    let (server, api) = start(100_000).await;
    let (cards, employee) = some_cards(&server, &api).await;
    let path = |card: &str| format!("/v1/employee/{employee}/card/{card}");
    api.delete(&path(&cards[0])).await.refused(409, "card_in_use");
    api.sandbox(&cards[0], "expire").await;
    let nonce = crate::api_client::nonce();
    let first = path(&cards[0]);
    let unlink = || api.send(reqwest::Method::DELETE, &first, String::new(), &nonce);
    let answer = unlink().await.ok(200);
    assert_eq!(answer, json!({"idEmployee": employee, "idCard": cards[0]}));
    assert_eq!(unlink().await.ok(200), answer, "a repeat");
    api.delete(&path(&cards[0])).await.refused(404, "card_not_found");
    let shown = card(&api, &cards[0]).await;
    assert_eq!((&shown["idEmployee"], &shown["statusCard"]), (&Value::Null, &Value::Null));
    assert_eq!(listed(&api, &format!("idEmployee={employee}")).await, [cards[1].as_str()]);
    let last = told(&api, &cards[0]).await.pop().unwrap();
    assert_eq!(last, ("card.unlinked".to_owned(), json!("MAIN")));
    // The place of the MAIN card is free again.
    api.link(&employee, &api.free().await[0].number, "MAIN").await.ok(200);
}

#[tokio::test]
async fn a_card_that_may_pay_stays_linked() {
    let (server, api) = start(100_000).await;
    let (cards, employee) = some_cards(&server, &api).await;
    // Virtual, never activated, with the money of its order.
    let virtual_card = api.free().await.last().unwrap().number.clone();
    api.link(&employee, &virtual_card, "ADDITIONAL").await.ok(200);
    for id in [&cards[0], &cards[1], &cards[4]] {
        api.delete(&format!("/v1/employee/{employee}/card/{id}")).await.refused(409, "card_in_use");
    }
    api.sandbox(&cards[0], "block").await;
    api.delete(&format!("/v1/employee/{employee}/card/{}", cards[0])).await.refused(409, "card_in_use");
    let other = api.employee("E-2").await;
    api.delete(&format!("/v1/employee/{other}/card/{}", cards[0])).await.refused(404, "card_not_found");
    api.delete(&format!("/v1/employee/{employee}/card/{}", cards[2])).await.refused(404, "card_not_found");
    api.delete(&format!("/v1/employee/{UNKNOWN_ID}/card/{}", cards[0]))
        .await
        .refused(404, "employee_not_found");
    api.delete("/v1/employee/x/card/y").await.faulty(&["idEmployee", "idCard"]);
}

/// A card with a limit by merchant, that expires and is unlinked; then the employee is erased.
#[test]
fn a_card_and_its_employee_come_to_their_end() {
    let shell = PartnerShell::open("100000.00");
    let order = shell.json(
        &[
            "orders",
            "plastic",
            "2xMP4",
            "--address",
            "A",
            "--recipient",
            "B",
            "--phone",
            "9031234567",
            "--wait",
        ],
        0,
    );
    let number = order["data"][0]["customIdCard"].as_str().unwrap();
    let employee = shell.json(&["employees", "add", "T-1"], 0)["idEmployee"].clone();
    shell.json(&["cards", "link", "T-1", number], 0);
    shell.json(&["limits", "set", number, "--only-at", "5812,5411-5499", "--wait"], 0);
    let shown = shell.json(&["cards", "info", number], 0);
    assert_eq!(shown["limit"]["merchantCategories"], json!({"only": ["5812", "5411-5499"]}));
    let refused = shell.json(&["cards", "can-pay", number, "1.00", "--mcc", "5541"], 9);
    assert_eq!(refused["code"], "merchant_category");

    let listed = |arguments: &[&str]| {
        shell.json(&[&["cards", "list"], arguments].concat(), 0)["meta"]["total"].clone()
    };
    assert_eq!(
        (listed(&[]), listed(&["--linked"]), listed(&["--linked", "false"])),
        (json!(2), json!(1), json!(1))
    );
    assert_eq!(
        listed(&["--employee", "T-1", "--status", "MAIN", "--bank-status", "OPEN", "--type", "MP4"]),
        1
    );
    assert_eq!(listed(&["--order", order["id"].as_str().unwrap(), "--expires-before", "01.01.2026"]), 0);

    assert_eq!(shell.json(&["employees", "erase", "T-1"], 6)["error"]["code"], "employee_has_cards");
    assert_eq!(shell.json(&["cards", "unlink", "T-1", number], 6)["error"]["code"], "card_in_use");
    shell.json(&["sandbox", "expire", number], 0);
    assert_eq!(shell.json(&["cards", "unlink", "T-1", number], 0)["idEmployee"], employee);
    assert_eq!(shell.json(&["employees", "erase", "T-1"], 0)["idEmployee"], employee);
    assert_eq!(shell.json(&["employees", "list"], 0)["meta"]["total"], 0);
}
