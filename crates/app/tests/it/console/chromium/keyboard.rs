//! The keyboard: a stop is reached by Tab, values are typed, arrows choose, Space ticks, and Enter sends and follows.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};

use super::Screen;

const ENTER: &str = "\u{e007}";
const CONTROL: &str = "\u{e009}";
const SHIFT: &str = "\u{e008}";
const TAB: &str = "\u{e004}";
const UP: &str = "\u{e013}";
const DOWN: &str = "\u{e015}";

/// How far the wanted stop is from the one that has the focus, in presses of Tab; `null` if there is none.
const WAY: &str = "
    const shown = one => one.getClientRects().length > 0 && !one.disabled;
    const stops = [...document.querySelectorAll(
        'a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex=\"0\"]')].filter(shown);
    const at = stops.indexOf([...document.querySelectorAll(WANTED)].find(shown));
    return at < 0 ? null : at - stops.indexOf(document.activeElement)";

/// Whether the wanted stop has the focus, shows it, and stands in the window.
const ARRIVED: &str = "
    const one = document.activeElement;
    const { top, bottom } = one.getBoundingClientRect();
    return one.matches(WANTED) && one.matches(':focus-visible') && getComputedStyle(one).outlineStyle !== 'none'
        && bottom > 0 && top < innerHeight";

/// The most stops within controls between two others.
const INNER_STOPS: usize = 6;

/// What a person fills in: the name of a field and its value.
pub type Values<'v> = &'v [(&'v str, &'v str)];

impl Screen {
    /// Presses keys one after the other, while `held` is down.
    pub async fn press(&self, held: Option<&str>, keys: &[&str]) {
        let key = |kind: &str, key: &str| json!({"type": kind, "value": key});
        let down = held.iter().map(|held| key("keyDown", held));
        let each = keys.iter().flat_map(|one| [key("keyDown", one), key("keyUp", one)]);
        let up = held.iter().map(|held| key("keyUp", held));
        let actions: Vec<Value> = down.chain(each).chain(up).collect();
        let keyboard = json!({"type": "key", "id": "keyboard", "actions": actions});
        self.browser.post("/actions", &json!({"actions": [keyboard]})).await;
    }

    /// Moves the focus to the first stop that is at `selector`.
    pub async fn focus(&self, selector: &str) {
        let wanted = json!(selector).to_string();
        let way = self.browser.run(&WAY.replace("WANTED", &wanted)).await;
        let way = way.as_i64().unwrap_or_else(|| panic!("the keyboard has no stop at {selector}"));
        let held = (way < 0).then_some(SHIFT);
        if way != 0 {
            self.press(held, &vec![TAB; usize::try_from(way.unsigned_abs()).unwrap()]).await;
        }
        let arrived = ARRIVED.replace("WANTED", &wanted);
        // Some controls, such as the one of a month, have stops within.
        for _ in 0..INNER_STOPS {
            if self.browser.run(&arrived).await == true {
                return;
            }
            self.press(held, &[TAB]).await;
        }
        panic!("{way} presses of Tab and some more do not lead to {selector}, or it shows no focus");
    }

    /// Fills in a form. A value of a checkbox is that of one which is ticked; of a file it is the path.
    pub async fn fill(&self, action: &str, values: Values<'_>) {
        for (name, value) in values {
            let ticked = format!("[type=checkbox][value={}]", json!(value));
            let selector =
                format!("form[action='/console{action}'] [name={name}]:is(:not([type=checkbox]), {ticked})");
            self.focus(&selector).await;
            let state = self
                .browser
                .run("return [document.activeElement.type, document.activeElement.checked]")
                .await;
            match state[0].as_str().unwrap() {
                "checkbox" if state[1] == true => {}
                "checkbox" => self.press(None, &[" "]).await,
                // The month by its number, then the year.
                "month" => {
                    let (year, month) = value.split_once('-').unwrap();
                    self.write(&format!("{month}{year}")).await;
                    assert_eq!(self.browser.run("return document.activeElement.value").await, *value);
                }
                "select-one" => self.choose(value).await,
                // The dialog in which people choose it is no part of the page.
                "file" => self.browser.type_into(&selector, value).await,
                _ => {
                    self.press(Some(CONTROL), &["a"]).await;
                    self.write(value).await;
                }
            }
        }
    }

