//! The report of what moved on the cards of each employee in a month, and the closing of a month.

use std::collections::BTreeMap;

use kopeck_client::{FileFormat, Language, ReportFilter};
use kopeck_domain::partner::SealingPolicy;
use kopeck_port_system::Clock as _;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use time::Duration;
use time::macros::datetime;

use crate::api_client::{Api, Plastic, text, virtual_order};
use crate::server::{SETTINGS, TestPartner, TestServer};
use crate::transactions::buy;

const MARCH: &str = "/v1/report/employees/2026-03";
const COLUMNS: [&str; 8] =
    ["opening", "given", "spent", "refunded", "returned", "correction", "late", "closing"];

fn figures(of: &Value) -> [i64; 8] {
    COLUMNS.map(|name| of[name].as_i64().unwrap_or_else(|| panic!("{name}: {of}")))
}

fn expect_equation(of: &Value) {
    let [opening, given, spent, refunded, returned, correction, late, closing] = figures(of);
    assert_eq!(opening + given - spent + refunded - returned + correction + late, closing, "{of}");
}

/// The report, whose rows and total add up.
async fn report(api: &Api, path: &str) -> Value {
    let report = api.get(path).await.ok(200);
    let mut sums = [0; 8];
    for row in report["data"].as_array().unwrap() {
        expect_equation(row);
        sums.iter_mut().zip(figures(row)).for_each(|(sum, amount)| *sum += amount);
    }
    expect_equation(&report["totals"]);
    assert_eq!(figures(&report["totals"]), sums, "{report}");
    report
}

fn row_of<'r>(report: &'r Value, employee: &Value) -> &'r Value {
    let rows = report["data"].as_array().unwrap();
    rows.iter().find(|row| row["idEmployee"] == *employee).unwrap_or_else(|| panic!("{employee}: {report}"))
}

/// What a statement says was spent and came back from cards.
async fn ledger(api: &Api, month: &str) -> (i64, i64) {
    let statement = api.get(&format!("/v1/statement/{month}")).await.ok(200);
    let of_type = |name: &str| {
        let totals = statement["totals"].as_array().unwrap();
        totals.iter().find(|total| total["type"] == name).unwrap()["balanceChange"].as_i64().unwrap()
    };
    (-of_type("DEBIT"), of_type("RETURN"))
}

async fn expect_ledger(api: &Api, report: &Value) {
    let [_, given, _, _, returned, ..] = figures(&report["totals"]);
    assert_eq!((given, returned), ledger(api, report["month"].as_str().unwrap()).await, "{report}");
}

async fn withdraw(server: &TestServer, api: &Api, card: &str, amount: i64) {
    api.post("/v1/withdrawals", &json!({"data": [{"idCard": card, "amount": amount}]})).await.ok(202);
    server.run_jobs();
}

async fn refund(api: &Api, card: &str, amount: i64) {
    let list = api.get(&format!("/v1/card/{card}/transactions?type=PAYMENT")).await.ok(200);
    let body = json!({"transactionId": list["data"][0]["id"], "amount": amount});
    api.post(&format!("/sandbox/v1/card/{card}/refund"), &body).await.ok(200);
}

/// Two employees with a card each, one in a category, and what they did in March.
async fn some_month(server: &TestServer, api: &Api) -> (Vec<Plastic>, Value, Value) {
    let cards = api.plastic(server, 2).await;
    let cooks = api.category("Повара").await;
    let person = json!({"customId": "E-1", "surname": "Ёжиков", "idCategory": cooks});
    let first = api.post("/v1/employee/add", &person).await.ok(200)["idEmployee"].clone();
    let second = json!(api.employee("E-2").await);
    api.link(first.as_str().unwrap(), &cards[0].number, "MAIN").await.ok(200);
    api.link(second.as_str().unwrap(), &cards[1].number, "MAIN").await.ok(200);
    api.top_up(&[(&cards[0].id, 50_000), (&cards[1].id, 30_000)]).await;
    server.run_jobs();
    buy(server, &cards[0].number, 12_000);
    server.follow_feed();
    refund(api, &cards[0].id, 2_000).await;
    withdraw(server, api, &cards[1].id, 5_000).await;
    // Nobody has this card.
    api.post("/v1/order/virtualcards", &virtual_order(1, 7_000)).await.ok(202);
    server.run_jobs();
    server.follow_feed();
    (cards, first, second)
}

fn start() -> (TestServer, TestPartner) {
    let server = TestServer::start();
    let partner = server.partner(SealingPolicy::Optional, 1_000_000);
    (server, partner)
}

