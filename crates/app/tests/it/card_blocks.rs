//! A card that its partner blocks: from the response on for the partner, then at the bank.

use kopeck_domain::card_number::CardNumber;
use kopeck_port_bank::sandbox::{BankFaults, SandboxControl as _};
use kopeck_service::Progress;
use kopeck_service::worker::WorkerSettings;
use serde_json::{Value, json};

use crate::api_client::{Api, Plastic, start, top_ups};
use crate::server::{SETTINGS, TestServer};

/// A linked card with 1,000 kopecks, and its employee.
async fn loaded_card(server: &TestServer, api: &Api) -> (Plastic, String) {
    let card = api.plastic(server, 1).await.remove(0);
    let employee = api.employee("E-1").await;
    api.link(&employee, &card.number, "MAIN").await.ok(200);
    api.top_up(&[(&card.id, 1_000)]).await;
    server.run_jobs();
    (card, employee)
}

async fn bank_status(api: &Api, card: &Plastic) -> Value {
    api.get(&format!("/v1/card/{}", card.id)).await.ok(200)["data"]["bankStatus"].clone()
}

async fn can_pay(api: &Api, card: &Plastic) -> Value {
    api.post(&format!("/v1/card/{}/can-pay", card.id), &json!({"amount": 1})).await.ok(200)["code"].clone()
}

async fn buy(api: &Api, card: &Plastic) -> Value {
    let path = format!("/sandbox/v1/card/{}/purchase", card.id);
    api.post(&path, &json!({"amount": 1})).await.ok(200)["code"].clone()
}

/// The bank's statuses of the card in events, each with the type of its event.
async fn told(api: &Api) -> Vec<(String, String)> {
    let page = api.get("/v1/events?limit=500").await.ok(200);
    let events = page["data"].as_array().unwrap().iter();
    let events =
        events.filter_map(|event| Some((event["type"].as_str()?, event["data"]["bankStatus"].as_str()?)));
    events.map(|(of, status)| (of.to_owned(), status.to_owned())).collect()
}

#[tokio::test]
async fn a_card_is_blocked_at_once_and_then_at_the_bank() {
    let (server, api) = start(100_000).await;
    let (card, employee) = loaded_card(&server, &api).await;
    assert_eq!(bank_status(&api, &card).await, "OPEN");
    api.switch(&employee, &card.id, "TEMPORARILY_BLOCKED").await.ok(200);
    assert_eq!(
        (bank_status(&api, &card).await, can_pay(&api, &card).await),
        (json!("BLOCKING"), json!("card_blocked"))
    );
    let refused = api.post("/v1/replenishment", &top_ups(&[(&card.id, 100)])).await.ok(409);
    assert_eq!(refused[0]["code"], "card_not_main");
    assert_eq!(buy(&api, &card).await, Value::Null, "the bank does not know yet");

    assert_eq!(server.send_blocks(), Progress::More);
    assert_eq!(
        (bank_status(&api, &card).await, can_pay(&api, &card).await),
        (json!("BLOCKED"), json!("card_blocked"))
    );
    assert_eq!(buy(&api, &card).await, "card_blocked");

    api.switch(&employee, &card.id, "MAIN").await.ok(200);
    assert_eq!(
        (bank_status(&api, &card).await, can_pay(&api, &card).await),
        (json!("UNBLOCKING"), Value::Null)
    );
    api.post("/v1/replenishment", &top_ups(&[(&card.id, 100)])).await.ok(202);
    assert_eq!(server.send_blocks(), Progress::More);
    assert_eq!(server.send_blocks(), Progress::Idle);
    assert_eq!(bank_status(&api, &card).await, "OPEN");
    assert_eq!(buy(&api, &card).await, Value::Null);
    server.run_jobs();
    let expected = [
        ("card.issued", "OPEN"),
        ("card.linked", "OPEN"),
        ("card.status", "BLOCKING"),
        ("card.bank_status", "BLOCKED"),
        ("card.status", "UNBLOCKING"),
        ("card.bank_status", "OPEN"),
    ];
    assert_eq!(told(&api).await, expected.map(|(of, status)| (of.to_owned(), status.to_owned())));
}

