//! Databases that are none of Kopeck's are refused before anything in them is changed.

use diesel::connection::SimpleConnection;
use diesel::{Connection, PgConnection, SqliteConnection};
use kopeck_adapter_store_diesel::testing::{TestDatabase, dump, tamper};
use kopeck_adapter_store_diesel::{OpenError, check_file, migrate};

use crate::support::{Kind, Place};

/// Tables of other programs: any, one that we have too, one of Diesel's with migrations of its own.
const OF_OTHERS: [&str; 4] = [
    "CREATE TABLE x (a TEXT)",
    "CREATE TABLE employees (a TEXT)",
    "CREATE TABLE orders (a TEXT); CREATE TABLE a (a TEXT); CREATE TABLE b (a TEXT); CREATE TABLE c (a TEXT)",
    "CREATE TABLE x (a TEXT); CREATE TABLE __diesel_schema_migrations (version VARCHAR(50) PRIMARY KEY NOT NULL,
         run_on TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP);
     INSERT INTO __diesel_schema_migrations (version) VALUES ('0001')",
];

#[track_caller]
fn is_foreign(outcome: Result<(), OpenError>) {
    let Err(OpenError::Foreign(tables)) = outcome else { panic!("{outcome:?}") };
    assert!(!tables.is_empty() && !tables.contains("__diesel"), "{tables}");
}

#[test]
fn a_database_of_another_program_stays_as_it_is() {
    for tables in OF_OTHERS {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("other.db");
        SqliteConnection::establish(path.to_str().unwrap()).unwrap().batch_execute(tables).unwrap();
        let before = std::fs::read(&path).unwrap();
        is_foreign(check_file(&path));
        assert!(std::fs::read(&path).unwrap() == before, "{tables}");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left beside it");
        is_foreign(migrate(&format!("sqlite://{}", path.display())).map(drop));

        let database = TestDatabase::empty();
        database.run(tables);
        let before = dump(database.url());
        is_foreign(migrate(database.url()).map(drop));
        assert_eq!(dump(database.url()), before);
    }
}

#[test]
fn an_empty_database_and_one_of_ours_are_taken() {
    let folder = tempfile::tempdir().unwrap();
    check_file(&folder.path().join("missing.db")).unwrap();
    std::fs::write(folder.path().join("text.db"), "no database, but a text of some length").unwrap();
    let refused = check_file(&folder.path().join("text.db")).unwrap_err().to_string();
    assert!(refused.contains("not a database"), "{refused}");
    for kind in [Kind::Sqlite, Kind::Postgres] {
        let place = kind.migrated_place();
        assert!(migrate(&place.url()).unwrap().is_empty());
        if let Place::Folder(folder) = &place {
            check_file(&folder.path().join("kopeck.db")).unwrap();
        }
        // An analyst's view beside ours.
        tamper(&place.url(), "CREATE VIEW of_an_analyst AS SELECT name FROM partners");
        assert!(migrate(&place.url()).unwrap().is_empty());
    }
}

#[test]
fn a_database_that_is_not_in_utf_8_is_refused() {
    let template = TestDatabase::empty();
    let [name, url] = [template.url().split(['/', '?']).nth(3).unwrap(), template.url()].map(str::to_owned);
    for encoding in ["LATIN1", "WIN1251", "SQL_ASCII"] {
        let other = format!("{name}_{}", encoding.to_lowercase());
        let mut server = PgConnection::establish(&url.replace(&name, "postgres")).unwrap();
        server
            .batch_execute(&format!(
                "CREATE DATABASE {other} TEMPLATE template0 ENCODING '{encoding}' LOCALE 'C'"
            ))
            .unwrap();
        let refused = migrate(&url.replace(&name, &other)).unwrap_err();
        server.batch_execute(&format!("DROP DATABASE {other} WITH (FORCE)")).unwrap();
        let said = refused.to_string();
        assert!(said.contains(encoding) && said.contains("createdb -T template0 -E UTF8"), "{said}");
    }
}
