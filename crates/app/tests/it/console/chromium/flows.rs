//! A company of a dozen people, and what its people do in a month, by the keyboard alone.

use kopeck_domain::Kopecks;
use kopeck_domain::access::Role;
use kopeck_domain::partner::SealingPolicy;
use kopeck_service::partners;
use serde_json::{Value, json};

use super::Tour;
use super::{guide, seldom, trouble};
use crate::api_client::plastic_order;
use crate::console::browser::Browser as Plain;
use crate::console::money::carry_out;
use crate::raw_http::{get, login, post};
use crate::server::{TestPartner, TestServer};

const NAMES: [(&str, &str); 8] = [
    ("Орлова", "Анна"),
    ("Белов", "Павел"),
    ("Громова", "Ирина"),
    ("Давыдов", "Олег"),
    ("Ершова", "Мария"),
    ("Зимин", "Сергей"),
    ("Ильина", "Ольга"),
    ("Котов", "Денис"),
];

/// A partner with people who have cards, and its users.
pub struct Company<'s> {
    pub partner: TestPartner,
    server: &'s TestServer,
    /// Numbers of unassigned cards.
    pub unlinked: Vec<String>,
    /// The identifiers of the people and of their cards, and the numbers of these.
    pub people: Vec<[String; 3]>,
    pub owner: Plain<'s>,
    pub hr: Plain<'s>,
    pub finance: Plain<'s>,
}

impl<'s> Company<'s> {
    pub fn new(server: &'s TestServer) -> Self {
        let partner = server.partner(SealingPolicy::Optional, 50_000_000);
        let token = login(server, &partner).access;
        let call = |path: &str, body: &Value| post(path, body).token(&token).send(server);
        call("/v1/order/plasticcards", &plastic_order(12, "Nevsky 1"));
        server.run_jobs();
        let free = get("/v1/cards/available?per_page=20").token(&token).send(server).json();
        let text = |at: usize, name: &str| free["data"][at][name].as_str().unwrap().to_owned();
        let office = call("/v1/category", &json!({"nameCategory": "Office"})).text_of("idCategory");
        let mut people = Vec::new();
        for (at, (surname, name)) in NAMES.iter().enumerate() {
            let new = json!({"customId": format!("T-{}", at + 1), "surname": surname, "name": name, "idCategory": office});
            let person = call("/v1/employee/add", &new).text_of("idEmployee");
            let number = text(at, "customIdCard");
            let link = json!({"customIdCard": number, "statusCard": "MAIN"});
            assert_eq!(call(&format!("/v1/employee/{person}/link_card"), &link).status, 200);
            people.push([person, text(at, "idCard"), number]);
        }
        let unlinked = (NAMES.len()..12).map(|at| text(at, "customIdCard")).collect();
        let user = |role| Plain::of_new(server, Some(&partner), role);
        let (owner, hr, finance) = (user(Role::Owner), user(Role::Hr), user(Role::Finance));
        Self { partner, server, unlinked, people, owner, hr, finance }
    }

    /// A row for everybody, with this amount.
    pub fn rows(&self, amount: &str) -> String {
        (1..=self.people.len()).map(|at| format!("T-{at}; {amount}\n")).collect()
    }

    /// The balances of the first cards, in kopecks.
    pub fn expect(&self, balances: &[i64]) {
        let token = login(self.server, &self.partner).access;
        for (person, balance) in self.people.iter().zip(balances) {
            let card = get(&format!("/v1/card/{}", person[1])).token(&token).send(self.server).json();
            assert_eq!(card["data"]["balance"], *balance, "{card}");
        }
    }

