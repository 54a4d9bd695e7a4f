//! Runs: what a preview shows is what happens, once.

use kopeck_domain::Kopecks;
use kopeck_domain::partner::SealingPolicy;
use serde_json::{Value, json};

use crate::api_client::{Api, start, text};
use crate::server::TestServer;

/// Creates a run with these items.
pub async fn draft(api: &Api, kind: &str, items: Value) -> Value {
    api.post("/v1/runs", &json!({"kind": kind, "items": items})).await.ok(201)
}

pub fn path(run: &Value, verb: &str) -> String {
    format!("/v1/run/{}{verb}", text(&run["idRun"]))
}

pub async fn submit(api: &Api, run: &Value, skip_faulty: bool) -> Value {
    let body = json!({"digest": run["digest"], "skipFaulty": skip_faulty});
    api.post(&path(run, "/submit"), &body).await.ok(200)
}

/// Does the work of a run to its end.
pub fn carry_out(server: &TestServer) {
    for _ in 0..4 {
        server.run_jobs();
    }
}

/// A field of each item.
pub async fn column(api: &Api, run: &Value, field: &str) -> Vec<Value> {
    let items = api.get(&path(run, "/result")).await.ok(200);
    items["data"].as_array().unwrap().iter().map(|item| item[field].clone()).collect()
}

pub async fn codes(api: &Api, run: &Value) -> Vec<Value> {
    column(api, run, "fault").await.iter().map(|fault| fault["code"].clone()).collect()
}

/// Employees with a MAIN card each, and their cards.
pub async fn people(api: &Api, server: &TestServer, count: u32) -> Vec<(String, String, String)> {
    let mut people = Vec::new();
    for (place, card) in (1..).zip(api.plastic(server, count).await) {
        let custom_id = format!("T-{place}");
        let employee = api.employee(&custom_id).await;
        api.link(&employee, &card.number, "MAIN").await.ok(200);
        people.push((custom_id, employee, card.id));
    }
    people
}

pub async fn balance_of(api: &Api, card: &str) -> i64 {
    api.get(&format!("/v1/card/{card}/balance")).await.ok(200)["balance"].as_i64().unwrap()
}