#[tokio::test]
async fn a_report_has_a_row_for_each_person_and_equals_the_ledger() {
    let (server, partner) = start();
    let api = Api::login(&server, &partner).await;
    let empty = report(&api, MARCH).await;
    assert_eq!(
        (&empty["data"], &empty["complete"], &empty["sha256"]),
        (&json!([]), &json!(false), &Value::Null)
    );
    let (_, first, second) = some_month(&server, &api).await;
    let shown = report(&api, MARCH).await;
    assert_eq!(figures(row_of(&shown, &first)), [0, 50_000, 12_000, 2_000, 0, 0, 0, 40_000]);
    let row = row_of(&shown, &first);
    assert_eq!(
        (&row["customId"], &row["surname"], &row["name"]),
        (&json!("E-1"), &json!("Ёжиков"), &Value::Null)
    );
    assert_eq!((&row["category"], &row["payments"]), (&json!("Повара"), &json!(1)));
    assert_eq!(figures(row_of(&shown, &second)), [0, 30_000, 0, 0, 5_000, 0, 0, 25_000]);
    assert_eq!(figures(row_of(&shown, &Value::Null)), [0, 7_000, 0, 0, 0, 0, 0, 7_000]);
    expect_ledger(&api, &shown).await;
    let category = api.get("/v1/categories").await.ok(200)["data"][0]["idCategory"].clone();
    let cooks = report(&api, &format!("{MARCH}?idCategory={}", category.as_str().unwrap())).await;
    assert_eq!(cooks["data"], json!([row]));
    for (path, field) in [
        ("/v1/report/employees/2026-04", "month"),
        ("/v1/report/employees/2026-3", "month"),
        ("/v1/report/employees/2026-03?lang=de&idCategory=1", "idCategory"),
    ] {
        let refused = api.get(path).await.ok(422);
        assert_eq!(refused["data"][0]["field"], field, "{path}");
    }
    assert_eq!(server.check(), 0);
}

