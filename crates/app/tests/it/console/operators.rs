//! Operators in the console: partners, deposits by four eyes, and the service.

use kopeck_domain::Kopecks;
use kopeck_domain::access::Role;
use kopeck_port_store::{Access, AuditFilter, StoreError, transact};
use serde_json::json;

use super::browser::{Browser, between, create_user, offers};
use super::{hidden_fields, holder, start};
use crate::raw_http::{RawResponse, get, login, post};
use crate::server::TestServer;

/// A second operator.
fn another_operator(server: &TestServer) -> Browser<'_> {
    create_user(server, None, Role::Operator, "second@example.ru");
    let mut browser = Browser::new(server);
    browser.first_login("second@example.ru");
    browser
}

fn fact(page: &RawResponse, label: &str) -> String {
    between(&page.text, &format!("<dt>{label}</dt><dd>"), "</dd>").to_owned()
}

/// Subjects of the entries with this action, the newest first.
fn subjects(server: &TestServer, action: &str) -> Vec<String> {
    let filter = AuditFilter { action: Some(action.to_owned()), ..AuditFilter::default() };
    let list = transact::<_, StoreError>(&*server.application.store, Access::Read, move |unit| {
        unit.audit().list(&filter, 10)
    });
    list.unwrap().into_iter().map(|record| record.entry.subject).collect()
}

#[test]
fn an_operator_makes_a_partner_and_changes_it() {
    let (server, _) = start();
    let mut operator = Browser::of_new(&server, None, Role::Operator);
    let page = operator.get("/partners/new");
    let new = [("name", "Bakery"), ("login", "bakery"), ("sealing", "optional")];
    for bad in [[("name", ""), ("sealing", "optional")], [("name", "A"), ("sealing", "perhaps")]] {
        assert_eq!(operator.send(&page, "/partners/new", &bad).status, 422, "{bad:?}");
    }
    let made = operator.send(&page, "/partners/new", &new);
    let again = operator.send(&page, "/partners/new", &new);
    assert_eq!(fact(&made, "API key"), fact(&again, "API key"), "a double click shows the same");
    let page = operator.get("/partners/new");
    assert_eq!(operator.send(&page, "/partners/new", &new).status, 409, "the login is taken");
    let list = operator.get("/partners");
    assert_eq!(list.text.matches(">Bakery</a>").count(), 1, "{}", list.text);
    let partner = crate::server::TestPartner {
        id: fact(&made, "Identifier").parse().unwrap(),
        api_key: fact(&made, "API key"),
        login: fact(&made, "Login"),
        password: fact(&made, "Password"),
        key: kopeck_sealing::SealingKey::parse(&fact(&made, "Sealing key")).unwrap(),
    };
    let token = login(&server, &partner).access;
    let balance = || get("/v1/balance").token(&token).send(&server).status;
    assert_eq!(balance(), 200);

    let path = format!("/partner/{}", partner.id);
    let page = operator.get(&path);
    let page = operator.send(&page, &format!("{path}/policy"), &[("sealing", "required")]);
    assert_eq!(fact(&page, "Encryption of requests"), "required", "{}", page.text);
    let bad = operator.send(&page, &format!("{path}/approval"), &[("rubles", "a lot")]);
    assert_eq!(bad.status, 422);
    let page = operator.send(&bad, &format!("{path}/approval"), &[("rubles", "1 500,50")]);
    assert_eq!(fact(&page, "Approval above"), "₽1,500.50", "{}", page.text);
    let page = operator.send(&page, &format!("{path}/threshold"), &[("rubles", "10")]);
    assert_eq!(fact(&page, "Low balance below"), "₽10.00", "{}", page.text);
    let rotate = format!("{path}/rotate-api-key");
    assert_eq!(operator.send(&page, &rotate, &[]).status, 422, "it has to be confirmed");
    let key = operator.send(&page, &rotate, &[("sure", "yes")]);
    let twice = operator.send(&page, &rotate, &[("sure", "yes")]);
    assert_eq!(fact(&key, "API key"), fact(&twice, "API key"), "one rotation");
    assert_ne!(fact(&key, "API key"), partner.api_key);
    let sealing = operator.send(&page, &format!("{path}/rotate-sealing-key"), &[("sure", "yes")]);
    assert!(fact(&sealing, "Sealing key").starts_with("sk_"), "{}", sealing.text);
    let page = operator.send(&page, &format!("{path}/suspend"), &[("sure", "yes")]);
    assert_eq!(fact(&page, "Status"), "suspended", "{}", page.text);
    server.clock.advance(time::Duration::seconds(5));
    assert_eq!(balance(), 401);
    let page = operator.send(&page, &format!("{path}/resume"), &[]);
    assert_eq!(fact(&page, "Status"), "active", "{}", page.text);
    let log = operator.get("/log");
    for action in
        ["create", "set_policy", "set_approval", "rotate_api_key", "rotate_keys", "suspend", "resume"]
    {
        assert!(log.text.contains(&format!("partner.{action}")), "{action}: {}", log.text);
    }
    let verified = operator.send(&log, "/log", &[]);
    assert!(verified.text.contains("The audit log is whole."), "{}", verified.text);
}

