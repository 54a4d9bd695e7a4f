//! All pages of the repository: every link leads somewhere, and every path named exists.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

pub const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// The files of the repository with one of these extensions.
pub fn files(extensions: &[&str]) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![PathBuf::from(ROOT)];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            let built = ["target", "build", "dist", "node_modules", "__pycache__"].contains(&name);
            let ours = name == ".github" || !(name.starts_with('.') || built);
            if path.is_dir() && ours {
                folders.push(path);
            } else if path.extension().is_some_and(|kind| extensions.iter().any(|one| kind == *one)) {
                files.push(path);
            }
        }
    }
    assert!(files.len() > 80, "{files:?}");
    files
}

/// The pages of the repository.
pub fn pages() -> Vec<PathBuf> {
    files(&["md"])
}

/// The targets of the links of a page.
pub fn links(page: &str) -> impl Iterator<Item = &str> {
    let prose = page.split("\n```").step_by(2);
    prose.flat_map(|prose| prose.split("](").skip(1)).filter_map(|rest| Some(rest.split_once(')')?.0))
}

/// The anchors of a page: its headings, as GitHub and mdBook name them.
fn anchors(page: &str) -> BTreeSet<String> {
    let heading = |line: &'_ str| line.strip_prefix('#').map(|rest| anchor(rest.trim_start_matches('#')));
    page.lines().filter_map(heading).collect()
}

/// The anchor of a heading.
pub fn anchor(heading: &str) -> String {
    let heading = heading.trim().to_lowercase();
    let kept = heading.chars().filter(|sign| sign.is_alphanumeric() || matches!(sign, ' ' | '-' | '_'));
    kept.map(|sign| if sign == ' ' { '-' } else { sign }).collect()
}

/// A page that begins with a list of its chapters lists all of them.
#[test]
fn no_chapter_is_missing_in_the_contents() {
    let mut with_contents = 0;
    for path in pages() {
        let text = std::fs::read_to_string(&path).unwrap();
        let (head, chapters) = text.split_once("\n## ").unwrap_or_default();
        let listed: Vec<&str> =
            head.split("](#").skip(1).filter_map(|rest| Some(rest.split_once(')')?.0)).collect();
        if !head.contains(" ·\n") || listed.len() < 5 {
            continue;
        }
        with_contents += 1;
        for chapter in format!("\n## {chapters}").split("\n## ").skip(1) {
            let title = chapter.lines().next().unwrap();
            assert!(listed.contains(&&*anchor(title)), "{}: {title}", path.display());
        }
    }
    assert!(with_contents >= 2, "{with_contents}");
}

/// The tables of examples name every program of a client.
#[test]
fn every_example_of_a_client_is_in_the_guide() {
    let reference = std::fs::read_to_string(format!("{ROOT}/docs/guide/reference.md")).unwrap();
    for folder in ["crates/client/examples", "clients/python/examples", "clients/typescript/examples"] {
        for file in std::fs::read_dir(format!("{ROOT}/{folder}")).unwrap().map(Result::unwrap) {
            let name = file.file_name().into_string().unwrap();
            let is_program =
                file.path().extension().is_some_and(|kind| ["rs", "py", "ts"].iter().any(|one| kind == *one));
            assert!(!is_program || reference.contains(&format!("{folder}/{name}")), "{folder}/{name}");
        }
    }
}

#[test]
fn every_link_leads_somewhere() {
    let mut dead = Vec::new();
    for path in pages() {
        let text = std::fs::read_to_string(&path).unwrap();
        for link in links(&text).filter(|link| !link.contains("://")) {
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = if file.is_empty() { path.clone() } else { path.parent().unwrap().join(file) };
            let found = target.exists()
                && (anchor.is_empty()
                    || anchors(&std::fs::read_to_string(&target).unwrap()).contains(anchor));
            if !found {
                dead.push(format!("{}: {link}", path.display()));
            }
        }
    }
    assert!(dead.is_empty(), "{dead:#?}");
}

/// Paths begin at the root, at `crates`, at `tools` or at the folder of the page; up to `<` if they have a placeholder.
#[test]
fn every_path_exists() {
    // Made by an operator.
    const MADE: &str = "deploy/.env";
    let root = Path::new(ROOT);
    let mut starts: BTreeSet<String> =
        ["docs", "scripts", "deploy", "migrations", "clients", ".ci", ".github"]
            .iter()
            .chain(&["crates", "tools", "src", "tests", "examples"])
            .map(|&folder| folder.to_owned())
            .collect();
    for folder in ["crates", "tools"] {
        let entries = std::fs::read_dir(root.join(folder)).unwrap();
        starts.extend(entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()));
    }
    let mut missing = BTreeSet::new();
    for page in pages() {
        let text = std::fs::read_to_string(&page).unwrap();
        for word in text.split(|sign: char| !sign.is_alphanumeric() && !"_./<-".contains(sign)) {
            let path = word.split('<').next().unwrap_or(word).trim_end_matches(['.', '/']);
            let Some((start, _)) = path.split_once('/').filter(|(start, _)| starts.contains(*start)) else {
                continue;
            };
            let folders = [root, &root.join("crates"), &root.join("tools"), page.parent().unwrap()];
            if path != MADE && !folders.iter().any(|folder| folder.join(path).exists()) {
                missing.insert(format!("{}: {path} (of {start})", page.display()));
            }
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
}

#[test]
fn every_recipe_of_just_exists() {
    let justfile = std::fs::read_to_string(Path::new(ROOT).join("justfile")).unwrap();
    let heads = justfile.lines().filter(|line| line.starts_with(char::is_alphabetic));
    let recipes: BTreeSet<&str> =
        heads.filter_map(|line| line.split_once(':')?.0.split_whitespace().next()).collect();
    assert!(recipes.contains("serve") && recipes.contains("ci"), "{recipes:?}");
    for page in pages() {
        let text = std::fs::read_to_string(&page).unwrap();
        for rest in text.split("`just ").skip(1) {
            let recipe = rest.split(['`', ' ']).next().unwrap_or(rest);
            assert!(recipes.contains(recipe), "{}: just {recipe}", page.display());
        }
    }
}