/// Two items that are fine, and eight with a fault.
fn one_of_each_fault(people: &[(String, String, String)]) -> Value {
    json!([
        {"customId": "T-1", "amount": 4_000},
        {"idEmployee": people[1].1, "amount": 7_000},
        {"idCard": people[2].2, "amount": 5_000},
        {"customId": "T-4", "amount": 1},
        {"customId": "T-9", "amount": 1},
        {"customId": "T-0", "amount": 1},
        {"idCard": people[0].2, "amount": 1},
        {"customId": "T-3"},
        {"amount": 1},
        {"customId": "T-2", "idEmployee": people[1].1, "amount": 1},
    ])
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_preview_names_every_fault_and_what_is_left_happens() {
    let (server, api) = start(10_000).await;
    let people = people(&api, &server, 4).await;
    let leaver = &people[3];
    api.put(&format!("/v1/employee/{}", leaver.1), &json!({"status": "DONT_WORK"})).await.ok(200);
    api.employee("T-9").await;
    let run = draft(&api, "TOP_UP", one_of_each_fault(&people)).await;
    assert_eq!((&run["status"], &run["number"], &run["faulty"]), (&json!("DRAFT"), &json!(10), &json!(8)));
    assert_eq!(
        (&run["amount"], &run["available"], &run["availableAfter"]),
        (&json!(9_000), &json!(10_000), &json!(1_000))
    );
    assert_eq!(run["createdBy"], "login");
    let expected = [
        Value::Null,
        json!("insufficient_balance"),
        Value::Null,
        json!("employee_left"),
        json!("no_main_card"),
        json!("employee_not_found"),
        json!("duplicate"),
        json!("missing"),
        json!("missing"),
        json!("ambiguous"),
    ];
    assert_eq!(codes(&api, &run).await, expected);
    let faulty = api.get(&path(&run, "/items?faulty=true&per_page=500")).await.ok(200);
    assert_eq!(faulty["meta"]["total"], 8);
    assert_eq!(faulty["data"][0]["line"], 2);

    api.expect_money(10_000, 0).await;
    api.post(&path(&run, "/submit"), &json!({"digest": run["digest"]})).await.refused(409, "run_faulty");
    let other = json!({"digest": "0".repeat(64), "skipFaulty": true});
    api.post(&path(&run, "/submit"), &other).await.refused(409, "run_changed");
    assert_eq!(submit(&api, &run, true).await["status"], "IN_PROCESS");
    carry_out(&server);

    let ended = api.get(&path(&run, "")).await.ok(200);
    assert_eq!(ended["status"], "SUCCESS");
    assert_eq!(
        (ended["requests"].as_array().unwrap().len(), &ended["requests"][0]["kind"]),
        (1, &json!("replenishment"))
    );
    assert_eq!(api.top_up_state(&text(&ended["requests"][0]["id"])).await, "SUCCESS");
    api.expect_money(1_000, 0).await;
    let outcomes = column(&api, &run, "outcome").await;
    assert_eq!(
        (&outcomes[0], &outcomes[1], &outcomes[2]),
        (&json!("DONE"), &json!("SKIPPED"), &json!("DONE"))
    );
    assert_eq!(
        [
            balance_of(&api, &people[0].2).await,
            balance_of(&api, &people[1].2).await,
            balance_of(&api, &people[2].2).await
        ],
        [4_000, 0, 5_000]
    );
    let again = submit(&api, &run, true).await;
    assert_eq!((&again["status"], &again["requests"]), (&json!("SUCCESS"), &ended["requests"]));
    api.post(&path(&run, "/cancel"), &json!({})).await.refused(409, "run_not_cancellable");
    let told = api.get("/v1/events?types=run.status,replenishment.status&limit=500").await.ok(200);
    let told: Vec<String> =
        told["data"].as_array().unwrap().iter().map(|event| text(&event["data"]["status"])).collect();
    assert_eq!(told, ["DRAFT", "IN_PROCESS", "NEW", "IN_PROCESS", "SUCCESS", "SUCCESS"]);
    server.check();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_has_changed_since_the_preview_only_makes_less_of_it() {
    let (server, api) = start(100_000).await;
    let people = people(&api, &server, 5).await;
    let items: Vec<Value> = people.iter().map(|(id, ..)| json!({"customId": id, "amount": 1_000})).collect();
    let run = draft(&api, "TOP_UP", json!(items)).await;
    assert_eq!(run["faulty"], 0);
    // The first has left, the second has no MAIN card, the third another one, the fourth is in a request.
    api.put(&format!("/v1/employee/{}", people[0].1), &json!({"status": "DONT_WORK"})).await.ok(200);
    api.switch(&people[1].1, &people[1].2, "ADDITIONAL").await.ok(200);
    api.switch(&people[2].1, &people[2].2, "ADDITIONAL").await.ok(200);
    let new = api.plastic(&server, 1).await.remove(0);
    api.link(&people[2].1, &new.number, "MAIN").await.ok(200);
    api.top_up(&[(&people[3].2, 500)]).await;
    submit(&api, &run, false).await;
    carry_out(&server);
    assert_eq!(api.get(&path(&run, "")).await.ok(200)["status"], "PART_SUCCESS");
    assert_eq!(column(&api, &run, "outcome").await, ["SKIPPED", "REFUSED", "DONE", "REFUSED", "DONE"]);
    assert_eq!(balance_of(&api, &new.id).await, 1_000);
    api.expect_money(100_000 - 2_500, 0).await;
    server.check();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_withdrawal_takes_no_more_than_was_shown() {
    let (server, api) = start(100_000).await;
    let people = people(&api, &server, 3).await;
    let cards: Vec<(&str, i64)> = people.iter().map(|(.., card)| (card.as_str(), 3_000)).collect();
    api.top_up(&cards).await;
    server.run_jobs();
    let run = draft(
        &api,
        "WITHDRAW",
        json!([
            {"customId": "T-1"}, {"customId": "T-2", "amount": 1_000}, {"customId": "T-3", "amount": 3_001},
        ]),
    )
    .await;
    assert_eq!((&run["amount"], &run["availableAfter"]), (&json!(4_000), &json!(91_000 + 4_000)));
    assert_eq!(codes(&api, &run).await, [Value::Null, Value::Null, json!("insufficient_balance")]);
    api.top_up(&[(&people[0].2, 200)]).await;
    server.run_jobs();
    submit(&api, &run, true).await;
    carry_out(&server);
    assert_eq!(api.get(&path(&run, "")).await.ok(200)["status"], "SUCCESS");
    assert_eq!([balance_of(&api, &people[0].2).await, balance_of(&api, &people[1].2).await], [200, 2_000]);
    server.check();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn limits_orders_and_employees_go_the_same_way() {
    let (server, api) = start(20_000).await;
    let people = people(&api, &server, 3).await;
    let daily = |amount| json!({"amount": amount, "period": "CDAY"});
    let run = draft(
        &api,
        "LIMIT",
        json!([
            {"customId": "T-1", "limit": daily(1)}, {"customId": "T-2", "limit": daily(2)},
            {"customId": "T-3", "limit": daily(1)}, {"idCard": people[0].2, "limit": {}},
        ]),
    )
    .await;
    assert_eq!(codes(&api, &run).await[3], "invalid");
    submit(&api, &run, true).await;
    carry_out(&server);
    let ended = api.get(&path(&run, "")).await.ok(200);
    assert_eq!((&ended["status"], ended["requests"].as_array().unwrap().len()), (&json!("SUCCESS"), 2));
    let limit =
        api.get(&format!("/v1/card/{}", people[2].2)).await.ok(200)["data"]["limit"]["amount"].clone();
    assert_eq!(limit, 1);

    let run = draft(&api, "VIRTUAL_ORDER", json!([
        {"typeCard": "MLZ", "numberCards": 2, "amount": 6_000}, {"typeCard": "MLZ", "numberCards": 2, "amount": 5_000},
        {"typeCard": "MLZ", "numberCards": 1, "amount": 5_000},
    ]))
    .await;
    assert_eq!(
        (&run["amount"], codes(&api, &run).await[1].clone()),
        (&json!(17_000), json!("insufficient_balance"))
    );
    submit(&api, &run, true).await;
    carry_out(&server);
    let ended = api.get(&path(&run, "")).await.ok(200);
    assert_eq!((&ended["status"], &ended["requests"][0]["kind"]), (&json!("SUCCESS"), &json!("order")));
    api.expect_money(3_000, 0).await;

    let new = json!([
        {"customId": "N-1", "surname": "Петров", "category": "Водители"},
        {"customId": "T-1", "surname": "Иванов", "phone": null},
        {"customId": "N-2", "phone": "12"},
    ]);
    let refused = draft(&api, "EMPLOYEES", new.clone()).await;
    assert_eq!(codes(&api, &refused).await, [json!("category_not_found"), Value::Null, json!("invalid")]);
    let body = json!({"kind": "EMPLOYEES", "items": new, "createCategories": true});
    let run = api.post("/v1/runs", &body).await.ok(201);
    submit(&api, &run, true).await;
    carry_out(&server);
    let ended = api.get(&path(&run, "")).await.ok(200);
    assert_eq!((&ended["status"], &ended["requests"]), (&json!("SUCCESS"), &json!([])));
    let found = api.get("/v1/employees?customId=N-1").await.ok(200)["data"][0].clone();
    assert_eq!(found["surname"], "Петров");
    assert_eq!(api.get("/v1/employees?customId=T-1").await.ok(200)["data"][0]["surname"], "Иванов");
    assert_eq!(api.column("/v1/categories", "nameCategory").await, ["Водители"]);
    api.delete(&format!("/v1/employee/{}", text(&found["idEmployee"]))).await.ok(200);
    assert_eq!(column(&api, &run, "customId").await[0], Value::Null);
    server.check();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reference_is_one_run_s_until_that_comes_to_nothing() {
    let (server, api) = start(100_000).await;
    people(&api, &server, 1).await;
    let body = json!({"kind": "TOP_UP", "items": [{"customId": "T-1", "amount": 5}], "reference": "march"});
    let first = api.post("/v1/runs", &body).await.ok(201);
    let again = api.post("/v1/runs", &body).await;
    assert_eq!(again.ok(409)["idRun"], first["idRun"]);
    let other = json!({"kind": "WITHDRAW", "items": [{"customId": "T-1"}], "reference": "march"});
    api.post("/v1/runs", &other).await.ok(201);
    assert_eq!(api.post(&path(&first, "/cancel"), &json!({})).await.ok(200)["status"], "REJECTED");
    assert_eq!(api.post(&path(&first, "/cancel"), &json!({})).await.ok(200)["status"], "REJECTED");
    api.post(&path(&first, "/submit"), &json!({"digest": first["digest"]})).await.refused(409, "run_changed");
    let second = api.post("/v1/runs", &body).await.ok(201);
    let listed = api.column("/v1/runs?reference=march&kind=TOP_UP", "idRun").await;
    assert_eq!(listed, [second["idRun"].clone(), first["idRun"].clone()]);
    assert_eq!(api.column("/v1/runs?status=REJECTED", "idRun").await, [first["idRun"].clone()]);
    for items in [json!([]), json!(7), json!(vec![json!({}); 10_001])] {
        api.post("/v1/runs", &json!({"kind": "TOP_UP", "items": items})).await.faulty(&["items"]);
    }
    let odd = draft(&api, "TOP_UP", json!([7, {"customId": "T-1", "amount": true}, null])).await;
    assert_eq!((&odd["number"], &odd["faulty"]), (&json!(3), &json!(3)));
    let faults = column(&api, &odd, "fault").await;
    let shown = |fault: &Value| (text(&fault["field"]), text(&fault["code"]));
    let invalid = |field: &str| (field.to_owned(), "invalid".to_owned());
    assert_eq!(
        faults.iter().map(shown).collect::<Vec<_>>(),
        [invalid("customId"), invalid("amount"), invalid("customId")]
    );
    api.get("/v1/run/00000000-0000-0000-0000-000000000001").await.refused(404, "run_not_found");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_large_run_waits_for_another_person_and_expires() {
    let server = TestServer::start();
    let partner = server.partner(SealingPolicy::Optional, 100_000);
    let api = Api::login(&server, &partner).await;
    people(&api, &server, 1).await;
    server.change_partners(|unit, _, id| kopeck_service::partners::set_approval(unit, id, Kopecks::new(500)));
    let items = json!([{"customId": "T-1", "amount": 501}]);
    let run = draft(&api, "TOP_UP", items).await;
    let waiting = submit(&api, &run, false).await;
    assert_eq!((&waiting["status"], &waiting["submittedBy"]), (&json!("WAITING_APPROVAL"), &json!("login")));
    let digest = json!({"digest": run["digest"]});
    api.post(&path(&run, "/approve"), &digest).await.refused(403, "forbidden");
    api.post(&path(&run, "/refuse"), &json!({})).await.refused(403, "forbidden");
    carry_out(&server);
    api.expect_money(100_000, 0).await;

    let (waiting, digest) = server.waiting_run_of(partner.id);
    let approve = format!("/v1/run/{waiting}/approve");
    api.post(&approve, &json!({"digest": "0".repeat(64)})).await.refused(409, "run_changed");
    let approved = api.post(&approve, &json!({"digest": digest})).await.ok(200);
    assert_eq!((&approved["status"], &approved["approvedBy"]), (&json!("IN_PROCESS"), &json!("login")));
    api.post(&approve, &json!({"digest": digest})).await.refused(409, "run_changed");
    carry_out(&server);
    api.expect_money(95_000, 0).await;
    let (refused, _) = server.waiting_run_of(partner.id);
    let refused =
        api.post(&format!("/v1/run/{refused}/refuse"), &json!({"reason": "too much"})).await.ok(200);
    assert_eq!((&refused["status"], &refused["reason"]), (&json!("REJECTED"), &json!("too much")));

    server.clock.advance(time::Duration::hours(72));
    server.run_timer();
    let api = Api::login(&server, &partner).await;
    assert_eq!(api.get(&path(&run, "")).await.ok(200)["status"], "EXPIRED");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_scheduled_run_begins_at_its_time() {
    let (server, api) = start(100_000).await;
    people(&api, &server, 1).await;
    let body =
        json!({"kind": "TOP_UP", "items": [{"customId": "T-1", "amount": 700}], "at": "02.03.2026 12:10"});
    let run = api.post("/v1/runs", &body).await.ok(201);
    assert_eq!(
        (&run["at"], submit(&api, &run, false).await["status"].clone()),
        (&json!("02.03.2026 12:10"), json!("SCHEDULED"))
    );
    server.run_timer();
    carry_out(&server);
    api.expect_money(100_000, 0).await;
    server.clock.advance(time::Duration::minutes(10));
    server.run_timer();
    server.run_timer();
    carry_out(&server);
    assert_eq!(api.get(&path(&run, "")).await.ok(200)["status"], "SUCCESS");
    api.expect_money(99_300, 0).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cancel_and_a_submission_at_once_have_one_winner() {
    let (server, api) = start(1_000_000).await;
    people(&api, &server, 1).await;
    for round in 0..20 {
        let run = draft(&api, "TOP_UP", json!([{"customId": "T-1", "amount": 1}])).await;
        let body = json!({"digest": run["digest"]});
        let (submit, cancel) = (path(&run, "/submit"), path(&run, "/cancel"));
        let none = json!({});
        let (submitted, cancelled) = tokio::join!(api.post(&submit, &body), api.post(&cancel, &none));
        let (won, lost) = (submitted.status == 200, cancelled.status == 200);
        carry_out(&server);
        let state = text(&api.get(&path(&run, "")).await.ok(200)["status"]);
        match (won, lost) {
            (true, false) => assert_eq!(state, "SUCCESS", "{round}"),
            // A cancel that came first has refused the submission.
            (false, true) => assert_eq!(state, "REJECTED", "{round}"),
            other => panic!("{round}: {other:?}, {state}"),
        }
    }
    server.check();
}