/// A closed month stays as it was, byte for byte, but for the names of who is erased.
#[tokio::test]
async fn a_closed_month_no_longer_changes() {
    let (server, partner) = start();
    let api = Api::login(&server, &partner).await;
    let (cards, first, second) = some_month(&server, &api).await;
    let close = "/v1/report/2026-03/close";
    let refused = api.post(close, &json!({})).await.ok(422);
    assert_eq!(refused["data"][0]["field"], "month");
    // A purchase before midnight of which the service learns after the closing.
    server.clock.advance(datetime!(2026-03-31 20:59 UTC) - server.clock.now());
    buy(&server, &cards[1].number, 1_000);
    server.clock.advance(Duration::HOUR);
    let api = Api::login(&server, &partner).await;
    let client = server.client(&partner);
    let filter = ReportFilter::default();
    let csv = async || {
        let statements = client.statements();
        let mut file =
            statements.report_file("2026-03", &filter, FileFormat::Csv, &Language::Russian).await.unwrap();
        let mut bytes = Vec::new();
        while let Some(chunk) = file.chunk().await.unwrap() {
            bytes.extend(chunk);
        }
        String::from_utf8(bytes).unwrap()
    };
    let before = csv().await;
    let closed = api.post(close, &json!({})).await.ok(200);
    let sum: String = Sha256::digest(before.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(closed, json!({"month": "2026-03", "sha256": sum}));
    api.post(close, &json!({})).await.refused(409, "period_closed");
    let shown = report(&api, MARCH).await;
    assert_eq!((&shown["sha256"], &shown["changedByErasure"]), (&json!(sum), &json!(false)));

    server.follow_feed();
    api.top_up(&[(&cards[0].id, 400)]).await;
    server.run_jobs();
    server.follow_feed();
    let (employee, category) = (first.as_str().unwrap(), api.category("Другие").await);
    let update = json!({"surname": "Новая", "idCategory": category});
    api.put(&format!("/v1/employee/{employee}"), &update).await.ok(200);
    assert_eq!(csv().await, before);
    assert_eq!(report(&api, MARCH).await, shown);
    let april = report(&api, "/v1/report/employees/2026-04").await;
    assert_eq!(figures(row_of(&april, &first)), [40_000, 400, 0, 0, 0, 0, 0, 40_400]);
    assert_eq!(row_of(&april, &first)["surname"], "Новая");
    assert_eq!(figures(row_of(&april, &second)), [25_000, 0, 0, 0, 0, 0, -1_000, 24_000]);
    expect_ledger(&api, &april).await;

    api.sandbox(&cards[0].id, "expire").await;
    api.delete(&format!("/v1/employee/{employee}")).await.ok(200);
    let erased = report(&api, MARCH).await;
    assert_eq!((&erased["sha256"], &erased["changedByErasure"]), (&json!(sum), &json!(true)));
    let row = row_of(&erased, &first);
    assert_eq!(
        (&row["customId"], &row["surname"], &row["category"]),
        (&Value::Null, &Value::Null, &Value::Null)
    );
    assert_eq!(figures(&erased["totals"]), figures(&shown["totals"]));
    assert_eq!(server.check(), 0);
}

/// Others have no row; one that is there is whole, but for `given`. A closed month is filtered as it was before.
#[tokio::test]
async fn a_report_of_a_programme_has_whom_its_runs_gave_something() {
    let (server, partner) = start();
    let api = Api::login(&server, &partner).await;
    let (cards, first, second) = some_month(&server, &api).await;
    let programme = async |people: Value, amount: i64| {
        let amount = json!({"fixed": amount});
        let terms = json!({"name": "Meals", "for": people, "amount": amount, "every": "MONTH", "day": 5});
        text(&api.post("/v1/programmes", &terms).await.ok(201)["idProgramme"]).clone()
    };
    let meals = programme(json!({"idEmployee": [first]}), 1_000).await;
    let gifts = programme(json!({"all": true}), 300).await;
    server.clock.advance(datetime!(2026-03-05 06:00 UTC) - server.clock.now());
    server.pay();
    let api = Api::login(&server, &partner).await;
    api.top_up(&[(&cards[0].id, 1_000)]).await;
    server.run_jobs();
    server.follow_feed();
    let all = report(&api, MARCH).await;
    let of = async |programme: &str| api.get(&format!("{MARCH}?idProgramme={programme}")).await.ok(200);
    let of_meals = of(&meals).await;
    let mut row = row_of(&all, &first).clone();
    assert_eq!(figures(&row), [0, 52_300, 12_000, 2_000, 0, 0, 0, 42_300]);
    row["given"] = json!(1_000);
    assert_eq!(of_meals["data"], json!([row]));
    assert_eq!(figures(&of_meals["totals"]), figures(&row));
    let of_gifts = of(&gifts).await;
    let given: Vec<_> = of_gifts["data"].as_array().unwrap().iter().map(|row| &row["given"]).collect();
    assert_eq!((given, &of_gifts["totals"]["given"]), (vec![&json!(300); 2], &json!(600)));
    assert_eq!(row_of(&of_gifts, &second)["closing"], row_of(&all, &second)["closing"]);
    let cooks = text(&api.get("/v1/categories").await.ok(200)["data"][0]["idCategory"]).clone();
    let both = api.get(&format!("{MARCH}?idCategory={cooks}&idProgramme={gifts}")).await.ok(200);
    assert_eq!(figures(&both["totals"]), [0, 300, 12_000, 2_000, 0, 0, 0, 42_300]);
    assert_eq!(of("01980000-0000-7000-8000-000000000000").await["data"], json!([]));
    let refused = api.get(&format!("{MARCH}?idProgramme=1")).await.ok(422);
    assert_eq!(refused["data"][0]["field"], "idProgramme");

    server.clock.advance(datetime!(2026-04-01 12:00 UTC) - server.clock.now());
    let api = Api::login(&server, &partner).await;
    api.post("/v1/report/2026-03/close", &json!({})).await.ok(200);
    let filter = ReportFilter { id_programme: Some(meals.parse().unwrap()), ..ReportFilter::default() };
    let closed = server.client(&partner).statements().report("2026-03", &filter).await.unwrap();
    assert!(closed.sha256.is_some());
    assert_eq!(serde_json::to_value(&closed.data).unwrap(), of_meals["data"]);
    assert_eq!(server.check(), 0);
}

/// The file's sum is in the audit log. A retry under its key gets the same response.
#[tokio::test]
async fn closing_a_month_is_audited_and_repeatable() {
    let (server, partner) = start();
    server.clock.advance(Duration::days(40));
    let api = Api::login(&server, &partner).await;
    let (path, nonce) = ("/v1/report/2026-03/close", crate::api_client::nonce());
    let mut answers = Vec::new();
    for _ in 0..2 {
        answers.push(api.send(reqwest::Method::POST, path, "{}".to_owned(), &nonce).await.ok(200));
    }
    assert_eq!(answers[0], answers[1]);
    let sum = answers[0]["sha256"].as_str().unwrap();
    assert!(String::from_utf8_lossy(&server.dump()).contains(&format!("month:2026-03 sha256:{sum}")));
    api.post(path, &json!({})).await.refused(409, "period_closed");
}

/// A generator of small numbers; the same seed, the same history.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }

    fn amount(&mut self, most: u64) -> i64 {
        i64::try_from((self.roll(most) + 1) * 100).unwrap()
    }
}

