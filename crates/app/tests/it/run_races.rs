//! Runs while something else happens: whoever comes first wins, nothing is done twice, and the money agrees.

use std::thread;

use kopeck_domain::partner::{PartnerStatus, SealingPolicy};
use serde_json::{Value, json};

use crate::api_client::{Api, text};
use crate::http_tokens::set_status;
use crate::runs::{balance_of, carry_out, column, draft, path, people, submit};
use crate::server::{TestPartner, TestServer};

const ROUNDS: usize = 12;
const DEPOSIT: i64 = 1_000_000;

async fn scene(count: u32) -> (TestServer, TestPartner, Api, Vec<(String, String, String)>) {
    let server = TestServer::start();
    let partner = server.partner(SealingPolicy::Optional, DEPOSIT);
    let api = Api::login(&server, &partner).await;
    let people = people(&api, &server, count).await;
    (server, partner, api, people)
}

async fn state(api: &Api, run: &Value) -> String {
    text(&api.get(&path(run, "")).await.ok(200)["status"])
}

/// The same amount for each of these people.
fn all(people: &[(String, String, String)], amount: i64) -> Value {
    people.iter().map(|(custom_id, ..)| json!({"customId": custom_id, "amount": amount})).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_approval_a_refusal_and_a_cancel_at_once_have_one_winner() {
    let (server, partner, api, _) = scene(1).await;
    let mut approved = 0;
    for round in 0..ROUNDS {
        let (id, digest) = server.waiting_run_of(partner.id);
        let run = json!({"idRun": id});
        let [approve, refuse, cancel] = ["/approve", "/refuse", "/cancel"].map(|verb| path(&run, verb));
        let (digest, none) = (json!({"digest": digest}), json!({}));
        // Whoever is sent first does not always come first.
        let (agreed, refused, cancelled) = match round % 3 {
            0 => {
                tokio::join!(api.post(&approve, &digest), api.post(&refuse, &none), api.post(&cancel, &none))
            }
            1 => {
                let (refused, cancelled, agreed) = tokio::join!(
                    api.post(&refuse, &none),
                    api.post(&cancel, &none),
                    api.post(&approve, &digest)
                );
                (agreed, refused, cancelled)
            }
            _ => {
                let (cancelled, agreed, refused) = tokio::join!(
                    api.post(&cancel, &none),
                    api.post(&approve, &digest),
                    api.post(&refuse, &none)
                );
                (agreed, refused, cancelled)
            }
        };
        carry_out(&server);
        if agreed.status == 200 {
            approved += 1;
            refused.refused(409, "run_changed");
            cancelled.refused(409, "run_not_cancellable");
            assert_eq!(state(&api, &run).await, "SUCCESS", "{round}");
        } else {
            agreed.refused(409, "run_changed");
            assert!(refused.status == 200 || cancelled.status == 200, "{round}");
            assert_eq!(state(&api, &run).await, "REJECTED", "{round}");
        }
    }
    api.expect_money(DEPOSIT - 5_000 * approved, 0).await;
    server.check();
}

/// The same file at the same moment is one run, and two submissions of it have one effect.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_same_file_twice_at_once_has_one_effect() {
    let (server, _, api, people) = scene(2).await;
    for round in 1..=4 {
        let body =
            json!({"kind": "TOP_UP", "items": all(&people, 100), "reference": format!("march {round}")});
        let (one, other) = tokio::join!(api.post("/v1/runs", &body), api.post("/v1/runs", &body));
        let (made, refused) = if one.status == 201 { (one, other) } else { (other, one) };
        let (made, refused) = (made.ok(201), refused.ok(409));
        assert_eq!((&refused["code"], &refused["idRun"]), (&json!("reference_taken"), &made["idRun"]));
        let (one, other) = tokio::join!(submit(&api, &made, false), submit(&api, &made, false));
        assert_eq!((&one["status"], &other["status"]), (&json!("IN_PROCESS"), &json!("IN_PROCESS")));
        carry_out(&server);
        assert_eq!(state(&api, &made).await, "SUCCESS");
        api.post("/v1/runs", &body).await.ok(409);
        api.expect_money(DEPOSIT - 200 * round, 0).await;
    }
    server.check();
}

/// Threads of workers take the same run at once: each item is carried out once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn several_workers_carry_a_run_out_once() {
    let (server, _, api, people) = scene(3).await;
    let staff: Vec<Value> = (0..250).map(|place| json!({"customId": format!("N-{place}")})).collect();
    let runs = [draft(&api, "EMPLOYEES", json!(staff)).await, draft(&api, "TOP_UP", all(&people, 700)).await];
    for run in &runs {
        submit(&api, run, false).await;
    }
    for _ in 0..6 {
        server.clock.advance(crate::server::SETTINGS.processing_delay);
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| server.work_now());
            }
        });
    }
    for run in &runs {
        assert_eq!(state(&api, run).await, "SUCCESS");
        assert!(column(&api, run, "outcome").await.iter().all(|outcome| outcome == "DONE"));
    }
    assert_eq!(api.get("/v1/employees?per_page=1").await.ok(200)["meta"]["total"], 250 + 3);
    assert_eq!(api.column("/v1/replenishments", "numberCards").await, [3]);
    api.expect_money(DEPOSIT - 3 * 700, 0).await;
    server.check();
}

