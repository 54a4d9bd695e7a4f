//! Commits that vanish are noticed: a database that is rewound under a running store takes no changes until an operator
//! accepts that.

use std::thread;
use std::time::{Duration, Instant};

use diesel::connection::SimpleConnection;
use diesel::{Connection, PgConnection, RunQueryDsl, SqliteConnection};
use kopeck_adapter_store_diesel::testing::TestDatabase;
use kopeck_adapter_store_diesel::{BatchedStore, OpenStore, accept_history};
use kopeck_audit::{Entry, Mark, MarkKind, Signature};
use kopeck_domain::Kopecks;
use kopeck_domain::ledger::{Movement, MovementKind, Reference, TransferReference};
use kopeck_port_store::Outage;
use kopeck_port_store::{Store, StoreError};
use kopeck_port_system::Clock;

use crate::audit_signed::wall;
use crate::support::{
    Kind, NOW, PARTNER, Place, TestStore, clock, config, credentials, on_every_database, read, tamper, write,
};

on_every_database! {
    an_entry_that_is_missing_stops_changes_until_that_is_accepted
    a_movement_that_is_missing_stops_changes
    a_store_that_only_reads_notices_it_too
    another_store_learns_it_from_the_database
    changes_that_remove_nothing_raise_no_alarm
}

/// How long a test waits for the store to notice something before it fails.
const PATIENCE: Duration = Duration::from_secs(30);

const END_CONNECTIONS: &str = "
    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid();";

fn append(store: &dyn Store) -> Result<(), StoreError> {
    let entry = Entry { partner: Some(PARTNER), ..Entry::new(NOW, "127.0.0.1", "test".to_owned()) };
    write(store, move |unit| unit.audit().append(&entry))
}

fn deposit(store: &dyn Store, reference: &str) -> Result<(), StoreError> {
    let reference = TransferReference::parse(reference).unwrap();
    write(store, move |unit| {
        let kind = MovementKind::Deposit;
        let movement =
            Movement::new(kind, Reference::Transfer(reference.clone()), Kopecks::new(500)).unwrap();
        let sheet = unit.ledger().sheet(PARTNER)?.unwrap();
        unit.ledger().book(PARTNER, &movement, sheet.balances.after(&movement).unwrap(), NOW)
    })
}

/// Rewinds the database by these statements, as if it had gone on from an earlier commit: all connections to a server are new.
fn rewind(store: &TestStore, statements: &str) {
    let statements = match &store.place {
        Place::Folder(_) => format!("DROP TRIGGER audit_entries_no_delete; {statements}"),
        Place::Server(_) => {
            format!("ALTER TABLE audit_entries DISABLE TRIGGER ALL; {statements}; {END_CONNECTIONS}")
        }
    };
    tamper(store, &statements);
}

/// Asks for a change until the store answers in another way than by a lost connection.
fn is_refused(store: &dyn OpenStore) {
    let began = Instant::now();
    loop {
        match append(store) {
            Err(StoreError::Unavailable(reason)) if reason == Outage::Rewound.reason() => return,
            Err(StoreError::Unavailable(_)) => {}
            other => panic!("{other:?}"),
        }
        assert!(began.elapsed() < PATIENCE, "the store does not notice");
    }
}

fn comes_to(store: &dyn OpenStore, outage: Option<Outage>) {
    let began = Instant::now();
    while store.outage() != outage {
        assert!(began.elapsed() < PATIENCE, "{:?} instead of {outage:?}", store.outage());
        thread::sleep(Duration::from_millis(5));
    }
}

