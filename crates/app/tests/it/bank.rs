//! A bank with faults and workers that stop half-way: nothing is declined because of them, and nothing is done twice.

use std::cell::Cell;
use std::collections::HashSet;

use kopeck_domain::partner::SealingPolicy;
use kopeck_port_bank::BankKey;
use kopeck_port_bank::sandbox::{BankFaults, SandboxControl as _};
use kopeck_service::worker::{Task, TaskResult, Worker};
use serde_json::json;
use time::Duration;

use crate::api_client::{Api, start, text, virtual_order};
use crate::server::{SETTINGS, TestServer};

const LEASE: Duration = Duration::seconds(31);
/// The longest backoff before the bank is queried again.
const PATIENCE: Duration = Duration::seconds(10);

fn behave(server: &TestServer, behaviour: BankFaults) {
    server.bank.inject_faults(behaviour).unwrap();
}

fn down() -> BankFaults {
    BankFaults { down: true, ..BankFaults::default() }
}

/// Lets so many tries pass.
fn tries(server: &TestServer, count: u32) {
    for _ in 0..count {
        server.clock.advance(PATIENCE);
        server.work_now();
    }
}

fn order_key(order: &str) -> BankKey {
    BankKey::new(format!("order/{order}")).unwrap()
}

fn top_up_key(request: &str, ordinal: usize) -> BankKey {
    BankKey::new(format!("replenishment/{request}/{ordinal}")).unwrap()
}

async fn order(api: &Api, count: u32, amount: i64) -> String {
    text(&api.post("/v1/order/virtualcards", &virtual_order(count, amount)).await.ok(202)["orderId"])
}

async fn balance_at_bank(api: &Api, server: &TestServer, card: &str) -> i64 {
    server.clock.advance(SETTINGS.card_cache);
    api.get(&format!("/v1/card/{card}/balance")).await.ok(200)["balance"].as_i64().unwrap()
}

/// An order and a request of two cards, both accepted and not yet taken up.
async fn two_requests(server: &TestServer, api: &Api) -> (String, String, Vec<String>) {
    let cards = api.main_cards(server, 2).await;
    let order = order(api, 2, 10_000).await;
    let top_up = api.top_up(&[(&cards[0], 3_000), (&cards[1], 500)]).await;
    (order, top_up, cards)
}

/// Checks that both are done, once, to the kopeck.
async fn expect_done_once(server: &TestServer, api: &Api, requests: &(String, String, Vec<String>)) {
    let (order, top_up, cards) = requests;
    assert_eq!(
        (api.order_state(order).await.as_str(), api.top_up_state(top_up).await.as_str()),
        ("SUCCESS", "SUCCESS")
    );
    api.expect_money(100_000 - 23_500, 0).await;
    behave(server, BankFaults::default());
    let made = api.get(&format!("/v1/order/result/{order}")).await.ok(200);
    assert_eq!(made["data"].as_array().unwrap().len(), 2);
    assert_eq!(api.free().await.len(), 2);
    assert_eq!(balance_at_bank(api, server, &cards[0]).await, 3_000);
    assert_eq!(balance_at_bank(api, server, &cards[1]).await, 500);
    let books = server.bank.totals().unwrap();
    assert_eq!((books.top_ups.get(), books.first_top_ups.get()), (3_500, 20_000));
    for key in [order_key(order), top_up_key(top_up, 0), top_up_key(top_up, 1)] {
        assert_eq!(server.bank.applied(&key).unwrap(), 1);
    }
}

/// Checks that both are still waited for.
async fn expect_in_process(api: &Api, requests: &(String, String, Vec<String>)) {
    let (order, top_up, cards) = requests;
    let states = (api.order_state(order).await, api.top_up_state(top_up).await);
    assert_eq!(states, ("IN_PROCESS".to_owned(), "IN_PROCESS".to_owned()));
    api.expect_money(100_000, 23_500).await;
    api.get(&format!("/v1/order/result/{order}")).await.refused(404, "order_not_processed");
    api.get(&format!("/v1/replenishment/{top_up}/result")).await.refused(409, "request_not_processed");
    let again = crate::api_client::top_ups(&[(&cards[0], 1)]);
    api.post("/v1/replenishment", &again).await.faulty_cards(409, &[("card_in_request", &cards[0])]);
}

