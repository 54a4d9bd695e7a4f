//! A headless Chromium, driven by its driver.
//!
//! The client is our own: fantoccini and thirtyfour would bring nine and eleven packages, and neither starts a driver, reads its logs,
//! or knows all of the commands of the browser itself that are sent here.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::api_client::plain_http;

/// How long the page has for anything that is waited for.
const PATIENCE: Duration = Duration::from_secs(60);
/// Between two looks.
const PAUSE: Duration = Duration::from_millis(10);

/// The name under which WebDriver gives elements.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

/// A browser with one window and a new profile. A test has to [`Browser::end`] it.
pub struct Browser {
    http: reqwest::Client,
    session: String,
    driver: Child,
    profile: tempfile::TempDir,
    was_looked_at: bool,
}

impl Browser {
    /// Starts the driver (`CHROMEDRIVER`, else `chromedriver`) on a free port, and a browser.
    pub async fn start() -> Self {
        // It takes one free port for two kinds of addresses, and ends if another driver was faster with one of them.
        let (driver, port) = (0..10).find_map(|_| start_driver()).expect("the driver says its port");
        let profile = tempfile::tempdir().unwrap();
        let base = format!("http://127.0.0.1:{port}/session");
        let mut browser = Self { http: plain_http(), session: base, driver, profile, was_looked_at: false };
        let options = json!({
            // Tests may run as root in a container, where Chromium's own sandbox does not start. A page lives too shortly for its scripts
            // to be optimised: that took a fifth of the time.
            "args": ["--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--in-process-gpu",
                "--js-flags=--no-opt,--no-maglev", "--window-size=1440,1000",
                format!("--user-data-dir={}", browser.profile.path().display())],
        });
        let wanted = json!({"capabilities": {"alwaysMatch": {
            "goog:chromeOptions": options,
            "goog:loggingPrefs": {"performance": "ALL", "browser": "ALL"},
        }}});
        let made = browser.post("", &wanted).await;
        browser.session = format!("{}/{}", browser.session, made["sessionId"].as_str().unwrap());
        browser
    }

    pub async fn open(&self, url: &str) {
        self.post("/url", &json!({"url": url})).await;
    }

    /// Makes the window as large as that.
    pub async fn resize(&self, width: u32, height: u32) {
        self.post("/window/rect", &json!({"width": width, "height": height})).await;
    }

    /// Shows the page as on a screen of this width, which a window cannot have.
    pub async fn emulate_width(&self, width: u32) {
        let screen = json!({"width": width, "height": 844, "deviceScaleFactor": 1, "mobile": true});
        self.control("Emulation.setDeviceMetricsOverride", &screen).await;
    }

    /// Keeps what is saved in `folder`.
    pub async fn save_into(&self, folder: &Path) {
        self.control("Page.setDownloadBehavior", &json!({"behavior": "allow", "downloadPath": folder})).await;
    }

    /// A command of the browser's own protocol.
    pub async fn control(&self, command: &str, parameters: &Value) {
        self.post("/goog/cdp/execute", &json!({"cmd": command, "params": parameters})).await;
    }

    /// Runs a script and returns its result.
    pub async fn run(&self, script: &str) -> Value {
        self.post("/execute/sync", &json!({"script": script, "args": []})).await
    }

    /// Runs a script that returns its result by its last argument, a function.
    pub async fn run_async(&self, script: &str, arguments: &Value) -> Value {
        self.post("/execute/async", &json!({"script": script, "args": arguments})).await
    }

