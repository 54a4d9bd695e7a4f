//! A database that is there and cannot do what it should: every caller gets one kind of error, the store knows what
//! is wrong, and all goes on by itself when that has passed.

use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use diesel::connection::SimpleConnection;
use diesel::{Connection, PgConnection};
use kopeck_adapter_store_diesel::testing::TestDatabase;
use kopeck_adapter_store_diesel::{BatchedStore, OpenStore, StoreConfig};
use kopeck_port_store::{Access, StoreError};
use kopeck_port_store::{Outage, StoreObserver};

use crate::support::{Kind, PARTNER, Place, clock, config, credentials, employee, read, write};

/// How long a test waits for the store to notice something before it fails.
const PATIENCE: Duration = Duration::from_secs(30);

fn add(store: &dyn OpenStore, number: u128) -> Result<(), StoreError> {
    write(store, move |unit| unit.employees().insert(PARTNER, &employee(number)))
}

fn is_there(store: &dyn OpenStore, number: u128) -> bool {
    read(store, move |unit| unit.employees().get(PARTNER, employee(number).id())).unwrap().is_some()
}

#[track_caller]
fn is_unavailable(result: &Result<(), StoreError>) {
    assert!(matches!(result, Err(StoreError::Unavailable(_))), "{result:?}");
}

/// Waits until the store says this of its database.
#[track_caller]
fn comes_to(store: &dyn OpenStore, outage: Option<Outage>) {
    let began = Instant::now();
    while store.outage() != outage {
        assert!(began.elapsed() < PATIENCE, "{:?} instead of {outage:?}", store.outage());
        thread::sleep(Duration::from_millis(5));
    }
}

/// Records its notifications.
#[derive(Default)]
struct Notes(Mutex<Vec<(Access, Outage)>>);

impl StoreObserver for Notes {
    fn began(&self, _access: Access, _waited: Duration) {}

    fn ended(&self, _access: Access, _used: Duration) {}

    fn failed(&self, access: Access, outage: Outage) {
        self.0.lock().unwrap().push((access, outage));
    }
}

impl Notes {
    fn have(&self, access: Access, outage: Outage) -> bool {
        self.0.lock().unwrap().contains(&(access, outage))
    }
}

struct Server {
    store: BatchedStore,
    notes: Arc<Notes>,
    database: TestDatabase,
}

impl Server {
    fn new() -> Self {
        let (database, notes) = (TestDatabase::migrated(), Arc::<Notes>::default());
        let observer = Arc::clone(&notes) as Arc<dyn StoreObserver>;
        let config = StoreConfig { observer, ..config(database.url(), clock()) };
        let store = BatchedStore::open(config).unwrap();
        write(&store, |unit| unit.partners().insert(&credentials())).unwrap();
        Self { store, notes, database }
    }
}

/// Makes every change of a table fail with a code of the server's, as a failing disk would.
fn failing(table: &str, code: &str, message: &str) -> String {
    format!(
        "CREATE OR REPLACE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS
             $$ BEGIN RAISE EXCEPTION '{message}' USING ERRCODE = '{code}'; END $$;
         CREATE TRIGGER fails BEFORE INSERT ON {table} EXECUTE FUNCTION fail();"
    )
}

#[test]
fn a_full_disk_of_a_server() {
    let server = Server::new();
    let message = r#"could not extend file "base/16384/1": No space left on device"#;
    for table in ["employees", "spent_nonces"] {
        server.database.run(&failing(table, "53100", message));
    }
    for _ in 0..3 {
        is_unavailable(&add(&server.store, 1));
    }
    comes_to(&server.store, Some(Outage::Full));
    assert!(server.notes.have(Access::Write, Outage::Full));
    assert!(!is_there(&server.store, 1), "what only reads is served");
    for table in ["employees", "spent_nonces"] {
        server.database.run(&format!("DROP TRIGGER fails ON {table}"));
    }
    comes_to(&server.store, None);
    assert_eq!(add(&server.store, 1), Ok(()));
    assert!(is_there(&server.store, 1));
}

/// A server may speak another language, and fail in unforeseen ways.
#[test]
fn a_server_that_fails_for_reasons_of_its_own() {
    let server = Server::new();
    for (number, (code, message)) in (1..).zip([
        ("53100", "не удалось расширить файл"),
        ("53200", "out of memory"),
        ("58030", "some trouble"),
        ("40001", "could not serialize access"),
        ("40P01", "deadlock detected"),
    ]) {
        server.database.run(&failing("employees", code, message));
        is_unavailable(&add(&server.store, number));
        server.database.run("DROP TRIGGER fails ON employees");
        assert_eq!(add(&server.store, number), Ok(()));
    }
    comes_to(&server.store, None);
}

/// Such a failure is not retried.
#[test]
fn a_statement_that_is_wrong_is_no_outage() {
    let server = Server::new();
    server.database.run("ALTER TABLE employees RENAME COLUMN custom_id TO other");
    let failed = add(&server.store, 1);
    assert!(matches!(failed, Err(StoreError::Failed(_))), "{failed:?}");
    assert!(server.notes.0.lock().unwrap().is_empty());
}

