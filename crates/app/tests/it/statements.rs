//! Statements and transactions of all cards, over HTTP.

use std::io::Cursor;

use calamine::{Reader as _, Xlsx};
use kopeck_client::{EntryFilter, EntryType, FileFormat, Paging, TransactionQuery, VirtualItem};
use kopeck_domain::partner::SealingPolicy;
use kopeck_port_bank::sandbox::{BankFaults, SandboxControl as _};
use serde_json::{Value, json};
use time::Duration;
use time::macros::date;

use crate::api_client::{Api, keys, start, start_client, top_ups, virtual_order};
use crate::raw_http::{CSV, JSON, SEALED_JSON, get, optional};
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
    let names = [
        "closing",
        "closingAvailable",
        "closingHold",
        "data",
        "meta",
        "opening",
        "openingAvailable",
        "openingHold",
    ];
    assert_eq!(keys(&listed), names);
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

/// The balances at the ends are those of the period under any filter, and periods fit together.
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

    // A client that follows `next` gets each once.
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

const XLSX: &str = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";

/// The bytes of a file.
pub async fn read_file(client: &kopeck_client::Client, month: &str, format: FileFormat) -> Vec<u8> {
    let mut file = client.statements().file(month, format).await.unwrap();
    let mut bytes = Vec::new();
    while let Some(chunk) = file.chunk().await.unwrap() {
        bytes.extend(chunk);
    }
    bytes
}

/// The cells of a sheet as texts.
fn cells(bytes: &[u8], sheet: &str) -> Vec<Vec<String>> {
    let mut book: Xlsx<_> = Xlsx::new(Cursor::new(bytes.to_vec())).unwrap();
    let range = book.worksheet_range(sheet).unwrap();
    range.rows().map(|row| row.iter().map(ToString::to_string).collect()).collect()
}

/// Types, amounts, balances and holds of rows whose columns are those of a file.
fn figures(rows: &[Vec<String>]) -> Vec<(String, i64, i64, i64)> {
    let number = |row: &[String], column: usize| row[column].parse().unwrap();
    rows.iter().skip(1).map(|row| (row[2].clone(), number(row, 3), number(row, 4), number(row, 5))).collect()
}

/// The figures of a sheet for people: types as words of theirs, roubles as kopecks.
fn sheet_figures(rows: &[Vec<String>]) -> Vec<(String, i64, i64, i64)> {
    let row =
        |row: &Vec<String>| (row[2].to_uppercase(), kopecks(&row[3]), kopecks(&row[4]), kopecks(&row[5]));
    rows.iter().skip(1).map(row).collect()
}

/// Reads a cell.
type ReadAmount = fn(&str) -> i64;

/// The kopecks of roubles such as `-5.5`.
fn kopecks(roubles: &str) -> i64 {
    let (whole, decimals) = roubles.split_once('.').unwrap_or((roubles, ""));
    format!("{whole}{decimals:0<2}").parse().unwrap()
}

