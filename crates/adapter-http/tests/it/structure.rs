//! Rules of the crate's own structure.

use kopeck_test_support::SourceTree;

#[test]
fn imports_go_one_way() {
    let source = SourceTree::read(env!("CARGO_MANIFEST_DIR")).unwrap();
    let imports = source.imports();
    assert!(imports.reached("server").contains("pipeline::head"), "imports are followed");
    let layers =
        [("pipeline", &["server", "docs_page"][..]), ("operations", &["server", "docs_page", "pipeline"])];
    for (layer, above) in layers {
        for module in imports.modules_in(layer) {
            let reached = imports.reached(module);
            let is_above = |other: &&&str| above.contains(&other.split("::").next().unwrap());
            assert_eq!(reached.iter().find(is_above), None, "{module}");
        }
    }
}
