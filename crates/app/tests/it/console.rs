//! The console over plain HTTP, without scripts: logins, forms, who may see what, and what is written into pages.

pub mod browser;
mod chromium;
mod money;
mod month;
mod operators;
mod planted;
mod refusals;
mod uploads;
mod walk;

use kopeck_domain::access::Role;
use kopeck_domain::partner::SealingPolicy;
use serde_json::{Value, json};
use time::Duration;

use crate::api_client::plastic_order;
use crate::raw_http::{RawRequest, RawResponse, get, login, post};
use crate::server::{PASSWORD, TestPartner, TestServer};
use browser::{Browser, NEW_PASSWORD, create_user, form_request, hidden_fields, offers};

/// Somebody with a main card: identifiers of the person and of the card, and the card's number.
struct Holder {
    token: String,
    person: String,
    card: String,
    number: String,
}

fn holder(server: &TestServer, partner: &TestPartner) -> Holder {
    let token = login(server, partner).access;
    let call = |path: &str, body: &Value| post(path, body).token(&token).send(server);
    assert_eq!(call("/v1/order/plasticcards", &plastic_order(2, "Nevsky 1")).status, 202);
    server.run_jobs();
    let free = get("/v1/cards/available").token(&token).send(server).json();
    let text = |name: &str| free["data"][0][name].as_str().unwrap().to_owned();
    let (card, number) = (text("idCard"), text("customIdCard"));
    let new = json!({"customId": "T-1", "surname": "Орлова", "name": "Анна"});
    let person = call("/v1/employee/add", &new).text_of("idEmployee");
    let link = json!({"customIdCard": number, "statusCard": "MAIN"});
    assert_eq!(call(&format!("/v1/employee/{person}/link_card"), &link).status, 200);
    Holder { token, person, card, number }
}

fn card_info(server: &TestServer, holder: &Holder) -> Value {
    get(&format!("/v1/card/{}", holder.card)).token(&holder.token).send(server).json()["data"].clone()
}

fn start() -> (TestServer, TestPartner) {
    let server = TestServer::start();
    let partner = server.partner(SealingPolicy::Optional, 1_000_000);
    (server, partner)
}

/// Whether the response leads to the login.
fn leads_to_login(got: &RawResponse) -> bool {
    got.status == 303 && got.header("location").unwrap().starts_with("/console/login")
}

#[test]
fn a_first_login_sets_up_the_second_factor_and_replaces_the_password() {
    let (server, partner) = start();
    create_user(&server, Some(&partner), Role::Hr, "hr@example.ru");
    let mut browser = Browser::new(&server);
    assert!(leads_to_login(&browser.get_once("/people")));
    let page = browser.get("/login");
    let page = browser.send(&page, "/login", &[("login", "hr@example.ru"), ("password", "wrong")]);
    assert_eq!(page.status, 422);
    assert!(page.text.contains("Wrong e-mail or password.") && !page.text.contains("value=\"wrong\""));

    browser.first_login("hr@example.ru");
    assert_eq!(browser.recovery_codes.len(), 10);
    let page = browser.get("/");
    assert!(page.status == 200 && page.text.contains("<h1>This month</h1>"), "{}", page.text);
    let token = browser.cookies["__Host-kopeck"].clone();
    let page = browser.send(&page, "/logout", &[]);
    assert!(page.text.contains("You are logged out."));
    // Whoever has the token of a session that is over has nothing.
    browser.cookies.insert("__Host-kopeck".to_owned(), token.clone());
    assert!(leads_to_login(&browser.get_once("/people")));

    let log_in = |browser: &mut Browser<'_>, code: &str| {
        let page = browser.get("/login");
        let page = browser.send(&page, "/login", &[("login", "HR@example.ru"), ("password", NEW_PASSWORD)]);
        assert!(!page.text.contains("<svg"), "the secret of the app is shown once");
        browser.send(&page, "/login/code", &[("code", code)])
    };
    let spent = browser.code();
    let page = log_in(&mut browser, &spent);
    assert!(page.status == 422 && page.text.contains("Wrong code."), "a code works once");
    let code = browser.recovery_codes[0].clone();
    assert!(log_in(&mut browser, &code).text.contains("<h1>This month</h1>"));
    assert_ne!(browser.cookies["__Host-kopeck"], token, "each login has a token of its own");

    server.clock.advance(Duration::minutes(14));
    assert_eq!(browser.get_once("/people").status, 200);
    server.clock.advance(Duration::minutes(14));
    assert_eq!(browser.get_once("/people").status, 200, "each use prolongs a session");
    server.clock.advance(Duration::minutes(16));
    let ended = browser.get("/people");
    assert!(ended.text.contains("Your session has ended."), "{}", ended.text);
}