/// For a partner that has to seal, too: files are in clear. Over more than one piece of entries.
#[tokio::test]
async fn each_format_has_the_same_values() {
    let (server, client) = start_client(100_000);
    client.orders().virtual_cards(&[VirtualItem::new(1, 5_000)]).reference("-7 Счёт").await.unwrap();
    server.run_jobs();
    for _ in 0..1_100 {
        client.sandbox().deposit(1).await.unwrap();
    }
    let all = client.statements().all_entries(&EntryFilter::default()).per_page(500).collect().await.unwrap();
    let expected: Vec<_> = all
        .iter()
        .map(|entry| (entry.entry_type.as_str().to_owned(), entry.amount, entry.balance, entry.hold))
        .collect();
    assert_eq!(expected.len(), 1_103);

    let csv = String::from_utf8(read_file(&client, "2026-03", FileFormat::Csv).await).unwrap();
    let lines: Vec<Vec<String>> =
        csv.split_terminator("\r\n").map(|line| line.split(',').map(str::to_owned).collect()).collect();
    assert_eq!(
        lines[0].join(","),
        "seq,at,type,amount,balance,hold,kind,id,reference,available,balanceChange,holdChange"
    );
    assert_eq!(figures(&lines), expected);
    assert_eq!(lines[2][8], "'-7 Счёт", "a text that could be a formula");
    let xlsx = read_file(&client, "2026-03", FileFormat::Xlsx).await;
    let sheet = cells(&xlsx, "Entries");
    assert_eq!(sheet_figures(&sheet), expected);
    assert_eq!((&sheet[2][7], sheet[2][8].as_str()), (&lines[2][7], "-7 Счёт"));

    let json = client.statements().month("2026-03").await.unwrap();
    assert_eq!((json.month.as_str(), json.complete), ("2026-03", false));
    assert_eq!((json.opening, json.closing), (0, 96_100));
    let totals: Vec<(String, u64, i64)> = json
        .totals
        .iter()
        .map(|total| (total.entry_type.as_str().to_owned(), total.number, total.amount))
        .collect();
    let of_type = |name: &str| {
        let rows = expected.iter().filter(|row| row.0 == name);
        (name.to_owned(), rows.clone().count() as u64, rows.map(|row| row.1).sum::<i64>())
    };
    let names = ["DEPOSIT", "HOLD", "DEBIT", "RELEASE", "RETURN", "WITHDRAWAL", "CORRECTION"];
    assert_eq!(totals, names.map(of_type));
    let days: Vec<(i64, i64, i64)> =
        json.days.iter().map(|day| (day.opening, day.closing, day.amount)).collect();
    assert_eq!(days, [(0, 0, 0), (0, 96_100, 96_100)]);
    let sheet = cells(&xlsx, "Totals");
    let row =
        |name: &str| sheet.iter().find(|row| row[0] == name).unwrap_or_else(|| panic!("{name}: {sheet:?}"));
    assert_eq!(row("Closing balance")[1], "961");
    assert_eq!(row("Complete")[1], "no: the month is not over");
    for ((name, number, amount), shown) in totals.into_iter().zip([
        "Deposit",
        "Hold",
        "Debit",
        "Release",
        "Return from cards",
        "Payment to you",
        "Correction",
    ]) {
        let row = row(shown);
        assert_eq!((&row[1], kopecks(&row[2])), (&number.to_string(), amount), "{name}");
    }
    assert_eq!(sheet.last().unwrap()[1..4], ["0", "961", "961"]);
    // The last month is over, and had nothing.
    let empty = client.statements().month("2026-02").await.unwrap();
    assert_eq!((empty.complete, empty.opening, empty.closing, empty.days.len()), (true, 0, 0, 28));
    for month in ["2026-04", "2026-13", "1"] {
        let refused = client.statements().month(month).await.unwrap_err();
        assert!(refused.to_string().contains("month"), "{refused}");
    }
}

#[test]
fn the_first_media_type_that_is_known_decides_on_the_form() {
    let server = TestServer::start();
    let (_, token) = optional(&server);
    let ask = |accept: &str| get("/v1/statement/2026-03").token(&token).with("accept", accept).send(&server);
    for (accept, media) in [
        ("*/*", JSON),
        ("text/html", JSON),
        ("application/json, text/csv", JSON),
        ("text/csv;q=0, application/json", JSON),
        ("text/csv;q=0", JSON),
        ("application/sealed+json, text/csv", SEALED_JSON),
        ("text/csv", CSV),
        ("TEXT/CSV; charset=utf-8", CSV),
        ("text/html, text/csv, application/sealed+json", CSV),
    ] {
        let got = ask(accept);
        let found = got.header("content-type").map(|found| found.trim_end_matches("; charset=utf-8"));
        assert_eq!((got.status, found), (200, Some(media)), "{accept}");
        let name = (media == CSV).then_some("attachment; filename=\"statement-2026-03-so-far.csv\"");
        assert_eq!(got.header("content-disposition"), name, "{accept}");
    }
    assert_eq!(ask(CSV).text.lines().count(), 2);
    let got = ask("text/csv, */*").text;
    assert!(got.starts_with("seq,at,type,amount"), "{got}");
    // An error is JSON all the same.
    let refused = get("/v1/statement/2027-01").token(&token).with("accept", XLSX).send(&server);
    assert_eq!((refused.status, refused.header("content-type")), (422, Some(JSON)));
    let faulty = get("/v1/statement/2026-1").token(&token).send(&server);
    assert_eq!(faulty.json()["data"][0]["field"], "month");
}

/// Opening, change and closing of the balance, the hold and the available amount.
type Ends = [[i64; 2]; 3];