/// Changes go on, whether or not anything asks for the state of the store.
fn is_accepted(store: &dyn OpenStore) {
    let began = Instant::now();
    while append(store).is_err() {
        assert!(began.elapsed() < PATIENCE, "the acceptance does not reach the store");
        thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(store.outage(), None);
}

fn is_read(store: &dyn Store) {
    assert!(read(store, |unit| unit.partners().get(PARTNER)).unwrap().is_some(), "reads are served");
}

fn an_entry_that_is_missing_stops_changes_until_that_is_accepted(kind: Kind) {
    let test = kind.store_with_partner();
    append(&test).unwrap();
    append(&test).unwrap();
    rewind(&test, "DELETE FROM audit_entries WHERE number = 2");
    is_refused(&*test.store);
    assert_eq!(test.store.outage(), Some(Outage::Rewound));
    is_read(&test);
    is_refused(&*test.store);

    wait_for_notice(&test);
    let missing = accept_history(&test.url, &*clock()).unwrap().unwrap();
    assert!(missing.starts_with("entry 2 of audit chain "), "{missing}");
    is_accepted(&*test.store);
}

fn notices(url: &str) -> i64 {
    let count = "SELECT count(*) FROM history_notices";
    let count = diesel::dsl::sql::<diesel::sql_types::BigInt>(count);
    match url.strip_prefix("sqlite://") {
        Some(path) => count.get_result(&mut SqliteConnection::establish(path).unwrap()).unwrap(),
        None => count.get_result(&mut PgConnection::establish(url).unwrap()).unwrap(),
    }
}

/// The store writes it with its next probe, by itself.
fn wait_for_notice(test: &TestStore) {
    let began = Instant::now();
    while notices(&test.url) == 0 {
        is_refused(&*test.store);
        assert!(began.elapsed() < PATIENCE, "there is no notice");
        thread::sleep(Duration::from_millis(5));
    }
}

fn a_movement_that_is_missing_stops_changes(kind: Kind) {
    let test = kind.store_with_partner();
    deposit(&test, "R-1").unwrap();
    deposit(&test, "R-2").unwrap();
    rewind(&test, "DELETE FROM entries WHERE movement = 2; DELETE FROM movements WHERE number = 2");
    is_refused(&*test.store);
    is_read(&test);
}

fn a_store_that_only_reads_notices_it_too(kind: Kind) {
    let test = kind.store_with_partner();
    append(&test).unwrap();
    let reader = kind.open(config(&test.url, clock())).unwrap();
    is_read(&*reader);
    rewind(
        &test,
        match kind {
            Kind::Sqlite | Kind::PlainSqlite => {
                "DROP TRIGGER audit_chains_no_delete; DELETE FROM audit_entries; DELETE FROM audit_chains"
            }
            Kind::Postgres | Kind::PlainPostgres => {
                "ALTER TABLE audit_chains DISABLE TRIGGER ALL; DELETE FROM audit_entries; DELETE FROM audit_chains"
            }
        },
    );
    is_refused(&*reader);
    is_read(&*reader);
}

fn another_store_learns_it_from_the_database(kind: Kind) {
    let test = kind.store_with_partner();
    append(&test).unwrap();
    rewind(&test, "DELETE FROM audit_entries");
    is_refused(&*test.store);
    wait_for_notice(&test);
    let started = kind.open(config(&test.url, clock())).unwrap();
    is_refused(&*started);
    is_read(&*started);
    accept_history(&test.url, &*clock()).unwrap().unwrap();
    is_accepted(&*started);
    is_accepted(&*test.store);
    let later = kind.open(config(&test.url, clock())).unwrap();
    append(&*later).unwrap();
}

/// Lost connections, other stores and commands, units of work that were rolled back, pruned entries.
fn changes_that_remove_nothing_raise_no_alarm(kind: Kind) {
    let test = kind.store_with_partner();
    let other = kind.open(config(&test.url, clock())).unwrap();
    for round in 0..3 {
        append(&test).unwrap();
        append(&*other).unwrap();
        deposit(&test, &format!("R-{round}")).unwrap();
        let undone: Result<(), StoreError> = write(&test, move |unit| {
            let reference = TransferReference::parse("undone").unwrap();
            let movement =
                Movement::new(MovementKind::Deposit, Reference::Transfer(reference), Kopecks::new(1))
                    .unwrap();
            let sheet = unit.ledger().sheet(PARTNER)?.unwrap();
            unit.ledger().book(PARTNER, &movement, sheet.balances.after(&movement).unwrap(), NOW)?;
            Err(StoreError::Failed("changed its mind".to_owned()))
        });
        assert!(undone.is_err());
        tamper(&test, if kind.is_sqlite() { "UPDATE partners SET name = name" } else { END_CONNECTIONS });
        is_read(&test);
    }
    prune_all(&test);
    if !kind.is_sqlite() {
        tamper(&test, END_CONNECTIONS);
    }
    let began = Instant::now();
    while append(&test).is_err() {
        assert!(began.elapsed() < PATIENCE && test.store.outage().is_none(), "{:?}", test.store.outage());
    }
    append(&*other).unwrap();
    assert_eq!((test.store.outage(), other.outage()), (None, None));
}

/// Prunes every entry of every chain, as `kopeck audit prune` does.
fn prune_all(store: &TestStore) {
    let openings = read(store, |unit| unit.audit().openings(0, 100)).unwrap();
    for opening in openings {
        let chain = opening.chain;
        if let Some(last) = read(store, move |unit| unit.audit().last_record(chain)).unwrap() {
            let signature = Signature::from_bytes([0; 40]);
            let beginning = Mark { kind: MarkKind::Beginning, head: last.head, signature };
            write(store, move |unit| unit.audit().prune(&beginning)).unwrap();
        }
    }
}

/// Commits after an acceptance are landmarks again.
#[test]
fn a_second_time_is_noticed_too() {
    let (place, wall) = (Kind::Sqlite.migrated_place(), wall());
    let settings = config(place.url(), std::sync::Arc::clone(&wall) as std::sync::Arc<dyn Clock>);
    let store = BatchedStore::open(settings).unwrap();
    write(&store, |unit| unit.partners().insert(&credentials())).unwrap();
    let lose = |number: u32| {
        let statements =
            "DROP TRIGGER IF EXISTS audit_entries_no_delete; DELETE FROM audit_entries WHERE number = ";
        kopeck_adapter_store_diesel::testing::tamper(&place.url(), &format!("{statements}{number}"));
    };
    append(&store).unwrap();
    append(&store).unwrap();
    lose(2);
    is_refused(&store);
    wall.0.advance(time::Duration::SECOND);
    accept_history(&place.url(), &*wall).unwrap();
    comes_to(&store, None);
    wall.0.advance(time::Duration::SECOND);
    append(&store).unwrap();
    lose(3);
    is_refused(&store);
}

/// As after a failover to another copy: the database is replaced by an older one while it is served from.
#[test]
fn a_database_that_is_replaced_by_an_older_copy() {
    let database = TestDatabase::migrated();
    let open = || BatchedStore::open(config(database.url(), clock())).unwrap();
    let store = open();
    write(&store, |unit| unit.partners().insert(&credentials())).unwrap();
    append(&store).unwrap();
    drop(store);
    let older = database.copy();
    let store = open();
    append(&store).unwrap();
    let [name, copy] =
        [database.url(), older.url()].map(|url| url.split(['/', '?']).nth(3).unwrap().to_owned());
    let admin = database.url().replace(&name, "postgres");
    let mut server = PgConnection::establish(&admin).unwrap();
    server.batch_execute(&format!("DROP DATABASE {name} WITH (FORCE)")).unwrap();
    server.batch_execute(&format!("CREATE DATABASE {name} TEMPLATE {copy}")).unwrap();
    is_refused(&store);
    is_read(&store);
    comes_to(&store, Some(Outage::Rewound));
}