#[test]
fn a_deposit_needs_two_operators() {
    let (server, partner) = start();
    let mut first = Browser::of_new(&server, None, Role::Operator);
    let mut second = another_operator(&server);
    let path = format!("/partner/{}", partner.id);
    let enter = format!("{path}/deposit");
    let page = first.get(&path);
    for bad in [[("deposited", "0"), ("reference", "A")], [("deposited", "1"), ("reference", "a b")]] {
        assert_eq!(first.send(&page, &enter, &bad).status, 422, "{bad:?}");
    }
    let deposit = [("deposited", "2 500,00"), ("reference", "INV-7")];
    let waiting = first.send(&page, &enter, &deposit);
    let twice = first.send(&page, &enter, &deposit);
    assert_eq!((waiting.status, twice.status), (200, 200));
    assert_eq!(twice.text.matches("<td>INV-7</td>").count(), 1, "{}", twice.text);
    assert!(!offers(&waiting, "/deposits/confirm"), "who entered it does not confirm it");
    assert_eq!(fact(&first.get(&path), "Available"), "₽10,000.00", "nothing has moved");
    let other = [("deposited", "99"), ("reference", "INV-7")];
    let page = second.get(&path);
    assert_eq!(second.send(&page, &enter, &other).status, 409, "the reference waits");

    let page = second.get("/deposits");
    assert!(page.text.contains("operator@example.ru"), "{}", page.text);
    // The first one with the fields of the second one's form.
    let mut fields = hidden_fields(&page.text, "/deposits/confirm");
    for (name, value) in hidden_fields(&waiting.text, "/logout") {
        fields.iter_mut().filter(|(own, _)| *own == name).for_each(|(_, kept)| kept.clone_from(&value));
    }
    let fields: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (&**name, &**value)).collect();
    assert_eq!(first.post("/deposits/confirm", &fields).status, 403);
    let done = second.send(&page, "/deposits/confirm", &[]);
    assert!(done.text.contains("on the partner") && done.text.contains("No deposit waits."), "{}", done.text);
    let again = second.send(&page, "/deposits/confirm", &[]);
    assert_eq!((again.status, fact(&second.get(&path), "Available")), (200, "₽12,500.00".to_owned()));
    let entry = subjects(&server, "partner.deposit").remove(0);
    assert!(entry.starts_with("transfer:INV-7 amount:250000 entered-by:user:"), "{entry}");
    let page = first.get(&path);
    assert_eq!(first.send(&page, &enter, &deposit).status, 409, "it was booked before");

    let page = first.get(&path);
    first.send(&page, &enter, &[("deposited", "1"), ("reference", "INV-8")]);
    server.clock.advance(time::Duration::hours(72));
    let mut second = Browser::of_known(&server, &mut second);
    let page = second.get("/deposits");
    assert!(page.text.contains("72 hours") && !offers(&page, "/deposits/confirm"), "{}", page.text);
    let page = second.send(&page, "/deposits/refuse", &[]);
    assert!(page.text.contains("No deposit waits."), "{}", page.text);
    assert_eq!(fact(&second.get(&path), "Available"), "₽12,500.00");
}

