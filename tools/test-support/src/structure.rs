//! The source files of a crate and their imports, for tests of a crate's structure.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;

/// The source files of a crate by their path below `src`: `transaction/locks.rs`.
pub struct SourceTree(BTreeMap<String, String>);

/// The modules that each module imports from by `use`, under paths such as `transaction::locks`; tests aside.
pub struct Imports(BTreeMap<String, BTreeSet<String>>);

impl SourceTree {
    /// Reads the crate with this manifest folder.
    ///
    /// # Errors
    /// If a file cannot be read.
    pub fn read(manifest_folder: &str) -> io::Result<Self> {
        let mut files = BTreeMap::new();
        add_files(&Path::new(manifest_folder).join("src"), "", &mut files)?;
        Ok(Self(files))
    }

    /// The files that contain `text`, comments aside.
    #[must_use]
    pub fn files_with(&self, text: &str) -> Vec<&str> {
        let has_text = |line: &str| !line.trim_start().starts_with("//") && line.contains(text);
        let files = self.0.iter().filter(|(_, content)| content.lines().any(has_text));
        files.map(|(path, _)| path.as_str()).collect()
    }

    /// The imports of its modules.
    #[must_use]
    pub fn imports(&self) -> Imports {
        let files =
            self.0.iter().map(|(path, content)| (path.trim_end_matches(".rs").replace('/', "::"), content));
        let modules: BTreeMap<String, &String> = files
            .filter(|(name, _)| !matches!(&**name, "lib" | "main") && !name.ends_with("tests"))
            .collect();
        let imports = modules.iter().map(|(name, content)| {
            let paths = paths(content);
            let imported = paths.iter().filter_map(|path| imported(modules.keys(), name, path));
            (name.clone(), imported.cloned().collect())
        });
        Imports(imports.collect())
    }
}

impl Imports {
    /// The modules that `module` imports, directly or not.
    #[must_use]
    pub fn reached<'a>(&'a self, module: &'a str) -> BTreeSet<&'a str> {
        let (mut reached, mut next) = (BTreeSet::new(), vec![module]);
        while let Some(module) = next.pop() {
            let imported = self.0.get(module).into_iter().flatten();
            next.extend(imported.map(String::as_str).filter(|module| reached.insert(*module)));
        }
        reached
    }

    /// The modules that import each other in a circle of more than `files` files. A module and those below it may do so as
    /// far as it only lists these.
    #[must_use]
    pub fn circles_of_more_than(&self, files: usize) -> BTreeSet<Vec<String>> {
        let reached: BTreeMap<&str, BTreeSet<&str>> =
            self.0.keys().map(|module| (module.as_str(), self.reached(module))).collect();
        let mut circles = BTreeSet::new();
        for (module, others) in &reached {
            let leads_back =
                |other: &&str| reached.get(other).is_some_and(|reached| reached.contains(module));
            let circle: BTreeSet<&str> = others.iter().copied().filter(leads_back).collect();
            if circle.len() <= files {
                continue;
            }
            match circle.iter().find(|parent| circle.iter().all(|module| is_within(module, parent))) {
                Some(parent) => circles.extend(self.below(parent, &circle).circles_of_more_than(files)),
                None => {
                    circles.insert(circle.into_iter().map(str::to_owned).collect());
                }
            }
        }
        circles
    }

    /// The imports within `circle`, but for those of `parent`.
    fn below(&self, parent: &str, circle: &BTreeSet<&str>) -> Self {
        let modules =
            self.0.iter().filter(|(module, _)| circle.contains(module.as_str()) && *module != parent);
        let among = |imports: &BTreeSet<String>| {
            imports.iter().filter(|other| circle.contains(other.as_str())).cloned().collect()
        };
        Self(modules.map(|(module, imports)| (module.clone(), among(imports))).collect())
    }

    /// The modules in `group` or below it.
    pub fn modules_in<'a>(&'a self, group: &'a str) -> impl Iterator<Item = &'a str> {
        let modules = self.0.keys().map(String::as_str);
        modules.filter(move |module| is_within(module, group))
    }
}

/// Whether `module` is `group` or lies below it.
fn is_within(module: &str, group: &str) -> bool {
    module.strip_prefix(group).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
}

fn add_files(folder: &Path, prefix: &str, files: &mut BTreeMap<String, String>) -> io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if path.is_dir() {
            add_files(&path, &format!("{prefix}{name}/"), files)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.insert(format!("{prefix}{name}"), std::fs::read_to_string(&path)?);
        }
    }
    Ok(())
}

