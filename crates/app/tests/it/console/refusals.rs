//! What the console refuses stands in the audit log, with who it was.

use kopeck_audit::{Actor, Entry, Outcome};
use kopeck_domain::access::Role;
use kopeck_domain::ids::UserId;
use kopeck_port_store::{Access, AuditFilter, StoreError, transact};

use super::browser::{Browser, NEW_PASSWORD, form_request, hidden_fields};
use super::start;
use crate::server::{TestPartner, TestServer};

/// The refusals of an action, oldest first, once there are `number`: they are written a moment later.
fn refusals(server: &TestServer, action: &str, number: usize) -> Vec<Entry> {
    let filter = AuditFilter {
        action: Some(action.to_owned()),
        outcome: Some(Outcome::Refused),
        ..AuditFilter::default()
    };
    loop {
        let filter = filter.clone();
        let listed = transact::<_, StoreError>(&*server.application.store, Access::Read, move |unit| {
            unit.audit().list(&filter, 100)
        });
        let found: Vec<Entry> = listed.unwrap().into_iter().rev().map(|record| record.entry).collect();
        if found.len() >= number {
            assert_eq!(found.len(), number, "{found:?}");
            return found;
        }
        std::thread::yield_now();
    }
}

fn user_of(server: &TestServer, partner: &TestPartner) -> UserId {
    let (id, env) = (partner.id, server.application.env.clone());
    let listed = transact(&*server.application.store, Access::Read, move |unit| {
        kopeck_service::users::list(unit, &env, Some(id))
    });
    listed.unwrap()[0].user.id
}

#[test]
fn refusals_of_the_console_have_entries() {
    let (server, partner) = start();
    let mut browser = Browser::of_new(&server, Some(&partner), Role::Auditor);
    let user = user_of(&server, &partner);
    let by_user = |entry: &Entry| entry.actor == Actor::User(user) && entry.partner == Some(partner.id);

    // What is no operation; operators' pages; a form of elsewhere. What an operation refuses has its own entry alone.
    let page = browser.get("/users");
    assert_eq!(browser.get("/programmes/new").status, 403);
    assert_eq!(browser.get("/partner/00000000-0000-0000-0000-000000000001").status, 403);
    let fields = hidden_fields(&page.text, "/logout");
    let fields: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (&**name, &**value)).collect();
    let foreign = form_request("/users", &fields).and("sec-fetch-site", "cross-site");
    assert_eq!(browser.exchange(foreign).status, 403);
    let new = [&fields[..], &[("customId", "T-1"), ("surname", "X")]].concat();
    assert_eq!(browser.post("/people/new", &new).status, 403);
    let entries = refusals(&server, "console.page", 3);
    let shown: Vec<_> = entries.iter().map(|entry| (entry.subject.as_str(), entry.status)).collect();
    assert_eq!(
        shown,
        [("page:/programmes/new", Some(403)), ("page:/partner/{}", Some(403)), ("page:/users", Some(403))]
    );
    assert!(entries.iter().all(by_user), "{entries:?}");
    assert!(refusals(&server, "employee.add", 1).iter().all(by_user));

    // A password that the policy refuses; ten wrong ones, then a right one under the lock.
    let page = browser.get("/password");
    let change = |browser: &mut Browser<'_>, current: &str, new: &str| {
        browser.send_once(&page, "/password", &[("current", current), ("new", new), ("again", new)]).status
    };
    assert_eq!(change(&mut browser, NEW_PASSWORD, "short"), 422);
    for _ in 0..10 {
        assert_eq!(change(&mut browser, "wrong", "quiet-Harbour-19x"), 422);
    }
    assert_eq!(change(&mut browser, NEW_PASSWORD, "quiet-Harbour-19x"), 429);
    let entries = refusals(&server, "password.change", 12);
    assert!(entries.iter().all(by_user), "{entries:?}");
    let locked = entries.iter().filter(|entry| entry.status == Some(429)).count();
    let of_policy = entries.iter().filter(|entry| entry.status == Some(422)).count();
    assert_eq!((locked, of_policy), (1, 1), "{entries:?}");
}

#[test]
fn refusals_of_a_login_have_entries() {
    let (server, partner) = start();
    let mut known = Browser::of_new(&server, Some(&partner), Role::Hr);
    let former = known.cookies["__Host-kopeck"].clone();
    let mut browser = Browser::new(&server);
    browser.cookies.insert("__Host-kopeck".to_owned(), former.clone());
    let begin = |browser: &mut Browser<'_>| {
        let page = browser.get("/login");
        browser.send(&page, "/login", &[("login", "hr@example.ru"), ("password", NEW_PASSWORD)])
    };
    let page = begin(&mut browser);
    let codes: Vec<u16> =
        (0..11).map(|_| browser.send_once(&page, "/login/code", &[("code", "0")]).status).collect();
    assert_eq!(codes, [[422; 10].as_slice(), &[429]].concat());
    server.clock.advance(time::Duration::minutes(15));
    assert_eq!(browser.send_once(&page, "/login/code", &[("code", "0")]).status, 303, "it waited too long");
    let foreign = form_request("/login", &[("login", "x"), ("password", "y")]);
    assert_eq!(browser.exchange(foreign).status, 403);
    let statuses: Vec<_> = refusals(&server, "user.login", 13).iter().map(|entry| entry.status).collect();
    let count = |status| statuses.iter().filter(|own| **own == status).count();
    assert_eq!([None, Some(429), Some(303), Some(403)].map(count), [10, 1, 1, 1], "{statuses:?}");

    // A right code ends the session that the browser had.
    let mut browser = Browser::of_known(&server, &mut known);
    let former = browser.cookies["__Host-kopeck"].clone();
    let page = begin(&mut browser);
    let code = browser.recovery_codes.remove(0);
    browser.send(&page, "/login/code", &[("code", &code)]);
    assert_eq!(browser.get_once("/people").status, 200);
    browser.cookies.insert("__Host-kopeck".to_owned(), former);
    assert!(super::leads_to_login(&browser.get_once("/people")));
}
