//! The feed of events over HTTP.

use std::thread;
use std::time::{Duration, Instant};

use futures_util::stream::{FuturesUnordered, StreamExt as _};
use kopeck_client::{ErrorCode, EventQuery, EventType, NewEmployee};
use kopeck_domain::Kopecks;
use kopeck_domain::ledger::TransferReference;
use kopeck_domain::partner::SealingPolicy;
use kopeck_service::partners::{self, DepositOrigin};
use serde_json::{Value, json};

use crate::api_client::{Api, start, start_client, virtual_order};
use crate::clock_steps::sweep;
use crate::process::{Installation, Running};
use crate::raw_http::{get, login_call, post};
use crate::server::TestServer;

/// Type and data of the events of a page.
fn told(page: &Value) -> Vec<(&str, &Value)> {
    let events = page["data"].as_array().unwrap();
    events.iter().map(|event| (event["type"].as_str().unwrap(), &event["data"])).collect()
}

fn types(page: &Value) -> Vec<&str> {
    told(page).into_iter().map(|(event_type, _)| event_type).collect()
}

#[tokio::test]
async fn each_change_is_one_event_in_order() {
    let (server, api) = start(100_000).await;
    let employee = api.employee("E-1").await;
    let order = api.post("/v1/order/virtualcards", &virtual_order(1, 5_000)).await.ok(202);
    server.run_jobs();
    let card = api.get("/v1/cards/available").await.ok(200)["data"][0].clone();
    api.link(&employee, card["customIdCard"].as_str().unwrap(), "MAIN").await.ok(200);
    // A request that changes nothing makes no event.
    api.link(&employee, card["customIdCard"].as_str().unwrap(), "MAIN").await.ok(200);
    let page = api.get("/v1/events").await.ok(200);
    let of_order = |status: &str| json!({"orderId": order["orderId"], "status": status});
    let told = told(&page);
    let expected = [
        ("balance.deposited", json!({"amount": 100_000, "reference": null})),
        ("employee.created", json!({"idEmployee": employee, "customId": "E-1"})),
        ("order.status", of_order("NEW")),
        ("order.status", of_order("IN_PROCESS")),
        ("order.status", of_order("SUCCESS")),
    ];
    for (index, (event_type, data)) in expected.iter().enumerate() {
        assert_eq!(told[index], (*event_type, data));
    }
    assert_eq!(types(&page)[5..], ["card.issued", "card.linked"]);
    assert_eq!((&told[5].1["idCard"], &told[5].1["orderId"]), (&card["idCard"], &order["orderId"]));
    let link =
        json!({"idCard": card["idCard"], "idEmployee": employee, "statusCard": "MAIN", "bankStatus": "OPEN"});
    assert_eq!(told[6].1, &link);
    assert_eq!((&page["next"], &page["oldest"]), (&json!(7), &json!(1)));
    assert_eq!(page["data"][0]["createdAt"], "2026-03-02T09:00:00Z");
}

#[tokio::test]
async fn a_page_has_the_requested_events() {
    let (_server, api) = start(1).await;
    for name in ["E-1", "E-2", "E-3"] {
        api.employee(name).await;
    }
    let sequence = |page: &Value| -> Vec<i64> {
        page["data"].as_array().unwrap().iter().map(|event| event["seq"].as_i64().unwrap()).collect()
    };
    let page = api.get("/v1/events?after=1&limit=2").await.ok(200);
    assert_eq!((sequence(&page), &page["next"]), (vec![2, 3], &json!(3)));
    let page = api.get("/v1/events?after=4").await.ok(200);
    assert_eq!((sequence(&page), &page["next"]), (vec![], &json!(4)));
    let page = api.get("/v1/events?types=card.issued,balance.deposited").await.ok(200);
    assert_eq!(sequence(&page), [1]);
    let page = api.get("/v1/events?types=balance.deposited,%20balance.deposited+").await.ok(200);
    assert_eq!(sequence(&page), [1], "once, and blanks do not count");
    for (query, field) in [
        ("limit=0", "limit"),
        ("limit=501", "limit"),
        ("after=-1", "after"),
        ("wait=31", "wait"),
        ("types=card.melted", "types"),
        ("types=", "types"),
    ] {
        api.get(&format!("/v1/events?{query}")).await.faulty(&[field]);
    }
}

#[tokio::test]
async fn a_retry_makes_no_event() {
    let (_server, api) = start(1).await;
    let body = json!({"customId": "E-1"}).to_string();
    let nonce = "0123456789abcdef0123";
    for _ in 0..2 {
        api.send(reqwest::Method::POST, "/v1/employee/add", body.clone(), nonce).await;
    }
    let page = api.get("/v1/events").await.ok(200);
    assert_eq!(types(&page), ["balance.deposited", "employee.created"]);
}