    /// Does something as the partner's program.
    pub fn call(&self, path: &str, body: &Value) {
        let token = login(self.server, &self.partner).access;
        let got = post(path, body).token(&token).send(self.server);
        assert!(got.status < 300, "{got:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs Chromium, its driver and axe-core: scripts/test-console"]
async fn people_do_their_month_by_the_keyboard_alone() {
    let server = TestServer::start();
    let mut company = Company::new(&server);
    for (name, amount, every, day) in [
        ("Lunch", json!({"fixed": 300_000}), "MONTH", 10),
        ("Taxi", json!({"upTo": 150_000}), "WEEK", 1),
        ("Sport", json!({"fixed": 5_000_000, "cap": 6_000_000}), "QUARTER", 25),
    ] {
        let terms = json!({"name": name, "for": {"all": true}, "amount": amount, "every": every, "day": day});
        company.call("/v1/programmes", &terms);
    }
    server.waiting_run_of(company.partner.id);
    let tour = Tour::start(&server).await;
    tour.speak("en").await;
    guide::first_day(&tour, &company).await;
    guide::payday(&tour, &company).await;
    wrong_file(&tour, &company).await;
    four_eyes(&tour, &company).await;
    lost_card(&tour, &company).await;
    leaver(&tour, &company).await;
    seldom::orders(&tour, &company).await;
    seldom::programmes(&tour, &company).await;
    seldom::limits(&tour, &company).await;
    seldom::deposit(&tour, &company).await;
    trouble::bank_down(&tour, &company).await;
    guide::month_end(&tour, &mut company).await;
    tour.end().await;
}

/// Files that are wrong: no table, unknown columns, and rows that are none. Each says what is wrong, and no money moves.
async fn wrong_file(tour: &Tour<'_>, company: &Company<'_>) {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, content: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, content).unwrap();
        path.to_str().unwrap().to_owned()
    };
    tour.become_user(&company.finance).await;
    tour.open("/runs/new").await;
    let scan = file("Ведомость.pdf", "%PDF-1.7\0\u{1}");
    tour.send("/runs/upload", &[("reference", "Kept"), ("file", &scan)]).await;
    tour.sees(&["The file is no table: neither CSV"]).await;
    let kept = "return document.querySelector(\"form[enctype] [name=reference]\").value";
    assert_eq!(tour.browser.run(kept).await, "Kept", "what was typed is still there");
    let rows = "Кто;Сколько\nT-1;a lot\nT-999;5\nT-3;1,005\nT-2;7\n";
    tour.send("/runs/upload", &[("file", &file("list.csv", rows))]).await;
    tour.sees(&["What are the columns?", "a lot"]).await;
    let path = tour.path().await;
    tour.send(&path, &[("column-0", "customId"), ("column-1", "rubles")]).await;
    tour.sees(&["Faulty rows", "Correct the faulty rows", "There is no such employee."]).await;
    let path = tour.path().await;
    let corrections = [("value-0", "12,50"), ("value-1", "T-4"), ("out-2", "yes")];
    tour.send(&format!("{path}/correct"), &corrections).await;
    tour.sees(&["a new draft with your corrections", "₽24.50"]).await;
    let path = tour.path().await;
    tour.send_and_go_back(&format!("{path}/cancel"), &[]).await;
    tour.sees(&["Cancelled."]).await;
    company.expect(&[150_000, 150_000, 150_000]);
}

/// A large run is approved by another person than the one who has submitted it.
async fn four_eyes(tour: &Tour<'_>, company: &Company<'_>) {
    tour.server.change_partners(|unit, _, id| partners::set_approval(unit, id, Kopecks::new(50_000)));
    tour.become_user(&company.owner).await;
    tour.open("/runs/new").await;
    tour.send("/runs/new", &[("kind", "TOP_UP"), ("rows", "T-1; 900.00"), ("reference", "Bonus")]).await;
    let path = tour.path().await;
    tour.send_and_go_back(&format!("{path}/submit"), &[]).await;
    tour.sees(&["Waiting for approval"]).await;
    carry_out(tour.server);
    company.expect(&[150_000]);
    tour.become_user(&company.finance).await;
    tour.open("/").await;
    tour.follow("/approvals").await;
    tour.follow(&path).await;
    tour.sees(&["owner@example.ru", "₽900.00"]).await;
    tour.send_and_go_back(&format!("{path}/approve"), &[]).await;
    carry_out(tour.server);
    company.expect(&[240_000]);
    tour.server.change_partners(|unit, _, id| partners::set_approval(unit, id, Kopecks::ZERO));
}

/// A lost card is closed, and its owner gets another.
async fn lost_card(tour: &Tour<'_>, company: &Company<'_>) {
    tour.become_user(&company.hr).await;
    tour.open("/people").await;
    let [person, _, number] = &company.people[1];
    tour.send("/people", &[("q", number)]).await;
    tour.sees(&["Белов Павел", "Pays now, up to ₽1,500.00."]).await;
    let path = format!("/person/{person}");
    tour.send_and_go_back(&format!("{path}/freeze"), &[]).await;
    tour.sees(&["The card is frozen."]).await;
    tour.server.send_blocks();
    tour.send_and_go_back(&format!("{path}/close"), &[("reason", "LOST")]).await;
    tour.sees(&["The card is being closed."]).await;
    carry_out(tour.server);
    tour.open(&path).await;
    tour.send_and_go_back(&format!("{path}/unlink"), &[]).await;
    let card = [("customIdCard", &*company.unlinked[1]), ("statusCard", "MAIN")];
    tour.send_and_go_back(&format!("{path}/link"), &card).await;
    tour.sees(&["The card is linked.", &company.unlinked[1]]).await;
    company.expect(&[240_000, 0]);
}

/// An employee leaves: the status, the card, and at last the data.
async fn leaver(tour: &Tour<'_>, company: &Company<'_>) {
    tour.open("/people").await;
    tour.send("/people", &[("q", "ильин")]).await;
    let [person, ..] = &company.people[6];
    let path = format!("/person/{person}");
    tour.follow(&path).await;
    tour.send_and_go_back(&format!("{path}/status"), &[("status", "DONT_WORK")]).await;
    tour.sees(&["left, since"]).await;
    tour.send_and_go_back(&format!("{path}/close"), &[("reason", "LEAVER")]).await;
    carry_out(tour.server);
    tour.open(&path).await;
    tour.sees(&["closed"]).await;
    tour.send_and_go_back(&format!("{path}/erase"), &[("sure", "yes")]).await;
    tour.sees(&["data is erased"]).await;
    company.expect(&[240_000, 0, 150_000, 150_000, 150_000, 150_000, 0, 150_000]);
}
