//! The walkthroughs of the guide, played by the keyboard, with the pictures that stand in it.

use kopeck_domain::access::Role;
use serde_json::json;

use super::Tour;
use super::flows::Company;
use crate::console::browser::{Browser as Plain, NEW_PASSWORD, create_user};
use crate::console::money::carry_out;
use crate::server::PASSWORD;

impl Tour<'_> {
    /// A picture of the guide, as of a laptop.
    async fn picture_of_guide(&self, name: &str) {
        self.look(1_280, "light").await;
        self.picture(&format!("console-{name}")).await;
    }
}

/// An HR person's first day: the first login, a new person, a card.
pub async fn first_day(tour: &Tour<'_>, company: &Company<'_>) {
    create_user(tour.server, Some(&company.partner), Role::Hr, "anna@example.ru");
    tour.open("/").await;
    tour.send("/login", &[("login", "anna@example.ru"), ("password", PASSWORD)]).await;
    tour.sees(&["Scan this code"]).await;
    let mut plain = Plain::new(tour.server);
    plain.app = tour.browser.text_of(".setup code").await;
    tour.send("/login/code", &[("code", "000000")]).await;
    tour.sees(&["Wrong code."]).await;
    tour.send("/login/code", &[("code", &plain.code())]).await;
    tour.browser.wait_for("return document.querySelectorAll('.codes li').length === 10").await;
    tour.follow("/").await;
    let passwords = [("current", PASSWORD), ("new", NEW_PASSWORD), ("again", NEW_PASSWORD)];
    tour.send_and_go_back("/password", &passwords).await;
    tour.follow("/").await;
    tour.sees(&["This month"]).await;
    tour.picture_of_guide("month").await;

    tour.follow("/people").await;
    tour.follow("/people/new").await;
    let person = [("customId", "T-100"), ("surname", "Журавлёва"), ("name", "Вера"), ("phone", "9035550100")];
    tour.send("/people/new", &[("customId", "T 100")]).await;
    tour.sees(&["customId"]).await;
    tour.send_and_go_back("/people/new", &person).await;
    tour.sees(&["Журавлёва Вера"]).await;
    let path = tour.path().await;
    let card = [("customIdCard", &*company.unlinked[0]), ("statusCard", "MAIN")];
    tour.send_and_go_back(&format!("{path}/link"), &card).await;
    tour.sees(&["The card is linked.", &company.unlinked[0]]).await;
    tour.picture_of_guide("person").await;
    tour.send("/logout", &[]).await;
    tour.sees(&["You are logged out."]).await;
    // Nothing of the session is left behind Back.
    tour.browser.post("/back", &json!({})).await;
    tour.browser.wait_for("return document.querySelector('[name=password]') !== null").await;
}

/// A payday: a list with a fault, its preview, the submission, the result.
pub async fn payday(tour: &Tour<'_>, company: &Company<'_>) {
    tour.become_user(&company.finance).await;
    tour.open("/").await;
    tour.follow("/runs").await;
    tour.follow("/runs/new").await;
    let rows = company.rows("1500,00") + "T-999; 1500,00\n";
    let list = [("kind", "TOP_UP"), ("names", "customId"), ("rows", &*rows), ("reference", "Meals March")];
    tour.send("/runs/new", &list).await;
    tour.sees(&["There is no such employee.", "Faulty rows"]).await;
    tour.picture_of_guide("preview").await;
    let path = tour.path().await;
    tour.send_and_go_back(&format!("{path}/submit"), &[("skipFaulty", "yes")]).await;
    carry_out(tour.server);
    tour.open(&path).await;
    tour.sees(&["done", "skipped"]).await;
    tour.picture_of_guide("result").await;
    // The same list again.
    tour.open("/runs/new").await;
    tour.send("/runs/new", &list).await;
    tour.sees(&["has the reference"]).await;
    company.expect(&[150_000]);
}

/// The end of a month: the report, its files, paper, and the closing.
pub async fn month_end<'s>(tour: &Tour<'s>, company: &mut Company<'s>) {
    tour.server.follow_feed();
    tour.server.clock.advance(time::Duration::days(31));
    company.finance = Plain::of_known(tour.server, &mut company.finance);
    tour.become_user(&company.finance).await;
    tour.open("/").await;
    tour.follow("/reports").await;
    tour.send("/reports", &[("month", "2026-03")]).await;
    tour.sees(&["Statement of the month", "Report of each person"]).await;
    tour.picture_of_guide("report").await;
    let folder = tempfile::tempdir().unwrap();
    tour.browser.save_into(folder.path()).await;
    for end in ["report/2026-03/xlsx", "statement/2026-03/1c"] {
        tour.save(&format!("/{end}"), folder.path()).await;
    }
    tour.prints().await;
    tour.open("/reports?month=2026-03").await;
    tour.send_and_go_back("/reports", &[("sure", "yes")]).await;
    tour.sees(&["The month is closed", "SHA-256"]).await;
    tour.picture_of_guide("closed").await;
}

impl Tour<'_> {
    /// On paper stand the tables, whole, and nothing to press.
    async fn prints(&self) {
        self.browser.control("Emulation.setEmulatedMedia", &json!({"media": "print"})).await;
        let shown = "
            const is = selector => [...document.querySelectorAll(selector)].some(one => one.getClientRects().length > 0);
            const scrolls = [...document.querySelectorAll('.wide')].some(one => getComputedStyle(one).overflowX !== 'visible');
            return [is('header'), is('nav'), is('form'), is('table'), scrolls]";
        assert_eq!(self.browser.run(shown).await, json!([false, false, false, true, false]));
        self.browser.control("Emulation.setEmulatedMedia", &json!({"media": ""})).await;
    }
}