#[tokio::test]
async fn a_block_waits_for_a_bank_that_is_away() {
    let (server, api) = start(100_000).await;
    let card = api.plastic(&server, 1).await.remove(0);
    let employee = api.employee("E-1").await;
    server.bank.inject_faults(BankFaults { down: true, ..BankFaults::default() }).unwrap();
    api.link(&employee, &card.number, "TEMPORARILY_BLOCKED").await.ok(200);
    for _ in 0..3 {
        assert_eq!(server.send_blocks(), Progress::BankUnavailable);
    }
    assert_eq!(
        (bank_status(&api, &card).await, can_pay(&api, &card).await),
        (json!("BLOCKING"), json!("card_blocked"))
    );
    // Blocked, unblocked and blocked again meanwhile: the last word counts.
    for status in ["ADDITIONAL", "TEMPORARILY_BLOCKED"] {
        api.switch(&employee, &card.id, status).await.ok(200);
    }
    server.bank.inject_faults(BankFaults::default()).unwrap();
    assert_eq!(server.send_blocks(), Progress::More);
    assert_eq!(bank_status(&api, &card).await, "BLOCKED");
    assert_eq!(buy(&api, &card).await, "card_blocked");
}

/// The lost response to a block is queried under the same key.
#[tokio::test]
async fn a_lost_response_loses_no_block() {
    let (server, api) = start(100_000).await;
    let card = api.plastic(&server, 1).await.remove(0);
    let employee = api.employee("E-1").await;
    api.link(&employee, &card.number, "TEMPORARILY_BLOCKED").await.ok(200);
    server.bank.inject_faults(BankFaults { lose_answer_rate: 1.0, ..BankFaults::default() }).unwrap();
    assert_eq!(server.send_blocks(), Progress::BankUnavailable);
    assert_eq!(bank_status(&api, &card).await, "BLOCKING");
    server.bank.inject_faults(BankFaults::default()).unwrap();
    assert_eq!(server.send_blocks(), Progress::More);
    assert_eq!(bank_status(&api, &card).await, "BLOCKED");
}

#[tokio::test]
async fn a_top_up_that_was_accepted_before_is_refused_and_says_why() {
    let (server, api) = start(100_000).await;
    let (card, employee) = loaded_card(&server, &api).await;
    let request = api.top_up(&[(&card.id, 500)]).await;
    api.switch(&employee, &card.id, "TEMPORARILY_BLOCKED").await.ok(200);
    assert_eq!(server.send_blocks(), Progress::More);
    server.run_jobs();
    let result = api.get(&format!("/v1/replenishment/{request}/result")).await.ok(200);
    assert_eq!(result["data"][0]["errorReplenishment"], "the card is blocked by the partner");
    assert_eq!(api.get("/v1/balance").await.ok(200)["hold"], 0);
}

#[tokio::test]
async fn a_block_of_the_banks_own_goes_over_the_partners() {
    let (server, api) = start(100_000).await;
    let (card, employee) = loaded_card(&server, &api).await;
    api.switch(&employee, &card.id, "TEMPORARILY_BLOCKED").await.ok(200);
    assert_eq!(server.send_blocks(), Progress::More);
    server.bank.block(CardNumber::parse(&card.number).unwrap()).unwrap();
    server.follow_feed();
    assert_eq!(bank_status(&api, &card).await, "BLOCKED_BY_BANK");
    api.switch(&employee, &card.id, "MAIN").await.refused(409, "card_blocked");
    server.bank.unblock(CardNumber::parse(&card.number).unwrap()).unwrap();
    server.follow_feed();
    assert_eq!(bank_status(&api, &card).await, "BLOCKED");
}

/// The outcome of the one card of a request.
async fn outcome(api: &Api, request: &str) -> Value {
    let result = api.get(&format!("/v1/replenishment/{request}/result")).await.ok(200);
    result["data"][0]["errorReplenishment"].clone()
}

