//! Runs, approvals, reports, integration, users and operators in the console.

use kopeck_domain::Kopecks;
use kopeck_domain::access::Role;
use kopeck_domain::partner::SealingPolicy;
use kopeck_sealing::SealingKey;
use kopeck_service::partners;
use serde_json::json;

use super::browser::{Browser, NEW_PASSWORD, between, offers};
use super::{Holder, card_info, holder, start};
use crate::raw_http::{RawResponse, get, login, post};
use crate::server::{PASSWORD, SETTINGS, TestServer};

/// Lets the worker carry out what was submitted, and follow it to its end.
pub fn carry_out(server: &TestServer) {
    for _ in 0..4 {
        server.run_jobs();
    }
    // Copies of cards are read anew.
    server.clock.advance(SETTINGS.card_cache);
}

fn new_run(browser: &mut Browser<'_>, rows: &str, reference: &str) -> (String, RawResponse) {
    let page = browser.get("/runs/new");
    let values = [("kind", "TOP_UP"), ("names", "customId"), ("rows", rows), ("reference", reference)];
    let made = browser.send_once(&page, "/runs/new", &values);
    assert_eq!(made.status, 303, "{}", made.text);
    let path = made.header("location").unwrap().strip_prefix("/console").unwrap().to_owned();
    let page = browser.get(&path);
    (path, page)
}

#[test]
fn a_run_is_shown_submitted_and_carried_out_as_shown() {
    let (server, partner) = start();
    let holder = holder(&server, &partner);
    let mut browser = Browser::of_new(&server, Some(&partner), Role::Owner);
    let rows = "T-1; 1 500,50\nT-99; 3.00\n";
    let (path, page) = new_run(&mut browser, rows, "March");
    for shown in ["₽1,500.50", "There is no such employee.", "₽8,499.50", "draft"] {
        assert!(page.text.contains(shown), "{shown}: {}", page.text);
    }
    let submit = format!("{path}/submit");
    let refused = browser.send(&page, &submit, &[]);
    assert!(refused.status == 409 && refused.text.contains("faulty items"), "{}", refused.text);
    let first = browser.send_once(&page, &submit, &[("skipFaulty", "yes")]);
    let second = browser.send_once(&page, &submit, &[("skipFaulty", "yes")]);
    assert_eq!((first.status, second.status), (303, 303), "a double click");
    carry_out(&server);
    assert_eq!(card_info(&server, &holder)["balance"], 150_050);
    let page = browser.get(&path);
    assert!(page.text.contains("done") && page.text.contains("skipped"), "{}", page.text);
    assert!(browser.get("/runs").text.contains("March"));
    let page = browser.get("/runs/new");
    let again = [("kind", "TOP_UP"), ("names", "customId"), ("rows", "T-1;1.00"), ("reference", "March")];
    let taken = browser.send(&page, "/runs/new", &again);
    assert!(taken.status == 409 && taken.text.contains("has the reference"), "{}", taken.text);
    assert!(taken.text.contains("T-1;1.00"), "what was typed is still there");
    let person = browser.get(&format!("/person/{}", holder.person));
    assert!(person.text.contains("Pays now, up to ₽1,500.50."), "{}", person.text);
}

#[test]
fn a_large_run_needs_another_person() {
    let (server, partner) = start();
    let holder = holder(&server, &partner);
    server.change_partners(|unit, _, id| partners::set_approval(unit, id, Kopecks::new(50_000)));
    let mut owner = Browser::of_new(&server, Some(&partner), Role::Owner);
    let mut finance = Browser::of_new(&server, Some(&partner), Role::Finance);
    let mut auditor = Browser::of_new(&server, Some(&partner), Role::Auditor);
    let (path, page) = new_run(&mut owner, "T-1; 900.00", "");
    let page = owner.send(&page, &format!("{path}/submit"), &[]);
    assert!(page.text.contains("Waiting for approval"), "{}", page.text);
    let own = owner.send(&page, &format!("{path}/approve"), &[]);
    assert_eq!(own.status, 403, "who submitted it does not approve it");
    carry_out(&server);
    assert_eq!(card_info(&server, &holder)["balance"], 0);

    assert!(auditor.get("/approvals").text.contains(&path));
    assert!(!offers(&auditor.get(&path), &format!("{path}/approve")));
    assert!(finance.get("/").text.contains(&path), "it is on the first page");
    let page = finance.get(&path);
    assert!(page.text.contains("owner@example.ru"), "{}", page.text);
    let page = finance.send(&page, &format!("{path}/approve"), &[]);
    assert!(page.text.contains("Approved."), "{}", page.text);
    carry_out(&server);
    assert_eq!(card_info(&server, &holder)["balance"], 90_000);

    let (path, page) = new_run(&mut owner, "T-1; 900.00", "");
    owner.send(&page, &format!("{path}/submit"), &[]);
    let page = finance.get(&path);
    let page = finance.send(&page, &format!("{path}/refuse"), &[("reason", "too much")]);
    assert!(page.text.contains("too much") && page.text.contains("cancelled"), "{}", page.text);
    let (path, page) = new_run(&mut owner, "T-1; 1.00", "");
    let page = owner.send(&page, &format!("{path}/cancel"), &[]);
    assert!(page.text.contains("Cancelled."), "{}", page.text);
}