fn ends(of: &Value) -> Ends {
    let number = |name: &str| of[name].as_i64().unwrap_or_else(|| panic!("{name}: {of}"));
    [("opening", "closing"), ("openingHold", "closingHold"), ("openingAvailable", "closingAvailable")]
        .map(|(opening, closing)| [number(opening), number(closing)])
}

/// The changes of these rows, added up, make the closing of the opening.
fn expect_sum(ends: Ends, rows: &Value) {
    for ([opening, closing], name) in ends.into_iter().zip(["balanceChange", "holdChange", "amount"]) {
        let changes = rows.as_array().unwrap().iter().map(|row| row[name].as_i64().unwrap());
        assert_eq!(opening + changes.sum::<i64>(), closing, "{name}: {rows}");
    }
}

/// A top-up is open at the bank and an order is new when the statement is read: nothing is settled.
#[tokio::test]
async fn a_statement_adds_up_while_requests_are_open() {
    let (server, api) = start(1_000_000).await;
    let card = api.main_cards(&server, 1).await.remove(0);
    server.bank.inject_faults(BankFaults { down: true, ..BankFaults::default() }).unwrap();
    api.top_up(&[(&card, 100_000)]).await;
    server.run_jobs();
    api.post("/v1/order/virtualcards", &virtual_order(1, 5_000)).await.ok(202);
    let expected = [[0, 1_000_000], [0, 105_000], [0, 895_000]];
    let statement = api.get("/v1/statement/2026-03").await.ok(200);
    assert_eq!(ends(&statement), expected);
    expect_sum(expected, &statement["totals"]);
    expect_sum(expected, &statement["days"]);
    let mut before = [0; 3];
    for day in statement["days"].as_array().unwrap() {
        let of_day = ends(day);
        assert_eq!(of_day.map(|[opening, _]| opening), before, "{day}");
        expect_sum(of_day, &json!([day]));
        before = of_day.map(|[_, closing]| closing);
    }
    let listed = entries(&api, "").await;
    assert_eq!(ends(&listed), expected);
    expect_sum(expected, &listed["data"]);
    for entry in listed["data"].as_array().unwrap() {
        let number = |name: &str| entry[name].as_i64().unwrap();
        assert_eq!(number("balance"), number("hold") + number("available"), "{entry}");
    }
    assert_eq!(ends(&api.get("/v1/statement/2026-02").await.ok(200)), [[0, 0]; 3]);
    server.bank.inject_faults(BankFaults::default()).unwrap();
    server.clock.advance(Duration::MINUTE);
    server.run_jobs();
    api.expect_money(895_000, 0).await;
}

/// In files too: the columns of changes add up to what the last row says.
#[tokio::test]
async fn files_add_up_while_requests_are_open() {
    let (server, client) = start_client(1_000_000);
    client.orders().virtual_cards(&[VirtualItem::new(2, 5_000)]).await.unwrap();
    let csv = String::from_utf8(read_file(&client, "2026-03", FileFormat::Csv).await).unwrap();
    let csv: Vec<Vec<String>> =
        csv.split_terminator("\r\n").map(|line| line.split(',').map(str::to_owned).collect()).collect();
    let xlsx = read_file(&client, "2026-03", FileFormat::Xlsx).await;
    let in_kopecks: ReadAmount = |text| text.parse().unwrap();
    let both: [(_, ReadAmount); 2] = [(csv, in_kopecks), (cells(&xlsx, "Entries"), kopecks)];
    for (sheet, read) in both {
        let number = |row: &[String], column: usize| read(&row[column]);
        let sum = |column| sheet.iter().skip(1).map(|row| number(row, column)).sum::<i64>();
        let last = sheet.last().unwrap();
        assert_eq!([4, 5, 9].map(|column| number(last, column)), [1_000_000, 10_000, 990_000]);
        assert_eq!([10, 11, 3].map(sum), [1_000_000, 10_000, 990_000]);
    }
    let totals = cells(&xlsx, "Totals");
    let row = |name: &str| totals.iter().find(|row| row[0] == name).unwrap();
    assert_eq!(row("Closing balance")[1..4], ["10000", "100", "9900"]);
    assert_eq!(row("Hold")[1..5], ["1", "-100", "0", "100"]);
    assert_eq!(
        totals.last().unwrap()[1..10],
        ["0", "10000", "9900", "10000", "100", "0", "0", "100", "9900"]
    );
    server.run_jobs();
}
