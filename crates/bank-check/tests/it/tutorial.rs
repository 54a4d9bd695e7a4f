//! The first steps of the tutorial: a connector that responds with the JSON of the page keeps the rules that the page names.

use std::collections::BTreeSet;
use std::net::TcpListener;
use std::sync::{Arc, mpsc};
use std::time::Duration;

use actix_web::{App, HttpResponse, HttpServer, web};
use kopeck_adapter_bank_http::BankAddress;
use kopeck_adapter_system::{SystemClock, TimeOrderedIds};
use kopeck_bank_check::{CheckSettings, Outcome, RULES, check, rule};
use kopeck_bank_protocol::CapabilitiesResponse;
use kopeck_port_bank::{Capabilities, Capability};
use kopeck_port_system::IdSource as _;
use secrecy::SecretString;
use serde_json::Value;

const PAGE: &str = include_str!("../../../../docs/bank/tutorial.md");

/// The JSON on the page, in its order.
fn examples() -> [Value; 2] {
    let blocks = PAGE.split("```json\n").skip(1).map(|text| text.split("```").next().unwrap());
    let examples: Vec<Value> = blocks.map(|block| serde_json::from_str(block).unwrap()).collect();
    examples.try_into().unwrap()
}

/// The rules of a text such as `1–5` or `6,10`.
fn numbers(text: &str) -> BTreeSet<u16> {
    let range = |part: &str| {
        let (first, last) = part.split_once(['–', '-']).unwrap_or((part, part));
        first.parse().unwrap()..=last.parse::<u16>().unwrap()
    };
    let known = |number: &u16| rule(*number).is_some();
    text.split(',').flat_map(range).filter(known).collect()
}

/// Serves the two operations until the end of the test; its URL.
fn connector([capabilities, queried]: [Value; 2]) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let query = move |body: web::Json<Value>| {
        let result = |key: &Value| {
            let mut result = queried["results"][0].clone();
            result["key"] = key.clone();
            result
        };
        let results: Vec<Value> = body["keys"].as_array().unwrap().iter().map(result).collect();
        std::future::ready(HttpResponse::Ok().json(serde_json::json!({"results": results})))
    };
    let app = move || {
        let (capabilities, query) = (capabilities.clone(), query.clone());
        let capabilities = move || std::future::ready(HttpResponse::Ok().json(&capabilities));
        App::new()
            .route("/bank/v1/capabilities", web::get().to(capabilities))
            .route("/bank/v1/instructions/query", web::post().to(query))
    };
    let (sender, started) = mpsc::channel();
    std::thread::spawn(move || {
        actix_web::rt::System::new().block_on(async move {
            let server = HttpServer::new(app).workers(1).listen(listener).unwrap().run();
            sender.send(()).unwrap();
            server.await.unwrap();
        });
    });
    started.recv().unwrap();
    url
}

#[test]
fn the_first_instruction_in_ten_minutes_begins_with_a_rule_that_holds() {
    let [capabilities, queried] = examples();
    let lacks: CapabilitiesResponse = serde_json::from_value(capabilities.clone()).unwrap();
    assert_eq!(
        Capabilities::from(lacks),
        Capabilities::without(Capability::ALL),
        "the page lacks all of them"
    );
    let secret = SecretString::from("a-secret-for-tests");
    let address =
        BankAddress::new(&connector([capabilities, queried]), secret, Duration::from_secs(60)).unwrap();
    let settings = CheckSettings {
        address,
        run: TimeOrderedIds.next_id(),
        patience: Duration::from_secs(60),
        clock: Arc::new(SystemClock::default()),
    };
    let command = PAGE.split("--test-account --only ").nth(1).unwrap().lines().next().unwrap();
    let first: Vec<_> = numbers(command).into_iter().map(|number| rule(number).unwrap()).collect();
    assert!(!first.is_empty());
    let report = check(&settings, &first).unwrap();
    assert!(report.rules.iter().all(|rule| rule.outcome == Outcome::Holds), "{}", report.to_text());
    // The others say what is missing.
    let rest: Vec<_> =
        RULES.iter().filter(|one| !first.iter().any(|held| held.number == one.number)).collect();
    let report = check(&settings, &rest).unwrap();
    assert!(report.rules.iter().all(|rule| rule.outcome != Outcome::Holds), "{}", report.to_text());
}

/// Whoever goes through the table has built all of it.
#[test]
fn the_steps_name_every_rule_once() {
    let table = PAGE.split("| step | rules | the point |\n|---|---|---|\n").nth(1).unwrap();
    let rows = table.lines().take_while(|line| line.starts_with("| "));
    let steps: Vec<u16> = rows.flat_map(|row| numbers(row.split(" | ").nth(1).unwrap())).collect();
    let distinct: BTreeSet<u16> = steps.iter().copied().collect();
    assert_eq!(steps.len(), distinct.len(), "{steps:?}");
    assert_eq!(distinct, RULES.iter().map(|rule| rule.number).collect());
}