#[test]
fn reports_have_files_and_a_month_is_closed_once() {
    let (server, partner) = start();
    let Holder { card, token, .. } = holder(&server, &partner);
    let top_up = json!({"cards": [{"idCard": card, "amountReplenishment": 10_000}]});
    assert_eq!(post("/v1/replenishment", &top_up).token(&token).send(&server).status, 202);
    server.run_jobs();
    server.follow_feed();
    let mut browser = Browser::of_new(&server, Some(&partner), Role::Finance);
    browser.language = "ru";
    let page = browser.get("/reports");
    assert!(page.text.contains("100,00\u{a0}₽") && page.text.contains("Орлова Анна"), "{}", page.text);
    for (path, start) in [
        ("/report/2026-03/csv", "idEmployee,"),
        ("/statement/2026-03/csv", "seq,"),
        ("/statement/2026-03/camt", "<?xml"),
    ] {
        let file = browser.get_once(path);
        assert!(file.status == 200 && file.text.starts_with(start), "{path}: {file:?}");
        assert!(file.header("content-disposition").unwrap().starts_with("attachment; "), "{path}");
    }
    assert_eq!(browser.get("/report/2026-03/exe").status, 404);
    let page = browser.get("/reports?month=2026-03");
    let early = browser.send(&page, "/reports", &[("sure", "yes")]);
    assert_eq!(early.status, 422, "the month is not over: {}", early.text);
    server.clock.advance(time::Duration::days(31));
    let mut browser = Browser::of_known(&server, &mut browser);
    let page = browser.get("/reports?month=2026-03");
    let page = browser.send(&page, "/reports", &[("sure", "yes")]);
    assert!(page.text.contains("SHA-256:") && !offers(&page, "/reports"), "{}", page.text);
}

#[test]
fn webhooks_are_made_and_their_secret_shown_once() {
    let (server, partner) = start();
    let mut browser = Browser::of_new(&server, Some(&partner), Role::Owner);
    let page = browser.get("/integration");
    let page =
        browser.send(&page, "/integration", &[("url", "https://hooks.example/<b>"), ("description", "x")]);
    assert_eq!(page.status, 422, "{}", page.text);
    let description = "<script>alert(1)</script>";
    let values = [("url", "https://hooks.example/a"), ("description", description)];
    let made = browser.send(&page, "/integration", &values);
    let secret = between(&made.text, "<code>", "</code>").to_owned();
    let path = between(&made.text, "href=\"/console/webhook/", "\"").to_owned();
    let path = format!("/webhook/{path}");
    assert!(secret.starts_with("whsec_"));
    let page = browser.get(&path);
    assert!(!page.text.contains(&secret) && page.text.contains("&#60;script&#62;"), "{}", page.text);
    let page = browser.send(&page, &format!("{path}/ping"), &[]);
    assert!(page.text.contains("On its way.") && page.text.contains("ping"), "{}", page.text);
    assert!(browser.get("/integration/events").text.contains("ping"));
    let other = browser.send(&page, &format!("{path}/secret"), &[]);
    assert_ne!(between(&other.text, "<code>", "</code>"), secret);
    let page = browser.send(&page, &format!("{path}/enable"), &[]);
    assert!(page.text.contains("Saved."), "{}", page.text);
    let edit = format!("{path}/edit");
    let bad = browser.send(&page, &edit, &[("url", "https://hooks.example/<b>"), ("description", "other")]);
    assert!(bad.status == 422 && bad.text.contains("value=\"other\""), "{}", bad.text);
    let changed = [("url", "https://hooks.example/b"), ("description", "other"), ("card.declined", "yes")];
    let page = browser.send(&bad, &edit, &changed);
    assert!(
        page.text.contains("<dd>card.declined</dd>") && page.text.contains("hooks.example/b"),
        "{}",
        page.text
    );
    let page = browser.send(&page, &edit, &changed[..2]);
    assert!(page.text.contains("<dd>All</dd>"), "{}", page.text);
    let page = browser.send(&page, &format!("{path}/delete"), &[]);
    assert!(page.text.contains("No webhooks."), "{}", page.text);
    server.write_request_log();
    let token = login(&server, &partner).access;
    assert_eq!(get("/v1/balance").token(&token).send(&server).status, 200);
    server.write_request_log();
    let log = browser.get("/integration/requests");
    assert!(log.text.contains("<td>balance") && !log.text.contains("<td>webhook.create"), "{}", log.text);
    assert_eq!(get("/v1/cards").token(&token).send(&server).status, 200);
    server.write_request_log();
    let log = browser.get("/integration/requests");
    assert!(
        log.text.find("<td>card.list") < log.text.find("<td>balance"),
        "the newest is first: {}",
        log.text
    );
    let log = browser.get("/integration/requests?operation=balance&status=200");
    assert!(log.text.contains("<td>balance") && !log.text.contains("<td>card.list"), "{}", log.text);
    assert_eq!(browser.get("/integration/requests?status=many").status, 422);
    let events = browser.get("/integration/events?types=ping");
    let event = format!("/integration/event/{}", between(&events.text, "/console/integration/event/", "\""));
    assert!(browser.get(&event).text.contains("createdAt"), "{}", events.text);
    assert!(browser.get("/integration/events?types=card.declined").text.contains("No events."));
    assert_eq!(browser.get("/integration/event/999").status, 410);
}

