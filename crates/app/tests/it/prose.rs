//! Pages and sources use the terms of the glossary in `docs/STYLE.md`.

use std::path::Path;

use crate::pages::{ROOT, files, pages};

/// The style guide quotes the words that it replaces, and so does this test.
const EXCEPT: [&str; 3] = ["docs/STYLE.md", "crates/app/tests/it/prose.rs", "crates/adapter-http/site"];

/// Words of an earlier vocabulary, and the terms of the field.
const REPLACED: [(&str, &str); 10] = [
    ("audit trail", "audit log"),
    ("bank's front", "bank connector"),
    (" crew ", "thread pool"),
    ("free card", "unassigned card"),
    ("gives back", "refund, return"),
    ("head of a call", "request headers"),
    ("in the clear", "plaintext"),
    ("key of repeats", "idempotency key"),
    ("misbehav", "fault injection"),
    ("set aside", "reserve, hold"),
];

#[test]
fn pages_and_sources_use_the_terms_of_the_glossary() {
    let root = Path::new(ROOT);
    let mut paths = pages();
    paths.extend(["docs/openapi.json", "docs/bank-openapi.json"].map(|page| root.join(page)));
    paths.extend(files(&["rs", "py", "ts", "js"]));
    paths.retain(|path| !EXCEPT.iter().any(|except| path.starts_with(root.join(except))));
    let found: Vec<String> = paths.iter().flat_map(|path| replaced_words(path)).collect();
    assert!(found.is_empty(), "{found:#?}");
}

/// The words of a file that have a better term. A phrase may continue in the next line.
fn replaced_words(path: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(path).unwrap().to_lowercase().replace('_', " ");
    let words = text.split_whitespace().filter(|word| !["//", "///", "//!", "*", "#"].contains(word));
    let text = words.collect::<Vec<_>>().join(" ");
    let found = REPLACED.iter().filter(|(old, _)| text.contains(old));
    found.map(|(old, new)| format!("{}: {old:?}, say {new:?}", path.display())).collect()
}
