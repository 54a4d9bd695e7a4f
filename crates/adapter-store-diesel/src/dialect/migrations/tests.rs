//! The schema, and migrations of a database that has rows.

use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use diesel::result::{DatabaseErrorKind, Error};
use diesel::sql_types::Text;

use super::*;

const EMPLOYEE: &str = "
    INSERT INTO partners (id, name, login, api_key_hash, password_hash, status, sealing, created_at)
        VALUES (zeroblob(16), 'P', 'p', zeroblob(32), '', 'ACTIVE', 'optional', 0);
    INSERT INTO employees (partner_id, id, seq, custom_id, status, created_at, status_updated_at, search_text)
        VALUES (zeroblob(16), zeroblob(16), 1, 'E-1', 'WORK', 0, 0, 'e-1');";

#[derive(QueryableByName)]
struct Step {
    #[diesel(sql_type = Text)]
    opcode: String,
}

/// A new file with all migrations and an employee.
fn with_employee(folder: &tempfile::TempDir) -> AnyConnection {
    let url = format!("sqlite://{}/kopeck.db", folder.path().display());
    let mut connection = AnyConnection::open(&url, Access::Write).unwrap();
    migrate_on(&mut connection).unwrap();
    connection.batch_execute(EMPLOYEE).unwrap();
    connection
}

/// How many temporary tables SQLite makes to insert one row into `table`.
fn temporary_tables(connection: &mut AnyConnection, table: &str) -> usize {
    let statement = format!("EXPLAIN INSERT INTO {table} DEFAULT VALUES");
    let steps: Vec<Step> = diesel::sql_query(statement).load(connection).unwrap();
    assert!(steps.iter().any(|step| step.opcode == "IdxInsert"), "{table}");
    steps.iter().filter(|step| step.opcode == "OpenEphemeral").count()
}

#[test]
fn the_inserts_of_most_requests_make_no_temporary_table() {
    const TABLES: [&str; 3] = ["employees", "recorded_responses", "audit_entries"];
    let folder = tempfile::tempdir().unwrap();
    let mut connection = with_employee(&folder);
    assert_eq!(temporary_tables(&mut connection, "orders"), 2, "the steps show such tables");
    assert_eq!(TABLES.map(|table| temporary_tables(&mut connection, table)), [0, 0, 0]);

    let mut run = |statement: &str| diesel::sql_query(statement).execute(&mut connection);
    for word in ["WORK", "VACATION", "MEDICAL", "DONT_WORK"] {
        assert_eq!(run(&format!("UPDATE employees SET status = '{word}'")), Ok(1));
    }
    assert!(run("UPDATE employees SET status = 'SICK'").is_err());
    let mut entry = |number: u8, actor: &str, outcome: &str| {
        run(&format!(
            "INSERT INTO audit_entries (chain, number, hash, at, actor, source, action, subject, sealed, outcome)
                VALUES (1, {number}, zeroblob(32), 0, '{actor}', '', '', '', 0, '{outcome}')"
        ))
    };
    let outcomes = ["BEGUN", "DONE", "REPEATED", "REFUSED", "FAILED"];
    let actors = ["UNKNOWN", "PARTNER", "OPERATOR", "UNKNOWN", "UNKNOWN"];
    for (number, (outcome, actor)) in (1..).zip(outcomes.iter().zip(actors)) {
        assert_eq!(entry(number, actor, outcome), Ok(1));
    }
    assert!(entry(6, "ANYBODY", "DONE").is_err());
    assert!(entry(6, "PARTNER", "PERHAPS").is_err());
    assert!(entry(5, "PARTNER", "DONE").unwrap_err().to_string().contains("append-only"));
}

#[test]
fn a_migration_that_leaves_dangling_references_is_rolled_back() {
    let folder = tempfile::tempdir().unwrap();
    let mut connection = with_employee(&folder);
    let AnyConnection::Sqlite(sqlite) = &mut connection else { unreachable!("the URL is SQLite's") };
    let refused = sqlite::migrating(sqlite, |sqlite| {
        sqlite.batch_execute("DELETE FROM partners")?;
        Ok(vec!["0002_no_partners".to_owned()])
    });
    let said = refused.unwrap_err().to_string();
    assert_eq!(said, "cannot migrate the database: rows that would refer to nothing: 1");
    let deleted = diesel::sql_query("DELETE FROM partners").execute(&mut connection).unwrap_err();
    assert!(matches!(deleted, Error::DatabaseError(DatabaseErrorKind::ForeignKeyViolation, _)), "{deleted}");
}
