//! The console in a real browser. Every page loads from the service alone, has nothing to complain of, and is accessible in both
//! languages, in light and dark, at 390 and 1,920 pixels. People do their month by the keyboard alone.
//!
//! Run by `scripts/test-console`, which sees to Chromium, its driver and axe-core. `AXE` is the path of `axe.min.js`;
//! screenshots go to the folder `SCREENSHOTS`, if it is set.

mod flows;
mod guide;
mod keyboard;
mod trouble;

use std::path::Path;

use kopeck_domain::access::Role;
use serde_json::{Value, json};

use super::browser::Browser as Plain;
use super::money::carry_out;
use super::planted;
use super::walk::walk;
use crate::docs_page::driver::Browser;
use crate::server::TestServer;

/// Checks the page by rules: what offends them, and the number of rules that were held against something of the page.
const CHECK: &str = "
    const [runOnly, done] = arguments;
    axe.run(document, { preload: false, resultTypes: ['violations'], runOnly })
        .then(found => done([
            found.violations.map(one => one.id + ': ' + one.nodes.map(node => node.html).join(' | ')), found.passes.length]),
            error => done([[String(error)], 0]));
";

/// The rules of WCAG 2.2 AA, and axe's own best practices.
fn all_rules() -> Value {
    json!({"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]})
}

/// Of these only the colours differ between light and dark.
fn rules_of_colours() -> Value {
    json!({"type": "rule", "values": ["color-contrast", "link-in-text-block"]})
}

/// A size of the window, and a colour scheme.
const LOOKS: [(u32, &str); 3] = [(390, "light"), (1_920, "light"), (390, "dark")];

/// A browser on the console of a server.
struct Tour<'s> {
    browser: Browser,
    server: &'s TestServer,
}

impl<'s> Tour<'s> {
    async fn start(server: &'s TestServer) -> Self {
        Self { browser: Browser::start().await, server }
    }

    async fn open(&self, path: &str) {
        self.browser.open(&format!("{}/console{path}", self.server.base_url)).await;
    }

    async fn speak(&self, language: &str) {
        self.browser.control("Network.enable", &json!({})).await;
        let headers = json!({"headers": {"Accept-Language": language}});
        self.browser.control("Network.setExtraHTTPHeaders", &headers).await;
    }

    /// Goes on with the session of another browser.
    async fn become_user(&self, plain: &Plain<'_>) {
        let cookie = json!({"name": "__Host-kopeck", "value": plain.cookies["__Host-kopeck"],
            "url": "https://127.0.0.1/", "path": "/", "secure": true, "httpOnly": true, "sameSite": "Strict"});
        self.browser.control("Network.setCookie", &cookie).await;
    }

    /// Makes the page look as on a screen of this width, in a colour scheme.
    async fn look(&self, width: u32, scheme: &str) {
        let screen = json!({"width": width, "height": 1_000, "deviceScaleFactor": 1, "mobile": false});
        self.browser.control("Emulation.setDeviceMetricsOverride", &screen).await;
        let media = json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]});
        self.browser.control("Emulation.setEmulatedMedia", &media).await;
    }

    /// Checks the page that is shown by all looks, and tells the numbers of axe's rules; returns what offends them.
    async fn check(&self, name: &str) -> Vec<String> {
        let (mut rules, mut faults) = (Vec::new(), Vec::new());
        for (width, scheme) in LOOKS {
            self.look(width, scheme).await;
            let wide =
                self.browser.run("return document.documentElement.scrollWidth - window.innerWidth").await;
            if wide.as_i64().unwrap() > 0 {
                faults.push(format!("{name} is {wide} too wide at {width}"));
            }
            let rules_of = if scheme == "dark" { rules_of_colours() } else { all_rules() };
            let found = self.browser.run_async(CHECK, &json!([rules_of])).await;
            let broken = found[0].as_array().unwrap().iter();
            faults.extend(
                broken.map(|rule| format!("{name} at {width}, {scheme}: {}", rule.as_str().unwrap())),
            );
            rules.push(found[1].as_u64().unwrap());
            self.picture(&format!("{}-{width}-{scheme}", name.replace('/', "-"))).await;
        }
        eprintln!("axe: {name}: {rules:?} rules kept at {LOOKS:?}, {} broken", faults.len());
        faults
    }

    /// A picture of what the window shows.
    async fn picture(&self, name: &str) {
        if let Some(folder) = std::env::var_os("SCREENSHOTS") {
            self.browser.save_screenshot(&Path::new(&folder).join(format!("{name}.png"))).await;
        }
    }

    /// Nothing was asked of another host, and the browser has nothing to complain of. Ends the browser.
    async fn end(self, own: &[&str]) {
        // The browser draws its own controls by `data:`.
        for url in self.browser.requested().await.iter().filter(|url| !url.starts_with("data:")) {
            assert!(own.iter().any(|own| url.starts_with(&format!("{own}/"))), "a page asked {url}");
        }
        let complaints = self.browser.complaints().await;
        // What the server refuses the browser names among its messages.
        let others: Vec<_> =
            complaints.iter().filter(|one| !one.contains("the server responded with a status of")).collect();
        assert!(others.is_empty(), "{others:?}");
        self.browser.end().await;
    }
}

