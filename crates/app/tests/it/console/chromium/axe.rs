//! Every page of every role by the rules of axe-core, in both languages, in light and dark, at 390 and 1,920 pixels.

use std::collections::BTreeSet;

use kopeck_domain::access::Role;
use serde_json::{Value, json};

use super::{Screen, Tour};
use crate::console::browser::{Browser as Plain, between};
use crate::console::money::carry_out;
use crate::console::planted;
use crate::console::walk::walk;
use crate::server::TestServer;

/// Checks the page by rules: what offends them or cannot be told, and the number of rules that were held against something of the page.
const CHECK: &str = "
    const [runOnly, done] = arguments;
    axe.run(document, { preload: false, resultTypes: ['violations'], runOnly })
        .then(found => done([
            found.violations.map(one => one.id + ': ' + one.nodes.map(node => node.html).join(' | ')), found.passes.length]),
            error => done([[String(error)], 0]));
";

/// Gives the focus to each stop of the keyboard, one after the other; answers how many there are.
const FOCUS_EACH: &str = "
    const stops = [...document.querySelectorAll('a[href], button, input, select, textarea, [tabindex=\"0\"]')];
    for (const one of stops) one.focus({ focusVisible: true, preventScroll: true });
    return stops.length";

/// Offends the content policy, throws, and hides a focus.
const OFFEND: &str = "
    document.body.insertAdjacentHTML('beforeend', '<p style=\"color: red\">planted</p><button>planted</button>');
    const button = document.body.lastElementChild;
    button.style.outline = 'none';
    button.focus({ focusVisible: true });
    setTimeout(() => { throw new Error('planted'); });";

