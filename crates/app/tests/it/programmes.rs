//! Programmes: payday happens, once, whatever happens around it.

use kopeck_domain::Kopecks;
use kopeck_domain::partner::{PartnerStatus, SealingPolicy};
use kopeck_service::Progress;
use kopeck_service::partners;
use serde_json::{Value, json};
use time::Duration;

use crate::api_client::{Api, text};
use crate::server::{TestPartner, TestServer};

/// A partner with employees `T-1`, `T-2` …, each with a MAIN card.
pub struct Firm {
    pub server: TestServer,
    pub partner: TestPartner,
    pub api: Api,
    pub cards: Vec<String>,
    pub employees: Vec<String>,
}

/// The service's clock stands at 02.03.2026 12:00.
impl Firm {
    pub async fn start(deposit: i64, people: u32) -> Self {
        let server = TestServer::start();
        let partner = server.partner(SealingPolicy::Optional, deposit);
        let api = Api::login(&server, &partner).await;
        let mut firm = Self { server, partner, api, cards: Vec::new(), employees: Vec::new() };
        for (place, card) in (1..).zip(firm.api.plastic(&firm.server, people).await) {
            let employee = firm.api.employee(&format!("T-{place}")).await;
            firm.api.link(&employee, &card.number, "MAIN").await.ok(200);
            firm.cards.push(card.id);
            firm.employees.push(employee);
        }
        firm
    }

    /// Lets time pass, and all be done that is due by then.
    pub async fn pass(&mut self, time: Duration) {
        self.server.clock.advance(time);
        self.due();
        self.login().await;
    }

    pub async fn login(&mut self) {
        self.api = Api::login(&self.server, &self.partner).await;
    }

    pub fn due(&self) {
        self.server.pay();
    }

    pub async fn create(&self, terms: Value) -> Value {
        self.api.post("/v1/programmes", &terms).await.ok(201)
    }

    pub async fn runs(&self, programme: &Value) -> Vec<Value> {
        let listed = self.api.get(&path(programme, "/runs")).await.ok(200);
        listed["data"].as_array().unwrap().clone()
    }

    pub async fn items(&self, run: &Value) -> Vec<Value> {
        let listed = self.api.get(&format!("/v1/run/{}/result", text(&run["idRun"]))).await.ok(200);
        listed["data"].as_array().unwrap().clone()
    }

    pub async fn balances(&self) -> Vec<i64> {
        let mut balances = Vec::new();
        for card in &self.cards {
            let shown = self.api.get(&format!("/v1/card/{card}/balance")).await.ok(200);
            balances.push(shown["balance"].as_i64().unwrap());
        }
        balances
    }

    pub async fn buy(&self, card: usize, amount: i64) {
        let path = format!("/sandbox/v1/card/{}/purchase", self.cards[card]);
        assert_eq!(self.api.post(&path, &json!({"amount": amount})).await.ok(200)["approved"], true);
    }

    pub async fn deposit(&self, amount: i64) {
        self.api.post("/sandbox/v1/balance/deposit", &json!({"amount": amount})).await.ok(200);
    }

    pub async fn bank(&self, behaviour: Value) {
        self.api.post("/sandbox/v1/bank", &behaviour).await.ok(200);
    }

    pub async fn told(&self, kind: &str) -> Vec<Value> {
        let told = self.api.get(&format!("/v1/events?types={kind}&after=0&limit=500")).await.ok(200);
        told["data"].as_array().unwrap().iter().map(|event| event["data"].clone()).collect()
    }

    pub async fn forecast(&self, until: &str) -> Vec<Value> {
        let shown = self.api.get(&format!("/v1/programmes/forecast?until={until}")).await.ok(200);
        shown["data"].as_array().unwrap().clone()
    }
}

pub fn path(programme: &Value, verb: &str) -> String {
    format!("/v1/programme/{}{verb}", text(&programme["idProgramme"]))
}

/// 1,000 for everybody on the fifth of each month, at nine.
pub fn monthly() -> Value {
    json!({"name": "Meals", "for": {"all": true}, "amount": {"fixed": 1_000}, "every": "MONTH", "day": 5})
}

pub fn with(mut terms: Value, changes: Value) -> Value {
    for (name, value) in changes.as_object().unwrap() {
        terms[name] = value.clone();
    }
    terms
}

