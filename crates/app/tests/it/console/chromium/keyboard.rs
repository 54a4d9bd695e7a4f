//! The keyboard: a stop is reached by Tab, values are typed, Space ticks, and Enter sends and follows.

use serde_json::{Value, json};

use super::Tour;

const ENTER: &str = "\u{e007}";
const CONTROL: &str = "\u{e009}";
const SHIFT: &str = "\u{e008}";
const TAB: &str = "\u{e004}";
const HOME: &str = "\u{e011}";
const DOWN: &str = "\u{e015}";

/// How far the wanted stop is from the one that has the focus, in presses of Tab; `null` if there is none.
const WAY: &str = "
    const shown = one => one.getClientRects().length > 0 && !one.disabled;
    const stops = [...document.querySelectorAll(
        'a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex=\"0\"]')].filter(shown);
    const at = stops.indexOf([...document.querySelectorAll(WANTED)].find(shown));
    return at < 0 ? null : at - stops.indexOf(document.activeElement)";

/// Whether the wanted stop has the focus, and shows it.
const ARRIVED: &str = "
    const one = document.activeElement;
    return one.matches(WANTED) && getComputedStyle(one).outlineStyle !== 'none'";

/// The most stops within controls between two others.
const INNER_STOPS: usize = 6;

/// What a person fills in: the name of a field and its value.
pub type Values<'v> = &'v [(&'v str, &'v str)];

impl Tour<'_> {
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

    /// Fills in a form.
    pub async fn fill(&self, action: &str, values: Values<'_>) {
        for (name, value) in values {
            let selector = format!("form[action='/console{action}'] [name={name}]");
            self.focus(&selector).await;
            let kind = self.browser.run("return document.activeElement.type").await;
            match kind.as_str().unwrap() {
                "checkbox" if self.browser.run("return document.activeElement.checked").await == true => {}
                "checkbox" => self.press(None, &[" "]).await,
                // The month by its number, then the year.
                "month" => {
                    let (year, month) = value.split_once('-').unwrap();
                    let digits: Vec<String> = format!("{month}{year}").chars().map(String::from).collect();
                    self.press(None, &digits.iter().map(String::as_str).collect::<Vec<_>>()).await;
                    assert_eq!(self.browser.run("return document.activeElement.value").await, *value);
                }
                "select-one" => self.choose(value).await,
                _ => {
                    self.press(Some(CONTROL), &["a"]).await;
                    self.browser.control("Input.insertText", &json!({"text": value})).await;
                }
            }
        }
    }

    /// Chooses an option of the list that has the focus.
    async fn choose(&self, value: &str) {
        let place = format!(
            "return [...document.activeElement.options].findIndex(one => one.value === {})",
            json!(value)
        );
        let place =
            self.browser.run(&place).await.as_u64().unwrap_or_else(|| panic!("there is no option {value}"));
        self.press(None, &[HOME]).await;
        self.press(None, &vec![DOWN; usize::try_from(place).unwrap()]).await;
        assert_eq!(self.browser.run("return document.activeElement.value").await, value);
    }

    /// Fills in a form and sends it.
    pub async fn send(&self, action: &str, values: Values<'_>) {
        self.fill(action, values).await;
        self.focus(&format!("form[action='/console{action}'] button")).await;
        self.enter().await;
    }

    /// Fills in a form and sends it, goes back and does the same again if the form is still there; then looks at what the first
    /// time has led to.
    pub async fn send_and_go_back(&self, action: &str, values: Values<'_>) {
        self.send(action, values).await;
        let first = self.browser.run("return location.href").await;
        self.browser.post("/back", &json!({})).await;
        let form = format!("return document.querySelector(\"form[action='/console{action}']\") !== null");
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
