//! What users and contributors read is in the words of the field, as `docs/STYLE.md` lists them.

use std::path::Path;

use crate::pages::{ROOT, pages};

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
    let mut found = Vec::new();
    for page in &pages {
        let text = std::fs::read_to_string(page).unwrap().to_lowercase();
        // A turn may go on in the next line.
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        for (old, new) in REPLACED {
            for (place, _) in text.match_indices(old) {
                let around: String = text[..place].chars().rev().take(30).collect();
                let around: String = around.chars().rev().collect();
                found.push(format!("{}: …{around}{old}…: say {new:?}", page.display()));
            }
        }
    }
    assert!(found.is_empty(), "{found:#?}");
}
