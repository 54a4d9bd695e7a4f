//! The direction of dependencies and the form of crates, read from cargo itself.

use std::collections::{BTreeMap, BTreeSet};

use cargo_metadata::{DependencyKind, MetadataCommand, Package};
use kopeck_test_support::SourceTree;

/// Which of our crates each of our crates may use, tests aside.
const ALLOWED: &[(&str, &[&str])] = &[
    ("domain", &[]),
    ("api", &["domain"]),
    ("sealing", &[]),
    ("fair-queue", &[]),
    ("audit", &["domain"]),
    ("tables", &["domain"]),
    ("port-system", &[]),
    ("port-webhook", &[]),
    ("port-security", &["domain"]),
    ("port-store", &["domain", "audit"]),
    ("port-bank", &["domain"]),
    ("bank-protocol", &["domain", "port-bank"]),
    ("service", &["domain", "audit", "port-system", "port-security", "port-store", "port-bank"]),
    ("adapter-security", &["domain", "audit", "port-security", "port-store", "port-system"]),
    ("adapter-system", &["audit", "port-bank", "port-store", "port-system"]),
    ("adapter-store-diesel", &["domain", "audit", "port-store", "port-system"]),
    ("adapter-bank-simulator", &["domain", "port-bank", "port-system", "bank-protocol"]),
    ("adapter-bank-http", &["domain", "port-bank", "port-system", "bank-protocol"]),
    ("adapter-webhook", &["port-webhook"]),
    (
        "adapter-http",
        &[
            "domain",
            "api",
            "audit",
            "fair-queue",
            "sealing",
            "service",
            "tables",
            "port-system",
            "port-security",
            "port-store",
            "port-bank",
            "port-webhook",
        ],
    ),
    (
        "adapter-console",
        &[
            "domain",
            "api",
            "audit",
            "sealing",
            "service",
            "tables",
            "port-security",
            "port-store",
            "port-bank",
        ],
    ),
    (
        "adapter-workers",
        &["domain", "api", "audit", "sealing", "service", "port-store", "port-system", "port-webhook"],
    ),
    ("bank-check", &["domain", "port-bank", "port-system", "bank-protocol", "adapter-bank-http"]),
    ("client", &["api", "sealing"]),
    ("command-line", &["client", "sealing"]),
    ("demo", &["client"]),
    ("test-support", &["domain", "port-bank", "port-system"]),
    (
        "bench",
        &[
            "domain",
            "sealing",
            "client",
            "port-system",
            "port-security",
            "bank-protocol",
            "adapter-security",
            "test-support",
        ],
    ),
    (
        "chaos",
        &[
            "domain",
            "client",
            "port-system",
            "port-bank",
            "adapter-bank-http",
            "adapter-bank-simulator",
            "test-support",
        ],
    ),
    (
        "simulation",
        &[
            "domain",
            "service",
            "port-system",
            "port-store",
            "port-bank",
            "adapter-store-diesel",
            "test-support",
        ],
    ),
];

/// The permitted dependencies of crates without I/O.
const PURE: &[(&str, &[&str])] = &[
    (
        "domain",
        &[
            "time",
            "uuid",
            "thiserror",
            "email_address",
            "ipnet",
            "serde",
            "unicode-general-category",
            "unicode-normalization",
        ],
    ),
    ("api", &["kopeck-domain", "serde", "serde_json", "time", "uuid"]),
    ("audit", &["kopeck-domain", "sha2", "time"]),
    ("fair-queue", &["tokio"]),
    (
        "sealing",
        &[
            "chacha20poly1305",
            "chacha20",
            "poly1305",
            "hkdf",
            "hmac",
            "sha2",
            "base64",
            "zeroize",
            "thiserror",
        ],
    ),
];

#[test]
fn dependencies_point_inwards() {
    let graph = graph();
    let allowed: BTreeMap<&str, BTreeSet<&str>> =
        ALLOWED.iter().map(|(name, uses)| (*name, uses.iter().copied().collect())).collect();
    for (name, uses) in &graph {
        let ours: BTreeSet<&str> =
            uses.iter().filter_map(|dependency| dependency.strip_prefix("kopeck-")).collect();
        if name == "kopeck" {
            continue; // the one that sees everything
        }
        let short = name.strip_prefix("kopeck-").unwrap_or(name);
        let may = allowed.get(short).unwrap_or_else(|| panic!("{name} has no row in the table"));
        assert!(ours.is_subset(may), "{name} uses {:?}", ours.difference(may).collect::<Vec<_>>());
    }
    assert_eq!(graph.len(), ALLOWED.len() + 1, "every crate has a row, and every row a crate");
}

#[test]
fn the_inmost_crates_stand_on_nothing_that_does_io() {
    let graph = graph();
    for (name, allowed) in PURE {
        for dependency in &graph[&format!("kopeck-{name}")] {
            assert!(allowed.contains(&dependency.as_str()), "{name} uses {dependency}");
        }
    }
}

#[test]
fn every_crate_has_a_readme_which_is_its_documentation() {
    for package in packages() {
        let folder = package.manifest_path.parent().unwrap();
        let readme = std::fs::read_to_string(folder.join("README.md")).unwrap_or_default();
        assert_eq!(readme.lines().next(), Some(format!("# {}", package.name).as_str()), "{folder}/README.md");
        assert!(readme.lines().count() >= 3, "{folder}/README.md says nothing");
        let roots = ["src/lib.rs", "src/main.rs"].map(|root| folder.join(root));
        let root = roots.iter().find(|root| root.exists()).unwrap();
        let source = std::fs::read_to_string(root).unwrap();
        assert!(source.starts_with("#![doc = include_str!(\"../README.md\")]\n"), "{root}");
    }
}

/// A module that lists those below it aside.
#[test]
fn no_import_circle_of_any_crate_has_more_than_three_files() {
    for package in packages() {
        let folder = package.manifest_path.parent().unwrap();
        let circles = SourceTree::read(folder.as_str()).unwrap().imports().circles_of_more_than(3);
        assert!(circles.is_empty(), "{}: {circles:?}", package.name);
    }
}

/// Every crate of the workspace with what it uses outside of its tests.
fn graph() -> BTreeMap<String, BTreeSet<String>> {
    packages()
        .iter()
        .map(|package| {
            let normal =
                package.dependencies.iter().filter(|dependency| dependency.kind == DependencyKind::Normal);
            (package.name.to_string(), normal.map(|dependency| dependency.name.clone()).collect())
        })
        .collect()
}

/// Every crate of the workspace.
fn packages() -> Vec<Package> {
    let metadata = MetadataCommand::new()
        .manifest_path(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"))
        .no_deps()
        .other_options(vec!["--offline".to_owned()])
        .exec()
        .expect("cargo metadata");
    metadata.packages
}

/// See ADR 25: actix-http needs h2 0.3, which has RUSTSEC-2026-0258, and gives the number of streams no limit.
#[test]
fn http_2_is_not_compiled_in() {
    let lock = include_str!("../../../../Cargo.lock");
    assert!(lock.contains("name = \"actix-http\""));
    assert!(!lock.lines().any(|line| line == "name = \"h2\""), "Cargo.lock has h2");
}
