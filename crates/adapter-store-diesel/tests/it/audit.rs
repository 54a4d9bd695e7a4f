//! The audit log as the databases keep it.

use std::sync::mpsc;

use diesel::connection::SimpleConnection;
use diesel::{Connection, PgConnection, SqliteConnection};
use kopeck_audit::{Entry, Head, Opening, Record};
use kopeck_port_store::{Access, Store, StoreError, UnitOfWork, submit};

use crate::support::{
    Kind, NOW, PARTNER, TestStore, clock, config, employee, on_every_database, read, tamper, write,
};

on_every_database! {
    no_entry_of_the_log_can_be_changed_or_removed
    units_of_work_that_share_a_commit_share_a_chain
    every_connection_has_a_chain_of_its_own
    a_chain_ends_where_a_commit_failed
}

fn entry(action: &str) -> Entry {
    Entry { partner: Some(PARTNER), ..Entry::new(NOW, "127.0.0.1", action.to_owned()) }
}

fn append(store: &dyn Store, action: &str) {
    let entry = entry(action);
    write(store, move |unit| unit.audit().append(&entry)).unwrap();
}

/// How far each chain goes, after it was made sure that all of them are whole.
fn heads(store: &dyn Store) -> Vec<Head> {
    let openings = read(store, |unit| unit.audit().openings(0, 100)).unwrap();
    let mut previous: Option<Opening> = None;
    let mut heads = Vec::new();
    for opening in openings {
        assert!(opening.follows(previous.as_ref()));
        let (chain, mut head) = (opening.chain, opening.head());
        for record in read(store, move |unit| unit.audit().records(chain, 0, 1_000)).unwrap() {
            assert!(record.follows(&head), "{record:?}");
            head = record.head;
        }
        heads.push(head);
        previous = Some(opening);
    }
    heads
}

fn lengths(store: &dyn Store) -> Vec<u64> {
    heads(store).into_iter().map(|head| head.number).collect()
}

/// What the database says to these statements.
pub(crate) fn refusal(store: &TestStore, statements: &str) -> String {
    let refused = match store.url.strip_prefix("sqlite://") {
        Some(path) => SqliteConnection::establish(path).unwrap().batch_execute(statements),
        None => PgConnection::establish(&store.url).unwrap().batch_execute(statements),
    };
    refused.unwrap_err().to_string()
}

fn no_entry_of_the_log_can_be_changed_or_removed(kind: Kind) {
    let store = kind.empty_store();
    append(&store, "one");
    append(&store, "two");
    let before = heads(&store);
    let mut statements = Vec::new();
    for (table, column) in [("audit_entries", "number"), ("audit_chains", "opened_at")] {
        statements.push(format!("UPDATE {table} SET {column} = {column}"));
        statements.push(format!("DELETE FROM {table}"));
        match kind {
            Kind::Sqlite | Kind::PlainSqlite => {
                statements.push(format!("INSERT OR REPLACE INTO {table} SELECT * FROM {table}"));
            }
            Kind::Postgres | Kind::PlainPostgres => {
                statements.push(format!("TRUNCATE {table}"));
                statements.push(format!("SET session_replication_role = replica; DELETE FROM {table}"));
            }
        }
    }
    for statement in statements {
        assert!(refusal(&store, &statement).contains("append-only"), "{statement}");
    }
    assert_eq!(heads(&store), before);
}

/// Though some of them are undone, and some write past the memory.
fn units_of_work_that_share_a_commit_share_a_chain(kind: Kind) {
    let store = kind.store_with_partner();
    let (free, held) = mpsc::channel::<()>();
    let (sender, receiver) = mpsc::channel();
    let answer = || {
        let sender = sender.clone();
        move |result: Result<(), StoreError>| sender.send(result.is_ok()).unwrap()
    };
    let wait = move |_: &mut dyn UnitOfWork| {
        let _ = held.recv();
        Ok(())
    };
    submit(&store, Access::Write, wait, answer());
    for number in 0..60_u128 {
        let (entry, employee) = (entry("employee.add"), employee(number + 1));
        let body = move |unit: &mut dyn UnitOfWork| {
            unit.employees().insert(PARTNER, &employee)?;
            if number % 4 == 1 {
                // Goes past the memory.
                unit.throttle().record_failure(&[7; 32], NOW)?;
            }
            unit.audit().append(&entry)?;
            if number % 3 == 2 { Err(StoreError::Failed("on purpose".to_owned())) } else { Ok(()) }
        };
        submit(&store, Access::Write, body, answer());
    }
    // No message: what is run again must not wait for another.
    drop(free);
    let done = receiver.iter().take(61).filter(|done| *done).count();
    assert_eq!(done, 41);
    assert_eq!(lengths(&store).iter().sum::<u64>(), 40);
}

fn every_connection_has_a_chain_of_its_own(kind: Kind) {
    let store = kind.empty_store();
    append(&store, "one");
    let other = kind.open(config(store.url.clone(), clock())).unwrap();
    for _ in 0..3 {
        append(&*other, "two");
        append(&store, "one");
    }
    let lengths = lengths(&store);
    assert_eq!(lengths.iter().sum::<u64>(), 7);
    // A spare thread may have taken one of them.
    assert!(lengths.len() >= 2, "{lengths:?}");
    let first: Vec<Record> = read(&store, |unit| unit.audit().records(1, 0, 100)).unwrap();
    assert!(first.iter().all(|record| record.entry.action == "one"));
}

/// The state of the database is unknown then; later entries are not chained to it.
fn a_chain_ends_where_a_commit_failed(kind: Kind) {
    let store = kind.empty_store();
    append(&store, "before");
    // Makes the commit fail, and not the statement.
    tamper(
        &store,
        match kind {
            Kind::Sqlite | Kind::PlainSqlite => {
                "CREATE TABLE a (id INTEGER PRIMARY KEY);
                 CREATE TABLE b (a REFERENCES a (id) DEFERRABLE INITIALLY DEFERRED);
                 CREATE TRIGGER poison AFTER INSERT ON audit_entries WHEN NEW.action = 'poison'
                 BEGIN INSERT INTO b VALUES (1); END;"
            }
            Kind::Postgres | Kind::PlainPostgres => {
                "CREATE TABLE a (id BIGINT PRIMARY KEY);
                 CREATE TABLE b (a BIGINT REFERENCES a (id) DEFERRABLE INITIALLY DEFERRED);
                 CREATE FUNCTION poison() RETURNS trigger LANGUAGE plpgsql AS
                 $$ BEGIN INSERT INTO b VALUES (1); RETURN NULL; END $$;
                 CREATE TRIGGER poison AFTER INSERT ON audit_entries FOR EACH ROW
                 WHEN (NEW.action = 'poison') EXECUTE FUNCTION poison();"
            }
        },
    );
    let poison = entry("poison");
    assert!(write(&store, move |unit| unit.audit().append(&poison)).is_err());
    append(&store, "after");
    append(&store, "after");
    assert_eq!(lengths(&store), [1, 2]);
}
