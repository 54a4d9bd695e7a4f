//! A bank that the sandbox makes slow, failing, silent, forgetful or deaf: everything ends right once it is well.

use std::sync::{Arc, Condvar, Mutex};

use kopeck_client::{
    BankBehaviour, CardLimit, Client, LimitPeriod, RequestState, TopUp, TransactionFilter, Uuid,
};
use kopeck_domain::partner::SealingPolicy;
use kopeck_port_bank::BankKey;
use kopeck_test_support::FakeBank;
use time::Duration;
use tokio::task::JoinHandle;

use crate::api_client::{plastic_item, start_client, virtual_item};
use crate::deployment::{Deployment, Plan, Ports};
use crate::server::{SETTINGS, START, TestServer};

/// The longest backoff before the bank is queried again.
const PATIENCE: Duration = Duration::seconds(10);

const HEALTHY: BankBehaviour = BankBehaviour {
    latency_ms: 0,
    error_rate: 0.0,
    lose_request_rate: 0.0,
    lose_answer_rate: 0.0,
    duplicate_rate: 0.0,
    silent_feed: false,
    down: false,
};

/// The requests made while the bank had faults.
struct Requests {
    cards: Vec<Uuid>,
    order: Uuid,
    top_up: Uuid,
    limit: Uuid,
}

/// Plastic MAIN cards.
async fn main_cards(server: &TestServer, client: &Client, count: u32) -> Vec<Uuid> {
    client.orders().plastic(&[plastic_item(count)]).await.unwrap();
    server.run_jobs();
    let mut ids = Vec::new();
    for card in client.cards().available(None, Default::default()).await.unwrap().data {
        let new = kopeck_client::NewEmployee::new(card.custom_id_card.clone());
        let employee = client.employees().add(&new).await.unwrap().id_employee;
        let main = kopeck_client::CardStatus::Main;
        client.cards().link(employee, &card.custom_id_card, &main).await.unwrap();
        ids.push(card.id_card);
    }
    ids
}

/// An order, top-ups and limits, all at once.
async fn ask(client: &Client, cards: Vec<Uuid>) -> Requests {
    let top_ups: Vec<TopUp> = cards.iter().map(|&card| TopUp::new(card, 1_000)).collect();
    let limit = CardLimit::per(LimitPeriod::Day, 400);
    Requests {
        order: client.orders().virtual_cards(&[virtual_item(3, 5_000)]).await.unwrap().order_id,
        top_up: client.replenishments().create(&top_ups).await.unwrap().replenishment_id,
        limit: client.limits().set(&cards, &limit).await.unwrap().set_limits_cards_id,
        cards,
    }
}

async fn states(client: &Client, asked: &Requests) -> [RequestState; 3] {
    [
        client.orders().status(asked.order).await.unwrap().state,
        client.replenishments().status(asked.top_up).await.unwrap().state,
        client.limits().status(asked.limit).await.unwrap().state,
    ]
}

/// Lets so many tries pass.
fn tries(server: &TestServer, count: u32) {
    for _ in 0..count {
        server.clock.advance(PATIENCE);
        server.work_now();
    }
}

/// Every request is done, once, to the kopeck, and nothing is left over.
async fn expect_done_once(server: &TestServer, client: &Client, asked: &Requests) {
    let success = RequestState::Success;
    assert_eq!(states(client, asked).await, [success.clone(), success.clone(), success]);
    let balance = client.balance().await.unwrap();
    let count = i64::try_from(asked.cards.len()).unwrap();
    assert_eq!((balance.available, balance.hold), (1_000_000 - 15_000 - 1_000 * count, 0));
    let books = server.bank.totals().unwrap();
    assert_eq!((books.top_ups.get(), books.first_top_ups.get()), (1_000 * count, 15_000));
    assert_eq!(server.bank.applied(&BankKey::new(format!("order/{}", asked.order)).unwrap()).unwrap(), 1);
    for ordinal in 0..asked.cards.len() {
        let key = BankKey::new(format!("replenishment/{}/{ordinal}", asked.top_up)).unwrap();
        assert_eq!(server.bank.applied(&key).unwrap(), 1);
    }
    for &card in &asked.cards {
        let info = client.cards().info(card).await.unwrap();
        assert_eq!((info.balance, info.limit.amount), (1_000, Some(400)));
    }
    assert_eq!(server.check(), 0);
}

#[tokio::test]
async fn whatever_the_bank_does_everything_is_done_once_in_the_end() {
    for behaviour in [
        BankBehaviour { down: true, ..HEALTHY },
        BankBehaviour { error_rate: 1.0, ..HEALTHY },
        BankBehaviour { lose_answer_rate: 1.0, ..HEALTHY },
        BankBehaviour { lose_answer_rate: 1.0, duplicate_rate: 1.0, ..HEALTHY },
        BankBehaviour {
            error_rate: 0.5,
            lose_answer_rate: 0.5,
            duplicate_rate: 1.0,
            latency_ms: 1,
            ..HEALTHY
        },
    ] {
        let (server, client) = start_client(1_000_000);
        let cards = main_cards(&server, &client, 20).await;
        let asked = ask(&client, cards).await;
        client.sandbox().bank(&behaviour).await.unwrap();
        server.run_jobs();
        tries(&server, 8);
        client.sandbox().bank(&HEALTHY).await.unwrap();
        tries(&server, 3);
        expect_done_once(&server, &client, &asked).await;
    }
}