#[test]
fn a_login_is_throttled_as_any_other() {
    let (server, partner) = start();
    create_user(&server, Some(&partner), Role::Owner, "owner@example.ru");
    let mut browser = Browser::new(&server);
    let page = browser.get("/login");
    let mut attempt = |password: &str| {
        browser.send_once(&page, "/login", &[("login", "owner@example.ru"), ("password", password)]).status
    };
    let tries: Vec<u16> = (0..11).map(|_| attempt("wrong")).collect();
    assert_eq!((tries[9], tries[10]), (422, 429), "{tries:?}");
    assert_eq!(attempt(PASSWORD), 429);
}

#[test]
fn a_form_of_elsewhere_changes_nothing() {
    let (server, partner) = start();
    let holder = holder(&server, &partner);
    let mut browser = Browser::of_new(&server, Some(&partner), Role::Hr);
    let path = format!("/person/{}", holder.person);
    let freeze = format!("{path}/freeze");
    let page = browser.get(&path);
    let fields = hidden_fields(&page.text, &freeze);
    let with = |name: &str, value: &str| -> Vec<(String, String)> {
        let other = |(own, kept): &(String, String)| {
            (own.clone(), if own == name { value.to_owned() } else { kept.clone() })
        };
        fields.iter().map(other).collect()
    };
    let sent = |browser: &mut Browser<'_>, fields: &[(String, String)], header: (&str, &str)| {
        let fields: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (&**name, &**value)).collect();
        browser.exchange(form_request(&freeze, &fields).and(header.0, header.1)).status
    };
    let none = ("x-none", "1");
    for bad in [with("token", ""), with("token", "AAAA"), fields[1..].to_vec()] {
        assert_eq!(sent(&mut browser, &bad, none), 403, "{bad:?}");
    }
    for header in [("sec-fetch-site", "cross-site"), ("origin", "https://evil.example"), ("origin", "null")] {
        assert_eq!(sent(&mut browser, &fields, header), 403, "{header:?}");
    }
    assert_eq!(sent(&mut browser, &with("key", ""), none), 422);
    assert_eq!(card_info(&server, &holder)["bankStatus"], "OPEN");
    // A login that another site sends, or with a token that somebody else got.
    let mut other = Browser::new(&server);
    let strange = other.get("/login");
    other.cookies.clear();
    let got = other.send_once(&strange, "/login", &[("login", "hr@example.ru"), ("password", NEW_PASSWORD)]);
    assert!(got.text.contains("comes from elsewhere") && !other.cookies.contains_key("__Host-kopeck-login"));
    let plain = browser.exchange(RawRequest::new("POST", &format!("/console{freeze}")));
    assert_eq!(plain.status, 403);
    assert_eq!(sent(&mut browser, &fields, ("sec-fetch-site", "same-origin")), 303);
    assert_eq!(card_info(&server, &holder)["bankStatus"], "BLOCKING");
    server.send_blocks();
}

