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
        let modules: BTreeMap<String, &String> =
            files.filter(|(name, _)| name != "lib" && !name.ends_with("tests")).collect();
        let imports = modules.iter().map(|(name, content)| {
            let code = content.split("#[cfg(test)]").next().unwrap_or_default();
            let imported = code.lines().filter_map(|line| imported(modules.keys(), name, line));
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

    /// The modules that import each other in a circle of more than `files` files.
    #[must_use]
    pub fn circles_of_more_than(&self, files: usize) -> BTreeSet<Vec<&str>> {
        let reached: BTreeMap<&str, BTreeSet<&str>> =
            self.0.keys().map(|module| (module.as_str(), self.reached(module))).collect();
        let mut circles = BTreeSet::new();
        for (module, others) in &reached {
            let leads_back =
                |other: &&str| reached.get(other).is_some_and(|reached| reached.contains(module));
            let circle: Vec<&str> = others.iter().copied().filter(leads_back).collect();
            if circle.len() > files {
                circles.insert(circle);
            }
        }
        circles
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

/// The module that a `use` line of the module `name` imports from, if it is one of `modules`.
fn imported<'a>(modules: impl Iterator<Item = &'a String>, name: &str, line: &str) -> Option<&'a String> {
    let path = line.trim_start().split_once("use ")?.1;
    let parent = name.rsplit_once("::").map_or("", |(parent, _)| parent);
    let path = match path.split_once("::")? {
        ("crate", path) => path.to_owned(),
        ("super", path) if parent.is_empty() => path.to_owned(),
        ("super", path) => format!("{parent}::{path}"),
        _ => format!("{name}::{}", path.trim_start_matches("self::")),
    };
    let path = path.trim_end_matches(';');
    let module = modules.filter(|module| is_within(path, module)).max_by_key(|module| module.len())?;
    (module != name).then_some(module)
}