pub fn column<'a>(rows: &'a [Value], field: &str) -> Vec<&'a Value> {
    rows.iter().map(|row| &row[field]).collect()
}

pub const TO_THE_FIFTH: Duration = Duration::hours(3 * 24 - 3);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_period_is_paid_once() {
    let mut firm = Firm::start(10_000, 3).await;
    let programme = firm.create(with(monthly(), json!({"reference": "meal-{period}"}))).await;
    assert_eq!((&programme["status"], &programme["nextAt"]), (&json!("ACTIVE"), &json!("05.03.2026 09:00")));
    assert_eq!(
        (&programme["statuses"], &programme["time"], &programme["onShortage"]),
        (&json!(["WORK", "VACATION", "MEDICAL"]), &json!("09:00"), &json!("NOTHING"))
    );
    let forecast = firm.forecast("10.04.2026").await;
    assert_eq!(column(&forecast, "date"), ["05.03.2026", "05.04.2026"]);
    assert_eq!(column(&forecast, "availableAfter"), [7_000, 4_000]);
    firm.due();
    let told = firm.told("programme.due").await;
    assert_eq!(
        (&told[0]["needed"], &told[0]["available"], &told[0]["short"]),
        (&json!(3_000), &json!(10_000), &json!(0))
    );
    assert_eq!((&told[0]["period"], &told[0]["at"]), (&json!("2026-03"), &json!("05.03.2026 09:00")));

    firm.pass(TO_THE_FIFTH - Duration::HOUR).await;
    assert_eq!(firm.runs(&programme).await, [Value::Null; 0]);
    firm.pass(Duration::HOUR).await;
    let runs = firm.runs(&programme).await;
    assert_eq!(column(&runs, "status"), ["SUCCESS"]);
    assert_eq!((&runs[0]["period"], &runs[0]["reference"]), (&json!("2026-03"), &json!("meal-2026-03")));
    assert_eq!(
        (&runs[0]["idProgramme"], &runs[0]["createdBy"]),
        (&programme["idProgramme"], &json!("service"))
    );
    let items = firm.items(&runs[0]).await;
    assert_eq!(column(&items, "customId"), ["T-1", "T-2", "T-3"]);
    assert_eq!(column(&items, "balanceSeen"), [0, 0, 0]);
    assert_eq!((firm.balances().await, firm.told("programme.due").await.len()), (vec![1_000; 3], 1));
    firm.due();
    let filter = format!("/v1/runs?idProgramme={}", text(&programme["idProgramme"]));
    assert_eq!(firm.api.column(&filter, "idRun").await, [runs[0]["idRun"].clone()]);
    assert_eq!(firm.api.get(&path(&programme, "")).await.ok(200)["nextAt"], "05.04.2026 09:00");
    firm.api.expect_money(7_000, 0).await;
    // A clock that jumps over the whole month makes one run more.
    firm.pass(Duration::days(31)).await;
    assert_eq!(column(&firm.runs(&programme).await, "period"), ["2026-04", "2026-03"]);
    firm.api.expect_money(4_000, 0).await;
    firm.server.check();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_pays_part_goes_as_far_as_the_money_does() {
    let mut firm = Firm::start(2_500, 3).await;
    let programme = firm.create(with(monthly(), json!({"onShortage": "PART"}))).await;
    firm.pass(TO_THE_FIFTH).await;
    let runs = firm.runs(&programme).await;
    assert_eq!((&runs[0]["status"], &runs[0]["availableAfter"]), (&json!("PART_SUCCESS"), &json!(500)));
    let items = firm.items(&runs[0]).await;
    assert_eq!(column(&items, "outcome"), ["DONE", "DONE", "REFUSED"]);
    firm.deposit(10_000).await;
    firm.pass(Duration::hours(12)).await;
    assert_eq!((firm.runs(&programme).await.len(), firm.balances().await), (1, vec![1_000, 1_000, 0]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_short_is_tried_again_as_a_whole() {
    let mut firm = Firm::start(2_500, 3).await;
    let programme = firm.create(monthly()).await;
    firm.due();
    firm.pass(TO_THE_FIFTH).await;
    let runs = firm.runs(&programme).await;
    assert_eq!((&runs[0]["status"], &runs[0]["requests"]), (&json!("DECLINE"), &json!([])));
    let items = firm.items(&runs[0]).await;
    assert_eq!(column(&items, "reason"), ["not enough partner balance"; 3]);
    let told = firm.told("programme.due").await;
    assert_eq!(column(&told, "short"), [500, 500]);
    assert_eq!(firm.balances().await, [0; 3]);
    // At 12:00 there is still too little; at 18:00 there is enough, and the card that was filled meanwhile gets as much.
    firm.pass(Duration::hours(3)).await;
    assert_eq!(column(&firm.runs(&programme).await, "status"), ["DECLINE"]);
    firm.deposit(500).await;
    firm.pass(Duration::hours(5)).await;
    assert_eq!(column(&firm.runs(&programme).await, "status"), ["DECLINE"]);
    firm.pass(Duration::hours(1)).await;
    let again = firm.runs(&programme).await;
    assert_eq!((&again[0]["status"], &again[0]["idRun"]), (&json!("SUCCESS"), &runs[0]["idRun"]));
    assert_eq!((again.len(), firm.balances().await), (1, vec![1_000; 3]));
    let states = firm.told("run.status").await;
    let expected = ["IN_PROCESS", "DECLINE", "IN_PROCESS", "DECLINE", "IN_PROCESS", "SUCCESS"];
    assert_eq!(column(&states, "status"), expected);
    firm.server.check();
}

/// Money that goes elsewhere between the run and its request leaves nobody with a part.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_is_paid_in_part_if_the_money_goes_meanwhile() {
    let mut firm = Firm::start(3_000, 3).await;
    let programme = firm
        .create(with(monthly(), json!({"for": {"idEmployee": [firm.employees[0], firm.employees[1]]}})))
        .await;
    firm.server.clock.advance(TO_THE_FIFTH);
    firm.login().await;
    firm.server.programmes();
    // Its request is made, and holds no money yet.
    firm.server.work_now();
    firm.api.top_up(&[(&firm.cards[2], 1_500)]).await;
    let first = firm.api.get("/v1/replenishments").await.ok(200);
    assert_eq!(first["meta"]["total"], 2);
    // The other request is taken up first.
    firm.deposit(1).await;
    for _ in 0..4 {
        firm.server.run_jobs();
    }
    let runs = firm.runs(&programme).await;
    let paid: i64 = firm.balances().await[..2].iter().sum();
    match runs[0]["status"].as_str().unwrap() {
        "SUCCESS" => assert_eq!(paid, 2_000),
        "DECLINE" => assert_eq!(paid, 0),
        other => panic!("{other}"),
    }
    firm.server.check();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_card_is_filled_by_what_the_bank_says() {
    let mut firm = Firm::start(100_000, 3).await;
    let fill = firm.create(with(monthly(), json!({"amount": {"upTo": 1_000}}))).await;
    firm.api.top_up(&[(&firm.cards[1], 700), (&firm.cards[2], 1_000)]).await;
    firm.server.run_jobs();
    firm.buy(1, 200).await;
    firm.pass(TO_THE_FIFTH).await;
    let runs = firm.runs(&fill).await;
    let items = firm.items(&runs[0]).await;
    assert_eq!(column(&items, "customId"), ["T-1", "T-2"]);
    assert_eq!(
        (column(&items, "balanceSeen"), column(&items, "amount")),
        (vec![&json!(0), &json!(500)], vec![&json!(1_000), &json!(500)])
    );
    assert_eq!(firm.balances().await, [1_000; 3]);

    // Use it or lose it: at the end of the month all above 400 goes back.
    let lose = with(monthly(), json!({"amount": {"downTo": 400}, "day": -1, "name": "Lose"}));
    let lose = firm.create(lose).await;
    firm.buy(0, 700).await;
    let before = firm.api.get("/v1/balance").await.ok(200)["balance"].as_i64().unwrap();
    firm.pass(Duration::days(26)).await;
    let runs = firm.runs(&lose).await;
    assert_eq!((&runs[0]["kind"], &runs[0]["status"]), (&json!("WITHDRAW"), &json!("SUCCESS")));
    assert_eq!(firm.balances().await, [300, 400, 400]);
    firm.api.expect_money(before + 1_200, 0).await;
    // Nobody has more: a period with nobody to pay has its run.
    firm.pass(Duration::days(30)).await;
    let runs = firm.runs(&lose).await;
    assert_eq!(
        (&runs[0]["status"], &runs[0]["number"], &runs[0]["requests"]),
        (&json!("SUCCESS"), &json!(0), &json!([]))
    );
    firm.server.check();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_bank_and_the_partner_may_be_away_on_payday() {
    let mut firm = Firm::start(100_000, 1).await;
    let fill = firm.create(with(monthly(), json!({"amount": {"upTo": 1_000}}))).await;
    let fixed = firm.create(with(monthly(), json!({"day": 6}))).await;
    firm.bank(json!({"down": true})).await;
    firm.server.clock.advance(TO_THE_FIFTH);
    assert_eq!(firm.server.programmes(), Progress::BankUnavailable);
    firm.login().await;
    assert_eq!(firm.runs(&fill).await.len(), 0);
    firm.bank(json!({"down": false})).await;
    firm.due();
    assert_eq!(column(&firm.runs(&fill).await, "status"), ["SUCCESS"]);

    let suspend = |status| {
        firm.server.change_partners(move |unit, _, id| partners::set_status(unit, id, status).map(drop));
    };
    suspend(PartnerStatus::Suspended);
    firm.server.clock.advance(Duration::days(3));
    firm.due();
    suspend(PartnerStatus::Active);
    firm.login().await;
    assert_eq!(firm.runs(&fixed).await.len(), 0);
    firm.due();
    assert_eq!(column(&firm.runs(&fixed).await, "status"), ["SUCCESS"]);
    assert_eq!(firm.balances().await, [2_000]);
    firm.server.check();
}

/// Two that are due at one moment, for the same card, with money for one.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn programmes_of_one_moment_go_one_after_the_other() {
    let mut firm = Firm::start(5_000, 2).await;
    let first = firm.create(monthly()).await;
    let second = firm.create(with(monthly(), json!({"amount": {"fixed": 1_500}}))).await;
    let until = json!({"forecastUntil": "05.03.2026"});
    let preview = async |terms: Value| {
        firm.api.post("/v1/programmes/forecast", &with(terms, until.clone())).await.ok(200)
    };
    let previewed = preview(monthly()).await["data"].as_array().unwrap().clone();
    assert_eq!(previewed[2]["idProgramme"], "00000000-0000-0000-0000-000000000000");
    let own = json!({"idProgramme": first["idProgramme"], "amount": {"fixed": 500}});
    let changed = preview(with(monthly(), own)).await["data"].as_array().unwrap().clone();
    assert_eq!(column(&changed, "availableAfter"), [4_000, 1_000], "it replaces the first one");
    let third = firm.create(monthly()).await;
    let forecast = firm.forecast("05.03.2026").await;
    assert_eq!(column(&previewed, "availableAfter"), column(&forecast, "availableAfter"));
    assert_eq!(column(&forecast, "availableAfter"), [3_000, 0, 0]);
    assert_eq!(column(&forecast, "short"), [0, 0, 2_000]);
    firm.pass(TO_THE_FIFTH).await;
    for (programme, status) in [(&first, "SUCCESS"), (&second, "SUCCESS"), (&third, "DECLINE")] {
        assert_eq!(column(&firm.runs(programme).await, "status"), [status]);
    }
    assert_eq!(firm.balances().await, [2_500; 2]);
    firm.server.check();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn missed_periods_are_made_up_for_or_reported() {
    let mut firm = Firm::start(100_000, 1).await;
    let weekly = with(monthly(), json!({"every": "WEEK", "day": 2}));
    let programme = firm.create(weekly.clone()).await;
    let paused = firm.create(weekly).await;
    let verb = |verb: &str| path(&paused, verb);
    assert_eq!(firm.api.post(&verb("/pause"), &json!({})).await.ok(200)["status"], "PAUSED");
    // Tuesdays are the 3rd, 10th, 17th and 24th.
    firm.pass(Duration::days(22)).await;
    let runs = firm.runs(&programme).await;
    assert_eq!(column(&runs, "period"), ["2026-W13", "2026-W12", "2026-W11", "2026-W10"]);
    assert_eq!(column(&runs, "status"), ["SUCCESS", "EXPIRED", "EXPIRED", "EXPIRED"]);
    let states = firm.told("run.status").await;
    assert_eq!(states.iter().filter(|state| state["status"] == "EXPIRED").count(), 3);
    let resumed = firm.api.post(&verb("/resume"), &json!({})).await.ok(200);
    assert_eq!((&resumed["status"], &resumed["nextAt"]), (&json!("ACTIVE"), &json!("31.03.2026 09:00")));
    firm.due();
    assert_eq!((firm.runs(&paused).await.len(), firm.balances().await), (0, vec![1_000]));
    // With its programme the runs keep their name.
    let deleted = firm.api.delete(&path(&programme, "")).await.ok(200);
    assert_eq!((&deleted["status"], &deleted["nextAt"]), (&json!("ENDED"), &Value::Null));
    firm.api.get(&path(&programme, "")).await.refused(404, "programme_not_found");
    let filter = format!("/v1/runs?idProgramme={}", text(&programme["idProgramme"]));
    assert_eq!(firm.api.column(&filter, "idRun").await.len(), 4);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_change_holds_for_periods_without_a_run() {
    let mut firm = Firm::start(100_000, 2).await;
    let terms = with(monthly(), json!({"until": "30.04.2026", "proRata": true}));
    let programme = firm.create(terms.clone()).await;
    firm.pass(TO_THE_FIFTH).await;
    let changed = with(terms, json!({"amount": {"fixed": 3_000}, "day": 10}));
    let changed = firm.api.put(&path(&programme, ""), &changed).await.ok(200);
    assert_eq!(
        (&changed["nextAt"], &changed["amount"]),
        (&json!("10.04.2026 09:00"), &json!({"fixed": 3_000}))
    );
    // Somebody joins on 31.03., and another leaves.
    firm.pass(Duration::days(26)).await;
    let card = firm.api.plastic(&firm.server, 1).await.remove(0);
    let joined = firm.api.employee("T-0").await;
    firm.api.link(&joined, &card.number, "MAIN").await.ok(200);
    firm.cards.push(card.id);
    firm.api
        .put(&format!("/v1/employee/{}", firm.employees[1]), &json!({"status": "DONT_WORK"}))
        .await
        .ok(200);
    let forecast = firm.forecast("01.12.2026").await;
    assert_eq!(
        (column(&forecast, "people"), column(&forecast, "needed")),
        (vec![&json!(2)], vec![&json!(6_000)])
    );
    firm.pass(Duration::days(11)).await;
    assert_eq!(column(&firm.runs(&programme).await, "amount"), [6_000, 1_934]);
    assert_eq!(firm.balances().await, [3_967, 967, 3_000]);
    let ended = firm.api.get(&path(&programme, "")).await.ok(200);
    assert_eq!((&ended["status"], &ended["nextAt"]), (&json!("ENDED"), &Value::Null));
    for verb in ["/pause", "/resume", "/approve", "/refuse"] {
        firm.api.post(&path(&programme, verb), &json!({})).await.refused(409, "run_changed");
    }
    firm.server.check();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_large_programme_waits_for_another_person() {
    let mut firm = Firm::start(100_000, 2).await;
    firm.server.change_partners(|unit, _, id| partners::set_approval(unit, id, Kopecks::new(2_000)));
    let small = firm.create(monthly()).await;
    assert_eq!(small["status"], "ACTIVE");
    let large = with(monthly(), json!({"amount": {"upTo": 1_001}}));
    let waiting = firm.create(large.clone()).await;
    assert_eq!((&waiting["status"], &waiting["nextAt"]), (&json!("WAITING_APPROVAL"), &Value::Null));
    firm.api.post(&path(&waiting, "/approve"), &json!({})).await.refused(403, "forbidden");
    let changed = firm.api.put(&path(&small, ""), &large).await.ok(200);
    assert_eq!(
        (&changed["status"], &changed["amount"]),
        (&json!("WAITING_APPROVAL"), &json!({"fixed": 1_000}))
    );
    assert_eq!(
        (&changed["proposed"]["amount"], &changed["proposedBy"]),
        (&json!({"upTo": 1_001}), &json!("login"))
    );

    let theirs = firm.server.waiting_programme_of(firm.partner.id);
    let approve = format!("/v1/programme/{theirs}/approve");
    assert_eq!(firm.api.post(&approve, &json!({})).await.ok(200)["status"], "ACTIVE");
    firm.api.post(&approve, &json!({})).await.refused(409, "run_changed");
    let refused = firm.server.waiting_programme_of(firm.partner.id);
    let refused = firm.api.post(&format!("/v1/programme/{refused}/refuse"), &json!({})).await.ok(200);
    assert_eq!(refused["status"], "ENDED");
    // The former terms go on; after 72 hours nobody waits any more.
    firm.pass(TO_THE_FIFTH).await;
    assert_eq!(column(&firm.runs(&small).await, "amount"), [2_000]);
    firm.pass(Duration::hours(3)).await;
    for (programme, status) in [(&small, "ACTIVE"), (&waiting, "ENDED")] {
        assert_eq!(firm.api.get(&path(programme, "")).await.ok(200)["status"], status);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn faulty_terms_change_nothing() {
    let firm = Firm::start(0, 1).await;
    let unknown = "00000000-0000-0000-0000-000000000001";
    for (changes, fields) in [
        (json!({"name": "", "for": {}, "amount": {"fixed": 1, "upTo": 1}}), &["name", "for", "amount"][..]),
        (json!({"for": {"all": false}}), &["for.all"]),
        (json!({"for": {"all": true, "idEmployee": [unknown]}}), &["for"]),
        (json!({"for": {"idCategory": []}}), &["for.idCategory"]),
        (json!({"for": {"idEmployee": [unknown]}}), &["for"]),
        (json!({"for": {"idCategory": [unknown]}}), &["for"]),
        (json!({"amount": {"fixed": 0}}), &["amount.fixed"]),
        (json!({"amount": {"fixed": 100_000_001}}), &["amount.fixed"]),
        (json!({"amount": {"upTo": 5, "cap": 7}}), &["amount.cap"]),
        (json!({"amount": {"downTo": -1}}), &["amount.downTo"]),
        (json!({"statuses": ["DONT_WORK"]}), &["statuses"]),
        (json!({"statuses": []}), &["statuses"]),
        (json!({"every": "DAY"}), &["every"]),
        (json!({"day": 29}), &["day"]),
        (json!({"day": 0, "month": 2}), &["day", "month"]),
        (json!({"every": "YEAR"}), &["month"]),
        (json!({"every": "WEEK", "day": -1}), &["day"]),
        (json!({"time": "24:00", "shift": "LATER", "onShortage": "ALL"}), &["time", "shift", "onShortage"]),
        (json!({"from": "02.01.2026", "until": "01.01.2026"}), &["until"]),
        (json!({"reference": "meal"}), &["reference"]),
    ] {
        let faulty = with(monthly(), changes);
        firm.api.post("/v1/programmes", &faulty).await.faulty(fields);
    }
    firm.api.post("/v1/programmes", &json!({})).await.faulty(&["name", "for", "amount", "every", "day"]);
    assert_eq!(firm.api.get("/v1/programmes").await.ok(200)["meta"]["total"], 0);
    let named = with(monthly(), json!({"reference": "meal-{period}"}));
    let programme = firm.create(named.clone()).await;
    firm.api.post("/v1/programmes", &named).await.faulty(&["reference"]);
    firm.api.put(&path(&programme, ""), &named).await.ok(200);
    for until in ["01.03.2026", "05.03.2027", "soon"] {
        firm.api.get(&format!("/v1/programmes/forecast?until={until}")).await.faulty(&["until"]);
    }
    let until = with(monthly(), json!({"forecastUntil": "05.03.2027", "day": 30}));
    firm.api.post("/v1/programmes/forecast", &until).await.faulty(&["day"]);
    firm.api
        .post("/v1/programmes/forecast", &with(until, json!({"day": 3})))
        .await
        .faulty(&["forecastUntil"]);
    let unknown = with(monthly(), json!({"idProgramme": "00000000-0000-0000-0000-000000000001"}));
    firm.api.post("/v1/programmes/forecast", &unknown).await.refused(404, "programme_not_found");
    for _ in 1..100 {
        firm.create(monthly()).await;
    }
    firm.api.post("/v1/programmes", &monthly()).await.refused(409, "too_many_programmes");
}
