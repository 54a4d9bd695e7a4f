//! Leavers: their cards are frozen, what is left is taken back, and the cards are closed, by the partner's settings.

use kopeck_domain::Kopecks;
use kopeck_domain::closing::ClosingReason;
use kopeck_domain::partner::SealingPolicy;
use kopeck_service::partners;
use serde_json::{Value, json};
use time::Duration;
use uuid::Uuid;

use crate::api_client::{Api, text};
use crate::server::{TestPartner, TestServer};

/// A partner with these settings, and an employee with a MAIN card that holds 4,000 kopecks and a further one that is empty.
struct Scene {
    server: TestServer,
    partner: TestPartner,
    api: Api,
    employee: String,
    cards: Vec<String>,
}

fn leavers(freeze: bool, days: Option<u16>, close: bool) -> Value {
    json!({"leavers": {"freeze": freeze, "takeBackAfterDays": days, "close": close}})
}

impl Scene {
    async fn with(settings: Value) -> Self {
        let server = TestServer::start();
        let partner = server.partner(SealingPolicy::Optional, 10_000);
        let api = Api::login(&server, &partner).await;
        assert_eq!(api.put("/v1/settings", &settings).await.ok(200), settings);
        let employee = api.employee("T-1").await;
        let mut cards = Vec::new();
        for (card, status) in api.plastic(&server, 2).await.into_iter().zip(["MAIN", "ADDITIONAL"]) {
            api.link(&employee, &card.number, status).await.ok(200);
            cards.push(card.id);
        }
        api.top_up(&[(&cards[0], 4_000)]).await;
        server.run_jobs();
        api.expect_money(6_000, 0).await;
        Self { server, partner, api, employee, cards }
    }

    async fn set_status(&self, status: &str) {
        self.api.put(&format!("/v1/employee/{}", self.employee), &json!({"status": status})).await.ok(200);
    }

    async fn statuses(&self) -> Vec<String> {
        let employee = self.api.get(&format!("/v1/employee/{}", self.employee)).await.ok(200);
        employee["data"]["cards"].as_array().unwrap().iter().map(|card| text(&card["statusCard"])).collect()
    }

    /// Lets the time pass and does what is due then. The tokens end meanwhile.
    async fn pass(&mut self, time: Duration) {
        self.server.clock.advance(time);
        self.api = Api::login(&self.server, &self.partner).await;
        self.go_on();
    }

    /// Each step, and the work that comes of it.
    fn go_on(&self) {
        for _ in 0..4 {
            self.server.run_timer();
            for _ in 0..4 {
                self.server.run_jobs();
            }
        }
    }

    async fn runs(&self) -> Vec<Value> {
        self.api.get("/v1/runs").await.ok(200)["data"].as_array().unwrap().clone()
    }

    async fn closings(&self) -> Vec<Value> {
        self.api.get("/v1/closings").await.ok(200)["data"].as_array().unwrap().clone()
    }