#[test]
fn a_credential_is_made_once_works_and_is_revoked() {
    let (server, partner) = start();
    let mut owner = Browser::of_new(&server, Some(&partner), Role::Owner);
    let page = owner.get("/integration/credentials");
    let new = [("name", "Payroll"), ("cards", "read"), ("statements", "read")];
    for bad in
        [&[("name", "Payroll")][..], &[("name", ""), ("cards", "read")], &[("name", "A"), ("cards", "all")]]
    {
        assert_eq!(owner.send(&page, "/integration/credentials", bad).status, 422, "{bad:?}");
    }
    let address = [&new[..], &[("addresses", "10.0.0.0/99")]].concat();
    let refused = owner.send(&page, "/integration/credentials", &address);
    assert!(refused.status == 422 && refused.text.contains("value=\"Payroll\""), "{}", refused.text);
    let made = owner.send(&refused, "/integration/credentials", &new);
    let again = owner.send(&refused, "/integration/credentials", &new);
    let secret = |page: &RawResponse, label: &str| {
        between(&page.text, &format!("<dt>{label}</dt><dd>"), "</dd>").to_owned()
    };
    assert_eq!(secret(&made, "API key"), secret(&again, "API key"), "a double click shows the same");
    let other = [("name", "Another"), ("cards", "read")];
    assert_eq!(
        owner.send(&refused, "/integration/credentials", &other).status,
        422,
        "its form was sent before"
    );

    let mut program = server.partner(SealingPolicy::Optional, 0);
    program.api_key = secret(&made, "API key");
    program.login = secret(&made, "Login");
    program.password = secret(&made, "Password");
    program.key = SealingKey::parse(&secret(&made, "Sealing key")).unwrap();
    let token = login(&server, &program).access;
    assert_eq!(get("/v1/balance").token(&token).send(&server).status, 200);
    assert_eq!(get("/v1/employees").token(&token).send(&server).status, 403);

    let list = owner.get("/integration");
    assert_eq!(list.text.matches(">Payroll</a>").count(), 1, "{}", list.text);
    assert!(!list.text.contains(&program.api_key) && !list.text.contains(&program.password));
    let path = format!("/credential/{}", secret(&made, "Identifier"));
    let revoke = format!("{path}/revoke");
    let page = owner.get(&path);
    assert_eq!(owner.send(&page, &revoke, &[]).status, 422, "it has to be confirmed");
    let revoked = owner.send(&page, &revoke, &[("sure", "yes")]);
    assert!(revoked.text.contains("is revoked") && !offers(&revoked, &revoke), "{}", revoked.text);
    server.clock.advance(time::Duration::seconds(5));
    assert_eq!(get("/v1/balance").token(&token).send(&server).status, 401);
    let log = owner.get("/audit");
    for action in ["partner.credential.create", "partner.credential.revoke"] {
        assert!(log.text.contains(action), "{}", log.text);
    }
    for role in [Role::Finance, Role::Auditor] {
        let mut browser = Browser::of_new(&server, Some(&partner), role);
        let page = browser.get(&path);
        assert!(page.status == 200 && !offers(&page, &revoke), "{role}: {page:?}");
        let fields = super::hidden_fields(&page.text, "/logout");
        let mut fields: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (&**name, &**value)).collect();
        fields.extend(new);
        assert_eq!(browser.post("/integration/credentials", &fields).status, 403, "{role}");
        assert_eq!(browser.get("/integration/credentials").status, 403, "{role}");
    }
}

