//! What moved on the balance and on all cards, over HTTP.

use kopeck_client::{EntryFilter, EntryType, Paging, TransactionQuery, VirtualItem};
use kopeck_domain::partner::SealingPolicy;
use serde_json::{Value, json};
use time::Duration;
use time::macros::date;

use crate::calls::{Api, keys, start, start_client, top_ups, virtual_order};
use crate::server::{SETTINGS, TestServer};
use crate::transactions::buy;

const ENTRIES: &str = "/v1/balance/entries";

async fn entries(api: &Api, query: &str) -> Value {
    api.get(&format!("{ENTRIES}?per_page=500&{query}")).await.ok(200)
}

/// Types, amounts, balances and holds.
fn rows(listed: &Value) -> Vec<(String, i64, i64, i64)> {
    let number = |entry: &Value, name: &str| entry[name].as_i64().unwrap();
    let row = |entry: &Value| {
        let entry_type = entry["type"].as_str().unwrap().to_owned();
        (entry_type, number(entry, "amount"), number(entry, "balance"), number(entry, "hold"))
    };
    listed["data"].as_array().unwrap().iter().map(row).collect()
}

fn row(entry_type: &str, amount: i64, balance: i64, hold: i64) -> (String, i64, i64, i64) {
    (entry_type.to_owned(), amount, balance, hold)
}

#[tokio::test]
async fn every_movement_is_an_entry_with_the_balance_after_it() {
    let (server, api) = start(100_000).await;
    let card = api.main_cards(&server, 1).await.remove(0);
    let mut order = virtual_order(2, 5_000);
    order["reference"] = json!("PO-7");
    let order = api.post("/v1/order/virtualcards", &order).await.ok(202)["orderId"].clone();
    server.run_jobs();
    let cancelled =
        api.post("/v1/order/virtualcards", &virtual_order(1, 7_000)).await.ok(202)["orderId"].clone();
    api.post("/v1/order/cancel", &json!({"orderId": cancelled})).await.ok(200);
    let top_up = api.top_up(&[(&card, 1_000)]).await;
    server.run_jobs();
    api.post("/sandbox/v1/balance/deposit", &json!({"amount": 5})).await.ok(200);

    let listed = entries(&api, "").await;
    assert_eq!(keys(&listed), ["closing", "data", "meta", "opening"]);
    let expected = [
        row("DEPOSIT", 100_000, 100_000, 0),
        row("HOLD", -10_000, 100_000, 10_000),
        row("DEBIT", 0, 90_000, 0),
        row("HOLD", -7_000, 90_000, 7_000),
        row("RELEASE", 7_000, 90_000, 0),
        row("HOLD", -1_000, 90_000, 1_000),
        row("DEBIT", 0, 89_000, 0),
        row("DEPOSIT", 5, 89_005, 0),
    ];
    assert_eq!(rows(&listed), expected);
    assert_eq!((&listed["opening"], &listed["closing"]), (&json!(0), &json!(89_005)));
    let sources: Vec<&Value> = listed["data"].as_array().unwrap().iter().map(|entry| &entry["of"]).collect();
    let source =
        |kind: &str, id: Value, reference: Value| json!({"kind": kind, "id": id, "reference": reference});
    let of_order = source("order", order, json!("PO-7"));
    let of_cancelled = source("order", cancelled, Value::Null);
    let of_top_up = source("replenishment", json!(top_up), Value::Null);
    let deposit = source("deposit", Value::Null, Value::Null);
    let expected =
        [&deposit, &of_order, &of_order, &of_cancelled, &of_cancelled, &of_top_up, &of_top_up, &deposit];
    assert_eq!(sources, expected);
    let numbers = api.column(&format!("{ENTRIES}?per_page=3&page=2"), "seq").await;
    assert_eq!(numbers, [4, 5, 6]);
    assert_eq!(api.column(&format!("{ENTRIES}?type=HOLD&per_page=2&page=2"), "seq").await, [6]);
    let shown = api.get("/v1/balance").await.ok(200);
    assert_eq!((&shown["balance"], &shown["hold"]), (&json!(89_005), &json!(0)));
}

