//! Rules of the crate's own structure.

use std::path::{Path, PathBuf};

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// Names of the source files that contain `text`, without comments.
fn files_with(text: &str) -> Vec<String> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut all = Vec::new();
    files(&source, &mut all);
    let contains = |path: &PathBuf| {
        let content = std::fs::read_to_string(path).unwrap();
        content.lines().any(|line| !line.trim_start().starts_with("//") && line.contains(text))
    };
    let mut names: Vec<String> = all
        .iter()
        .filter(|path| contains(path))
        .map(|path| path.strip_prefix(&source).unwrap().display().to_string())
        .collect();
    names.sort();
    names
}

/// The plain store stands without the batched one.
#[test]
fn plain_code_does_not_import_batched_code() {
    assert_eq!(files_with("crate::batched"), ["kind.rs"]);
    assert_eq!(files_with("mod batched"), ["lib.rs"]);
}

/// Errors travel as values.
#[test]
fn nothing_is_local_to_a_thread() {
    assert_eq!(files_with("thread_local!"), [""; 0]);
}

/// Code that differs between databases stands in few files.
#[test]
fn few_files_tell_the_databases_apart() {
    let apart = files_with("AnyConnection::Postgres(");
    assert_eq!(apart, ["bulk.rs", "dialect.rs", "repositories/audit.rs"]);
}