#[test]
fn an_owner_makes_users_and_ends_them() {
    let (server, partner) = start();
    let mut owner = Browser::of_new(&server, Some(&partner), Role::Owner);
    let page = owner.get("/users");
    let new = [("login", "Anna@example.ru"), ("role", "HR")];
    let made = owner.send(&page, "/users", &new);
    let password = between(&made.text, "<code>", "</code>").to_owned();
    // A double click loses the page with the password: the second one says so, and offers a new password.
    let again = owner.send(&page, "/users", &new);
    assert_eq!(between(&again.text, "<code>", "</code>"), password, "a double click shows the same");
    let page = owner.get("/users");
    assert_eq!(owner.send(&page, "/users", &new).status, 409);
    for bad in [[("login", "no address"), ("role", "HR")], [("login", "b@example.ru"), ("role", "OPERATOR")]]
    {
        assert_eq!(owner.send(&page, "/users", &bad).status, 422, "{bad:?}");
    }
    let mut anna = Browser::new(&server);
    let page = anna.get("/login");
    let page = anna.send(&page, "/login", &[("login", "anna@example.ru"), ("password", &password)]);
    assert!(page.text.contains("<svg"), "{}", page.text);
    assert_ne!(password, PASSWORD);

    let list = owner.get("/users");
    let path = format!("/user/{}", between(&list.text, "href=\"/console/user/", "\""));
    let page = owner.get(&path);
    let role = format!("{path}/role");
    for wrong in [&[("role", "AUDITOR")][..], &[("role", "AUDITOR"), ("current", "wrong")]] {
        let refused = owner.send(&page, &role, wrong);
        assert!(refused.status == 422 && refused.text.contains("current password is wrong"), "{refused:?}");
    }
    assert!(!owner.get("/users").text.contains("<td>auditor</td>"));
    let own = ("current", NEW_PASSWORD);
    let before = owner.cookies["__Host-kopeck"].clone();
    let page = owner.send(&page, &role, &[("role", "AUDITOR"), own]);
    let after = owner.cookies.insert("__Host-kopeck".to_owned(), before.clone()).unwrap();
    assert!(
        before != after && super::leads_to_login(&owner.get_once("/users")),
        "the session has a new token"
    );
    owner.cookies.insert("__Host-kopeck".to_owned(), after);
    let page = owner.send(&page, &format!("{path}/second-factor"), &[own]);
    let page = owner.send(&page, &format!("{path}/status"), &[]);
    let list = owner.get("/users");
    assert!(list.text.contains("auditor") && list.text.contains("disabled"), "{}", list.text);
    let shown = owner.send(&page, &format!("{path}/password"), &[own]);
    assert_ne!(between(&shown.text, "<code>", "</code>"), password);
    let log = owner.get("/audit");
    for action in ["user.create", "user.set_role", "user.disable", "user.reset", "owner@example.ru"] {
        assert!(log.text.contains(action), "{action}: {}", log.text);
    }
    // What an owner may, an auditor may not; and nobody may it of another partner's user.
    let mut auditor = Browser::of_new(&server, Some(&partner), Role::Auditor);
    assert_eq!((auditor.get("/users").status, auditor.get(&path).status), (200, 403));
    let stranger = server.partner(SealingPolicy::Optional, 0);
    super::create_user(&server, Some(&stranger), Role::Owner, "other@example.ru");
    let mut other = Browser::new(&server);
    other.first_login("other@example.ru");
    assert_eq!(other.get(&path).status, 404);
}

