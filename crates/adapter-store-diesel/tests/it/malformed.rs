//! The file of an embedded database is damaged while it is served from: nothing is acknowledged that the next start would
//! not find.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt as _;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use kopeck_adapter_store_diesel::OpenStore;
use kopeck_port_store::Outage;
use kopeck_port_store::{Store, StoreError};

use crate::support::{Kind, PARTNER, Place, TestStore, employee, read, write};

/// How long a test waits for the store to notice something before it fails.
const PATIENCE: Duration = Duration::from_secs(30);

fn add(store: &dyn Store, number: u128) -> Result<(), StoreError> {
    write(store, move |unit| unit.employees().insert(PARTNER, &employee(number)))
}

fn path(store: &TestStore, end: &str) -> PathBuf {
    let Place::Folder(folder) = &store.place else { unreachable!("SQLite lies in a folder") };
    folder.path().join(format!("kopeck.db{end}"))
}

fn open(store: &TestStore, end: &str) -> File {
    OpenOptions::new().write(true).open(path(store, end)).unwrap()
}

/// A store with rows in its file and in its log.
fn filled(kind: Kind) -> TestStore {
    let test = kind.store_with_partner();
    for number in 1..=50 {
        add(&test, number).unwrap();
    }
    // A commit of something else carries the log over into the file.
    crate::support::tamper(&test, "PRAGMA wal_checkpoint(PASSIVE)");
    for number in 51..=100 {
        add(&test, number).unwrap();
    }
    assert_eq!(test.store.outage(), None);
    test
}

fn is_refused(store: &dyn Store, numbers: impl IntoIterator<Item = u128>) {
    for number in numbers {
        let refused = add(store, number);
        assert!(matches!(refused, Err(StoreError::Unavailable(_))), "{number}: {refused:?}");
    }
}

fn comes_to(store: &dyn OpenStore, outage: Option<Outage>) {
    let began = Instant::now();
    while store.outage() != outage {
        assert!(began.elapsed() < PATIENCE, "{:?} instead of {outage:?}", store.outage());
        thread::sleep(Duration::from_millis(5));
    }
}

/// Reads too, once it is certain.
fn everything_is_refused(store: &dyn OpenStore) {
    let began = Instant::now();
    loop {
        is_refused(store, [1_000]);
        let found = read(store, |unit| unit.employees().get(PARTNER, employee(1).id()).map(drop));
        if matches!(found, Err(StoreError::Unavailable(_))) {
            return;
        }
        assert!(began.elapsed() < PATIENCE, "{found:?}");
    }
}

const KINDS: [Kind; 2] = [Kind::Sqlite, Kind::PlainSqlite];

#[test]
fn a_file_that_is_cut() {
    for kind in KINDS {
        for (part, of) in [(1, 2), (0, 1), (9, 10)] {
            let test = filled(kind);
            let file = open(&test, "");
            let pages = file.metadata().unwrap().len() / 4096;
            file.set_len(pages * part / of * 4096).unwrap();
            is_refused(&test, 101..120);
            comes_to(&*test.store, Some(Outage::Malformed));
            everything_is_refused(&*test.store);
        }
    }
}

#[test]
fn a_file_that_is_overwritten() {
    for kind in KINDS {
        let test = filled(kind);
        let file = open(&test, "");
        let pages = file.metadata().unwrap().len() / 4096;
        for page in (2..pages).step_by(2) {
            file.write_all_at(&[0xa5; 4096], page * 4096).unwrap();
        }
        is_refused(&test, 101..120);
        comes_to(&*test.store, Some(Outage::Malformed));
        everything_is_refused(&*test.store);
    }
}

#[test]
fn a_log_that_is_cut() {
    for kind in KINDS {
        for length in [0, 32, 5_000] {
            let test = filled(kind);
            open(&test, "-wal").set_len(length).unwrap();
            is_refused(&test, 101..120);
            comes_to(&*test.store, Some(Outage::Malformed));
            everything_is_refused(&*test.store);
        }
    }
}

/// Also without requests.
#[test]
fn a_damaged_file_is_missed() {
    for end in ["", "-wal"] {
        let test = filled(Kind::Sqlite);
        open(&test, end).set_len(0).unwrap();
        comes_to(&*test.store, Some(Outage::Malformed));
    }
}

/// Writes of SQLite's own, of other connections, and a file that was only touched.
#[test]
fn a_file_that_is_whole_is_no_outage() {
    for kind in KINDS {
        let test = filled(kind);
        for (number, statements) in (200..).zip([
            "PRAGMA wal_checkpoint(PASSIVE)",
            "PRAGMA wal_checkpoint(TRUNCATE)",
            "UPDATE partners SET name = name",
            "UPDATE partners SET name = name; PRAGMA wal_checkpoint(RESTART)",
            "VACUUM",
            "PRAGMA wal_checkpoint(TRUNCATE)",
        ]) {
            crate::support::tamper(&test, statements);
            add(&test, number).unwrap();
            assert_eq!(test.store.outage(), None, "{statements}");
        }
        open(&test, "").set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
        comes_to(&*test.store, None);
        let began = Instant::now();
        while add(&test, 300).is_err() {
            assert!(began.elapsed() < PATIENCE, "the file is whole");
            comes_to(&*test.store, None);
        }
    }
}
