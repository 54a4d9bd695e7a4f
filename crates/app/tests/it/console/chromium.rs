//! The console in a real browser: it loads from the service alone, has nothing to complain of, is accessible in both languages
//! and both colour schemes at 390 and 1,920 pixels, and a double click and Back with a second submit have one effect.
//!
//! Run by `scripts/test-console`, which sees to Chromium, its driver and axe-core. `AXE` is the path of `axe.min.js`;
//! screenshots of each page go to the folder `SCREENSHOTS`, if it is set.

use std::path::Path;

use kopeck_domain::access::Role;
use serde_json::{Value, json};

use super::browser::{Browser as Plain, create_user};
use super::{card_info, holder, start};
use crate::docs_page::driver::Browser;
use crate::raw_http::post;
use crate::server::{PASSWORD, TestServer};

/// Checks the page by the rules of WCAG 2.2 AA and axe's own best practices.
const CHECK: &str = "
    const [done] = arguments;
    const run = () => axe.run(document, { preload: false, runOnly: { type: 'tag',
        values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] } })
        .then(found => done(found.violations.map(one => one.id + ': ' + one.nodes.map(node => node.html).join(' | '))),
            error => done([String(error)]));
    run();
";

/// A size of the window, and a colour scheme.
const LOOKS: [(u32, &str); 3] = [(390, "light"), (1_920, "light"), (390, "dark")];

struct Tour<'s> {
    browser: Browser,
    server: &'s TestServer,
    axe: String,
    checked: usize,
}

impl Tour<'_> {
    async fn open(&self, path: &str) {
        self.browser.open(&format!("{}/console{path}", self.server.base_url)).await;
    }

    async fn speak(&self, language: &str) {
        self.browser.control("Network.enable", &json!({})).await;
        let headers = json!({"headers": {"Accept-Language": language}});
        self.browser.control("Network.setExtraHTTPHeaders", &headers).await;
    }

    async fn log_in(&self, login: &str) {
        self.open("/login").await;
        self.browser.type_into("input[name=login]", login).await;
        self.browser.type_into("input[name=password]", PASSWORD).await;
        self.browser.click("main button").await;
        let secret = self.browser.text_of(".setup code").await;
        let mut plain = Plain::new(self.server);
        plain.app = secret;
        self.browser.type_into("input[name=code]", &plain.code()).await;
        self.browser.click("main button").await;
        self.browser.wait_for("return document.querySelectorAll('.codes li').length === 10").await;
        self.browser.click(".links a").await;
        for (name, password) in [
            ("current", PASSWORD),
            ("new", super::browser::NEW_PASSWORD),
            ("again", super::browser::NEW_PASSWORD),
        ] {
            self.browser.type_into(&format!("input[name={name}]"), password).await;
        }
        self.browser.click("main button").await;
        self.browser.wait_for("return document.querySelector('nav') !== null").await;
    }

    /// Checks the page that is shown, by all looks.
    async fn check(&mut self, name: &str) {
        for (width, scheme) in LOOKS {
            let screen = json!({"width": width, "height": 1_000, "deviceScaleFactor": 1, "mobile": false});
            self.browser.control("Emulation.setDeviceMetricsOverride", &screen).await;
            let media = json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]});
            self.browser.control("Emulation.setEmulatedMedia", &media).await;
            let wide =
                self.browser.run("return document.documentElement.scrollWidth - window.innerWidth").await;
            assert!(wide.as_i64().unwrap() <= 0, "{name} is {wide} too wide at {width}");
            self.browser.run(&self.axe).await;
            let found = self.browser.run_async(CHECK, &json!([])).await;
            assert_eq!(found, json!([]), "{name} at {width}, {scheme}");
            self.checked += 1;
            if let Some(folder) = std::env::var_os("SCREENSHOTS") {
                let file = format!("{}-{width}-{scheme}.png", name.trim_matches('/').replace('/', "-"));
                self.browser.save_screenshot(&Path::new(&folder).join(file)).await;
            }
        }
        self.browser.control("Emulation.clearDeviceMetricsOverride", &json!({})).await;
    }
}