/// Whoever sends it, and before it is known who does.
#[test]
fn a_form_has_bounds() {
    let (server, partner) = start();
    let mut browser = Browser::of_new(&server, Some(&partner), Role::Hr);
    let sent = |browser: &mut Browser<'_>, path: &str, body: String| {
        let request = RawRequest::new("POST", &format!("/console{path}"));
        let request = request.bytes("application/x-www-form-urlencoded", body);
        browser.exchange(request.with("sec-fetch-site", "same-origin"))
    };
    for path in ["/login", "/login/code"] {
        assert_eq!(sent(&mut browser, path, format!("login={}", "x".repeat(8 * 1024))).status, 413, "{path}");
        assert_eq!(sent(&mut browser, path, "=&".repeat(2_000)).status, 422, "{path}");
    }
    let fields = |number: usize| "=&".repeat(number);
    let got = sent(&mut browser, "/people/new", fields(1_000));
    assert!(got.status == 422 && got.text.contains("The form is too large."), "{got:?}");
    assert!(sent(&mut browser, "/people/new", fields(999)).text.contains("Not sent"), "it has no token");
    // Without a session, it is kept by the browser if it is small.
    let mut stranger = Browser::new(&server);
    let kept = |bytes: usize| format!("surname={}", "x".repeat(bytes - 8));
    let got = sent(&mut stranger, "/people/new", kept(256 * 1024));
    assert!(got.status == 403 && got.text.contains("Send again"), "{}", got.status);
    for large in [kept(256 * 1024 + 1), fields(1_000)] {
        assert!(leads_to_login(&sent(&mut stranger, "/people/new", large)));
    }
}

#[test]
fn a_form_that_is_sent_twice_has_one_effect() {
    let (server, partner) = start();
    let mut browser = Browser::of_new(&server, Some(&partner), Role::Hr);
    let page = browser.get("/people/new");
    let person = [("customId", "T-7"), ("surname", "Котов")];
    let first = browser.send_once(&page, "/people/new", &person);
    let second = browser.send_once(&page, "/people/new", &person);
    assert_eq!((first.status, second.status), (303, 303));
    assert_eq!(first.header("location"), second.header("location"));
    // Back, and sent with other values.
    let third = browser.send_once(&page, "/people/new", &[("customId", "T-8")]);
    assert!(third.status == 422 && third.text.contains("sent before"), "{}", third.text);
    let again = browser.send_once(&third, "/people/new", &[("customId", "T-7")]);
    assert!(again.status == 422 && again.text.contains("customId"), "{}", again.text);
    let list = browser.get("/people");
    assert_eq!(list.text.matches("T-7</a>").count(), 1, "{}", list.text);
    assert!(!list.text.contains("T-8"));
}

#[test]
fn a_person_s_cards_are_frozen_closed_and_the_person_erased() {
    let (server, partner) = start();
    let holder = holder(&server, &partner);
    let mut browser = Browser::of_new(&server, Some(&partner), Role::Hr);
    for sought in ["орлов", "T-1", &holder.number, &holder.person, &holder.card] {
        let page =
            browser.get(&format!("/people?q={}", sought.replace("орлов", "%D0%BE%D1%80%D0%BB%D0%BE%D0%B2")));
        assert!(page.text.contains("Орлова Анна"), "{sought}: {}", page.text);
    }
    let path = format!("/person/{}", holder.person);
    let page = browser.get(&path);
    assert!(page.text.contains("Does not pay now:"), "nothing is on it: {}", page.text);
    let page = browser.send(&page, &format!("{path}/freeze"), &[]);
    assert!(page.text.contains("The card is frozen."), "{}", page.text);
    server.send_blocks();
    assert_eq!(card_info(&server, &holder)["bankStatus"], "BLOCKED");
    let page = browser.send(&page, &format!("{path}/switch"), &[("statusCard", "MAIN")]);
    server.send_blocks();
    assert_eq!(card_info(&server, &holder)["bankStatus"], "OPEN");

    let page = browser.send(&page, &format!("{path}/status"), &[("status", "DONT_WORK")]);
    assert!(page.text.contains("left, since 2 Mar 2026"), "{}", page.text);
    let page = browser.send(&page, &format!("{path}/erase"), &[("sure", "yes")]);
    assert!(page.status == 409 && page.text.contains("neither closed nor expired"), "{}", page.text);
    let page = browser.send(&page, &format!("{path}/close"), &[("reason", "LEAVER")]);
    assert!(page.text.contains("The card is being closed."), "{}", page.text);
    server.run_jobs();
    let page = browser.get(&path);
    let page = browser.send(&page, &format!("{path}/erase"), &[]);
    assert_eq!(page.status, 422, "it has to be confirmed");
    let page = browser.send(&page, &format!("{path}/erase"), &[("sure", "yes")]);
    assert!(page.text.contains("data is erased"), "{}", page.text);
    assert_eq!(browser.get(&path).status, 404);

    browser.language = "ru-RU,ru;q=0.9,en;q=0.5";
    let page = browser.get("/people");
    assert!(page.text.contains("<html lang=\"ru\">") && page.text.contains("Сотрудники"), "{}", page.text);
}

