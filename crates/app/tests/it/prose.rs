//! What users and contributors read, sources included, is in the words of the field, as `docs/STYLE.md` lists them.

use std::path::{Path, PathBuf};

use crate::pages::{ROOT, files, pages};

/// Decisions tell how it was, the style guide quotes, and the index has the titles of decisions.
const EXCEPT: [&str; 4] = ["docs/adr", "docs/STYLE.md", "docs/SUMMARY.md", "crates/adapter-http/site"];

/// Private words and turns, and what is said in their place.
const REPLACED: [(&str, &str); 23] = [
    ("so far goes", "audit chain head"),
    ("tells of itself", "operations endpoint"),
    ("says so in words", "message"),
    ("whole again", "reset"),
    ("not asked yet", "not checked"),
    ("answers exactly as", "gets the same response as"),
    ("is told", "gets, is sent"),
    ("is asked", "is queried"),
    ("as far as there are such", "where they exist"),
    ("reckon with", "plan for"),
    ("head of a call", "request headers"),
    ("key of repeats", "idempotency key"),
    ("free card", "unassigned card"),
    ("in the clear", "plaintext"),
    ("set free", "release"),
    ("gives back", "refund, return"),
    (" crew ", "thread pool"),
    ("bank's front", "bank connector"),
    ("misbehav", "fault injection"),
    ("set aside", "reserve, hold"),
    ("nobody", "name the subject"),
    ("somebody", "name the subject"),
    ("whoever", "name the subject"),
];

/// Words that code needs as names, and prose does not.
const REPLACED_IN_PROSE: [(&str, &str); 9] = [
    ("answer", "response"),
    ("moment", "timestamp, time"),
    (" told", "gets, reports"),
    (" trail ", "audit log"),
    ("breach", "discrepancy"),
    (" figure", "metric, value"),
    ("given back", "refunded, released"),
    ("put off", "postponed"),
    (" anew", "again"),
];

#[test]
fn pages_are_in_the_words_of_the_field() {
    let root = Path::new(ROOT);
    let mut pages = pages();
    pages.retain(|page| !EXCEPT.iter().any(|except| page.starts_with(root.join(except))));
    pages.extend(["docs/openapi.json", "docs/bank-openapi.json"].map(|page| root.join(page)));
    assert_words(&pages, &REPLACED);
}

#[test]
fn prose_is_in_the_words_of_the_field() {
    let root = Path::new(ROOT);
    let mut pages = pages();
    pages.retain(|page| !EXCEPT.iter().any(|except| page.starts_with(root.join(except))));
    let mut found = Vec::new();
    for page in pages {
        let text = prose(&std::fs::read_to_string(&page).unwrap()).to_lowercase();
        find_words(&page, &text, &REPLACED_IN_PROSE, &mut found);
    }
    // NIST's word for stolen passwords.
    found.retain(|found| !found.contains("collections of breach"));
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn code_is_no_prose() {
    let page = "One `answer` and\n```text\na moment\n```\ntwo `told`.";
    assert_eq!(prose(page), "One and two .");
}

/// The help of commands is made of comments, log lines of literals. Names of tests are prose too.
#[test]
fn sources_are_in_the_words_of_the_field() {
    let root = Path::new(ROOT);
    let mut sources = files(&["rs", "py", "ts", "js"]);
    sources.retain(|source| {
        *source != root.join("crates/app/tests/it/prose.rs")
            && !source.starts_with(root.join("crates/adapter-http/site"))
    });
    assert_words(&sources, &REPLACED);
}

/// A page without its blocks and spans of code.
fn prose(page: &str) -> String {
    let blocks = format!("\n{page}");
    let outside: String = blocks.split("\n```").step_by(2).map(|part| format!("{part}\n")).collect();
    let spans = outside.split('`').step_by(2);
    spans.flat_map(str::split_whitespace).collect::<Vec<_>>().join(" ")
}

fn assert_words(files: &[PathBuf], replaced: &[(&str, &str)]) {
    let mut found = Vec::new();
    for file in files {
        // The spreadsheet library's name for a row that stays in view.
        let text = std::fs::read_to_string(file).unwrap().replace("set_freeze_panes", "");
        let text = text.to_lowercase().replace('_', " ");
        // A turn may go on in the next line.
        let words = text.split_whitespace().filter(|word| !["//", "///", "//!", "*", "#"].contains(word));
        let text = words.collect::<Vec<_>>().join(" ");
        find_words(file, &text, replaced, &mut found);
    }
    assert!(found.is_empty(), "{found:#?}");
}

fn find_words(file: &Path, text: &str, replaced: &[(&str, &str)], found: &mut Vec<String>) {
    for (old, new) in replaced {
        for (place, _) in text.match_indices(old) {
            let around: String = text[..place].chars().rev().take(30).collect();
            let around: String = around.chars().rev().collect();
            found.push(format!("{}: …{around}{old}…: say {new:?}", file.display()));
        }
    }
}