#[test]
fn an_operator_sees_all_partners_and_nobody_else_does() {
    let (server, partner) = start();
    let mut operator = Browser::of_new(&server, None, Role::Operator);
    let page = operator.get("/");
    assert!(page.text.contains("<h1>Partners</h1>") && page.text.contains("₽10,000.00"), "{}", page.text);
    let path = format!("/partner/{}", partner.id);
    assert!(operator.get(&path).text.contains(&partner.id.to_string()));
    for hidden in ["/people", "/runs", "/reports", "/integration", "/users", "/audit"] {
        assert_eq!(operator.get(hidden).status, 403, "{hidden}");
    }
    let mut owner = Browser::of_new(&server, Some(&partner), Role::Owner);
    assert_eq!((owner.get("/partners").status, owner.get(&path).status), (403, 403));
}

#[test]
fn cards_are_ordered_and_codes_shown_on_demand() {
    let (server, partner) = start();
    let mut hr = Browser::of_new(&server, Some(&partner), Role::Hr);
    let step = hr.get("/orders/new?kind=plastic&people=all");
    assert!(step.text.contains("Everybody there has a main card."), "{}", step.text);
    let add = hr.get("/people/new");
    for (number, name) in [("T-1", "Котов"), ("T-2", "Белов"), ("T-3", "Чернов")] {
        let add = if number == "T-1" { add.clone() } else { hr.get("/people/new") };
        hr.send(&add, "/people/new", &[("customId", number), ("surname", name)]);
    }
    let step = hr.get("/orders/new");
    assert!(step.text.contains("method=\"get\"") && step.text.contains("everybody who has no main card"));
    let step = hr.get("/orders/new?kind=plastic&people=all");
    let out = between(&step.text, "name=\"out-", "\"").to_owned();
    assert!(step.text.contains("card: 3") && step.text.contains("Котов"), "{}", step.text);
    // With people who have left meanwhile, in a form of two hundred.
    let mut outs: Vec<String> = (0..199).map(|gone| format!("out-{gone}")).collect();
    outs.push(format!("out-{out}"));
    let outs: Vec<(&str, &str)> = outs.iter().map(|out| (&**out, "yes")).collect();
    let page = hr.send(&step, "/orders/new", &outs);
    assert!(page.text.contains("name=\"numberCards\" value=\"2\""), "{}", page.text);
    let address = [("recipient", "Иванов Иван"), ("phone", "9031234567"), ("deliveryAddress", "<img src=x>")];
    let number = |count| [("typeCard", "MP4"), ("numberCards", count)];
    let refused = hr.send(&page, "/orders/plastic", &[&number("many")[..], &address].concat());
    assert!(refused.status == 422 && refused.text.contains("Иванов Иван"), "{}", refused.text);
    let page = hr.send(&refused, "/orders/plastic", &[&number("2")[..], &address].concat());
    assert!(page.text.contains("Order: accepted"), "{}", page.text);
    server.run_jobs();
    assert!(hr.get("/orders").text.contains("Unassigned cards in stock: 2"));

    assert!(hr.get("/orders/stock").text.matches("MP4").count() == 2);
    let page = hr.get("/orders/new?kind=virtual&people=number");
    let page = hr.send(&page, "/orders/virtual", &[("numberCards", "1"), ("rubles", "500")]);
    assert!(page.text.contains("₽9,500.00") && page.text.contains("draft"), "{}", page.text);
    let path = format!("/run/{}/submit", between(&page.text, "action=\"/console/run/", "/"));
    hr.send(&page, &path, &[]);
    carry_out(&server);
    let orders = hr.get("/orders");
    let order = format!("/order/{}", between(&orders.text, "href=\"/console/order/", "\""));
    let page = hr.get(&order);
    assert!(!page.text.contains("Activation code"), "on demand alone");
    let codes = hr.send(&page, &format!("{order}/codes"), &[]);
    assert!(codes.text.contains("Activation code") && codes.text.contains("MLZ"), "{}", codes.text);
    // What discloses is written a moment later.
    let is_audited = (0..1_000).any(|_| hr.get("/audit").text.contains("order.result"));
    assert!(is_audited, "looking at codes is audited");
    let page = hr.send(&page, &format!("{order}/confirm"), &[]);
    assert!(page.text.contains("receipt confirmed"), "{}", page.text);
    let mut auditor = Browser::of_new(&server, Some(&partner), Role::Auditor);
    let page = auditor.get(&order);
    assert!(page.status == 200 && !offers(&page, &format!("{order}/codes")));
    let fields = super::hidden_fields(&page.text, "/logout");
    let fields: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (&**name, &**value)).collect();
    assert_eq!(auditor.post(&format!("{order}/codes"), &fields).status, 403);
}
