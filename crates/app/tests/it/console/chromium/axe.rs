//! Every page of every role by the rules of axe-core, in both languages, in light and dark, at 390 and 1,920 pixels.

use std::cell::RefCell;
use std::collections::BTreeSet;

use kopeck_domain::access::Role;
use serde_json::json;

use super::{Screen, Tour, is_refusal};
use crate::console::browser::{Browser as Plain, between};
use crate::console::money::carry_out;
use crate::console::planted;
use crate::console::walk::walk;
use crate::server::TestServer;

/// Checks the page by rules: what offends them or cannot be told, and the number of rules that were held against something of the page.
const CHECK: &str = "
    const [runOnly, done] = arguments;
    const told = one => one.id + ': ' + one.nodes.map(node => node.html).join(' | ');
    axe.run(document, { preload: false, resultTypes: ['violations', 'incomplete'], runOnly }).then(
        found => done([[...found.violations, ...found.incomplete].map(told), found.passes.length]),
        error => done([[String(error)], 0]));
";

/// Gives the focus to each stop of the keyboard, one after the other. One that does not show it is reported.
const FOCUS_EACH: &str = "
    const stops = [...document.querySelectorAll('a[href], button, input, select, textarea, [tabindex=\"0\"]')];
    for (const one of stops) one.focus({ focusVisible: true, preventScroll: true });";

/// Offends the content policy, throws, and hides a focus.
const OFFEND: &str = "
    document.body.insertAdjacentHTML('beforeend', '<p style=\"color: red\">planted</p><button>planted</button>');
    const button = document.body.lastElementChild;
    button.style.outline = 'none';
    button.focus({ focusVisible: true });
    setTimeout(() => { throw new Error('planted'); });";

/// A size of the window, and a colour scheme.
type Look = (u32, &'static str);

/// The looks of each page by language. No page is wider than any of them; the rules are held against the last one. What a rule says depends
/// on the language, on the scheme, or on the width, and every page is held against the rules by each of these.
const LOOKS: [(&str, [Look; 2]); 2] =
    [("en", [(390, "light"), (1_920, "light")]), ("ru", [(1_920, "dark"), (390, "dark")])];

/// The rules of WCAG 2.2 AA, and axe's own best practices.
const RULES: [&str; 6] = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

impl Screen {
    /// Checks the page that is shown, and tells the number of axe's rules; returns what offends them.
    async fn check(&self, name: &str, looks: &[Look]) -> Vec<String> {
        let mut faults = Vec::new();
        for (width, scheme) in looks {
            self.look(*width, scheme).await;
            let wide =
                self.browser.run("return document.documentElement.scrollWidth - window.innerWidth").await;
            if wide.as_i64().unwrap() > 0 {
                faults.push(format!("{name} is {wide} too wide at {width}"));
            }
            self.picture(&format!("{}-{width}-{scheme}", name.replace('/', "-"))).await;
        }
        let found = self.browser.run_async(CHECK, &json!([RULES])).await;
        let broken = found[0].as_array().unwrap().iter();
        faults.extend(broken.map(|rule| format!("{name}: {}", rule.as_str().unwrap())));
        eprintln!("axe: {name}: {} rules kept, {} broken", found[1], faults.len());
        faults
    }
}

/// A page to look at, and who does.
struct Seen {
    path: String,
    role: Role,
    /// Whether no other role has seen one like it.
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
            if !page.text.starts_with("<!doctype html>") {
                continue;
            }
            let is_new = shapes.insert((name_of(&path), shape(&page.text)));
            if is_new || is_first {
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
    let pages = pages(&server);
    let [english, russian] = LOOKS.map(|looks| look_at(&server, &pages, looks));
    let ((tour, faults), (other, more)) = tokio::join!(english, russian);
    carry_out(&server);
    let faults = [faults, more].concat();
    assert!(faults.is_empty(), "{faults:#?}");
    other.end().await;
    offences_are_heard(tour).await;
}

/// Looks at all pages in a language; returns the browser, and what offends the rules.
async fn look_at<'s>(
    server: &'s TestServer,
    pages: &Pages<'s>,
    (language, looks): (&str, [Look; 2]),
) -> (Tour<'s>, Vec<String>) {
    let tour = Tour::start(server).await;
    tour.browser.control("Page.addScriptToEvaluateOnNewDocument", &json!({"source": pages.axe})).await;
    tour.speak(language).await;
    tour.open("/login").await;
    let (mut checked, mut faults) = (0, tour.check(&format!("{language}-login"), &looks).await);
    for (role, plain) in &pages.sessions {
        tour.become_user(plain).await;
        // What another role sees otherwise in one language.
        let is_seen = |page: &&Seen| page.role == *role && (page.is_first || language == "ru");
        for page in pages.all.iter().filter(is_seen) {
            tour.open(&page.path).await;
            let shown = tour.browser.run("return document.documentElement.lang").await;
            assert_eq!(shown, language, "{}", page.path);
            if language == "en" {
                tour.browser.run(FOCUS_EACH).await;
            }
            let role = if page.is_first { String::new() } else { format!("-{role}") };
            let name = format!("{language}{role}{}", name_of(&page.path));
            faults.extend(tour.check(&name, &looks).await);
            checked += 1;
        }
    }
    eprintln!("axe: {checked} pages in {language}, at {looks:?}, {} rules broken", faults.len());
    (tour, faults)
}

/// A path without identifiers, as a part of the name of a file.
fn name_of(path: &str) -> String {
    let segments = path.split('/').map(|segment| if segment.len() == 36 { "one" } else { segment });
    segments.collect::<Vec<_>>().join("-").replace(['?', '=', '&'], "_")
}

/// Whatever would fail a test is noticed. Ends the browser.
async fn offences_are_heard(tour: Tour<'_>) {
    tour.browser.run(OFFEND).await;
    // A task later, which is when it throws.
    tour.browser.run_async("setTimeout(arguments[0])", &json!([])).await;
    let heard = RefCell::new(Vec::new());
    tour.screen
        .end(|one| {
            heard.borrow_mut().push(one.to_owned());
            true
        })
        .await;
    let heard: Vec<_> = heard.into_inner().into_iter().filter(|one| !is_refusal(one)).collect();
    let offences = ["Content Security Policy", "Error: planted", "shows no focus"];
    let is_heard = |offence: &&str| heard.iter().any(|one| one.contains(offence));
    assert!(heard.len() == offences.len() && offences.iter().all(is_heard), "these and no others: {heard:?}");
}