/// One step of a random history.
async fn step(server: &TestServer, api: &Api, cards: &[Plastic], dice: &mut Dice) {
    let count = u64::try_from(cards.len()).unwrap();
    let card = &cards[usize::try_from(dice.roll(count)).unwrap()];
    let balance = api.get(&format!("/v1/card/{}/balance", card.id)).await.ok(200)["balance"].as_i64();
    let balance = balance.unwrap_or(0);
    match dice.roll(7) {
        0 | 1 => {
            api.top_up(&[(&card.id, dice.amount(500))]).await;
            server.run_jobs();
        }
        2 | 3 if balance >= 200 => buy(server, &card.number, dice.amount(balance.unsigned_abs() / 200)),
        4 => {
            server.follow_feed();
            let list = api.get(&format!("/v1/card/{}/transactions?type=PAYMENT", card.id)).await.ok(200);
            if let Some(payment) = list["data"].as_array().unwrap().first() {
                let body = json!({"transactionId": payment["id"], "amount": 100});
                // The bank refuses more than was paid.
                let _ = api.post(&format!("/sandbox/v1/card/{}/refund", card.id), &body).await;
            }
        }
        5 if balance >= 200 => {
            withdraw(server, api, &card.id, dice.amount(balance.unsigned_abs() / 200)).await;
        }
        _ => {
            api.post("/v1/order/virtualcards", &virtual_order(1, 5_000 + dice.amount(50))).await.ok(202);
            server.run_jobs();
        }
    }
    server.clock.advance(SETTINGS.card_cache);
}

/// What the feed of transactions says of a month, by holder.
async fn expected(api: &Api, month: &str) -> BTreeMap<String, [i64; 2]> {
    let feed = api.get("/v1/transactions?limit=1000").await.ok(200);
    let mut rows: BTreeMap<String, [i64; 2]> = BTreeMap::new();
    for one in feed["data"].as_array().unwrap() {
        let (day, amount) = (one["dateExecutionAt"].as_str().unwrap(), one["amount"].as_i64().unwrap());
        let executed = format!("{}-{}", &day[6..], &day[3..5]);
        if executed.as_str() > month {
            continue;
        }
        let is_out = ["PAYMENT", "REVERSAL"].contains(&one["type"].as_str().unwrap());
        let row = rows.entry(one["idEmployee"].to_string()).or_default();
        row[1] += if is_out { -amount } else { amount };
        if executed.as_str() < month {
            row[0] = row[1];
        }
    }
    rows
}

/// Report, statement, feed, the cards' balances and the check agree, whatever happened, over the ends of months.
#[tokio::test]
async fn random_histories_agree_with_statement_feed_and_cards() {
    for seed in 1..=3 {
        let (server, partner) = start();
        let mut dice = Dice(seed);
        let api = Api::login(&server, &partner).await;
        let cards = api.plastic(&server, 3).await;
        for (place, card) in cards.iter().enumerate() {
            let employee = api.employee(&format!("E-{place}")).await;
            api.link(&employee, &card.number, "MAIN").await.ok(200);
        }
        for end in [datetime!(2026-03-31 20:59 UTC), datetime!(2026-04-30 20:59 UTC)] {
            let api = Api::login(&server, &partner).await;
            for _ in 0..8 {
                step(&server, &api, &cards, &mut dice).await;
            }
            server.clock.advance(end - server.clock.now());
            let api = Api::login(&server, &partner).await;
            // Around midnight of the zone.
            step(&server, &api, &cards, &mut dice).await;
            server.clock.advance(end + Duration::MINUTE - server.clock.now());
            step(&server, &api, &cards, &mut dice).await;
        }
        server.follow_feed();
        let api = Api::login(&server, &partner).await;
        let mut closing = 0;
        for month in ["2026-03", "2026-04", "2026-05"] {
            let shown = report(&api, &format!("/v1/report/employees/{month}")).await;
            expect_ledger(&api, &shown).await;
            assert_eq!(shown["totals"]["opening"], closing, "seed {seed}, {month}");
            closing = shown["totals"]["closing"].as_i64().unwrap();
            for (holder, [opening, closing]) in expected(&api, month).await {
                let rows = shown["data"].as_array().unwrap();
                let row = rows.iter().find(|row| {
                    let of = row["idEmployee"].to_string();
                    of == holder
                });
                match row {
                    Some(row) => {
                        assert_eq!((&row["opening"], &row["closing"]), (&json!(opening), &json!(closing)));
                    }
                    None => assert_eq!((opening, closing), (0, 0), "seed {seed}, {month}: {holder}"),
                }
            }
        }
        let listed = api.get("/v1/cards?per_page=500").await.ok(200);
        let mut on_cards = 0;
        for card in listed["data"].as_array().unwrap() {
            let path = format!("/v1/card/{}/balance", text(&card["idCard"]));
            on_cards += api.get(&path).await.ok(200)["balance"].as_i64().unwrap();
        }
        assert_eq!(on_cards, closing, "seed {seed}");
        assert_eq!(server.check(), 0);
    }
}
