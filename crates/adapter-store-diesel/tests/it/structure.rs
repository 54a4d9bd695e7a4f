//! Rules of the crate's own structure.

use std::collections::{BTreeMap, BTreeSet};
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
    assert_eq!(
        apart,
        ["connection.rs", "dialect.rs", "dialect/due_jobs.rs", "dialect/migrations.rs", "statements.rs"]
    );
}

/// Both arms of `on_either!` are one statement; these are the files that need its speed on SQLite.
#[test]
fn few_files_run_a_statement_on_the_connection_within() {
    let look_ups =
        ["card_look_ups.rs", "employee_look_ups.rs", "idempotency.rs", "jobs.rs", "sealed_nonces.rs"];
    let look_ups = look_ups.map(|name| format!("repositories/{name}"));
    let others = ["audit_chain/marks.rs", "counters.rs", "dialect.rs", "encryption.rs"].map(str::to_owned);
    let all: Vec<String> = others.into_iter().chain(look_ups).chain(["statements.rs".to_owned()]).collect();
    assert_eq!(files_with("on_either!("), all);
}

/// The path of each source file, with its content, under the path of its module: `transaction::locks`.
fn modules() -> BTreeMap<String, String> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut all = Vec::new();
    files(&source, &mut all);
    let module = |path: PathBuf| {
        let name = path.strip_prefix(&source).unwrap().with_extension("").display().to_string();
        let name = name.strip_suffix("/mod").unwrap_or(&name).replace('/', "::");
        (name, std::fs::read_to_string(path).unwrap())
    };
    all.into_iter().map(module).filter(|(name, _)| name != "lib" && !name.ends_with("tests")).collect()
}

/// The module that a `use` line of the module `name` imports from, if it is one of ours.
fn imported<'a>(modules: &'a BTreeMap<String, String>, name: &str, line: &str) -> Option<&'a str> {
    let path = line.trim_start().split_once("use ")?.1;
    let parent = name.rsplit_once("::").map_or("", |(parent, _)| parent);
    let path = match path.split_once("::")? {
        ("crate", path) => path.to_owned(),
        ("super", path) => format!("{parent}::{path}"),
        ("self", path) => format!("{name}::{path}"),
        _ => format!("{name}::{path}"),
    };
    let is_within = |module: &&String| {
        path.strip_prefix(module.as_str()).is_some_and(|rest| rest.starts_with("::") || rest == ";")
    };
    let module = modules.keys().filter(is_within).max_by_key(|module| module.len())?;
    (module != name).then_some(module)
}

/// The modules that each module imports from.
fn imports(modules: &BTreeMap<String, String>) -> BTreeMap<&str, BTreeSet<&str>> {
    let of = |(name, content): (&String, &String)| {
        let code = content.split("#[cfg(test)]").next().unwrap_or_default();
        code.lines().filter_map(|line| imported(modules, name, line)).collect()
    };
    modules.iter().map(|module| (module.0.as_str(), of(module))).collect()
}

/// What can be reached from `module` by imports.
fn reached<'a>(imports: &BTreeMap<&'a str, BTreeSet<&'a str>>, module: &'a str) -> BTreeSet<&'a str> {
    let (mut reached, mut next) = (BTreeSet::new(), vec![module]);
    while let Some(module) = next.pop() {
        next.extend(imports[module].iter().filter(|module| reached.insert(**module)));
    }
    reached
}

#[test]
fn no_import_circle_has_more_than_three_files() {
    let modules = modules();
    let imports = imports(&modules);
    let reached: BTreeMap<&str, BTreeSet<&str>> =
        imports.keys().map(|module| (*module, reached(&imports, module))).collect();
    assert!(reached["plain"].contains("audit_chain::rows"), "imports are followed");
    let circle = |module: &str| {
        reached[module].iter().filter(|other| reached[*other].contains(module)).copied().collect()
    };
    let circles: BTreeSet<Vec<&str>> = imports.keys().map(|module| circle(module)).collect();
    let is_large = |circle: &&Vec<&str>| circle.len() > 3;
    let large: Vec<_> = circles.iter().filter(is_large).collect();
    assert!(large.is_empty(), "{large:?}");
}