/// Holds back the responses of a bank that carries instructions out at once.
struct SlowBank {
    responds: Mutex<bool>,
    changed: Condvar,
}

impl SlowBank {
    /// A server over it, with a partner's client.
    fn start() -> (Arc<TestServer>, Client, Arc<Self>) {
        let slow = Arc::new(Self { responds: Mutex::new(true), changed: Condvar::new() });
        let waits = Arc::clone(&slow);
        let ports = move |ports: Ports| {
            let bank = FakeBank::over(ports.bank).on_submit(move |bank, submissions| {
                let verdicts = bank.submit(submissions);
                let responds = waits.responds.lock().unwrap();
                drop(waits.changed.wait_while(responds, |responds| !*responds).unwrap());
                verdicts
            });
            Ports { bank: Arc::new(bank), ..ports }
        };
        let plan = Plan { ports: Box::new(ports), ..Plan::default() };
        let server = TestServer::open(Arc::new(Deployment::new(START)), plan);
        let partner = server.partner(SealingPolicy::Required, 1_000_000);
        let client = server.client(&partner);
        (Arc::new(server), client, slow)
    }

    fn respond(&self, responds: bool) {
        *self.responds.lock().unwrap() = responds;
        self.changed.notify_all();
    }
}

/// Lets a worker tell the bank, which does not answer yet.
async fn begin_work(server: &Arc<TestServer>, client: &Client, asked: &Requests) -> JoinHandle<()> {
    let working = Arc::clone(server);
    let work = tokio::task::spawn_blocking(move || working.run_jobs());
    while states(client, asked).await.contains(&RequestState::New) {}
    work
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slow_bank_leaves_requests_in_process_meanwhile() {
    let (server, client, bank) = SlowBank::start();
    let cards = main_cards(&server, &client, 2).await;
    let asked = ask(&client, cards).await;
    bank.respond(false);
    let work = begin_work(&server, &client, &asked).await;
    assert_eq!(states(&client, &asked).await, [const { RequestState::InProcess }; 3]);
    bank.respond(true);
    work.await.unwrap();
    expect_done_once(&server, &client, &asked).await;
}

/// The clock jumps over every lease while a request is in flight, and another worker looks for work: it must not tell
/// the bank a second time, least of all one that does twice what is sent twice.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_jump_of_the_clock_sends_nothing_twice() {
    let (server, client, bank) = SlowBank::start();
    let cards = main_cards(&server, &client, 2).await;
    let asked = ask(&client, cards).await;
    let forgetful = BankBehaviour { duplicate_rate: 1.0, ..HEALTHY };
    client.sandbox().bank(&forgetful).await.unwrap();
    bank.respond(false);
    let work = begin_work(&server, &client, &asked).await;
    client.sandbox().advance_clock(3_600).await.unwrap();
    let other = Arc::clone(&server);
    tokio::task::spawn_blocking(move || other.work_now()).await.unwrap();
    bank.respond(true);
    work.await.unwrap();
    server.work_now();
    client.sandbox().bank(&HEALTHY).await.unwrap();
    expect_done_once(&server, &client, &asked).await;
}

#[tokio::test]
async fn card_info_falls_back_to_the_last_copy() {
    let (server, client) = start_client(1_000_000);
    let [card, unseen] = main_cards(&server, &client, 2).await.try_into().unwrap();
    client.replenishments().create(&[TopUp::new(card, 500)]).await.unwrap();
    server.run_jobs();
    let before = client.cards().info(card).await.unwrap();
    let (filter, paging) = (TransactionFilter::default(), Default::default());
    let listed = client.cards().transactions(card, &filter, paging).await.unwrap();
    assert_eq!((before.balance, listed.data.len()), (500, 1));
    client.sandbox().bank(&BankBehaviour { down: true, ..HEALTHY }).await.unwrap();
    server.clock.advance(SETTINGS.card_cache);
    assert_eq!(client.cards().info(card).await.unwrap(), before);
    assert_eq!(client.cards().balance(card).await.unwrap().balance, 500);
    assert_eq!(client.cards().transactions(card, &filter, paging).await.unwrap().data, listed.data);
    // A card whose transactions were never read has no copy.
    let none = client.cards().transactions(unseen, &filter, paging).await.unwrap_err();
    assert_eq!(
        (none.status(), none.code().map(ToString::to_string).as_deref()),
        (Some(503), Some("bank_unavailable"))
    );
    // Something happens at the merchant meanwhile: the service hears of it once the bank is back, and at once then.
    let purchase =
        kopeck_client::Purchase { place: Some("Bakery".to_owned()), ..kopeck_client::Purchase::new(200) };
    assert!(client.sandbox().purchase(card, &purchase).await.unwrap().approved);
    assert_eq!(client.cards().info(card).await.unwrap().balance, 500);
    client.sandbox().bank(&HEALTHY).await.unwrap();
    assert_eq!(client.cards().info(card).await.unwrap().balance, 300);
    assert_eq!(client.cards().transactions(card, &filter, paging).await.unwrap().data.len(), 2);
}
