//! What users and contributors read is in the words of the field, as `docs/STYLE.md` lists them.

use std::path::Path;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// Pages, and folders of pages.
const PAGES: [&str; 12] = [
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "SECURITY.md",
    "docs",
    "docs/guide",
    "docs/operations",
    "docs/openapi.json",
    "docs/bank-openapi.json",
    "migrations/README.md",
    "clients/python/README.md",
    "clients/typescript/README.md",
];

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
    let mut pages = Vec::new();
    for page in PAGES.map(|page| Path::new(ROOT).join(page)) {
        if page.is_dir() {
            let entries = std::fs::read_dir(&page).unwrap().map(|entry| entry.unwrap().path());
            pages.extend(entries.filter(|path| path.extension().is_some_and(|kind| kind == "md")));
        } else {
            pages.push(page);
        }
    }
    assert!(pages.len() > 30, "{pages:?}");
    // Two pages quote them: the style guide, and the index with the titles of decisions.
    pages.retain(|page| !page.ends_with("docs/STYLE.md") && !page.ends_with("docs/SUMMARY.md"));
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