#[tokio::test]
async fn while_the_bank_does_not_respond_requests_wait_and_are_carried_out_once() {
    let every = BankFaults::default();
    for silence in [
        down(),
        BankFaults { error_rate: 1.0, ..every },
        BankFaults { lose_answer_rate: 1.0, error_rate: 1.0, ..every },
        BankFaults { error_rate: 1.0, duplicate_rate: 1.0, ..every },
    ] {
        let (server, api) = start(100_000).await;
        let requests = two_requests(&server, &api).await;
        behave(&server, silence);
        server.run_jobs();
        expect_in_process(&api, &requests).await;
        tries(&server, 20);
        expect_in_process(&api, &requests).await;
        behave(&server, BankFaults::default());
        tries(&server, 2);
        expect_done_once(&server, &api, &requests).await;
    }
}

#[tokio::test]
async fn a_lost_response_is_queried_and_nothing_is_sent_twice() {
    for behaviour in [
        BankFaults { lose_answer_rate: 1.0, ..BankFaults::default() },
        BankFaults { lose_answer_rate: 1.0, duplicate_rate: 1.0, ..BankFaults::default() },
    ] {
        let (server, api) = start(100_000).await;
        let requests = two_requests(&server, &api).await;
        behave(&server, behaviour);
        server.clock.advance(SETTINGS.processing_delay);
        let worker = server.application.worker(server.bank.clone());
        assert_eq!(worker.run_once(&|| false).unwrap(), 2);
        expect_in_process(&api, &requests).await;
        // The bank still loses answers, but a question has one.
        tries(&server, 3);
        expect_done_once(&server, &api, &requests).await;
    }
}

#[tokio::test]
async fn a_slow_bank_is_waited_for() {
    let (server, api) = start(100_000).await;
    let requests = two_requests(&server, &api).await;
    behave(&server, BankFaults { latency: std::time::Duration::from_millis(30), ..BankFaults::default() });
    server.run_jobs();
    expect_done_once(&server, &api, &requests).await;
}

#[tokio::test]
async fn a_bank_of_bad_days_comes_right_to_the_kopeck() {
    let server = TestServer::start();
    let partner = server.partner(SealingPolicy::Optional, 1_000_000);
    let mut api = Api::login(&server, &partner).await;
    let cards = api.main_cards(&server, 12).await;
    behave(
        &server,
        BankFaults { error_rate: 0.4, lose_answer_rate: 0.4, duplicate_rate: 0.5, ..BankFaults::default() },
    );
    let mut spent = 0;
    for round in 0..5_i64 {
        // Each third card asks for what the bank refuses.
        let asked: Vec<(&str, i64)> = (0..)
            .zip(&cards)
            .map(|(place, card)| {
                (card.as_str(), if place % 3 == 0 { 1_013 + 100 * round } else { 1_000 + place })
            })
            .collect();
        let id = api.top_up(&asked).await;
        let ordered = order(&api, 3, 5_000).await;
        server.run_jobs();
        tries(&server, 40);
        // The token has run out meanwhile, or will soon.
        api = Api::login(&server, &partner).await;
        assert_eq!(
            (api.top_up_state(&id).await.as_str(), api.order_state(&ordered).await.as_str()),
            ("PART_SUCCESS", "SUCCESS")
        );
        let result = api.get(&format!("/v1/replenishment/{id}/result")).await.ok(200);
        for (place, item) in result["data"].as_array().unwrap().iter().enumerate() {
            let refused = place % 3 == 0;
            assert_eq!(item["resultReplenishment"], json!(!refused));
            assert_eq!(
                item["errorReplenishment"],
                if refused { json!("refused by the bank") } else { json!(null) }
            );
            assert_eq!(server.bank.applied(&top_up_key(&id, place)).unwrap(), u32::from(!refused));
        }
        spent +=
            asked.iter().map(|(_, amount)| amount).filter(|amount| *amount % 100 != 13).sum::<i64>() + 15_000;
        api.expect_money(1_000_000 - spent, 0).await;
    }
    let books = server.bank.totals().unwrap();
    assert_eq!((books.top_ups.get(), books.first_top_ups.get()), (spent - 75_000, 75_000));
    assert_eq!(api.free().await.len(), 15);
}

