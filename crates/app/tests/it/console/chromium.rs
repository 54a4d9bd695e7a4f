//! The console in a real browser. Every page loads from the service alone, has nothing to complain of, and is accessible in both
//! languages, in light and dark, at 390 and 1,920 pixels. People do their month by the keyboard alone.
//!
//! Run by `scripts/test-console`, which sees to Chromium, its driver and axe-core. `AXE` is the path of `axe.min.js`;
//! screenshots go to the folder `SCREENSHOTS`, if it is set.

mod axe;
mod flows;
mod guide;
mod keyboard;
mod killed;
mod seldom;
mod trouble;

use std::path::Path;

use serde_json::json;

use super::browser::Browser as Plain;
use crate::docs_page::driver::{Browser, processes_of};
use crate::server::TestServer;

/// Reports, as an error of the page, each stop that the keyboard reaches and that does not show it.
const WATCH: &str = "
    addEventListener('focusin', ({ target }) => {
        const { outlineStyle, outlineWidth } = getComputedStyle(target);
        const isSeen = outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2;
        if (target.matches(':focus-visible') && target.tabIndex >= 0 && !isSeen) {
            console.error(`shows no focus, ${location.pathname}: ${target.outerHTML.slice(0, 200)}`);
        }
    });
";

/// A browser on the console.
struct Screen {
    browser: Browser,
    base_url: String,
}

impl Screen {
    async fn start(base_url: &str) -> Self {
        let browser = Browser::start().await;
        browser.control("Page.addScriptToEvaluateOnNewDocument", &json!({"source": WATCH})).await;
        Self { browser, base_url: base_url.to_owned() }
    }

    async fn open(&self, path: &str) {
        self.browser.open(&format!("{}/console{path}", self.base_url)).await;
    }

    async fn speak(&self, language: &str) {
        self.browser.control("Network.enable", &json!({})).await;
        let headers = json!({"headers": {"Accept-Language": language}});
        self.browser.control("Network.setExtraHTTPHeaders", &headers).await;
    }

    /// Makes the page look as on a screen of this width, in a colour scheme.
    async fn look(&self, width: u32, scheme: &str) {
        let screen = json!({"width": width, "height": 1_000, "deviceScaleFactor": 1, "mobile": false});
        self.browser.control("Emulation.setDeviceMetricsOverride", &screen).await;
        let media = json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]});
        self.browser.control("Emulation.setEmulatedMedia", &media).await;
    }

    /// A picture of what the window shows.
    async fn picture(&self, name: &str) {
        if let Some(folder) = std::env::var_os("SCREENSHOTS") {
            self.browser.save_screenshot(&Path::new(&folder).join(format!("{name}.png"))).await;
        }
    }

    /// Ends the browser: nothing was asked of another host, and it has nothing to complain of but what is expected.
    async fn end(self, is_expected: impl Fn(&str) -> bool) {
        // The browser draws its own controls by `data:`.
        for url in self.browser.requested().await.iter().filter(|url| !url.starts_with("data:")) {
            assert!(url.starts_with(&format!("{}/", self.base_url)), "a page asked {url}");
        }
        self.browser.end(is_expected).await;
    }
}

/// Whether the browser says that the server has refused a form, which it names among its messages. Parts of pages, scripts and styles are
/// never refused, but for what a page asks for by itself behind the end of its session.
fn is_refusal(complaint: &str) -> bool {
    let path = complaint.split([' ', '?']).next().unwrap_or_default();
    let is_page = !["/poll/", "/fragment/", "/console."].iter().any(|part| path.contains(part));
    complaint.contains("/poll/") && complaint.contains("the server responded with a status of 401")
        || is_page && complaint.contains("the server responded with a status of 4")
}

/// A browser on the console of a server of this process.
struct Tour<'s> {
    screen: Screen,
    server: &'s TestServer,
}

impl std::ops::Deref for Tour<'_> {
    type Target = Screen;

    fn deref(&self) -> &Screen {
        &self.screen
    }
}

impl<'s> Tour<'s> {
    async fn start(server: &'s TestServer) -> Self {
        Self { screen: Screen::start(&server.base_url).await, server }
    }

    /// Goes on with the session of another browser.
    async fn become_user(&self, plain: &Plain<'_>) {
        let cookie = json!({"name": "__Host-kopeck", "value": plain.cookies["__Host-kopeck"],
            "url": "https://127.0.0.1/", "path": "/", "secure": true, "httpOnly": true, "sameSite": "Strict"});
        self.browser.control("Network.setCookie", &cookie).await;
    }

    async fn end(self) {
        self.screen.end(is_refusal).await;
    }
}

/// A test that fails says why, and leaves nothing that runs or lies about.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs Chromium and its driver: scripts/test-console"]
async fn a_test_that_fails_leaves_no_browser_behind() {
    let browser = Browser::start().await;
    let profile = browser.profile();
    assert!(processes_of(&profile).len() > 2, "a browser has several processes");
    let failing = tokio::spawn(async move {
        browser.open("data:text/html,page").await;
        // As a panic does, without its message.
        std::panic::resume_unwind(Box::new(browser.tab().await));
    });
    assert!(failing.await.unwrap_err().is_panic());
    assert_eq!((processes_of(&profile), profile.exists()), (Vec::new(), false));
}
