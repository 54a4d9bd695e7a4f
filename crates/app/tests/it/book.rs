//! The book in `docs/`, read as a newcomer reads it: every command is pasted, every example run.
//!
//! Each chapter of `docs/guide` is played from top to bottom. Its blocks say what they are there for:
//!
//! | fence | what it is |
//! |---|---|
//! | `sh` | pasted into the terminal of the chapter |
//! | `sh needs=python,node,cargo` | the same, where these tools are: `scripts/test-book` has them |
//! | `sh server` | runs on in a separate terminal; below it stands the start of its output |
//! | `text`, `json` behind `sh` | what was printed, errors too; `…` stands for anything within a line or for any lines |
//! | `text picture` | a drawing |
//! | `LANGUAGE file=PATH` | stands in that file, line for line |
//!
//! Any other block fails the test, and so does an `sh` that prints something and has nothing below it. Long JSON is
//! broken into lines. A chapter that starts no server has one on a stage, with a clock that stands still: HTML comments
//! move it, see `player`. Identifiers are those of the page, and so are the days and times of a real server.
//!
//! After a change rewrite the pages and look at the diff:
//!
//! ```sh
//! UPDATE_DOCS=1 cargo test --workspace --locked --test it -- book::chapter
//! ```

mod page;
mod player;
mod terminal;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::pages::links;

const DOCS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs");

fn page(name: &str) -> String {
    let path = Path::new(DOCS).join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Plays a chapter of the guide with the tools of `TEST_BOOK_TOOLS`, such as `python,node,cargo`.
fn play(name: &str) {
    let tools = std::env::var("TEST_BOOK_TOOLS").unwrap_or_default();
    let tools: Vec<String> = tools.split(',').map(str::to_owned).collect();
    let name = &format!("guide/{name}.md");
    let page = page(name);
    let played = player::play(&page, &tools);
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(Path::new(DOCS).join(name), &played).unwrap();
    } else if let Some(line) = page.lines().zip(played.lines()).position(|(page, played)| page != played) {
        let from = |text: &str| text.lines().skip(line).take(16).collect::<Vec<_>>().join("\n");
        panic!("docs/{name}:{}\n{}\n\nbut it is\n{}", line + 1, from(&page), from(&played));
    } else {
        assert!(page == played, "docs/{name} has not as many lines as the play");
    }
}

macro_rules! chapters {
    ($($test:ident = $name:literal),* $(,)?) => {
        const CHAPTERS: &[&str] = &[$($name),*];

        $(
            #[test]
            fn $test() {
                play($name);
            }
        )*
    };
}

chapters! {
    chapter_1_first_call = "first-call",
    chapter_2_sealing = "sealing",
    chapter_3_requests = "requests",
    chapter_4_retries = "retries",
    chapter_5_errors = "errors",
    chapter_6_events = "events",
    chapter_7_lost_card = "lost-card",
    chapter_8_leaver = "leaver",
    chapter_9_payday = "payday",
    chapter_10_month_end = "month-end",
    chapter_11_sandbox = "sandbox",
    chapter_12_who_may_do_what = "who-may-do-what",
    chapter_13_console = "console",
    chapter_14_console_first_day = "console-first-day",
    chapter_15_console_payday = "console-payday",
    chapter_16_console_month_end = "console-month-end",
    chapter_17_limits_of_use = "limits-of-use",
    chapter_18_firewall = "firewall",
    chapter_19_reference = "reference",
}

#[test]
fn every_chapter_is_played() {
    let files = std::fs::read_dir(Path::new(DOCS).join("guide")).unwrap();
    let names = files.map(|file| file.unwrap().path().file_stem().unwrap().to_str().unwrap().to_owned());
    assert_eq!(names.collect::<BTreeSet<_>>(), CHAPTERS.iter().map(|&name| name.to_owned()).collect());
}

#[test]
fn every_page_is_in_the_table_of_contents() {
    let summary = page("SUMMARY.md");
    let listed: BTreeSet<PathBuf> = links(&summary).map(PathBuf::from).collect();
    let mut there = BTreeSet::new();
    for folder in ["", "adr", "bank", "guide", "operations"] {
        for file in std::fs::read_dir(Path::new(DOCS).join(folder)).unwrap() {
            let path = file.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "md") {
                there.insert(Path::new(folder).join(path.file_name().unwrap()));
            }
        }
    }
    there.remove(Path::new("SUMMARY.md"));
    assert_eq!(listed, there);
    let index = page("adr/README.md");
    let indexed: BTreeSet<PathBuf> = links(&index).map(|link| Path::new("adr").join(link)).collect();
    there.retain(|path| path.starts_with("adr") && !path.ends_with("README.md"));
    assert_eq!(indexed, there, "docs/adr/README.md");
}

/// Checked without Python, Node or cargo.
#[test]
fn the_worked_example_is_one_of_the_known_vectors() {
    let vectors = include_str!("../../../sealing/tests/data/vectors.json");
    let vectors: Vec<serde_json::Value> = serde_json::from_str(vectors).unwrap();
    let vector = vectors.iter().find(|vector| vector["name"] == "login_body").unwrap();
    let chapter = page("guide/sealing.md");
    for name in ["header", "info", "key", "iv", "aad", "padded", "ciphertext_and_tag", "text"] {
        let value = vector[name].as_str().unwrap();
        assert!(chapter.contains(value), "{name}: {value}");
    }
}
