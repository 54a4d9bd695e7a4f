//! The month, programmes and their forecast, limits, and what a person's page tells, in the console.

use kopeck_domain::Kopecks;
use kopeck_domain::access::Role;
use kopeck_service::partners;
use serde_json::json;

use super::browser::{Browser, offers};
use super::{Holder, card_info, holder, start};
use crate::raw_http::{RawRequest, post};
use crate::server::{SETTINGS, TestServer};

fn programme(server: &TestServer, holder: &Holder, name: &str, fixed: i64) -> String {
    let body =
        json!({"name": name, "for": {"all": true}, "amount": {"fixed": fixed}, "every": "MONTH", "day": 5});
    let made = post("/v1/programmes", &body).token(&holder.token).send(server);
    assert_eq!(made.status, 201, "{made:?}");
    made.text_of("idProgramme")
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

    // Somebody leaves with money on the card, and another person has to approve a programme.
    let top_up = json!({"cards": [{"idCard": holder.card, "amountReplenishment": 12_300}]});
    assert_eq!(post("/v1/replenishment", &top_up).token(&holder.token).send(&server).status, 202);
    server.run_jobs();
    server.clock.advance(SETTINGS.card_cache);
    assert_eq!(card_info(&server, &holder)["balance"], 12_300);
    let left = RawRequest::new("PUT", &format!("/v1/employee/{}", holder.person))
        .json(&json!({"status": "DONT_WORK"}));
    assert_eq!(left.token(&holder.token).send(&server).status, 200);
    let page = owner.get("/");
    assert!(page.text.contains("₽123.00") && page.text.contains("T-1 Орлова Анна</a>"), "{}", page.text);
    assert!(page.text.contains("go on paying. Their money stays on them"), "{}", page.text);
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
