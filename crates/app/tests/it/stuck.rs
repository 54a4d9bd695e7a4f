//! A bank that does twice what it is sent twice, and does not know what it was sent: nothing is sent again, the money
//! stays held, and a person has the last word.

use std::sync::{Arc, Mutex};

use kopeck_domain::access::Role;
use kopeck_port_bank::{BankError, BankKey, Submission};
use kopeck_port_store::{Access, transact};
use kopeck_service::stuck::{self, StuckError, StuckOutcome, StuckRequest};
use kopeck_service::worker::{Worker, WorkerSettings};
use kopeck_test_support::FakeBank;
use serde_json::json;
use time::Duration;
use uuid::Uuid;

use crate::api_client::{start, text};
use crate::console::browser::Browser;
use crate::server::TestServer;

/// Runs a worker at a bank that never sees the requests under the keys in `swallowed`, loses its responses to those in
/// `lost`, does not know either, and must not be sent anything twice. Returns the keys that were sent.
fn work(server: &TestServer, swallowed: &[String], lost: &[String]) -> Vec<String> {
    let sent: Arc<Mutex<Vec<String>>> = Arc::default();
    let (log, swallowed) = (Arc::clone(&sent), swallowed.to_vec());
    let unknown = [&swallowed[..], lost].concat();
    let is_unknown = unknown.clone();
    let bank = FakeBank::over(Arc::clone(&server.bank) as _)
        .repeat_is_safe(false)
        .on_submit(move |bank, submissions| {
            let submit = |submission: &Submission| {
                let key = submission.key.as_str().to_owned();
                let arrives = !swallowed.contains(&key);
                let verdict = arrives.then(|| bank.submit(std::slice::from_ref(submission)).pop()).flatten();
                let is_lost = is_unknown.contains(&key);
                log.lock().unwrap().push(key);
                verdict.filter(|_| !is_lost).unwrap_or_else(|| Err(BankError::Unknown("lost".to_owned())))
            };
            submissions.iter().map(submit).collect()
        })
        .on_query(move |bank, keys| {
            let known = |key: &BankKey| !unknown.iter().any(|unknown| unknown == key.as_str());
            let verdicts = bank.query(keys)?;
            Ok(keys.iter().zip(verdicts).map(|(key, verdict)| verdict.filter(|_| known(key))).collect())
        });
    let settings = WorkerSettings { chunk: 2, ..WorkerSettings::default() };
    let env = Arc::clone(&server.application.env);
    let worker = Worker::new(server.application.store(), Arc::new(bank), env, settings);
    for _ in 0..5 {
        server.clock.advance(Duration::seconds(10));
        while worker.run_once(&|| false).unwrap() > 0 {}
    }
    sent.lock().unwrap().clone()
}

fn stuck(server: &TestServer) -> Vec<StuckRequest> {
    transact(&*server.application.store, Access::Read, stuck::list).unwrap()
}

fn settle(server: &TestServer, request: &str, outcome: StuckOutcome) -> Result<usize, StuckError> {
    let (env, request) = (Arc::clone(&server.application.env), Uuid::parse_str(request).unwrap());
    transact(&*server.application.store, Access::Write, move |unit| {
        stuck::settle(unit, &env, request, outcome, None)
    })
}

/// Five cards in chunks of two; of the second and the fourth there is no word.
#[tokio::test]
async fn a_card_without_a_verdict_is_sent_once_and_left_to_an_operator() {
    let (server, api) = start(1_000).await;
    let cards = api.main_cards(&server, 5).await;
    for (outcome, applied) in [(StuckOutcome::Refused, false), (StuckOutcome::Applied, true)] {
        let before = api.get("/v1/balance").await.ok(200)["balance"].as_i64().unwrap();
        let top_ups: Vec<(&str, i64)> = cards.iter().map(|card| (card.as_str(), 10)).collect();
        let id = api.top_up(&top_ups).await;
        let silent = [1, 3].map(|ordinal| format!("replenishment/{id}/{ordinal}"));
        let sent = if applied { work(&server, &[], &silent) } else { work(&server, &silent, &[]) };
        let mut once = sent.clone();
        once.sort_unstable();
        once.dedup();
        assert_eq!((once.len(), sent.len()), (5, 5), "{sent:?}");

        assert_eq!(api.top_up_state(&id).await, "IN_PROCESS");
        api.expect_money(before - 30, 20).await;
        let [request] = &stuck(&server)[..] else { panic!("one request is stuck") };
        let keys: Vec<&str> =
            request.instructions.iter().map(|instruction| instruction.key.as_str()).collect();
        assert_eq!(keys, silent);

        if applied {
            let mut operator = Browser::of_new(&server, None, Role::Operator);
            let page = operator.get("/stuck");
            let done = operator.send(&page, "/stuck", &[("outcome", "applied"), ("sure", "yes")]);
            assert!(done.status == 200 && !done.text.contains(&silent[0]), "{}", done.text);
        } else {
            assert_eq!(settle(&server, &id, outcome), Ok(2));
        }
        let (end, spent) = if applied { ("SUCCESS", 50) } else { ("PART_SUCCESS", 30) };
        assert_eq!(api.top_up_state(&id).await, end);
        api.expect_money(before - spent, 0).await;
        assert_eq!(stuck(&server), []);
        assert!(matches!(settle(&server, &id, outcome), Err(StuckError::NotStuck(_))));
    }
}

/// The outcome may come long after the alarm.
#[tokio::test]
async fn a_bank_that_comes_to_know_ends_it_without_a_person() {
    let (server, api) = start(10_000).await;
    let cards = api.main_cards(&server, 1).await;
    let id = api.top_up(&[(&cards[0], 10)]).await;
    let wanted = json!({"data": [{"typeCard": "MLZ", "numberCards": 1, "amount": 5_000}]});
    let order = text(&api.post("/v1/order/virtualcards", &wanted).await.ok(202)["orderId"]);
    let lost = [format!("replenishment/{id}/0"), format!("order/{order}")];
    assert_eq!(work(&server, &[], &lost).len(), 2);
    assert_eq!(stuck(&server).len(), 2);
    api.expect_money(10_000, 5_010).await;
    assert_eq!(settle(&server, &order, StuckOutcome::Applied), Err(StuckError::OrderApplied));
    assert_eq!(work(&server, &[], &[]), [""; 0], "asked, not sent");
    assert_eq!(stuck(&server), []);
    assert_eq!(api.order_state(&order).await, "SUCCESS");
    assert_eq!(api.top_up_state(&id).await, "SUCCESS");
    api.expect_money(4_990, 0).await;
}
