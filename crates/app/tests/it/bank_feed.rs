//! Changes at the bank reach partners once, by the bank's feed or by the daily refresh.

use std::sync::atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use kopeck_adapter_bank_simulator::Simulator;
use kopeck_domain::Kopecks;
use kopeck_domain::card_number::CardNumber;
use kopeck_domain::partner::SealingPolicy;
use kopeck_port_bank::sandbox::{Purchase, SandboxControl as _};
use kopeck_port_bank::{BankError, BankGateway, FeedEntry, FeedError};
use kopeck_service::Progress;
use kopeck_service::bank_feed::BankFeedFollower;
use kopeck_test_support::FakeBank;
use serde_json::{Value, json};
use time::Duration;

use crate::api_client::{Api, start, virtual_order};
use crate::deployment::{Deployment, Plan, Ports};
use crate::server::{START, TestServer};

/// The events of cards after a number that tell of the bank: type and data.
async fn told(api: &Api, after: i64) -> Vec<(String, Value)> {
    let page = api.get(&format!("/v1/events?after={after}&limit=500")).await.ok(200);
    let events = page["data"].as_array().unwrap().iter();
    let events = events.map(|event| (event["type"].as_str().unwrap().to_owned(), event["data"].clone()));
    let known = ["card.issued", "card.linked", "card.status"];
    events.filter(|(kind, _)| kind.starts_with("card.") && !known.contains(&kind.as_str())).collect()
}

async fn types(api: &Api) -> Vec<String> {
    told(api, 0).await.into_iter().map(|(kind, _)| kind).collect()
}

fn pay(bank: &Simulator, card: CardNumber, amount: i64) {
    let place = Some("Bakery".to_owned());
    bank.purchase(card, &Purchase { place, ..Purchase::new(Kopecks::new(amount)) }).unwrap();
}

/// A linked plastic card with 1,000 kopecks, and its identifiers: ours, the bank's, the employee's.
async fn loaded_card(server: &TestServer, api: &Api) -> (String, CardNumber, String) {
    let card = api.plastic(server, 1).await.remove(0);
    let employee = api.employee("E-1").await;
    api.link(&employee, &card.number, "MAIN").await.ok(200);
    api.top_up(&[(&card.id, 1_000)]).await;
    server.run_jobs();
    (card.id.clone(), CardNumber::parse(&card.number).unwrap(), employee)
}

#[tokio::test]
async fn each_change_at_the_bank_is_one_event() {
    let (server, api) = start(100_000).await;
    let (card, number, employee) = loaded_card(&server, &api).await;
    server.follow_feed();
    // The copy is fresh now, and would be for ten seconds.
    assert_eq!(api.get(&format!("/v1/card/{card}/balance")).await.ok(200)["balance"], 1_000);
    pay(&server.bank, number, 300);
    pay(&server.bank, number, 5_000);
    server.bank.block(number).unwrap();
    for _ in 0..2 {
        server.follow_feed();
    }
    assert_eq!(api.get(&format!("/v1/card/{card}/balance")).await.ok(200)["balance"], 700);
    let told = told(&api, 0).await;
    let kinds: Vec<&str> = told.iter().map(|(kind, _)| kind.as_str()).collect();
    assert_eq!(kinds, ["card.transaction", "card.transaction", "card.declined", "card.bank_status"]);
    let of_card = |mut data: Value| {
        data["idCard"] = json!(card);
        data["idEmployee"] = json!(employee);
        data
    };
    let listed = api.get(&format!("/v1/card/{card}/transactions")).await.ok(200)["data"].clone();
    let newest_first: Vec<&Value> = [&told[1], &told[0]].map(|(_, data)| &data["transaction"]).to_vec();
    assert_eq!(listed.as_array().unwrap().iter().collect::<Vec<_>>(), newest_first);
    assert_eq!(told[1].1, of_card(json!({"transaction": listed[0]})));
    let declined = json!({"amount": 5_000, "reason": "not enough money on the card", "code": "insufficient_funds",
        "place": "Bakery", "mcc": null, "merchantId": null, "date": "02.03.2026 12:00"});
    assert_eq!(told[2].1, of_card(declined));
    assert_eq!(told[3].1, of_card(json!({"bankStatus": "BLOCKED_BY_BANK"})));
}

#[tokio::test]
async fn a_partner_hears_of_its_own_cards_alone() {
    let (server, api) = start(100_000).await;
    let other = server.partner(SealingPolicy::Optional, 100_000);
    let other = Api::login(&server, &other).await;
    let (_, number, _) = loaded_card(&server, &api).await;
    let (_, others_number, _) = loaded_card(&server, &other).await;
    pay(&server.bank, number, 1);
    server.bank.block(others_number).unwrap();
    server.follow_feed();
    assert_eq!(types(&api).await, ["card.transaction", "card.transaction"]);
    assert_eq!(types(&other).await, ["card.transaction", "card.bank_status"]);
}