    /// Types a text, a line in two by Enter.
    async fn write(&self, text: &str) {
        let keys: Vec<String> =
            text.chars().map(|key| if key == '\n' { ENTER.to_owned() } else { key.to_string() }).collect();
        self.press(None, &keys.iter().map(String::as_str).collect::<Vec<_>>()).await;
    }

    /// Chooses an option of the list that has the focus.
    async fn choose(&self, value: &str) {
        let way = format!(
            "const {{ options, selectedIndex }} = document.activeElement;
            const at = [...options].findIndex(one => one.value === {});
            return at < 0 ? null : at - selectedIndex",
            json!(value)
        );
        let way =
            self.browser.run(&way).await.as_i64().unwrap_or_else(|| panic!("there is no option {value}"));
        let arrow = if way < 0 { UP } else { DOWN };
        self.press(None, &vec![arrow; usize::try_from(way.unsigned_abs()).unwrap()]).await;
        assert_eq!(self.browser.run("return document.activeElement.value").await, value);
    }

    /// Fills in a form and sends it.
    pub async fn send(&self, action: &str, values: Values<'_>) {
        self.fill(action, values).await;
        // Two forms of a page may have one address.
        let has = values.last().map(|(name, _)| format!(":has([name={name}])")).unwrap_or_default();
        self.focus(&format!("form[action='/console{action}']{has} button")).await;
        self.enter().await;
    }

    /// Fills in a form and sends it, goes back and does the same again if the form is still there; then looks at what the first
    /// time has led to.
    pub async fn send_and_go_back(&self, action: &str, values: Values<'_>) {
        self.send(action, values).await;
        let first = self.browser.run("return location.href").await;
        self.browser.post("/back", &json!({})).await;
        let form = format!("form[action='/console{action}'][method=post]");
        let form = format!("return document.querySelector(\"{form}\") !== null");
        if self.browser.run(&form).await == true {
            self.send(action, values).await;
        }
        self.browser.open(first.as_str().unwrap()).await;
    }

    /// Follows a link by its address.
    pub async fn follow(&self, path: &str) {
        self.focus(&format!("a[href='/console{path}']")).await;
        self.enter().await;
    }

    /// Follows a link to a file, which the browser saves into `folder`; returns what is in it.
    pub async fn save(&self, path: &str, folder: &Path) -> Vec<u8> {
        // Beside what is on its way.
        let is_whole = |file: &PathBuf| {
            let name = file.file_name().unwrap().to_str().unwrap();
            !name.starts_with('.') && !name.ends_with(".crdownload")
        };
        let saved = || -> BTreeSet<PathBuf> {
            let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
            files.filter(is_whole).collect()
        };
        let before = saved();
        self.focus(&format!("a[href='/console{path}']")).await;
        self.press(None, &[ENTER]).await;
        for _ in 0..500 {
            if let Some(file) = saved().difference(&before).next() {
                return std::fs::read(file).unwrap();
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        panic!("{path} was not saved");
    }

    /// Presses Enter, and waits for the page that comes.
    pub async fn enter(&self) {
        self.browser.run("window.isOld = true").await;
        self.press(None, &[ENTER]).await;
        self.browser
            .wait_for("return window.isOld === undefined && document.readyState === 'complete'")
            .await;
    }

    /// Waits until the page says all of this.
    pub async fn sees(&self, texts: &[&str]) {
        for text in texts {
            let wanted = json!(text);
            self.browser.wait_for(&format!("return document.body.innerText.includes({wanted})")).await;
        }
    }

    /// The path of the page below the console's, without its query.
    pub async fn path(&self) -> String {
        let path = self.browser.run("return location.pathname").await;
        path.as_str().unwrap().trim_start_matches("/console").to_owned()
    }
}
