//! A real process is killed at random moments under load, and nothing is lost or done twice.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use kopeck_adapter_bank_simulator::Simulator;
use kopeck_adapter_system::{OsEntropy, SystemClock};
use kopeck_client::{
    CardLimit, CardStatus, Client, Error, IdempotencyKey, LimitPeriod, NewEmployee, PrimitiveDateTime,
    Purchase, RequestState, TopUp, VirtualItem, Wait,
};
use kopeck_domain::calendar::Zone;
use kopeck_port_bank::BankKey;
use kopeck_test_support::Random;
use time::macros::datetime;
use tokio::task::JoinSet;
use uuid::Uuid;

use crate::process::{Installation, PartnerSecrets};

const KILLS: u64 = 20;
pub const CARDS: usize = 24;
const CALLERS: usize = 4;
pub const FIRST_TOP_UP: i64 = 5_000;
/// One day for all purchases, so that no midnight falls between two of them.
const SOME_DAY: PrimitiveDateTime = datetime!(2026-06-15 12:00);
pub const SERVE: &[&str] = &["--processing-delay", "0s"];

/// A request that was made, so that it can be repeated under its key.
#[derive(Clone)]
struct Attempt {
    key: IdempotencyKey,
    what: What,
    /// The identifier of the 202, if it arrived.
    accepted: Option<Uuid>,
}