/// A follower over the server's bank, with another feed.
fn follower(
    server: &TestServer,
    feed: impl Fn(&dyn BankGateway, i64, u32) -> Result<Vec<FeedEntry>, FeedError> + Send + Sync + 'static,
) -> BankFeedFollower {
    let bank = FakeBank::over(Arc::clone(&server.bank) as _).on_feed(feed);
    let process = server.application.env.ids.next_id();
    server.application.bank_feed_follower(Arc::new(bank), process)
}

fn settle(follower: &mut BankFeedFollower) {
    while follower.run_once(&|| false).unwrap() == Progress::More {}
}

/// The same page each time, an entry that comes late, and another process that begins where this one ended.
#[tokio::test]
async fn a_feed_that_duplicates_and_reorders_makes_no_event_twice() {
    let (server, api) = start(100_000).await;
    let (_, number, _) = loaded_card(&server, &api).await;
    for amount in [1, 2_000, 3, 4] {
        pay(&server.bank, number, amount);
    }
    let hides = Arc::new(AtomicBool::new(true));
    let hidden = Arc::clone(&hides);
    let late = move |bank: &dyn BankGateway, _, limit| {
        let mut entries = bank.feed(0, limit)?;
        if hidden.load(Ordering::Relaxed) {
            entries.remove(2);
            entries.remove(2);
        }
        Ok(entries)
    };
    let mut first = follower(&server, late);
    settle(&mut first);
    hides.store(false, Ordering::Relaxed);
    settle(&mut first);
    first.release().unwrap();
    let mut second = follower(&server, |bank, _, limit| bank.feed(0, limit));
    settle(&mut second);
    let told = told(&api, 0).await;
    let amounts = |kind: &str| -> Vec<i64> {
        let of_kind = told.iter().filter(|(of, _)| of == kind).map(|(_, data)| data);
        let amount =
            |data: &Value| data["amount"].as_i64().or(data["transaction"]["amount"].as_i64()).unwrap();
        of_kind.map(amount).collect()
    };
    assert_eq!(amounts("card.transaction"), [1_000, 1, 3, 4]);
    assert_eq!(amounts("card.declined"), [2_000]);
}

#[tokio::test]
async fn changes_missing_in_the_feed_are_found_card_by_card() {
    let (server, api) = start(100_000).await;
    let (_, number, _) = loaded_card(&server, &api).await;
    server.follow_feed();
    let end = server.bank.feed(0, 1_000).unwrap().last().unwrap().seq;
    pay(&server.bank, number, 1);
    server.bank.block(number).unwrap();
    // Its feed has more numbers than are read again.
    let oldest = end + 1_000;
    let forgetful = move |bank: &dyn BankGateway, after, limit| {
        if after + 1 < oldest { Err(FeedError::Forgotten { oldest }) } else { bank.feed(after, limit) }
    };
    server.clock.advance(Duration::minutes(1));
    let mut follower = follower(&server, forgetful);
    settle(&mut follower);
    assert_eq!(types(&api).await, ["card.transaction"]);
    server.refresh_accounts();
    assert_eq!(types(&api).await, ["card.transaction", "card.transaction", "card.bank_status"]);
    // Losing a change that was read already does no harm.
    settle(&mut follower);
    server.refresh_accounts();
    assert_eq!(types(&api).await.len(), 3);
}

#[tokio::test]
async fn an_entry_that_was_lost_costs_no_transaction() {
    let (server, api) = start(100_000).await;
    let (_, number, _) = loaded_card(&server, &api).await;
    for amount in [1, 2, 3] {
        pay(&server.bank, number, amount);
    }
    let gappy = |bank: &dyn BankGateway, after, limit| {
        let entries = bank.feed(after, limit)?;
        Ok(entries.into_iter().filter(|entry| entry.seq % 2 == 0).collect())
    };
    settle(&mut follower(&server, gappy));
    assert_eq!(types(&api).await, ["card.transaction"; 4]);
}

/// The bank tells of a first top-up before the service has read the cards of the order.
#[tokio::test]
async fn an_entry_waits_for_the_card_of_an_order() {
    let responds = Arc::new(AtomicBool::new(false));
    let is_up = Arc::clone(&responds);
    let ports = move |ports: Ports| {
        let bank = FakeBank::over(ports.bank).on_issued_cards(move |bank, key, skip, limit| {
            if is_up.load(Ordering::Relaxed) {
                bank.issued_cards(key, skip, limit)
            } else {
                Err(BankError::Unavailable("not yet".to_owned()))
            }
        });
        Ports { bank: Arc::new(bank), ..ports }
    };
    let plan = Plan { ports: Box::new(ports), ..Plan::default() };
    let server = TestServer::open(Arc::new(Deployment::new(START)), plan);
    let partner = server.partner(SealingPolicy::Optional, 100_000);
    let api = Api::login(&server, &partner).await;
    api.post("/v1/order/virtualcards", &virtual_order(2, 5_000)).await.ok(202);
    server.run_jobs();
    assert_eq!(server.bank.feed(0, 10).unwrap().len(), 2);
    server.follow_feed();
    assert_eq!(types(&api).await, [""; 0]);
    responds.store(true, Ordering::Relaxed);
    server.clock.advance(Duration::seconds(10));
    server.work_now();
    server.follow_feed();
    assert_eq!(types(&api).await, ["card.transaction", "card.transaction"]);
}

