//! The month, programmes and their forecast, limits, and what a person's page tells, in the console.

use kopeck_domain::Kopecks;
use kopeck_domain::access::Role;
use kopeck_service::partners;
use serde_json::json;

use super::browser::{Browser, between, offers};
use super::money::carry_out;
use super::{Holder, card_info, holder, start};
use crate::raw_http::{RawRequest, RawResponse, post};
use crate::server::{SETTINGS, TestServer};

fn programme(server: &TestServer, holder: &Holder, name: &str, fixed: i64) -> String {
    let body =
        json!({"name": name, "for": {"all": true}, "amount": {"fixed": fixed}, "every": "MONTH", "day": 5});
    let made = post("/v1/programmes", &body).token(&holder.token).send(server);
    assert_eq!(made.status, 201, "{made:?}");
    made.text_of("idProgramme")
}

/// Tops up the card of an employee, who then leaves.
fn leave_with_money(server: &TestServer, holder: &Holder) {
    let top_up = json!({"cards": [{"idCard": holder.card, "amountReplenishment": 12_300}]});
    assert_eq!(post("/v1/replenishment", &top_up).token(&holder.token).send(server).status, 202);
    server.run_jobs();
    server.clock.advance(SETTINGS.card_cache);
    assert_eq!(card_info(server, holder)["balance"], 12_300);
    let left = RawRequest::new("PUT", &format!("/v1/employee/{}", holder.person))
        .json(&json!({"status": "DONT_WORK"}));
    assert_eq!(left.token(&holder.token).send(server).status, 200);
}

#[test]
fn the_month_says_what_is_to_do_and_what_is_short() {
    let (server, partner) = start();
    let holder = holder(&server, &partner);
    let mut owner = Browser::of_new(&server, Some(&partner), Role::Owner);
    let page = owner.get("/");
    assert!(page.text.contains("Nothing to do.") && !page.text.contains("<figure"), "{}", page.text);

    let path = format!("/programme/{}", programme(&server, &holder, "Meals", 600_000));
    let page = owner.get("/");
    for shown in [
        // 10,000.00 are there: enough for March, and April lacks 2,000.00.
        "Money is short: pay in</a></td><td>Meals</td><td class=\"number\">₽2,000.00</td><td>5 Apr 2026",
        "<svg role=\"img\" aria-label=\"Available by date",
        "Available: 2 Mar 2026 ₽10,000.00 – 5 Apr 2026 ₽4,000.00.",
        "<td>2026-03</td><td class=\"number\">1</td><td class=\"number\">₽6,000.00</td><td class=\"number\">₽4,000.00",
        &path,
    ] {
        assert!(page.text.contains(shown), "{shown}: {}", page.text);
    }
    let far = owner.get("/programmes/forecast?until=10.05.2026");
    assert!(far.text.contains("2026-05") && !page.text.contains("2026-05"), "{}", far.text);
    for bad in ["01.01.2026", "10.05.2036"] {
        let refused = owner.get(&format!("/programmes/forecast?until={bad}"));
        assert_eq!(refused.status, 422, "{bad}: {}", refused.text);
    }

    assert!(owner.get("/programmes").text.contains("Meals</a></td><td>in force</td><td>5 Mar 2026, 09:00"));
    let page = owner.get(&path);
    for shown in
        ["everybody", "works, on vacation, on sick leave", "gets ₽6,000.00", "every month, day 5, 09:00"]
    {
        assert!(page.text.contains(shown), "{shown}: {}", page.text);
    }
    let page = owner.send(&page, &format!("{path}/pause"), &[]);
    assert!(page.text.contains("is paused.") && !owner.get("/").text.contains("<figure"), "{}", page.text);
    let page = owner.send(&page, &format!("{path}/resume"), &[]);
    assert!(page.text.contains("is resumed."), "{}", page.text);
    let mut hr = Browser::of_new(&server, Some(&partner), Role::Hr);
    let seen = hr.get(&path);
    assert!(seen.status == 200 && !offers(&seen, &format!("{path}/pause")), "{}", seen.text);
    assert_eq!(owner.send(&page, &format!("{path}/end"), &[]).status, 422, "it has to be confirmed");
    let page = owner.send(&page, &format!("{path}/end"), &[("sure", "yes")]);
    assert!(page.text.contains("has ended.") && page.text.contains("No programmes."), "{}", page.text);
    assert_eq!(owner.get(&path).status, 404);

    // An employee leaves with money on the card, and another person has to approve a programme.
    leave_with_money(&server, &holder);
    let page = owner.get("/");
    assert!(page.text.contains("₽123.00") && page.text.contains("T-1 Орлова Анна</a>"), "{}", page.text);
    assert!(page.text.contains("go on paying. Their money stays on them"), "{}", page.text);
    set_leavers(&mut owner);
    server.change_partners(|unit, _, id| partners::set_approval(unit, id, Kopecks::new(10)));
    let waits = json!({"name": "Taxi", "for": {"all": true}, "amount": {"downTo": 100}, "every": "MONTH", "day": 1,
        "statuses": ["DONT_WORK"]});
    let id = post("/v1/programmes", &waits).token(&holder.token).send(&server).text_of("idProgramme");
    let page = owner.get("/");
    assert!(
        page.text.contains(&format!("{id}\">Approve or refuse a programme</a></td><td>Taxi")),
        "{}",
        page.text
    );
    let path = format!("/programme/{id}");
    let page = owner.get(&path);
    let page = owner.send(&page, &format!("{path}/approve"), &[]);
    assert!(page.text.contains("is approved.") && page.text.contains("in force"), "{}", page.text);
}

