//! Rules of the crate's own structure.

use kopeck_test_support::SourceTree;

fn source() -> SourceTree {
    SourceTree::read(env!("CARGO_MANIFEST_DIR")).unwrap()
}

/// The plain store stands without the batched one.
#[test]
fn plain_code_does_not_import_batched_code() {
    assert_eq!(source().files_with("crate::batched"), ["kind.rs"]);
    assert_eq!(source().files_with("mod batched"), ["lib.rs"]);
}

/// Errors travel as values.
#[test]
fn no_variable_is_local_to_a_thread() {
    assert_eq!(source().files_with("thread_local!"), [""; 0]);
}

/// Code that differs between databases stands in few files.
#[test]
fn few_files_tell_the_databases_apart() {
    let source = source();
    let apart = source.files_with("AnyConnection::Postgres(");
    let expected = [
        "connection.rs",
        "dialect.rs",
        "dialect/due_jobs.rs",
        "dialect/migrations.rs",
        "statements.rs",
        "testing/memory_store.rs",
    ];
    assert_eq!(apart, expected);
}

/// Both arms of `on_either!` are one statement; these are the files that need its speed on SQLite.
#[test]
fn few_files_run_a_statement_on_the_connection_within() {
    assert_eq!(source().files_with("on_either!("), ["repositories/jobs.rs", "statements.rs"]);
}
