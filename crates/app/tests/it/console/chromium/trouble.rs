//! What goes wrong: the bank, a session, a second tab, an impatient hand, and a browser without scripts.

use serde_json::json;
use time::Duration;

use super::Tour;
use super::flows::Company;
use crate::console::browser::{Browser as Plain, NEW_PASSWORD};
use crate::console::money::carry_out;
use crate::server::TestServer;

/// The bank is down on payday: the run waits, the pages work, and the money arrives once when the bank is back.
pub async fn bank_down(tour: &Tour<'_>, company: &Company<'_>) {
    company.call("/sandbox/v1/bank", &json!({"down": true}));
    tour.become_user(&company.finance).await;
    tour.open("/runs/new").await;
    tour.send("/runs/new", &[("kind", "TOP_UP"), ("rows", "T-3; 10.00")]).await;
    let path = tour.path().await;
    tour.send_and_go_back(&format!("{path}/submit"), &[]).await;
    carry_out(tour.server);
    for page in [&path, "/", "/people", "/reports"] {
        tour.open(page).await;
        tour.browser.wait_for("return document.querySelector('.problem') === null").await;
    }
    tour.open(&path).await;
    tour.sees(&["In process"]).await;
    company.call("/sandbox/v1/bank", &json!({"down": false}));
    tour.server.clock.advance(Duration::minutes(10));
    carry_out(tour.server);
    tour.open(&path).await;
    tour.sees(&["done"]).await;
    company.expect(&[240_000, 0, 151_000]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs Chromium, its driver and axe-core: scripts/test-console"]
async fn trouble_has_no_second_effect() {
    let server = TestServer::start();
    let mut company = Company::new(&server);
    let tour = Tour::start(&server).await;
    tour.speak("en").await;
    session_that_ends(&tour, &mut company).await;
    page_that_empties_itself(&tour, &mut company).await;
    second_tab(&tour, &mut company).await;
    double_click(&tour, &mut company).await;
    no_script(&tour, &company).await;
    tour.end().await;
}

/// A session ends while a form is filled in: what was typed is shown, and can be sent behind a new login.
async fn session_that_ends<'s>(tour: &Tour<'s>, company: &mut Company<'s>) {
    tour.become_user(&company.hr).await;
    tour.open("/people/new").await;
    tour.fill("/people/new", &[("customId", "S-1"), ("surname", "Соколова")]).await;
    tour.server.clock.advance(Duration::minutes(16));
    tour.send("/people/new", &[("name", "Яна")]).await;
    tour.sees(&["Your session ended before this arrived", "Соколова", "Яна"]).await;
    company.hr = Plain::of_known(tour.server, &mut company.hr);
    tour.become_user(&company.hr).await;
    tour.send("/people/new", &[]).await;
    tour.sees(&["Соколова Яна"]).await;
}

/// An open page whose session ends shows nothing of it any more, unless something was typed into it.
async fn page_that_empties_itself<'s>(tour: &Tour<'s>, company: &mut Company<'s>) {
    let look_again = "document.dispatchEvent(new Event('visibilitychange'))";
    tour.become_user(&company.hr).await;
    tour.open("/people").await;
    tour.server.clock.advance(Duration::minutes(16));
    tour.browser.run(look_again).await;
    tour.browser
        .wait_for("return document.querySelector('h1').innerText.startsWith('Your session has ended')")
        .await;
    let left = tour.browser.run("return document.title + document.body.innerText").await;
    let left = left.as_str().unwrap();
    assert!(!left.contains("Соколова") && !left.contains("hr@"), "{left}");
    assert_eq!(tour.browser.run("return document.activeElement.id").await, "main");
    tour.follow("/login").await;
    tour.sees(&["Continue", "Password"]).await;

    company.hr = Plain::of_known(tour.server, &mut company.hr);
    tour.become_user(&company.hr).await;
    tour.open("/people/new").await;
    tour.fill("/people/new", &[("surname", "Петрова")]).await;
    tour.server.clock.advance(Duration::minutes(16));
    tour.browser.run(look_again).await;
    tour.browser.run("window.asked = 0; fetch('/console/poll/approvals').then((got) => { window.asked = got.status; })").await;
    tour.browser.wait_for("return window.asked === 401").await;
    assert_eq!(tour.browser.run("return document.querySelector('[name=surname]').value").await, "Петрова");
    company.hr = Plain::of_known(tour.server, &mut company.hr);
    tour.become_user(&company.hr).await;
}