#[test]
fn an_operator_looks_after_the_service() {
    let (server, partner) = start();
    let holder = holder(&server, &partner);
    let mut operator = Browser::of_new(&server, None, Role::Operator);
    let page = operator.get("/service");
    for shown in ["<td>database</td><td>ready</td>", "Worker threads", "Requests to the bank"] {
        assert!(page.text.contains(shown), "{shown}: {}", page.text);
    }
    let page = operator.get("/calendar");
    let bad = operator.send(&page, "/calendar", &[("days", "date,kind\n31.12.2026,free\n")]);
    assert!(bad.status == 422 && bad.text.contains("line 2"), "{}", bad.text);
    let days = [("days", "date,kind\n31.12.2026,holiday\n26.12.2026,working\n")];
    let page = operator.send(&bad, "/calendar", &days);
    assert!(page.text.contains("<td>31 Dec 2026</td><td>holiday</td>"), "{}", page.text);

    // A purchase that the bank keeps to itself.
    let page = operator.get("/sandbox");
    let page = operator.send(&page, "/sandbox/faults", &[("silentFeed", "yes"), ("errorRate", "0")]);
    assert!(page.text.contains("Saved.") && server.bank.faults().silent_feed, "{}", page.text);
    let call = |path: &str, body: &serde_json::Value| post(path, body).token(&holder.token).send(&server);
    let top_up = json!({"cards": [{"idCard": holder.card, "amountReplenishment": 10_000}]});
    assert_eq!(call("/v1/replenishment", &top_up).status, 202);
    server.run_jobs();
    let bought = json!({"amount": 500, "place": "Canteen", "mcc": "5812", "merchantId": "M-1"});
    assert_eq!(call(&format!("/sandbox/v1/card/{}/purchase", holder.card), &bought).status, 200);
    server.follow_feed();
    let moved = operator.send(&page, "/sandbox/clock", &[("hours", "2")]);
    let twice = operator.send(&page, "/sandbox/clock", &[("hours", "2")]);
    assert_eq!((fact(&moved, "Hours ahead"), fact(&twice, "Hours ahead")), ("2".to_owned(), "2".to_owned()));
    server.clock.advance(time::Duration::DAY);
    let mut operator = Browser::of_known(&server, &mut operator);
    let page = operator.get("/sandbox");
    assert_eq!(operator.send(&page, "/sandbox/clock", &[("hours", "-1")]).status, 422);
    operator.send(&page, "/sandbox/faults", &[]);
    assert!(!server.bank.faults().silent_feed);

    let page = operator.get("/reconciliation");
    let found = operator.send(&page, "/reconciliation", &[("from", "02.03.2026"), ("to", "02.03.2026")]);
    assert!(found.text.contains("<td>missing_here</td>"), "{}", found.text);
    let far = operator.send(&page, "/reconciliation", &[("from", "01.01.2026"), ("to", "02.03.2026")]);
    assert_eq!(far.status, 422);
    assert_eq!(subjects(&server, "bank.reconcile")[0], "from:02.03.2026 to:02.03.2026 differences:1");
    assert!(operator.get("/stuck").text.contains("No request waits for a person."));
    server.change_partners(|unit, env, id| {
        kopeck_service::partners::set_threshold(unit, env, id, Kopecks::new(1))
    });

    let mut owner = Browser::of_new(&server, Some(&partner), Role::Owner);
    for hidden in [
        "/partners/new",
        "/deposits",
        "/service",
        "/stuck",
        "/reconciliation",
        "/calendar",
        "/log",
        "/sandbox",
    ] {
        assert_eq!(owner.get(hidden).status, 403, "{hidden}");
    }
    let home = owner.get("/");
    let fields = hidden_fields(&home.text, "/logout");
    let fields: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (&**name, &**value)).collect();
    let forms = ["/partners/new", "/deposits/confirm", "/stuck", "/calendar", "/log", "/sandbox/clock"];
    for form in forms.map(str::to_owned).into_iter().chain([format!("/partner/{}/suspend", partner.id)]) {
        assert_eq!(owner.post(&form, &fields).status, 403, "{form}");
    }
}