#[tokio::test]
async fn a_reader_of_expired_events_begins_anew() {
    let server = TestServer::start();
    let partner = server.partner(SealingPolicy::Optional, 1);
    Api::login(&server, &partner).await.employee("E-1").await;
    server.clock.advance(time::Duration::days(31));
    sweep(&server);
    let api = Api::login(&server, &partner).await;
    api.get("/v1/events?after=1").await.refused(410, "events_expired");
    let page = api.get("/v1/events?after=2").await.ok(200);
    assert_eq!((types(&page), &page["oldest"]), (vec![], &json!(3)));
    api.employee("E-2").await;
    let page = api.get("/v1/events").await.ok(200);
    assert_eq!((types(&page), &page["next"]), (vec!["employee.created"], &json!(3)));
}

/// A waiting request gets the first event of its types and its partner.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_waiting_request_gets_the_next_event() {
    let (server, api) = start(1).await;
    let other = server.partner(SealingPolicy::Optional, 1);
    let other = Api::login(&server, &other).await;
    let waiting = {
        let api = api.clone();
        tokio::spawn(
            async move { api.get("/v1/events?after=1&wait=30&types=employee.updated").await.ok(200) },
        )
    };
    other.employee("E-1").await;
    let employee = api.employee("E-1").await;
    assert!(!waiting.is_finished());
    api.put(&format!("/v1/employee/{employee}"), &json!({"surname": "Ivanov"})).await.ok(200);
    let page = waiting.await.unwrap();
    assert_eq!((types(&page), &page["next"]), (vec!["employee.updated"], &json!(3)));
}

#[tokio::test]
async fn a_wait_in_vain_ends() {
    let (_server, api) = start(1).await;
    let page = api.get("/v1/events?after=1&wait=1").await.ok(200);
    assert_eq!((types(&page), &page["next"]), (vec![], &json!(1)));
}

#[tokio::test]
async fn a_hundred_requests_of_a_partner_wait_and_no_more() {
    let (_server, api) = start(1).await;
    let wait = || async { api.get("/v1/events?after=1&wait=30").await };
    let mut waiting: FuturesUnordered<_> = (0..101).map(|_| wait()).collect();
    let refused = waiting.next().await.unwrap();
    refused.refused(429, "too_many_requests");
    let unhurried = api.get("/v1/events").await.ok(200);
    assert_eq!(types(&unhurried), ["balance.deposited"], "a request that does not wait");
    api.employee("E-1").await;
    while let Some(answer) = waiting.next().await {
        assert_eq!(types(&answer.ok(200)), ["employee.created"]);
    }
}

/// The notification of an event arrives from another process well before the wait is over, and a server that stops ends
/// all waits.
#[test]
fn an_event_of_another_process_ends_the_wait() {
    let installation = Installation::on_a_server();
    let partner = installation.create_partner(&["--deposit", "0.01", "--sealing", "optional"]);
    let (first, second) = (installation.serve(&[]), installation.serve(&[]));
    let login = login_call(&partner.api_key, &partner.login, &partner.password);
    let token = login.send_to(&first.base_url).text_of("accessToken");
    let wait = |server: &Running, after: u32| {
        let call = get(&format!("/v1/events?after={after}&wait=30")).token(&token);
        let base = server.base_url.clone();
        thread::spawn(move || call.send_to(&base).ok(200))
    };
    let waiting = wait(&first, 1);
    let begun = Instant::now();
    let employee = json!({"customId": "E-1"});
    post("/v1/employee/add", &employee).token(&token).send_to(&second.base_url).ok(200);
    assert_eq!(types(&waiting.join().unwrap()), ["employee.created"]);
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());

    let waiting = wait(&second, 2);
    let (_, good) = first.stop("TERM");
    assert!(good, "{}", installation.log());
    let (_, good) = second.stop("TERM");
    assert!(good, "{}", installation.log());
    assert_eq!(types(&waiting.join().unwrap()), Vec::<&str>::new());
}

#[tokio::test]
async fn a_low_balance_is_one_event_until_it_is_above_the_threshold_again() {
    let (server, api) = start(100_000).await;
    let low = |page: &Value| -> Vec<Value> {
        told(page).into_iter().filter(|(of, _)| *of == "balance.low").map(|(_, data)| data.clone()).collect()
    };
    server.set_threshold(90_000);
    let mut orders = Vec::new();
    for _ in 0..3 {
        orders.push(api.post("/v1/order/virtualcards", &virtual_order(1, 5_000)).await.ok(202));
    }
    let told_once = json!([{"available": 85_000, "threshold": 90_000}]);
    let page = api.get("/v1/events").await.ok(200);
    assert_eq!(json!(low(&page)), told_once);
    // The event of its order comes before.
    let at = types(&page).iter().position(|of| *of == "balance.low").unwrap();
    assert_eq!(
        told(&page)[at - 1],
        ("order.status", &json!({"orderId": orders[2]["orderId"], "status": "NEW"}))
    );
    for order in &orders[..2] {
        api.post("/v1/order/cancel", &json!({"orderId": order["orderId"]})).await.ok(200);
    }
    api.post("/v1/order/virtualcards", &virtual_order(1, 6_000)).await.ok(202);
    assert_eq!(low(&api.get("/v1/events").await.ok(200)).len(), 2);
    // Set above the balance: at once. The same again, and zero, tell nothing.
    for threshold in [200_000, 200_000, 0] {
        server.set_threshold(threshold);
    }
    let page = api.get("/v1/events").await.ok(200);
    assert_eq!(low(&page).len(), 3);
    assert_eq!(low(&page)[2], json!({"available": 89_000, "threshold": 200_000}));
    server.run_jobs();
}