const BLOCKED: &str = "the card is blocked by the partner";

/// The block counts from the response on, though the bank has not heard of it.
#[tokio::test]
async fn a_queued_top_up_is_refused_before_the_bank_knows_of_the_block() {
    let (server, api) = start(100_000).await;
    let (card, employee) = loaded_card(&server, &api).await;
    let request = api.top_up(&[(&card.id, 500)]).await;
    api.switch(&employee, &card.id, "TEMPORARILY_BLOCKED").await.ok(200);
    server.run_jobs();
    assert_eq!(outcome(&api, &request).await, BLOCKED);
    api.expect_money(99_000, 0).await;
    assert_eq!(api.get(&format!("/v1/card/{}", card.id)).await.ok(200)["data"]["balance"], 1_000);
    assert_eq!(server.check(), 0);
}

/// Its money is held while the bank is away, and the bank is back before it hears of the block.
#[tokio::test]
async fn a_top_up_that_waits_for_the_bank_is_refused_too() {
    let (server, api) = start(100_000).await;
    let (card, employee) = loaded_card(&server, &api).await;
    server.bank.inject_faults(BankFaults { down: true, ..BankFaults::default() }).unwrap();
    let request = api.top_up(&[(&card.id, 500)]).await;
    server.run_jobs();
    api.expect_money(99_000, 500).await;
    api.switch(&employee, &card.id, "TEMPORARILY_BLOCKED").await.ok(200);
    server.bank.inject_faults(BankFaults::default()).unwrap();
    server.run_jobs();
    assert_eq!(outcome(&api, &request).await, BLOCKED);
    api.expect_money(99_000, 0).await;
}

/// A card is blocked while a worker that has its top-up waits for a slow bank.
#[tokio::test]
async fn a_top_up_that_a_worker_has_already_is_refused_too() {
    let (server, api) = start(100_000).await;
    let (card, employee) = loaded_card(&server, &api).await;
    let request = api.top_up(&[(&card.id, 500)]).await;
    server.clock.advance(SETTINGS.processing_delay);
    let tasks = server.worker.take().unwrap();
    assert_eq!(tasks.len(), 1);
    api.switch(&employee, &card.id, "TEMPORARILY_BLOCKED").await.ok(200);
    for task in tasks {
        server.worker.settle(server.worker.call(task)).unwrap();
    }
    assert_eq!(outcome(&api, &request).await, BLOCKED);
}

/// The response was lost: the bank alone knows whether it was in time, and is not asked to top up a card that is blocked.
#[tokio::test]
async fn a_top_up_whose_response_was_lost_goes_by_the_banks_word() {
    for was_in_time in [true, false] {
        let (server, api) = start(100_000).await;
        let (card, employee) = loaded_card(&server, &api).await;
        let request = api.top_up(&[(&card.id, 500)]).await;
        if was_in_time {
            let lost = BankFaults { lose_answer_rate: 1.0, ..BankFaults::default() };
            server.bank.inject_faults(lost).unwrap();
            server.run_jobs();
        } else {
            // The process died before it sent anything, but the next one cannot know.
            server.clock.advance(SETTINGS.processing_delay);
            assert_eq!(server.worker.take().unwrap().len(), 1);
            server.clock.advance(WorkerSettings::default().lease);
        }
        api.switch(&employee, &card.id, "TEMPORARILY_BLOCKED").await.ok(200);
        server.bank.inject_faults(BankFaults::default()).unwrap();
        server.run_jobs();
        if !was_in_time {
            assert_eq!(api.top_up_state(&request).await, "IN_PROCESS");
            api.expect_money(99_000, 500).await;
            assert_eq!(server.send_blocks(), Progress::More);
            server.clock.advance(time::Duration::MINUTE);
            server.run_jobs();
        }
        let (left, expected) = if was_in_time { (98_500, Value::Null) } else { (99_000, json!(BLOCKED)) };
        assert_eq!(outcome(&api, &request).await, expected, "in time: {was_in_time}");
        api.expect_money(left, 0).await;
        assert_eq!(server.check(), 0);
    }
}