/// More cards than are fetched at a time, from a bank that fails every other time.
#[tokio::test]
async fn a_large_order_is_fetched_in_pieces_and_is_whole_in_the_end() {
    let (server, api) = start(10_000_000).await;
    let id = order(&api, 1_201, 5_000).await;
    behave(&server, BankFaults { error_rate: 0.5, lose_answer_rate: 0.5, ..BankFaults::default() });
    server.run_jobs();
    tries(&server, 40);
    assert_eq!(api.order_state(&id).await, "SUCCESS");
    let result = api.get(&format!("/v1/order/result/{id}")).await.ok(200);
    let numbers: HashSet<&str> = result["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|card| card["customIdCard"].as_str().unwrap())
        .collect();
    assert_eq!((result["data"].as_array().unwrap().len(), numbers.len()), (1_201, 1_201));
    assert_eq!(api.get("/v1/cards/available").await.ok(200)["meta"]["total"], 1_201);
    api.expect_money(10_000_000 - 1_201 * 5_000, 0).await;
    assert_eq!(server.bank.applied(&order_key(&id)).unwrap(), 1);
}

#[tokio::test]
async fn without_the_bank_a_card_is_shown_from_the_last_copy() {
    let (server, api) = start(100_000).await;
    let card = api.main_cards(&server, 1).await.remove(0);
    let spare = api.plastic(&server, 1).await.remove(0);
    api.top_up(&[(&card, 700)]).await;
    server.run_jobs();
    assert_eq!(balance_at_bank(&api, &server, &card).await, 700);
    let paths = ["", "/balance", "/transactions"].map(|path| format!("/v1/card/{card}{path}"));
    let mut before = Vec::new();
    for path in &paths {
        before.push(api.get(path).await.ok(200));
    }
    assert_eq!(before[2]["data"][0]["amount"], 700);
    for silence in [down(), BankFaults { error_rate: 1.0, ..BankFaults::default() }] {
        behave(&server, silence);
        server.clock.advance(SETTINGS.card_cache);
        for (path, before) in paths.iter().zip(&before) {
            assert_eq!(api.get(path).await.ok(200), *before, "{path}");
        }
        // There is no copy of this card's transactions yet.
        api.get(&format!("/v1/card/{}/transactions", spare.id)).await.refused(503, "bank_unavailable");
        api.get(&format!("/v1/card/{}", spare.id)).await.ok(200);
    }
    // Cards are linked by what was last known of them.
    let employee = api.employee("away").await;
    api.link(&employee, &spare.number, "MAIN").await.ok(200);
    api.switch(&employee, &spare.id, "ADDITIONAL").await.ok(200);
    behave(&server, BankFaults::default());
    api.get(&format!("/v1/card/{}/transactions", spare.id)).await.ok(200);
}

/// The progress of a worker when it stopped.
#[derive(Debug, Clone, Copy)]
enum StopPoint {
    AfterTake,
    AfterCall,
}

#[tokio::test]
async fn another_worker_takes_over_when_the_first_has_stopped() {
    for stopped in [StopPoint::AfterTake, StopPoint::AfterCall] {
        for late in [false, true] {
            let (server, api) = start(100_000).await;
            let requests = two_requests(&server, &api).await;
            server.clock.advance(SETTINGS.processing_delay);
            let first = server.application.worker(server.bank.clone());
            let second = server.application.worker(server.bank.clone());
            let errands = first.take().unwrap();
            assert_eq!(errands.len(), 2);
            expect_in_process(&api, &requests).await;
            let reports = called(&first, &errands, stopped);
            // Under its lease no other worker gets the jobs.
            assert_eq!(second.run_once(&|| false).unwrap(), 0);
            expect_in_process(&api, &requests).await;
            server.clock.advance(LEASE);
            while second.run_once(&|| false).unwrap() > 0 {}
            if late {
                // The first wakes up and goes on as if nothing had been.
                let reports =
                    if reports.is_empty() { called(&first, &errands, StopPoint::AfterCall) } else { reports };
                reports.into_iter().for_each(|report| first.settle(report).unwrap());
            }
            server.work_now();
            expect_done_once(&server, &api, &requests).await;
        }
    }
}

fn called(worker: &Worker, tasks: &[Task], stopped: StopPoint) -> Vec<TaskResult> {
    match stopped {
        StopPoint::AfterTake => Vec::new(),
        StopPoint::AfterCall => tasks.iter().cloned().map(|task| worker.call(task)).collect(),
    }
}

/// The response to a worker's second and later checks whether it has to stop: at the first one it has claimed nothing.
fn once_taken(answer: impl Fn() -> bool) -> impl Fn() -> bool {
    let has_taken = Cell::new(false);
    move || has_taken.replace(true) && answer()
}

/// The worker is held up until another has its jobs. The bank carries out twice what it is sent twice.
#[tokio::test]
async fn a_worker_whose_lease_is_over_tells_the_bank_nothing() {
    let (server, api) = start(100_000).await;
    let requests = two_requests(&server, &api).await;
    behave(&server, BankFaults { duplicate_rate: 1.0, ..BankFaults::default() });
    server.clock.advance(SETTINGS.processing_delay);
    let (first, second) =
        (server.application.worker(server.bank.clone()), server.application.worker(server.bank.clone()));
    let held_up = once_taken(|| {
        server.clock.advance(LEASE);
        while second.run_once(&|| false).unwrap() > 0 {}
        false
    });
    assert_eq!(first.run_once(&held_up).unwrap(), 2);
    expect_done_once(&server, &api, &requests).await;
}

/// There was no other worker: the jobs are due again.
#[tokio::test]
async fn a_worker_that_was_held_up_alone_tries_again() {
    let (server, api) = start(100_000).await;
    let requests = two_requests(&server, &api).await;
    server.clock.advance(SETTINGS.processing_delay);
    let worker = server.application.worker(server.bank.clone());
    let held_up = once_taken(|| {
        server.clock.advance(LEASE);
        false
    });
    assert_eq!(worker.run_once(&held_up).unwrap(), 2);
    expect_in_process(&api, &requests).await;
    assert_eq!(server.bank.totals().unwrap().top_ups.get(), 0);
    server.work_now();
    expect_done_once(&server, &api, &requests).await;
}

/// The worst case: the first worker sent the instruction, the second finds the bank down, and both settle.
#[tokio::test]
async fn two_workers_with_the_same_request_settle_it_once() {
    let (server, api) = start(100_000).await;
    let requests = two_requests(&server, &api).await;
    server.clock.advance(SETTINGS.processing_delay);
    let (first, second) =
        (server.application.worker(server.bank.clone()), server.application.worker(server.bank.clone()));
    let errands = first.take().unwrap();
    server.clock.advance(LEASE);
    let taken_over = second.take().unwrap();
    assert_eq!(taken_over.len(), 2);
    let early = called(&first, &errands, StopPoint::AfterCall);
    behave(&server, down());
    let blind = called(&second, &taken_over, StopPoint::AfterCall);
    early.into_iter().for_each(|report| first.settle(report).unwrap());
    expect_in_process(&api, &requests).await;
    blind.into_iter().for_each(|report| second.settle(report).unwrap());
    expect_in_process(&api, &requests).await;
    behave(&server, BankFaults { duplicate_rate: 1.0, ..BankFaults::default() });
    tries(&server, 2);
    expect_done_once(&server, &api, &requests).await;
}

#[tokio::test]
async fn work_that_is_given_back_goes_on_at_once() {
    let (server, api) = start(100_000).await;
    let requests = two_requests(&server, &api).await;
    server.clock.advance(SETTINGS.processing_delay);
    let worker = server.application.worker(server.bank.clone());
    assert_eq!(worker.run_once(&|| true).unwrap(), 0, "told to stop before it took anything");
    assert_eq!(worker.run_once(&once_taken(|| true)).unwrap(), 2, "told to stop before the first call");
    expect_in_process(&api, &requests).await;
    server.work_now();
    expect_done_once(&server, &api, &requests).await;
}