#[derive(Clone)]
enum What {
    Order(VirtualItem),
    TopUp(Vec<TopUp>),
    /// A daily limit in kopecks for each of these cards.
    Limit(Vec<Uuid>, i64),
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_twenty_times_under_load_it_loses_and_duplicates_nothing() {
    let seed = Random::any_seed();
    println!("seed {seed}");
    let random = Random::new(seed);
    let installation = Installation::new();
    let partner = installation.create_partner(&["--deposit", "10000000.00", "--yes"]);
    let cards = set_up(&installation, &partner).await;

    let mut attempts = Vec::new();
    for round in 0..KILLS {
        let mut running = installation.serve(SERVE);
        let client = running.client(&partner);
        let mut load = JoinSet::new();
        for caller in 0..CALLERS {
            let random = random.part(round * CALLERS as u64 + caller as u64);
            load.spawn(call_until_refused(client.clone(), cards.clone(), random));
        }
        tokio::time::sleep(Duration::from_millis(20 + random.below(400))).await;
        running.kill();
        while let Some(made) = load.join_next().await {
            attempts.extend(made.unwrap());
        }
        assert!(installation.succeed(&["check"]).contains("no discrepancies"), "after kill {round}");
    }
    let unanswered = attempts.iter().filter(|attempt| attempt.accepted.is_none()).count();
    println!("{} calls, {unanswered} of them cut off by a kill", attempts.len());
    assert!(attempts.len() as u64 > KILLS, "there was load");
    assert!(unanswered > 0, "some kills met a call on its way");

    let running = installation.serve(SERVE);
    let client = running.client(&partner);
    retry_without_response(&client, &mut attempts).await;
    let (mut ordered, mut topped_up) = (0, 0);
    for attempt in &attempts {
        let (cost, spent) = outcome(&client, attempt).await;
        ordered += cost;
        topped_up += spent;
    }
    check_limits(&client, &cards, &attempts).await;
    let balance = client.balance().await.unwrap();
    let first_order = i64::try_from(CARDS).unwrap() * FIRST_TOP_UP;
    assert_eq!(balance.hold, 0, "nothing is held once everything has ended");
    assert_eq!(balance.available, 1_000_000_000 - first_order - ordered - topped_up);

    let (_, good) = running.stop("TERM");
    assert!(good, "{}", installation.log());
    assert!(installation.succeed(&["check"]).contains("no discrepancies"));
    check_bank(&installation.path().join("bank.sqlite"), &attempts, topped_up, first_order + ordered);
}

/// Employees with a MAIN card each, activated.
pub async fn set_up(installation: &Installation, partner: &PartnerSecrets) -> Arc<Vec<Uuid>> {
    let running = installation.serve(SERVE);
    let client = running.client(partner);
    let count = u32::try_from(CARDS).unwrap();
    let order = client.orders().virtual_cards(&[VirtualItem::new(count, FIRST_TOP_UP)]).await.unwrap();
    let state =
        client.orders().wait(order.order_id, Wait::up_to(Duration::from_secs(30)), |_| {}).await.unwrap();
    assert_eq!(state, RequestState::Success);
    let mut cards = Vec::new();
    for (number, issued) in client.orders().result(order.order_id).await.unwrap().data.iter().enumerate() {
        let employee = client.employees().add(&NewEmployee::new(format!("T-{number}"))).await.unwrap();
        let linked = client
            .cards()
            .link(employee.id_employee, &issued.custom_id_card, &CardStatus::Main)
            .await
            .unwrap();
        client.sandbox().activate(linked.id_card, issued.activation_code.as_ref()).await.unwrap();
        cards.push(linked.id_card);
    }
    running.stop("TERM");
    Arc::new(cards)
}

/// Orders, tops up and limits until the server does not answer any more.
async fn call_until_refused(client: Client, cards: Arc<Vec<Uuid>>, random: Random) -> Vec<Attempt> {
    let mut made = Vec::new();
    loop {
        let what = anything(&cards, &random);
        let mut attempt = Attempt { key: IdempotencyKey::fresh(), what, accepted: None };
        match send(&client, &attempt).await {
            Ok(id) => attempt.accepted = Some(id),
            // Another request has one of the cards: nothing was accepted.
            Err(Error::Cards { status: 409, .. }) => continue,
            Err(Error::Api { status: 400..500, .. } | Error::Invalid { .. }) => panic!("a wrong call"),
            Err(_) => {
                made.push(attempt);
                return made;
            }
        }
        made.push(attempt);
    }
}

fn anything(cards: &[Uuid], random: &Random) -> What {
    let start = usize::try_from(random.below(CARDS as u64)).unwrap();
    let amount = 100 + i64::try_from(random.below(20)).unwrap();
    let some = (0..4).map(|n| cards[(start + n) % CARDS]);
    match random.below(4) {
        0 => What::Order(VirtualItem::new(1 + u32::try_from(random.below(3)).unwrap(), FIRST_TOP_UP)),
        1 => What::Limit(some.collect(), amount),
        _ => What::TopUp(some.map(|card| TopUp::new(card, amount)).collect()),
    }
}

async fn send(client: &Client, attempt: &Attempt) -> Result<Uuid, Error> {
    let key = attempt.key.clone();
    match &attempt.what {
        What::Order(item) => {
            let items = [item.clone()];
            client.orders().virtual_cards(&items).idempotency_key(key).await.map(|order| order.order_id)
        }
        What::TopUp(cards) => {
            let created = client.replenishments().create(cards).idempotency_key(key).await;
            created.map(|created| created.replenishment_id)
        }
        What::Limit(cards, amount) => {
            let limit = CardLimit::per(LimitPeriod::Day, *amount);
            let created = client.limits().set(cards, &limit).idempotency_key(key).await;
            created.map(|created| created.set_limits_cards_id)
        }
    }
}

/// A caller whose answer was cut off calls again under its key, as long as its cards are busy.
async fn retry_without_response(client: &Client, attempts: &mut [Attempt]) {
    let deadline = tokio::time::Instant::now() + Duration::from_secs(60);
    for attempt in attempts.iter_mut().filter(|attempt| attempt.accepted.is_none()) {
        attempt.accepted = loop {
            match send(client, attempt).await {
                Ok(id) => break Some(id),
                Err(Error::Cards { status: 409, .. }) if tokio::time::Instant::now() < deadline => {
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
                Err(error) => panic!("a repeat failed: {error:?}"),
            }
        };
    }
}

/// Waits for the end of what was accepted; returns what it cost as an order and as a top-up, in kopecks.
async fn outcome(client: &Client, attempt: &Attempt) -> (i64, i64) {
    let id = attempt.accepted.expect("every call was answered in the end");
    let wait = Wait::up_to(Duration::from_secs(60));
    match &attempt.what {
        What::Order(item) => {
            let state = client.orders().wait(id, wait, |_| {}).await.unwrap();
            assert_eq!(state, RequestState::Success);
            assert_eq!(client.orders().result(id).await.unwrap().data.len(), item.number_cards as usize);
            (i64::from(item.number_cards) * FIRST_TOP_UP, 0)
        }
        What::TopUp(cards) => {
            let state = client.replenishments().wait(id, wait, |_| {}).await.unwrap();
            let result = client.replenishments().result(id).await.unwrap();
            assert_eq!(result.len(), cards.len());
            let done = result.iter().filter(|card| card.result_replenishment);
            let spent = done.map(|card| card.amount_replenishment).sum();
            assert!(matches!(
                state,
                RequestState::Success | RequestState::PartSuccess | RequestState::Decline
            ));
            (0, spent)
        }
        What::Limit(cards, _) => {
            let state = client.limits().wait(id, wait, |_| {}).await.unwrap();
            assert_eq!(state, RequestState::Success);
            let result = client.limits().result(id).await.unwrap();
            assert_eq!(result.iter().map(|item| item.id_card).collect::<Vec<_>>(), *cards);
            assert!(result.iter().all(|item| item.result_limit));
            (0, 0)
        }
    }
}

/// Each card has a limit that was set, and the same one at the bank: it pays that amount in a day and
/// not a kopeck more.
async fn check_limits(client: &Client, cards: &[Uuid], attempts: &[Attempt]) {
    let mut changed = 0;
    for card in cards {
        let given: HashSet<i64> = attempts
            .iter()
            .filter_map(|attempt| match &attempt.what {
                What::Limit(cards, amount) => cards.contains(card).then_some(*amount),
                What::Order(_) | What::TopUp(_) => None,
            })
            .collect();
        let limit = client.cards().info(*card).await.unwrap().limit;
        let Some(amount) = limit.amount else {
            assert!(given.is_empty() && limit == CardLimit::unlimited(), "{limit:?}");
            continue;
        };
        assert!(given.contains(&amount) && limit == CardLimit::per(LimitPeriod::Day, amount), "{limit:?}");
        for (amount, approved) in [(amount + 1, false), (amount, true), (1, false)] {
            let purchase = Purchase { at: Some(SOME_DAY), ..Purchase::new(amount) };
            let bought = client.sandbox().purchase(*card, &purchase).await.unwrap();
            assert_eq!(bought.approved, approved, "{limit:?}: {bought:?}");
        }
        changed += 1;
    }
    assert!(changed > 0, "there were limit changes");
}

/// The bank's own books: each key applied at most once, and the same sums as ours.
fn check_bank(books: &Path, attempts: &[Attempt], topped_up: i64, first_top_ups: i64) {
    let zone = Zone::parse("+03:00").unwrap();
    let bank = Simulator::open(books, Arc::new(SystemClock::default()), Arc::new(OsEntropy), zone).unwrap();
    for attempt in attempts {
        let id = attempt.accepted.unwrap();
        let keys = match &attempt.what {
            What::Order(_) => vec![format!("order/{id}")],
            What::TopUp(cards) => {
                (0..cards.len()).map(|ordinal| format!("replenishment/{id}/{ordinal}")).collect()
            }
            What::Limit(cards, _) => {
                (0..cards.len()).map(|ordinal| format!("limit/{id}/{ordinal}")).collect()
            }
        };
        for key in keys {
            assert!(bank.applied(&BankKey::new(&*key).unwrap()).unwrap() <= 1, "{key} was applied twice");
        }
    }
    assert!(bank.check().unwrap().is_empty());
    let totals = bank.totals().unwrap();
    assert_eq!((totals.top_ups.get(), totals.first_top_ups.get()), (topped_up, first_top_ups));
}