/// A size of the window, and a colour scheme.
type Look = (u32, &'static str);

/// All looks of a page.
const LOOKS: [Look; 3] = [(390, "light"), (1_920, "light"), (390, "dark")];

/// The rules of WCAG 2.2 AA, and axe's own best practices. Between light and dark only the colours differ.
fn rules(scheme: &str) -> Value {
    if scheme == "dark" {
        return json!({"type": "rule", "values": ["color-contrast", "link-in-text-block"]});
    }
    json!({"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]})
}

impl Screen {
    /// Checks the page that is shown by these looks, and tells the numbers of axe's rules; returns what offends them.
    async fn check(&self, name: &str, looks: &[Look]) -> Vec<String> {
        let (mut numbers, mut faults) = (Vec::new(), Vec::new());
        assert!(self.browser.run(FOCUS_EACH).await.as_u64() > Some(1), "{name} has no stops");
        for (width, scheme) in looks {
            self.look(*width, scheme).await;
            let wide =
                self.browser.run("return document.documentElement.scrollWidth - window.innerWidth").await;
            if wide.as_i64().unwrap() > 0 {
                faults.push(format!("{name} is {wide} too wide at {width}"));
            }
            let found = self.browser.run_async(CHECK, &json!([rules(scheme)])).await;
            let broken = found[0].as_array().unwrap().iter();
            faults.extend(
                broken.map(|rule| format!("{name} at {width}, {scheme}: {}", rule.as_str().unwrap())),
            );
            numbers.push(found[1].as_u64().unwrap());
            self.picture(&format!("{}-{width}-{scheme}", name.replace('/', "-"))).await;
        }
        eprintln!("axe: {name}: {numbers:?} rules kept at {looks:?}, {} broken", faults.len());
        faults
    }
}

/// A page to look at, and who does.
struct Seen {
    path: String,
    role: Role,
    /// By all looks; otherwise another role has seen a page that has more on it.
    is_first: bool,
}

/// What there is to look at.
struct Pages<'s> {
    all: Vec<Seen>,
    sessions: Vec<(Role, Plain<'s>)>,
    axe: String,
}

/// The pages of all roles that links lead to, each by the first role that has it, and by others who see it otherwise; and the users'
/// sessions.
fn pages(server: &TestServer) -> Pages<'_> {
    let (partner, running) = planted::world(server);
    let (mut all, mut sessions, mut shapes) = (Vec::<Seen>::new(), Vec::new(), BTreeSet::new());
    for role in [Role::Owner, Role::Operator, Role::Hr, Role::Finance, Role::Auditor] {
        let of = (role != Role::Operator).then_some(&partner);
        let mut browser = Plain::of_new(server, of, role);
        let more = if role == Role::Owner {
            [planted::behind_forms(&mut browser), vec![running.clone()]].concat()
        } else {
            Vec::new()
        };
        let is_first = [Role::Owner, Role::Operator].contains(&role);
        for path in walk(&mut browser, 1, &more).pages {
            let page = browser.get(&path);
            let is_new = page.text.starts_with("<!doctype html>") && shapes.insert(shape(&page.text));
            if is_new {
                all.push(Seen { path, role, is_first });
            }
        }
        all.push(Seen { path: "/nowhere".to_owned(), role, is_first });
        sessions.push((role, browser));
    }
    let axe = std::fs::read_to_string(std::env::var("AXE").expect("the path of axe.min.js")).unwrap();
    Pages { all, sessions, axe }
}

/// What is on a page: the elements of its heart, with no names and no values.
fn shape(page: &str) -> String {
    let heart = between(page, "<main", "</main>");
    let elements = heart.split('<').skip(1).map(|element| element.split([' ', '>']).next().unwrap());
    elements.filter(|element| !element.starts_with('/')).collect::<Vec<_>>().join(" ")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs Chromium, its driver and axe-core: scripts/test-console"]
async fn every_page_is_accessible_and_keeps_its_policy() {
    let server = TestServer::start();
    let began = std::time::Instant::now();
    let pages = pages(&server);
    eprintln!("TIME pages {:?}", began.elapsed());
    let (english, russian) = tokio::join!(look_at(&server, &pages, "en"), look_at(&server, &pages, "ru"));
    eprintln!("TIME looked {:?}", began.elapsed());
    let (tour, faults) = english;
    assert!(faults.is_empty(), "{faults:#?}");
    let (other, faults) = russian;
    assert!(faults.is_empty(), "{faults:#?}");
    other.end().await;
    carry_out(&server);
    offences_are_heard(&tour).await;
    tour.end().await;
}

/// Looks at all pages in a language; returns the browser, and what offends the rules.
async fn look_at<'s>(server: &'s TestServer, pages: &Pages<'s>, language: &str) -> (Tour<'s>, Vec<String>) {
    let tour = Tour::start(server).await;
    tour.browser.control("Page.addScriptToEvaluateOnNewDocument", &json!({"source": pages.axe})).await;
    tour.speak(language).await;
    tour.open("/login").await;
    let (mut checked, mut faults) = (0, tour.check(&format!("{language}-login"), &LOOKS).await);
    for (role, plain) in &pages.sessions {
        tour.become_user(plain).await;
        for page in pages.all.iter().filter(|page| page.role == *role) {
            if !page.is_first && language != "en" {
                continue;
            }
            tour.open(&page.path).await;
            let shown = tour.browser.run("return document.documentElement.lang").await;
            assert_eq!(shown, language, "{}", page.path);
            let looks = if page.is_first { &LOOKS[..] } else { &LOOKS[..1] };
            faults.extend(tour.check(&name_of(language, page), looks).await);
            checked += 1;
        }
    }
    eprintln!("axe: {checked} pages in {language}, {} rules broken", faults.len());
    (tour, faults)
}

/// Without names and values, as a name of a file.
fn name_of(language: &str, page: &Seen) -> String {
    let segments = page.path.split('/').map(|segment| if segment.len() == 36 { "one" } else { segment });
    let path = segments.collect::<Vec<_>>().join("-").replace(['?', '=', '&'], "_");
    if page.is_first {
        format!("{language}{path}")
    } else {
        format!("{language}-{}{path}", page.role.as_str())
    }
}

/// Whatever would fail a test is noticed.
async fn offences_are_heard(tour: &Tour<'_>) {
    assert_eq!(
        tour.browser.complaints().await.iter().filter(|one| !super::is_refusal(one)).collect::<Vec<_>>(),
        Vec::<&String>::new()
    );
    tour.browser.run(OFFEND).await;
    tour.browser.wait_for("return document.title !== ''").await;
    let heard = tour.browser.complaints().await;
    for offence in ["Content Security Policy", "Error: planted", "shows no focus"] {
        assert!(heard.iter().any(|one| one.contains(offence)), "{offence}: {heard:?}");
    }
    assert_eq!(heard.len(), 3, "{heard:?}");
}