/// Whatever the filters are: the balances at the ends are those of the period, and periods fit together.
#[tokio::test]
async fn periods_fit_together_and_the_type_does_not_change_their_balances() {
    let server = TestServer::start();
    let partner = server.partner(SealingPolicy::Optional, 1_000);
    let mut api = Api::login(&server, &partner).await;
    for amount in [10, 20, 30] {
        server.clock.advance(Duration::DAY);
        api = Api::login(&server, &partner).await;
        api.post("/sandbox/v1/balance/deposit", &json!({"amount": amount})).await.ok(200);
        api.post("/sandbox/v1/balance/deposit", &json!({"amount": 1})).await.ok(200);
    }
    for (query, opening, closing, count) in [
        ("", 0, 1_063, 7),
        ("to=02.03.2026", 0, 1_000, 1),
        ("from=03.03.2026&to=03.03.2026", 1_000, 1_011, 2),
        ("from=04.03.2026&to=04.03.2026", 1_011, 1_032, 2),
        ("from=05.03.2026", 1_032, 1_063, 2),
        ("from=05.03.2026&type=HOLD", 1_032, 1_063, 0),
        ("from=03.03.2026&type=DEPOSIT", 1_000, 1_063, 6),
        ("from=06.03.2026&to=09.03.2026", 1_063, 1_063, 0),
        ("to=01.01.2020", 0, 0, 0),
        ("from=01.01.0001&to=31.12.9999", 0, 1_063, 7),
    ] {
        let listed = entries(&api, query).await;
        let ends = (listed["opening"].as_i64().unwrap(), listed["closing"].as_i64().unwrap());
        assert_eq!((ends, &listed["meta"]["total"]), ((opening, closing), &json!(count)), "{query}");
    }
    api.get(&format!("{ENTRIES}?from=02.03.2026&to=01.03.2026&type=GIFT&page=0"))
        .await
        .faulty(&["page", "to", "type"]);
}