#[test]
fn pages_offer_what_a_role_may_and_nothing_else() {
    let (server, partner) = start();
    let holder = holder(&server, &partner);
    let path = format!("/person/{}", holder.person);
    let stranger = server.partner(SealingPolicy::Optional, 0);
    let roles = [Role::Owner, Role::Hr, Role::Finance, Role::Auditor];
    for role in roles {
        let mut browser = Browser::of_new(&server, Some(&partner), role);
        let page = browser.get(&path);
        let changes_people = [Role::Owner, Role::Hr].contains(&role);
        for action in ["freeze", "close", "status", "erase", "link"] {
            assert_eq!(offers(&page, &format!("{path}/{action}")), changes_people, "{role} {action}");
        }
        let other = browser.get("/people/new");
        let missing = browser.get("/person/00000000-0000-0000-0000-000000000001");
        assert_eq!((other.status, missing.status), (if changes_people { 200 } else { 403 }, 404), "{role}");
        if !changes_people {
            let heart = |page: &RawResponse| browser::between(&page.text, "<main", "</main>").to_owned();
            assert_eq!(heart(&other), heart(&missing), "what is hidden looks like what is not there");
            let token = hidden_fields(&page.text, "/logout");
            let mut fields: Vec<(&str, &str)> =
                token.iter().map(|(name, value)| (&**name, &**value)).collect();
            fields.push(("idCard", &holder.card));
            assert_eq!(browser.post(&format!("{path}/freeze"), &fields).status, 403, "{role}");
        }
    }
    for (who, status) in [(Some(&stranger), 404), (None, 403)] {
        let role = if who.is_some() { Role::Auditor } else { Role::Operator };
        let login = format!("stranger-{status}@example.ru");
        create_user(&server, who, role, &login);
        let mut browser = Browser::new(&server);
        browser.first_login(&login);
        let page = browser.get(&path);
        assert!(page.status == status && !page.text.contains("Орлова"), "{page:?}");
    }
    assert_eq!(card_info(&server, &holder)["bankStatus"], "OPEN");
}

#[test]
fn the_audit_log_names_the_user() {
    let (server, partner) = start();
    let holder = holder(&server, &partner);
    let mut browser = Browser::of_new(&server, Some(&partner), Role::Hr);
    let path = format!("/person/{}", holder.person);
    let page = browser.get(&path);
    browser.send(&page, &format!("{path}/freeze"), &[]);
    server.send_blocks();
    let dump = String::from_utf8_lossy(&server.dump()).into_owned();
    assert!(dump.contains("card.switch") && dump.contains("user.login") && dump.contains("password.change"));
    assert!(!dump.contains(&browser.cookies["__Host-kopeck"]), "no token of a session is stored");
}

