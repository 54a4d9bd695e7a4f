//! The request log: what is in it, what never is, and how it is read.

use std::collections::BTreeSet;

use kopeck_domain::partner::SealingPolicy;
use serde_json::{Value, json};
use time::Duration;

use crate::raw_http::{RawRequest, get, login, login_call, optional, post, refresh_call};
use crate::server::TestServer;
use crate::world::{Things, samples, token_operations};

const UNKNOWN: &str = "0f8fad5b-d9cb-469f-a165-70867728950e";

/// The whole answer to a query of the log, once everything is written.
fn page(server: &TestServer, token: &str, query: &str) -> Value {
    server.write_request_log();
    get(&format!("/v1/requests{query}")).token(token).send(server).ok(200)
}

fn rows(server: &TestServer, token: &str, query: &str) -> Vec<Value> {
    page(server, token, query)["data"].as_array().unwrap().clone()
}

fn column<'a>(rows: &'a [Value], name: &str) -> Vec<&'a str> {
    rows.iter().map(|row| row[name].as_str().unwrap_or("-")).collect()
}

#[test]
fn each_request_has_a_row() {
    let server = TestServer::start();
    let (_, token) = optional(&server);
    let add = post("/v1/employee/add", &json!({"customId": "T-1"})).token(&token).key("k-1");
    let added = add.send(&server);
    let id = added.text_of("idEmployee");
    add.send(&server).ok(200);
    get(&format!("/v1/employee/{UNKNOWN}")).token(&token).send(&server);
    let named = get("/v1/balance").with("x-request-id", "mine.1").from([127, 0, 0, 7]).token(&token);
    named.send(&server).ok(200);
    let rows = rows(&server, &token, "");
    assert_eq!(
        column(&rows, "operation"),
        ["token.access", "employee.add", "employee.add", "employee.get", "balance"]
    );
    let facts = |row: &Value| {
        ["status", "code", "fields", "credential", "address", "replayed"].map(|name| row[name].clone())
    };
    let here = json!("127.0.0.1");
    let fine = |replayed| [json!(200), json!(null), json!([]), json!(null), here.clone(), json!(replayed)];
    assert_eq!([facts(&rows[1]), facts(&rows[2])], [fine(false), fine(true)]);
    assert_eq!(rows[1]["requestId"], added.request_id());
    let missing = [json!(404), json!("employee_not_found"), json!([]), json!(null), here, json!(false)];
    assert_eq!(facts(&rows[3]), missing);
    assert_eq!((&rows[4]["requestId"], &rows[4]["address"]), (&json!("mine.1"), &json!("127.0.0.7")));
    assert!(rows[4]["durationMs"].is_u64() && rows[4]["at"].as_str().unwrap().ends_with('Z'), "{}", rows[4]);
    assert!(!format!("{rows:?}").contains(&id) && !format!("{rows:?}").contains("T-1"));
}

/// Neither those of nobody, nor 401s, nor reads of the log itself.
#[test]
fn some_requests_have_no_row() {
    let server = TestServer::start();
    let (partner, token) = optional(&server);
    login_call(&partner.api_key, &partner.login, "wrong").send(&server);
    get("/v1/balance").token("nonsense").send(&server);
    get("/v1/nothing").token(&token).send(&server);
    refresh_call(&partner, "nonsense").send(&server);
    page(&server, &token, "");
    get("/v1/requests?limit=0").token(&token).send(&server);
    let rows = rows(&server, &token, "");
    assert_eq!(column(&rows, "operation"), ["token.access", "request.list"]);
    assert_eq!((&rows[1]["status"], &rows[1]["fields"]), (&json!(422), &json!(["limit"])));
}

#[test]
fn the_log_is_read_in_order_and_by_filters() {
    let server = TestServer::start();
    let (_, token) = optional(&server);
    for number in 0..7 {
        let call = if number % 3 == 0 { get(&format!("/v1/card/{UNKNOWN}")) } else { get("/v1/balance") };
        call.with("x-request-id", format!("r-{number}")).token(&token).send(&server);
        server.write_request_log();
    }
    let ids = |query: &str| column(&rows(&server, &token, query), "requestId").join(" ");
    assert_eq!(ids("?operation=balance"), "r-1 r-2 r-4 r-5");
    assert_eq!(ids("?status=404"), "r-0 r-3 r-6");
    assert_eq!(ids("?status=404&operation=balance"), "");
    assert_eq!(ids("?requestId=r-5"), "r-5");
    let (mut after, mut read) = (0, Vec::new());
    loop {
        let part = page(&server, &token, &format!("?after={after}&limit=3"));
        let next = part["next"].as_i64().unwrap();
        if next == after {
            assert_eq!(part["data"], json!([]));
            break;
        }
        read.extend(part["data"].as_array().unwrap().clone());
        after = next;
    }
    assert_eq!(column(&read, "requestId")[1..].join(" "), "r-0 r-1 r-2 r-3 r-4 r-5 r-6");
    let numbers: Vec<i64> = read.iter().map(|row| row["seq"].as_i64().unwrap()).collect();
    assert!(numbers.is_sorted_by(|one, next| one < next), "{numbers:?}");
    for (query, field) in [
        ("?limit=501", "limit"),
        ("?after=-1", "after"),
        ("?status=99", "status"),
        ("?status=ok", "status"),
        ("?operation=nothing", "operation"),
        ("?requestId=%20", "requestId"),
    ] {
        let got = get(&format!("/v1/requests{query}")).token(&token).send(&server);
        assert_eq!((got.status, got.fields().as_str()), (422, field), "{query}");
    }
}