    /// Waits until a script answers `true`.
    pub async fn wait_for(&self, script: &str) {
        let began = Instant::now();
        while self.run(script).await != true {
            if began.elapsed() > PATIENCE {
                let (text, complaints) =
                    (self.run("return document.body.innerText").await, self.complaints().await);
                panic!("waited in vain for {script}; the page says {text}, the browser {complaints:?}");
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Clicks what is at `selector`, out from under the head of the page.
    pub async fn click(&self, selector: &str) {
        self.run(&format!("document.querySelector(\"{selector}\").scrollIntoView({{block: 'center'}})"))
            .await;
        let element = self.element(selector).await;
        self.post(&format!("/element/{element}/click"), &json!({})).await;
    }

    /// Clicks twice, as fast as a hand may.
    pub async fn double_click(&self, selector: &str) {
        self.run(&format!("document.querySelector(\"{selector}\").scrollIntoView({{block: 'center'}})"))
            .await;
        let element = self.element(selector).await;
        let click = ["pointerDown", "pointerUp"].map(|kind| json!({"type": kind, "button": 0}));
        let to = json!({"type": "pointerMove", "origin": {ELEMENT: element}, "x": 0, "y": 0});
        let mouse = json!({"type": "pointer", "id": "mouse", "actions": [to, click[0], click[1], click[0], click[1]]});
        self.post("/actions", &json!({"actions": [mouse]})).await;
    }

    /// The tab that is controlled.
    pub async fn tab(&self) -> String {
        let answer = self.http.get(format!("{}/window", self.session)).send().await.unwrap();
        let answer: Value = answer.json().await.unwrap();
        answer["value"].as_str().unwrap().to_owned()
    }

    /// Opens a tab and controls it.
    pub async fn open_tab(&self) -> String {
        let made = self.post("/window/new", &json!({"type": "tab"})).await;
        let tab = made["handle"].as_str().unwrap().to_owned();
        self.switch_to(&tab).await;
        tab
    }

    /// Controls another tab.
    pub async fn switch_to(&self, tab: &str) {
        self.post("/window", &json!({"handle": tab})).await;
    }

    pub async fn type_into(&self, selector: &str, text: &str) {
        let element = self.element(selector).await;
        self.post(&format!("/element/{element}/value"), &json!({"text": text})).await;
    }

    /// Waits for the element at `selector` and returns its text.
    pub async fn text_of(&self, selector: &str) -> String {
        self.wait_for(&format!("return document.querySelector(\"{selector}\") !== null")).await;
        let text = self.run(&format!("return document.querySelector(\"{selector}\").textContent")).await;
        text.as_str().unwrap().to_owned()
    }

    /// The addresses of all that the page has asked for.
    pub async fn requested(&self) -> Vec<String> {
        let mut urls = Vec::new();
        for entry in self.log("performance").await {
            let message: Value = serde_json::from_str(entry["message"].as_str().unwrap()).unwrap();
            let asked = &message["message"]["params"];
            // The browser's own first page asks for things too.
            let own = asked["documentURL"].as_str().is_some_and(|url| url.starts_with("chrome"));
            if message["message"]["method"] == "Network.requestWillBeSent" && !own {
                urls.push(asked["request"]["url"].as_str().unwrap().to_owned());
            }
        }
        assert!(urls.len() > 12, "the log of requests is there: {urls:?}");
        urls
    }

    /// Errors and warnings of the browser's console since they were asked for the last time: of scripts, of the content policy, and of
    /// what did not load.
    pub async fn complaints(&self) -> Vec<String> {
        let told = self.log("browser").await;
        let told = told.iter().filter(|entry| entry["level"] == "SEVERE" || entry["level"] == "WARNING");
        told.map(|entry| entry["message"].as_str().unwrap().to_owned()).collect()
    }

    /// Saves a picture of what the window shows.
    pub async fn save_screenshot(&self, file: &Path) {
        use base64::Engine as _;
        let url = format!("{}/screenshot", self.session);
        let answer: Value = self.http.get(url).send().await.unwrap().json().await.unwrap();
        let picture =
            base64::engine::general_purpose::STANDARD.decode(answer["value"].as_str().unwrap()).unwrap();
        std::fs::write(file, picture).unwrap();
    }

    /// Ends the browser, which has nothing to complain of but what is expected.
    pub async fn end(mut self, is_expected: impl Fn(&str) -> bool) {
        let complaints = self.complaints().await;
        let others: Vec<_> = complaints.iter().filter(|one| !is_expected(one)).collect();
        assert!(others.is_empty(), "{others:?}");
        self.was_looked_at = true;
        self.http.delete(&self.session).send().await.unwrap().error_for_status().unwrap();
    }

    /// Where the browser keeps what it writes.
    pub fn profile(&self) -> PathBuf {
        self.profile.path().to_owned()
    }

    async fn log(&self, kind: &str) -> Vec<Value> {
        self.post("/se/log", &json!({"type": kind})).await.as_array().unwrap().clone()
    }

    async fn element(&self, selector: &str) -> String {
        let found = self.post("/element", &json!({"using": "css selector", "value": selector})).await;
        found[ELEMENT].as_str().unwrap().to_owned()
    }

    /// A command of the driver on the session, such as `/back`.
    pub async fn post(&self, path: &str, body: &Value) -> Value {
        let url = format!("{}{path}", self.session);
        let answer = self.http.post(url).json(body).send().await.unwrap();
        let status = answer.status();
        let mut answer: Value = answer.json().await.unwrap();
        assert!(status.is_success(), "{path} {body}: {answer}");
        answer["value"].take()
    }
}

/// Starts the driver; answers its port, or nothing if it ended.
fn start_driver() -> Option<(Child, String)> {
    let name = std::env::var("CHROMEDRIVER").unwrap_or_else(|_| "chromedriver".to_owned());
    let mut driver = Command::new(&name)
        .args(["--port=0", "--log-level=WARNING"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("{name}: {error}; see scripts/test-docs-page"));
    let mut said = BufReader::new(driver.stdout.take().unwrap()).lines().map_while(Result::ok);
    let port = said
        .find_map(|line| Some(line.split("successfully on port ").nth(1)?.trim_end_matches('.').to_owned()));
    match port {
        Some(port) => Some((driver, port)),
        None => {
            driver.wait().unwrap();
            None
        }
    }
}

/// The processes of the browser with this profile, which all name it. One that has ended names nothing.
pub fn processes_of(profile: &Path) -> Vec<Pid> {
    let profile = profile.as_os_str().as_encoded_bytes();
    let names = |id: &Pid| {
        let words = std::fs::read(format!("/proc/{}/cmdline", id.as_raw_nonzero())).unwrap_or_default();
        words.windows(profile.len()).any(|window| window == profile)
    };
    let ids = std::fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    ids.filter_map(Pid::from_raw).filter(names).collect()
}

impl Drop for Browser {
    /// A driver that is killed, or told to stop by a signal, leaves its browser behind.
    fn drop(&mut self) {
        let _ = self.driver.kill();
        let _ = self.driver.wait();
        let began = Instant::now();
        loop {
            let left = processes_of(self.profile.path());
            if left.is_empty() || began.elapsed() > PATIENCE {
                break;
            }
            for process in left {
                // It may have ended meanwhile.
                let _ = kill_process(process, Signal::KILL);
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        assert!(
            self.was_looked_at || std::thread::panicking(),
            "a test that succeeds looks at what its browser complains of, by `end`"
        );
    }
}