/// So that its script can empty it; where nothing else is asked for, it asks for that alone.
#[test]
fn a_page_asks_whether_its_session_goes_on() {
    let (server, partner) = start();
    let mut browser = Browser::of_new(&server, None, Role::Operator);
    let page = browser.get("/partners");
    assert_eq!(page.text.matches("data-poll=").count(), 1, "{}", page.text);
    assert!(
        page.text.contains("id=\"session\" data-source=\"/console/poll/session\" data-poll=\"60\" hidden>")
    );
    let texts = "data-ended=\"Your session has ended. Nothing further was changed.\" data-log-in=\"Log in\"";
    assert!(page.text.contains(texts), "{}", page.text);
    let mut hr = Browser::of_new(&server, Some(&partner), Role::Hr);
    let page = hr.get("/people");
    assert!(page.text.contains("data-source=\"/console/poll/approvals\"") && page.text.contains(texts));
    assert_eq!(page.text.matches("data-poll=").count(), 1, "{}", page.text);
    assert!(!Browser::new(&server).get("/login").text.contains("data-"), "nobody's");
    let mut asked = || [browser.get_once("/poll/session").status, hr.get_once("/poll/approvals").status];
    assert_eq!(asked(), [200, 200]);
    server.clock.advance(Duration::minutes(14));
    assert_eq!(asked(), [200, 200]);
    server.clock.advance(Duration::minutes(2));
    assert_eq!(asked(), [401, 401], "asking prolongs nothing");
}

/// A form whose session has ended is carried out once the user has logged in again; one with a password is not kept.
#[test]
fn what_was_typed_outlives_the_session() {
    let (server, partner) = start();
    let mut browser = Browser::of_new(&server, Some(&partner), Role::Hr);
    let page = browser.get("/people/new");
    let mut fields = hidden_fields(&page.text, "/people/new");
    fields.push(("customId".to_owned(), "T-5".to_owned()));
    fields.push(("surname".to_owned(), "<b>Котов".to_owned()));
    let sent = |browser: &mut Browser<'_>, site: &str| {
        let fields: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (&**name, &**value)).collect();
        browser.exchange(form_request("/people/new", &fields).and("sec-fetch-site", site))
    };
    server.clock.advance(Duration::minutes(16));
    assert!(leads_to_login(&sent(&mut browser, "cross-site")), "another site shows nothing of its own here");
    let kept = sent(&mut browser, "same-origin");
    assert!(
        kept.status == 403 && kept.text.contains("T-5") && kept.text.contains("&#60;b&#62;Котов"),
        "{kept:?}"
    );
    assert!(kept.text.contains("target=\"_blank\""), "the login opens elsewhere: {kept:?}");
    let early = browser.send_once(&kept, "/people/new", &[]);
    assert!(leads_to_login(&early), "without a session it changes nothing: {early:?}");

    let page = browser.get("/login");
    let page = browser.send(&page, "/login", &[("login", "hr@example.ru"), ("password", NEW_PASSWORD)]);
    let code = browser.recovery_codes[0].clone();
    browser.send(&page, "/login/code", &[("code", &code)]);
    // The form of the old session, in a second tab.
    let other = sent(&mut browser, "same-origin");
    assert!(other.status == 403 && other.text.contains("T-5"), "{other:?}");
    let refused = browser.send_once(&kept, "/people/new", &[]);
    assert!(refused.status == 422 && refused.text.contains("surname"), "{refused:?}");
    let made = browser.send(&refused, "/people/new", &[("customId", "T-5"), ("surname", "Котов")]);
    assert!(made.text.contains("Котов"), "{made:?}");

    let page = browser.get("/password");
    let values = [("current", NEW_PASSWORD), ("new", PASSWORD), ("again", PASSWORD)];
    let mut fields = hidden_fields(&page.text, "/password");
    fields.extend(values.map(|(name, value)| (name.to_owned(), value.to_owned())));
    server.clock.advance(Duration::minutes(16));
    let fields: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (&**name, &**value)).collect();
    let got = browser.exchange(form_request("/password", &fields).and("sec-fetch-site", "same-origin"));
    assert!(leads_to_login(&got), "{got:?}");
}