/// A card is no MAIN card any more at the moment at which the run takes it: it gets its money, or it does not, and the run says
/// which.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_card_that_changes_meanwhile_is_topped_up_or_refused() {
    let (server, _, api, people) = scene(1).await;
    let (_, employee, card) = &people[0];
    let mut given = 0;
    for round in 0..ROUNDS {
        let run = draft(&api, "TOP_UP", all(&people, 10)).await;
        submit(&api, &run, false).await;
        let (switched, ()) = tokio::join!(api.switch(employee, card, "ADDITIONAL"), async {
            tokio::task::block_in_place(|| server.work_now());
        });
        switched.ok(200);
        carry_out(&server);
        let (state, outcome) = (state(&api, &run).await, column(&api, &run, "outcome").await);
        match state.as_str() {
            "SUCCESS" => {
                assert_eq!(outcome, ["DONE"], "{round}");
                given += 10;
            }
            "DECLINE" => assert_eq!(outcome, ["REFUSED"], "{round}"),
            other => panic!("{round}: {other}"),
        }
        assert_eq!(balance_of(&api, card).await, given);
        api.switch(employee, card, "MAIN").await.ok(200);
    }
    api.expect_money(DEPOSIT - given, 0).await;
    server.check();
}

/// What two runs may spend is not there twice: the second gets what is left, person by person.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_runs_that_the_balance_covers_one_by_one_share_it() {
    let (server, _, api, people) = scene(4).await;
    let first = draft(&api, "TOP_UP", all(&people[..2], 300_000)).await;
    let second = draft(&api, "TOP_UP", all(&people[2..], 300_000)).await;
    assert_eq!((&first["faulty"], &second["faulty"]), (&json!(0), &json!(0)));
    submit(&api, &first, false).await;
    submit(&api, &second, false).await;
    carry_out(&server);
    let mut states = [state(&api, &first).await, state(&api, &second).await];
    states.sort_unstable();
    assert_eq!(states, ["PART_SUCCESS", "SUCCESS"]);
    api.expect_money(100_000, 0).await;
    server.check();
}

/// Whoever is suspended can submit nothing; what was submitted before goes on, as requests do.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_suspended_partner_s_run_goes_on() {
    let (server, partner, api, people) = scene(2).await;
    let now = draft(&api, "TOP_UP", all(&people[..1], 500)).await;
    let later = api
        .post(
            "/v1/runs",
            &json!({"kind": "TOP_UP", "items": all(&people[1..], 700), "at": "02.03.2026 12:10"}),
        )
        .await
        .ok(201);
    let forgotten = draft(&api, "TOP_UP", all(&people, 900)).await;
    submit(&api, &now, false).await;
    assert_eq!(submit(&api, &later, false).await["status"], "SCHEDULED");
    set_status(&server, &partner, PartnerStatus::Suspended);
    carry_out(&server);
    server.clock.advance(time::Duration::minutes(10));
    server.run_timer();
    carry_out(&server);
    set_status(&server, &partner, PartnerStatus::Active);
    let api = Api::login(&server, &partner).await;
    let states = [state(&api, &now).await, state(&api, &later).await, state(&api, &forgotten).await];
    assert_eq!(states, ["SUCCESS", "SUCCESS", "DRAFT"]);
    api.expect_money(DEPOSIT - 1_200, 0).await;
    server.check();
}

/// Nobody knows what a silent bank has done: the run waits until it does.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_waits_for_a_bank_that_is_away() {
    let (server, _, api, people) = scene(3).await;
    let run = draft(&api, "TOP_UP", all(&people, 1_000)).await;
    submit(&api, &run, false).await;
    api.post("/sandbox/v1/bank", &json!({"down": true})).await.ok(200);
    carry_out(&server);
    assert_eq!(state(&api, &run).await, "IN_PROCESS");
    assert_eq!(column(&api, &run, "outcome").await, [Value::Null, Value::Null, Value::Null]);
    api.expect_money(DEPOSIT, 3_000).await;
    api.post(&path(&run, "/cancel"), &json!({})).await.refused(409, "run_not_cancellable");
    api.post("/sandbox/v1/bank", &json!({"down": false})).await.ok(200);
    for _ in 0..4 {
        server.clock.advance(time::Duration::seconds(10));
        carry_out(&server);
    }
    assert_eq!(state(&api, &run).await, "SUCCESS");
    api.expect_money(DEPOSIT - 3_000, 0).await;
    server.check();
}

/// A request of a run is a request like any other: if it is cancelled before it begins, its items are refused.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_of_a_run_can_be_cancelled() {
    let (server, _, api, people) = scene(2).await;
    let run = draft(&api, "TOP_UP", all(&people, 1_000)).await;
    submit(&api, &run, false).await;
    server.work_now();
    let begun = api.get(&path(&run, "")).await.ok(200);
    let request = text(&begun["requests"][0]["id"]);
    api.delete(&format!("/v1/replenishment/{request}")).await.ok(200);
    carry_out(&server);
    assert_eq!(state(&api, &run).await, "DECLINE");
    assert_eq!(
        column(&api, &run, "reason").await,
        ["the request was cancelled", "the request was cancelled"]
    );
    api.expect_money(DEPOSIT, 0).await;
    server.check();
}
