//! Opening, closing, restarting; full queues; other processes.

use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use kopeck_adapter_store_diesel::testing::tamper;
use kopeck_adapter_store_diesel::{BatchedStore, OpenError, StoreConfig, migrate};
use kopeck_port_store::{Access, Disposition, Store, StoreError, submit};

use crate::support::{Kind, PARTNER, clock, config, credentials, employee, on_every_database, read, write};

type Waiting = Receiver<Result<(), StoreError>>;

/// Submits work that holds its thread until the sender is used or dropped.
fn hold(store: &dyn Store, access: Access) -> (mpsc::Sender<()>, Waiting) {
    let (release, held) = mpsc::channel::<()>();
    let (begun, has_begun) = mpsc::channel();
    let (sender, receiver) = mpsc::channel();
    let body = move |_: &mut dyn kopeck_port_store::UnitOfWork| {
        let _ = begun.send(());
        let _ = held.recv();
        Ok(())
    };
    submit(store, access, body, move |result| sender.send(result).unwrap());
    has_begun.recv().unwrap();
    (release, receiver)
}

/// Submits work that adds an employee.
fn add(store: &dyn Store, number: u128) -> Waiting {
    let employee = employee(number);
    let (sender, receiver) = mpsc::channel();
    submit(
        store,
        Access::Write,
        move |unit| unit.employees().insert(PARTNER, &employee),
        move |result| sender.send(result).unwrap(),
    );
    receiver
}

on_every_database! {
    a_database_without_migrations_is_refused
    a_database_of_a_newer_schema_is_refused_and_left_as_it_is
    a_database_of_before_the_first_release_is_refused_and_left_as_it_is
    committed_rows_survive_a_restart
    a_full_queue_is_busy_and_the_other_goes_on
    closing_finishes_what_waits_and_takes_nothing_more
    the_last_owner_may_be_a_receiver_of_a_result
    a_receiver_that_panics_costs_no_thread
    two_stores_on_one_file_wait_for_each_other
}

fn a_database_without_migrations_is_refused(kind: Kind) {
    let place = kind.new_place();
    let url = place.url();
    let refused = kind.open(config(url.clone(), clock())).err().unwrap();
    let missing = match refused {
        OpenError::NotMigrated(missing) => missing,
        other => panic!("{other}"),
    };
    assert!(!missing.is_empty());
    assert_eq!(migrate(&url).unwrap(), missing, "those, in their order");
    assert_eq!(migrate(&url).unwrap(), [""; 0]);
    assert!(kind.open(config(url, clock())).is_ok());
}

fn a_database_of_a_newer_schema_is_refused_and_left_as_it_is(kind: Kind) {
    let place = kind.new_place();
    let url = place.url();
    let known = migrate(&url).unwrap().pop().unwrap();
    // One that is known is missing too: it must not be applied on tables of which nothing is known.
    let later = format!(
        "DELETE FROM __diesel_schema_migrations WHERE version = '{}';
         INSERT INTO __diesel_schema_migrations (version) VALUES ('9998'), ('9999');",
        known.split('_').next().unwrap()
    );
    tamper(&url, &later);
    for _ in 0..2 {
        let refusals = [migrate(&url).err().unwrap(), kind.open(config(url.clone(), clock())).err().unwrap()];
        for refused in refusals {
            let OpenError::NewerSchema { database, binary } = &refused else { panic!("{refused}") };
            assert_eq!(database, "9999");
            assert!(known.starts_with(&format!("{binary}_")), "{binary}");
            let said = refused.to_string();
            assert!(said.contains(database) && said.contains(binary), "{said}");
        }
    }
}

fn a_database_of_before_the_first_release_is_refused_and_left_as_it_is(kind: Kind) {
    // Of a build with one migration, of one with several, and one on which a release was tried nevertheless.
    let kinds =
        [("0001", "('0001')"), ("0020", "('0001'), ('0016'), ('0020')"), ("0001", "('0001'), ('0100')")];
    for (newest, versions) in kinds {
        let place = kind.new_place();
        let url = place.url();
        migrate(&url).unwrap();
        let table = "__diesel_schema_migrations";
        tamper(&url, &format!("DELETE FROM {table}; INSERT INTO {table} (version) VALUES {versions}"));
        for refused in [migrate(&url).err().unwrap(), kind.open(config(url.clone(), clock())).err().unwrap()]
        {
            assert!(matches!(&refused, OpenError::Unreleased(version) if version == newest), "{refused}");
            assert!(refused.to_string().contains("before 0.1.0"), "{refused}");
        }
    }
}

#[test]
fn only_files_and_servers_are_opened() {
    for url in
        ["", "kopeck.db", "mysql://host/db", "sqlite://", "sqlite://:memory:", "sqlite://file:x?mode=memory"]
    {
        assert!(matches!(migrate(url), Err(OpenError::Url)), "{url}");
        assert!(matches!(BatchedStore::open(config(url, clock())), Err(OpenError::Url)), "{url}");
    }
    let folder = tempfile::tempdir().unwrap();
    let nowhere = format!("sqlite://{}", folder.path().join("missing/kopeck.db").display());
    assert!(matches!(migrate(&nowhere), Err(OpenError::Connect(_))));
}