    async fn bank_statuses(&self) -> Vec<String> {
        let mut statuses = Vec::new();
        for card in &self.cards {
            let info = self.api.get(&format!("/v1/card/{card}")).await.ok(200);
            statuses.push(text(&info["data"]["bankStatus"]));
        }
        statuses
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn settings_are_off_until_they_are_set() {
    let server = TestServer::start();
    let partner = server.partner(SealingPolicy::Optional, 0);
    let api = Api::login(&server, &partner).await;
    let get = async || api.get("/v1/settings").await.ok(200);
    assert_eq!(get().await, leavers(false, None, false));
    for settings in
        [leavers(true, None, false), leavers(false, Some(0), false), leavers(true, Some(3_650), true)]
    {
        assert_eq!(api.put("/v1/settings", &settings).await.ok(200), settings);
        assert_eq!(get().await, settings);
    }
    let last = get().await;
    for (faulty, fields) in [
        (json!({}), vec!["leavers"]),
        (json!({"leavers": []}), vec!["leavers"]),
        (json!({"leavers": {}}), vec!["leavers.freeze", "leavers.close"]),
        (
            json!({"leavers": {"freeze": "yes", "takeBackAfterDays": -1, "close": 1}}),
            vec!["leavers.freeze", "leavers.takeBackAfterDays", "leavers.close"],
        ),
        (
            json!({"leavers": {"freeze": true, "takeBackAfterDays": 3_651, "close": true}}),
            vec!["leavers.takeBackAfterDays"],
        ),
        (
            json!({"leavers": {"freeze": true, "takeBackAfterDays": "30", "close": true}}),
            vec!["leavers.takeBackAfterDays"],
        ),
        (leavers(true, None, true), vec!["leavers.close"]),
    ] {
        api.put("/v1/settings", &faulty).await.faulty(&fields);
    }
    assert_eq!(get().await, last, "nothing of them is taken");
    let without_days = json!({"leavers": {"freeze": true, "close": false}});
    assert_eq!(api.put("/v1/settings", &without_days).await.ok(200), leavers(true, None, false));
}

/// Nothing happens without settings.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_leaver_keeps_everything_by_default() {
    let mut scene = Scene::with(leavers(false, None, false)).await;
    scene.set_status("DONT_WORK").await;
    assert_eq!(scene.statuses().await, ["MAIN", "ADDITIONAL"]);
    scene.pass(Duration::days(4_000)).await;
    assert_eq!(scene.runs().await, Vec::<Value>::new());
}

/// To the second, by the service's clock; then each step follows by itself.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_leaver_is_frozen_and_what_is_left_is_taken_back_and_closed() {
    let mut scene = Scene::with(leavers(true, Some(30), true)).await;
    scene.set_status("VACATION").await;
    assert_eq!(scene.statuses().await, ["MAIN", "ADDITIONAL"]);
    scene.set_status("DONT_WORK").await;
    assert_eq!(scene.statuses().await, ["TEMPORARILY_BLOCKED"; 2]);
    let told = scene.api.get("/v1/events?types=employee.updated,card.status&limit=500").await.ok(200);
    let told: Vec<String> =
        told["data"].as_array().unwrap().iter().map(|event| text(&event["type"])).collect();
    assert_eq!(told, ["employee.updated", "employee.updated", "card.status", "card.status"]);
    scene.set_status("DONT_WORK").await;
    scene.pass(Duration::days(30) - Duration::MINUTE).await;
    scene.server.send_blocks();
    assert_eq!(scene.runs().await, Vec::<Value>::new());
    scene.api.expect_money(6_000, 0).await;

    scene.pass(Duration::MINUTE).await;
    let runs = scene.runs().await;
    assert_eq!(runs.len(), 1);
    let reference = json!(format!("leaver {}", scene.employee));
    let facts =
        ["kind", "status", "number", "amount", "createdBy", "submittedBy", "reference", "idProgramme"];
    let expected = json!(["WITHDRAW", "SUCCESS", 1, 4_000, "service", "service", reference, null])
        .as_array()
        .unwrap()
        .clone();
    assert_eq!(facts.map(|name| runs[0][name].clone()).to_vec(), expected);
    let closings = scene.closings().await;
    assert_eq!(closings.len(), 1);
    assert_eq!((&closings[0]["status"], &closings[0]["reference"]), (&json!("SUCCESS"), &reference));
    let closing: Uuid = text(&closings[0]["closingId"]).parse().unwrap();
    scene.server.change_partners(move |unit, _, partner| {
        let items = unit.closings().items(partner, closing.into(), 0, 10)?;
        assert_eq!(items.iter().map(|item| item.terms).collect::<Vec<_>>(), [ClosingReason::Leaver; 2]);
        Ok(())
    });
    scene.api.expect_money(10_000, 0).await;
    assert_eq!(scene.bank_statuses().await, ["CLOSED"; 2]);

    // Too late.
    scene.set_status("WORK").await;
    assert_eq!(scene.statuses().await, ["TEMPORARILY_BLOCKED"; 2]);
    scene.set_status("DONT_WORK").await;
    scene.pass(Duration::days(31)).await;
    assert_eq!(
        (scene.runs().await.len(), scene.closings().await.len()),
        (1, 1),
        "there is nothing left to do"
    );
}