#[test]
fn a_partner_sees_its_own_requests_alone() {
    let server = TestServer::start();
    let [(_, busy), (_, quiet)] = [optional(&server), optional(&server)];
    get("/v1/balance").with("x-request-id", "theirs").token(&busy).send(&server).ok(200);
    assert_eq!(column(&rows(&server, &busy, ""), "operation"), ["token.access", "balance"]);
    assert_eq!(column(&rows(&server, &quiet, ""), "operation"), ["token.access"]);
    assert_eq!(rows(&server, &quiet, "?requestId=theirs"), Vec::<Value>::new());
}

/// All rows that are written, page by page.
fn whole_log(server: &TestServer, token: &str) -> Vec<Value> {
    let (mut after, mut log) = (0, Vec::new());
    loop {
        let part = page(server, token, &format!("?limit=500&after={after}"));
        log.extend(part["data"].as_array().unwrap().clone());
        match part["next"].as_i64().unwrap() {
            next if next == after => return log,
            next => after = next,
        }
    }
}

/// A text that is nowhere else.
const SECRET: &str = "Zxqsecret";

/// Whatever a client writes in any place of any request: as value, as name, within lists and objects, twice as sealed value
/// that does not open.
#[test]
fn no_text_of_a_client_is_in_the_log() {
    let server = TestServer::start();
    let (_, token) = optional(&server);
    let things = Things::make(&server, &token, 1);
    let (mut planted, mut operations) = (0, BTreeSet::new());
    let mut plant = || {
        planted += 1;
        format!("{SECRET}{planted}")
    };
    for sample in samples() {
        let call = sample.call(&things);
        let operation = sample.operation;
        let path = operation
            .placeholders()
            .fold(operation.path.to_owned(), |path, name| path.replace(&format!("{{{name}}}"), &plant()));
        let mut variants = vec![RawRequest { target: path, ..call.clone() }];
        for name in operation.fields() {
            // The tests' server takes any text for a URL, the document does not.
            let text = if name == "url" { format!("https://hooks.example/{}", plant()) } else { plant() };
            let values = [
                json!(text),
                json!([plant()]),
                json!([{name: plant(), plant(): plant()}]),
                json!({name: plant(), plant(): [plant()]}),
                json!(format!("s1.{}", plant())),
            ];
            for value in values {
                if operation.method == "GET" {
                    let text = value.to_string().replace(['"', '[', ']', '{', '}', ' '], "");
                    let target = format!(
                        "{}?{name}={text}&{}={}",
                        call.target.split('?').next().unwrap(),
                        plant(),
                        plant()
                    );
                    variants.push(RawRequest { target, ..call.clone() });
                } else {
                    let mut body = json!({name: value, plant(): {plant(): plant()}});
                    variants.push(RawRequest::new(operation.method, &call.target).json(&body));
                    // One that does not open: nothing else is looked at.
                    body[plant()] = json!(format!("s1.{}", plant()));
                    variants.push(RawRequest::new(operation.method, &call.target).json(&body));
                }
            }
        }
        for variant in variants {
            let got = variant.token(&token).and("x-custom", plant()).send(&server);
            assert_ne!(got.status, 500, "{got:?}");
            operations.insert(operation.name);
        }
        server.write_request_log();
    }
    // What became of the runs, too.
    for _ in 0..4 {
        server.run_jobs();
    }
    assert_eq!(operations, token_operations().map(|operation| operation.name).collect());
    assert!(planted > 2_000, "{planted}");
    let log = whole_log(&server, &token);
    let text = format!("{log:?}").to_lowercase();
    assert!(!text.contains(&SECRET.to_lowercase()), "{text}");
    let fields: BTreeSet<&str> = log
        .iter()
        .flat_map(|row| row["fields"].as_array().unwrap())
        .map(|name| name.as_str().unwrap())
        .collect();
    assert!(log.len() > 500, "{}", log.len());
    // The names that the operations declare are there.
    for name in ["customId", "idCard", "cards[0].idCard", "data[0].idCard", "limit", "types"] {
        assert!(fields.contains(name), "{name}: {fields:?}");
    }
}

#[test]
fn requests_are_kept_for_two_weeks() {
    let server = TestServer::start();
    let partner = server.partner(SealingPolicy::Optional, 0);
    let sweep = || {
        let env = std::sync::Arc::clone(&server.application.env);
        let sweep = move |unit: &mut dyn kopeck_port_store::UnitOfWork| {
            kopeck_service::housekeeping::sweep(unit, &env)
        };
        kopeck_port_store::transact(&*server.application.store, kopeck_port_store::Access::Write, sweep)
            .unwrap()
    };
    login(&server, &partner);
    server.write_request_log();
    server.clock.advance(Duration::days(14));
    let token = login(&server, &partner).access;
    server.write_request_log();
    let all = || column(&rows(&server, &token, ""), "operation").len();
    sweep();
    assert_eq!(all(), 2, "to the microsecond");
    server.clock.advance(Duration::milliseconds(1));
    sweep();
    assert_eq!(all(), 1);
}