fn committed_rows_survive_a_restart(kind: Kind) {
    let place = kind.new_place();
    let url = place.url();
    migrate(&url).unwrap();
    for round in 0..3 {
        let store = kind.open(config(url.clone(), clock())).unwrap();
        if round == 0 {
            write(&*store, |unit| unit.partners().insert(&credentials())).unwrap();
        }
        add(&*store, round).recv().unwrap().unwrap();
        for earlier in 0..=round {
            let expected = employee(earlier);
            let id = expected.id();
            let found = read(&*store, move |unit| unit.employees().get(PARTNER, id));
            assert_eq!(found, Ok(Some(expected)));
        }
    }
}

fn a_full_queue_is_busy_and_the_other_goes_on(kind: Kind) {
    let place = kind.new_place();
    let url = place.url();
    migrate(&url).unwrap();
    let config = StoreConfig { queue: 3, connections: 2, ..config(url, clock()) };
    let store = kind.open(config).unwrap();
    write(&*store, |unit| unit.partners().insert(&credentials())).unwrap();

    let (release, holding) = hold(&*store, Access::Write);
    let waiting: Vec<Waiting> = (0..3).map(|number| add(&*store, number)).collect();
    assert_eq!(add(&*store, 9).recv().unwrap(), Err(StoreError::Busy), "answered at once");
    let id = employee(0).id();
    let found = read(&*store, move |unit| unit.employees().get(PARTNER, id));
    assert_eq!(found, Ok(None), "readers do not wait for the writer");
    release.send(()).unwrap();
    holding.recv().unwrap().unwrap();
    for result in waiting {
        assert_eq!(result.recv().unwrap(), Ok(()), "what was taken in is done");
    }
    add(&*store, 9).recv().unwrap().unwrap();

    let (release, holding) = hold(&*store, Access::Read);
    for _ in 0..3 {
        store.submit(Access::Read, Box::new(|_| Disposition::Commit), Box::new(|_| {}));
    }
    assert_eq!(read(&*store, |unit| unit.partners().list()), Err(StoreError::Busy));
    drop(release);
    holding.recv().unwrap().unwrap();
}

fn closing_finishes_what_waits_and_takes_nothing_more(kind: Kind) {
    let store = Arc::new(kind.store_with_partner());
    let (release, holding) = hold(&*store, Access::Write);
    let waiting: Vec<Waiting> = (0..10).map(|number| add(&*store, number)).collect();
    let closing = {
        let store = Arc::clone(&store);
        thread::spawn(move || store.store.close())
    };
    let refused = Err(StoreError::Unavailable("the store is closed".to_owned()));
    let id = employee(0).id();
    // Reads are refused as soon as the other thread has got so far.
    while read(&*store, move |unit| unit.employees().get(PARTNER, id)).is_ok() {
        thread::sleep(Duration::from_millis(1));
    }
    release.send(()).unwrap();
    closing.join().unwrap();
    holding.recv().unwrap().unwrap();
    for result in waiting {
        assert_eq!(result.recv().unwrap(), Ok(()));
    }
    assert_eq!(add(&*store, 99).recv().unwrap(), refused);
    store.store.close();
}

fn the_last_owner_may_be_a_receiver_of_a_result(kind: Kind) {
    let store = Arc::new(kind.store_with_partner());
    let (sender, receiver) = mpsc::channel();
    let owner = Mutex::new(Some(Arc::clone(&store)));
    let (go, wait) = mpsc::channel::<()>();
    submit(
        &*store,
        Access::Write,
        move |_| {
            let _ = wait.recv();
            Ok::<(), StoreError>(())
        },
        move |result| {
            drop(owner.lock().unwrap().take());
            sender.send(result).unwrap();
        },
    );
    drop(store);
    go.send(()).unwrap();
    receiver.recv().unwrap().unwrap();
}

fn a_receiver_that_panics_costs_no_thread(kind: Kind) {
    let store = kind.store_with_partner();
    for access in [Access::Write, Access::Read, Access::Read, Access::Read] {
        store.submit(access, Box::new(|_| Disposition::Commit), Box::new(|_| panic!("on purpose")));
    }
    add(&store, 1).recv().unwrap().unwrap();
    assert_eq!(read(&store, |unit| unit.partners().list()).unwrap().len(), 1);
}

/// As two processes do.
fn two_stores_on_one_file_wait_for_each_other(kind: Kind) {
    let first = kind.store_with_partner();
    let second = kind.open(config(first.url.clone(), clock())).unwrap();
    let stores: [&dyn Store; 2] = [&first, &*second];
    thread::scope(|scope| {
        for (offset, store) in (0..).zip(stores) {
            scope.spawn(move || {
                for number in 0..50 {
                    add(store, offset * 1_000 + number).recv().unwrap().unwrap();
                }
            });
        }
    });
    let total = read(&first, |unit| {
        let page = kopeck_port_store::page::Page::new(1, 1).unwrap();
        unit.employees().list(PARTNER, &kopeck_port_store::EmployeeFilter::default(), page)
    });
    assert_eq!(total.unwrap().total, 100);
}