#[tokio::test]
async fn transactions_of_all_cards_come_in_the_order_in_which_they_were_learnt_of() {
    let (server, api) = start(1_000_000).await;
    let cards = api.main_cards(&server, 2).await;
    let mut numbers = Vec::new();
    for card in &cards {
        numbers.push(api.get(&format!("/v1/card/{card}")).await.ok(200)["data"]["customCardId"].to_string());
    }
    api.post("/v1/replenishment", &top_ups(&[(&cards[0], 50_000), (&cards[1], 50_000)])).await.ok(202);
    server.run_jobs();
    let read = async |card: &str| {
        server.clock.advance(SETTINGS.card_cache);
        api.get(&format!("/v1/card/{card}/transactions")).await.ok(200);
    };
    let feed = async |query: &str| api.get(&format!("/v1/transactions?{query}")).await.ok(200);
    let empty = feed("after=0").await;
    assert_eq!(empty, json!({"data": [], "next": 0}), "the bank is not asked");
    buy(&server, &numbers[0], 100);
    // The older purchase is learnt of later.
    read(&cards[1]).await;
    read(&cards[0]).await;
    buy(&server, &numbers[1], 200);
    read(&cards[1]).await;

    let all = feed("").await;
    let column = |feed: &Value, name: &str| -> Vec<Value> {
        feed["data"].as_array().unwrap().iter().map(|one| one[name].clone()).collect()
    };
    assert_eq!(column(&all, "seq"), [1, 2, 3, 4]);
    assert_eq!(column(&all, "amount"), [50_000, 50_000, 100, 200]);
    assert_eq!(column(&all, "idCard"), [&cards[1], &cards[0], &cards[0], &cards[1]].map(|card| json!(card)));
    assert_eq!(all["next"], 4);
    let payment = &all["data"][2];
    let own = api.get(&format!("/v1/card/{}/transactions?type=PAYMENT", cards[0])).await.ok(200);
    let mut expected = own["data"][0].clone();
    let holder = api.get(&format!("/v1/card/{}", cards[0])).await.ok(200)["data"]["idEmployee"].clone();
    let custom_id =
        api.get(&format!("/v1/employee/{}", holder.as_str().unwrap())).await.ok(200)["data"]["customId"]
            .clone();
    expected["seq"] = json!(3);
    expected["idCard"] = json!(cards[0]);
    expected["idEmployee"] = holder.clone();
    expected["customId"] = custom_id;
    assert_eq!(*payment, expected);

    // Who follows `next` has each once.
    let (mut after, mut seen) = (0, Vec::new());
    loop {
        let piece = feed(&format!("after={after}&limit=3")).await;
        seen.extend(column(&piece, "seq"));
        if column(&piece, "seq").is_empty() {
            assert_eq!(piece["next"], after);
            break;
        }
        after = piece["next"].as_i64().unwrap();
    }
    assert_eq!(seen, [1, 2, 3, 4]);
    let employee = holder.as_str().unwrap();
    for (query, expected) in [
        (format!("idCard={}", cards[1]), vec![1, 4]),
        (format!("idEmployee={employee}"), vec![2, 3]),
        (format!("idEmployee={employee}&idCard={}", cards[1]), vec![]),
        (format!("idEmployee={employee}&type=PAYMENT"), vec![3]),
        ("type=PAYMENT&limit=1".to_owned(), vec![3]),
        ("from=02.03.2026&to=02.03.2026&after=2".to_owned(), vec![3, 4]),
        ("from=03.03.2026".to_owned(), vec![]),
        ("to=01.03.2026".to_owned(), vec![]),
    ] {
        assert_eq!(column(&feed(&query).await, "seq"), expected, "{query}");
    }
    api.get(
        "/v1/transactions?after=-1&limit=1001&type=x&idCard=y&idEmployee=z&from=02.03.2026&to=01.03.2026",
    )
    .await
    .faulty(&["after", "limit", "to", "type", "idCard", "idEmployee"]);
}

#[tokio::test]
async fn the_client_reads_entries_and_transactions() {
    let (server, client) = start_client(100_000);
    client.orders().virtual_cards(&[VirtualItem::new(1, 5_000)]).reference("PO-7").await.unwrap();
    server.run_jobs();
    let statements = client.statements();
    let day = date!(2026 - 03 - 02);
    let filter = EntryFilter { from: Some(day), to: Some(day), entry_type: Some(EntryType::Debit) };
    let listed = statements.entries(&filter, Paging::default()).await.unwrap();
    assert_eq!((listed.opening, listed.closing, listed.data.len()), (0, 95_000, 1));
    assert_eq!(listed.data[0].of.reference.as_deref(), Some("PO-7"));
    let all = statements.all_entries(&EntryFilter::default()).per_page(20).collect().await.unwrap();
    let types: Vec<EntryType> = all.into_iter().map(|entry| entry.entry_type).collect();
    assert_eq!(types, [EntryType::Deposit, EntryType::Hold, EntryType::Debit]);
    let card = client.cards().available(None, Paging::default()).await.unwrap().data.remove(0);
    client
        .cards()
        .transactions(card.id_card, &kopeck_client::TransactionFilter::default(), Paging::default())
        .await
        .unwrap();
    let query =
        TransactionQuery { id_card: Some(card.id_card), limit: Some(1), ..TransactionQuery::default() };
    let read = statements.all_transactions(&query).collect().await.unwrap();
    let feed = statements.transactions(&query).await.unwrap();
    assert_eq!(read.first(), feed.data.first());
    assert!(read.iter().all(|one| one.id_card == card.id_card && one.id_employee.is_none()));
}