/// With the statuses that the cards had. What the partner itself has blocked stays blocked.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_is_back_before_that_keeps_everything_and_is_unfrozen() {
    let mut scene = Scene::with(leavers(true, Some(30), true)).await;
    let blocked = scene.api.plastic(&scene.server, 1).await.remove(0);
    scene.api.link(&scene.employee, &blocked.number, "TEMPORARILY_BLOCKED").await.ok(200);
    for back in ["WORK", "MEDICAL"] {
        scene.set_status("DONT_WORK").await;
        assert_eq!(scene.statuses().await, ["TEMPORARILY_BLOCKED"; 3]);
        scene.pass(Duration::days(29)).await;
        scene.server.send_blocks();
        scene.set_status(back).await;
        assert_eq!(scene.statuses().await, ["MAIN", "ADDITIONAL", "TEMPORARILY_BLOCKED"]);
    }
    scene.pass(Duration::days(60)).await;
    assert_eq!(scene.runs().await, Vec::<Value>::new());
    scene.api.expect_money(6_000, 0).await;
    scene.server.send_blocks();
    let can_pay =
        scene.api.post(&format!("/v1/card/{}/can-pay", scene.cards[0]), &json!({"amount": 4_000})).await;
    assert_eq!(can_pay.ok(200)["allowed"], json!(true));

    // Another card is the MAIN one by now: the former one is a further card.
    scene.set_status("DONT_WORK").await;
    scene.api.switch(&scene.employee, &blocked.id, "MAIN").await.ok(200);
    scene.set_status("WORK").await;
    assert_eq!(scene.statuses().await, ["ADDITIONAL", "ADDITIONAL", "MAIN"]);
}

/// The run moves more than the partner's amount; it is cancelled when the person is back.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_taking_back_waits_for_an_approval_as_any_run() {
    let mut scene = Scene::with(leavers(true, Some(1), true)).await;
    let above = Kopecks::new(3_999);
    scene.server.change_partners(move |unit, _, id| partners::set_approval(unit, id, above));
    scene.set_status("DONT_WORK").await;
    scene.pass(Duration::days(1)).await;
    assert_eq!(scene.runs().await[0]["status"], "WAITING_APPROVAL");
    scene.set_status("WORK").await;
    assert_eq!(scene.runs().await[0]["status"], "REJECTED");
    assert_eq!(scene.statuses().await, ["MAIN", "ADDITIONAL"]);

    scene.set_status("DONT_WORK").await;
    scene.pass(Duration::days(1)).await;
    let run = scene.runs().await.remove(0);
    let approve = format!("/v1/run/{}/approve", text(&run["idRun"]));
    scene.api.post(&approve, &json!({"digest": run["digest"]})).await.ok(200);
    scene.go_on();
    assert_eq!(scene.closings().await.len(), 1);
    scene.api.expect_money(10_000, 0).await;
}

/// A purchase is on its way to the service when the money is taken back: the run takes nothing, since the card holds less, and the
/// closing brings the rest.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_leaver_has_spent_meanwhile_is_not_taken_back() {
    let mut scene = Scene::with(leavers(false, Some(7), true)).await;
    scene.set_status("DONT_WORK").await;
    assert_eq!(scene.statuses().await, ["MAIN", "ADDITIONAL"], "they are not frozen");
    scene.server.clock.advance(Duration::days(7));
    scene.api = Api::login(&scene.server, &scene.partner).await;
    scene.server.run_timer();
    let purchase = format!("/sandbox/v1/card/{}/purchase", scene.cards[0]);
    scene.api.post(&purchase, &json!({"amount": 1_500})).await.ok(200);
    scene.go_on();
    assert_eq!(scene.closings().await.len(), 1);
    scene.api.expect_money(8_500, 0).await;
    assert_eq!(scene.bank_statuses().await, ["CLOSED"; 2]);
}

/// A top-up that is under way is waited for.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_taking_back_waits_for_other_requests() {
    let mut scene = Scene::with(leavers(false, Some(7), false)).await;
    scene.set_status("DONT_WORK").await;
    scene.server.clock.advance(Duration::days(7));
    scene.api = Api::login(&scene.server, &scene.partner).await;
    scene.api.top_up(&[(&scene.cards[0], 1_000)]).await;
    scene.server.run_timer();
    assert_eq!(scene.runs().await, Vec::<Value>::new());
    scene.server.run_jobs();
    scene.pass(Duration::MINUTE).await;
    assert_eq!(scene.runs().await[0]["amount"], 5_000);
    scene.api.expect_money(10_000, 0).await;
    assert_eq!((scene.closings().await.len(), scene.bank_statuses().await), (0, vec!["OPEN".to_owned(); 2]));
}

/// Also from those who have left before.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_taken_back_once_that_is_switched_off() {
    let mut scene = Scene::with(leavers(true, Some(7), true)).await;
    scene.set_status("DONT_WORK").await;
    scene.api.put("/v1/settings", &leavers(false, None, false)).await.ok(200);
    scene.pass(Duration::days(8)).await;
    assert_eq!(scene.runs().await, Vec::<Value>::new());
    scene.set_status("WORK").await;
    assert_eq!(scene.statuses().await, ["MAIN", "ADDITIONAL"], "they are unfrozen all the same");
}
