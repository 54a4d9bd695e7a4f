//! What users and contributors read, sources included, is in the words of the field, as `docs/STYLE.md` lists them.

use std::path::{Path, PathBuf};

use crate::pages::{ROOT, files, pages};

/// Decisions tell how it was, the style guide quotes, and the index has the titles of decisions.
const EXCEPT: [&str; 4] = ["docs/adr", "docs/STYLE.md", "docs/SUMMARY.md", "crates/adapter-http/site"];

/// Private words and turns, and what is said in their place.
const REPLACED: [(&str, &str); 19] = [
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
    ("bank's front", "bank connector"),
    ("misbehav", "fault injection"),
    ("set aside", "reserve, hold"),
    ("nobody", "name the subject"),
    ("somebody", "name the subject"),
    ("whoever", "name the subject"),
];

#[test]
fn pages_are_in_the_words_of_the_field() {
    let root = Path::new(ROOT);
    let mut pages = pages();
    pages.retain(|page| !EXCEPT.iter().any(|except| page.starts_with(root.join(except))));
    pages.extend(["docs/openapi.json", "docs/bank-openapi.json"].map(|page| root.join(page)));
    assert_words(&pages);
}

/// The help of commands is made of comments, log lines of literals.
#[test]
fn sources_are_in_the_words_of_the_field() {
    let root = Path::new(ROOT);
    let mut sources = files(&["rs", "py", "ts"]);
    sources.retain(|source| {
        let inside = source.strip_prefix(root).unwrap();
        let is_test = inside
            .components()
            .any(|part| ["tests", "tests.rs"].iter().any(|name| part.as_os_str() == *name));
        (inside.starts_with("crates") || inside.starts_with("clients")) && !is_test
    });
    assert_words(&sources);
}

fn assert_words(files: &[PathBuf]) {
    let mut found = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(file).unwrap().to_lowercase();
        // A turn may go on in the next line.
        let words = text.split_whitespace().filter(|word| !["//", "///", "//!", "*", "#"].contains(word));
        let text = words.collect::<Vec<_>>().join(" ");
        for (old, new) in REPLACED {
            for (place, _) in text.match_indices(old) {
                let around: String = text[..place].chars().rev().take(30).collect();
                let around: String = around.chars().rev().collect();
                found.push(format!("{}: …{around}{old}…: say {new:?}", file.display()));
            }
        }
    }
    assert!(found.is_empty(), "{found:#?}");
}