/// The paths in a source, tests and comments aside: those of `use`, and others that begin with `crate` or `super`.
fn paths(source: &str) -> Vec<String> {
    let code = source.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let code: Vec<&str> = code.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
    let code = code.join("\n");
    let mut paths = Vec::new();
    for statement in code.split(';') {
        if let Some((_, path)) = statement.rsplit_once("use ") {
            expand(path, &mut paths);
        }
    }
    let is_of_path = |c: char| c.is_alphanumeric() || matches!(c, '_' | ':');
    for (start, _) in ["crate::", "super::"].iter().flat_map(|root| code.match_indices(root)) {
        let (before, from) = code.split_at(start);
        if !before.ends_with(is_of_path) {
            paths.push(from.split(|c| !is_of_path(c)).next().unwrap_or_default().to_owned());
        }
    }
    paths
}

/// Adds `a::{b, c::d}` as `a::b` and `a::c::d`.
fn expand(path: &str, into: &mut Vec<String>) {
    let Some((before, group)) = path.split_once('{') else {
        return into.push(path.split_whitespace().next().unwrap_or_default().to_owned());
    };
    let group = group.rsplit_once('}').map_or(group, |(group, _)| group);
    let mut depth = 0;
    let ends = |c: char| {
        depth += i32::from(c == '{') - i32::from(c == '}');
        c == ',' && depth == 0
    };
    group.split(ends).for_each(|item| expand(&format!("{}{}", before.trim(), item.trim()), into));
}

/// The module that `path` in the module `name` leads to, if it is another one of `modules`.
fn imported<'a>(modules: impl Iterator<Item = &'a String>, name: &str, path: &str) -> Option<&'a String> {
    let (mut start, mut path) = (name, path.strip_prefix("self::").unwrap_or(path));
    if let Some(rest) = path.strip_prefix("crate::") {
        (start, path) = ("", rest);
    }
    while let Some(rest) = path.strip_prefix("super::") {
        (start, path) = (start.rsplit_once("::").map_or("", |(parent, _)| parent), rest);
    }
    let path = if start.is_empty() { path.to_owned() } else { format!("{start}::{path}") };
    let module = modules.filter(|module| is_within(&path, module)).max_by_key(|module| module.len())?;
    (module != name).then_some(module)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn circles(files: &[(&str, &str)]) -> BTreeSet<Vec<String>> {
        let files = files.iter().map(|(path, code)| ((*path).to_owned(), (*code).to_owned())).collect();
        SourceTree(files).imports().circles_of_more_than(3)
    }

    #[test]
    fn a_circle_is_found_by_every_way_of_importing() {
        let ring = [
            ("a.rs", "use crate::{\n    b::{B, c::C},\n    x,\n};"),
            ("b.rs", "mod c;\npub(crate) use c::C;"),
            ("b/c.rs", "fn f() -> super::super::d::D {}"),
            ("d.rs", "use std::fmt;\nuse super::a as first;"),
        ];
        let found = ["a", "b", "b::c", "d"].map(str::to_owned).to_vec();
        assert_eq!(circles(&ring), BTreeSet::from([found]));
        assert_eq!(circles(&ring[..3]), BTreeSet::new());
        let in_tests =
            [&ring[..3], &[("d.rs", "// use crate::a;\n#[cfg(test)]\nmod tests {\n    use crate::a;")]];
        assert_eq!(circles(&in_tests.concat()), BTreeSet::new());
    }

    #[test]
    fn a_module_may_list_those_below_it() {
        let list = [
            ("a.rs", "pub use b::B;\npub use c::C;\npub use d::D;"),
            ("a/b.rs", "use super::A;"),
            ("a/c.rs", "use super::A;"),
            ("a/d.rs", "use super::A;"),
        ];
        assert_eq!(circles(&list), BTreeSet::new());
        let mut among = list.to_vec();
        among.push(("a/e.rs", "use super::b;"));
        for (file, code) in [(1, "use super::c;"), (2, "use super::d;"), (3, "use super::e;")] {
            among[file].1 = code;
        }
        among[0].1 = "pub use b::B;";
        among.push(("a/f.rs", "use super::A;"));
        among[1].1 = "use super::{c, f};";
        let found = ["a::b", "a::c", "a::d", "a::e"].map(str::to_owned).to_vec();
        assert_eq!(circles(&among), BTreeSet::from([found]));
    }
}
