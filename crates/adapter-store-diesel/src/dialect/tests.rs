//! Migrations of a database that has rows.

use diesel::result::DatabaseErrorKind;
use diesel::sql_types::Text;

use super::*;

/// An employee with a card, as a database of before has them.
const HOLDER: &str = "
    INSERT INTO partners (id, name, login, api_key_hash, password_hash, status, sealing, created_at)
        VALUES (zeroblob(16), 'P', 'p', zeroblob(32), '', 'ACTIVE', 'optional', 0);
    INSERT INTO employees (partner_id, id, seq, custom_id, status, created_at, status_updated_at, search_text)
        VALUES (zeroblob(16), zeroblob(16), 1, 'E-1', 'WORK', 0, 0, 'e-1');
    INSERT INTO orders (partner_id, id, seq, kind, card_type, cards, cost, state, created_at, state_since)
        VALUES (zeroblob(16), zeroblob(16), 1, 'PLASTIC', 'KKL', 1, 0, 'CONFIRMED', 0, 0);
    INSERT INTO cards (partner_id, id, seq, number, kind, order_id, ordinal, valid_until, employee_id, link_status,
            balance, can_to_up, standing, seen_at, account_value, account_updated_at, spending_limit)
        VALUES (zeroblob(16), zeroblob(16), 1, 1, 'KKL', zeroblob(16), 0, 0, zeroblob(16), 'MAIN',
            0, 0, 'OPEN', 0, 0, 0, 'UNLIMITED');";
/// The last migration that makes tables anew.
const ANEW: &str = "0012_ascending_keys";

#[derive(QueryableByName)]
struct Step {
    #[diesel(sql_type = Text)]
    opcode: String,
}

/// A new file with all migrations that come before that one, and this in it.
fn before_it(folder: &tempfile::TempDir, rows: &str) -> AnyConnection {
    let url = format!("sqlite://{}/kopeck.db", folder.path().display());
    let mut connection = connect(&url, Access::Write).unwrap();
    let AnyConnection::Sqlite(sqlite) = &mut connection else { unreachable!("the URL is SQLite's") };
    let mut migrations = sqlite.pending_migrations(SQLITE_MIGRATIONS).unwrap();
    migrations.sort_unstable_by_key(|migration| migration.name().to_string());
    for migration in &migrations {
        if migration.name().to_string() == ANEW {
            break;
        }
        sqlite.run_migration(migration).unwrap();
    }
    sqlite.batch_execute(rows).unwrap();
    connection
}

#[test]
fn a_table_that_is_made_anew_keeps_its_rows_and_who_refers_to_them() {
    let folder = tempfile::tempdir().unwrap();
    let mut connection = before_it(&folder, HOLDER);
    assert_eq!(migrate(&mut connection).unwrap()[0], ANEW);
    let mut affected = |statement: &str| diesel::sql_query(statement).execute(&mut connection);
    let linked = "UPDATE cards SET balance = 1 WHERE (partner_id, employee_id) IN
        (SELECT partner_id, id FROM employees WHERE seq = 1 AND custom_id = 'E-1' AND surname IS NULL)";
    assert_eq!(affected(linked), Ok(1));
    let refused = affected("DELETE FROM employees").unwrap_err();
    assert!(matches!(refused, Error::DatabaseError(DatabaseErrorKind::ForeignKeyViolation, _)), "{refused}");
    assert_eq!(affected("UPDATE cards SET employee_id = NULL, link_status = NULL"), Ok(1));
    assert_eq!(affected("DELETE FROM employees"), Ok(1));
}

/// How many tables SQLite puts up to insert one row into `table`.
fn tables_besides(connection: &mut AnyConnection, table: &str) -> usize {
    let statement = format!("EXPLAIN INSERT INTO {table} DEFAULT VALUES");
    let steps: Vec<Step> = diesel::sql_query(statement).load(connection).unwrap();
    assert!(steps.iter().any(|step| step.opcode == "IdxInsert"), "{table}");
    steps.iter().filter(|step| step.opcode == "OpenEphemeral").count()
}

#[test]
fn what_every_call_inserts_needs_no_table_besides() {
    const TABLES: [&str; 3] = ["employees", "recorded_answers", "audit_entries"];
    let folder = tempfile::tempdir().unwrap();
    let mut connection = before_it(&folder, HOLDER);
    assert_eq!(TABLES.map(|table| tables_besides(&mut connection, table)), [1, 0, 2]);
    migrate(&mut connection).unwrap();
    assert_eq!(TABLES.map(|table| tables_besides(&mut connection, table)), [0, 0, 0]);

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
    assert!(entry(6, "NOBODY", "DONE").is_err());
    assert!(entry(6, "PARTNER", "PERHAPS").is_err());
    assert!(entry(5, "PARTNER", "DONE").unwrap_err().to_string().contains("append-only"));
}

#[test]
fn nothing_is_migrated_that_would_refer_to_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let astray =
        format!("{HOLDER} PRAGMA foreign_keys = OFF; DELETE FROM employees; PRAGMA foreign_keys = ON;");
    let mut connection = before_it(&folder, &astray);
    let refused = migrate(&mut connection).unwrap_err().to_string();
    assert_eq!(refused, "cannot migrate the database: rows that would refer to nothing: 1");
    assert_eq!(missing_migrations(&mut connection).unwrap()[0], ANEW);
}