/// Says what happens to the cards of people who leave.
fn set_leavers(owner: &mut Browser<'_>) {
    let page = owner.get("/programmes/leavers");
    let refused = owner.send(&page, "/programmes/leavers", &[("days", "soon"), ("freeze", "yes")]);
    assert!(refused.status == 422 && refused.text.contains("value=\"soon\""), "{}", refused.text);
    let page =
        owner.send(&refused, "/programmes/leavers", &[("days", "14"), ("freeze", "yes"), ("close", "yes")]);
    assert!(
        page.text.contains("frozen at once. What is left on them is taken back and they are closed"),
        "{}",
        page.text
    );
    assert!(owner.get("/").text.contains("days after the change of the status: 14."));
}

/// The form of a programme, with two mistakes.
fn lunch() -> Vec<(&'static str, &'static str)> {
    vec![
        ("name", "Lunch"),
        ("audience", "people"),
        ("people", "T-1, T-99"),
        ("statuses", "WORK"),
        ("statuses", "MEDICAL"),
        ("grant", "fixed"),
        ("rubles", "1 500,50"),
        ("cap", "much"),
        ("every", "MONTH"),
        ("weekday", "1"),
        ("day", "5"),
        ("month", "1"),
        ("time", "09:00"),
        ("shift", "BEFORE"),
        ("onShortage", "PART"),
    ]
}

#[test]
fn a_programme_is_saved_as_its_forecast_showed_it() {
    let (server, partner) = start();
    let holder = holder(&server, &partner);
    let category = json!({"nameCategory": "Office"});
    let category = post("/v1/category", &category).token(&holder.token).send(&server).text_of("idCategory");
    let mut finance = Browser::of_new(&server, Some(&partner), Role::Finance);
    let page = finance.get("/programmes/new");
    assert!(
        page.text.contains("value=\"WORK\" checked") && !offers(&page, "/programmes/new"),
        "{}",
        page.text
    );
    let mut values: Vec<(&str, &str)> = lunch();
    let page = finance.send(&page, "/programmes/preview", &values);
    assert!(page.status == 422 && page.text.contains("No such personnel numbers: T-99"), "{}", page.text);
    values[2].1 = "T-1";
    let page = finance.send(&page, "/programmes/preview", &values);
    assert!(
        page.status == 422 && page.text.contains("amount.cap") && page.text.contains("1 500,50"),
        "{}",
        page.text
    );
    values[7].1 = "3000";
    let page = finance.send(&page, "/programmes/preview", &values);
    for shown in ["this programme", "₽1,500.50", "Available: 2 Mar 2026 ₽10,000.00", "Nothing is saved yet."]
    {
        assert!(page.text.contains(shown), "{shown}: {}", page.text);
    }
    assert!(finance.get("/programmes").text.contains("No programmes."), "a forecast saves nothing");
    let first = finance.send_once(&page, "/programmes/new", &[]);
    let second = finance.send_once(&page, "/programmes/new", &[]);
    assert_eq!((first.status, first.header("location")), (303, second.header("location")), "a double click");
    let path = first.header("location").unwrap().strip_prefix("/console").unwrap();
    let path = path.split('?').next().unwrap().to_owned();
    let page = finance.get(&path);
    for shown in [
        "people named one by one: 1",
        "gets ₽1,500.50, but holds no more than ₽3,000.00",
        "works, on sick leave",
    ] {
        assert!(page.text.contains(shown), "{shown}: {}", page.text);
    }

    // Other terms: the form has the old ones, and the forecast shows the new ones in their place.
    let page = finance.get(&format!("{path}/edit"));
    assert!(
        page.text.contains("\nT-1</textarea>") && page.text.contains("value=\"1500.50\""),
        "{}",
        page.text
    );
    for (at, value) in [(1, "categories"), (5, "upTo"), (6, "200"), (8, "WEEK"), (9, "3")] {
        values[at].1 = value;
    }
    values.push(("idCategory", &category));
    let page = finance.send(&page, &format!("{path}/preview"), &values);
    assert!(page.text.contains("2026-W10") && page.text.contains("Lunch</a>"), "{}", page.text);
    let page = finance.send(&page, &format!("{path}/edit"), &[]);
    for shown in ["Saved.", "Office", "is filled up to ₽200.00", "every week, Wednesday"] {
        assert!(page.text.contains(shown), "{shown}: {}", page.text);
    }
    let mut hr = Browser::of_new(&server, Some(&partner), Role::Hr);
    assert_eq!((hr.get("/programmes/new").status, hr.get(&format!("{path}/edit")).status), (403, 403));
}