/// A partner with people of each page; the identifiers of a person and of a run.
fn world() -> (TestServer, String, String) {
    let (server, partner) = start();
    let holder = holder(&server, &partner);
    create_user(&server, Some(&partner), Role::Owner, "owner@example.ru");
    create_user(&server, None, Role::Operator, "operator@example.ru");
    let call = |path: &str, body: &Value| post(path, body).token(&holder.token).send(&server);
    call("/v1/replenishment", &json!({"cards": [{"idCard": holder.card, "amountReplenishment": 50_000}]}));
    server.run_jobs();
    let bought = json!({"amount": 500, "place": "Canteen", "mcc": "5812", "merchantId": "M-1"});
    call(&format!("/sandbox/v1/card/{}/purchase", holder.card), &bought);
    server.follow_feed();
    assert_eq!(card_info(&server, &holder)["balance"], 49_500);
    let items = json!([{"customId": "T-1", "rubles": "10.00"}, {"customId": "T-9", "rubles": "1.00"}]);
    let run = call("/v1/runs", &json!({"kind": "TOP_UP", "items": items})).text_of("idRun");
    call("/v1/webhooks", &json!({"url": "https://hooks.example/", "description": "payroll"}));
    server.write_request_log();
    (server, holder.person, run)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs Chromium, its driver and axe-core: scripts/test-console"]
async fn every_page_is_accessible_and_keeps_its_policy() {
    let axe = std::fs::read_to_string(std::env::var("AXE").expect("the path of axe.min.js")).unwrap();
    let (server, person, run) = tokio::task::spawn_blocking(world).await.unwrap();
    let mut tour = Tour { browser: Browser::start().await, server: &server, axe, checked: 0 };
    tour.open("/login").await;
    tour.check("login").await;
    tour.log_in("owner@example.ru").await;
    let pages = [
        "/".to_owned(),
        "/people".to_owned(),
        "/people/new".to_owned(),
        format!("/person/{person}"),
        format!("/person/{person}/edit"),
        "/runs".to_owned(),
        "/runs/new".to_owned(),
        format!("/run/{run}"),
        "/approvals".to_owned(),
        "/orders".to_owned(),
        "/reports".to_owned(),
        "/integration".to_owned(),
        "/integration/requests".to_owned(),
        "/integration/events".to_owned(),
        "/users".to_owned(),
        "/audit".to_owned(),
        "/sessions".to_owned(),
        "/password".to_owned(),
        "/nowhere".to_owned(),
    ];
    for language in ["en", "ru"] {
        tour.speak(language).await;
        for page in &pages {
            tour.open(page).await;
            let shown = tour.browser.run("return document.documentElement.lang").await;
            assert_eq!(shown, language, "{page}");
            let name = page.replace(&person, "person").replace(&run, "run");
            tour.check(&format!("{language}{name}")).await;
        }
    }
    tour.speak("en").await;
    submits_once(&tour).await;
    works_by_keyboard(&tour).await;
    // The browser draws its own controls by `data:`.
    for url in tour.browser.requested().await.iter().filter(|url| !url.starts_with("data:")) {
        assert!(url.starts_with(&format!("{}/", server.base_url)), "a page asked {url}");
    }
    let complaints = tour.browser.complaints().await;
    // What the server refuses the browser names among its messages.
    let others: Vec<_> =
        complaints.iter().filter(|one| !one.contains("the server responded with a status of")).collect();
    assert!(others.is_empty(), "{others:?}");
    eprintln!("axe: {} checks of {} pages, no violation", tour.checked, 2 * pages.len() + 1);
    tour.browser.end().await;
}

/// A double click, and Back with a second submit.
async fn submits_once(tour: &Tour<'_>) {
    tour.open("/people/new").await;
    tour.browser.type_into("input[name=customId]", "D-1").await;
    tour.browser
        .run("const button = document.querySelector('main button'); button.click(); button.click();")
        .await;
    tour.browser.wait_for("return location.pathname.includes('/person/')").await;
    tour.browser.run("history.back()").await;
    tour.browser.wait_for("return location.pathname.endsWith('/people/new')").await;
    tour.browser.wait_for("return document.querySelector('input[name=customId]') !== null").await;
    tour.browser.run("document.querySelector('input[name=customId]').value = 'D-1'").await;
    tour.browser.click("main button").await;
    tour.browser
        .wait_for(
            "return location.pathname.includes('/person/') || document.querySelector('.problem') !== null",
        )
        .await;
    tour.open("/people?q=D-1").await;
    let rows = tour.browser.run("return document.querySelectorAll('tbody tr').length").await;
    assert_eq!(rows, 1);
}

/// The first stop of the keyboard leads past the navigation; Enter in a field sends its form.
async fn works_by_keyboard(tour: &Tour<'_>) {
    tour.open("/people").await;
    tour.browser.type_into("body", "\u{e004}").await;
    let focused = tour.browser.run("return document.activeElement.className").await;
    assert_eq!(focused, "skip");
    tour.browser.type_into("input[name=q]", "орлов\u{e007}").await;
    tour.browser.wait_for("return location.search.includes('q=')").await;
    let rows = tour.browser.run("return document.querySelectorAll('tbody tr').length").await;
    assert_eq!(rows, 1);
}