#[tokio::test]
async fn debits_by_an_operator_are_events() {
    let (server, api) = start(1_000).await;
    server.set_threshold(900);
    server.change_partners(|unit, env, id| {
        let reference = |text: &str| TransferReference::parse(text).unwrap();
        let wire = DepositOrigin::Operator(reference("wire-1"));
        partners::deposit(unit, env, id, Kopecks::new(500), &wire)?;
        partners::withdraw(unit, env, id, Kopecks::new(700), &reference("out-1"))?;
        partners::reverse_deposit(unit, env, id, &reference("wire-1")).map(drop)
    });
    let page = api.get("/v1/events?after=1").await.ok(200);
    let (deposit, paid) =
        (json!({"amount": 500, "reference": "wire-1"}), json!({"amount": 700, "reference": "out-1"}));
    let low = json!({"available": 800, "threshold": 900});
    let expected = [
        ("balance.deposited", &deposit),
        ("balance.withdrawn", &paid),
        ("balance.low", &low),
        ("balance.corrected", &deposit),
    ];
    assert_eq!(told(&page), expected);
    assert_eq!(api.get("/v1/balance").await.ok(200)["available"], 300);
    server.run_jobs();
}

/// A reader that has read further than a new feed gets an error, instead of waiting.
#[tokio::test]
async fn a_number_that_no_event_has_yet_is_refused_at_once() {
    let (server, api) = start(1).await;
    for query in ["after=2", "after=2&wait=30", "after=9223372036854775807&types=order.status"] {
        let begun = std::time::Instant::now();
        api.get(&format!("/v1/events?{query}")).await.refused(410, "events_ahead");
        assert!(begun.elapsed() < std::time::Duration::from_secs(20), "{query}");
    }
    let page = api.get("/v1/events?after=1").await.ok(200);
    assert_eq!(page, json!({"data": [], "next": 1, "oldest": 1, "newest": 1}));
    let page = api.get("/v1/events?types=order.status").await.ok(200);
    assert_eq!(page, json!({"data": [], "next": 0, "oldest": 1, "newest": 1}));
    server.set_threshold(5);
    assert_eq!(api.get("/v1/events?after=1&limit=1").await.ok(200)["newest"], 2);
}

/// One request, whatever the feed has: nothing that was, and all that comes.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reader_begins_from_now_on() {
    let (_server, api) = start(1).await;
    api.employee("E-1").await;
    let page = api.get("/v1/events?after=newest").await.ok(200);
    assert_eq!(page, json!({"data": [], "next": 2, "oldest": 1, "newest": 2}));
    for after in ["NEWEST", "newest1", "1.5", ""] {
        api.get(&format!("/v1/events?after={after}")).await.faulty(&["after"]);
    }
    let waiting = {
        let api = api.clone();
        tokio::spawn(async move { api.get("/v1/events?after=newest&wait=30").await.ok(200) })
    };
    // The waiting request may come behind some of them, and gets those that came until it read the feed.
    let mut number = 2;
    while !waiting.is_finished() {
        api.employee(&format!("E-{number}")).await;
        number += 1;
    }
    let page = waiting.await.unwrap();
    let types = types(&page);
    assert!(!types.is_empty() && types.iter().all(|kind| *kind == "employee.created"), "{page}");
    assert!(page["data"][0]["seq"].as_i64().unwrap() > 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_client_follows_from_now_on_and_names_a_feed_that_began_anew() {
    let (_server, client) = start_client(1);
    let refused = client.events().list(&EventQuery { after: 7, ..EventQuery::default() }).await.unwrap_err();
    assert_eq!(refused.code(), Some(&ErrorCode::EventsAhead), "{refused:?}");
    assert!(refused.to_string().contains("the feed is not the one that you read"), "{refused}");
    assert!(client.events().follow(7, &[]).next().await.is_err());
    let now = client.events().list(&EventQuery { from_now: true, ..EventQuery::default() }).await.unwrap();
    assert_eq!((now.data.len(), now.next, now.newest), (0, 1, Some(1)));
    let mut events = client.events().follow_from_now(&[]);
    let mut first = tokio::spawn(async move { events.next().await.unwrap() });
    let mut number = 1;
    let event = loop {
        client.employees().add(&NewEmployee::new(format!("E-{number}"))).await.unwrap();
        number += 1;
        if let Ok(event) = tokio::time::timeout(std::time::Duration::from_millis(100), &mut first).await {
            break event.unwrap();
        }
    };
    assert!(event.seq > 1 && event.data.event_type() == EventType::EmployeeCreated, "{event:?}");
}