/// Submits the run whose page this is, and lets the worker carry it out.
fn submit(server: &TestServer, browser: &mut Browser<'_>, page: &RawResponse) {
    let path = format!("/run/{}/submit", between(&page.text, "action=\"/console/run/", "/"));
    browser.send(page, &path, &[]);
    carry_out(server);
}

#[test]
fn a_person_s_page_sets_a_limit_moves_money_and_tells_what_was_declined() {
    let (server, partner) = start();
    let holder = holder(&server, &partner);
    let mut owner = Browser::of_new(&server, Some(&partner), Role::Owner);
    let path = format!("/person/{}", holder.person);
    let page = owner.get(&format!("/limits?names=customIdCard&people={}", holder.number));
    assert!(page.text.contains(&format!("\n{}</textarea>", holder.number)), "{}", page.text);
    let mut values = vec![("whom", "people"), ("names", "customIdCard"), ("people", &*holder.number)];
    values.extend([
        ("rubles", "much"),
        ("period", "CDAY"),
        ("days", "1"),
        ("days", "2"),
        ("times", "08:00-20:30"),
    ]);
    let refused = owner.send(&page, "/limits/preview", &values);
    assert_eq!(refused.status, 422, "{}", refused.text);
    values[3].1 = "500";
    let page = owner.send(&refused, "/limits/preview", &values);
    for shown in
        ["₽500.00 a day", "<td>Tuesday</td><td>08:00–20:30</td>", "<td>Sunday</td><td>does not pay</td>"]
    {
        assert!(page.text.contains(shown), "{shown}: {}", page.text);
    }
    assert!(page.text.contains("d=\"M480 10h750v80h-750zM480 110h750"), "{}", page.text);
    let page = owner.send(&page, "/limits", &[]);
    submit(&server, &mut owner, &page);
    let page = owner.get(&path);
    assert!(page.text.contains("₽500.00 a day") && page.text.contains("08:00–20:30"), "{}", page.text);

    let page = owner.send(&page, &format!("{path}/topup"), &[("rubles", "1000")]);
    submit(&server, &mut owner, &page);
    assert_eq!(card_info(&server, &holder)["balance"], 100_000);
    let ask = |rubles: &str| format!("{path}?card={}&rubles={rubles}", holder.card);
    assert!(owner.get(&ask("500")).text.contains("It would pay that."));
    let page = owner.get(&ask("500.01"));
    assert!(page.text.contains("Does not pay now:"), "{}", page.text);
    let wanted = json!({"amount": 60_000, "place": "Bookshop"});
    let wanted = post(&format!("/sandbox/v1/card/{}/purchase", holder.card), &wanted);
    assert_eq!(wanted.token(&holder.token).send(&server).json()["approved"], false);
    server.follow_feed();
    let page = owner.get(&path);
    for shown in ["Declined purchases", "Bookshop", "₽600.00"] {
        assert!(page.text.contains(shown), "{shown}: {}", page.text);
    }
    let page = owner.send(&page, &format!("{path}/withdraw"), &[]);
    submit(&server, &mut owner, &page);
    assert_eq!(card_info(&server, &holder)["balance"], 0);

    let page = owner.get(&format!("{path}/replace"));
    let address =
        [("typeCard", "MP4"), ("deliveryAddress", ""), ("recipient", "Орлова Анна"), ("phone", "9031234567")];
    let refused = owner.send(&page, &format!("{path}/replace"), &address);
    assert_eq!(refused.status, 422, "{}", refused.text);
    let address = [address[0], ("deliveryAddress", "Nevsky 1"), address[2], address[3]];
    let page = owner.send(&refused, &format!("{path}/replace"), &address);
    assert!(
        page.text.contains("The card is ordered.") && page.text.contains("Orders of a new card"),
        "{}",
        page.text
    );

    let file = owner.get_once("/people/export");
    assert_eq!(file.header("content-disposition"), Some("attachment; filename=\"people.csv\""));
    assert_eq!(file.text.lines().nth(1), Some("T-1,Орлова,Анна,,,,WORK,"));
    assert_eq!(owner.get_once("/people/export?status=VACATION").text.lines().count(), 1);
    server.run_jobs();
}