#[test]
fn a_table_that_another_session_has_locked() {
    let server = Server::new();
    let mut other = PgConnection::establish(server.database.url()).unwrap();
    other.batch_execute("BEGIN; LOCK TABLE employees IN ACCESS EXCLUSIVE MODE").unwrap();
    is_unavailable(&add(&server.store, 1));
    is_unavailable(&read(&server.store, |unit| unit.employees().get(PARTNER, employee(1).id()).map(drop)));
    assert!(server.notes.have(Access::Write, Outage::Locked));
    assert!(server.notes.have(Access::Read, Outage::Locked));
    comes_to(&server.store, None);
    other.batch_execute("ROLLBACK").unwrap();
    assert_eq!(add(&server.store, 1), Ok(()));
}

#[test]
fn a_server_that_has_become_read_only() {
    let server = Server::new();
    let name = server.database.url().split(['/', '?']).nth(3).unwrap();
    let end_sessions = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid()";
    server
        .database
        .run(&format!("ALTER DATABASE {name} SET default_transaction_read_only = on; {end_sessions}"));
    is_unavailable(&add(&server.store, 1));
    let began = Instant::now();
    while server.store.outage() != Some(Outage::ReadOnly) {
        is_unavailable(&add(&server.store, 1));
        assert!(began.elapsed() < PATIENCE);
    }
    server
        .database
        .run(&format!("BEGIN READ WRITE; ALTER DATABASE {name} RESET default_transaction_read_only; COMMIT"));
    comes_to(&server.store, None);
    assert_eq!(add(&server.store, 1), Ok(()));
}

#[test]
fn a_file_that_is_taken_away_and_brought_back() {
    let test = Kind::Sqlite.store_with_partner();
    let Place::Folder(folder) = &test.place else { unreachable!("SQLite lies in a folder") };
    let (path, away) = (folder.path().join("kopeck.db"), folder.path().join("away"));
    let store = &*test.store;
    assert!(store.disk_space().is_some());
    std::fs::rename(&path, &away).unwrap();
    is_unavailable(&add(store, 1));
    assert_eq!(store.outage(), Some(Outage::FileGone));
    is_unavailable(&read(store, |unit| unit.employees().get(PARTNER, employee(1).id()).map(drop)));
    assert!(!path.exists(), "nothing is made in its place");

    std::fs::copy(&away, &path).unwrap();
    is_unavailable(&add(store, 2));
    std::fs::rename(&away, &path).unwrap();
    comes_to(store, None);
    assert_eq!(add(store, 3), Ok(()));
    assert!(is_there(store, 3) && !is_there(store, 2));
}

/// The first read opens a connection, before the files are looked at by their turn.
#[test]
fn a_new_connection_makes_no_file() {
    let test = Kind::Sqlite.store_with_partner();
    let Place::Folder(folder) = &test.place else { unreachable!("SQLite lies in a folder") };
    let path = folder.path().join("kopeck.db");
    std::fs::remove_file(&path).unwrap();
    is_unavailable(&read(&*test.store, |unit| unit.employees().get(PARTNER, employee(1).id()).map(drop)));
    assert!(!path.exists());
    assert_eq!(test.store.outage(), Some(Outage::FileGone));
}

/// Also without writes.
#[test]
fn a_file_that_is_taken_away_is_missed() {
    let test = Kind::Sqlite.store_with_partner();
    let Place::Folder(folder) = &test.place else { unreachable!("SQLite lies in a folder") };
    std::fs::remove_file(folder.path().join("kopeck.db")).unwrap();
    comes_to(&*test.store, Some(Outage::FileGone));
    is_unavailable(&read(&*test.store, |unit| unit.employees().get(PARTNER, employee(1).id()).map(drop)));
}

/// Another request would meet it too, with the same values: class 22 of SQLSTATE.
#[test]
fn values_that_a_statement_cannot_take_are_no_outage() {
    let server = Server::new();
    for (number, expression) in (1..).zip([
        // 22P05 and 22021
        "convert_to('Ёжиков', 'LATIN1')",
        r#"'"\u0000"'::jsonb::text || ('"\u0000"'::jsonb ->> 0)"#,
        "convert_from('\\xff'::bytea, 'UTF8')",
        "chr(0)",
        "chr(2147483647)",
        // Others of the class.
        "1 / (random()::int * 0)",
        "repeat('x', 9)::varchar::int",
        "substring('x' from 1 for -1)",
        "2147483647::int + random()::int + 1",
        "'x'::timestamptz",
        "'{1'::int[]",
        "regexp_replace('x', '[', '')",
    ]) {
        server.database.run(&format!(
            "CREATE OR REPLACE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS
                 $$ BEGIN PERFORM {expression}; RETURN NEW; END $$;
             CREATE TRIGGER fails BEFORE INSERT ON employees FOR EACH ROW EXECUTE FUNCTION fail();"
        ));
        let failed = add(&server.store, number);
        assert!(matches!(failed, Err(StoreError::Failed(_))), "{expression}: {failed:?}");
        server.database.run("DROP TRIGGER fails ON employees");
    }
    assert!(server.notes.0.lock().unwrap().is_empty());
    assert_eq!(server.store.outage(), None);
}