#[tokio::test]
async fn without_a_feed_the_daily_refresh_tells() {
    let server = TestServer::start();
    let partner = server.partner(SealingPolicy::Optional, 100_000);
    let api = Api::login(&server, &partner).await;
    let (_, number, _) = loaded_card(&server, &api).await;
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let mut follower = follower(&server, move |_, _, _| {
        count.fetch_add(1, Ordering::Relaxed);
        Err(FeedError::NotSupported)
    });
    pay(&server.bank, number, 1);
    server.bank.block(number).unwrap();
    for _ in 0..5 {
        settle(&mut follower);
    }
    assert_eq!((types(&api).await, asked.load(Ordering::Relaxed)), (vec![], 1));
    server.clock.advance(Duration::DAY);
    server.refresh_accounts();
    let api = Api::login(&server, &partner).await;
    assert_eq!(types(&api).await, ["card.transaction", "card.transaction", "card.bank_status"]);
}

#[tokio::test]
async fn one_process_follows_at_a_time() {
    let (server, api) = start(100_000).await;
    let (_, number, _) = loaded_card(&server, &api).await;
    let asked: Arc<Mutex<Vec<(u8, i64)>>> = Arc::default();
    let process = |name: u8| {
        let asked = Arc::clone(&asked);
        follower(&server, move |bank, after, limit| {
            asked.lock().unwrap().push((name, after));
            bank.feed(after, limit)
        })
    };
    let (mut first, mut second) = (process(1), process(2));
    settle(&mut first);
    settle(&mut second);
    let names = |asked: &Mutex<Vec<(u8, i64)>>| {
        asked.lock().unwrap().drain(..).map(|(name, _)| name).collect::<Vec<_>>()
    };
    assert_eq!(names(&asked), [1]);
    pay(&server.bank, number, 1);
    // The first is killed; its lease ends.
    server.clock.advance(Duration::seconds(15));
    settle(&mut second);
    settle(&mut first);
    assert_eq!(names(&asked), [2]);
    assert_eq!(types(&api).await, ["card.transaction", "card.transaction"]);
    second.release().unwrap();
    settle(&mut first);
    assert_eq!(names(&asked), [1]);
}

/// A stop between an entry and the look at its card: the entry is read again.
#[tokio::test]
async fn a_stop_loses_no_change_of_a_card() {
    let (server, api) = start(100_000).await;
    let (_, number, _) = loaded_card(&server, &api).await;
    server.bank.block(number).unwrap();
    let mut follower = follower(&server, |bank, after, limit| bank.feed(after, limit));
    let checks = AtomicUsize::new(0);
    // The first check is that of the page.
    follower.run_once(&|| checks.fetch_add(1, Ordering::Relaxed) > 0).unwrap();
    assert_eq!(types(&api).await, ["card.transaction"]);
    settle(&mut follower);
    assert_eq!(types(&api).await, ["card.transaction", "card.bank_status"]);
}

/// A stop in the middle of a page: it is read again, and nothing of it becomes two events.
#[tokio::test]
async fn a_page_that_was_not_finished_is_read_again() {
    let (server, api) = start(100_000).await;
    let (_, number, _) = loaded_card(&server, &api).await;
    pay(&server.bank, number, 2_000);
    pay(&server.bank, number, 1);
    let stops_after = Arc::new(AtomicI64::new(0));
    let mut follower = follower(&server, |bank, after, limit| bank.feed(after, limit));
    let checks = Arc::clone(&stops_after);
    // The lease and the look at the feed come first.
    follower.run_once(&move || checks.fetch_add(1, Ordering::Relaxed) == 0).unwrap();
    settle(&mut follower);
    server.follow_feed();
    assert_eq!(types(&api).await, ["card.transaction", "card.declined", "card.transaction"]);
}

#[tokio::test]
async fn the_expiry_of_a_card_is_an_event_by_day() {
    let server = TestServer::start();
    let partner = server.partner(SealingPolicy::Optional, 100_000);
    let api = Api::login(&server, &partner).await;
    let (card, _, employee) = loaded_card(&server, &api).await;
    server.follow_feed();
    // It is valid until 31.03.2029.
    server.clock.advance(Duration::days(365 * 3 - 5));
    server.follow_feed();
    assert_eq!(types(&Api::login(&server, &partner).await).await, ["card.transaction"]);
    for (days, kind) in [(10, "card.expiring"), (40, "card.expired")] {
        server.clock.advance(Duration::days(days));
        for _ in 0..2 {
            server.follow_feed();
        }
        let api = Api::login(&server, &partner).await;
        let told = told(&api, 0).await;
        let (last, data) = told.last().unwrap();
        assert_eq!(last, kind);
        assert_eq!(*data, json!({"idCard": card, "idEmployee": employee, "bankStatus": "OPEN"}));
        assert_eq!(told.iter().filter(|(of, _)| of == kind).count(), 1);
    }
}