/// A page to look at, and who does.
struct Seen {
    path: String,
    role: Role,
}

/// The pages of all roles that links lead to, each by the first role that has it; and the users' sessions.
fn pages(server: &TestServer) -> (Vec<Seen>, Vec<(Role, Plain<'_>)>) {
    let (partner, running) = planted::world(server);
    let (mut all, mut browsers) = (Vec::<Seen>::new(), Vec::new());
    for role in [Role::Owner, Role::Operator] {
        let of = (role == Role::Owner).then_some(&partner);
        let mut browser = Plain::of_new(server, of, role);
        let more = if role == Role::Owner {
            [planted::behind_forms(&mut browser), vec![running.clone()]].concat()
        } else {
            Vec::new()
        };
        let found = walk(&mut browser, 1, &more);
        let is_page = |path: &String| browser.get(path).text.starts_with("<!doctype html>");
        all.extend(found.pages.into_iter().filter(is_page).map(|path| Seen { path, role }));
        browsers.push((role, browser));
    }
    (all, browsers)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs Chromium, its driver and axe-core: scripts/test-console"]
async fn every_page_is_accessible_and_keeps_its_policy() {
    let axe = std::fs::read_to_string(std::env::var("AXE").expect("the path of axe.min.js")).unwrap();
    let server = TestServer::start();
    let (pages, browsers) = pages(&server);
    let tour = Tour::start(&server).await;
    tour.browser.control("Page.addScriptToEvaluateOnNewDocument", &json!({"source": axe})).await;
    let (mut checked, mut faults) = (0, Vec::new());
    for language in ["en", "ru"] {
        tour.speak(language).await;
        tour.open("/login").await;
        faults.extend(tour.check(&format!("{language}-login")).await);
        for (role, plain) in &browsers {
            tour.become_user(plain).await;
            let nowhere = Seen { path: "/nowhere".to_owned(), role: *role };
            for page in pages.iter().chain([&nowhere]).filter(|page| page.role == *role) {
                tour.open(&page.path).await;
                let shown = tour.browser.run("return document.documentElement.lang").await;
                assert_eq!(shown, language, "{}", page.path);
                let name = format!("{language}{}", plain_name(&page.path));
                faults.extend(tour.check(&name).await);
                checked += 1;
            }
        }
        tour.browser.control("Network.clearBrowserCookies", &json!({})).await;
    }
    carry_out(&server);
    assert!(faults.is_empty(), "{faults:#?}");
    eprintln!("axe: {checked} pages, each at {LOOKS:?}, no rule broken");
    tour.end(&[&server.base_url]).await;
}

/// The path without identifiers, as a name of a file.
fn plain_name(path: &str) -> String {
    let segments = path.split('/').map(|segment| if segment.len() == 36 { "one" } else { segment });
    segments.collect::<Vec<_>>().join("-").replace(['?', '=', '&'], "_")
}
