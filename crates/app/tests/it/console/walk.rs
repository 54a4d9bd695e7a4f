//! Every page of the console: those that its sources know, and those that links lead to from the first page of a role.
//!
//! A page that no link reaches, a form that no page has, and a link to a page that its reader may not see each fail a test.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::Path;

use kopeck_adapter_console::pattern;

use super::browser::Browser;

/// The console's sources.
const SOURCES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../adapter-console/src");

/// A path of the console: its segments, `None` for one that is a name of something.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Route {
    pub is_form: bool,
    segments: Vec<Option<String>>,
}

/// What a walk has found.
#[derive(Default)]
pub struct Walk {
    /// The paths of pages, each with its query.
    pub pages: BTreeSet<String>,
    /// The paths that forms are sent to.
    pub forms: BTreeSet<String>,
}

impl Route {
    /// Whether a path, perhaps with a query, is one of this route's.
    pub fn is_of(&self, path: &str) -> bool {
        let path = path.split('?').next().unwrap();
        let found: Vec<&str> = path.split('/').filter(|segment| !segment.is_empty()).collect();
        let fits =
            |(known, found): (&Option<String>, &&str)| known.as_deref().is_none_or(|known| known == *found);
        found.len() == self.segments.len() && self.segments.iter().zip(&found).all(fits)
    }
}

/// The routes of the console's sources: the patterns `(false, [...])` of pages, and `(true, [...])` of forms.
pub fn routes() -> BTreeSet<Route> {
    let mut found = BTreeSet::new();
    let mut folders = VecDeque::from([Path::new(SOURCES).to_path_buf()]);
    while let Some(folder) = folders.pop_front() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push_back(path);
            } else {
                let text = std::fs::read_to_string(path).unwrap();
                for (is_form, opening) in [(false, "(false, ["), (true, "(true, [")] {
                    for pattern in text.split(opening).skip(1) {
                        found.extend(expand(is_form, pattern.split("])").next().unwrap()));
                    }
                }
            }
        }
    }
    assert!(found.len() > 30, "the sources have routes: {found:?}");
    found
}

/// The routes of a pattern: `"a" | "b"` and `name @ ("a" | "b")` are two.
fn expand(is_form: bool, pattern: &str) -> Vec<Route> {
    let mut routes = vec![Route { is_form, segments: Vec::new() }];
    for element in pattern.split(',').map(str::trim).filter(|element| !element.is_empty()) {
        let words: Vec<Option<String>> = if element.contains('"') {
            element.split('"').skip(1).step_by(2).map(|word| Some(word.to_owned())).collect()
        } else {
            let is_name = element.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
            assert!(is_name, "{element} of [{pattern}] is no name and no word");
            vec![None]
        };
        let longer = |route: &Route| {
            let with = |word: &Option<String>| Route {
                segments: [&route.segments[..], std::slice::from_ref(word)].concat(),
                is_form,
            };
            words.iter().map(with).collect::<Vec<_>>()
        };
        routes = routes.iter().flat_map(longer).collect();
    }
    routes
}

/// The log has the words of a path, and nothing that a client has sent.
#[test]
fn the_log_names_a_page_by_the_words_of_its_path() {
    for route in routes() {
        let with = |name: &str| {
            let segments = route.segments.iter().map(|word| word.as_deref().unwrap_or(name));
            segments.fold(String::new(), |path, segment| path + "/" + segment)
        };
        assert_eq!(pattern(&with("Иванов")), with("{}"), "name its words in adapter-console/src/pattern.rs");
    }
    assert_eq!((pattern("/"), pattern("/a/b/c/d/e/f")), (String::new(), "/{}/{}/{}/{}/{}".to_owned()));
}

/// Follows all links from the first page and from `more`, pages that only a form leads to. Of pages that differ in names and values
/// alone it looks at `most`. Parts of pages, which the script asks for, count as pages.
pub fn walk(browser: &mut Browser<'_>, most: usize, more: &[String]) -> Walk {
    let (mut found, mut kinds) = (Walk::default(), BTreeMap::<String, usize>::new());
    let mut waiting: VecDeque<String> = ["/".to_owned()].into_iter().chain(more.iter().cloned()).collect();
    while let Some(path) = waiting.pop_front() {
        let seen = kinds.entry(kind(&path)).or_default();
        if *seen == most || !found.pages.insert(path.clone()) {
            continue;
        }
        *seen += 1;
        let page = browser.get(&path);
        assert_eq!(page.status, 200, "{} has a link to {path}: {}", browser.login, page.text);
        if !page.header("content-type").is_some_and(|media| media.starts_with("text/html")) {
            continue;
        }
        assert!(!page.text.contains(super::planted::RAW), "{path}: {}", page.text);
        for (before, target) in targets(&page.text) {
            if before.ends_with("method=\"post\" action") || before.ends_with(" formaction") {
                found.forms.insert(target);
            } else if !["/console.css", "/icon.svg", "/console.js"].contains(&&*target) {
                waiting.push_back(target);
            }
        }
    }
    found
}

/// The paths of the console in attributes, and the text up to the attribute's value.
fn targets(html: &str) -> impl Iterator<Item = (&str, String)> {
    html.match_indices("=\"/console").map(|(at, start)| {
        let target = &html[at + start.len()..];
        let target = target[..target.find('"').unwrap()].replace("&#38;", "&");
        let target = target.split('#').next().unwrap();
        (&html[..at], if target.is_empty() { "/".to_owned() } else { target.to_owned() })
    })
}

/// The path without names and values.
fn kind(path: &str) -> String {
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    let is_name = |segment: &str| segment.bytes().any(|byte| byte.is_ascii_digit());
    let segments = path.split('/').map(|segment| if is_name(segment) { "{}" } else { segment });
    let names = query.split('&').filter_map(|pair| pair.split('=').next());
    format!("{}?{}", segments.collect::<Vec<_>>().join("/"), names.collect::<Vec<_>>().join("&"))
}