/// Two tabs with one run: what was submitted in one is submitted in the other, once. A log-out in one is seen in both.
async fn second_tab<'s>(tour: &Tour<'s>, company: &mut Company<'s>) {
    company.finance = Plain::of_known(tour.server, &mut company.finance);
    tour.become_user(&company.finance).await;
    tour.open("/runs/new").await;
    tour.send("/runs/new", &[("kind", "TOP_UP"), ("rows", "T-1; 20.00")]).await;
    let path = tour.path().await;
    let first = tour.browser.tab().await;
    let second = tour.browser.open_tab().await;
    tour.open(&path).await;
    tour.browser.switch_to(&first).await;
    tour.send(&format!("{path}/submit"), &[]).await;
    tour.browser.switch_to(&second).await;
    tour.send(&format!("{path}/submit"), &[]).await;
    tour.send("/logout", &[]).await;
    tour.browser.switch_to(&first).await;
    tour.sees(&["Your session has ended."]).await;
    tour.follow("/login").await;
    tour.sees(&["Continue"]).await;
    carry_out(tour.server);
    company.expect(&[2_000]);
}

/// An impatient hand clicks twice.
async fn double_click<'s>(tour: &Tour<'s>, company: &mut Company<'s>) {
    company.finance = Plain::of_known(tour.server, &mut company.finance);
    tour.become_user(&company.finance).await;
    tour.open("/runs/new").await;
    tour.fill("/runs/new", &[("kind", "TOP_UP"), ("rows", "T-2; 30.00")]).await;
    tour.browser.double_click("form[action='/console/runs/new'] button").await;
    tour.sees(&["Submit exactly this"]).await;
    tour.browser.double_click("form[action$='/submit'] button").await;
    tour.browser.wait_for("return !document.body.innerText.includes('Submit exactly this')").await;
    carry_out(tour.server);
    company.expect(&[2_000, 3_000]);
    tour.open("/runs").await;
    let rows = tour.browser.run("return document.querySelectorAll('tbody tr').length").await;
    assert_eq!(rows, 2, "one of each submission");
    // What the password confirms gives the session a new token, which a second click would not have yet.
    Plain::of_known(tour.server, &mut company.finance);
    tour.open("/sessions").await;
    tour.fill("/sessions", &[("current", NEW_PASSWORD)]).await;
    let two_clicks = "let sent = 0;
        addEventListener('submit', (event) => { sent += !event.defaultPrevented; event.preventDefault(); });
        const button = document.querySelector(\"form[action='/console/sessions'] button\");
        button.click();
        button.click();
        return sent";
    assert_eq!(tour.browser.run(two_clicks).await, 1);
}

/// A browser whose scripts are switched off plays a payday.
async fn no_script(tour: &Tour<'_>, company: &Company<'_>) {
    tour.browser.control("Emulation.setScriptExecutionDisabled", &json!({"value": true})).await;
    tour.open("/").await;
    tour.browser.click("nav a[href='/console/runs']").await;
    tour.browser.click("a[href='/console/runs/new']").await;
    tour.browser.type_into("[name=rows]", "T-4; 40.00").await;
    tour.browser.click("form[action='/console/runs/new'] button").await;
    tour.sees(&["₽40.00"]).await;
    tour.browser.click("main form[action$='/submit'] button").await;
    tour.sees(&["Submitted."]).await;
    carry_out(tour.server);
    company.expect(&[2_000, 3_000, 0, 4_000]);
    tour.browser.control("Emulation.setScriptExecutionDisabled", &json!({"value": false})).await;
}
