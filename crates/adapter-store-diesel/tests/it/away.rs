//! A database server that is away: cut off, or there and silent. Every request ends in time, and no process has to start
//! anything again.

use std::sync::mpsc;
use std::time::{Duration, Instant};

use kopeck_adapter_store_diesel::testing::TestDatabase;
use kopeck_adapter_store_diesel::{BatchedStore, OpenStore};
use kopeck_port_store::{Access, StoreError, submit};
use kopeck_test_support::Proxy;

use crate::support::{PARTNER, clock, config, credentials, employee, read, write};

/// The store answers for a silent database after [`SILENT_FOR`]. Without an answer of its own a test would wait for ever:
/// the limit is there to say so.
const IN_TIME: Duration = Duration::from_secs(60);

/// After so many looks at its threads the store takes a database for silent: a second and a half.
const SILENT_FOR: u64 = 28;

/// How long a test waits for the store to be well again before it fails.
const PATIENCE: Duration = Duration::from_secs(30);

const CALLS: u128 = 50;

struct Distant {
    store: BatchedStore,
    proxy: Proxy,
    _database: TestDatabase,
}

impl Distant {
    fn new() -> Self {
        let database = TestDatabase::migrated();
        let (proxy, url) = Proxy::to_database(database.url()).unwrap();
        let store = BatchedStore::open(config(&url, clock())).unwrap();
        write(&store, |unit| unit.partners().insert(&credentials())).unwrap();
        Self { store, proxy, _database: database }
    }

    /// Units of work that read and units that add an employee each, all at the same time. Returns how they ended.
    fn burst(&self) -> Vec<Result<(), StoreError>> {
        let (sender, receiver) = mpsc::channel();
        for number in 0..CALLS {
            let (reads, writes) = (sender.clone(), sender.clone());
            submit(
                &self.store,
                Access::Read,
                |unit| unit.employees().get(PARTNER, employee(1).id()),
                move |result| reads.send(result.map(drop)).unwrap(),
            );
            submit(
                &self.store,
                Access::Write,
                move |unit| match unit.employees().get(PARTNER, employee(number).id())? {
                    Some(_) => Ok(()),
                    None => unit.employees().insert(PARTNER, &employee(number)),
                },
                move |result| writes.send(result).unwrap(),
            );
        }
        drop(sender);
        let ended: Vec<_> = receiver.iter().collect();
        assert_eq!(ended.len() as u128, 2 * CALLS);
        ended
    }

    fn is_away(&self) {
        let began = Instant::now();
        for ended in self.burst() {
            assert!(matches!(ended, Err(StoreError::Unavailable(_))), "{ended:?}");
        }
        assert!(began.elapsed() < IN_TIME, "{:?}", began.elapsed());
    }

    /// All is well soon, with nothing done but to call again.
    fn comes_back(&self) {
        let began = Instant::now();
        while self.burst().iter().any(Result::is_err) {
            assert!(began.elapsed() < PATIENCE, "the store does not come back");
            std::thread::sleep(Duration::from_millis(20));
        }
        for number in 0..CALLS {
            let id = employee(number).id();
            assert!(read(&self.store, move |unit| unit.employees().get(PARTNER, id)).unwrap().is_some());
        }
    }
}

#[test]
fn a_server_that_is_cut_off_and_refuses() {
    let distant = Distant::new();
    distant.proxy.refuse(true);
    distant.proxy.cut();
    distant.is_away();
    distant.is_away();
    distant.proxy.refuse(false);
    assert!(distant.burst().iter().all(Result::is_ok), "the first calls are served");
    distant.comes_back();
}

#[test]
fn a_server_that_is_frozen_and_thaws() {
    let distant = Distant::new();
    distant.proxy.freeze();
    distant.is_away();
    // It is known to be silent, and no request waits again.
    let ticks = distant.store.ticks();
    let began = ticks();
    distant.is_away();
    assert!(ticks() - began < SILENT_FOR);
    distant.proxy.thaw();
    distant.comes_back();
}

#[test]
fn connections_that_stay_silent_for_ever_are_left_to_themselves() {
    let distant = Distant::new();
    for _ in 0..2 {
        distant.proxy.freeze();
        distant.is_away();
        distant.proxy.thaw_new_ones_only();
        distant.comes_back();
    }
}

#[test]
fn a_server_that_is_cut_off_within_units_of_work() {
    let distant = Distant::new();
    let mut halted = Vec::new();
    for access in [Access::Read, Access::Write] {
        let (go_on, told) = mpsc::channel::<()>();
        let (begun, has_begun) = mpsc::channel();
        let (sender, receiver) = mpsc::channel();
        let body = move |unit: &mut dyn kopeck_port_store::UnitOfWork| {
            unit.employees().get(PARTNER, employee(1).id())?;
            let _ = begun.send(());
            let _ = told.recv();
            unit.employees().get(PARTNER, employee(2).id()).map(drop)
        };
        submit(&distant.store, access, body, move |result| sender.send(result).unwrap());
        has_begun.recv().unwrap();
        halted.push((go_on, receiver));
    }
    distant.proxy.cut();
    distant.proxy.refuse(true);
    for (go_on, receiver) in halted {
        go_on.send(()).unwrap();
        let met = receiver.recv_timeout(IN_TIME).unwrap();
        assert!(matches!(met, Err(StoreError::Unavailable(_))), "{met:?}");
    }
    distant.is_away();
    distant.proxy.refuse(false);
    distant.comes_back();
}

/// A statement that takes longer than the store is patient with a silent server is waited for.
#[test]
fn a_slow_unit_of_work_is_not_taken_for_a_silent_server() {
    let distant = Distant::new();
    let ticks = distant.store.ticks();
    let slow = write(&distant.store, move |unit| {
        unit.employees().insert(PARTNER, &employee(1))?;
        let began = ticks();
        while ticks() - began < 2 * SILENT_FOR {
            std::thread::sleep(Duration::from_millis(10));
        }
        Ok::<_, StoreError>(())
    });
    assert_eq!(slow, Ok(()));
    distant.comes_back();
}

#[test]
fn closing_does_not_wait_for_a_silent_server() {
    let distant = Distant::new();
    distant.proxy.freeze();
    let (sender, receiver) = mpsc::channel();
    let body = |unit: &mut dyn kopeck_port_store::UnitOfWork| unit.employees().get(PARTNER, employee(1).id());
    submit(&distant.store, Access::Read, body, move |result| sender.send(result).unwrap());
    let began = Instant::now();
    distant.store.close();
    assert!(began.elapsed() < IN_TIME, "{:?}", began.elapsed());
    assert!(matches!(receiver.recv().unwrap(), Err(StoreError::Unavailable(_))));
}
